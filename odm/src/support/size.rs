//! The largest size of a value, computed in const evaluation from the declared bounds.

use super::place::{At, Kind, Known, Place, Unbounded};
use super::same;
use super::text::digits;
use crate::model::field::VariantContent;
use crate::model::parts::{Content, Part};
use crate::model::{BsonType, EnumMeta, FieldMeta, Rule, Shape, Tagging, TypeMeta, VariantMeta};

/// The bytes of a document or an array without elements: its length and a NUL.
const EMPTY: u64 = 5;
/// The bytes of a string without characters: its length and a NUL.
const EMPTY_STRING: u64 = 5;
/// The most bytes of a character.
const CHARACTER: u64 = 4;

/// The largest size of a value in bytes, without its type and name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Size {
    Bytes(u64),
    /// There is no such value: it would be a value of a type that contains itself, below the declared depth.
    Absent,
}

pub(super) type Found = Result<Size, Unbounded>;

impl Size {
    const fn plus(self, more: u64) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Bytes(bytes.saturating_add(more)),
            Self::Absent => Self::Absent,
        }
    }

    const fn less(self, less: u64) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Bytes(bytes.saturating_sub(less)),
            Self::Absent => Self::Absent,
        }
    }

    /// The size of two values, both of which must be there.
    pub(super) const fn and(self, other: Self) -> Self {
        match other {
            Self::Bytes(bytes) => self.plus(bytes),
            Self::Absent => Self::Absent,
        }
    }

    /// The larger size.
    const fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Bytes(one), Self::Bytes(two)) if one < two => other,
            (Self::Absent, _) => other,
            _ => self,
        }
    }
}

/// The rules that hold for a value.
#[derive(Clone, Copy)]
struct Rules {
    declared: &'static [Rule],
    /// Whether the value has a name, and so could have rules.
    named: bool,
    /// Whether the value is an element of the list that has the rules.
    inside: bool,
}

impl Rules {
    const NAMELESS: Self = Self {
        declared: &[],
        named: false,
        inside: false,
    };

    const fn of_elements(self) -> Self {
        Self {
            inside: true,
            ..self
        }
    }

    /// The declared `bytes(max = …)`.
    const fn bytes(self) -> Option<u64> {
        let mut rest = self.declared;
        while let [rule, behind @ ..] = rest {
            if let Rule::Bytes { max } = rule
                && !self.inside
            {
                return Some(*max);
            }
            rest = behind;
        }
        None
    }

    /// The declared `max` of `items`, `embed` or `references`.
    const fn items(self) -> Option<u64> {
        let mut rest = self.declared;
        while let [rule, behind @ ..] = rest {
            if let Rule::Items { max: Some(max), .. } = rule
                && !self.inside
            {
                return Some(*max as u64);
            }
            rest = behind;
        }
        None
    }

    /// The largest size of a string.
    const fn string(self) -> Option<u64> {
        let mut found: Option<u64> = None;
        let mut rest = self.declared;
        while let [rule, behind @ ..] = rest {
            let most = match rule {
                Rule::Length { max: Some(max), .. } => Some(EMPTY_STRING + CHARACTER * *max as u64),
                Rule::OneOf(strings) => Some(EMPTY_STRING + longest(strings)),
                _ => None,
            };
            found = match (found, most) {
                (Some(found), Some(most)) if found < most => Some(found),
                (found, None) => found,
                (_, most) => most,
            };
            rest = behind;
        }
        found
    }
}

/// The largest size of a document.
pub(super) const fn document(content: &'static Content, at: At<'_>) -> Found {
    embedded(content, false, at)
}

/// The largest size that a field adds to its document, with the field's type and name.
pub(super) const fn field(
    field: &'static FieldMeta,
    variant: &'static str,
    content: &'static Content,
    at: At<'_>,
) -> Found {
    let place = Place::new(field.rust, at);
    let rules = Rules {
        declared: field.rules,
        named: true,
        inside: false,
    };
    let part = part(content, variant, field.rust);
    match value(&field.ty, part, rules, field.flatten, at.inside(&place)) {
        Ok(size) if field.flatten && rules.bytes().is_none() => Ok(size.less(EMPTY)),
        Ok(size) if field.flatten => Ok(size),
        Ok(size) => Ok(size.plus(header(field.name))),
        unbounded => unbounded,
    }
}

/// The bytes of an element's type, name and NUL.
const fn header(name: &str) -> u64 {
    name.len() as u64 + 2
}

/// The part of a field, or of a value that a variant holds.
const fn part(content: &'static Content, variant: &str, name: &str) -> Part {
    let mut rest = content.parts;
    while let [(known, part), behind @ ..] = rest {
        if is_name(known, variant, name) {
            return *part;
        }
        rest = behind;
    }
    Part::None
}

