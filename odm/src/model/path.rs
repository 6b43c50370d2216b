//! Paths of typed fields.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The path from a document's root to a field, as MongoDB writes it: `contacts.0.name`.
///
/// The empty path is the value itself, as inside an `elem_match` over scalars.
#[derive(Clone, Default)]
pub struct Path {
    parts: Parts,
    missing: Missing,
}

/// Which values can be missing although their types do not say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Missing {
    #[default]
    None,
    /// The values below the path: it is an `Option`.
    Below,
    /// The value at the path and those below: it is in an `Option`, in one of several variants, or in a map.
    Here,
}

/// A query creates a handle for every field of its model and uses only a few of them. Most fields are one or
/// two names deep; those paths are small, allocate nothing, and need no drop.
#[derive(Clone, Default)]
enum Parts {
    #[default]
    Root,
    One(&'static str),
    Two(&'static str, &'static str),
    /// Any other path.
    More(Arc<[Segment]>),
}

/// One part of a [`Path`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Segment {
    /// A stored field name.
    Name(Cow<'static, str>),
    /// A position in an array.
    Index(u32),
    /// Any element of an array, in a filter. The written path has no part for it: `tags` matches the elements
    /// of `tags`, too.
    Any,
    /// `$`: the element that the filter matched.
    Positional,
    /// `$[]`: every element.
    All,
    /// `$[name]`: the elements that an array filter chooses.
    Filtered(Cow<'static, str>),
}

impl Path {
    /// The path of the document itself.
    ///
    /// ```
    /// # use odm::model::Path;
    /// assert!(Path::root().is_root());
    /// ```
    #[inline]
    pub fn root() -> Self {
        Self {
            parts: Parts::Root,
            missing: Missing::None,
        }
    }

    /// The same path, of an `Option`: what is below it can be missing although its type does not say so.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn of_option(self) -> Self {
        Self {
            missing: Missing::Below,
            ..self
        }
    }

    /// The same path, of a value that can be missing although its type does not say so; generated code calls it for the
    /// variants of an enum.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn optional(self) -> Self {
        Self {
            missing: Missing::Here,
            ..self
        }
    }

    /// The same path, of a value that is not missing.
    #[must_use]
    pub(crate) fn required(self) -> Self {
        Self {
            missing: Missing::None,
            ..self
        }
    }

    /// Whether the value can be missing although its type does not say so.
    pub(crate) fn is_optional(&self) -> bool {
        self.missing == Missing::Here
    }

    /// The path of something below this one.
    #[inline]
    fn below(&self, parts: Parts) -> Self {
        let missing = match self.missing {
            Missing::None => Missing::None,
            Missing::Below | Missing::Here => Missing::Here,
        };
        Self { parts, missing }
    }

    /// Appends a stored field name to this path.
    ///
    /// ```
    /// # use odm::model::Path;
    /// let name = Path::root().child("contacts").child("name");
    /// assert_eq!(name.to_string(), "contacts.name");
    /// ```
    #[must_use]
    #[inline]
    pub fn child(&self, name: &'static str) -> Self {
        let parts = match self.parts {
            Parts::Root => Parts::One(name),
            Parts::One(first) => Parts::Two(first, name),
            Parts::Two(..) | Parts::More(_) => self.longer(Segment::Name(Cow::Borrowed(name))),
        };
        self.below(parts)
    }

    /// Appends a segment to this path.
    ///
    /// ```
    /// # use odm::model::{Path, Segment};
    /// let name = Path::root().child("contacts").then(Segment::Index(0)).child("name");
    /// assert_eq!(name.to_string(), "contacts.0.name");
    /// ```
    #[must_use]
    pub fn then(&self, segment: Segment) -> Self {
        match segment {
            Segment::Name(Cow::Borrowed(name)) => self.child(name),
            segment => self.below(self.longer(segment)),
        }
    }

    fn longer(&self, segment: Segment) -> Parts {
        Parts::More(self.segments().chain([segment]).collect())
    }

    /// Whether the path is empty, and so names the value itself.
    ///
    /// ```
    /// # use odm::model::Path;
    /// assert!(Path::root().is_root());
    /// assert!(!Path::root().child("name").is_root());
    /// ```
    pub fn is_root(&self) -> bool {
        matches!(self.parts, Parts::Root)
    }

    /// The field's name, if this is the path of a top-level field.
    pub(crate) fn top_level(&self) -> Option<&'static str> {
        match self.parts {
            Parts::One(name) => Some(name),
            _ => None,
        }
    }

    /// The parts, outermost first.
    ///
    /// ```
    /// # use odm::model::{Path, Segment};
    /// let path = Path::root().child("tags").then(Segment::Positional);
    /// let segments: Vec<Segment> = path.segments().collect();
    /// assert_eq!(segments, [Segment::Name("tags".into()), Segment::Positional]);
    /// ```
    pub fn segments(&self) -> impl Iterator<Item = Segment> {
        let (names, more): ([Option<&'static str>; 2], &[Segment]) = match &self.parts {
            Parts::Root => ([None, None], &[]),
            Parts::One(first) => ([Some(first), None], &[]),
            Parts::Two(first, second) => ([Some(first), Some(second)], &[]),
            Parts::More(segments) => ([None, None], segments),
        };
        let names = names.into_iter().flatten();
        names
            .map(|name| Segment::Name(Cow::Borrowed(name)))
            .chain(more.iter().cloned())
    }
}

// Two paths are equal if their segments are, whichever variant of `Parts` holds them.
impl PartialEq for Path {
    fn eq(&self, other: &Self) -> bool {
        self.segments().eq(other.segments())
    }
}

impl Eq for Path {}

impl Hash for Path {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for segment in self.segments() {
            segment.hash(state);
        }
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.segments()).finish()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written = self.segments().filter(|segment| *segment != Segment::Any);
        for (position, segment) in written.enumerate() {
            if position > 0 {
                f.write_str(".")?;
            }
            match segment {
                Segment::Name(name) => f.write_str(&name)?,
                Segment::Index(index) => write!(f, "{index}")?,
                Segment::Any => {}
                Segment::Positional => f.write_str("$")?,
                Segment::All => f.write_str("$[]")?,
                Segment::Filtered(name) => write!(f, "$[{name}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_equal_in_every_form() {
        let kept = Path::root().child("a").child("b");
        let owned = |name: &str| Segment::Name(Cow::Owned(name.to_owned()));
        let computed = Path::root().then(owned("a")).then(owned("b"));
        assert_eq!(kept, computed);
        assert_ne!(kept, computed.child("c"));
        assert_eq!(
            computed.child("c").then(Segment::Index(3)).to_string(),
            "a.b.c.3"
        );
        let some = computed.then(Segment::Any).child("d");
        assert_eq!(some.to_string(), "a.b.d");
        assert!(Path::root().is_root() && !computed.is_root());
    }
}
