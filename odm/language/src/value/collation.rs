//! Collations: their documents, and the string comparison that they define.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use bson::{Bson, Document, RawDocumentBuf, doc};
use bson::{RawBsonRef, RawDocument};
use icu_collator::options::{AlternateHandling, CaseLevel, CollatorOptions, MaxVariable, Strength};
use icu_collator::preferences::{CollationCaseFirst, CollationNumericOrdering};
use icu_collator::{CollatorBorrowed, CollatorPreferences};
use icu_locale_core::Locale;

use crate::error::{Code, ServerError};
use crate::value::number::Number;
use crate::value::{bson_type, print, raw};

mod locales;

pub use self::locales::{Customs, customs};

/// The fields of a collation document.
pub const FIELDS: &[&str] = &[
    "locale",
    "caseLevel",
    "caseFirst",
    "strength",
    "numericOrdering",
    "alternate",
    "maxVariable",
    "normalization",
    "backwards",
    "version",
];

/// The version of MongoDB's collation data, as collation documents show it.
const VERSION: &str = "57.1";

/// A string comparison other than by bytes. Cheap to clone.
#[derive(Clone)]
pub struct Collator {
    shared: Arc<Shared>,
}

struct Shared {
    spec: Spec,
    icu: CollatorBorrowed<'static>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are the fields of the document"
)]
struct Spec {
    locale: String,
    case_level: bool,
    case_first: String,
    strength: i32,
    numeric_ordering: bool,
    alternate: String,
    max_variable: String,
    normalization: bool,
    backwards: bool,
}

impl Collator {
    /// Reads a collation document. `None` is the simple collation: comparison by bytes.
    ///
    /// Absent options get the locale's defaults ([`customs`]).
    ///
    /// `context` is the prefix of field names in error messages, such as `collation`.
    pub fn parse(document: &RawDocument, context: &str) -> Result<Option<Self>, ServerError> {
        let Some(spec) = Written::read(document, context)?.spec(document)? else {
            return Ok(None);
        };
        let icu = spec.icu(document)?;
        Ok(Some(Self {
            shared: Arc::new(Shared { spec, icu }),
        }))
    }

    /// Checks each field on its own, without building the collation, for errors that a command reports while parsing.
    pub fn check_fields(document: &RawDocument, context: &str) -> Result<(), ServerError> {
        Written::read(document, context).map(drop)
    }

    /// Reads the collation of a `create` command. Absent options get the general defaults instead of the locale's; only
    /// `backwards` follows the locale.
    pub fn parse_created(document: &RawDocument) -> Result<Option<Self>, ServerError> {
        let mut full = doc! {
            // Keeps `locale` in the first place; a given locale replaces the null.
            "locale": null,
            "caseLevel": false,
            "caseFirst": "off",
            "strength": 3,
            "numericOrdering": false,
            "alternate": "non-ignorable",
            "maxVariable": "punct",
            "normalization": false,
        };
        let invalid =
            |error: bson::error::Error| ServerError::new(Code::INVALID_BSON, error.to_string());
        for (key, value) in raw::elements(document) {
            if !matches!(value, RawBsonRef::Null | RawBsonRef::Undefined) {
                full.insert(key, Bson::try_from(value).map_err(invalid)?);
            }
        }
        let full = RawDocumentBuf::try_from(&full).map_err(invalid)?;
        Self::parse(&full, "create.collation")
    }

    /// The document with every default filled in, as `listCollections` and `listIndexes` show it.
    pub fn document(&self) -> Document {
        let spec = &self.shared.spec;
        doc! {
            "locale": &spec.locale,
            "caseLevel": spec.case_level,
            "caseFirst": &spec.case_first,
            "strength": spec.strength,
            "numericOrdering": spec.numeric_ordering,
            "alternate": &spec.alternate,
            "maxVariable": &spec.max_variable,
            "normalization": spec.normalization,
            "backwards": spec.backwards,
            "version": VERSION,
        }
    }

    /// Compares two strings.
    pub fn compare(&self, a: &str, b: &str) -> Ordering {
        self.shared.icu.compare(a, b)
    }

    /// Appends bytes that order as [`Self::compare`] does.
    pub fn append_key(&self, text: &str, bytes: &mut Vec<u8>) {
        let Ok(()) = self.shared.icu.write_sort_key_to(text, bytes);
    }
}

impl PartialEq for Collator {
    fn eq(&self, other: &Self) -> bool {
        self.shared.spec == other.shared.spec
    }
}

impl Eq for Collator {}

impl fmt::Debug for Collator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.shared.spec, f)
    }
}

