//! The stream of a tail: it opens cursors again that MongoDB has closed.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use futures_core::future::BoxFuture;

use super::place::{Opened, Place, Tailing};
use crate::collection::decode;
use crate::error::{Code, Error, Result};
use crate::model::Document;
use crate::store::RawCursor;

/// How often a cursor is opened again without a document or an empty batch between.
const ATTEMPTS: u32 = 5;

/// The codes besides a lost connection after which another cursor can continue: the cursor was closed, or the primary changes.
const RESUMABLE: [i32; 16] = [
    6, 7, 43, 63, 89, 91, 133, 150, 189, 234, 262, 9001, 10107, 11600, 11602, 13435,
];

/// The documents of a capped collection: a [`Stream`] of `Result<M>` that waits for new ones.
///
/// The tail opens its cursor again where MongoDB has closed it: while the collection is empty or missing, when the connection breaks
/// or the primary changes. A document that does not fit the model is one `Err` ([`is_decode`](crate::Error::is_decode)), after which
/// the stream continues. After [`is_position_lost`](crate::Error::is_position_lost), it continues with the oldest document that is
/// left. Any other error ends it, such as that of a dropped collection.
///
/// [`next`](Self::next) is cancel safe: a `select!` or a timeout that drops it loses no document. Dropping the stream closes the
/// cursor. The stream needs a Tokio runtime while the collection is empty.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/events.rs"));
/// use std::time::Duration;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (db, events) = three_events().await?;
/// let mut tail = events.tail().await?;
/// let mut seen = Vec::new();
/// // Stops when nothing new has come for a while.
/// while let Ok(Some(event)) = tokio::time::timeout(Duration::from_millis(200), tail.next()).await {
///     seen.push(event?.seq);
/// }
/// assert_eq!(seen, [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
#[must_use = "a stream reads nothing until it is polled"]
pub struct TailStream<M> {
    tailing: Tailing,
    place: Place,
    state: State,
    /// How often the cursor was opened again since anything came from one.
    attempts: u32,
    of: PhantomData<fn() -> M>,
}

enum State {
    Open {
        cursor: Box<RawCursor<'static>>,
        seeks: bool,
    },
    Opening(BoxFuture<'static, Result<Opened>>),
    Over,
}

impl<M: Document> TailStream<M> {
    pub(super) fn new(tailing: Tailing, place: Place, opened: Opened) -> Self {
        let mut tail = Self {
            tailing,
            place,
            state: State::Over,
            attempts: 0,
            of: PhantomData,
        };
        // The first poll returns the loss, if there is one.
        if opened.lost {
            tail.state = State::Opening(Box::pin(std::future::ready(Ok(opened))));
        } else {
            tail.take(opened);
        }
        tail
    }

    /// Waits for the next document; returns `None` once the stream has ended.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/events.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, events) = three_events().await?;
    /// let mut tail = events.tail().await?;
    /// let event = tail.next().await.expect("a tail goes on")?;
    /// assert_eq!(event.seq, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next(&mut self) -> Option<Result<M>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    fn take(&mut self, opened: Opened) {
        self.place = opened.place;
        self.state = State::Open {
            cursor: Box::new(opened.cursor),
            seeks: opened.seeks,
        };
    }

    /// Opens a cursor that continues, after a pause.
    fn reopen(&mut self, pause: Duration) {
        let (tailing, place) = (self.tailing.clone(), self.place.clone());
        self.state = State::Opening(Box::pin(async move {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            tailing.open(place).await
        }));
    }

    /// What becomes of a failure: another cursor, or the error that is returned.
    fn fail(&mut self, error: Error) -> Option<Error> {
        if error.code() == Some(Code::CAPPED_POSITION_LOST) {
            self.place.lose();
            self.reopen(Duration::ZERO);
            return Some(self.tailing.lost());
        }
        let code = error.code().map(Code::number);
        let is_resumable =
            error.is_connection() || code.is_some_and(|code| RESUMABLE.contains(&code));
        if is_resumable && self.attempts < ATTEMPTS {
            self.attempts += 1;
            self.reopen(Duration::from_millis(20) * (self.attempts * self.attempts));
            return None;
        }
        self.state = State::Over;
        Some(self.tailing.named(error))
    }
}

impl<M: Document> Stream for TailStream<M> {
    type Item = Result<M>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            let (cursor, seeks) = match &mut this.state {
                State::Over => return Poll::Ready(None),
                State::Opening(opening) => {
                    match std::task::ready!(opening.as_mut().poll(cx)) {
                        Ok(opened) => {
                            let is_lost = opened.lost;
                            this.take(opened);
                            if is_lost {
                                return Poll::Ready(Some(Err(this.tailing.lost())));
                            }
                        }
                        Err(error) => {
                            if let Some(error) = this.fail(error) {
                                return Poll::Ready(Some(Err(error)));
                            }
                        }
                    }
                    continue;
                }
                State::Open { cursor, seeks } => (cursor, seeks),
            };
            match std::task::ready!(cursor.poll_advance(cx)) {
                Some(Ok(true)) => {
                    this.attempts = 0;
                    let Some(document) = cursor.current() else {
                        continue;
                    };
                    if *seeks {
                        *seeks = !this.place.is_last(document);
                        continue;
                    }
                    this.tailing.passed(&mut this.place, document);
                    let model = this.tailing.model().name;
                    return Poll::Ready(Some(decode(document, model)));
                }
                // The cursor is at the end, and waits for new documents.
                Some(Ok(false)) => {
                    this.attempts = 0;
                    if *seeks {
                        // The last document was removed after the cursor was opened.
                        this.place.lose();
                        this.reopen(Duration::ZERO);
                        return Poll::Ready(Some(Err(this.tailing.lost())));
                    }
                }
                Some(Err(error)) => {
                    if let Some(error) = this.fail(error) {
                        return Poll::Ready(Some(Err(error)));
                    }
                }
                // The collection was empty.
                None => {
                    let pause = this.tailing.pause();
                    this.reopen(pause);
                }
            }
        }
    }
}

impl<M: Document> fmt::Debug for TailStream<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Open { .. } => "open",
            State::Opening(_) => "opening",
            State::Over => "over",
        };
        write!(f, "TailStream<{}>({state})", self.tailing.model().name)
    }
}
