//! `$group`: accumulators.

use std::fmt;
use std::marker::PhantomData;

use bson::{Document, doc};

use super::accumulators::{Real, Sum, accumulators, count, one, some, sorted};
use super::output::Output;
use crate::expr::kind::Numeric;
use crate::expr::node::Node;
use crate::expr::{Expr, IntoExpr};
use crate::model::{FieldType, Path};
use crate::query::Sort;
use crate::query::deferred::Deferred;

/// The scope of expressions over the groups of documents of the shape `S`.
#[derive(Debug)]
pub struct Grouped<S>(PhantomData<fn() -> S>);

/// A group of documents with the same key: the second argument of the closure of [`group_by`](super::Pipeline::group_by).
///
/// Its methods are the accumulators. They take expressions over the documents, and are expressions over the group:
/// `group.sum(line.price) / group.count()`.
///
/// ```
/// use odm::output;
/// use odm::pipeline::pipeline;
/// use odm::prelude::*;
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[odm(collection = "sales")]
/// struct Sale {
///     #[serde(rename = "_id")]
///     id: i32,
///     item: String,
///     price: f64,
///     rating: Option<i32>,
/// }
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Item {
///     #[serde(rename = "_id")]
///     item: String,
///     sales: i64,
///     turnover: f64,
///     rating: Option<f64>,
///     cheapest: f64,
///     last: f64,
///     prices: Vec<f64>,
///     spread: Option<f64>,
/// }
///
/// let items = pipeline::<Sale>().sort(|s| s.id.asc()).group_by(
///     |s| s.item,
///     |s, group| output!(Item {
///         item: group.key(),
///         sales: group.count(),
///         turnover: group.sum(&s.price),
///         rating: group.avg(&s.rating),
///         cheapest: group.min(&s.price),
///         last: group.last(&s.price),
///         prices: group.push(&s.price),
///         spread: group.std_dev_pop(&s.price),
///     }),
/// );
/// assert_eq!(
///     items.to_stages()?[1],
///     doc! {"$group": {
///         "_id": "$item",
///         "sales": {"$sum": 1},
///         "turnover": {"$sum": "$price"},
///         "rating": {"$avg": "$rating"},
///         "cheapest": {"$min": "$price"},
///         "last": {"$last": "$price"},
///         "prices": {"$push": "$price"},
///         "spread": {"$stdDevPop": "$price"},
///     }},
/// );
/// # Ok::<(), odm::Error>(())
/// ```
pub struct Group<S, K> {
    /// Whether the key can be null although its type does not say so.
    is_optional: bool,
    of: PhantomData<fn() -> (S, K)>,
}

impl<S, K> Group<S, K> {
    pub(super) fn of_key(key: &Result<Node, Deferred>) -> Self {
        let missing = key.as_ref().ok().and_then(Node::missing);
        Self {
            is_optional: missing.is_some(),
            of: PhantomData,
        }
    }

    /// The key; that of a derived struct has fields: `group.key().year`.
    pub fn key(&self) -> K::Handle<Grouped<S>, K>
    where
        K: FieldType,
    {
        let path = Path::root().child("_id");
        K::handle(if self.is_optional {
            path.optional()
        } else {
            path
        })
    }
}

/// A group has a document.
type Found<T> = T;

accumulators!(Group<S, K>, Grouped<S>, Found);

impl<S, K> fmt::Debug for Group<S, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Group")
    }
}

impl<S, K> Group<S, K> {
    #[expect(clippy::unused_self, reason = "the accumulators of a window need it")]
    fn accumulator<T>(&self, accumulator: Result<Node, Deferred>) -> Expr<Grouped<S>, T> {
        Expr::from_node(accumulator.map(|accumulator| Node::Accumulator(Box::new(accumulator))))
    }
}

/// The stages that make the outputs: a `$group`, and a `$project` if the outputs are more than the key as `_id` and accumulators.
pub(super) fn stages<S, R>(
    key: Result<Node, Deferred>,
    output: Output<Grouped<S>, R>,
) -> Result<Vec<Document>, Deferred> {
    let (accumulators, project) = accumulated(output.into_fields()?);
    let mut group = doc! {"_id": key?.into_field()};
    group.extend(accumulators);
    let group = doc! {"$group": group};
    Ok(std::iter::once(group).chain(project).collect())
}

/// The accumulators of a stage that makes groups, and the `$project` after it, if the outputs are more than those and the key.
pub(super) fn accumulated(fields: Vec<(String, Node)>) -> (Document, Option<Document>) {
    let mut accumulators = Document::new();
    let mut project = Document::new();
    let mut is_plain = true;
    let mut has_id = false;
    for (name, field) in fields {
        has_id |= name == "_id";
        match field {
            Node::Accumulator(accumulator) if name != "_id" => {
                accumulators.insert(name.clone(), accumulator.into_bson());
                project.insert(name, 1);
            }
            Node::Path(path) | Node::OptionalPath(path) if name == "_id" && path == "$_id" => {
                project.insert(name, 1);
            }
            field => {
                is_plain = false;
                let computed = hoist(&name, field, &mut accumulators);
                project.insert(name, computed.into_field());
            }
        }
    }
    if !has_id {
        project.insert("_id", 0);
    }
    let is_needed = !is_plain || !has_id;
    let project = is_needed.then(|| doc! {"$project": project});
    (accumulators, project)
}

/// The field `name`, computed from what `functions` has then.
pub(super) fn hoist(name: &str, field: Node, functions: &mut Document) -> Node {
    let mut number = 0;
    field.replace_accumulators(&mut |function| {
        number += 1;
        let part = format!("__{name}_{number}");
        functions.insert(part.clone(), function.into_bson());
        Node::Path(format!("${part}"))
    })
}
