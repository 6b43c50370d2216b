//! Parts of Markdown files: sections, blocks of code, tables.

/// The text from a heading, such as `## Ids`, to the next one of the same level or above.
pub(crate) fn section<'t>(text: &'t str, heading: &str) -> &'t str {
    let line = format!("{heading}\n");
    let start = if text.starts_with(&line) {
        line.len()
    } else {
        let found = text.find(&format!("\n{line}"));
        found.unwrap_or_else(|| panic!("no heading {heading}")) + line.len() + 1
    };
    let (_, rest) = text.split_at(start);
    let level = heading.split(' ').next().unwrap().len();
    let mut end = 0;
    let mut in_code = false;
    for line in rest.split_inclusive('\n') {
        in_code ^= line.starts_with("```");
        let hashes = line.chars().take_while(|c| *c == '#').count();
        if !in_code && (1..=level).contains(&hashes) {
            break;
        }
        end += line.len();
    }
    rest.split_at(end).0
}

/// The first block of code in a language, without the lines that the book hides.
pub(crate) fn code(text: &str, language: &str) -> String {
    let fence = format!("```{language}");
    let lines = text.lines().skip_while(|line| *line != fence).skip(1);
    let shown = lines
        .take_while(|line| !line.starts_with("```"))
        .filter(|line| language != "rust" || !(*line == "#" || line.starts_with("# ")));
    shown.flat_map(|line| [line, "\n"]).collect()
}

/// The cells of the rows of the first table.
pub(crate) fn rows(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().skip_while(|line| !line.starts_with("| "));
    let rows = lines.take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| {
        let row = row.replace("\\|", "\u{0}");
        let cells = row.trim_matches('|').split('|');
        cells
            .map(|cell| plain(cell.trim()).replace('\u{0}', "|"))
            .collect()
    })
    .collect()
}

/// The text without the brackets and targets of its links. Labels in code need no target: rustdoc finds it.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    let mut in_code = false;
    while let Some(c) = rest.chars().next() {
        let (taken, after) = rest.split_at(c.len_utf8());
        in_code ^= c == '`';
        let label = if in_code || c != '[' {
            None
        } else if after.starts_with('`') {
            after
                .split_once("`]")
                .map(|(label, after)| (format!("{label}`"), after))
        } else {
            let link = after
                .split_once("](")
                .filter(|(label, _)| !label.contains('['));
            link.map(|(label, _)| (label.to_owned(), after.split_at(label.len() + 1).1))
        };
        if let Some((label, after)) = label {
            plain.push_str(&label);
            let target = after
                .strip_prefix('(')
                .and_then(|rest| rest.split_once(')'));
            rest = target.map_or(after, |(_, after)| after);
        } else {
            plain.push_str(taken);
            rest = after;
        }
    }
    plain
}

#[test]
fn sections_end_at_headings_of_their_level() {
    let text = "# A\none\n## B\ntwo\n```\n# no heading\n```\n## C\nthree\n";
    assert_eq!(section(text, "## B"), "two\n```\n# no heading\n```\n");
    assert_eq!(section(text, "## C"), "three\n");
}

#[test]
fn rows_have_neither_links_nor_escapes() {
    assert_eq!(
        plain("of [`A::b`], [`c`](Self::c) and [d](e.md)"),
        "of `A::b`, `c` and d"
    );
    let text =
        "text\n\n| a | b |\n| --- | --- |\n| `x` | [y](z.md), `\\|b\\| b` |\n\nmore | text\n";
    assert_eq!(rows(text), [["`x`", "y, `|b| b`"]]);
}

#[test]
fn hidden_lines_are_left_out() {
    let text = "```sh\n# a comment\n```\n```rust\n# use odm::prelude::*;\n#[derive(Debug)]\nstruct A;\n#\n```\n";
    assert_eq!(code(text, "rust"), "#[derive(Debug)]\nstruct A;\n");
    assert_eq!(code(text, "sh"), "# a comment\n");
}
