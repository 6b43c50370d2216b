//! Differences that are known: each has its reason in the book's chapter on limits, under the name it has here.

mod indexes;
mod messages;
mod numbers;
mod orders;
mod pipelines;
mod refusals;
mod replies;
mod seen;

use odm::bson::Document;

use crate::cases::Step;

use self::seen::Seen;

/// The title of a known difference in the book, and whether this is one of its like.
type Exception = (&'static str, fn(&Seen<'_>) -> bool);

const ALL: &[&[Exception]] = &[
    messages::KNOWN,
    refusals::KNOWN,
    numbers::KNOWN,
    indexes::KNOWN,
    pipelines::KNOWN,
    orders::KNOWN,
];

/// The title of the exception that covers this difference in the replies to the last step.
pub(crate) fn name(steps: &[Step], memory: &Document, server: &Document) -> Option<&'static str> {
    let (last, before) = steps.split_last()?;
    let seen = Seen::new(&last.command, before, memory, server);
    ALL.iter()
        .copied()
        .flatten()
        .find(|(_, covers)| covers(&seen))
        .map(|(title, _)| *title)
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn each_exception_has_its_reason_in_the_book() {
        let book = include_str!("../../../book/src/engine-limits.md");
        for (title, _) in ALL.iter().copied().flatten() {
            let listed = format!("- *{title}");
            assert!(
                book.lines().any(|line| line.starts_with(&listed)),
                "{title}: no known difference of that title is in book/src/engine-limits.md"
            );
        }
    }
}
