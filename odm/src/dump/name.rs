//! File names of collections.
//!
//! Not every collection's name can be a file name, so mongodump writes some bytes as `%` and two hexadecimal
//! digits. A name that is too long for a file is cut, and the metadata holds it in full.

use std::fmt::Write;

use md5::{Digest, Md5};

/// The longest name of a file without its endings, some of which take 17 bytes of 255.
const LONGEST: usize = 238;

/// The mark in a cut name before the digest that makes it unique: an escaped `$`, which no collection's name
/// has.
const CUT: &str = "%24";

/// The file's name, without endings, of a collection.
pub(super) fn encode(collection: &str) -> String {
    let mut name = String::with_capacity(collection.len());
    for byte in collection.bytes() {
        let stands = byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'-' | b'_' | b'.' | b'~' | b'&' | b'+' | b'=' | b'@' | b'!' | b'\'' | b'(' | b')'
            );
        if stands {
            name.push(char::from(byte));
        } else {
            push_hex(&mut name, Some('%'), byte);
        }
    }
    if name.len() <= LONGEST {
        return name;
    }
    let mut digest = String::new();
    for byte in Md5::digest(name.as_bytes()) {
        push_hex(&mut digest, None, byte);
    }
    name.truncate(LONGEST - CUT.len() - digest.len());
    name + CUT + &digest
}

fn push_hex(text: &mut String, mark: Option<char>, byte: u8) {
    text.extend(mark);
    // Writing to a string never fails.
    let _ = write!(text, "{byte:02X}");
}

/// Whether the name was cut, so that only the metadata has it in full.
pub(super) fn is_cut(name: &str) -> bool {
    name.len() == LONGEST && name.contains(CUT)
}

/// The collection's name, from a file's name without endings; `None` if its escapes are invalid.
pub(super) fn decode(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let value = digit()? * 16 + digit()?;
        bytes.push(u8::try_from(value).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn file_names_agree_with_mongodump() {
        for (collection, name) in [
            ("books", "books"),
            ("cafés", "caf%C3%A9s"),
            ("a/b c:d$e%f", "a%2Fb%20c%3Ad%24e%25f"),
            ("fs.files", "fs.files"),
        ] {
            assert_eq!(encode(collection), name);
            assert_eq!(decode(name).as_deref(), Some(collection));
        }
        // mongodump may or may not escape `&`; both forms are read.
        assert_eq!(decode("a%26b&c").as_deref(), Some("a&b&c"));
        for broken in ["%", "a%2", "%zz", "%+1", "%FF"] {
            assert_eq!(decode(broken), None, "{broken}");
        }
    }

    #[test]
    fn long_names_are_truncated_with_a_hash() {
        let (one, other) = ("é".repeat(100) + "a", "é".repeat(100) + "b");
        assert!(is_cut(&encode(&one)) && is_cut(&encode(&other)));
        assert_ne!(encode(&one), encode(&other));
        assert!(!is_cut(&encode(&"a".repeat(LONGEST))));
    }

    proptest! {
        #[test]
        fn encoded_names_are_valid_file_names_and_decode(collection in "[^\0]{1,60}") {
            let name = encode(&collection);
            prop_assert!(name.is_ascii() && !name.contains('/'));
            prop_assert!(is_cut(&name) || decode(&name) == Some(collection));
        }
    }
}
