//! The largest size of a document, computed from the declared bounds.

use std::fmt::Write as _;

use super::field::VariantContent;
use super::{
    BsonType, Budget, EmbeddedMeta, EnumMeta, FieldMeta, ModelMeta, Rule, Shape, Tagging, TypeMeta,
    VariantMeta,
};
use crate::error::{DeclarationError, Error, Result};

/// The bytes of a document or an array without elements: its length and a NUL.
const EMPTY: u64 = 5;
/// The bytes of a string without characters: its length and a NUL.
const EMPTY_STRING: u64 = 5;
/// The most bytes of a character.
const CHARACTER: u64 = 4;
/// The most fields that a message lists.
const LISTED: usize = 10;

impl ModelMeta {
    /// The size in bytes of the largest document that the declared bounds allow, as BSON stores it.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[odm(collection = "books")]
    /// struct Book {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     #[odm(length(max = 100))]
    ///     title: String,
    /// }
    ///
    /// // Four bytes for each character of the title; names, lengths and types count, too.
    /// assert_eq!(Book::model().worst_case()?, 5 + 9 + 7 + 5 + 400);
    /// # Ok::<(), odm::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A field has no bound, such as a string without `length(max = N)`. The error lists all of them, with what to write.
    pub fn worst_case(&self) -> Result<u64> {
        let mut walk = Walk::default();
        let fields = (self.embedded)().fields.iter();
        let flaws: Vec<Unbounded> = fields.filter_map(|field| walk.field(field).err()).collect();
        if !flaws.is_empty() {
            return Err(self.unbounded(&flaws));
        }
        match walk.embedded((self.embedded)(), false) {
            Ok(Size::Bytes(bytes)) => Ok(bytes + self.version_of_schema()),
            Ok(Size::Absent) => Ok(0),
            Err(unbounded) => Err(self.unbounded(&[unbounded])),
        }
    }

    /// The bytes of the field with the version of the schema: a type, the name, a NUL and a 32-bit integer.
    fn version_of_schema(&self) -> u64 {
        self.schema_field()
            .map_or(0, |name| 1 + name.len() as u64 + 1 + 4)
    }

    /// Checks that no document exceeds the declared [`budget`](Self::budget), as each plan of `sync` does. Call it in a test.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[odm(collection = "books", budget = "1KB")]
    /// struct Book {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     #[odm(length(max = 100))]
    ///     title: String,
    /// }
    ///
    /// Book::model().check_budget()?;
    /// # Ok::<(), odm::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The bounds allow a larger document, or a field has no bound; or the budget has an `allow` and no document exceeds it.
    pub fn check_budget(&self) -> Result<()> {
        let Some(Budget { max, allow }) = self.budget else {
            return Ok(());
        };
        let bytes = self.worst_case()?;
        if (bytes > max) == allow.is_some() {
            return Ok(());
        }
        let (bytes, max) = (grouped(bytes), grouped(max));
        let message = if allow.is_some() {
            format!(
                "a document has at most {bytes} bytes, within its budget of {max}: there is nothing to allow; remove `allow`"
            )
        } else {
            format!(
                "a document can have {bytes} bytes, and its budget is {max}: {}; lower a bound, move a field to a \
                 collection of its own, or write `budget(max = …, allow = \"the reason\")`",
                self.by_weight()
            )
        };
        Err(self.flaw(message + " [odm::budget: book/design-checks.html#budget]"))
    }

    /// The fields with their sizes, the largest first.
    fn by_weight(&self) -> String {
        let mut walk = Walk::default();
        let mut weights: Vec<(u64, &str)> = (self.embedded)()
            .fields
            .iter()
            .map(|field| match walk.field(field) {
                Ok(Size::Bytes(bytes)) => (bytes, field.rust),
                _ => (0, field.rust),
            })
            .collect();
        weights.sort_by(|(one, _), (other, _)| other.cmp(one));
        let mut text = String::new();
        for (position, (bytes, name)) in weights.iter().take(LISTED).enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            let _ = write!(text, "{separator}`{name}` {}", grouped(*bytes));
        }
        if weights.len() > LISTED {
            text.push_str(", and smaller ones");
        }
        text
    }

    fn unbounded(&self, flaws: &[Unbounded]) -> Error {
        let each: Vec<String> = flaws.iter().map(ToString::to_string).collect();
        let mut message = each.join("; ");
        for check in ["no_bound", "depth"] {
            if flaws.iter().any(|flaw| flaw.kind.check() == check) {
                let _ = write!(message, " [odm::{check}: book/design-checks.html#{check}]");
            }
        }
        self.flaw(message)
    }

    fn flaw(&self, message: String) -> Error {
        Error::new(DeclarationError::new(message)).with_model(self.name)
    }
}

