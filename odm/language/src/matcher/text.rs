//! `$text` in a filter: its syntax, the places where it is allowed, and how it tests a document.

use bson::{RawBsonRef, RawDocument};

use crate::error::{Code, ServerError};
use crate::matcher::ast::{Predicate, TextTest};
use crate::matcher::path::Answer;
use crate::value::bson_type;
use crate::value::raw;
use crate::value::text::{Fields, Request, Search};

/// Parses the operand of `$text`.
pub(super) fn parse(value: RawBsonRef<'_>) -> Result<Predicate, ServerError> {
    let RawBsonRef::Document(document) = value else {
        return Err(refused("$text expects an object"));
    };
    let search = string(document, "$search")?
        .ok_or_else(|| ServerError::new(Code::NO_SUCH_KEY, "Missing expected field \"$search\""))?;
    let language = string(document, "$language")?;
    let case_sensitive = flag(document, "$caseSensitive")?;
    let diacritic_sensitive = flag(document, "$diacriticSensitive")?;
    let mut rest = vec![
        "$search",
        "$language",
        "$caseSensitive",
        "$diacriticSensitive",
    ];
    for (name, _) in raw::elements(document) {
        // Each option may stand once.
        let Some(at) = rest.iter().position(|known| *known == name) else {
            return Err(refused("extra fields in $text"));
        };
        rest.remove(at);
    }
    Ok(Predicate::Text(Box::new(TextTest {
        request: Request {
            search,
            language,
            case_sensitive,
            diacritic_sensitive,
        },
        bound: None,
        listed: false,
    })))
}

fn refused(message: &str) -> ServerError {
    ServerError::new(Code::BAD_VALUE, message)
}

fn string(document: &RawDocument, name: &str) -> Result<Option<String>, ServerError> {
    match raw::get(document, name) {
        None => Ok(None),
        Some(RawBsonRef::String(text)) => Ok(Some(text.to_owned())),
        Some(other) => Err(wrong_type(name, "string", other)),
    }
}

fn flag(document: &RawDocument, name: &str) -> Result<bool, ServerError> {
    match raw::get(document, name) {
        None => Ok(false),
        Some(RawBsonRef::Boolean(value)) => Ok(value),
        Some(other) => Err(wrong_type(name, "bool", other)),
    }
}

fn wrong_type(name: &str, expected: &str, found: RawBsonRef<'_>) -> ServerError {
    ServerError::new(
        Code::TYPE_MISMATCH,
        format!(
            "\"{name}\" had the wrong type. Expected {expected}, found {}",
            bson_type::alias(found.element_type())
        ),
    )
}

impl Predicate {
    /// The first `$text` in the predicate.
    pub fn text(&self) -> Option<&TextTest> {
        match self {
            Self::Text(text) => Some(text),
            Self::And(group) | Self::Or(group) | Self::Nor(group) => {
                group.children.iter().find_map(Self::text)
            }
            _ => None,
        }
    }
}

/// The branch of each nested `$or` that contains the `$text`, outermost first.
pub(super) fn alternatives(mut predicate: &Predicate) -> Vec<&Predicate> {
    let mut found = Vec::new();
    while let Predicate::And(group) | Predicate::Or(group) = predicate {
        let mut children = group.children.iter();
        let Some(child) = children.find(|child| child.text().is_some()) else {
            break;
        };
        if matches!(predicate, Predicate::Or(_)) {
            found.push(child);
        }
        predicate = child;
    }
    found
}

/// How many `$text` a filter has, and whether any is below a `$nor`.
fn places(predicate: &Predicate, negated: bool) -> (usize, bool) {
    let all = |children: &[Predicate], negated| {
        children
            .iter()
            .map(|child| places(child, negated))
            .fold((0, false), |(n, any), (more, also)| (n + more, any || also))
    };
    match predicate {
        Predicate::Text(_) => (1, negated),
        Predicate::And(group) | Predicate::Or(group) => all(&group.children, negated),
        Predicate::Nor(group) => all(&group.children, true),
        _ => (0, false),
    }
}

/// Binds the `$text` of a filter to the fields of the collection's text index.
pub(super) fn bind(predicate: &mut Predicate, fields: Option<&Fields>) -> Result<(), ServerError> {
    let (times, negated) = places(predicate, false);
    if times == 0 {
        return Ok(());
    }
    let Some(fields) = fields else {
        return Err(ServerError::new(
            Code::INDEX_NOT_FOUND,
            "text index required for $text query",
        ));
    };
    bind_each(predicate, fields, true)?;
    if times > 1 {
        return Err(refused("Too many text expressions"));
    }
    if negated {
        return Err(refused("text expression not allowed in nor"));
    }
    Ok(())
}

fn bind_each(
    predicate: &mut Predicate,
    fields: &Fields,
    required: bool,
) -> Result<(), ServerError> {
    let (children, required) = match predicate {
        Predicate::Text(text) => {
            text.bound = Some(Search::new(&text.request, fields)?);
            text.listed = required;
            let language = &mut text.request.language;
            language.get_or_insert_with(|| fields.language_name().to_owned());
            return Ok(());
        }
        Predicate::And(group) => (&mut group.children, required),
        Predicate::Or(group) => {
            let only = group.children.len() == 1;
            (&mut group.children, required && only)
        }
        Predicate::Nor(group) => (&mut group.children, false),
        _ => return Ok(()),
    };
    children
        .iter_mut()
        .try_for_each(|child| bind_each(child, fields, required))
}

/// Whether a document matches a `$text`.
pub(super) fn matches(text: &TextTest, document: &RawDocument) -> Answer {
    match &text.bound {
        Some(search) if text.listed => search.accepts(document),
        Some(search) => search.matches(document),
        None => Err(refused("$text is not allowed in this context")),
    }
}
