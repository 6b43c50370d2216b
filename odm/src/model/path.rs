//! Paths of typed fields.

use std::borrow::Cow;
use std::fmt;

use smallvec::SmallVec;

/// The path from a document's root to a field, as MongoDB writes it: `contacts.0.name`.
///
/// The empty path is the value itself, as inside an `elem_match` over scalars.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Path(SmallVec<[Segment; 4]>);

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
        Self(SmallVec::new())
    }

    /// This path with a stored field name behind it.
    #[must_use]
    pub fn child(&self, name: &'static str) -> Self {
        self.then(Segment::Name(Cow::Borrowed(name)))
    }

    /// This path with a segment behind it.
    #[must_use]
    pub fn then(&self, segment: Segment) -> Self {
        let mut path = self.clone();
        path.0.push(segment);
        path
    }

    /// Whether this is the value itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The parts, outermost first.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
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