/// The digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The largest size of a value in bytes, without its type and name.
#[derive(Debug, Clone, Copy)]
enum Size {
    Bytes(u64),
    /// There is no such value: it would be a value of a type that contains itself, below the declared depth.
    Absent,
}

impl Size {
    fn plus(self, more: u64) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Bytes(bytes.saturating_add(more)),
            Self::Absent => Self::Absent,
        }
    }

    /// The size of two values, both of which must be there.
    fn and(self, other: Self) -> Self {
        match other {
            Self::Bytes(bytes) => self.plus(bytes),
            Self::Absent => Self::Absent,
        }
    }

    /// The larger size.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Bytes(one), Self::Bytes(two)) if one < two => other,
            (Self::Absent, _) => other,
            _ => self,
        }
    }
}

/// A value without a bound.
#[derive(Debug)]
struct Unbounded {
    /// The Rust names of the fields and variants down to the value.
    names: Vec<&'static str>,
    kind: Kind,
}

/// The kind of value that has no bound.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// A string in a named field.
    Text,
    /// A string without a name, whose bound can't be declared.
    NamelessText,
    /// A list in a named field.
    List,
    /// A list inside another value.
    InnerList,
    Map,
    /// The type of this name contains itself.
    Depth(&'static str),
    /// A value of any other type.
    Any,
}

impl Kind {
    /// The design check that refuses it.
    fn check(self) -> &'static str {
        match self {
            Self::Depth(_) => "depth",
            _ => "no_bound",
        }
    }
}

impl std::fmt::Display for Unbounded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let (Kind::Depth(name), Some(first)) = (self.kind, self.names.first()) {
            // The path through a type that contains itself repeats, so its first name is enough.
            return write!(
                f,
                "`{first}` holds values of `{name}` inside each other without a bound: write how many there can be, \
                 `#[odm(depth = N)]` on `{name}`"
            );
        }
        let remedy = match self.kind {
            Kind::Text => "is a string without a bound: write `#[odm(length(max = N))]`",
            Kind::NamelessText => {
                "holds a string that can't declare a bound: name it, as in `Variant { field: … }`, and write \
                 `#[odm(length(max = N))]` there"
            }
            Kind::List => {
                "is a list without a bound: write `#[odm(items(max = N))]`, or a size for all of it: \
                 `#[odm(bytes(max = \"64KiB\"))]`"
            }
            Kind::InnerList => {
                "holds a list inside another value, which can't declare a bound: put it into a struct, or write a size for \
                 all of it: `#[odm(bytes(max = \"64KiB\"))]`"
            }
            Kind::Map => {
                "is a map, whose keys can be of any length: write a size for all of it, `#[odm(bytes(max = \"64KiB\"))]`, or \
                 keep a list of structs that have the key and the value"
            }
            Kind::Depth(_) | Kind::Any => {
                "can be of any size: write `#[odm(bytes(max = \"64KiB\"))]`"
            }
        };
        write!(f, "`{}` {remedy}", self.names.join("."))
    }
}

type Found = Result<Size, Unbounded>;

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

    fn of_elements(self) -> Self {
        Self {
            inside: true,
            ..self
        }
    }

    /// The declared `bytes(max = …)`.
    fn bytes(self) -> Option<u64> {
        self.of_whole().find_map(|rule| match rule {
            Rule::Bytes { max } => Some(*max),
            _ => None,
        })
    }

    /// The declared `max` of `items`, `embed` or `references`.
    fn items(self) -> Option<u64> {
        self.of_whole().find_map(|rule| match rule {
            Rule::Items { max, .. } => max.map(u64::from),
            _ => None,
        })
    }

    fn of_whole(self) -> impl Iterator<Item = &'static Rule> {
        self.declared.iter().filter(move |_| !self.inside)
    }
}

