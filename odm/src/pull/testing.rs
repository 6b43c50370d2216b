//! Functions that the tests of several modules share.

use bson::{Document, doc};

use super::{Pulled, Sample};
use crate::collection::Db;

/// A database with these collections.
pub(super) async fn database(collections: &[(&str, Vec<Document>)]) -> Db {
    let db = Db::memory();
    for (name, documents) in collections {
        let insert = doc! {"insert": *name, "documents": documents.clone()};
        let reply = db.run_command(insert).await.unwrap();
        assert!(!reply.contains_key("writeErrors"), "{reply}");
    }
    db
}

/// The models of a database.
pub(super) async fn pulled(db: &Db) -> Pulled {
    db.pull().sample(Sample::All).await.unwrap()
}

/// The lines of a field, without its documentation: its attributes and its type.
pub(super) fn field(source: &str, name: &str) -> String {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let start = format!("pub {name}:");
    let at = lines.iter().position(|line| line.starts_with(&start));
    let at = at.unwrap_or_else(|| panic!("no field {name} in\n{source}"));
    let attributes = lines[..at].iter().rev();
    let attributes =
        attributes.take_while(|line| line.starts_with("#[") && !line.contains("derive"));
    let mut lines: Vec<&str> = attributes.copied().chain([]).collect();
    lines.reverse();
    let ty = source.lines().map(str::trim).nth(at).unwrap();
    lines.push(ty.trim_end_matches(',').trim_start_matches("pub "));
    lines.join(" ")
}

/// The attributes and comments of a struct.
pub(super) fn head<'s>(source: &'s str, name: &str) -> Vec<&'s str> {
    let start = format!("pub struct {name} {{");
    let (before, _) = source
        .split_once(&start)
        .unwrap_or_else(|| panic!("{source}"));
    let (_, head) = before.rsplit_once("\n\n").unwrap_or(("", before));
    let lines = head.lines();
    lines
        .filter(|line| !line.starts_with("///") && !line.contains("#[derive"))
        .collect()
}
