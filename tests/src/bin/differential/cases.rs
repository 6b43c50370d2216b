//! Cases by area: a conversation that both stores are to answer alike.

use odm::bson::{Bson, Document, doc};

use crate::documents::{path, several, stored};
use crate::expressions::expression;
use crate::filters::filter;
use crate::indexes::index;
use crate::rng::Rng;
use crate::shapes::{projection, sort};
use crate::stages::pipeline;
use crate::updates::update;
use crate::validators::schema;

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
    ("find", find),
    ("index", indexed),
    ("update", updates),
    ("modify", modify),
    ("unique", unique),
    ("aggregate", aggregate),
    ("expression", expressions),
    ("validator", validator),
    ("cursor", cursor),
    ("upsert", upsert),
];

pub(crate) fn draw(area: &'static str, draw: Draw, seed: u64) -> Case {
    let steps = draw(&mut Rng::new(seed));
    Case { area, steps }
}

fn exact(command: Document) -> Step {
    Step {
        command,
        order: Order::Exact,
    }
}

fn any(command: Document) -> Step {
    Step {
        command,
        order: Order::Any,
    }
}

fn insert(documents: Vec<Document>) -> Step {
    exact(doc! { "insert": "c", "documents": documents, "ordered": false })
}

fn all() -> Step {
    exact(doc! { "find": "c" })
}

fn read(rng: &mut Rng, has_index: bool) -> Step {
    let step = |command| {
        if has_index {
            any(command)
        } else {
            exact(command)
        }
    };
    match rng.below(10) {
        0 => step(doc! { "distinct": "c", "key": path(rng), "query": filter(rng, 1) }),
        1 => {
            let mut count = doc! { "count": "c", "query": filter(rng, 2) };
            if rng.chance(40) {
                count.insert("skip", rng.int(0, 3));
                count.insert("limit", rng.int(-2, 4));
            }
            step(count)
        }
        _ => {
            let mut find = doc! { "find": "c", "filter": filter(rng, 2) };
            let total = rng.chance(50);
            let sorted = rng.chance(50);
            if rng.chance(40) {
                find.insert("projection", projection(rng, true));
            }
            if sorted {
                find.insert("sort", sort(rng, total));
            }
            if (sorted && total || !sorted && !has_index) && rng.chance(50) {
                find.insert("skip", rng.int(0, 3));
                find.insert("limit", rng.int(0, 4));
            }
            if sorted && total {
                exact(find)
            } else {
                step(find)
            }
        }
    }
}

fn find(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 1, 12))];
    steps.extend((0..10).map(|_| read(rng, false)));
    steps
}

fn indexed(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 1, 14))];
    for number in 0..=rng.below(3) {
        steps.push(exact(
            doc! { "createIndexes": "c", "indexes": [index(rng, number, false)] },
        ));
    }
    if rng.chance(50) {
        steps.push(insert((20..25).map(|id| stored(rng, id)).collect()));
    }
    steps.extend((0..10).map(|_| read(rng, true)));
    steps
}

fn statement(rng: &mut Rng, depth: usize) -> Document {
    let mut out = doc! { "q": filter(rng, depth) };
    out.extend(update(rng));
    if rng.chance(40) {
        out.insert("multi", true);
    }
    if rng.chance(20) {
        out.insert("upsert", true);
    }
    out
}

fn updates(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 1, 5))];
    for _ in 0..6 {
        let mut statement = statement(rng, 1);
        if rng.chance(40) {
            statement.insert("q", Document::new());
        }
        steps.push(exact(doc! { "update": "c", "updates": [statement] }));
        steps.push(all());
    }
    steps
}

fn upsert(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 0, 1))];
    for id in 0..6 {
        let mut statement = statement(rng, 2);
        if rng.chance(50) {
            let mut query = statement.get_document("q").cloned().unwrap_or_default();
            query.insert("_id", 100 + id);
            statement.insert("q", query);
        }
        statement.insert("multi", false);
        statement.insert("upsert", true);
        steps.push(exact(doc! { "update": "c", "updates": [statement] }));
        steps.push(all());
    }
    steps
}

