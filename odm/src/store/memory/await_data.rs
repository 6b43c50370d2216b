//! `getMore` as a raw command: on a cursor that awaits data, it waits for new documents.

use std::future::poll_fn;
use std::time::Instant;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use odm_engine::{AWAIT, Listener, args, is_empty_batch};
use odm_language::value::raw;
use tokio::time::timeout;

use crate::error::Result;
use crate::store::memory::limits::check_command;
use crate::store::memory::{Memory, Retry};
use crate::store::session::Session;

impl Memory {
    /// Runs a command unchanged. A `getMore` that finds no documents waits for some, up to its `maxTimeMS`. Outside of
    /// a Tokio runtime there is no timer to end the wait, so it returns at once.
    pub(crate) async fn run_written(
        &self,
        database: &str,
        command: RawDocumentBuf,
        mut session: Option<&mut Session>,
    ) -> Result<RawDocumentBuf> {
        check_command(&command)?;
        let Some(cursor) = cursor(&command) else {
            return self.run_in(database, command, session, Retry::Never).await;
        };
        let end = Instant::now() + args::max_time(&command).unwrap_or(AWAIT);
        let mut seen = self.service().changes_seen();
        let first = self.run_in(
            database,
            command.clone(),
            session.as_deref_mut(),
            Retry::Never,
        );
        let mut reply = first.await?;
        if !is_empty_batch(&reply) || tokio::runtime::Handle::try_current().is_err() {
            return Ok(reply);
        }
        let Some((hold, interest)) = self.service().hold(cursor) else {
            return Ok(reply);
        };
        let context = self.service().context().clone().holding(hold.key());
        let mut again = command;
        if let Some(session) = session {
            session.memory()?.decorate(&mut again);
        }
        again.append(cstr!("$db"), database);
        let listener = Listener::new(self.service());
        loop {
            let left = end.saturating_duration_since(Instant::now());
            // If this call turned the change log on, earlier writes woke no listener: look again at once.
            if !left.is_zero() && !self.service().log_changes() {
                let written = poll_fn(|context| listener.poll(&interest, seen, context));
                // The loop's next turn looks at the clock itself.
                let _ = timeout(left, written).await;
            }
            if end <= Instant::now() {
                hold.end()?;
                return Ok(reply);
            }
            seen = self.service().changes_seen();
            reply = self.service().try_run_in(&context, &again)?;
            if !is_empty_batch(&reply) {
                return Ok(reply);
            }
        }
    }
}

/// The cursor of a `getMore`.
fn cursor(command: &RawDocument) -> Option<i64> {
    match raw::elements(command).next() {
        Some(("getMore", RawBsonRef::Int64(id))) => Some(id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use bson::oid::ObjectId;
    use bson::rawdoc;

    use super::*;
    use crate::error::Code;
    use odm_engine::Context;

    #[tokio::test]
    async fn an_awaiting_reader_holds_its_cursor_until_it_is_killed() {
        let memory = Memory::new(Context::system(), "x");
        let open =
            rawdoc! { "aggregate": "c", "pipeline": [{ "$changeStream": {} }], "cursor": {} };
        let opened = memory.run("x", open).unwrap();
        let cursor = raw::get(&opened, "cursor").and_then(RawBsonRef::as_document);
        let id = raw::get(cursor.unwrap(), "id").and_then(RawBsonRef::as_i64);
        let more = |millis: i32| {
            let more = rawdoc! { "getMore": id.unwrap(), "collection": "c", "maxTimeMS": millis };
            memory.run_written("x", more, None)
        };
        let kill = rawdoc! { "killCursors": "c", "cursors": [id.unwrap()] };
        let code = |reply: Result<RawDocumentBuf>| reply.err().and_then(|error| error.code());
        let (first, ()) = futures::join!(more(200), async {
            assert_eq!(code(more(1).await), Some(Code::CURSOR_IN_USE));
            assert_eq!(memory.service().cursors_in_use(), 1);
            memory.run("x", kill).unwrap();
        });
        assert_eq!(code(first), Some(Code::CURSOR_KILLED));
        assert_eq!(code(more(1).await), Some(Code::CURSOR_NOT_FOUND));
    }

    /// A write that began before the listener started to wait does not wake it, so the listener must look again.
    #[test]
    fn waits_do_not_miss_concurrent_writes() {
        let (started, has_started) = channel();
        let (finish, may_finish) = channel::<()>();
        let may_finish = Mutex::new(may_finish);
        // The engine generates the id of an upserted document while it writes the collection.
        let slow_id = move || {
            started.send(()).unwrap();
            may_finish.lock().unwrap().recv().unwrap();
            ObjectId::new()
        };
        let memory = Memory::new(Context::system().with_object_ids(slow_id), "x");
        let run = |command: RawDocumentBuf| memory.run("x", command).unwrap();
        run(rawdoc! { "create": "c", "capped": true, "size": 4096 });
        run(rawdoc! { "insert": "c", "documents": [{ "_id": 1 }] });
        let opened = run(rawdoc! { "find": "c", "tailable": true, "awaitData": true });
        let cursor = raw::get(&opened, "cursor").and_then(RawBsonRef::as_document);
        let id = raw::get(cursor.unwrap(), "id").and_then(RawBsonRef::as_i64);
        let reply = thread::scope(|scope| {
            let memory = &memory;
            scope.spawn(move || {
                let upsert =
                    rawdoc! { "q": { "n": 2 }, "u": { "$set": { "m": 1 } }, "upsert": true };
                let update = rawdoc! { "update": "c", "updates": [upsert] };
                memory.run("x", update).unwrap();
            });
            has_started.recv().unwrap();
            scope.spawn(|| memory.service().log_changes());
            while !memory.service().is_logging_changes() {
                thread::yield_now();
            }
            let waiting = scope.spawn(|| {
                let more =
                    rawdoc! { "getMore": id.unwrap(), "collection": "c", "maxTimeMS": 10_000 };
                let runtime = tokio::runtime::Builder::new_current_thread();
                let runtime = { runtime }.enable_time().build().unwrap();
                runtime.block_on(memory.run_written("x", more, None))
            });
            thread::sleep(Duration::from_millis(50));
            finish.send(()).unwrap();
            waiting.join().unwrap().unwrap()
        });
        assert!(!is_empty_batch(&reply));
    }
}
