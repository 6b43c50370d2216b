//! Paths of typed fields.

use std::borrow::Cow;
use std::fmt;
use std::slice;
use std::sync::Arc;

/// The path from a document's root to a field, as MongoDB writes it: `contacts.0.name`.
///
/// The empty path is the value itself, as inside an `elem_match` over scalars.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Path(Parts);

/// A query makes the handles of all fields of its model to use a few of them, and most fields are one
/// or two names deep: those allocate nothing. There is one form for each length.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
enum Parts {
    #[default]
    Root,
    One(Segment),
    Two([Segment; 2]),
    /// Three or more.
    More(Arc<[Segment]>),
}

/// One part of a [`Path`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Segment {
    /// A stored field name.
    Name(Cow<'static, str>),
    /// A position in an array.
    Index(u32),
    /// `$`: the element that the filter matched.
    Positional,
    /// `$[]`: every element.
    All,
    /// `$[name]`: the elements that an array filter chooses.
    Filtered(Cow<'static, str>),
}

impl Path {
    /// The path of the document itself.
    pub fn root() -> Self {
        Self(Parts::Root)
    }

    /// This path with a stored field name behind it.
    #[must_use]
    pub fn child(&self, name: &'static str) -> Self {
        let name = Segment::Name(Cow::Borrowed(name));
        match &self.0 {
            // What most handles are made by.
            Parts::Root => Self(Parts::One(name)),
            _ => self.then(name),
        }
    }

    /// This path with a segment behind it.
    #[must_use]
    pub fn then(&self, segment: Segment) -> Self {
        Self(match &self.0 {
            Parts::Root => Parts::One(segment),
            Parts::One(first) => Parts::Two([first.clone(), segment]),
            Parts::Two(_) | Parts::More(_) => {
                let parts = self.segments().iter().cloned();
                Parts::More(parts.chain([segment]).collect())
            }
        })
    }

    /// Whether this is the value itself.
    pub fn is_root(&self) -> bool {
        matches!(self.0, Parts::Root)
    }

    /// The parts, outermost first.
    pub fn segments(&self) -> &[Segment] {
        match &self.0 {
            Parts::Root => &[],
            Parts::One(segment) => slice::from_ref(segment),
            Parts::Two(segments) => segments,
            Parts::More(segments) => segments,
        }
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Path").field(&self.segments()).finish()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.segments().iter().enumerate() {
            if position > 0 {
                f.write_str(".")?;
            }
            match segment {
                Segment::Name(name) => f.write_str(name)?,
                Segment::Index(index) => write!(f, "{index}")?,
                Segment::Positional => f.write_str("$")?,
                Segment::All => f.write_str("$[]")?,
                Segment::Filtered(name) => write!(f, "$[{name}]")?,
            }
        }
        Ok(())
    }
}
