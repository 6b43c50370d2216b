//! Projections by `$project`, `$set` and `$unset`: they keep, drop and compute fields at any depth.
//!
//! The shape is parsed once into a tree of paths. The projection of `find` has a few more operators ([`Transform`]).
//! The engine implements them, because they need query conditions.

mod parse;

use std::fmt;
use std::sync::Arc;

use bson::Document;
use bson::raw::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use crate::error::{ServerError, refuse};
use crate::expression::{Expression, Globals};
use crate::value::path::Segment;
use crate::value::raw::{DocumentWriter, Element, values, walk};

pub use self::parse::{ExclusiveOperators, ProjectionEffect, check_position};

/// Room for the bytes of some fields: an inclusion often drops most of a document.
const FEW_FIELDS: usize = 64;

/// A compiled projection.
#[derive(Debug)]
pub struct Shape {
    kind: Kind,
    tree: Tree,
}

/// What a shape does to paths.
#[derive(Debug)]
pub struct ShapePaths {
    /// What happens to other paths.
    pub kind: Kind,
    /// Paths that stay as they are.
    pub kept: Vec<String>,
    /// Paths that are dropped or computed, but for the copies.
    pub changed: Vec<String>,
    /// Computed paths that are top-level fields of the input, with the names of those.
    pub copies: Vec<(String, String)>,
}

/// The treatment of the fields that the shape does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// They are dropped.
    Include,
    /// They are kept.
    Exclude,
    /// They are kept, and the named fields are computed.
    Set,
}

#[derive(Debug, Default)]
struct Tree {
    fields: Vec<(Segment, Entry)>,
}

#[derive(Debug)]
enum Entry {
    Keep,
    Drop,
    Compute(Expression),
    Transform(Arc<dyn Transform>),
    Below(Tree),
}

/// A projection operator of `find` on one value, such as `$slice` and `$elemMatch`.
pub trait Transform: fmt::Debug + Send + Sync {
    /// Whether an inclusion puts its result at the end, like that of a computed field.
    fn is_computed(&self) -> bool {
        false
    }

    /// Whether it applies to the first array on its path, and not to the value at the end of the path.
    fn takes_first_array(&self) -> bool {
        false
    }

    /// The new value; `None` leaves the field out.
    fn apply(
        &self,
        value: RawBsonRef<'_>,
        matched_index: Option<usize>,
    ) -> Result<Option<RawBson>, ServerError>;
}

/// What becomes of the fields that a tree does not name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    Left,
    Written,
}

/// The state of one application.
#[derive(Clone, Copy)]
struct Run<'r> {
    kind: Kind,
    root: &'r RawDocument,
    globals: &'r Globals,
    matched_index: Option<usize>,
    /// Whether an array on the path was already cut down to the element that matched.
    positioned: bool,
}

impl Shape {
    /// Returns the projected document. `matched_index` is for the positional projection of `find`.
    pub fn apply(
        &self,
        document: &RawDocument,
        globals: &Globals,
        matched_index: Option<usize>,
    ) -> Result<RawDocumentBuf, ServerError> {
        let run = Run {
            kind: self.kind,
            root: document,
            globals,
            matched_index,
            positioned: false,
        };
        self.tree.document(Some(document), run)
    }

    /// The top-level fields that an inclusion reads; `None` if it reads more, or is no inclusion.
    pub fn fields_read(&self) -> Option<Vec<Segment>> {
        let mut read = Vec::new();
        let is_known = self.kind == Kind::Include && self.tree.collect_read(true, &mut read);
        is_known.then_some(read)
    }

    /// The top-level fields that the shape computes, if it leaves all others as they are.
    pub fn changed_fields(&self) -> Option<impl Iterator<Item = &Segment>> {
        let is_computed =
            |(_, entry): &(Segment, Entry)| matches!(entry, Entry::Compute(_) | Entry::Below(_));
        (self.kind == Kind::Set && self.tree.fields.iter().all(is_computed))
            .then(|| self.tree.fields.iter().map(|(name, _)| name))
    }

    /// The new values of the [changed fields](Self::changed_fields). A field that is not among them is removed.
    pub fn changes(
        &self,
        document: &RawDocument,
        globals: &Globals,
    ) -> Result<RawDocumentBuf, ServerError> {
        let run = Run {
            kind: self.kind,
            root: document,
            globals,
            matched_index: None,
            positioned: false,
        };
        let mut changes = DocumentWriter::with_capacity(FEW_FIELDS);
        self.tree
            .write(Some(document), run, Others::Left, &mut changes)?;
        Ok(changes.finish())
    }

    /// The paths that the shape names.
    pub fn paths(&self) -> ShapePaths {
        let mut paths = ShapePaths {
            kind: self.kind,
            kept: Vec::new(),
            changed: Vec::new(),
            copies: Vec::new(),
        };
        self.tree.collect_paths("", &mut paths);
        paths
    }

    /// The paths that an inclusion reads; `None` if it reads the whole document, or is no inclusion.
    pub fn reads(&self) -> Option<Vec<String>> {
        let mut paths = Vec::new();
        (self.kind == Kind::Include && self.tree.collect_reads("", &mut paths)).then_some(paths)
    }

