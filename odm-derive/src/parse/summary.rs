//! Summaries of the documents of a relation: `count_of`, `sum_of`, `mean_of`, `min_of` and `max_of` on a field.

use syn::Ident;
use syn::ext::IdentExt;
use syn::parse::ParseStream;

use super::index::path;
use super::quoted_by_name;
use super::relation::{Arguments, refused};
use crate::attribute_names;

/// A summary of the documents of a relation: `sum_of(reviews.helpful)`.
pub(crate) struct SummaryOf {
    pub(crate) word: Ident,
    pub(crate) kind: SummaryKind,
    /// The name of the relation, which the same struct declares.
    pub(crate) relation: Ident,
    /// The Rust names, in the other model, from the struct down to the summarized field; none for a count.
    pub(crate) path: Vec<Ident>,
}

/// What a summary computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SummaryKind {
    /// `count_of`
    Count,
    /// `sum_of`
    Sum,
    /// `min_of`
    Min,
    /// `max_of`
    Max,
    /// `mean_of`
    Mean,
}

quoted_by_name!(SummaryKind);

impl SummaryKind {
    /// The kind that a word of a field declares.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            attribute_names::COUNT_OF => Self::Count,
            attribute_names::SUM_OF => Self::Sum,
            attribute_names::MIN_OF => Self::Min,
            attribute_names::MAX_OF => Self::Max,
            attribute_names::MEAN_OF => Self::Mean,
            _ => return None,
        })
    }
}

/// Reads what follows the word.
pub(super) fn summary(
    word: &Ident,
    kind: SummaryKind,
    input: ParseStream<'_>,
) -> syn::Result<SummaryOf> {
    let arguments = Arguments::new(word, input)?;
    let content = &arguments.content;
    if content.is_empty() {
        return Err(refused(word, word.span()));
    }
    let first = content.call(Ident::parse_any)?;
    let mut names = path(&first, content)?;
    let relation = names.remove(0);
    let is_count = kind == SummaryKind::Count;
    if is_count != names.is_empty() || !content.is_empty() {
        let culprit = names.first().unwrap_or(&relation);
        return Err(refused(word, culprit.span()));
    }
    Ok(SummaryOf {
        word: word.clone(),
        kind,
        relation,
        path: names,
    })
}