/// Whether `known` is `name`, behind `variant` and a dot where there is a variant.
const fn is_name(known: &str, variant: &str, name: &str) -> bool {
    if variant.is_empty() {
        return same(known, name);
    }
    let (mut known, mut variant) = (known.as_bytes(), variant.as_bytes());
    while let ([one, behind @ ..], [other, left @ ..]) = (known, variant) {
        if *one != *other {
            return false;
        }
        (known, variant) = (behind, left);
    }
    let mut name = name.as_bytes();
    let [b'.', behind @ ..] = known else {
        return false;
    };
    known = behind;
    while let ([one, behind @ ..], [other, left @ ..]) = (known, name) {
        if *one != *other {
            return false;
        }
        (known, name) = (behind, left);
    }
    variant.is_empty() && known.is_empty() && name.is_empty()
}

/// The largest size of a value; `flat` is a value whose fields are stored at the level of the field.
const fn value(ty: &'static TypeMeta, part: Part, rules: Rules, flat: bool, at: At<'_>) -> Found {
    if let Some(bytes) = rules.bytes() {
        return Ok(Size::Bytes(bytes));
    }
    let found = match (ty.shape, part) {
        (Shape::Tuple(_), Part::Tuple { values }) => tuple(values, at),
        (Shape::Array { element, len, .. }, part) => {
            let most = match len {
                Some(len) => Some(len as u64),
                None => rules.items(),
            };
            let each = value(element, part, rules.of_elements(), false, at);
            match (most, each) {
                (None, _) if rules.inside || !rules.named => at.unbounded(Kind::InnerList),
                (None, _) => at.unbounded(Kind::List),
                (Some(most), Ok(Size::Bytes(each))) => Ok(Size::Bytes(list(most, each))),
                (Some(0), Ok(Size::Absent)) => Ok(Size::Bytes(EMPTY)),
                (_, Ok(Size::Absent)) if len.is_none() => Ok(Size::Bytes(EMPTY)),
                (_, other) => other,
            }
        }
        (Shape::Map(_), _) => at.unbounded(Kind::Map),
        (Shape::Embedded(_), Part::Embedded { content }) => embedded(content, flat, at),
        (Shape::Embedded(_), Part::TooDeep) => at.unbounded(Kind::Depth),
        (Shape::Tuple(_) | Shape::Embedded(_) | Shape::Any, _) => at.unbounded(Kind::Any),
        (Shape::Reference { id, .. }, part) => value(id, part, rules, flat, at),
        (Shape::OneOf(names), _) => Ok(Size::Bytes(EMPTY_STRING + longest(names))),
        (Shape::Scalar(_), Part::Bytes(bytes)) => Ok(Size::Bytes(bytes)),
        (Shape::Scalar(types), _) => scalar(types, rules, at),
    };
    match found {
        Ok(Size::Absent) if ty.nullable => Ok(Size::Bytes(if flat { EMPTY } else { 0 })),
        found => found,
    }
}

const fn longest(mut strings: &[&str]) -> u64 {
    let mut longest = 0;
    while let [first, behind @ ..] = strings {
        if first.len() > longest {
            longest = first.len();
        }
        strings = behind;
    }
    longest as u64
}

const fn scalar(mut types: &'static [BsonType], rules: Rules, at: At<'_>) -> Found {
    let mut size = Size::Bytes(0);
    while let [first, behind @ ..] = types {
        let bytes = match first {
            BsonType::Null | BsonType::MinKey | BsonType::MaxKey => 0,
            BsonType::Bool => 1,
            BsonType::Int => 4,
            BsonType::Double | BsonType::Date | BsonType::Timestamp | BsonType::Long => 8,
            BsonType::ObjectId => 12,
            BsonType::Decimal => 16,
            BsonType::String => match rules.string() {
                Some(bytes) => bytes,
                None if rules.named => return at.unbounded(Kind::Text),
                None => return at.unbounded(Kind::NamelessText),
            },
            _ => return at.unbounded(Kind::Any),
        };
        size = size.or(Size::Bytes(bytes));
        types = behind;
    }
    Ok(size)
}

/// The size of an array of `len` values; their names are their positions.
const fn list(len: u64, each: u64) -> u64 {
    let mut names: u64 = 0;
    let mut shortest: u64 = 1;
    // All positions have one digit, all from 10 on have another, and so on.
    while shortest <= len {
        names = names.saturating_add(if shortest == 1 { len } else { len - shortest });
        shortest = shortest.saturating_mul(10);
    }
    len.saturating_mul(each.saturating_add(2))
        .saturating_add(names)
        .saturating_add(EMPTY)
}

/// The size of an array of these values.
const fn tuple(values: &'static [(TypeMeta, Part)], at: At<'_>) -> Found {
    let mut size = Size::Bytes(EMPTY);
    let (mut rest, mut position) = (values, 0);
    while let [(ty, part), behind @ ..] = rest {
        match value(ty, *part, Rules::NAMELESS, false, at) {
            Ok(one) => size = size.and(one).plus(2 + digits(position) as u64),
            unbounded => return unbounded,
        }
        position += 1;
        rest = behind;
    }
    Ok(size)
}

