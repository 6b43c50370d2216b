//! The tables of attributes name every word that the derives know.

use syn::{Expr, Item, Lit};

use crate::{markdown, read};

/// A word of fields that is always refused, with a message that says where it stands.
const REFUSED: &str = "on_delete";

#[test]
fn the_tables_list_every_attribute() {
    let tables = [("CONTAINER", "# On the struct"), ("FIELD", "# On a field")];
    let words = words();
    let mut missing = Vec::new();
    for (list, heading) in tables {
        let mut listed = String::new();
        for file in ["document", "embedded"] {
            let text = read(&format!("odm-derive/docs/{file}.md"));
            for row in markdown::rows(markdown::section(&text, heading)) {
                listed.push_str(row.first().unwrap());
            }
        }
        let known = words.iter().filter(|(of, _)| of == list);
        let known = known.map(|(_, word)| word.as_str());
        missing.extend(known.filter(|word| *word != REFUSED && !names(&listed, word)));
    }
    assert!(
        missing.is_empty(),
        "the tables of attributes in odm-derive/docs do not list {missing:?}"
    );
    assert!(words.len() > 100, "the words are not found: {words:?}");
}

/// Whether a word begins what stands between backquotes.
fn names(listed: &str, word: &str) -> bool {
    listed.split('`').skip(1).step_by(2).any(|code| {
        code.strip_prefix(word)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

/// The words of `odm-derive/src/attribute_names.rs`, each with the name of the list that has it.
fn words() -> Vec<(String, String)> {
    let file = syn::parse_file(&read("odm-derive/src/attribute_names.rs")).unwrap();
    let constants: Vec<(String, Expr)> = file
        .items
        .into_iter()
        .filter_map(|item| match item {
            Item::Const(one) => Some((one.ident.to_string(), *one.expr)),
            _ => None,
        })
        .collect();
    let text_of = |name: &str| {
        let (_, value) = constants.iter().find(|(known, _)| known == name).unwrap();
        text(value).unwrap()
    };
    let mut words = Vec::new();
    for (list, value) in &constants {
        let Expr::Reference(reference) = value else {
            continue;
        };
        let Expr::Array(array) = &*reference.expr else {
            continue;
        };
        for element in &array.elems {
            let word = match element {
                Expr::Path(path) => text_of(&path.path.segments.last().unwrap().ident.to_string()),
                other => match text(other) {
                    Some(text) => text,
                    None => continue,
                },
            };
            words.push((list.clone(), word));
        }
    }
    words
}

fn text(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(one) => match &one.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}
