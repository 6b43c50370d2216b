//! Rust names from stored ones.

mod keywords;
mod plural;

use std::collections::HashSet;

pub(super) use self::keywords::is_reserved_type;
use self::keywords::{Keyword, keyword};
pub(super) use self::plural::singular;

/// The longest name in characters, before a number that keeps it apart from others.
const LONGEST: usize = 40;

/// The name of a field: in snake case, and raw if it is a keyword.
pub(super) fn field(stored: &str) -> String {
    let name = if stored == "_id" {
        "id".to_owned()
    } else {
        shortened(&words(stored), "_", str::to_owned)
    };
    let name = match name.chars().next() {
        None => "field".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("field_{name}"),
        Some(_) => name,
    };
    match keyword(&name) {
        None => name,
        Some(Keyword::Raw) => format!("r#{name}"),
        Some(Keyword::Path) => format!("{name}_"),
    }
}

/// The name of the type of one element: that of a collection's documents, or of an array's.
pub(super) fn element_type_name(stored: &str) -> String {
    let mut words = words(stored);
    if let Some(last) = words.last_mut() {
        *last = singular(last);
    }
    pascal(&words, "Type")
}

/// The name of an enum's variant, if the text has letters that can be in a name.
pub(super) fn variant(stored: &str) -> Option<String> {
    let words = words(stored);
    let has_letter = words
        .iter()
        .any(|word| word.bytes().any(|byte| byte.is_ascii_alphabetic()));
    (has_letter && stored.chars().count() <= LONGEST).then(|| pascal(&words, "V"))
}

/// A name like `name` that `is_taken` does not know.
pub(super) fn apart(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(name) {
        return name.to_owned();
    }
    let plain = name
        .strip_prefix("r#")
        .unwrap_or(name)
        .trim_end_matches('_');
    let is_snake = plain.bytes().all(|byte| !byte.is_ascii_uppercase());
    let joined = |number: u64| {
        if is_snake {
            format!("{plain}_{number}")
        } else {
            format!("{plain}{number}")
        }
    };
    let mut numbers = 2_u64..;
    numbers
        .find_map(|number| Some(joined(number)).filter(|name| !is_taken(name)))
        .unwrap_or_else(|| name.to_owned())
}

/// Gives out names once each.
#[derive(Debug, Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    pub(super) fn take(&mut self, name: &str) -> String {
        let name = apart(name, |name| self.0.contains(name));
        self.0.insert(name.clone());
        name
    }
}

fn pascal(words: &[String], prefix: &str) -> String {
    let name = shortened(words, "", |word| {
        let mut characters = word.chars();
        let first = characters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(characters).collect()
    });
    let starts_with_letter = name.starts_with(|first: char| first.is_ascii_alphabetic());
    if !starts_with_letter {
        return format!("{prefix}{name}");
    }
    if name == "Self" {
        return "SelfValue".to_owned();
    }
    name
}

/// Joins words as long as the name is not too long.
fn shortened(words: &[String], between: &str, spell: impl Fn(&str) -> String) -> String {
    let mut name = String::new();
    for word in words {
        if !name.is_empty() {
            if name.len() + word.len() > LONGEST {
                break;
            }
            name.push_str(between);
        }
        name.extend(spell(word).chars().take(LONGEST));
    }
    name
}

