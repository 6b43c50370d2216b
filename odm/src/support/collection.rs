//! The name of a collection that is a constant.

/// Why no collection can have this name. The derive checks literals by the same rules.
#[must_use]
pub const fn collection_flaw(name: &'static str) -> Option<&'static str> {
    let bytes = name.as_bytes();
    if bytes.is_empty() {
        return Some("invalid collection name: it is empty; write letters, digits and `_`");
    }
    if bytes.len() > 190 {
        return Some(
            "invalid collection name: it is too long: with the database's name it may have at most 255 bytes",
        );
    }
    if let [b's', b'y', b's', b't', b'e', b'm', b'.', ..] = bytes {
        return Some("invalid collection name: `system.` is reserved for the server");
    }
    let mut rest = bytes;
    // A dot at the start is behind an empty part, too.
    let mut before = b'.';
    while let [byte, behind @ ..] = rest {
        if *byte == b'$' || *byte == 0 {
            return Some(
                "invalid collection name: it contains `$` or a NUL; write letters, digits and `_`",
            );
        }
        if *byte == b'.' && (before == b'.' || behind.is_empty()) {
            return Some(
                "invalid collection name: a part between dots is empty; write letters, digits and `_`",
            );
        }
        before = *byte;
        rest = behind;
    }
    None
}

/// Why no collection with files of GridFS can have this name.
#[must_use]
pub const fn files_flaw(name: &'static str) -> Option<&'static str> {
    match name.as_bytes() {
        [_, .., b'.', b'f', b'i', b'l', b'e', b's'] => collection_flaw(name),
        _ => Some(
            "GridFS keeps the documents of files in `<bucket>.files`: give the constant such a name",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{collection_flaw, files_flaw};

    #[test]
    fn files_are_in_a_bucket() {
        for name in ["fs.files", "a.b.files"] {
            assert_eq!(files_flaw(name), None, "{name}");
        }
        for name in [
            "",
            ".files",
            "files",
            "fs.chunks",
            "a..files",
            "system.files",
        ] {
            assert!(files_flaw(name).is_some(), "{name}");
        }
    }

    #[test]
    fn names_are_those_of_literals() {
        for name in ["books", "a.b", "system", "_", "a.b.c", "café"] {
            assert_eq!(collection_flaw(name), None, "{name}");
        }
        for name in ["", "a$", "a\0", "system.users", ".a", "a.", "a..b"] {
            assert!(collection_flaw(name).is_some(), "{name}");
        }
        let long: &'static str = Box::leak("a".repeat(191).into_boxed_str());
        assert!(collection_flaw(long).is_some());
    }
}
