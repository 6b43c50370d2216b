//! `book/src/llms.txt`, a summary for coding assistants, is made from what the tests compile: programs, snippets of the book,
//! the tables of attributes, and the documentation of methods.
//!
//! `llms/template.md` is its text. A line in double braces stands for what one of [`DIRECTIVES`] reads from the tree.
#![expect(
    clippy::unwrap_used,
    reason = "a check that panics is a test that fails"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "llms/attributes.rs"]
mod attributes;
#[path = "llms/markdown.rs"]
mod markdown;
#[path = "llms/methods.rs"]
mod methods;

/// An assistant reads the file whole.
const MAX_LINES: usize = 600;
const REMEDY: &str = "ODM_WRITE=1 cargo test --workspace --test llms";

/// Makes the text that stands in the place of a line.
type Directive = fn(&[&str]) -> String;

/// What a line of the template may call, with the arguments behind the name.
const DIRECTIVES: &[(&str, Directive)] = &[
    ("errors", errors),
    ("methods", methods::documented),
    ("operators", methods::operators),
    ("options", methods::options),
    ("program", program),
    ("rewrites", rewrites),
    ("snippet", snippet),
    ("table", table),
];

#[test]
fn llms_txt_is_up_to_date() {
    let template = read("tests/tests/llms/template.md");
    let mut text = String::new();
    for line in template.lines() {
        match line
            .strip_prefix("{{")
            .and_then(|line| line.strip_suffix("}}"))
        {
            Some(call) => text.push_str(&expanded(call)),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    let file = root().join("book/src/llms.txt");
    if std::env::var_os("ODM_WRITE").is_some() {
        fs::write(&file, &text).unwrap();
    }
    let written = fs::read_to_string(file).unwrap_or_default();
    let difference = text
        .lines()
        .zip(written.lines())
        .find(|(new, old)| new != old);
    assert!(
        written == text,
        "book/src/llms.txt is not what the tree says; run {REMEDY}. The first line that differs: {difference:?}"
    );
    let lines = text.lines().count();
    assert!(
        lines < MAX_LINES,
        "{lines} lines, the limit is {MAX_LINES}: leave methods out, by `-` and their names"
    );
}

/// What a call such as `table odm-derive/docs/document.md # On the struct` stands for. A heading is the rest of the line.
fn expanded(call: &str) -> String {
    let (name, arguments) = call.split_once(' ').unwrap();
    let (_, directive) = DIRECTIVES
        .iter()
        .find(|(known, _)| *known == name)
        .unwrap_or_else(|| panic!("unknown directive: {call}"));
    let arguments: Vec<&str> = match arguments.split_once(" #") {
        Some((words, _)) => {
            let heading = arguments.split_at(words.len() + 1).1;
            words.split(' ').chain([heading]).collect()
        }
        None => arguments.split(' ').collect(),
    };
    let text = directive(&arguments);
    assert!(!text.trim().is_empty(), "nothing is found for: {call}");
    text.trim_end().to_owned()
}

/// `program FILE`: a file of Rust, or the first program of a Markdown file.
fn program(arguments: &[&str]) -> String {
    let [file] = arguments else {
        panic!("program FILE")
    };
    let text = read(file);
    let code = if Path::new(file).extension().is_some_and(|it| it == "md") {
        markdown::code(&text, "rust")
    } else {
        text
    };
    format!("```rust\n{}\n```", code.trim_end())
}

/// `snippet FILE LANGUAGE # HEADING`: the first block of code in a language under a heading, as the book shows it.
fn snippet(arguments: &[&str]) -> String {
    let [file, language, heading] = arguments else {
        panic!("snippet FILE LANGUAGE # HEADING")
    };
    let text = read(file);
    let code = markdown::code(markdown::section(&text, heading), language);
    format!("```{language}\n{}\n```", code.trim_end())
}

/// `table FILE NAME… # HEADING`: the first and the second column of the first table under a heading, as a list. `FILE:3` is the
/// third column instead. Names, if there are any, select the rows that begin with them.
fn table(arguments: &[&str]) -> String {
    let [file, names @ .., heading] = arguments else {
        panic!("table FILE NAME… # HEADING")
    };
    let (file, column) = file.split_once(':').unwrap_or((file, "2"));
    let column = column.parse::<usize>().unwrap() - 1;
    let text = read(file);
    let rows = markdown::rows(markdown::section(&text, heading));
    let begins =
        |row: &Vec<String>, name: &str| row.first().unwrap().trim_matches('`').starts_with(name);
    for name in names {
        assert!(rows.iter().any(|row| begins(row, name)), "no row {name}");
    }
    let selected = rows
        .iter()
        .filter(|row| names.is_empty() || names.iter().any(|name| begins(row, name)));
    list(selected.map(|row| {
        (
            row.first().unwrap().clone(),
            row.get(column).unwrap().clone(),
        )
    }))
}

/// `rewrites FILE # HEADING`: a table of mistakes, the messages and the remedies as a list.
fn rewrites(arguments: &[&str]) -> String {
    let [file, heading] = arguments else {
        panic!("rewrites FILE # HEADING")
    };
    let text = read(file);
    let rows = markdown::rows(markdown::section(&text, heading));
    list(rows.iter().map(|row| {
        let [mistake, message, remedy] = row.as_slice() else {
            panic!("{row:?} has other columns");
        };
        let code = message.split([',', ' ', '.', ';']).next().unwrap();
        (format!("{mistake} ({code})"), format!("write {remedy}"))
    }))
}

/// `errors CASE…`: the first message of the compile-fail cases of these names, and of a missing trait the first note on it.
fn errors(cases: &[&str]) -> String {
    let messages = cases.iter().map(|case| {
        let text = read(&format!("tests/compile/ui/fail/{case}.stderr"));
        let (kind, message) = text.lines().next().unwrap().split_once(": ").unwrap();
        let message = message.trim_start_matches("evaluation panicked: ");
        let message = message.split(" [odm::").next().unwrap();
        let note = text
            .lines()
            .find_map(|line| line.trim_start().strip_prefix("= note: "));
        match note.filter(|_| kind == "error[E0277]") {
            Some(note) => format!("- {message}: {note}\n"),
            None => format!("- {message}\n"),
        }
    });
    messages.collect()
}

fn list(items: impl Iterator<Item = (String, String)>) -> String {
    let lines: Vec<_> = items
        .map(|(name, text)| format!("- {name}: {text}"))
        .collect();
    lines.join("\n")
}

/// The Rust files under a folder, without tests, as paths from the repository's root.
fn rust_files(folder: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            files.extend(rust_files(&path));
        } else if entry.path().extension().is_some_and(|it| it == "rs")
            && entry.file_name() != "tests.rs"
        {
            let text = read(&path);
            files.insert(path, text);
        }
    }
    files
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}
