//! serde's `rename_all`.

/// The stored name of a field.
pub(super) fn field(rule: Option<&str>, name: &str) -> String {
    match rule {
        Some("UPPERCASE" | "SCREAMING_SNAKE_CASE") => name.to_ascii_uppercase(),
        Some("PascalCase") => pascal(name),
        Some("camelCase") => lower_first(&pascal(name)),
        Some("kebab-case") => name.replace('_', "-"),
        Some("SCREAMING-KEBAB-CASE") => name.to_ascii_uppercase().replace('_', "-"),
        _ => name.to_owned(),
    }
}

/// The stored name of a variant.
pub(super) fn variant(rule: Option<&str>, name: &str) -> String {
    match rule {
        Some("lowercase") => name.to_ascii_lowercase(),
        Some("UPPERCASE") => name.to_ascii_uppercase(),
        Some("camelCase") => lower_first(name),
        Some("snake_case") => snake(name),
        Some("SCREAMING_SNAKE_CASE") => snake(name).to_ascii_uppercase(),
        Some("kebab-case") => snake(name).replace('_', "-"),
        Some("SCREAMING-KEBAB-CASE") => snake(name).to_ascii_uppercase().replace('_', "-"),
        _ => name.to_owned(),
    }
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for (place, character) in name.char_indices() {
        if place > 0 && character.is_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

fn pascal(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let mut characters = word.chars();
        let first = characters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(characters).collect::<String>()
    });
    words.collect()
}

fn lower_first(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(characters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_serde() {
        for (rule, expected) in [
            ("lowercase", "http_port"),
            ("UPPERCASE", "HTTP_PORT"),
            ("PascalCase", "HttpPort"),
            ("camelCase", "httpPort"),
            ("kebab-case", "http-port"),
            ("SCREAMING-KEBAB-CASE", "HTTP-PORT"),
        ] {
            assert_eq!(field(Some(rule), "http_port"), expected);
        }
        for (rule, expected) in [
            ("lowercase", "httpport"),
            ("camelCase", "httpPort"),
            ("snake_case", "http_port"),
            ("SCREAMING_SNAKE_CASE", "HTTP_PORT"),
        ] {
            assert_eq!(variant(Some(rule), "HttpPort"), expected);
        }
    }
}