/// The largest size of a string.
fn string<'r>(rules: impl Iterator<Item = &'r Rule>) -> Option<u64> {
    let most = rules.filter_map(|rule| match rule {
        Rule::Length { max, .. } => max.map(|max| EMPTY_STRING + CHARACTER * u64::from(max)),
        Rule::OneOf(strings) => Some(EMPTY_STRING + longest(strings)),
        _ => None,
    });
    most.min()
}

/// The bytes of an element's type, name and NUL.
fn header(name: &str) -> u64 {
    name.len() as u64 + 2
}

fn longest(strings: &[&str]) -> u64 {
    let lengths = strings.iter().map(|string| string.len());
    lengths.max().unwrap_or_default() as u64
}

/// The size of an array of `len` values; their names are their positions.
fn list(len: u64, each: u64) -> u64 {
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

/// Goes down through the types of a model.
#[derive(Default)]
struct Walk {
    /// The Rust names of the fields and variants down to here.
    names: Vec<&'static str>,
    /// The types down to here, each with the number of `known` ones then.
    open: Vec<(&'static EmbeddedMeta, usize)>,
    /// The types with a declared depth down to here, each with the size of a value one level down.
    known: Vec<(&'static EmbeddedMeta, Size)>,
}

impl Walk {
    fn unbounded(&self, kind: Kind) -> Found {
        Err(Unbounded {
            names: self.names.clone(),
            kind,
        })
    }

    fn inside(&mut self, name: &'static str, size: impl FnOnce(&mut Self) -> Found) -> Found {
        self.names.push(name);
        let found = size(self);
        self.names.pop();
        found
    }

    /// The largest size that a field adds to its document, with the field's type and name.
    fn field(&mut self, field: &'static FieldMeta) -> Found {
        let rules = Rules {
            declared: field.rules,
            named: true,
            inside: false,
        };
        let found = self.inside(field.rust, |walk| {
            walk.value(&field.ty, rules, field.flatten)
        })?;
        Ok(match found {
            Size::Bytes(bytes) if field.flatten && rules.bytes().is_none() => {
                Size::Bytes(bytes.saturating_sub(EMPTY))
            }
            size if field.flatten => size,
            size => size.plus(header(field.name)),
        })
    }

    /// The largest size of a value; `flat` is a value whose fields are stored at the level of the field.
    fn value(&mut self, ty: &'static TypeMeta, rules: Rules, flat: bool) -> Found {
        let of_type = ty.all_rules().find_map(|rule| match rule {
            Rule::Bytes { max } => Some(*max),
            _ => None,
        });
        if let Some(bytes) = rules.bytes().or(of_type) {
            return Ok(Size::Bytes(bytes));
        }
        let size = match ty.shape {
            Shape::Tuple(types) => self.values(types)?,
            Shape::Array { element, len, .. } => {
                let most = len.map(|len| len as u64).or_else(|| rules.items());
                let each = self.value(element, rules.of_elements(), false);
                match (most, each) {
                    (None, _) if rules.inside || !rules.named => {
                        return self.unbounded(Kind::InnerList);
                    }
                    (None, _) => return self.unbounded(Kind::List),
                    (Some(most), Ok(Size::Bytes(each))) => Size::Bytes(list(most, each)),
                    (Some(0), Ok(Size::Absent)) => Size::Bytes(EMPTY),
                    (_, Ok(Size::Absent)) if len.is_none() => Size::Bytes(EMPTY),
                    (_, other) => other?,
                }
            }
            Shape::Map(_) => return self.unbounded(Kind::Map),
            Shape::Embedded(meta) => self.embedded(meta(), flat)?,
            Shape::Any => return self.unbounded(Kind::Any),
            Shape::Reference { id, .. } => self.value(id, rules, flat)?,
            Shape::OneOf(names) => Size::Bytes(EMPTY_STRING + longest(names)),
            Shape::Scalar(types) => {
                let mut size = Size::Bytes(0);
                for one in types {
                    size = size.or(Size::Bytes(self.scalar(*one, ty, rules)?));
                }
                size
            }
        };
        Ok(match size {
            Size::Absent if ty.nullable => Size::Bytes(if flat { EMPTY } else { 0 }),
            size => size,
        })
    }

    fn scalar(&self, of: BsonType, ty: &'static TypeMeta, rules: Rules) -> Result<u64, Unbounded> {
        Ok(match of {
            BsonType::Null | BsonType::MinKey | BsonType::MaxKey => 0,
            BsonType::Bool => 1,
            BsonType::Int => 4,
            BsonType::Double | BsonType::Date | BsonType::Timestamp | BsonType::Long => 8,
            BsonType::ObjectId => 12,
            BsonType::Decimal => 16,
            BsonType::String => match string(ty.all_rules().chain(rules.declared)) {
                Some(bytes) => bytes,
                None if rules.named => return self.unbounded(Kind::Text).map(|_| 0),
                None => return self.unbounded(Kind::NamelessText).map(|_| 0),
            },
            _ => return self.unbounded(Kind::Any).map(|_| 0),
        })
    }

    /// The size of an array of these values.
    fn values(&mut self, types: &'static [TypeMeta]) -> Found {
        let mut size = Size::Bytes(EMPTY);
        for (position, ty) in types.iter().enumerate() {
            let one = self.value(ty, Rules::NAMELESS, false)?;
            size = size.and(one).plus(header(&position.to_string()));
        }
        Ok(size)
    }

    /// The size of a struct or an enum.
    fn embedded(&mut self, meta: &'static EmbeddedMeta, flat: bool) -> Found {
        if meta.open {
            return self.unbounded(Kind::Any);
        }
        let mut known = self.known.iter().rev();
        if let Some((_, size)) = known.find(|(known, _)| is_same(known, meta)) {
            return Ok(*size);
        }
        let Some(depth) = meta.depth else {
            // A type with a declared depth in between ends the cycle.
            let now = (meta, self.known.len());
            if self
                .open
                .iter()
                .any(|(open, known)| is_same(open, meta) && *known == now.1)
            {
                return self.unbounded(Kind::Depth(meta.name));
            }
            self.open.push(now);
            let found = self.body(meta, flat);
            self.open.pop();
            return found;
        };
        // From the innermost value to the outermost, which contains the others.
        let mut size = Size::Absent;
        for _ in 0..depth {
            self.known.push((meta, size));
            let found = self.body(meta, flat);
            self.known.pop();
            size = found?;
        }
        Ok(size)
    }

    fn body(&mut self, meta: &'static EmbeddedMeta, flat: bool) -> Found {
        match &meta.variants {
            None => self.members(meta.fields),
            Some(variants) => self.enumeration(variants, flat),
        }
    }

    /// The size of a document with these fields.
    fn members(&mut self, fields: &'static [FieldMeta]) -> Found {
        let mut size = Size::Bytes(EMPTY);
        for field in fields {
            size = size.and(self.field(field)?);
        }
        Ok(size)
    }

    /// The size of the largest variant.
    fn enumeration(&mut self, meta: &'static EnumMeta, flat: bool) -> Found {
        let mut size = Size::Absent;
        for variant in meta.variants {
            let one = self.inside(variant.rust, |walk| {
                walk.variant(variant, meta.tagging, flat)
            })?;
            size = size.or(one);
        }
        Ok(size)
    }

    fn variant(&mut self, variant: &'static VariantMeta, tagging: Tagging, flat: bool) -> Found {
        let name = EMPTY_STRING + variant.name.len() as u64;
        let held = match &variant.content {
            VariantContent::Unit => None,
            VariantContent::Newtype(ty) => {
                let flat = match tagging {
                    Tagging::Internal { .. } => true,
                    Tagging::Untagged => flat,
                    Tagging::External | Tagging::Adjacent { .. } => false,
                };
                Some(self.value(ty, Rules::NAMELESS, flat)?)
            }
            VariantContent::Tuple(types) => Some(self.values(types)?),
            VariantContent::Struct(fields) => Some(self.members(fields)?),
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
}

/// Whether both describe one type. A constant may have several addresses, and two types may have one name.
fn is_same(one: &'static EmbeddedMeta, other: &'static EmbeddedMeta) -> bool {
    std::ptr::eq(one.fields, other.fields) && one.name == other.name
}

#[cfg(test)]
mod tests;
