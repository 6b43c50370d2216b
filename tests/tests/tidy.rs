//! Checks of the repository itself.
#![expect(
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "a check that panics is a test that fails"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// Lines of non-test code that a file may have.
const MAX_LINES: usize = 700;

/// Files that may be longer, each with its reason.
const LONGER: &[(&str, &str)] = &[];

#[test]
fn files_are_short_enough_to_read() {
    let mut long = Vec::new();
    for path in rust_files(&[
        "odm/src",
        "odm/language",
        "odm/engine",
        "odm/server",
        "odm-derive/src",
        "tests",
        "examples",
    ]) {
        let lines = lines_without_tests(&fs::read_to_string(root().join(&path)).unwrap());
        let excepted = LONGER.iter().any(|(file, _)| *file == path);
        if (lines > MAX_LINES) != excepted {
            long.push(format!("{path}: {lines} lines, the limit is {MAX_LINES}"));
        }
    }
    assert!(
        long.is_empty(),
        "split them, or give a reason in LONGER (and only there):\n{}",
        long.join("\n")
    );
}

#[test]
fn no_unfinished_code_remains() {
    // Split, so that this file passes its own check.
    let marks = [
        concat!("to", "do!("),
        concat!("unimpl", "emented!("),
        concat!("#[ig", "nore"),
        concat!("FIX", "ME"),
    ];
    let mut found = Vec::new();
    for path in rust_files(&["odm", "odm-derive", "tests", "examples"]) {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        for (number, line) in text.lines().enumerate() {
            if marks.iter().any(|mark| line.contains(mark)) {
                found.push(format!("{path}:{}: {line}", number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn files_named_by_the_architecture_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let named = paths_in(&text);
    assert!(named.len() > 20, "the code map names few files: {named:?}");
    let missing: Vec<_> = named
        .iter()
        .filter(|path| !root().join(path).exists())
        .collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names {missing:?}");
}

#[test]
fn the_code_map_has_a_heading_for_every_folder() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, map) = text.split_once("\n## Code map\n").unwrap();
    let (map, _) = map.split_once("\n## ").unwrap();
    let mut headings: Vec<String> = map
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .flat_map(paths_in)
        .collect();
    let mut folders = folders_in("odm/src");
    let others = [
        "odm/language/",
        "odm/engine/",
        "odm/server/",
        "odm-derive/src/",
        "tests/",
        "examples/",
        "book/",
        ".ci/",
    ];
    folders.extend(others.map(str::to_owned));
    headings.sort();
    folders.sort();
    assert_eq!(headings, folders, "the headings of the code map");
}

/// The folders in a folder, as paths from the repository's root.
fn folders_in(folder: &str) -> Vec<String> {
    fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| {
            let path = path.strip_prefix(root()).unwrap();
            format!("{}/", path.to_str().unwrap())
        })
        .collect()
}

/// The paths from the repository's root that stand between backquotes; `<name>` stands for any name.
fn paths_in(markdown: &str) -> Vec<String> {
    let folders = [
        "odm/",
        "odm-derive/",
        "tests/",
        "examples/",
        "book/",
        ".ci/",
    ];
    markdown
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| folders.iter().any(|folder| code.starts_with(folder)))
        .filter(|code| !code.contains(char::is_whitespace))
        .map(|path| match path.find('<') {
            Some(open) => path[..open]
                .rsplit_once('/')
                .map_or("", |(folder, _)| folder),
            None => path,
        })
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_book_lists_every_chapter() {
    let folder = root().join("book/src");
    let summary = fs::read_to_string(folder.join("SUMMARY.md")).unwrap();
    let chapters = fs::read_to_string(root().join("tests/src/chapters.rs")).unwrap();
    for entry in fs::read_dir(&folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let is_chapter = entry.path().extension().is_some_and(|it| it == "md");
        if name == "SUMMARY.md" || !is_chapter {
            continue;
        }
        assert!(
            summary.contains(&format!("({name})")),
            "SUMMARY.md does not list {name}"
        );
        assert!(
            chapters.contains(&format!("book/src/{name}\"")),
            "tests/src/chapters.rs does not run the snippets of {name}"
        );
    }
}

/// Longer lines are cut on the page, and the reader has to scroll.
#[test]
fn code_in_the_book_has_short_lines() {
    const MAX: usize = 84;
    let mut long = Vec::new();
    for entry in fs::read_dir(root().join("book/src")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        // `rs` marks parts of the examples, which are shown as they are.
        let (mut in_code, mut in_rust, mut shown) = (false, false, false);
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            if let Some(language) = line.strip_prefix("```") {
                in_code = !in_code;
                in_rust = in_code && language.starts_with("rust");
                shown = language == "rs";
            } else if in_code
                && !shown
                && line.chars().count() > MAX
                // mdbook hides these.
                && !(in_rust && line.starts_with("# "))
            {
                let path = path.display();
                long.push(format!("{path}:{}: {line}", number + 1));
            }
        }
    }
    assert!(
        long.is_empty(),
        "{} lines have more than {MAX} characters:\n{}",
        long.len(),
        long.join("\n")
    );
}

/// rustdoc puts an example without a `main` into one, where items can't be included. Such an example alone compiles, but rustdoc
/// then compiles each of the thousand examples of `odm` as a program of its own, and reports nothing.
#[test]
fn examples_that_include_a_file_have_a_main_function() {
    let mut found = 0;
    for path in rust_files(&["odm/src"]) {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        for example in text
            .split("/// ```\n")
            .filter(|one| one.contains("# include!("))
        {
            assert!(
                example.contains("fn main()"),
                "{path}: an example without `fn main()`"
            );
            found += 1;
        }
    }
    assert!(found > 100, "{found} examples");
}

#[test]
fn the_book_lists_every_feature() {
    let manifest = fs::read_to_string(root().join("odm/Cargo.toml")).unwrap();
    let (_, features) = manifest.split_once("\n[features]\n").unwrap();
    let (features, _) = features.split_once("\n[").unwrap();
    let mut declared: Vec<_> = features
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name)
        .filter(|name| *name != "default")
        .collect();
    let chapter = fs::read_to_string(root().join("book/src/features.md")).unwrap();
    let mut listed: Vec<_> = chapter
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    declared.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, declared, "the features in book/src/features.md");
}

