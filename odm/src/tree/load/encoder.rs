//! Encodes the nodes of a bulk load with their kept fields.

use std::sync::Arc;

use bson::raw::{CString, RawArrayBuf, RawBsonRef, RawDocumentBuf};
use bson::{Bson, RawBson};

use crate::error::{Error, Result};
use crate::model::tree::RootParent;
use crate::tree::node::child_path;
use crate::tree::places::{Placement, Shape, Visit};
use crate::tree::tree_store::TreeStore;

/// Encoded documents without kept fields, or with any values in their place.
pub(super) trait NewDocuments {
    /// The document at a position.
    fn document(&self, position: usize) -> Option<&RawDocumentBuf>;

    /// Its id.
    fn id(&self, position: usize) -> RawBsonRef<'_>;
}

/// A field that a tree keeps.
#[derive(Debug, Clone, Copy)]
enum Field {
    Parent(RootParent),
    Ancestors,
    Path,
    Depth,
    Children,
    Rank,
    ChildCount,
    DescendantCount,
    Left,
    Right,
}

/// The values that the nodes of one family share.
#[derive(Debug)]
struct Level {
    ancestors: RawArrayBuf,
    path: Option<String>,
}

/// The kept fields of new nodes in one tree.
#[derive(Debug)]
pub(super) struct NodeEncoder {
    fields: Vec<(CString, Field)>,
    shape: Arc<Shape>,
    /// The parent of the roots.
    above: Option<RawBson>,
    /// How many ancestors the roots have.
    depth: usize,
    /// The first bound.
    bound: i64,
    /// By position: the place among the siblings.
    places: Vec<usize>,
    root_ranks: Vec<String>,
    /// The ranks of the largest family; smaller ones have the first of them.
    ranks: Vec<String>,
    /// By position: how many nodes are below.
    descendants: Vec<i64>,
    /// The families around the current node, the roots first.
    levels: Vec<Level>,
}

impl TreeStore<'_> {
    /// The kept fields of nodes in this shape, at a place.
    pub(super) fn node_encoder(
        &self,
        shape: Arc<Shape>,
        visits: &[Visit],
        placement: &Placement,
    ) -> Result<NodeEncoder> {
        let tree = self.tree;
        let count = shape.children.len();
        let mut places = Vec::new();
        let (mut root_ranks, mut ranks) = (Vec::new(), Vec::new());
        if tree.order.is_some() {
            places.resize(count, 0);
            let families = shape.children.iter().chain([&shape.roots]);
            for (place, position) in families.flat_map(|family| family.iter().enumerate()) {
                if let Some(slot) = places.get_mut(*position) {
                    *slot = place;
                }
            }
            let largest = shape.children.iter().map(Vec::len).max();
            root_ranks = self.ranks(&placement.ranks, shape.roots.len())?;
            ranks = self.ranks(
                &crate::tree::places::RankGap::default(),
                largest.unwrap_or_default(),
            )?;
        }
        let mut descendants = Vec::new();
        if tree.bounds.is_some() || tree.descendant_count.is_some() {
            descendants.resize(count, 0_i64);
            for visit in visits.iter().rev() {
                let below = descendants.get(visit.position).copied().unwrap_or_default() + 1;
                let parent = visit.parent.and_then(|parent| descendants.get_mut(parent));
                if let Some(descendants) = parent {
                    *descendants += below;
                }
            }
        }
        let raw = |id: &Bson| RawBson::try_from(id.clone()).map_err(Error::encode);
        let mut ancestors = RawArrayBuf::new();
        for id in &placement.lineage {
            ancestors.push(raw(id)?);
        }
        let roots = Level {
            ancestors,
            path: self.path_of(&placement.lineage)?,
        };
        Ok(NodeEncoder {
            fields: self.encoded_fields()?,
            shape,
            above: placement.lineage.last().map(raw).transpose()?,
            depth: placement.lineage.len(),
            bound: placement.left,
            places,
            root_ranks,
            ranks,
            descendants,
            levels: vec![roots],
        })
    }

    /// The kept fields, in the order in which a document that lacks them gets them.
    fn encoded_fields(&self) -> Result<Vec<(CString, Field)>> {
        let tree = self.tree;
        let (left, right) = tree.bounds.unzip();
        let fields = [
            tree.parent.map(|(name, root)| (name, Field::Parent(root))),
            tree.ancestors.map(|name| (name, Field::Ancestors)),
            tree.path.map(|(name, _)| (name, Field::Path)),
            tree.depth.map(|name| (name, Field::Depth)),
            tree.children.map(|name| (name, Field::Children)),
            tree.order.map(|name| (name, Field::Rank)),
            tree.child_count.map(|name| (name, Field::ChildCount)),
            tree.descendant_count
                .map(|name| (name, Field::DescendantCount)),
            left.map(|name| (name, Field::Left)),
            right.map(|name| (name, Field::Right)),
        ];
        let fields = fields.into_iter().flatten();
        fields
            .map(|(name, field)| {
                let name = CString::try_from(name).map_err(Error::encode)?;
                Ok((name, field))
            })
            .collect()
    }
}

