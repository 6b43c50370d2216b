//! The declared shape of a model's documents, compiled to walk through stored ones.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Document, doc};
use foldhash::fast::RandomState;
use smallvec::SmallVec;

use super::StoredPath;
use crate::error::{Error, Result};
use crate::model::field::VariantContent;
use crate::model::{
    EmbeddedMeta, FieldMeta, ModelMeta, Presence, Shape, Tagging, TypeMeta, VariantMeta, name,
};

/// The fields that a model declares, at any depth: in lists, maps and tuples, in the variants of enums, and in structs that
/// contain themselves.
#[derive(Debug)]
pub(crate) struct Declared {
    levels: Vec<Level>,
    targets: Vec<Target>,
    root: Inside,
}

/// What references lead to.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) model: &'static ModelMeta,
    /// The stored path of the field whose value a reference stores.
    pub(crate) key: StoredPath,
}

/// What may be stored in place of a reference.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReferenceSite {
    /// How a missing reference is stored.
    pub(crate) absent: Absent,
    /// Whether the reference, or what holds it, is an element of a list.
    pub(crate) is_in_list: bool,
}

/// How a missing value is stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Absent {
    /// There is always a value.
    #[default]
    Never,
    Null,
    /// Nothing: the field is left out.
    LeftOut,
}

impl Absent {
    fn of(ty: &TypeMeta) -> Self {
        if ty.nullable { Self::Null } else { Self::Never }
    }
}

/// The declared values of one place. A place has several where the variants of an enum share a name.
#[derive(Debug, Clone, Default)]
struct Inside {
    /// Whether anything may be stored.
    is_any: bool,
    /// How a missing value is stored.
    absent: Absent,
    /// What a value may refer to.
    targets: Vec<usize>,
    /// The fields of a document.
    levels: Vec<usize>,
    /// The values of a map.
    values: Option<Box<Self>>,
    /// The elements of a list.
    elements: Option<Box<Self>>,
    /// Whether the list has a fixed length.
    is_fixed: bool,
    /// The elements of a tuple.
    tuple: Vec<Self>,
}

/// The fields of a struct, or of all variants of an enum.
#[derive(Debug, Default)]
struct Level {
    fields: HashMap<&'static str, Inside, RandomState>,
    /// The values under other names, if those are allowed.
    others: Option<Inside>,
}

/// What a walk through a document meets.
pub(crate) trait Walk {
    /// A stored reference, and the [targets](Declared::targets) of which it may lead to one.
    fn reference(&mut self, _targets: &[usize], _path: &[&str], _value: RawBsonRef<'_>) {}

    /// A DBRef, declared or not.
    fn dbref(&mut self, _path: &[&str], _dbref: &RawDocument) {}

    /// A field that is not declared.
    fn undeclared(&mut self, _path: &[&str], _value: RawBsonRef<'_>) {}
}

/// The places of a value; most have one.
type Places<'d> = SmallVec<[&'d Inside; 2]>;

static ANYTHING: Inside = Inside {
    is_any: true,
    absent: Absent::Null,
    targets: Vec::new(),
    levels: Vec::new(),
    values: None,
    elements: None,
    is_fixed: false,
    tuple: Vec::new(),
};

impl Declared {
    pub(crate) fn of(model: &'static ModelMeta) -> Result<Self> {
        let mut compile = Compile::default();
        let mut root = compile.embedded((model.embedded)())?;
        for level in &root.levels {
            if let Some(level) = compile.levels.get_mut(*level) {
                level.fields.entry("_id").or_default();
            }
        }
        root.levels.dedup();
        Ok(Self {
            levels: compile.levels,
            targets: compile.targets,
            root,
        })
    }

