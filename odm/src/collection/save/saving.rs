//! A save as part of several writes.

use std::sync::{Mutex, PoisonError};

use bson::Document as BsonDocument;
use bson::raw::RawDocument;

use super::loaded::{Change, Loaded};
use super::{changed, exactly};
use crate::collection::call::Call;
use crate::collection::stale::Stale;
use crate::collection::template::Template;
use crate::error::Result;
use crate::exec::Channel;
use crate::model::Document;
use crate::store::{Attempt, Condition, Operation, Session, Update as Operands};

/// The save of a loaded document as part of several writes, which may run more than once.
pub(crate) struct Saving<'s, M: Document> {
    template: Template,
    state: Mutex<State<'s, M>>,
    /// The derived data that the save would leave stale.
    pub(crate) stale: Stale,
    /// Whether the caller said `leave_stale()`.
    pub(crate) leaves_stale: bool,
}

struct State<'s, M> {
    loaded: &'s mut Loaded<M>,
    /// The change that `send` sends.
    next: Option<Next<M>>,
}

struct Next<M> {
    change: Change<M>,
    update: Box<Operands>,
    attempt: Option<Attempt>,
}

impl<'s, M: Document> Saving<'s, M> {
    /// The save that a call makes, and its session.
    pub(super) fn of(
        call: Call<'s>,
        loaded: &'s mut Loaded<M>,
    ) -> Result<(Self, Option<&'s mut Session>)> {
        let template = Template::of(&call)?;
        let attempt = call.session.as_ref().and_then(|it| it.attempt());
        let stale = match changed(loaded, attempt.as_ref()) {
            Ok(Some((_, update))) => Stale::of(M::model(), &Operation::Update(update))?,
            Ok(None) => Stale::default(),
            // The session that it needs may be set later.
            Err(_) => Stale::of_any_change(M::model())?,
        };
        let saving = Self {
            template,
            state: Mutex::new(State { loaded, next: None }),
            stale,
            leaves_stale: call.leaves_stale,
        };
        Ok((saving, call.session))
    }

    /// A channel whose writes have the same write concern.
    pub(crate) fn channel(&self) -> Channel<'static> {
        self.template.channel()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State<'s, M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds what has changed, as the session sees it, and returns the filter of the document; `None` if nothing changed.
    pub(crate) fn prepare(&self, session: Option<&Session>) -> Result<Option<Condition>> {
        let attempt = session.and_then(Session::attempt);
        let mut state = self.state();
        state.next = None;
        let Some((change, update)) = changed(state.loaded, attempt.as_ref())? else {
            return Ok(None);
        };
        let filter = update.filter.clone();
        state.next = Some(Next {
            change,
            update,
            attempt,
        });
        Ok(Some(filter))
    }

    /// Sends what was prepared; returns `false` if nothing changed.
    pub(crate) async fn send(&self, session: Option<&mut Session>) -> Result<bool> {
        let Some(next) = self.state().next.take() else {
            return Ok(false);
        };
        let operation = Operation::Update(next.update);
        let mut call = self.template.call(M::model(), operation, session);
        call.any_version = true;
        call.options().collation = exactly(&next.change);
        let written = call.send().await?.written()?;
        let mut state = self.state();
        if written.matched() == 0 {
            let stale = state.loaded.stale(next.attempt.as_ref());
            return Err(stale.with_model(M::model().name));
        }
        state.loaded.saved(next.change, next.attempt);
        Ok(true)
    }

    /// Takes the document over as it was read after it was sent.
    pub(crate) fn load(&self, raw: &RawDocument, session: Option<&Session>) -> Result<()> {
        let attempt = session.and_then(Session::attempt);
        let loaded = self.state().loaded.load_again(raw, attempt);
        loaded.map_err(|error| error.with_model(M::model().name))
    }

    /// The command that was prepared.
    pub(crate) fn command(&self) -> Result<Option<BsonDocument>> {
        let update = self.state().next.as_ref().map(|next| next.update.clone());
        let Some(update) = update else {
            return Ok(None);
        };
        let operation = Operation::Update(update);
        let mut call = self.template.call(M::model(), operation, None);
        call.any_version = true;
        call.command().map(Some)
    }
}
