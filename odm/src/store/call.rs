//! The future of one operation on the in-memory store.
//!
//! Most operations complete at the first poll, so the future holds only the request. Operations with a session, with
//! options or with a conflict to wait for continue in a boxed future.

use std::pin::Pin;
use std::task::{Context, Poll};

use crate::error::{Error, Result};
use crate::store::operation::Request;
use crate::store::response::Response;
use crate::store::session::Session;
use crate::store::{Answer, Backend, Store};

/// An operation on the in-memory store.
pub(crate) struct Call<'s> {
    /// Owned, so that an operation that completes at once clones no handle.
    store: Store,
    request: Option<Request>,
    session: Option<&'s mut Session>,
    /// The rest of an operation that could not complete at the first poll.
    rest: Option<Answer<'s>>,
}

impl<'s> Call<'s> {
    pub(crate) fn new(store: Store, request: Request, session: Option<&'s mut Session>) -> Self {
        Self {
            store,
            request: Some(request),
            session,
            rest: None,
        }
    }

    /// The response, if the operation can complete at once.
    fn now(&self) -> Option<Result<Response<'s>>> {
        let (None, Some(request)) = (&self.session, &self.request) else {
            return None;
        };
        match &self.store.0.backend {
            Backend::Memory(memory) => memory.exec_now(request),
            Backend::Driver(_) => None,
        }
    }

    /// The future of an operation that can't complete at once.
    fn rest(&mut self) -> Result<Answer<'s>> {
        let (store, session) = (self.store.clone(), self.session.take());
        let request = self
            .request
            .take()
            .ok_or_else(|| Error::usage("an action was polled after it was done"))?;
        Ok(Box::pin(async move {
            match &store.0.backend {
                Backend::Memory(memory) => memory.exec(request, session).await,
                Backend::Driver(driver) => driver.exec(request, session).await,
            }
        }))
    }
}

impl<'s> Future for Call<'s> {
    type Output = Result<Response<'s>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut rest = if let Some(rest) = self.rest.take() {
            rest
        } else {
            if let Some(answer) = self.now() {
                self.request = None;
                return Poll::Ready(answer);
            }
            self.rest()?
        };
        let answer = rest.as_mut().poll(context);
        self.rest = Some(rest);
        answer
    }
}