    /// What references of the model lead to, by position.
    pub(crate) fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Removes the references in these fields at the top level.
    pub(crate) fn without_references_in(&mut self, names: &[&'static str]) {
        for level in &self.root.levels {
            let Some(level) = self.levels.get_mut(*level) else {
                continue;
            };
            for name in names {
                if let Some(inside) = level.fields.get_mut(name) {
                    inside.targets.clear();
                    if let Some(elements) = &mut inside.elements {
                        elements.targets.clear();
                    }
                }
            }
        }
    }

    /// What the references at a path take in place of one; positions in lists are not part of the path. `None` if no reference
    /// is declared there.
    pub(crate) fn reference_at(&self, path: &str) -> Option<ReferenceSite> {
        let mut places = vec![&self.root];
        let mut site = ReferenceSite::default();
        for name in path.split('.') {
            let mut inside = self.named(&places, name).into_vec();
            if places.iter().any(|place| place.is_any) {
                inside.push(&ANYTHING);
            }
            let mut position = 0;
            let mut lists = Vec::new();
            while let Some(&place) = inside.get(position) {
                if place.elements.is_some() || !place.tuple.is_empty() || place.is_any {
                    // An array of a fixed length can't lose an element.
                    lists.push(!place.is_fixed && place.tuple.is_empty());
                }
                inside.extend(place.elements.as_deref());
                inside.extend(&place.tuple);
                position += 1;
            }
            if !lists.is_empty() {
                site.is_in_list = lists.iter().all(|can_shrink| *can_shrink);
            }
            places = inside;
        }
        let is_dbref = |level: &usize| {
            let level = self.levels.get(*level);
            level.is_some_and(|level| level.fields.contains_key("$ref"))
        };
        places.retain(|place| place.may_refer() || place.levels.iter().any(is_dbref));
        site.absent = places
            .iter()
            .map(|place| place.absent)
            .min()
            .unwrap_or_default();
        (!places.is_empty()).then_some(site)
    }

    /// A projection of the declared fields with references, and of those that may have DBRefs; `None` if those are not declared
    /// by name.
    pub(crate) fn references(&self) -> Option<Document> {
        let mut paths = Paths {
            declared: self,
            open: Vec::new(),
            found: doc! {"_id": 1},
        };
        paths.add_levels(&self.root, "").then_some(paths.found)
    }

    /// Calls `walk` with what is in a document.
    pub(crate) fn walk(&self, document: &RawDocument, walk: &mut impl Walk) -> Result<()> {
        let mut path = Vec::new();
        self.document(&[&self.root], document, &mut path, walk)
    }

    /// The places of the value with this name in a document.
    fn named<'d>(&'d self, places: &[&'d Inside], name: &str) -> Places<'d> {
        let mut inside = Places::new();
        for place in places {
            let levels = place.levels.iter();
            for level in levels.filter_map(|level| self.levels.get(*level)) {
                inside.extend(level.fields.get(name).or(level.others.as_ref()));
            }
            inside.extend(place.values.as_deref());
        }
        inside
    }

    fn document<'a>(
        &self,
        places: &[&Inside],
        document: &'a RawDocument,
        path: &mut Vec<&'a str>,
        walk: &mut impl Walk,
    ) -> Result<()> {
        if is_dbref(document) {
            walk.dbref(path, document);
            return Ok(());
        }
        let is_declared = |place: &&Inside| !place.levels.is_empty() || place.values.is_some();
        // A value of another shape breaks the type; it is walked through for the DBRefs in it.
        let is_any = places.iter().any(|place| place.is_any) || !places.iter().any(is_declared);
        for element in document {
            let (name, value) = element.map_err(Error::encode)?;
            let name = name.as_str();
            let mut inside = self.named(places, name);
            path.push(name);
            if inside.is_empty() {
                if !is_any {
                    walk.undeclared(path, value);
                }
                inside.push(&ANYTHING);
            }
            self.value(&inside, value, path, walk)?;
            path.pop();
        }
        Ok(())
    }

    fn value<'a>(
        &self,
        places: &[&Inside],
        value: RawBsonRef<'a>,
        path: &mut Vec<&'a str>,
        walk: &mut impl Walk,
    ) -> Result<()> {
        match value {
            RawBsonRef::Document(document) => {
                let targets = targets(places);
                if !targets.is_empty() && !is_dbref(document) {
                    walk.reference(&targets, path, value);
                }
                self.document(places, document, path, walk)
            }
            RawBsonRef::Array(elements) => {
                for (position, element) in elements.into_iter().enumerate() {
                    let element = element.map_err(Error::encode)?;
                    let mut inside = Places::new();
                    for place in places {
                        inside.extend(place.elements.as_deref());
                        inside.extend(place.tuple.get(position));
                    }
                    // Where one reference is declared, another program may have stored a list.
                    if inside.is_empty() {
                        let refers = |place: &&Inside| !place.targets.is_empty();
                        inside.extend(places.iter().copied().filter(refers));
                    }
                    if inside.is_empty() {
                        inside.push(&ANYTHING);
                    }
                    self.value(&inside, element, path, walk)?;
                }
                Ok(())
            }
            RawBsonRef::Null | RawBsonRef::Undefined => Ok(()),
            value => {
                let targets = targets(places);
                if !targets.is_empty() {
                    walk.reference(&targets, path, value);
                }
                Ok(())
            }
        }
    }
}

fn targets(places: &[&Inside]) -> SmallVec<[usize; 2]> {
    places
        .iter()
        .flat_map(|place| place.targets.iter().copied())
        .collect()
}

/// Whether a document is a DBRef: `$ref` and `$id` are its first fields.
fn is_dbref(document: &RawDocument) -> bool {
    let mut elements = document.into_iter();
    let mut starts = |expected: &str| matches!(elements.next(), Some(Ok((name, _))) if name.as_str() == expected);
    starts("$ref") && starts("$id")
}

#[derive(Debug, Default)]
struct Compile {
    levels: Vec<Level>,
    targets: Vec<Target>,
    /// The structs and enums that have a level, by their address.
    known: HashMap<usize, Inside>,
    /// The structs and enums that are flattened into the current level.
    flattened: Vec<usize>,
}

impl Compile {
    fn embedded(&mut self, meta: &'static EmbeddedMeta) -> Result<Inside> {
        let address = std::ptr::from_ref(meta).addr();
        if let Some(known) = self.known.get(&address) {
            return Ok(known.clone());
        }
        let level = self.levels.len();
        self.levels.push(Level::default());
        let mut inside = Inside {
            levels: vec![level],
            ..Inside::default()
        };
        self.known.insert(address, inside.clone());
        self.fill(level, meta)?;
        let variants = meta.variants.as_ref();
        if let Some(variants) = variants.filter(|one| one.tagging == Tagging::Untagged) {
            // The documents among the variants are in the level.
            for variant in variants.variants {
                if !matches!(variant.content, VariantContent::Struct(_)) {
                    inside.add(self.content(variant)?);
                }
            }
            self.known.insert(address, inside.clone());
        }
        Ok(inside)
    }