/// `repository` of the root manifest says where the repository is; a package page and the book can't read it.
#[test]
fn mentions_of_the_repository_agree() {
    const HOST: &str = "https://github.com/";
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let url = manifest
        .lines()
        .find_map(|line| line.strip_prefix("repository = \"")?.split('"').next())
        .unwrap();
    let name = url.rsplit('/').next().unwrap();
    let (mut agreeing, mut others) = (Vec::new(), Vec::new());
    for path in text_files() {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        for (at, _) in text.match_indices(HOST) {
            let mut parts = text[at + HOST.len()..]
                .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')));
            let (owner, repository) = (parts.next().unwrap(), parts.next().unwrap_or_default());
            let mention = format!("{HOST}{owner}/{repository}");
            if mention == url {
                agreeing.push(path.clone());
            } else if repository == name || owner == "OWNER" {
                others.push(format!("{path}: {mention}"));
            }
        }
    }
    assert!(
        others.is_empty(),
        "Cargo.toml says {url}:\n{}",
        others.join("\n")
    );
    for path in ["Cargo.toml", "book/book.toml", ".github/SECURITY.md"] {
        assert!(
            agreeing.iter().any(|agreeing| agreeing == path),
            "{path} does not name {url}"
        );
    }
}

/// crates.io resolves relative links in the folder of the package, so the README of the package is a copy with other links.
#[test]
fn the_package_has_the_readme_of_the_repository() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let mut parts = readme.split("](");
    let mut expected = parts.next().unwrap().to_owned();
    for part in parts {
        let target = part.split([')', '#']).next().unwrap();
        expected.push_str("](");
        if !target.is_empty() && !target.contains("://") {
            assert!(
                root().join(target).exists(),
                "README.md links to {target}, which does not exist"
            );
            expected.push_str("../");
        }
        expected.push_str(part);
    }
    let copy = root().join("odm/README.md");
    if std::env::var_os("ODM_WRITE").is_some() {
        fs::write(&copy, &expected).unwrap();
    }
    assert!(
        fs::read_to_string(copy).unwrap() == expected,
        "odm/README.md is not README.md with its links: \
         ODM_WRITE=1 cargo test --workspace --test tidy writes it"
    );
}

/// The files in which people and machines look for the repository, as paths from its root.
fn text_files() -> Vec<String> {
    fn walk(folder: &str, found: &mut Vec<String>) {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}{}", entry.file_name().to_str().unwrap());
            if !entry.path().is_dir() {
                found.push(path);
            } else if !folder.is_empty() {
                walk(&format!("{path}/"), found);
            }
        }
    }
    let mut found = Vec::new();
    for folder in [
        "",
        ".ci/",
        ".github/",
        "book/",
        "examples/",
        "odm/",
        "odm-derive/",
    ] {
        walk(folder, &mut found);
    }
    let endings = ["md", "toml", "yml", "rs"];
    found.retain(|path| {
        let ending = Path::new(path)
            .extension()
            .and_then(|ending| ending.to_str());
        match ending {
            Some(ending) => endings.contains(&ending),
            None => path.starts_with(".ci/"),
        }
    });
    found
}

