//! Public methods, each with the first sentence of its documentation.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use syn::{Attribute, Expr, FnArg, ImplItem, Item, Lit, Meta, Pat, ReturnType, Type, Visibility};

use crate::{list, markdown, read, rust_files};

struct Method {
    name: String,
    /// `name(arguments)`, between backquotes.
    call: String,
    summary: String,
    /// The last name in the path of what it returns.
    returns: String,
}

/// `methods TYPE NAME…`: these methods of a type of `odm`; `methods TYPE - NAME…`: all but these.
pub(crate) fn documented(arguments: &[&str]) -> String {
    let (of, names) = arguments.split_first().unwrap();
    selected(methods(of), names)
}

/// `operators Filter - NAME…`: the methods of a field that return a filter, but for these. So do `Update` and `Sort`, and `other`
/// stands for the rest.
pub(crate) fn operators(arguments: &[&str]) -> String {
    let kinds = ["Filter", "Update", "Sort"];
    let (kind, names) = arguments.split_first().unwrap();
    let of_kind = methods("Field").filter(|method| match *kind {
        "other" => !kinds.contains(&method.returns.as_str()),
        kind => method.returns == kind,
    });
    selected(of_kind, names)
}

fn selected<'m>(methods: impl Iterator<Item = &'m Method>, names: &[&str]) -> String {
    let methods: Vec<_> = methods.collect();
    let without = names.first() == Some(&"-");
    let names = if without { names.split_at(1).1 } else { names };
    for name in names {
        let is_known = methods.iter().any(|method| method.name == *name);
        assert!(is_known, "there is no method {name}");
    }
    let selected = methods
        .iter()
        .filter(|method| names.contains(&method.name.as_str()) != without);
    list(selected.map(|method| (method.call.clone(), method.summary.clone())))
}

/// `options NAME…`: options of actions, which one file defines for all of them.
pub(crate) fn options(names: &[&str]) -> String {
    let defined = read("odm/src/collection/options.rs");
    let options = names.iter().map(|name| {
        let (_, body) = defined
            .split_once(&format!("(@ {name}) => {{\n"))
            .unwrap_or_else(|| panic!("no option {name}"));
        let lines: Vec<_> = body
            .lines()
            .map_while(|line| line.trim().strip_prefix("///"))
            .collect();
        (format!("`{name}(…)`"), first_sentence(&lines.join("\n")))
    });
    list(options)
}

/// The public methods of a type, by name.
fn methods(of: &str) -> impl Iterator<Item = &'static Method> {
    static METHODS: OnceLock<BTreeMap<(String, String), Method>> = OnceLock::new();
    let all = METHODS.get_or_init(|| {
        let mut all = BTreeMap::new();
        for text in rust_files("odm/src").into_values() {
            for item in syn::parse_file(&text).unwrap().items {
                if let Item::Impl(one) = item
                    && one.trait_.is_none()
                {
                    let of = last_name(&one.self_ty);
                    for method in one.items.into_iter().filter_map(method) {
                        let key = (of.clone(), method.name.clone());
                        all.entry(key).or_insert(method);
                    }
                }
            }
        }
        all
    });
    let methods = all.iter().filter(move |((owner, _), _)| owner == of);
    methods.map(|(_, method)| method)
}

/// A method that rustdoc shows.
fn method(item: ImplItem) -> Option<Method> {
    let ImplItem::Fn(method) = item else {
        return None;
    };
    let text = documentation(&method.attrs);
    if !matches!(method.vis, Visibility::Public(_)) || text.is_empty() || is_hidden(&method.attrs) {
        return None;
    }
    let arguments = method
        .sig
        .inputs
        .iter()
        .filter_map(|argument| match argument {
            FnArg::Typed(one) => match &*one.pat {
                Pat::Ident(name) => Some(name.ident.to_string()),
                _ => Some("_".to_owned()),
            },
            FnArg::Receiver(_) => None,
        });
    let arguments: Vec<_> = arguments.collect();
    let name = method.sig.ident.to_string();
    Some(Method {
        call: format!("`{name}({})`", arguments.join(", ")),
        summary: first_sentence(&text),
        returns: match &method.sig.output {
            ReturnType::Type(_, returned) => last_name(returned),
            ReturnType::Default => String::new(),
        },
        name,
    })
}

fn last_name(of: &Type) -> String {
    match of {
        Type::Path(path) => path.path.segments.last().unwrap().ident.to_string(),
        _ => String::new(),
    }
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("doc")
            && attribute
                .parse_args::<syn::Ident>()
                .is_ok_and(|argument| argument == "hidden")
    })
}

fn documentation(attributes: &[Attribute]) -> String {
    let mut text = String::new();
    for attribute in attributes {
        let Meta::NameValue(pair) = &attribute.meta else {
            continue;
        };
        if let (true, Expr::Lit(value)) = (pair.path.is_ident("doc"), &pair.value)
            && let Lit::Str(line) = &value.lit
        {
            text.push_str(&line.value());
            text.push('\n');
        }
    }
    text
}

/// The first sentence of the first paragraph, on one line.
fn first_sentence(text: &str) -> String {
    let paragraph: Vec<_> = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.is_empty())
        .collect();
    let paragraph = markdown::plain(&paragraph.join(" "));
    let sentence = paragraph
        .match_indices(". ")
        .map(|(end, _)| paragraph.split_at(end).0)
        .find(|sentence| sentence.matches('`').count() % 2 == 0);
    sentence
        .unwrap_or(&paragraph)
        .trim_end_matches(['.', ':'])
        .to_owned()
}

#[test]
fn a_summary_is_the_first_sentence() {
    let text = " Finds `a. b` with [`x`](Self::x),\n and more. The rest.\n\n Another paragraph.\n";
    assert_eq!(first_sentence(text), "Finds `a. b` with `x`, and more");
}
