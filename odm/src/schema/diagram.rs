//! An entity diagram of models: the text of Mermaid, or a picture as SVG.
//!
//! No crate draws the picture. The maintained ones take Mermaid's text, whose names have fewer characters than those of MongoDB; they
//! bring many dependencies (merman) or the GPL (flowmaid), or know no boxes with rows (layout-rs).

mod collect;
mod layout;
mod measure;
mod mermaid;
mod svg;

use crate::error::Result;
use crate::model::{ModelMeta, TypeMeta};

/// Draws the models and how they relate, as the text of a [Mermaid entity diagram](https://mermaid.js.org).
///
/// A box is a collection or a struct that is embedded. It lists the stored fields with their BSON types: `PK` is the
/// `_id`, `FK` a reference, `UK` a field with a unique index of its own; a comment names the indexes that start with the
/// field. A solid line leads from a document to what is embedded in it, a dotted line from a document to those that refer
/// to it, with the names of the relation on both sides. The ends show how many documents there are: `||` one, `o|` at
/// most one, `o{` any number.
///
/// ```
/// use odm::prelude::*;
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[odm(collection = "publishers", has_many(books: Book, by = publisher))]
/// struct Publisher {
///     #[serde(rename = "_id")]
///     id: String,
///     founded: i32,
/// }
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[odm(collection = "books")]
/// struct Book {
///     #[serde(rename = "_id")]
///     id: i64,
///     #[serde(rename = "publisher_id")]
///     #[odm(index)]
///     publisher: Ref<Publisher>,
/// }
///
/// assert_eq!(
///     odm::schema::diagram(models![Publisher, Book])?,
///     r#"erDiagram
///     Publisher["publishers"] {
///         string _id PK
///         int founded
///     }
///     Book["books"] {
///         long _id PK
///         string publisher_id FK "index publisher_id_1"
///     }
///     Publisher ||..o{ Book : "books / publisher"
/// "#,
/// );
/// # Ok::<(), odm::Error>(())
/// ```
///
/// # Errors
///
/// The errors of [`indexes`](super::indexes()): an index that MongoDB would refuse.
pub fn diagram(models: impl IntoIterator<Item = &'static ModelMeta>) -> Result<String> {
    Ok(Diagram::of(models)?.mermaid())
}

/// Models and their relations, to be drawn: boxes with fields, and lines between them.
///
/// [`svg`](Self::svg) is a picture that any browser shows, and [`mermaid`](Self::mermaid) a text for pages that load Mermaid's script.
/// [`diagram`](diagram()) explains the signs.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
/// # fn main() -> odm::Result<()> {
/// let diagram = odm::schema::Diagram::of(models![Book])?;
/// assert_eq!(diagram.mermaid(), odm::schema::diagram(models![Book])?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Diagram {
    entities: Vec<Entity>,
    lines: Vec<Line>,
}

/// A box.
#[derive(Debug, Clone)]
struct Entity {
    /// The Rust name.
    name: &'static str,
    kind: EntityKind,
    attributes: Vec<Attribute>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntityKind {
    /// A model, with the name of its collection.
    Collection(&'static str),
    Embedded,
    /// A model that a listed one refers to.
    NotListed,
}

/// A field in a box.
#[derive(Debug, Clone)]
struct Attribute {
    ty: TypeName,
    name: &'static str,
    key: Option<Key>,
    /// The variant of an enum that has the field.
    variant: Option<&'static str>,
    nullable: bool,
    /// The indexes that start with the field.
    indexes: Vec<String>,
}

impl Attribute {
    fn comments(&self) -> Vec<String> {
        let variant = self.variant.map(|variant| format!("if {variant}"));
        let nullable = self.nullable.then(|| "or null".to_owned());
        let comments = variant.into_iter().chain(nullable);
        comments.chain(self.indexes.iter().cloned()).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Primary,
    Foreign,
    Unique,
}

impl Key {
    const fn mark(self) -> &'static str {
        match self {
            Self::Primary => "PK",
            Self::Foreign => "FK",
            Self::Unique => "UK",
        }
    }
}

/// A stored type. Mermaid accepts fewer characters in a name than Rust does.
#[derive(Debug, Clone)]
enum TypeName {
    Named(String),
    List(Box<TypeName>),
    Map(Box<TypeName>),
}

impl TypeName {
    fn written(&self, name: &impl Fn(&str) -> String) -> String {
        match self {
            Self::Named(one) => name(one),
            Self::List(element) => format!("{}[]", element.written(name)),
            Self::Map(values) => format!("map({})", values.written(name)),
        }
    }
}

/// The name of a stored type: `objectId`, `Address[]`, `map(int)`.
pub(crate) fn stored_type(ty: &TypeMeta) -> String {
    collect::type_name(ty).written(&str::to_owned)
}

/// A line between two boxes, by their numbers.
#[derive(Debug, Clone)]
struct Line {
    kind: LineKind,
    from: (usize, Ends),
    to: (usize, Ends),
    label: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Embeds,
    Refers,
}

/// How many documents there are at the end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    One,
    AtMostOne,
    Any,
}

impl Diagram {
    /// Collects the models, what is embedded in them and how they relate.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # fn main() -> odm::Result<()> {
    /// let diagram = odm::schema::Diagram::of(models![Book])?;
    /// assert!(diagram.mermaid().contains("int year"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`indexes`](super::indexes()): an index that MongoDB would refuse.
    pub fn of(models: impl IntoIterator<Item = &'static ModelMeta>) -> Result<Self> {
        collect::collect(models)
    }
}

#[cfg(test)]
mod tests;