impl NodeEncoder {
    /// Enters the family of a node, in pre-order.
    fn enter(&mut self, documents: &impl NewDocuments, visit: &Visit) -> Result<()> {
        self.levels.truncate(visit.level + 1);
        if self.levels.len() > visit.level {
            return Ok(());
        }
        let (Some(above), Some(parent)) = (self.levels.last(), visit.parent) else {
            return Ok(());
        };
        let id = documents.id(parent);
        let keeps = |field: fn(&Field) -> bool| self.fields.iter().any(|(_, own)| field(own));
        let mut level = Level {
            ancestors: RawArrayBuf::new(),
            path: None,
        };
        if keeps(|field| matches!(field, Field::Ancestors)) {
            level.ancestors = above.ancestors.clone();
            level.ancestors.push(id);
        }
        if keeps(|field| matches!(field, Field::Path)) {
            let id = Bson::try_from(id).map_err(Error::encode)?;
            level.path = Some(child_path(above.path.as_deref(), &id)?);
        }
        self.levels.push(level);
        Ok(())
    }

    /// Appends a field of a node that is the one with this number in pre-order.
    fn append(
        &self,
        document: &mut RawDocumentBuf,
        (name, field): &(CString, Field),
        documents: &impl NewDocuments,
        (visit, number): (&Visit, usize),
    ) {
        let children = self.shape.children.get(visit.position);
        let children = children.map_or(&[][..], Vec::as_slice);
        let below = self.descendants.get(visit.position).copied();
        let below = below.unwrap_or_default();
        let left = || self.bound + 2 * long(number) - long(visit.level);
        match field {
            Field::Parent(root) => match (visit.parent, &self.above) {
                (Some(parent), _) => document.append(name, documents.id(parent)),
                (None, Some(above)) => document.append(name, above),
                (None, None) => match root {
                    RootParent::Null => document.append(name, RawBsonRef::Null),
                    RootParent::Zero => document.append(name, 0_i32),
                },
            },
            Field::Ancestors => {
                if let Some(level) = self.levels.last() {
                    document.append(name, RawBsonRef::Array(&level.ancestors));
                }
            }
            Field::Path => match self.levels.last().and_then(|level| level.path.as_deref()) {
                Some(path) => document.append(name, path),
                None => document.append(name, RawBsonRef::Null),
            },
            Field::Depth => number_field(document, name, long(self.depth + visit.level)),
            Field::Children => {
                let mut ids = RawArrayBuf::new();
                for child in children {
                    ids.push(documents.id(*child));
                }
                document.append(name, RawBsonRef::Array(&ids));
            }
            Field::Rank => {
                let ranks = match visit.parent {
                    Some(_) => &self.ranks,
                    None => &self.root_ranks,
                };
                let place = self.places.get(visit.position);
                if let Some(rank) = place.and_then(|place| ranks.get(*place)) {
                    document.append(name, rank.as_str());
                }
            }
            Field::ChildCount => number_field(document, name, long(children.len())),
            Field::DescendantCount => number_field(document, name, below),
            Field::Left => number_field(document, name, left()),
            Field::Right => number_field(document, name, left() + 2 * below + 1),
        }
    }
}

/// The document of a node with the kept fields of all its trees: each in the place of its own, or else at the end. In the
/// trees but the first, the node is a root.
pub(super) fn encode_node(
    encoders: &mut [NodeEncoder],
    documents: &impl NewDocuments,
    (visit, number): (&Visit, usize),
) -> Result<Option<RawDocumentBuf>> {
    let Some(document) = documents.document(visit.position) else {
        return Ok(None);
    };
    if let Some(first) = encoders.first_mut() {
        first.enter(documents, visit)?;
    }
    let root = Visit {
        position: visit.position,
        level: 0,
        parent: None,
    };
    let fields = || {
        let all = encoders.iter().enumerate();
        all.flat_map(|(tree, encoder)| {
            let at = if tree == 0 {
                (visit, number)
            } else {
                (&root, visit.position)
            };
            encoder.fields.iter().map(move |field| (encoder, field, at))
        })
    };
    // A document with a few more fields than it has seldom needs more room.
    let mut bytes = Vec::with_capacity(document.as_bytes().len() + 64);
    bytes.extend([5, 0, 0, 0, 0]);
    let mut changed = RawDocumentBuf::from_bytes(bytes).map_err(Error::encode)?;
    let mut written = 0_u64;
    for element in &**document {
        let (name, value) = element.map_err(Error::encode)?;
        let own = fields()
            .zip(0_u32..)
            .find(|((_, field, _), _)| *field.0 == *name);
        match own {
            Some(((encoder, field, at), bit)) => {
                encoder.append(&mut changed, field, documents, at);
                written |= 1_u64.checked_shl(bit).unwrap_or_default();
            }
            None => changed.append(name, value),
        }
    }
    for ((encoder, field, at), bit) in fields().zip(0_u32..) {
        if written & 1_u64.checked_shl(bit).unwrap_or_default() == 0 {
            encoder.append(&mut changed, field, documents, at);
        }
    }
    Ok(Some(changed))
}

fn number_field(document: &mut RawDocumentBuf, name: &CString, number: i64) {
    match i32::try_from(number) {
        Ok(number) => document.append(name, number),
        Err(_) => document.append(name, number),
    }
}

fn long(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