/// The size of a derived struct or enum.
const fn embedded(content: &'static Content, flat: bool, at: At<'_>) -> Found {
    let Some(depth) = content.depth else {
        return body(content, flat, at);
    };
    if let Some(size) = at.known(depth.key) {
        return Ok(size);
    }
    // From the innermost value to the outermost, which contains the others.
    let mut size = Size::Absent;
    let mut level = 0;
    while level < depth.max {
        let known = Known::new(depth.key, size, at);
        size = match body(content, flat, at.knowing(&known)) {
            Ok(size) => size,
            unbounded => return unbounded,
        };
        level += 1;
    }
    Ok(size)
}

const fn body(content: &'static Content, flat: bool, at: At<'_>) -> Found {
    let at = at.within(content.meta.name);
    match &content.meta.variants {
        None => members(content.meta.fields, "", content, at),
        Some(variants) => enumeration(content, variants, flat, at),
    }
}

/// The size of a document with these fields.
const fn members(
    fields: &'static [FieldMeta],
    variant: &'static str,
    content: &'static Content,
    at: At<'_>,
) -> Found {
    let mut size = Size::Bytes(EMPTY);
    let mut rest = fields;
    while let [first, behind @ ..] = rest {
        size = match field(first, variant, content, at) {
            Ok(one) => size.and(one),
            unbounded => return unbounded,
        };
        rest = behind;
    }
    Ok(size)
}

/// The size of the largest variant.
const fn enumeration(
    content: &'static Content,
    meta: &'static EnumMeta,
    flat: bool,
    at: At<'_>,
) -> Found {
    let mut size = Size::Absent;
    let mut rest = meta.variants;
    while let [first, behind @ ..] = rest {
        let place = Place::new(first.rust, at);
        size = match variant(first, content, meta.tagging, flat, at.inside(&place)) {
            Ok(one) => size.or(one),
            unbounded => return unbounded,
        };
        rest = behind;
    }
    Ok(size)
}

const fn variant(
    variant: &'static VariantMeta,
    content: &'static Content,
    tagging: Tagging,
    flat: bool,
    at: At<'_>,
) -> Found {
    let name = EMPTY_STRING + variant.name.len() as u64;
    let held = match &variant.content {
        VariantContent::Unit => None,
        VariantContent::Newtype(ty) => {
            let part = part(content, variant.rust, "0");
            let flat = match tagging {
                Tagging::Internal { .. } => true,
                Tagging::Untagged => flat,
                Tagging::External | Tagging::Adjacent { .. } => false,
            };
            Some(value(ty, part, Rules::NAMELESS, flat, at))
        }
        VariantContent::Tuple(types) => Some(values(types, variant.rust, content, at)),
        VariantContent::Struct(fields) => Some(members(fields, variant.rust, content, at)),
    };
    let held = match held {
        None => None,
        Some(Ok(size)) => Some(size),
        Some(unbounded) => return unbounded,
    };
    Ok(match (tagging, held) {
        // Flattened, the name is that of a field.
        (Tagging::External, None) if flat => Size::Bytes(EMPTY + header(variant.name)),
        (Tagging::External, None) => Size::Bytes(name),
        (Tagging::External, Some(held)) => held.plus(EMPTY + header(variant.name)),
        // An internal tag is stored among the fields; null has none.
        (Tagging::Internal { tag }, None | Some(Size::Bytes(0)))
        | (Tagging::Adjacent { tag, .. }, None) => Size::Bytes(EMPTY + header(tag) + name),
        (Tagging::Internal { tag }, Some(held)) => held.plus(header(tag) + name),
        (Tagging::Adjacent { tag, content }, Some(held)) => {
            held.plus(EMPTY + header(tag) + name + header(content))
        }
        (Tagging::Untagged, None) => Size::Bytes(0),
        (Tagging::Untagged, Some(held)) => held,
    })
}

/// The size of an array of the values that a variant holds.
const fn values(
    types: &'static [TypeMeta],
    variant: &'static str,
    content: &'static Content,
    at: At<'_>,
) -> Found {
    const POSITIONS: &[&str] = &[
        "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15",
    ];
    let mut size = Size::Bytes(EMPTY);
    let (mut rest, mut positions) = (types, POSITIONS);
    while let [ty, behind @ ..] = rest {
        let name = match positions {
            [name, left @ ..] => {
                positions = left;
                *name
            }
            [] => return at.unbounded(Kind::Any),
        };
        size = match value(ty, part(content, variant, name), Rules::NAMELESS, false, at) {
            Ok(one) => size.and(one).plus(header(name)),
            unbounded => return unbounded,
        };
        rest = behind;
    }
    Ok(size)
}

#[cfg(test)]
mod tests;