    /// Fails if a constant part of an expression fails.
    pub fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.tree.check_constants(globals)
    }

    /// The specification as mongod's `explain` shows it: `{a: 1, b: "$c"}` becomes `{_id: true, a: true, b: "$c"}`.
    pub fn optimized(&self, globals: &Globals) -> Document {
        let mut shown = self.tree.optimized(globals);
        if self.kind != Kind::Set
            && self
                .tree
                .fields
                .iter()
                .all(|(name, _)| name.name() != "_id")
        {
            shown.insert("_id", self.kind == Kind::Exclude);
        }
        shown
    }

    /// The paths that the shape keeps or computes from; `None` if it computes from whole documents.
    pub fn dependencies(&self) -> Option<Vec<String>> {
        let mut read = Vec::new();
        self.tree.collect_dependencies("", &mut read)?;
        Some(read)
    }

    /// Whether the shape computes no field.
    pub fn is_plain(&self) -> bool {
        !self.tree.computes()
    }

    /// What happens to the fields that the shape does not name.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

impl Tree {
    #[inline]
    fn entry(&self, element: &Element<'_>) -> Option<&(Segment, Entry)> {
        self.fields.iter().find(|(name, _)| element.is(name.key()))
    }

    fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(known, _)| known.name() == name)
    }

    fn computes(&self) -> bool {
        self.fields.iter().any(|(_, entry)| match entry {
            Entry::Compute(_) => true,
            Entry::Below(tree) => tree.computes(),
            Entry::Keep | Entry::Drop | Entry::Transform(_) => false,
        })
    }

    /// The operator that cuts down the first array on its path.
    fn first_array(&self) -> Option<&dyn Transform> {
        self.fields.iter().find_map(|(_, entry)| match entry {
            Entry::Transform(transform) if transform.takes_first_array() => {
                Some(transform.as_ref())
            }
            Entry::Below(tree) => tree.first_array(),
            Entry::Keep | Entry::Drop | Entry::Compute(_) | Entry::Transform(_) => None,
        })
    }

    /// Adds the top-level fields that the tree reads; false if it reads the whole document.
    fn collect_read(&self, is_top: bool, read: &mut Vec<Segment>) -> bool {
        self.fields.iter().all(|(name, entry)| {
            read.extend(is_top.then(|| name.clone()));
            match entry {
                Entry::Compute(expression) => expression.paths().is_some_and(|paths| {
                    let heads = paths.iter().filter_map(|path| path.split('.').next());
                    read.extend(heads.map(Segment::new));
                    true
                }),
                Entry::Below(tree) => tree.collect_read(false, read),
                Entry::Keep | Entry::Drop | Entry::Transform(_) => true,
            }
        })
    }

    fn collect_paths(&self, above: &str, paths: &mut ShapePaths) {
        for (name, entry) in &self.fields {
            let path = super::join(above, name.name());
            match entry {
                Entry::Keep => paths.kept.push(path),
                Entry::Below(tree) => tree.collect_paths(&path, paths),
                Entry::Compute(expression) => match expression.copied_field() {
                    Some(field) => paths.copies.push((path, field.to_owned())),
                    None => paths.changed.push(path),
                },
                Entry::Drop | Entry::Transform(_) => paths.changed.push(path),
            }
        }
    }

    /// Collects the paths that are read; false if that is the whole document.
    fn collect_reads(&self, above: &str, paths: &mut Vec<String>) -> bool {
        self.fields.iter().all(|(name, entry)| {
            let path = super::join(above, name.name());
            match entry {
                Entry::Keep | Entry::Transform(_) => paths.push(path),
                Entry::Drop => {}
                Entry::Below(tree) => return tree.collect_reads(&path, paths),
                Entry::Compute(expression) => {
                    let Some(read) = expression.paths() else {
                        return false;
                    };
                    paths.extend(read);
                    // The value there says whether the path leads through arrays.
                    if !above.is_empty() {
                        paths.push(path);
                    }
                }
            }
            true
        })
    }

    /// Adds the paths that are kept or computed from; `None` if those are not all.
    fn collect_dependencies(&self, above: &str, read: &mut Vec<String>) -> Option<()> {
        for (name, entry) in &self.fields {
            let path = super::join(above, name.name());
            match entry {
                Entry::Keep => read.push(path),
                Entry::Below(tree) => tree.collect_dependencies(&path, read)?,
                Entry::Compute(expression) => read.extend(expression.paths()?),
                Entry::Drop | Entry::Transform(_) => {}
            }
        }
        Some(())
    }

    /// Fields that are kept or dropped come first, and of these the `_id`.
    fn optimized(&self, globals: &Globals) -> Document {
        let mut shown = Document::new();
        let is_flag = |entry: &Entry| matches!(entry, Entry::Keep | Entry::Drop);
        let mut flags: Vec<_> = self.fields.iter().filter(|(_, it)| is_flag(it)).collect();
        flags.sort_by_key(|(name, _)| name.name() != "_id");
        let others = self.fields.iter().filter(|(_, it)| !is_flag(it));
        for (name, entry) in flags.into_iter().chain(others) {
            match entry {
                Entry::Keep => shown.insert(name.name(), true),
                Entry::Drop => shown.insert(name.name(), false),
                Entry::Compute(expression) => {
                    shown.insert(name.name(), expression.optimized(globals))
                }
                Entry::Below(tree) => shown.insert(name.name(), tree.optimized(globals)),
                Entry::Transform(_) => None,
            };
        }
        shown
    }

    fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.fields.iter().try_for_each(|(_, entry)| match entry {
            Entry::Compute(expression) => expression.check_constants(globals),
            Entry::Below(tree) => tree.check_constants(globals),
            Entry::Keep | Entry::Drop | Entry::Transform(_) => Ok(()),
        })
    }

    /// The fields of `document` in their order, followed by the new fields in the order of the shape.
    fn document(
        &self,
        document: Option<&RawDocument>,
        run: Run<'_>,
    ) -> Result<RawDocumentBuf, ServerError> {
        let size = document.map_or(0, |document| document.as_bytes().len());
        let mut new = DocumentWriter::with_capacity(match run.kind {
            Kind::Include => size.min(FEW_FIELDS),
            Kind::Exclude | Kind::Set => size,
        });
        let others = match run.kind {
            Kind::Include => Others::Left,
            Kind::Exclude | Kind::Set => Others::Written,
        };
        self.write(document, run, others, &mut new)?;
        Ok(new.finish())
    }

    fn write(
        &self,
        document: Option<&RawDocument>,
        run: Run<'_>,
        others: Others,
        new: &mut DocumentWriter,
    ) -> Result<(), ServerError> {
        for element in document.into_iter().flat_map(walk) {
            let Some((name, entry)) = self.entry(&element) else {
                if others == Others::Written {
                    new.push(&element);
                }
                continue;
            };
            match entry {
                Entry::Keep => new.push(&element),
                Entry::Drop => {}
                Entry::Compute(expression) => {
                    // An inclusion puts computed fields at the end, wherever the document has them.
                    if run.kind != Kind::Include
                        && let Some(value) = expression.eval(run.root, run.globals)?.get()
                    {
                        new.append(name.name(), value);
                    }
                }
                Entry::Transform(transform) => {
                    if run.positioned && transform.takes_first_array() {
                        new.push(&element);
                    } else if run.kind == Kind::Include && transform.is_computed() {
                    } else if let Some(value) = element.value()
                        && let Some(value) = transform.apply(value, run.matched_index)?
                    {
                        new.append(name.name(), value.as_raw_bson_ref());
                    }
                }
                Entry::Below(tree) => {
                    if let Some(value) = element.value()
                        && let Some(value) = tree.value(value, run)?
                    {
                        new.append(name.name(), value.as_raw_bson_ref());
                    }
                }
            }
        }
        for (name, entry) in &self.fields {
            let old = || document.and_then(|document| walk(document).find_name(name.key()));
            match entry {
                Entry::Compute(expression) if run.kind == Kind::Include || old().is_none() => {
                    if let Some(value) = expression.eval(run.root, run.globals)?.get() {
                        new.append(name.name(), value);
                    }
                }
                Entry::Transform(transform)
                    if run.kind == Kind::Include && transform.is_computed() =>
                {
                    if let Some(value) = old().and_then(|element| element.value())
                        && let Some(value) = transform.apply(value, run.matched_index)?
                    {
                        new.append(name.name(), value.as_raw_bson_ref());
                    }
                }
                Entry::Below(tree) if tree.computes() && old().is_none() => {
                    let below = tree.document(None, run)?;
                    new.append(name.name(), RawBsonRef::Document(&below));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn value(&self, value: RawBsonRef<'_>, run: Run<'_>) -> Result<Option<RawBson>, ServerError> {
        Ok(match value {
            RawBsonRef::Document(document) => {
                Some(RawBson::Document(self.document(Some(document), run)?))
            }
            RawBsonRef::Array(array) => {
                let mut mapped = RawArrayBuf::new();
                if !run.positioned
                    && let Some(first) = self.first_array()
                {
                    let Some(RawBson::Array(kept)) = first.apply(value, run.matched_index)? else {
                        return Ok(None);
                    };
                    let run = Run {
                        positioned: true,
                        ..run
                    };
                    for item in values(&kept) {
                        if !matches!(item, RawBsonRef::Array(_) | RawBsonRef::Document(_)) {
                            return refuse(51247, "positional operator '.$' element mismatch");
                        }
                        if let Some(item) = self.value(item, run)? {
                            mapped.push(item);
                        }
                    }
                    return Ok(Some(RawBson::Array(mapped)));
                }
                for item in values(array) {
                    if let Some(item) = self.value(item, run)? {
                        mapped.push(item);
                    }
                }
                Some(RawBson::Array(mapped))
            }
            _ if self.computes() => Some(RawBson::Document(self.document(None, run)?)),
            _ if run.kind == Kind::Include => None,
            other => Some(other.into()),
        })
    }
}
