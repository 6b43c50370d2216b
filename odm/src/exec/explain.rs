//! `explain`: the query plan of an action.

use std::fmt;

use bson::{Bson, Document, doc};

use crate::error::Result;
use crate::model::ModelMeta;
use crate::store::{Request, RunCommand, Session, Store};

/// The query plan of an action, with the statistics of its execution.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Explain {
    /// The command that was explained.
    pub command: Document,
    /// The stages of the plan, from the last to the first: `FETCH`, `IXSCAN`.
    pub stages: Vec<String>,
    /// The names of the indexes that the plan uses, also those of `$lookup` in other collections; empty for a collection
    /// scan.
    pub indexes: Vec<String>,
    /// Whether the documents are sorted after they are read, because no index has their order: all that match are read,
    /// however few are returned.
    pub sorts_in_memory: bool,
    /// Index entries examined.
    pub keys_examined: u64,
    /// Documents examined.
    pub documents_examined: u64,
    /// Documents returned.
    pub returned: u64,
    /// The plans of the commands that were sent first, because this one depends on their results:
    /// [`Find::where_any`](crate::collection::Find::where_any) reads the ids of related documents.
    pub before: Vec<Self>,
    /// The server's complete reply.
    pub raw: Document,
}

impl Explain {
    /// Explains a request, with execution statistics; nothing is written.
    pub(crate) async fn of(
        store: &Store,
        mut request: Request,
        session: Option<&mut Session>,
        model: &'static ModelMeta,
    ) -> Result<Self> {
        // Concerns and read preference belong to the `explain` command, not to the explained command.
        request.options.write_concern = None;
        request.options.read_concern = None;
        request.options.read_preference = None;
        let command = request.command()?;
        let explain = doc! { "explain": command.clone(), "verbosity": "executionStats" };
        let reply = store.run_command_in(explain, session).await;
        let reply = reply.map_err(|error| error.with_model(model.name))?;
        Ok(Self::read(command, reply))
    }

    /// Explains a command without executing it.
    pub(crate) async fn of_command(run: &RunCommand<'_>, command: Document) -> Result<Self> {
        let explain = doc! { "explain": command.clone(), "verbosity": "queryPlanner" };
        Ok(Self::read(command, run(explain).await?))
    }

    /// Reads the server's reply for a query or a pipeline.
    fn read(command: Document, raw: Document) -> Self {
        let mut explain = Self {
            command,
            stages: Vec::new(),
            indexes: Vec::new(),
            sorts_in_memory: false,
            keys_examined: 0,
            documents_examined: 0,
            returned: 0,
            before: Vec::new(),
            raw: Document::new(),
        };
        let cursor = raw.get_array("stages").ok().and_then(|stages| {
            let first = stages.first()?.as_document()?;
            let query = first.get("$cursor").or_else(|| first.get("$geoNearCursor"));
            query?.as_document()
        });
        let plan = cursor.unwrap_or(&raw);
        if let Ok(winning) = plan
            .get_document("queryPlanner")
            .and_then(|planner| planner.get_document("winningPlan"))
        {
            // The slot-based engine nests its plan one level deeper.
            explain.walk(winning.get_document("queryPlan").unwrap_or(winning));
        }
        let sorts = |stage: &Bson| {
            stage
                .as_document()
                .is_some_and(|it| it.contains_key("$sort"))
        };
        explain.sorts_in_memory = explain.stages.iter().any(|stage| stage == "SORT")
            || raw
                .get_array("stages")
                .is_ok_and(|stages| stages.iter().any(sorts));
        if let Ok(statistics) = plan.get_document("executionStats") {
            explain.keys_examined = number(statistics.get("totalKeysExamined"));
            explain.documents_examined = number(statistics.get("totalDocsExamined"));
            explain.returned = number(statistics.get("nReturned"));
        }
        // Behind the cursor, a `$lookup` says which indexes of the other collection it used.
        let stages = raw.get_array("stages").into_iter().flatten();
        for stage in stages.filter_map(Bson::as_document) {
            let used = stage.get_array("indexesUsed").into_iter().flatten();
            for index in used.filter_map(Bson::as_str) {
                explain.add_index(index);
            }
        }
        explain.raw = raw;
        explain
    }

    fn add_index(&mut self, index: &str) {
        if !self.indexes.iter().any(|seen| seen == index) {
            self.indexes.push(index.to_owned());
        }
    }

    fn walk(&mut self, stage: &Document) {
        if let Ok(name) = stage.get_str("stage") {
            self.stages.push(name.to_owned());
        }
        if let Ok(index) = stage.get_str("indexName") {
            self.add_index(index);
        }
        for (key, value) in stage {
            match value {
                Bson::Document(inner) if key.ends_with("Stage") => self.walk(inner),
                Bson::Array(inner) if key.ends_with("Stages") || key == "shards" => inner
                    .iter()
                    .filter_map(Bson::as_document)
                    .for_each(|inner| self.walk(inner)),
                _ => {}
            }
        }
    }
}

fn number(value: Option<&Bson>) -> u64 {
    match value {
        Some(Bson::Int32(n)) => u64::try_from(*n).unwrap_or(0),
        Some(Bson::Int64(n)) => u64::try_from(*n).unwrap_or(0),
        _ => 0,
    }
}

impl fmt::Display for Explain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for plan in &self.before {
            write!(f, "{plan}; then ")?;
        }
        write!(f, "{}", self.stages.join(" < "))?;
        if !self.indexes.is_empty() {
            write!(f, ", index {}", self.indexes.join(", "))?;
        }
        if self.sorts_in_memory {
            f.write_str(", sorted in memory")?;
        }
        write!(
            f,
            ", {} keys and {} documents examined for {}",
            self.keys_examined, self.documents_examined, self.returned
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_plans_of_both_engines_and_of_pipelines() {
        let plan =
            doc! { "stage": "FETCH", "inputStage": { "stage": "IXSCAN", "indexName": "year_1" } };
        let statistics = doc! { "nReturned": 2, "totalKeysExamined": 3, "totalDocsExamined": 2 };
        let classic = doc! {
            "queryPlanner": { "winningPlan": plan.clone() },
            "executionStats": statistics.clone(),
        };
        let slots = doc! {
            "queryPlanner": { "winningPlan": { "queryPlan": plan, "slotBasedPlan": {} } },
            "executionStats": statistics,
        };
        let pipeline = doc! { "stages": [{ "$cursor": classic.clone() }, { "$group": {} }] };
        for raw in [classic, slots, pipeline] {
            let explain = Explain::read(Document::new(), raw);
            assert_eq!(
                explain.to_string(),
                "FETCH < IXSCAN, index year_1, 3 keys and 2 documents examined for 2"
            );
        }
    }

    #[test]
    fn a_sort_in_memory_is_named() {
        let scan = doc! { "stage": "COLLSCAN" };
        let find =
            doc! { "queryPlanner": { "winningPlan": { "stage": "SORT", "inputStage": scan } } };
        let explain = Explain::read(Document::new(), find);
        assert!(
            explain
                .to_string()
                .starts_with("SORT < COLLSCAN, sorted in memory, ")
        );
        let pipeline = doc! { "stages": [{ "$cursor": {} }, { "$lookup": {} }, { "$sort": {} }] };
        assert!(Explain::read(Document::new(), pipeline).sorts_in_memory);
    }
}