/// A block that begins with the name of a file shows parts of it, with `// …` between them.
#[test]
fn the_book_shows_the_examples_as_they_are() {
    let mut shown = 0;
    for entry in fs::read_dir(root().join("book/src")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let chapter = fs::read_to_string(&path).unwrap();
        for block in chapter.split("```rs\n// examples/").skip(1) {
            let (block, _) = block.split_once("```").unwrap();
            let (file, code) = block.split_once('\n').unwrap();
            let source = fs::read_to_string(root().join("examples").join(file)).unwrap();
            let mut rest = source.as_str();
            for part in code.split("// …\n").map(|part| part.trim_end_matches(' ')) {
                let Some((_, after)) = rest.split_once(part) else {
                    panic!(
                        "{}: examples/{file} does not have this part:\n{part}",
                        path.display()
                    );
                };
                rest = after;
            }
            shown += 1;
        }
    }
    assert!(shown > 5, "the blocks are not found: {shown}");
}

/// The engine's tables of what it knows and refuses are the source; the book is checked against them.
#[test]
fn the_book_lists_what_the_engine_refuses() {
    let mut refused = Vec::new();
    for path in rust_files(&["odm/engine/src", "odm/language/src"]) {
        refused.extend(refused_operators(
            &fs::read_to_string(root().join(path)).unwrap(),
        ));
    }
    refused.sort();
    refused.dedup();
    assert!(
        refused.len() > 10,
        "the tables are not where they were: {refused:?}"
    );
    let chapter = fs::read_to_string(root().join("book/src/engine-limits.md")).unwrap();
    let (_, chapter) = chapter
        .split_once("## What the engine does not support")
        .unwrap();
    let listed = |name: &String| chapter.contains(&format!("`{name}`"));
    let missing: Vec<_> = refused.iter().filter(|name| !listed(name)).collect();
    assert!(
        missing.is_empty(),
        "engine-limits.md does not list {missing:?}"
    );
    let supported: Vec<_> = chapter
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| name.starts_with('$'))
        .filter(|name| !refused.iter().any(|refused| refused == name))
        .collect();
    assert!(
        supported.is_empty(),
        "engine-limits.md lists {supported:?}, which work"
    );
}

/// The operators in tables called `UNSUPPORTED`, and in rows that end in `Unsupported)`.
fn refused_operators(source: &str) -> Vec<String> {
    let tables = source
        .split("const UNSUPPORTED: &[&str] = &[")
        .skip(1)
        .filter_map(|rest| rest.split("];").next());
    let rows = source
        .lines()
        .filter(|line| line.ends_with("::Unsupported),"));
    let quoted = |text: &str| -> Vec<String> {
        let names = text.split('"').skip(1).step_by(2);
        names
            .filter(|name| name.starts_with('$'))
            .map(str::to_owned)
            .collect()
    };
    tables.chain(rows).flat_map(quoted).collect()
}

#[test]
fn refused_operators_are_read_from_tables() {
    let source = "const UNSUPPORTED: &[&str] = &[\n    \"$a\",\n    \"$b\",\n];\n(\"$c\", X::Unsupported),\n(\"$d\", X::Yes),\n";
    assert_eq!(refused_operators(source), ["$a", "$b", "$c"]);
}

/// The Rust files under these folders, as paths from the repository's root, sorted.
fn rust_files(folders: &[&str]) -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // cargo-fuzz builds in a target folder of its own
                if !path.ends_with("target") {
                    walk(&path, found);
                }
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    for folder in folders {
        walk(&root().join(folder), &mut found);
    }
    let mut names: Vec<String> = found
        .iter()
        .map(|path| {
            path.strip_prefix(root())
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    names.sort();
    names
}

/// Test modules stand last in a file, from their `#[cfg(test)]` on.
fn lines_without_tests(text: &str) -> usize {
    text.find("\n#[cfg(test)]\nmod ")
        .map_or(text, |tests| &text[..=tests])
        .lines()
        .count()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

#[test]
fn paths_are_read_from_markdown() {
    let text =
        "Write `odm/src/x.rs`, a row in `odm/src/stages/<name>.rs`, `cargo test` and `odm/ x`.";
    assert_eq!(paths_in(text), ["odm/src/x.rs", "odm/src/stages"]);
}

#[test]
fn test_modules_do_not_count() {
    assert_eq!(
        lines_without_tests("a\nb\n\n#[cfg(test)]\nmod tests {\n}\n"),
        3
    );
    assert_eq!(lines_without_tests("a\nb\n"), 2);
}
