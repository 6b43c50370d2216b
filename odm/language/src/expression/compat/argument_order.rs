//! Arguments that mongod moves before it evaluates them, and their written places.
//!
//! Constants are computed in the written order; the arguments evaluated per document, in the new order.

/// The places of moved arguments, listed in the written order.
#[derive(Debug, Clone, Default)]
pub(in crate::expression) struct WrittenOrder(Box<[usize]>);

impl WrittenOrder {
    /// The places of `count` arguments, in the written order.
    pub(in crate::expression) fn places(&self, count: usize) -> impl Iterator<Item = usize> {
        let rest = if self.0.is_empty() { 0..count } else { 0..0 };
        self.0.iter().copied().chain(rest)
    }
}

/// Moves the arguments for which `is_late` returns true behind the others.
pub(in crate::expression) fn arrange<T>(
    arguments: Vec<T>,
    is_late: impl Fn(&T) -> bool,
) -> (Vec<T>, WrittenOrder) {
    let mut moved: Vec<(usize, T)> = arguments.into_iter().enumerate().collect();
    moved.sort_by_key(|(_, argument)| is_late(argument));
    let is_as_written = moved.is_sorted_by_key(|(at, _)| *at);
    let mut places: Vec<(usize, usize)> = moved
        .iter()
        .enumerate()
        .map(|(place, (at, _))| (*at, place))
        .collect();
    places.sort_unstable();
    let written = if is_as_written {
        WrittenOrder::default()
    } else {
        WrittenOrder(places.into_iter().map(|(_, place)| place).collect())
    };
    (
        moved.into_iter().map(|(_, argument)| argument).collect(),
        written,
    )
}