    /// Adds the fields of a struct or an enum to a level.
    fn fill(&mut self, level: usize, meta: &'static EmbeddedMeta) -> Result<()> {
        self.fields(level, meta.fields)?;
        if meta.open {
            self.allow_others(level, ANYTHING.clone());
        }
        let Some(variants) = &meta.variants else {
            return Ok(());
        };
        for variant in variants.variants {
            match variants.tagging {
                Tagging::External => {
                    let inside = self.content(variant)?;
                    self.add(level, variant.name, inside);
                }
                Tagging::Adjacent { tag, content } => {
                    self.add(level, tag, Inside::default());
                    let inside = self.content(variant)?;
                    self.add(level, content, inside);
                }
                Tagging::Internal { .. } | Tagging::Untagged => {
                    if let Tagging::Internal { tag } = variants.tagging {
                        self.add(level, tag, Inside::default());
                    }
                    match &variant.content {
                        VariantContent::Unit | VariantContent::Tuple(_) => {}
                        VariantContent::Newtype(ty) => self.flatten(level, ty)?,
                        VariantContent::Struct(fields) => self.fields(level, fields)?,
                    }
                }
            }
        }
        Ok(())
    }

    fn fields(&mut self, level: usize, fields: &'static [FieldMeta]) -> Result<()> {
        for field in fields {
            if field.flatten {
                self.flatten(level, &field.ty)?;
            } else {
                let mut inside = self.field(field)?;
                if inside.absent == Absent::Null && field.presence == Presence::Sometimes {
                    inside.absent = Absent::LeftOut;
                }
                for alias in field.aliases {
                    self.add(level, alias, inside.clone());
                }
                self.add(level, field.name, inside);
            }
        }
        Ok(())
    }

