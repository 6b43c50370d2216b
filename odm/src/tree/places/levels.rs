//! How many nodes there are at each level.

use std::collections::{BTreeMap, HashSet};

use bson::{Bson, Document, doc};

use super::ways::DepthBy;
use crate::error::{Error, Result};
use crate::model::tree::SEPARATOR;
use crate::tree::node::{id_key, integer};
use crate::tree::tree_store::{TreeStore, starting_with};

/// The character after the separator: paths that start with `,a,` are before `,a-`.
const AFTER_SEPARATOR: char = '-';

/// The most repetitions in a pattern; MongoDB refuses patterns that become too large.
const MAX_REPEATED: u32 = 100;

/// The path of a node as an expression; `,` at a root, or where no text is stored.
pub(super) fn text_of_path(path: &str) -> Document {
    let path = format!("${path}");
    doc! {"$cond": [{"$eq": [{"$type": &path}, "string"]}, &path, ","]}
}

impl TreeStore<'_> {
    /// The expression for the number of a node's ancestors, if its own fields have it.
    pub(super) fn level(&self) -> Option<Bson> {
        match self.ways.depth {
            DepthBy::Depth(depth) => Some(format!("${depth}").into()),
            DepthBy::Ancestors(ancestors) => {
                let field = format!("${ancestors}");
                let size = doc! {"$size": &field};
                Some(doc! {"$cond": [{"$isArray": &field}, size, 0]}.into())
            }
            DepthBy::Path(path) => {
                let parts = doc! {"$size": {"$split": [text_of_path(path), ","]}};
                Some(doc! {"$subtract": [parts, 2]}.into())
            }
            DepthBy::Bounds(_) | DepthBy::Links(_) => None,
        }
    }

    /// The filter of the paths that start with `own`: a range of the index, which holds any ids and paths of any length.
    pub(super) fn paths_below(&self, field: &str, own: &str) -> Document {
        // A collation orders strings by rules of its own, and ignores commas by some; a pattern compares their bytes.
        if self.model.collation.is_some() {
            return doc! {field: starting_with(own)};
        }
        let end = own.strip_suffix(SEPARATOR).unwrap_or(own);
        doc! {field: {"$gte": own, "$lt": format!("{end}{AFTER_SEPARATOR}")}}
    }

    /// The filter of the paths of nodes at these levels.
    pub(super) fn paths_at_levels(&self, field: &str, from: u32, to: Option<u32>) -> Document {
        let largest = to.unwrap_or(from);
        if let (true, Some(level)) = (largest > MAX_REPEATED, self.level()) {
            let mut within = vec![doc! {"$gte": [&level, i64::from(from)]}];
            within.extend(to.map(|to| doc! {"$lte": [&level, i64::from(to)]}));
            return doc! {"$expr": {"$and": within}};
        }
        let first = from.max(1);
        let below = match to {
            Some(0) => return doc! {field: Bson::Null},
            Some(to) => format!("^,([^,]+,){{{first},{to}}}$"),
            None => format!("^,([^,]+,){{{first}}}"),
        };
        let below = doc! {field: {"$regex": below}};
        if from == 0 {
            doc! {"$or": [{field: Bson::Null}, below]}
        } else {
            below
        }
    }

    /// Counts the nodes that match by their levels.
    pub(in crate::tree) async fn counts_by_depth(
        &mut self,
        filter: Document,
    ) -> Result<BTreeMap<u32, u64>> {
        let mut counts = BTreeMap::new();
        if let Some(level) = self.level() {
            let group = doc! {"$group": {"_id": level, "nodes": {"$sum": 1}}};
            let pipeline = vec![doc! {"$match": filter}, group];
            for group in self.aggregate(pipeline).await? {
                let number = |name| {
                    let value = group.get(name).ok().flatten();
                    value
                        .and_then(integer)
                        .ok_or_else(|| Error::malformed_reply("a number"))
                };
                let level = u32::try_from(number("_id")?).unwrap_or(u32::MAX);
                counts.insert(level, number("nodes")?.unsigned_abs());
            }
            return Ok(counts);
        }
        let all = self.nodes(Document::new(), None, None).await?;
        let mut matching = HashSet::new();
        let is_filtered = !filter.is_empty();
        if is_filtered {
            for node in self.nodes(filter, None, None).await? {
                matching.insert(id_key(&node.id)?);
            }
        }
        for (position, level) in self.arrange(&all)?.pre_order() {
            let Some(node) = all.get(position) else {
                continue;
            };
            if !is_filtered || matching.contains(&id_key(&node.id)?) {
                *counts
                    .entry(u32::try_from(level).unwrap_or(u32::MAX))
                    .or_default() += 1;
            }
        }
        Ok(counts)
    }
}
