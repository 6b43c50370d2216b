//! A value for each box, node or line.

use std::ops::{Index, IndexMut};

/// A value for each thing of one kind, which are numbered from 0. Numbers are not mixed between graphs.
#[derive(Debug, Clone, Default)]
pub(super) struct Each<T>(Vec<T>);

impl<T: Clone> Each<T> {
    pub(super) fn new(count: usize, value: T) -> Self {
        Self(vec![value; count])
    }
}

impl<T> Each<T> {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    /// Adds a value, and returns its number.
    pub(super) fn push(&mut self, value: T) -> usize {
        self.0.push(value);
        self.0.len() - 1
    }
}

impl<T> FromIterator<T> for Each<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl<T> Index<usize> for Each<T> {
    type Output = T;

    fn index(&self, number: usize) -> &T {
        self.0.get(number).expect("the number is of this graph")
    }
}

impl<T> IndexMut<usize> for Each<T> {
    fn index_mut(&mut self, number: usize) -> &mut T {
        self.0.get_mut(number).expect("the number is of this graph")
    }
}
