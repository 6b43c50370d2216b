//! What `explain` shows of a pipeline.

use bson::Document;
use odm_language::error::ServerError;

use crate::pipeline::Pipeline;
use crate::pipeline::shown::{Entry, Printer, finished, join};

impl Pipeline {
    /// The stages from an index on.
    pub(crate) fn shown(
        &self,
        from: usize,
        printer: &dyn Printer,
    ) -> Result<Vec<Document>, ServerError> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut input_bytes = 0;
        for (at, stage) in self.stages.iter().enumerate().skip(from) {
            let ran = printer
                .counts()
                .map(|counts| counts.of((self.address(), Some(at))));
            let bytes = ran.as_ref().map_or(0, |ran| ran.bytes);
            for shown in stage.shown(printer)? {
                let entry = Entry {
                    shown,
                    ran: ran.clone(),
                    input_bytes,
                };
                input_bytes = bytes;
                join(&mut entries, entry);
            }
        }
        Ok(entries.into_iter().map(finished).collect())
    }

    /// The paths that the stages from an index on read, sorted, and without those below others; `None` if these are whole
    /// documents.
    pub(crate) fn dependencies(&self, from: usize) -> Option<Vec<String>> {
        let mut paths: Vec<String> = Vec::new();
        let mut joined = None;
        for stage in self.stages.iter().skip(from) {
            let read = stage.dependencies()?;
            // mongod joins an `$unwind` with the stage that makes its array.
            let is_joined = joined.is_some() && joined == stage.unwinds();
            if !is_joined {
                paths.extend(read.paths);
            }
            if read.is_all {
                paths.sort();
                paths.dedup();
                let above = paths.clone();
                let is_below = |path: &String| {
                    let mut others = above.iter();
                    others.any(|other| {
                        let rest = path.strip_prefix(other.as_str());
                        rest.is_some_and(|rest| rest.starts_with('.'))
                    })
                };
                paths.retain(|path| !is_below(path));
                return Some(paths);
            }
            joined = stage.joins_as();
        }
        None
    }
}
