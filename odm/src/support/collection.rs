//! The name of a collection that is a constant.

/// Why no collection can have this name. The derive checks literals by the same rules.
#[must_use]
pub const fn collection_flaw(name: &'static str) -> Option<&'static str> {
    let bytes = name.as_bytes();
    if bytes.is_empty() {
        return Some(
            "no collection can have this name: it is empty; write letters, digits and `_`",
        );
    }
    if bytes.len() > 190 {
        return Some(
            "no collection can have this name: it is too long: with the database's it may have 255 bytes",
        );
    }
    if begins(bytes, b"system.") {
        return Some("no collection can have this name: `system.` is the server's own");
    }
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'$' || bytes[at] == 0 {
            return Some(
                "no collection can have this name: it has a `$` or a NUL; write letters, digits and `_`",
            );
        }
        let is_edge = at == 0 || at + 1 == bytes.len() || bytes[at - 1] == b'.';
        if bytes[at] == b'.' && is_edge {
            return Some(
                "no collection can have this name: a part of it between dots is empty; write letters, digits and `_`",
            );
        }
        at += 1;
    }
    None
}

const fn begins(bytes: &[u8], with: &[u8]) -> bool {
    let mut at = 0;
    while at < with.len() {
        if at >= bytes.len() || bytes[at] != with[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::collection_flaw;

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
