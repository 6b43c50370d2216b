//! Collations: rules for comparing strings.

use bson::{Document, doc};

use crate::error::{Error, Result};

/// The rules by which an operation compares strings. Unset options have the locale's defaults.
///
/// ```
/// use odm::collection::Collation;
/// let ignoring_case = Collation::new("en").strength(2);
/// # let _ = ignoring_case;
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Collation(Document);

/// Which case sorts first at strength 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseFirst {
    /// Upper case.
    Upper,
    /// Lower case.
    Lower,
    /// The locale's own order.
    Off,
}

/// Whether white space and punctuation count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alternate {
    /// White space and punctuation count as base characters.
    NonIgnorable,
    /// White space and punctuation count only at strength 4 and 5.
    Shifted,
}

/// The characters that [`Alternate::Shifted`] ignores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxVariable {
    /// White space and punctuation.
    Punct,
    /// White space.
    Space,
}

impl Collation {
    /// The rules of an ICU locale, such as `en` or `fr_CA`; `simple` compares bytes.
    pub fn new(locale: impl Into<String>) -> Self {
        Self(doc! { "locale": locale.into() })
    }

    /// The level of comparison: 1 compares base letters, 2 also accents, 3 (the default) also case, up to 5.
    pub fn strength(mut self, strength: u8) -> Self {
        self.0.insert("strength", i32::from(strength));
        self
    }

    /// Whether case also counts at strength 1 and 2.
    pub fn case_level(mut self, case_level: bool) -> Self {
        self.0.insert("caseLevel", case_level);
        self
    }

    /// Which case sorts first.
    pub fn case_first(mut self, case_first: CaseFirst) -> Self {
        let word = match case_first {
            CaseFirst::Upper => "upper",
            CaseFirst::Lower => "lower",
            CaseFirst::Off => "off",
        };
        self.0.insert("caseFirst", word);
        self
    }

    /// Whether "10" sorts after "2".
    pub fn numeric_ordering(mut self, numeric_ordering: bool) -> Self {
        self.0.insert("numericOrdering", numeric_ordering);
        self
    }

    /// Whether white space and punctuation count.
    pub fn alternate(mut self, alternate: Alternate) -> Self {
        let word = match alternate {
            Alternate::NonIgnorable => "non-ignorable",
            Alternate::Shifted => "shifted",
        };
        self.0.insert("alternate", word);
        self
    }

    /// The characters that [`Alternate::Shifted`] ignores.
    pub fn max_variable(mut self, max_variable: MaxVariable) -> Self {
        let word = match max_variable {
            MaxVariable::Punct => "punct",
            MaxVariable::Space => "space",
        };
        self.0.insert("maxVariable", word);
        self
    }

    /// Whether accents are compared from the end of the string, as in Canadian French.
    pub fn backwards(mut self, backwards: bool) -> Self {
        self.0.insert("backwards", backwards);
        self
    }

    /// Whether text is normalized before it is compared.
    pub fn normalization(mut self, normalization: bool) -> Self {
        self.0.insert("normalization", normalization);
        self
    }

    /// Refuses unknown strengths; the server checks all other options.
    pub(crate) fn check(&self) -> Result<()> {
        match self.0.get_i32("strength") {
            Ok(strength) if !(1..=5).contains(&strength) => Err(Error::usage(format!(
                "the strength of a collation is 1 to 5, not {strength}"
            ))),
            _ => Ok(()),
        }
    }

    pub(crate) fn to_document(&self) -> Document {
        self.0.clone()
    }
}
