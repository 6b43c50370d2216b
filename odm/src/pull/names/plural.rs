//! English nouns in the singular.

/// Nouns whose singular does not follow the rules.
const IRREGULAR: &[(&str, &str)] = &[
    ("analyses", "analysis"),
    ("buses", "bus"),
    ("calories", "calorie"),
    ("caches", "cache"),
    ("children", "child"),
    ("cookies", "cookie"),
    ("crises", "crisis"),
    ("criteria", "criterion"),
    ("halves", "half"),
    ("ids", "id"),
    ("indices", "index"),
    ("knives", "knife"),
    ("leaves", "leaf"),
    ("lives", "life"),
    ("matrices", "matrix"),
    ("men", "man"),
    ("mice", "mouse"),
    ("movies", "movie"),
    ("people", "person"),
    ("shelves", "shelf"),
    ("ties", "tie"),
    ("vertices", "vertex"),
    ("wives", "wife"),
    ("wolves", "wolf"),
    ("women", "woman"),
];

/// Nouns that end like a plural.
const SINGULAR: &[&str] = &[
    "alias", "always", "atlas", "bias", "canvas", "chaos", "gas", "has", "https", "is", "lens",
    "news", "series", "species", "this", "was",
];

/// The singular of a word in lower case. A word that is no plural stays as it is.
pub(in crate::pull) fn singular(word: &str) -> String {
    if SINGULAR.contains(&word) {
        return word.to_owned();
    }
    if let Some((_, singular)) = IRREGULAR.iter().find(|(plural, _)| *plural == word) {
        return (*singular).to_owned();
    }
    if word.len() <= 3 || word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        return word.to_owned();
    }
    if let Some(stem) = word.strip_suffix("ies") {
        return format!("{stem}y");
    }
    let has_es = ["sses", "shes", "ches", "xes", "zzes"];
    let has_es = has_es.iter().any(|ending| word.ends_with(ending))
        || word.ends_with("uses") && !word.ends_with("ouses") && !word.ends_with("auses");
    if has_es && let Some(stem) = word.strip_suffix("es") {
        return stem.to_owned();
    }
    word.strip_suffix('s').unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::singular;

    #[test]
    fn plurals() {
        for (plural, expected) in [
            ("books", "book"),
            ("countries", "country"),
            ("boxes", "box"),
            ("houses", "house"),
            ("statuses", "status"),
            ("purchases", "purchase"),
            ("branches", "branch"),
            ("bus", "bus"),
            ("glass", "glass"),
            ("analysis", "analysis"),
            ("data", "data"),
            ("children", "child"),
            ("cities", "city"),
        ] {
            assert_eq!(singular(plural), expected);
        }
    }
}
