//! `compared_by!`: traits of types whose parameters are markers.

/// Implements `Eq` and `Hash` by a part of the value, and on request `Copy` and `Ord`:
/// `compared_by!([T] Id<T>, |id| id.oid, Copy, Ord)`. Derives would put bounds on the parameters.
macro_rules! compared_by {
    (@Eq [$($generics:tt)*] $type:ty, |$this:ident| $part:expr) => {
        impl<$($generics)*> PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                let one = { let $this = self; $part };
                let other = { let $this = other; $part };
                one == other
            }
        }

        impl<$($generics)*> Eq for $type {}

        impl<$($generics)*> std::hash::Hash for $type {
            fn hash<Q: std::hash::Hasher>(&self, state: &mut Q) {
                let $this = self;
                std::hash::Hash::hash(&$part, state);
            }
        }
    };
    (@Copy [$($generics:tt)*] $type:ty, |$this:ident| $part:expr) => {
        impl<$($generics)*> Clone for $type {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<$($generics)*> Copy for $type {}
    };
    (@Ord [$($generics:tt)*] $type:ty, |$this:ident| $part:expr) => {
        impl<$($generics)*> PartialOrd for $type {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl<$($generics)*> Ord for $type {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                let one = { let $this = self; $part };
                let other = { let $this = other; $part };
                one.cmp(&other)
            }
        }
    };
    ($generics:tt $type:ty, |$this:ident| $part:expr $(, $more:ident)*) => {
        $crate::types::compared::compared_by!(@Eq $generics $type, |$this| $part);
        $($crate::types::compared::compared_by!(@$more $generics $type, |$this| $part);)*
    };
}

pub(super) use compared_by;