    fn field(&mut self, field: &'static FieldMeta) -> Result<Inside> {
        let Some(reference) = &field.refers_to else {
            return self.ty(&field.ty);
        };
        let mut inside = self.target((reference.target)(), reference.by)?;
        inside.absent = Absent::of(&field.ty);
        if !reference.is_list {
            return Ok(inside);
        }
        Ok(Inside {
            elements: Some(Box::new(inside)),
            ..Inside::default()
        })
    }

    /// Adds what is stored at the same level as the fields around it.
    fn flatten(&mut self, level: usize, ty: &'static TypeMeta) -> Result<()> {
        match ty.shape {
            Shape::Embedded(meta) => {
                let meta = meta();
                let address = std::ptr::from_ref(meta).addr();
                if !self.flattened.contains(&address) {
                    self.flattened.push(address);
                    self.fill(level, meta)?;
                    self.flattened.pop();
                }
            }
            Shape::Map(values) => {
                let values = self.ty(values)?;
                self.allow_others(level, values);
            }
            Shape::Any => self.allow_others(level, ANYTHING.clone()),
            Shape::Reference { id, .. } => self.flatten(level, id)?,
            Shape::Scalar(_) | Shape::OneOf(_) | Shape::Array { .. } | Shape::Tuple(_) => {}
        }
        Ok(())
    }

    fn content(&mut self, variant: &'static VariantMeta) -> Result<Inside> {
        match &variant.content {
            VariantContent::Unit => Ok(Inside::default()),
            VariantContent::Newtype(ty) => self.ty(ty),
            VariantContent::Tuple(types) => self.tuple(types),
            VariantContent::Struct(fields) => {
                let level = self.levels.len();
                self.levels.push(Level::default());
                self.fields(level, fields)?;
                Ok(Inside {
                    levels: vec![level],
                    ..Inside::default()
                })
            }
        }
    }

    fn ty(&mut self, ty: &'static TypeMeta) -> Result<Inside> {
        let mut inside = self.shape(&ty.shape)?;
        inside.absent = inside.absent.max(Absent::of(ty));
        Ok(inside)
    }

    fn shape(&mut self, shape: &'static Shape) -> Result<Inside> {
        match *shape {
            Shape::Any => Ok(ANYTHING.clone()),
            Shape::Scalar(_) | Shape::OneOf(_) => Ok(Inside::default()),
            Shape::Array { element, len, .. } => Ok(Inside {
                elements: Some(Box::new(self.ty(element)?)),
                is_fixed: len.is_some(),
                ..Inside::default()
            }),
            Shape::Tuple(types) => self.tuple(types),
            Shape::Map(values) => Ok(Inside {
                values: Some(Box::new(self.ty(values)?)),
                ..Inside::default()
            }),
            Shape::Embedded(meta) => self.embedded(meta()),
            Shape::Reference { to, id } => {
                let target = to();
                let mut inside = self.ty(id)?;
                inside.add(self.target(target, target.id())?);
                Ok(inside)
            }
        }
    }

    fn tuple(&mut self, types: &'static [TypeMeta]) -> Result<Inside> {
        let types = types.iter().map(|ty| self.ty(ty));
        Ok(Inside {
            tuple: types.collect::<Result<_>>()?,
            ..Inside::default()
        })
    }

    /// A reference to the documents of a model, by the field with this Rust name.
    fn target(&mut self, model: &'static ModelMeta, by: &'static str) -> Result<Inside> {
        let key = name::resolve((model.embedded)(), &[by])?;
        let key = StoredPath::through_arrays(&key.path);
        let is_same = |one: &Target| {
            one.model.collection == model.collection && one.key.as_str() == key.as_str()
        };
        let position = self.targets.iter().position(is_same).unwrap_or_else(|| {
            self.targets.push(Target { model, key });
            self.targets.len() - 1
        });
        Ok(Inside {
            targets: vec![position],
            ..Inside::default()
        })
    }

    fn add(&mut self, level: usize, name: &'static str, inside: Inside) {
        if let Some(level) = self.levels.get_mut(level) {
            match level.fields.entry(name) {
                Entry::Occupied(mut known) => known.get_mut().add(inside),
                Entry::Vacant(new) => drop(new.insert(inside)),
            }
        }
    }

