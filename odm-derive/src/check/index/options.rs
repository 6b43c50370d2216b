//! Checks of the options of an index: which kinds of index take them, and which values they have.

use proc_macro2::Span;
use syn::LitStr;

use crate::attribute_names;
use crate::facts::index::Index;
use crate::parse::index::KeyKind;

/// Where a mistake is, and its message.
pub(super) type Mistake = (Span, String);

/// An option that some indexes don't take.
struct Refusal {
    /// Which indexes don't take it.
    by: fn(&Index<'_>) -> bool,
    /// Where the option is, if the index has it.
    option: fn(&Index<'_>) -> Option<Span>,
    message: &'static str,
}

const REFUSALS: &[Refusal] = &[
    Refusal {
        by: is_wildcard,
        option: |index| index.declared.unique,
        message: "a wildcard index can't be unique; declare an index on the field itself",
    },
    Refusal {
        by: is_wildcard,
        option: |index| index.declared.sparse,
        message: "a wildcard index can't be sparse; declare an index on the field itself",
    },
    Refusal {
        by: is_wildcard,
        option: |index| index.declared.expire_after.map(|(_, span)| span),
        message: "a wildcard index can't be a ttl index; declare an index on the field itself",
    },
    Refusal {
        by: |index| index.keys.iter().any(|key| key.kind == KeyKind::Hashed),
        option: |index| index.declared.unique,
        message: "a hashed index can't be unique; make it `asc`, or declare a second index that is unique",
    },
    Refusal {
        by: |index| index.declared.partial.is_some(),
        option: |index| index.declared.sparse,
        message: "an index is sparse or partial, not both: remove `sparse` and let the filter ask for the field: `.exists(true)`",
    },
    Refusal {
        by: |index| index.is_text(),
        option: |index| {
            let locale = index.declared.collation.as_ref()?.locale.as_ref()?;
            (locale.value() != "simple").then(|| locale.span())
        },
        message: "a text index takes no collation; it folds case and accents by its `default_language`",
    },
    Refusal {
        by: |index| !index.is_text(),
        option: |index| {
            let language = index.declared.default_language.as_ref();
            language
                .or(index.declared.language_override.as_ref())
                .map(LitStr::span)
        },
        message: "only a text index has a language: `text(field, default_language = \"…\")`",
    },
];

/// Finds options that can't be combined.
pub(super) fn check(index: &Index<'_>) -> Option<Mistake> {
    let refused = || {
        let mut refusals = REFUSALS.iter().filter(|refusal| (refusal.by)(index));
        refusals.find_map(|refusal| {
            let span = (refusal.option)(index)?;
            Some((span, refusal.message.to_owned()))
        })
    };
    projection(index)
        .or_else(refused)
        .or_else(|| language(index))
        .or_else(|| name(index))
}

fn is_wildcard(index: &Index<'_>) -> bool {
    index.keys.iter().any(|key| key.kind == KeyKind::Wildcard)
}

fn projection(index: &Index<'_>) -> Option<Mistake> {
    let projection = index.declared.projection.as_ref()?;
    if let Some(key) = index.keys.iter().find(|key| !key.path.idents.is_empty()) {
        return Some((
            projection.word.span(),
            format!(
                "`{}` is for a wildcard over the whole document, and this one is over `{}`; remove one of them",
                projection.word,
                key.path.spelled()
            ),
        ));
    }
    index
        .projected
        .iter()
        .enumerate()
        .find_map(|(position, path)| {
            let mut before = index.projected.iter().take(position);
            let other = before.find(|other| path.overlaps(other))?;
            Some((
                path.span(),
                format!(
                    "`{}` and `{}` overlap, and MongoDB refuses one inside the other; keep one of the two",
                    other.spelled(),
                    path.spelled()
                ),
            ))
        })
}

fn language(index: &Index<'_>) -> Option<Mistake> {
    let language = index.declared.default_language.as_ref()?;
    let text = language.value();
    (!LANGUAGES.contains(&text.to_ascii_lowercase().as_str())).then(|| {
        (
            language.span(),
            format!(
                "text indexes do not know the language `{text}`{}",
                attribute_names::hint(&text, LANGUAGES.iter().copied())
            ),
        )
    })
}

fn name(index: &Index<'_>) -> Option<Mistake> {
    let name = index.declared.name.as_ref()?;
    matches!(name.value().as_str(), "" | "*").then(|| {
        let message = "invalid index name; remove it, and the server makes one from the keys";
        (name.span(), message.to_owned())
    })
}

/// The languages of text indexes, as MongoDB spells them.
pub(in crate::check) const LANGUAGES: &[&str] = &[
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "hungarian",
    "italian",
    "none",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "spanish",
    "swedish",
    "turkish",
    "da",
    "de",
    "en",
    "es",
    "fi",
    "fr",
    "hu",
    "it",
    "nb",
    "nl",
    "pt",
    "ro",
    "ru",
    "sv",
    "tr",
];