/// The fields of a collation document, before they are checked against each other.
#[derive(Debug, Default)]
struct Written<'a> {
    locale: &'a str,
    case_level: bool,
    case_first: Option<String>,
    strength: Option<i32>,
    numeric_ordering: bool,
    alternate: Option<String>,
    max_variable: Option<String>,
    normalization: Option<bool>,
    backwards: Option<bool>,
    version: Option<&'a str>,
}

impl<'a> Written<'a> {
    /// Reads and checks each field on its own, in document order.
    fn read(document: &'a RawDocument, context: &'a str) -> Result<Self, ServerError> {
        let mut locale = None;
        let mut written = Self::default();
        for (key, value) in raw::elements(document) {
            let field = Field {
                context,
                key,
                value,
            };
            if matches!(value, RawBsonRef::Null | RawBsonRef::Undefined) && Field::known(key) {
                continue;
            }
            match key {
                "locale" => locale = Some(field.string()?),
                "caseLevel" => written.case_level = field.boolean()?,
                "caseFirst" => written.case_first = Some(field.word(&["upper", "lower", "off"])?),
                "strength" => written.strength = Some(field.strength()?),
                "numericOrdering" => written.numeric_ordering = field.boolean()?,
                "alternate" => {
                    written.alternate = Some(field.word(&["non-ignorable", "shifted"])?);
                }
                "maxVariable" => written.max_variable = Some(field.word(&["punct", "space"])?),
                "normalization" => written.normalization = Some(field.boolean()?),
                "backwards" => {
                    written.backwards = Some(field.boolean().map_err(|_| field.no_boolean())?);
                }
                "version" => written.version = Some(field.string()?),
                _ => {
                    return Err(ServerError::new(
                        Code::location(40415),
                        format!("BSON field '{context}.{key}' is an unknown field."),
                    ));
                }
            }
        }
        written.locale = locale.ok_or_else(|| {
            ServerError::new(
                Code::location(40414),
                format!("BSON field '{context}.locale' is missing but a required field"),
            )
        })?;
        Ok(written)
    }

    /// Fills in the defaults. Returns `None` for the `simple` locale.
    fn spec(self, document: &RawDocument) -> Result<Option<Spec>, ServerError> {
        if let Some(version) = self.version {
            check_version(version, document)?;
        }
        if self.locale == "simple" {
            return Ok(None);
        }
        if self.strength == Some(0) {
            return Err(ServerError::new(
                Code::BAD_VALUE,
                "Enumeration value '0' for field 'collation.strength' is not a valid value.",
            ));
        }
        let customs = customs(self.locale);
        let word = |custom: bool, other: &str, general: &str| {
            if custom { other } else { general }.to_owned()
        };
        let spec = Spec {
            locale: self.locale.to_owned(),
            case_level: self.case_level,
            case_first: self
                .case_first
                .unwrap_or_else(|| word(customs.upper_first, "upper", "off")),
            strength: self.strength.unwrap_or(3),
            numeric_ordering: self.numeric_ordering,
            alternate: self
                .alternate
                .unwrap_or_else(|| word(customs.shifted, "shifted", "non-ignorable")),
            max_variable: self.max_variable.unwrap_or_else(|| "punct".to_owned()),
            normalization: self.normalization.unwrap_or(customs.normalization),
            backwards: self.backwards.unwrap_or(customs.backwards),
        };
        spec.check(document)?;
        Ok(Some(spec))
    }
}

impl Spec {
    fn check(&self, document: &RawDocument) -> Result<(), ServerError> {
        let printed = || print::document(document);
        let problem = if self.locale.is_empty() {
            format!(
                "Field 'locale' cannot be the empty string in: {}",
                printed()
            )
        } else if self.locale.contains('\0') {
            format!(
                "Field 'locale' cannot contain null byte. Collation spec: {}",
                printed()
            )
        } else if !locales::is_known(&self.locale) {
            let advice = locales::suggestion(&self.locale)
                .map(|known| format!(". Did you mean '{known}'?"))
                .unwrap_or_default();
            format!("Field 'locale' is invalid in: {}{advice}", printed())
        } else if self.case_first != "off" && !self.case_level && self.strength <= 2 {
            format!(
                "'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2 \
                 in: {}",
                printed()
            )
        } else if self.backwards && self.strength == 1 {
            format!(
                "'backwards' is invalid with 'strength' of 1 in: {}",
                printed()
            )
        } else {
            return Ok(());
        };
        Err(ServerError::new(Code::BAD_VALUE, problem))
    }

