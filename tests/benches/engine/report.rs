//! The tables, as the book shows them.

use crate::measure::{Cost, Kind, OPERATIONS};

/// What an operation must reach.
struct Targets {
    tree: f64,
    /// How many times mongod's wall time.
    wall: Option<f64>,
    /// How many times mongod's processor time.
    processor: Option<f64>,
}

fn targets(kind: Kind) -> Targets {
    let (tree, wall, processor) = match kind {
        Kind::Read => (2.0, None, None),
        Kind::Point => (2.0, Some(30.0), None),
        Kind::Bulk => (2.0, None, Some(3.0)),
        Kind::Write => (4.0, None, None),
        Kind::PointWrite => (4.0, Some(30.0), None),
        Kind::BulkWrite => (4.0, None, Some(3.0)),
    };
    Targets {
        tree,
        wall,
        processor,
    }
}

fn figure(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// The engine beside the others, and the targets that it misses.
pub(crate) fn comparison(costs: &[Cost]) {
    let [odm, tree, sqlite, others @ ..] = costs else {
        return;
    };
    let mongod = others.first();
    println!(
        "| operation | per | odm | BTreeMap | SQLite | mongod | of BTreeMap | SQLite ÷ odm | mongod ÷ odm | processor: mongod ÷ odm | misses |"
    );
    println!("|{}", " --- |".repeat(11));
    for (at, (name, per, kind)) in OPERATIONS.iter().enumerate() {
        let own = odm.processor[at];
        let of_tree = own / tree.processor[at];
        let sqlites = sqlite.processor[at] / own;
        let walls = mongod.map(|mongod| mongod.wall[at] / odm.wall[at]);
        let processors = mongod
            .map(|mongod| mongod.processor[at] / odm.processor[at])
            .filter(|ratio| *ratio > 0.0);
        let targets = targets(*kind);
        let mut missed = Vec::new();
        if of_tree > targets.tree {
            missed.push(format!("{}× BTreeMap", targets.tree));
        }
        if sqlites < 1.0 {
            missed.push("SQLite".to_owned());
        }
        if let (Some(wall), Some(ratio)) = (targets.wall, walls)
            && ratio < wall
        {
            missed.push(format!("mongod ÷ {wall}"));
        }
        if let (Some(processor), Some(ratio)) = (targets.processor, processors)
            && ratio < processor
        {
            missed.push(format!("mongod's processor ÷ {processor}"));
        }
        let shown = |ratio: Option<f64>| ratio.map_or_else(String::new, figure);
        println!(
            "| {name} | {per} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            figure(own),
            figure(tree.processor[at]),
            figure(sqlite.processor[at]),
            shown(mongod.map(|mongod| mongod.wall[at])),
            figure(of_tree),
            figure(sqlites),
            shown(walls),
            shown(processors),
            missed.join(", "),
        );
    }
}

/// One column for each number of documents.
pub(crate) fn growth(counts: &[i64], columns: &[Vec<f64>]) {
    println!("\nSmall documents; microseconds\n");
    let heads: Vec<String> = counts.iter().map(ToString::to_string).collect();
    println!("| operation | per | {} |", heads.join(" | "));
    println!("|{}", " --- |".repeat(counts.len() + 2));
    for (at, (name, per, _)) in OPERATIONS.iter().enumerate() {
        let cells: Vec<String> = columns.iter().map(|column| figure(column[at])).collect();
        println!("| {name} | {per} | {} |", cells.join(" | "));
    }
}
