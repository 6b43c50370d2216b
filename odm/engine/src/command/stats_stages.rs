//! The results of `$collStats`, `$indexStats` and `$planCacheStats`.

use std::sync::atomic::{AtomicI64, Ordering};

use bson::raw::RawDocumentBuf;
use bson::{Bson, DateTime, Document, doc};
use odm_language::error::{Code, ServerError};

use crate::catalog::Root;
use crate::catalog::collection::Version;
use crate::catalog::namespace::Namespace;
use crate::command::args::unsupported;
use crate::command::coll_stats::storage;
use crate::context::{Context, Latencies, Latency};
use crate::pipeline::{Statistics, StatisticsOf};

/// The context of a statistics stage.
#[derive(Debug)]
pub(crate) struct StatsContext<'a> {
    pub(crate) root: &'a Root,
    pub(crate) context: &'a Context,
    pub(crate) now: DateTime,
}

impl StatsContext<'_> {
    pub(crate) fn ask(
        &self,
        namespace: &Namespace,
        asked: &Statistics,
    ) -> Result<Vec<RawDocumentBuf>, ServerError> {
        let stats = match asked {
            Statistics::Collection(asked) => vec![self.collection(namespace, asked)?],
            Statistics::Indexes => self.indexes(namespace)?,
            Statistics::Plans => self.plans(namespace)?,
        };
        stats
            .iter()
            .map(|stats| {
                RawDocumentBuf::try_from(stats)
                    .map_err(|error| ServerError::new(Code::INVALID_BSON, error.to_string()))
            })
            .collect()
    }

    fn host(&self) -> Option<String> {
        let server = self.context.surroundings()?;
        Some(server.address())
    }

    fn indexes(&self, namespace: &Namespace) -> Result<Vec<Document>, ServerError> {
        let namespace = match self.root.resolve(namespace)? {
            Some(view) => view.namespace,
            None => namespace.clone(),
        };
        let Some(collection) = self.root.collection(&namespace) else {
            return Ok(Vec::new());
        };
        let stats = collection.indexes.iter().map(|index| {
            let spec = &index.spec;
            let mut stats = doc! { "name": &spec.name, "key": &spec.key };
            if let Some(host) = self.host() {
                stats.insert("host", host);
            }
            let mut accesses = doc! { "ops": spec.uses.count() };
            if let Some(since) = spec.uses.since() {
                accesses.insert("since", since);
            }
            stats.insert("accesses", accesses);
            stats.insert("spec", spec.document.clone());
            stats
        });
        Ok(stats.collect())
    }

    /// The engine has no plan cache, so the list is empty.
    fn plans(&self, namespace: &Namespace) -> Result<Vec<Document>, ServerError> {
        let base = self.root.resolve(namespace)?;
        let namespace = base.as_ref().map_or(namespace, |view| &view.namespace);
        match self.root.collection(namespace) {
            Some(_) => Ok(Vec::new()),
            None => Err(ServerError::new(
                Code::location(50933),
                format!("collection '{namespace}' does not exist"),
            )),
        }
    }

    fn collection(
        &self,
        namespace: &Namespace,
        asked: &StatisticsOf,
    ) -> Result<Document, ServerError> {
        let mut stats = doc! { "ns": namespace.to_string() };
        if let Some(host) = self.host() {
            stats.insert("host", host);
        }
        stats.insert("localTime", self.now);
        if let Some(histograms) = asked.latency {
            let Some(server) = self.context.surroundings() else {
                return Err(unsupported(
                    "latencyStats in $collStats: only a server measures how long commands take",
                ));
            };
            let Namespace {
                database,
                collection,
            } = namespace;
            let latencies = server.latencies(database, collection);
            stats.insert("latencyStats", show(&latencies, histograms));
        }
        if let Some(scale) = asked.storage {
            let collection = self.find(namespace, "storageStats")?;
            stats.insert("storageStats", storage(Some(&collection), scale));
        }
        if asked.count {
            let collection = self.find(namespace, "count")?;
            let count = i64::try_from(collection.len()).unwrap_or(i64::MAX);
            let count = i32::try_from(count).map_or(Bson::Int64(count), Bson::Int32);
            stats.insert("count", count);
        }
        if asked.executions {
            let collection = self.find(namespace, "queryExecStats")?;
            let scans = &collection.shared.scans;
            let [total, tailable] =
                [&scans.total, &scans.tailable].map(|it: &AtomicI64| it.load(Ordering::Relaxed));
            stats.insert(
                "queryExecStats",
                doc! { "collectionScans": { "total": total, "nonTailable": total - tailable } },
            );
        }
        Ok(stats)
    }

    /// The collection, which must exist for the `part` of the statistics to be reported.
    fn find(&self, namespace: &Namespace, part: &str) -> Result<Version, ServerError> {
        if self.root.view(namespace).is_some() {
            return Err(ServerError::new(
                Code::COMMAND_NOT_SUPPORTED_ON_VIEW,
                format!("Namespace {namespace} is a view, not a collection"),
            ));
        }
        self.root.collection(namespace).cloned().ok_or_else(|| {
            ServerError::new(
                Code::NAMESPACE_NOT_FOUND,
                format!(
                    "Unable to retrieve {part} in $collStats stage :: caused by :: Collection [{namespace}] not found."
                ),
            )
        })
    }
}

fn show(latencies: &Latencies, histograms: bool) -> Document {
    let one = |latency: &Latency| {
        let mut stats = Document::new();
        if histograms {
            let buckets = latency.histogram.iter();
            let buckets: Vec<_> = buckets
                .map(|(micros, count)| doc! { "micros": *micros, "count": *count })
                .collect();
            stats.insert("histogram", buckets);
        }
        stats.insert("latency", latency.micros);
        stats.insert("ops", latency.count);
        stats
    };
    doc! {
        "reads": one(&latencies.reads),
        "writes": one(&latencies.writes),
        "commands": one(&latencies.commands),
        "transactions": one(&latencies.transactions),
    }
}