    fn icu(&self, document: &RawDocument) -> Result<CollatorBorrowed<'static>, ServerError> {
        let unsupported = |what: &str| {
            ServerError::new(
                Code::NOT_IMPLEMENTED,
                format!(
                    "{what} is not supported by the in-memory engine, in collation {}",
                    print::document(document)
                ),
            )
        };
        if self.backwards != customs(&self.locale).backwards {
            return Err(unsupported("'backwards' other than the locale's own"));
        }
        let tag =
            locales::bcp47(&self.locale).ok_or_else(|| unsupported("this variant of a locale"))?;
        let locale: Locale = tag
            .parse()
            .map_err(|_| unsupported("this variant of a locale"))?;
        let mut preferences = CollatorPreferences::from(&locale);
        preferences.case_first = Some(match self.case_first.as_str() {
            "upper" => CollationCaseFirst::Upper,
            "lower" => CollationCaseFirst::Lower,
            _ => CollationCaseFirst::False,
        });
        preferences.numeric_ordering = Some(if self.numeric_ordering {
            CollationNumericOrdering::True
        } else {
            CollationNumericOrdering::False
        });
        let mut options = CollatorOptions::default();
        options.strength = Some(match self.strength {
            1 => Strength::Primary,
            2 => Strength::Secondary,
            3 => Strength::Tertiary,
            4 => Strength::Quaternary,
            _ => Strength::Identical,
        });
        options.alternate_handling = Some(if self.alternate == "shifted" {
            AlternateHandling::Shifted
        } else {
            AlternateHandling::NonIgnorable
        });
        options.max_variable = Some(if self.max_variable == "space" {
            MaxVariable::Space
        } else {
            MaxVariable::Punctuation
        });
        options.case_level = Some(if self.case_level {
            CaseLevel::On
        } else {
            CaseLevel::Off
        });
        CollatorBorrowed::try_new(preferences, options).map_err(|_| unsupported("this locale"))
    }
}

fn check_version(version: &str, document: &RawDocument) -> Result<(), ServerError> {
    if version == VERSION {
        return Ok(());
    }
    Err(ServerError::new(
        Code::INCOMPATIBLE_COLLATION_VERSION,
        format!(
            "Requested collation version {version} but the only available collator version was \
             {VERSION}. Requested collation spec: {}",
            print::document(document)
        ),
    ))
}

/// One field of the document, with the context for its error messages.
struct Field<'a> {
    context: &'a str,
    key: &'a str,
    value: RawBsonRef<'a>,
}

impl<'a> Field<'a> {
    fn known(key: &str) -> bool {
        FIELDS.contains(&key)
    }

    fn wrong_type(&self, expected: &str) -> ServerError {
        ServerError::new(
            Code::TYPE_MISMATCH,
            format!(
                "BSON field '{}.{}' is the wrong type '{}', {expected}",
                self.context,
                self.key,
                bson_type::alias(self.value.element_type())
            ),
        )
    }

    fn string(&self) -> Result<&'a str, ServerError> {
        self.value
            .as_str()
            .ok_or_else(|| self.wrong_type("expected type 'string'"))
    }

    fn boolean(&self) -> Result<bool, ServerError> {
        self.value
            .as_bool()
            .ok_or_else(|| self.wrong_type("expected type 'bool'"))
    }

    /// The type error of `backwards`, whose message differs from that of the other options.
    fn no_boolean(&self) -> ServerError {
        ServerError::new(
            Code::TYPE_MISMATCH,
            format!(
                "Field '{}' should be a boolean value, but found: {}",
                self.key,
                bson_type::alias(self.value.element_type())
            ),
        )
    }

    fn word(&self, words: &[&str]) -> Result<String, ServerError> {
        let word = self.string()?;
        if words.contains(&word) {
            return Ok(word.to_owned());
        }
        Err(self.not_a_value(word))
    }

    fn strength(&self) -> Result<i32, ServerError> {
        let number = Number::from_raw(self.value)
            .ok_or_else(|| self.wrong_type("expected types '[long, int, decimal, double']"))?;
        // mongod's conversion: clamps to 32 bits and turns NaN into 0
        #[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
        let strength = number.to_f64() as i32;
        let limit = |bound: &str| {
            ServerError::new(
                Code::location(51024),
                format!("BSON field 'strength' value must be {bound}, actual value '{strength}'"),
            )
        };
        match strength {
            ..0 => Err(limit(">= 0")),
            0..=5 => Ok(strength),
            6.. => Err(limit("<= 5")),
        }
    }

    fn not_a_value(&self, value: &str) -> ServerError {
        ServerError::new(
            Code::BAD_VALUE,
            format!(
                "Enumeration value '{value}' for field '{}.{}' is not a valid value.",
                self.context, self.key
            ),
        )
    }
}

#[cfg(test)]
mod tests;
