//! Ways in which a write runs.

use super::explorer::Orders;

/// How an operation runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Way {
    /// As the guarantee has it.
    Own,
    NonAtomic,
    /// In a transaction of the caller.
    Joined,
}

impl Way {
    pub(crate) const ALL: [Self; 3] = [Self::Own, Self::NonAtomic, Self::Joined];
}

/// Runs a write in a way. A write that was stopped after its commit runs again, and finds its document there.
macro_rules! run {
    ($way:expr, $db:expr, $write:expr) => {{
        let result = match $way {
            Way::Own => $write.await.map(drop),
            Way::NonAtomic => $write.non_atomic().await.map(drop),
            Way::Joined => {
                odm::transaction!($db, |tx| {
                    $write.session(tx).await?;
                    Ok(())
                })
                .await
            }
        };
        match result {
            Err(error) if error.is_duplicate_key() => Ok(()),
            other => other,
        }
    }};
}
pub(crate) use run;

/// Pairs of ways of which one at least is the own one, and the orders that are explored.
pub(crate) fn ways() -> impl Iterator<Item = (Way, Way, Orders)> {
    let pairs = Way::ALL
        .into_iter()
        .flat_map(|one| Way::ALL.map(|other| (one, other)));
    pairs.filter_map(|pair| match pair {
        (Way::Own, Way::Own) => Some((Way::Own, Way::Own, Orders::Switches(3))),
        (one @ Way::Own, other) | (one, other @ Way::Own) => {
            Some((one, other, Orders::Switches(2)))
        }
        _ => None,
    })
}