    fn allow_others(&mut self, level: usize, inside: Inside) {
        if let Some(level) = self.levels.get_mut(level) {
            match &mut level.others {
                Some(known) => known.add(inside),
                new => *new = Some(inside),
            }
        }
    }
}

impl Inside {
    /// Adds the values of another variant.
    fn add(&mut self, other: Self) {
        self.is_any |= other.is_any;
        self.absent = self.absent.min(other.absent);
        self.is_fixed |= other.is_fixed;
        self.targets.extend(other.targets);
        self.levels.extend(other.levels);
        for (own, other) in [
            (&mut self.values, other.values),
            (&mut self.elements, other.elements),
        ] {
            match (own, other) {
                (Some(own), Some(other)) => own.add(*other),
                (own, other) => *own = own.take().or(other),
            }
        }
        let mut others = other.tuple.into_iter();
        for own in &mut self.tuple {
            own.add(others.next().unwrap_or_default());
        }
        self.tuple.extend(others);
    }

    /// Whether references or DBRefs may be here, and not further inside.
    fn may_refer(&self) -> bool {
        self.is_any || !self.targets.is_empty()
    }
}

/// Collects the paths of fields with references.
struct Paths<'d> {
    declared: &'d Declared,
    /// The levels around the current one.
    open: Vec<usize>,
    found: Document,
}

impl Paths<'_> {
    /// Adds the paths below a place; returns `false` if they have no names.
    fn add_levels(&mut self, place: &Inside, above: &str) -> bool {
        let declared = self.declared;
        for position in &place.levels {
            let Some(level) = declared.levels.get(*position) else {
                continue;
            };
            if level
                .others
                .as_ref()
                .is_some_and(|others| self.holds(others))
            {
                return false;
            }
            if self.open.contains(position) {
                return false;
            }
            self.open.push(*position);
            for (name, inside) in &level.fields {
                let path = match above {
                    "" => (*name).to_owned(),
                    above => format!("{above}.{name}"),
                };
                if self.holds(inside) && !self.add(inside, &path) {
                    self.add_path(path);
                }
            }
            self.open.pop();
        }
        true
    }

    /// Adds the paths at a place and below; returns `false` if the place has to be read as a whole.
    fn add(&mut self, place: &Inside, path: &str) -> bool {
        let (found, open) = (self.found.clone(), self.open.len());
        let is_dbref = |level: &usize| {
            let level = self.declared.levels.get(*level);
            level.is_some_and(|level| level.fields.contains_key("$ref"))
        };
        let elements = place.elements.as_deref();
        let is_whole = place.may_refer()
            || place.levels.iter().any(is_dbref)
            || place
                .values
                .as_deref()
                .is_some_and(|values| self.holds(values))
            || place.tuple.iter().any(|one| self.holds(one))
            || elements.is_some_and(|elements| !self.add(elements, path))
            || !self.add_levels(place, path);
        if is_whole {
            self.found = found;
            self.open.truncate(open);
        }
        !is_whole
    }

    fn add_path(&mut self, path: String) {
        self.found.insert(path, 1);
    }

    /// Whether references or DBRefs may be at the place or below.
    fn holds(&self, place: &Inside) -> bool {
        let mut seen = Vec::new();
        self.holds_unseen(place, &mut seen)
    }

    fn holds_unseen(&self, place: &Inside, seen: &mut Vec<usize>) -> bool {
        if place.may_refer() {
            return true;
        }
        let inside = place.values.as_deref().into_iter();
        let mut inside = inside.chain(place.elements.as_deref()).chain(&place.tuple);
        if inside.any(|one| self.holds_unseen(one, seen)) {
            return true;
        }
        for position in &place.levels {
            if seen.contains(position) {
                continue;
            }
            seen.push(*position);
            if let Some(level) = self.declared.levels.get(*position) {
                let mut inside = level.fields.values().chain(&level.others);
                if inside.any(|one| self.holds_unseen(one, seen)) {
                    return true;
                }
            }
        }
        false
    }
}
