//! The locales of MongoDB's collations, and their BCP 47 names.

/// Sorted. A locale may be followed by `@collation=` and a variant.
const LOCALES: &[&str] = &[
    "af",
    "am",
    "ar",
    "as",
    "az",
    "be",
    "bg",
    "bn",
    "bo",
    "bs",
    "bs_Cyrl",
    "ca",
    "chr",
    "cs",
    "cy",
    "da",
    "de",
    "de_AT",
    "dsb",
    "dz",
    "ee",
    "el",
    "en",
    "en_US",
    "en_US_POSIX",
    "eo",
    "es",
    "et",
    "fa",
    "fa_AF",
    "fi",
    "fil",
    "fo",
    "fr",
    "fr_CA",
    "ga",
    "gl",
    "gu",
    "ha",
    "haw",
    "he",
    "hi",
    "hr",
    "hsb",
    "hu",
    "hy",
    "id",
    "ig",
    "is",
    "it",
    "ja",
    "ka",
    "kk",
    "kl",
    "km",
    "kn",
    "ko",
    "kok",
    "ky",
    "lb",
    "lkt",
    "ln",
    "lo",
    "lt",
    "lv",
    "mk",
    "ml",
    "mn",
    "mr",
    "ms",
    "mt",
    "my",
    "nb",
    "ne",
    "nl",
    "nn",
    "om",
    "or",
    "pa",
    "pl",
    "ps",
    "pt",
    "ro",
    "ru",
    "se",
    "si",
    "sk",
    "sl",
    "smn",
    "sq",
    "sr",
    "sr_Latn",
    "sv",
    "sw",
    "ta",
    "te",
    "th",
    "to",
    "tr",
    "ug",
    "uk",
    "ur",
    "vi",
    "wae",
    "yi",
    "yo",
    "zh",
    "zh_Hant",
    "zu",
];

type Variant = (&'static str, Option<&'static str>, &'static [&'static str]);

/// The variants that a locale may name: MongoDB's name, the BCP 47 name if the bundled collation data has the variant,
/// and the languages that have it (an empty list stands for all languages).
const VARIANTS: &[Variant] = &[
    ("big5han", None, &["zh"]),
    ("compat", Some("compat"), &["ar"]),
    ("dictionary", Some("dict"), &["si"]),
    ("emoji", Some("emoji"), &[]),
    ("eor", Some("eor"), &[]),
    ("gb2312han", None, &["zh"]),
    ("phonebook", Some("phonebk"), &["de"]),
    ("phonetic", None, &["ln"]),
    ("search", None, &[]),
    ("searchjl", None, &["ko"]),
    // The bundled data has this order of v and w under another name.
    ("standard", Some("trad"), &["sv"]),
    ("standard", None, &["zh"]),
    ("traditional", Some("trad"), &["bn", "es", "fi", "kn", "vi"]),
    ("unihan", Some("unihan"), &["ja", "ko", "zh"]),
    ("zhuyin", Some("zhuyin"), &["zh"]),
];

fn split(locale: &str) -> (&str, Option<&str>) {
    match locale.split_once("@collation=") {
        Some((base, variant)) => (base, Some(variant)),
        None => (locale, None),
    }
}

fn language(base: &str) -> &str {
    base.split('_').next().unwrap_or(base)
}

/// The row of a variant for the language of `base`.
fn row(base: &str, variant: &str) -> Option<&'static Variant> {
    VARIANTS.iter().find(|(name, _, languages)| {
        *name == variant && (languages.is_empty() || languages.contains(&language(base)))
    })
}

/// Whether MongoDB has a collation for a locale.
pub(super) fn is_known(locale: &str) -> bool {
    let (base, variant) = split(locale);
    LOCALES.binary_search(&base).is_ok()
        && variant.is_none_or(|variant| row(base, variant).is_some())
}

/// The known locale to suggest for an unknown one, with the variant if the known locale has it.
pub(super) fn suggestion(locale: &str) -> Option<String> {
    let (base, variant) = split(locale);
    let (base, keyword) = base.split_once('@').unwrap_or((base, "="));
    if !keyword.contains('=') {
        return None;
    }
    let variant = variant.and_then(|variant| variant.split(';').next());
    let mut parts: Vec<String> = base
        .split(['_', '-'])
        .enumerate()
        .map(|(position, part)| match (position, part.len()) {
            (0, _) => part.to_lowercase(),
            (_, 4) => title(part),
            _ => part.to_uppercase(),
        })
        .collect();
    while !parts.is_empty() {
        let candidate = parts.join("_");
        let varied = variant.map(|variant| format!("{candidate}@collation={variant}"));
        let mut candidates = varied.into_iter().chain([candidate]);
        if let Some(known) = candidates.find(|candidate| is_known(candidate)) {
            return Some(known);
        }
        parts.pop();
    }
    None
}

fn title(part: &str) -> String {
    part.chars()
        .enumerate()
        .map(|(position, letter)| {
            if position == 0 {
                letter.to_ascii_uppercase()
            } else {
                letter.to_ascii_lowercase()
            }
        })
        .collect()
}

/// The default options of a locale, where they may differ from the general defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one option of the document"
)]
pub struct Customs {
    /// `caseFirst: "upper"`
    pub upper_first: bool,
    /// `alternate: "shifted"`
    pub shifted: bool,
    /// `normalization: true`
    pub normalization: bool,
    /// `backwards: true`
    pub backwards: bool,
}

/// The defaults of a locale, as `listIndexes` of MongoDB 6.0.5 shows them.
pub fn customs(locale: &str) -> Customs {
    let (base, variant) = split(locale);
    let plain = variant.is_none();
    let normalized = match variant {
        None | Some("traditional" | "dictionary") => matches!(
            base,
            "as" | "bn"
                | "el"
                | "fa"
                | "fa_AF"
                | "gu"
                | "he"
                | "hi"
                | "ig"
                | "km"
                | "kn"
                | "kok"
                | "mr"
                | "my"
                | "or"
                | "pa"
                | "ps"
                | "si"
                | "ta"
                | "te"
                | "th"
                | "vi"
                | "yi"
                | "yo"
        ),
        Some(variant) => variant.starts_with("search"),
    };
    Customs {
        upper_first: plain && matches!(base, "da" | "mt"),
        shifted: plain && base == "th",
        normalization: normalized,
        backwards: plain && base == "fr_CA",
    }
}

/// The locales whose order the bundled collation data lacks: it would use the root order for them.
const LACKING: &[&str] = &["en_US_POSIX", "haw", "kl", "lkt", "ln", "se", "smn", "yi"];

/// The name of a known locale in BCP 47, `None` if the bundled collation data lacks it.
pub(super) fn bcp47(locale: &str) -> Option<String> {
    let (base, variant) = split(locale);
    if LACKING.contains(&base) {
        return None;
    }
    let tag = base.replace('_', "-");
    let Some(variant) = variant else {
        return Some(tag);
    };
    let (_, word, _) = row(base, variant)?;
    Some(format!("{tag}-u-co-{}", (*word)?))
}
