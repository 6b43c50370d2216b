//! Dotted paths, split once.

use std::fmt;

use bson::{RawBsonRef, RawDocument};

use crate::value::raw::{self, Element, Elements, Name};

/// A dotted path such as `contacts.0.name`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    dotted: Box<str>,
    segments: Box<[Segment]>,
}

/// One part of a path: a field name that may also be the index of an array element.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Segment {
    name: Box<str>,
    word: u64,
    index: Option<usize>,
}

impl Segment {
    /// The part with this name.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            word: raw::word_of(name.as_bytes()),
            index: index(name),
        }
    }

    /// The field name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The field name as a [`Name`], to search for it among the elements of a document.
    #[inline]
    pub fn key(&self) -> Name<'_> {
        Name::of_word(self.word, self.name.as_bytes())
    }

    /// The array index that the name spells, without leading zeros.
    pub fn index(&self) -> Option<usize> {
        self.index
    }
}

/// Whether a part of a path consists of digits and so may be an array index.
pub fn is_number(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit())
}

/// The array index that a field name spells: digits without a leading zero.
pub fn index(name: &str) -> Option<usize> {
    let plain = name == "0" || !name.starts_with('0');
    plain.then(|| padded_index(name)).flatten()
}

/// The array index that a field name spells in an update, where leading zeros are allowed.
pub fn padded_index(name: &str) -> Option<usize> {
    let digits = name.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| name.parse().ok()).flatten()
}

impl Path {
    /// Splits a dotted path. Empty parts stay, as empty field names.
    pub fn new(dotted: &str) -> Self {
        Self {
            dotted: dotted.into(),
            segments: dotted.split('.').map(Segment::new).collect(),
        }
    }

    /// The path as it was written.
    pub fn as_str(&self) -> &str {
        &self.dotted
    }

    /// The parts, at least one.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The name that is the whole path, if it has no dots.
    #[inline]
    pub fn only(&self) -> Option<Name<'_>> {
        match &*self.segments {
            [only] => Some(only.key()),
            _ => None,
        }
    }

    /// The value at the path through documents only; `None` if an array is on the way.
    pub fn get_plain<'a>(&self, document: &'a RawDocument) -> Option<RawBsonRef<'a>> {
        let (last, parents) = self.segments.split_last()?;
        let mut elements = raw::walk(document);
        for segment in parents {
            let element = elements.find_name(segment.key())?;
            if element.element_type()? != bson::spec::ElementType::EmbeddedDocument {
                return None;
            }
            elements = element.children()?;
        }
        elements.find_name(last.key())?.value()
    }

    /// The values at the path, with every array on the way traversed implicitly, but not an array at its end. Missing
    /// values are left out: this is how an index or `distinct` reads.
    pub fn get_all<'a>(&self, document: &'a RawDocument) -> Vec<RawBsonRef<'a>> {
        let mut found = Vec::new();
        self.visit(document, &mut |value, _| found.extend(value));
        found
    }

    /// Calls `show` with each value of [`get_all`](Self::get_all), and with whether the last part of the path was used
    /// as an array index. Also calls it with `None` for each document that lacks its part of the path or has a scalar
    /// in the way.
    pub fn visit<'a>(
        &self,
        document: &'a RawDocument,
        show: &mut dyn FnMut(Option<RawBsonRef<'a>>, bool),
    ) {
        collect(raw::walk(document), &self.segments, show);
    }
}

type Show<'s, 'a> = &'s mut dyn FnMut(Option<RawBsonRef<'a>>, bool);

fn collect<'a>(elements: Elements<'a>, segments: &[Segment], show: Show<'_, 'a>) {
    let Some((head, rest)) = segments.split_first() else {
        return;
    };
    let Some(element) = elements.find_name(head.key()) else {
        show(None, false);
        return;
    };
    descend(&element, rest, false, show);
}

fn descend<'a>(element: &Element<'a>, rest: &[Segment], by_index: bool, show: Show<'_, 'a>) {
    let Some(next) = rest.first() else {
        show(element.value(), by_index);
        return;
    };
    let Some(children) = element.children() else {
        show(None, false);
        return;
    };
    if element.element_type() == Some(bson::spec::ElementType::EmbeddedDocument) {
        collect(children, rest, show);
        return;
    }
    for (position, child) in children.enumerate() {
        if child.element_type() == Some(bson::spec::ElementType::EmbeddedDocument) {
            descend(&child, rest, false, show);
        }
        if next.index == Some(position) {
            descend(&child, rest.get(1..).unwrap_or_default(), true, show);
        }
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.dotted, f)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.dotted)
    }
}

/// Whether the field `name` is the first part of the path.
pub fn starts_with(path: &str, name: &str) -> bool {
    path.strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