/// The words of a name, in lower case and in ASCII: `userName`, `User-Name` and `user.name` are `user` and `name`.
pub(super) fn words(name: &str) -> Vec<String> {
    let characters: Vec<char> = name.chars().flat_map(folded).collect();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let at = |place: Option<usize>| place.and_then(|place| characters.get(place)).copied();
    for (place, character) in characters.iter().copied().enumerate() {
        if !character.is_ascii_alphanumeric() {
            words.push(std::mem::take(&mut word));
            continue;
        }
        let before = at(place.checked_sub(1));
        let after = at(Some(place + 1));
        let is_lower = |one: Option<char>| one.is_some_and(|one| one.is_ascii_lowercase());
        let is_upper = |one: Option<char>| one.is_some_and(|one| one.is_ascii_uppercase());
        // `userName`, and `HTTPServer`, but not the `S` of `URLs`.
        let starts = character.is_ascii_uppercase()
            && (is_lower(before)
                || before.is_some_and(|one| one.is_ascii_digit())
                || is_upper(before) && is_lower(after) && !ends_in_plural(&characters, place));
        if starts {
            words.push(std::mem::take(&mut word));
        }
        word.push(character.to_ascii_lowercase());
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Whether the last letter of an abbreviation is followed by the `s` of its plural.
fn ends_in_plural(characters: &[char], place: usize) -> bool {
    let is_s = characters.get(place + 1) == Some(&'s');
    let ends = characters
        .get(place + 2)
        .is_none_or(|after| !after.is_ascii_lowercase());
    is_s && ends
}

/// A character in ASCII: a Latin letter without its marks, or a separator.
fn folded(character: char) -> impl Iterator<Item = char> {
    let text: &'static str = match character {
        'À'..='Å' | 'Ā' | 'Ă' | 'Ą' => "A",
        'à'..='å' | 'ā' | 'ă' | 'ą' => "a",
        'Æ' => "Ae",
        'æ' => "ae",
        'Ç' | 'Ć' | 'Č' => "C",
        'ç' | 'ć' | 'č' => "c",
        'È'..='Ë' | 'Ē' | 'Ę' | 'Ě' => "E",
        'è'..='ë' | 'ē' | 'ę' | 'ě' => "e",
        'Ì'..='Ï' | 'Ī' | 'İ' => "I",
        'ì'..='ï' | 'ī' | 'ı' => "i",
        'Đ' | 'Ď' | 'Ð' => "D",
        'đ' | 'ď' | 'ð' => "d",
        'Ğ' => "G",
        'ğ' => "g",
        'Ł' => "L",
        'ł' => "l",
        'Ñ' | 'Ń' | 'Ň' => "N",
        'ñ' | 'ń' | 'ň' => "n",
        'Ò'..='Ö' | 'Ø' | 'Ō' | 'Ő' => "O",
        'ò'..='ö' | 'ø' | 'ō' | 'ő' => "o",
        'Œ' => "Oe",
        'œ' => "oe",
        'Ř' => "R",
        'ř' => "r",
        'Ś' | 'Ş' | 'Š' | 'Ș' => "S",
        'ś' | 'ş' | 'š' | 'ș' => "s",
        'ß' => "ss",
        'Ť' | 'Ț' => "T",
        'ť' | 'ț' => "t",
        'Þ' => "Th",
        'þ' => "th",
        'Ù'..='Ü' | 'Ū' | 'Ů' | 'Ű' => "U",
        'ù'..='ü' | 'ū' | 'ů' | 'ű' => "u",
        'Ý' | 'Ÿ' => "Y",
        'ý' | 'ÿ' => "y",
        'Ź' | 'Ż' | 'Ž' => "Z",
        'ź' | 'ż' | 'ž' => "z",
        _ => "",
    };
    let other = if character.is_ascii() { character } else { ' ' };
    let own = text.is_empty().then_some(other);
    text.chars().chain(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_in_snake_case() {
        for (stored, name) in [
            ("_id", "id"),
            ("title", "title"),
            ("userName", "user_name"),
            ("HTTPServer", "http_server"),
            ("productURLs", "product_urls"),
            ("US Gross", "us_gross"),
            ("a.b", "a_b"),
            ("$ref", "ref_"),
            ("type", "r#type"),
            ("self", "self_"),
            ("Self", "self_"),
            ("crate", "crate_"),
            ("gen", "r#gen"),
            ("", "field"),
            ("3166-1", "field_3166_1"),
            ("größe", "grosse"),
            ("имя", "field"),
            ("__v", "v"),
            ("address2Line", "address2_line"),
            ("sha256", "sha256"),
        ] {
            let expected = if name == "ref_" { "r#ref" } else { name };
            assert_eq!(field(stored), expected, "{stored:?}");
        }
    }

    #[test]
    fn types_are_singular_and_in_pascal_case() {
        for (stored, name) in [
            ("books", "Book"),
            ("log_messages", "LogMessage"),
            ("categories", "Category"),
            ("movies", "Movie"),
            ("addresses", "Address"),
            ("people", "Person"),
            ("iso3166-2", "Iso31662"),
            ("fs.files", "FsFile"),
            ("2fa", "Type2fa"),
            ("status", "Status"),
            ("news", "News"),
            ("имена", "Type"),
        ] {
            assert_eq!(element_type_name(stored), name, "{stored:?}");
        }
    }

    #[test]
    fn variants_need_a_letter() {
        assert_eq!(variant("PG-13").as_deref(), Some("Pg13"));
        assert_eq!(variant("not rated").as_deref(), Some("NotRated"));
        assert_eq!(variant("3D").as_deref(), Some("V3D"));
        assert_eq!(variant("533"), None);
        assert_eq!(variant(""), None);
        assert_eq!(variant("да"), None);
    }

    #[test]
    fn equal_names_are_kept_apart() {
        let mut names = Names::default();
        let taken = ["user_name", "user_name", "r#type", "r#type", "A", "A"];
        let taken = taken.map(|name| names.take(name));
        assert_eq!(
            taken,
            ["user_name", "user_name_2", "r#type", "type_2", "A", "A2"]
        );
    }

    #[test]
    fn long_names_are_shortened() {
        let name = field(&"long_word_".repeat(20));
        assert!(name.len() <= 60, "{name}");
        assert!(field(&"x".repeat(500)).len() <= 60);
    }
}
