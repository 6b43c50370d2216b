//! Where a value is in its model, as const evaluation walks down to it.

use super::same;
use super::size::{Found, Size};

/// A value without a bound.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unbounded {
    pub(super) kind: Kind,
    /// The Rust names down to the value, the outermost first; empty behind the last one.
    pub(super) names: [&'static str; 5],
    /// Whether there are more names.
    pub(super) more: bool,
    /// The type that contains itself, if that is why there is no bound.
    pub(super) repeated: &'static str,
}

/// What has no bound.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// A string in a named field.
    Text,
    /// A string without a name, whose bound can't be declared.
    NamelessText,
    /// A list in a named field.
    List,
    /// A list inside another value.
    InnerList,
    Map,
    /// A type that contains itself.
    Depth,
    /// A value of any other type.
    Any,
}

/// A step down to a value.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// The Rust name of a field or a variant.
    name: &'static str,
    /// The Rust name of the type that has it.
    within: &'static str,
    up: Option<&'a Self>,
}

impl<'a> Place<'a> {
    pub(super) const fn new(name: &'static str, at: At<'a>) -> Self {
        Self {
            name,
            within: at.within,
            up: at.place,
        }
    }
}

/// The size of a type that contains itself, for the values one level down.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    key: &'static str,
    size: Size,
    up: Option<&'a Self>,
}

impl<'a> Known<'a> {
    pub(super) const fn new(key: &'static str, size: Size, at: At<'a>) -> Self {
        Self {
            key,
            size,
            up: at.known,
        }
    }
}

/// Where a value is, and which types are around it.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    place: Option<&'a Place<'a>>,
    /// The Rust name of the innermost type around the value.
    within: &'static str,
    known: Option<&'a Known<'a>>,
}

impl<'a> At<'a> {
    pub(super) const ROOT: At<'static> = At {
        place: None,
        within: "",
        known: None,
    };

    pub(super) const fn inside(self, place: &'a Place<'a>) -> Self {
        Self {
            place: Some(place),
            ..self
        }
    }

    pub(super) const fn within(self, name: &'static str) -> Self {
        Self {
            within: name,
            ..self
        }
    }

    pub(super) const fn knowing(self, known: &'a Known<'a>) -> Self {
        Self {
            known: Some(known),
            ..self
        }
    }

    /// The size of the type with this key, if a value of it is around this one.
    pub(super) const fn known(self, key: &str) -> Option<Size> {
        let mut known = self.known;
        while let Some(one) = known {
            if same(one.key, key) {
                return Some(one.size);
            }
            known = one.up;
        }
        None
    }

    /// Reports the value.
    pub(super) const fn unbounded(self, kind: Kind) -> Found {
        let (mut names, mut more) = ([""; 5], false);
        let mut place = self.place;
        while let Some(one) = place {
            let [first, second, third, fourth, fifth] = names;
            more = more || !fifth.is_empty();
            names = [one.name, first, second, third, fourth];
            place = one.up;
        }
        Err(Unbounded {
            kind,
            names,
            more,
            repeated: self.repeated(),
        })
    }

    /// The innermost type that is further out once more.
    const fn repeated(self) -> &'static str {
        let mut at = self.place;
        while let Some(place) = at {
            let mut above = place.up;
            while let Some(other) = above {
                if same(place.within, other.within) {
                    return place.within;
                }
                above = other.up;
            }
            at = place.up;
        }
        ""
    }
}
