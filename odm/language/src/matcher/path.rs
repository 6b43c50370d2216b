//! How filters read paths: arrays on the path are traversed, and numbers are array indexes too.

use bson::spec::ElementType;

use crate::error::ServerError;
use crate::matcher::fields::Fields;
use crate::value::path::{Path, Segment};
use crate::value::raw::{Element, Elements};

/// Whether the elements of an array at the end of a path are tested as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaf {
    Expand,
    Whole,
}

/// The result of a test of one value.
pub(super) type Answer = Result<bool, ServerError>;

/// Searches the values at a path for one that passes a test.
pub(super) struct Search<'t, F> {
    pub(super) leaf: Leaf,
    pub(super) test: F,
    /// The index in the outermost array at which the test passed.
    pub(super) position: &'t mut Option<usize>,
}

impl<F: FnMut(Option<&Element<'_>>) -> Answer> Search<'_, F> {
    /// Whether any value at the path passes.
    #[inline]
    pub(super) fn run(&mut self, fields: &mut Fields<'_>, path: &Path) -> Answer {
        let Some((head, rest)) = path.segments().split_first() else {
            return Ok(false);
        };
        match fields.find(head.key()) {
            Some(element) => self.below(&element, rest, None),
            None => self.ask(None, None),
        }
    }

    fn document(
        &mut self,
        elements: Elements<'_>,
        segments: &[Segment],
        outer: Option<usize>,
    ) -> Answer {
        let Some((head, rest)) = segments.split_first() else {
            return Ok(false);
        };
        let Some(element) = elements.find_name(head.key()) else {
            return self.ask(None, outer);
        };
        self.below(&element, rest, outer)
    }

    fn below(&mut self, element: &Element<'_>, rest: &[Segment], outer: Option<usize>) -> Answer {
        if rest.is_empty() {
            return self.leaf(element, outer);
        }
        match (element.element_type(), element.children()) {
            (Some(ElementType::EmbeddedDocument), Some(children)) => {
                self.document(children, rest, outer)
            }
            (Some(ElementType::Array), Some(children)) => self.array(children, rest, outer),
            _ => self.ask(None, outer),
        }
    }

    fn array(&mut self, children: Elements<'_>, rest: &[Segment], outer: Option<usize>) -> Answer {
        let Some((next, after)) = rest.split_first() else {
            return Ok(false);
        };
        for (index, child) in children.enumerate() {
            let here = outer.or(Some(index));
            if child.element_type() == Some(ElementType::EmbeddedDocument)
                && self.below(&child, rest, here)?
            {
                return Ok(true);
            }
            // a path that ends in a dot names every element
            let every = next.name().is_empty() && after.is_empty();
            if every || next.index() == Some(index) {
                // an index written in the path does not set the position
                let found = match child.element_type() {
                    // an element named by an index is tested as a whole, even if it is an array
                    _ if after.is_empty() => self.ask(Some(&child), outer)?,
                    Some(ElementType::EmbeddedDocument | ElementType::Array) => {
                        self.below(&child, after, outer)?
                    }
                    _ => false,
                };
                if found {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn leaf(&mut self, element: &Element<'_>, outer: Option<usize>) -> Answer {
        if self.leaf == Leaf::Expand
            && element.element_type() == Some(ElementType::Array)
            && let Some(children) = element.children()
        {
            for (index, child) in children.enumerate() {
                if self.ask(Some(&child), outer.or(Some(index)))? {
                    return Ok(true);
                }
            }
        }
        self.ask(Some(element), outer)
    }

    fn ask(&mut self, element: Option<&Element<'_>>, outer: Option<usize>) -> Answer {
        let passed = (self.test)(element)?;
        if passed && outer.is_some() {
            *self.position = outer;
        }
        Ok(passed)
    }
}