fn modify(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 1, 5))];
    for _ in 0..5 {
        let mut command = doc! { "findAndModify": "c", "query": filter(rng, 1) };
        if rng.chance(50) {
            command.insert("sort", sort(rng, true));
        }
        if rng.chance(20) {
            command.insert("remove", true);
        } else {
            let mut statement = update(rng);
            if let Some(update) = statement.remove("u") {
                command.insert("update", update);
            }
            command.extend(statement);
            command.insert("new", rng.chance(50));
            if rng.chance(25) {
                command.insert("upsert", true);
            }
        }
        if rng.chance(40) {
            command.insert("fields", projection(rng, true));
        }
        steps.push(exact(command));
        steps.push(all());
    }
    steps
}

fn unique(rng: &mut Rng) -> Vec<Step> {
    let mut steps = Vec::new();
    for number in 0..=rng.below(2) {
        steps.push(exact(
            doc! { "createIndexes": "c", "indexes": [index(rng, number, true)] },
        ));
    }
    steps.push(insert(several(rng, 3, 8)));
    steps.push(all());
    for _ in 0..4 {
        let mut statement = doc! { "q": { "_id": rng.int(0, 6) } };
        statement.extend(update(rng));
        if rng.chance(20) {
            statement.insert("upsert", true);
        }
        steps.push(exact(doc! { "update": "c", "updates": [statement] }));
        steps.push(all());
    }
    steps
}

fn aggregate(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 1, 8))];
    for _ in 0..6 {
        steps.push(exact(
            doc! { "aggregate": "c", "pipeline": pipeline(rng, false), "cursor": {} },
        ));
    }
    steps
}

fn expressions(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 1, 2))];
    for _ in 0..10 {
        let project = doc! { "$project": { "r": expression(rng, 3) } };
        steps.push(exact(
            doc! { "aggregate": "c", "pipeline": [project], "cursor": {} },
        ));
    }
    steps
}

fn validator(rng: &mut Rng) -> Vec<Step> {
    let validator = if rng.chance(60) {
        doc! { "$jsonSchema": schema(rng, 2) }
    } else {
        filter(rng, 2)
    };
    let mut create = doc! { "create": "c", "validator": validator };
    if rng.chance(30) {
        create.insert("validationLevel", "moderate");
    }
    let mut steps = vec![exact(create)];
    for document in several(rng, 4, 10) {
        steps.push(insert(vec![document]));
    }
    for _ in 0..3 {
        let mut statement = doc! { "q": { "_id": rng.int(0, 6) } };
        statement.extend(update(rng));
        steps.push(exact(doc! { "update": "c", "updates": [statement] }));
    }
    steps.push(all());
    steps
}

/// What [`crate::run`] replaces with the id of the cursor that is open.
pub(crate) const OPEN: &str = "the open cursor";

fn cursor(rng: &mut Rng) -> Vec<Step> {
    let documents = several(rng, 2, 12);
    let count = documents.len();
    let mut steps = vec![insert(documents)];
    for _ in 0..3 {
        let batch = rng.int(0, 5);
        let mut open = if rng.chance(60) {
            let mut find = doc! { "find": "c", "batchSize": batch, "sort": sort(rng, true) };
            if rng.chance(40) {
                find.insert("limit", rng.int(0, 8));
                find.insert("skip", rng.int(0, 2));
            }
            find
        } else {
            doc! { "aggregate": "c", "pipeline": [{ "$match": filter(rng, 1) }], "cursor": { "batchSize": batch } }
        };
        if rng.chance(10) && open.contains_key("find") {
            open.insert("singleBatch", true);
        }
        steps.push(exact(open));
        for _ in 0..=count / 2 {
            let mut more = doc! { "getMore": Bson::from(OPEN), "collection": "c" };
            if rng.chance(80) {
                more.insert("batchSize", rng.int(1, 4));
            }
            steps.push(exact(more));
        }
    }
    steps
}
