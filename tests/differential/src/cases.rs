//! Cases by area: a conversation that both stores are to answer alike.

mod catalog;
mod families;
mod groups;
mod guards;
mod junk;
mod languages;
mod places;
mod reads;
mod rules;
mod windows;
mod writes;

use odm::bson::{Document, doc};

use crate::rng::Rng;

/// What the order of a reply's documents is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Exact,
    /// The plan decides it, and plans may differ.
    Any,
}

#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) command: Document,
    pub(crate) order: Order,
}

#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) area: &'static str,
    pub(crate) steps: Vec<Step>,
}

type Draw = fn(&mut Rng) -> Vec<Step>;

/// Every area, and how it is drawn.
pub(crate) const AREAS: &[(&str, Draw)] = &[
    ("find", reads::find),
    ("index", reads::indexed),
    ("compared", reads::compared),
    ("hint", reads::hinted),
    ("collation", reads::collated),
    ("variables", reads::variables),
    ("number", reads::numbers),
    ("update", writes::updates),
    ("array", writes::arrays),
    ("modify", writes::modify),
    ("unique", writes::unique),
    ("bulk", writes::bulk),
    ("aggregate", reads::aggregate),
    ("expression", reads::expressions),
    ("validator", writes::validator),
    ("cursor", reads::cursor),
    ("upsert", writes::upsert),
    ("rules", rules::rules),
    ("guards", guards::guards),
    ("places", places::places),
    ("languages", languages::languages),
    ("date", families::date),
    ("text", families::text),
    ("list", families::list),
    ("convert", families::convert),
    ("group", groups::groups),
    ("foreign", groups::foreign),
    ("window", windows::stages),
    ("catalog", catalog::catalog),
    ("capped", catalog::capped),
    ("view", catalog::views),
    ("junk", junk::junk),
];

pub(crate) fn draw(area: &'static str, draw: Draw, seed: u64) -> Case {
    let steps = draw(&mut Rng::new(seed));
    Case { area, steps }
}

pub(crate) fn exact(command: Document) -> Step {
    Step {
        command,
        order: Order::Exact,
    }
}

pub(crate) fn any(command: Document) -> Step {
    Step {
        command,
        order: Order::Any,
    }
}

pub(crate) fn insert(documents: Vec<Document>) -> Step {
    exact(doc! { "insert": "c", "documents": documents, "ordered": false })
}

pub(crate) fn all() -> Step {
    exact(doc! { "find": "c" })
}

/// What [`crate::run`] replaces with the id of the cursor that is open.
pub(crate) const OPEN: &str = "the open cursor";
