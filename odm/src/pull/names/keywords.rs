//! Names that Rust, or the code that derives generate, has taken.

/// How a keyword can be a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    /// As a raw identifier.
    Raw,
    /// Not at all: it means a place in a path.
    Path,
}

/// Whether a name in lower case is a keyword of any edition.
pub(super) fn keyword(name: &str) -> Option<Keyword> {
    match name {
        "self" | "super" | "crate" => Some(Keyword::Path),
        "abstract" | "as" | "async" | "await" | "become" | "box" | "break" | "const"
        | "continue" | "do" | "dyn" | "else" | "enum" | "extern" | "false" | "final" | "fn"
        | "for" | "gen" | "if" | "impl" | "in" | "let" | "loop" | "macro" | "match" | "mod"
        | "move" | "mut" | "override" | "priv" | "pub" | "ref" | "return" | "static" | "struct"
        | "trait" | "true" | "try" | "type" | "typeof" | "unsafe" | "unsized" | "use"
        | "virtual" | "where" | "while" | "yield" => Some(Keyword::Raw),
        _ => None,
    }
}

/// The types that generated files name, and the traits and macros that they derive.
const TYPES: &[&str] = &[
    "Allow",
    "BTreeMap",
    "Bson",
    "Box",
    "Clone",
    "Collection",
    "Copy",
    "DateTime",
    "Db",
    "DbRef",
    "Debug",
    "Default",
    "Deserialize",
    "Document",
    "Embedded",
    "Eq",
    "Err",
    "Filter",
    "From",
    "Hash",
    "Id",
    "Into",
    "Iterator",
    "None",
    "ObjectId",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Projection",
    "Ref",
    "Resolved",
    "Result",
    "Self",
    "SelfValue",
    "Send",
    "Serialize",
    "Session",
    "Some",
    "String",
    "Sync",
    "Update",
    "Validate",
    "Vec",
];

/// Whether a type of this name would hide one that generated files need.
pub(in crate::pull) fn is_reserved_type(name: &str) -> bool {
    TYPES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_those_of_syn() {
        for word in [
            "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
            "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "if", "impl",
            "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
            "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
            "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
        ] {
            assert!(syn::parse_str::<syn::Ident>(word).is_err(), "{word}");
            assert_eq!(keyword(word), Some(Keyword::Raw), "{word}");
        }
        for word in ["self", "super", "crate"] {
            assert_eq!(keyword(word), Some(Keyword::Path), "{word}");
        }
        assert_eq!(keyword("union"), None);
    }
}
