//! Documents of a derived struct, computed field by field.

use std::fmt;
use std::marker::PhantomData;

use bson::{Bson, Document, doc};

use crate::expr::kind::Fits;
use crate::expr::node::Node;
use crate::expr::{Expr, IntoExpr, names_only};
use crate::model::{Embedded, EmbeddedMeta, FieldMeta, Presence};
use crate::query::deferred::Deferred;
use crate::query::{Encode, Field};

/// A document of the struct `R`, computed from documents of the shape `S`: [`output!`](crate::output) makes it.
#[must_use = "an output does nothing until it is given to a stage"]
pub struct Output<S, R> {
    fields: Result<Vec<(String, Node)>, Deferred>,
    of: PhantomData<fn() -> (S, R)>,
}

impl<S, R> Output<S, R> {
    /// An output without fields; [`output!`](crate::output) calls it.
    #[doc(hidden)]
    pub fn new() -> Self {
        Self {
            fields: Ok(Vec::new()),
            of: PhantomData,
        }
    }

    /// Computes one field; [`output!`](crate::output) calls it.
    #[doc(hidden)]
    pub fn with<T, E, X>(self, field: &Field<R, T, E>, value: X) -> Self
    where
        R: Embedded,
        E: Encode<T, Stored: Sized>,
        X: IntoExpr<S>,
        X::Value: Fits<E::Stored>,
    {
        let name = names_only(field.path());
        Self {
            fields: with(self.fields, R::META, name, value.into_expr().into_node()),
            of: PhantomData,
        }
    }

    pub(super) fn into_fields(self) -> Result<Vec<(String, Node)>, Deferred> {
        self.fields
    }
}

fn with(
    fields: Result<Vec<(String, Node)>, Deferred>,
    shape: &EmbeddedMeta,
    name: Result<String, Deferred>,
    value: Result<Node, Deferred>,
) -> Result<Vec<(String, Node)>, Deferred> {
    let (mut fields, name) = (fields?, name?);
    let value = value.map_err(|error| error.under(&name))?;
    let declared = shape.fields.iter().find(|field| field.name == name);
    if let Some(declared) = declared
        && !declared.ty.nullable
        && let Some(path) = value.missing()
        && !has_default(declared, &value)
    {
        return Err(missing(shape, declared, path));
    }
    fields.push((name, value));
    Ok(fields)
}

/// Whether the field gets its default where the value is missing. The key of a group is null then.
fn has_default(field: &FieldMeta, value: &Node) -> bool {
    field.presence == Presence::Defaulted
        && matches!(value, Node::OptionalPath(path) if path != "$_id")
}

fn missing(shape: &EmbeddedMeta, field: &FieldMeta, path: &str) -> Deferred {
    let (shape, field) = (shape.name, field.rust);
    Deferred::usage(
        path.trim_start_matches('$'),
        format!(
            "can be missing, because it is in an `Option`, a map or one of several variants, and the field `{field}` of \
             `{shape}` can't be null: declare that as an `Option`, give a default by `.expr().optional().or(…)`, or, where stages \
             before have left out the documents without it, write `.expr().required()`"
        ),
    )
}

impl<S, R> Default for Output<S, R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S, R> Clone for Output<S, R> {
    fn clone(&self) -> Self {
        Self {
            fields: self.fields.clone(),
            of: PhantomData,
        }
    }
}

impl<S, R> fmt::Debug for Output<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expression: Expr<S, R> = self.into_expr();
        fmt::Debug::fmt(&expression, f)
    }
}

/// The `$project` that makes documents of these fields.
pub(super) fn project(fields: Vec<(String, Node)>) -> Document {
    let mut project = Document::new();
    if fields.iter().all(|(name, _)| name != "_id") {
        project.insert("_id", 0);
    }
    for (name, field) in fields {
        let field = match field {
            // An inclusion can be answered from an index.
            Node::Path(path) | Node::OptionalPath(path)
                if path.strip_prefix('$') == Some(name.as_str()) =>
            {
                Bson::Int32(1)
            }
            field => field.into_field(),
        };
        project.insert(name, field);
    }
    doc! {"$project": project}
}

/// A value for a literal that is never made; [`output!`](crate::output) names it.
#[doc(hidden)]
pub fn unwritten<T>() -> T {
    unreachable!("the literal only lets the compiler check the names of the fields")
}

/// An output is the expression of an embedded document.
impl<S, R> IntoExpr<S> for Output<S, R> {
    type Value = R;

    fn into_expr(self) -> Expr<S, R> {
        Expr::from_node(self.fields.map(Node::Object))
    }
}

impl<S, R> IntoExpr<S> for &Output<S, R> {
    type Value = R;

    fn into_expr(self) -> Expr<S, R> {
        self.clone().into_expr()
    }
}

/// A document of a derived struct, each field an expression: the result of `project` and `group_by`.
///
/// It is written as the struct itself. Each field must be there, and its expression must fit the declared type. A field by
/// itself (`title`) needs a value as the others do: `title: b.title`. Within an output, another one is an embedded document.
///
/// ```
/// use odm::pipeline::pipeline;
/// use odm::prelude::*;
/// use odm::output;
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[odm(collection = "books")]
/// struct Book {
///     #[serde(rename = "_id")]
///     id: i32,
///     title: String,
///     pages: i32,
/// }
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Card {
///     title: String,
///     sheets: f64,
/// }
///
/// let cards = pipeline::<Book>().project(|b| output!(Card { title: b.title, sheets: b.pages / 2 }));
/// assert_eq!(
///     cards.to_stages()?,
///     [doc! {"$project": {"_id": 0, "title": 1, "sheets": {"$divide": ["$pages", 2]}}}],
/// );
/// # Ok::<(), odm::Error>(())
/// ```
#[macro_export]
macro_rules! output {
    ($shape:ident { $($field:ident: $value:expr),* $(,)? }) => {{
        // A field that is left out is an error of this literal.
        let _ = || $shape { $($field: $crate::pipeline::unwritten()),* };
        let __odm_to = $crate::query::fields::<$shape>();
        $crate::pipeline::Output::<_, $shape>::new()$(.with(&__odm_to.$field, $value))*
    }};
}
