//! Writes computed values at the paths of the output.

use bson::raw::{RawArray, RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::ServerError;
use odm_language::value::raw::{append, elements, empty_document, values};

use super::common::refuse;

/// The output paths as a tree.
#[derive(Debug, Default)]
pub(super) struct Paths(Vec<(String, Node)>);

#[derive(Debug)]
enum Node {
    /// The position of the value in the list of values.
    Value(usize),
    Below(Paths),
}

impl Paths {
    /// Adds a path for the value at a position. Fails if another path has it as a part, or is a part of it.
    pub(super) fn add(&mut self, path: &[String], at: usize) -> Result<(), ServerError> {
        let conflict = || {
            refuse(
                6_307_900,
                "$setWindowFields 'output' specification contains two conflicting paths",
            )
        };
        let Some((head, rest)) = path.split_first() else {
            return Ok(());
        };
        let found = self.0.iter_mut().find(|(name, _)| name == head);
        match (found, rest) {
            (None, []) => self.0.push((head.clone(), Node::Value(at))),
            (None, rest) => {
                let mut below = Self::default();
                below.add(rest, at)?;
                self.0.push((head.clone(), Node::Below(below)));
            }
            (Some((_, Node::Below(below))), [_, ..]) => below.add(rest, at)?,
            (Some(_), _) => return conflict(),
        }
        Ok(())
    }

    /// The document with the values at their paths. A missing value removes the field.
    pub(super) fn write(
        &self,
        document: &RawDocument,
        computed: &[Option<RawBson>],
    ) -> RawDocumentBuf {
        let mut new = RawDocumentBuf::new();
        let mut is_placed = vec![false; self.0.len()];
        for (name, old) in elements(document) {
            let place = self.0.iter().position(|(path, _)| path == name);
            match place.and_then(|place| Some((is_placed.get_mut(place)?, self.0.get(place)?))) {
                None => append(&mut new, name, old),
                Some((is_placed, (_, node))) => {
                    *is_placed = true;
                    node.append(&mut new, name, Some(old), computed);
                }
            }
        }
        for ((name, node), is_placed) in self.0.iter().zip(is_placed) {
            if !is_placed {
                node.append(&mut new, name, None, computed);
            }
        }
        new
    }

    /// Like `$addFields`, sets fields in every document of an array, and replaces other values by a document.
    fn value(&self, old: RawBsonRef<'_>, computed: &[Option<RawBson>]) -> RawBson {
        match old {
            RawBsonRef::Document(document) => RawBson::Document(self.write(document, computed)),
            RawBsonRef::Array(items) => RawBson::Array(self.items(items, computed)),
            _ => RawBson::Document(self.write(empty_document(), computed)),
        }
    }

    fn items(&self, items: &RawArray, computed: &[Option<RawBson>]) -> RawArrayBuf {
        values(items)
            .map(|item| self.value(item, computed))
            .collect()
    }
}

impl Node {
    fn append(
        &self,
        new: &mut RawDocumentBuf,
        name: &str,
        old: Option<RawBsonRef<'_>>,
        computed: &[Option<RawBson>],
    ) {
        match self {
            Self::Value(at) => {
                if let Some(Some(value)) = computed.get(*at) {
                    append(new, name, value.as_raw_bson_ref());
                }
            }
            Self::Below(paths) => {
                let value = paths.value(old.unwrap_or(RawBsonRef::Null), computed);
                append(new, name, value.as_raw_bson_ref());
            }
        }
    }
}
