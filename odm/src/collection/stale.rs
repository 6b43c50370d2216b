//! Writes that would leave derived data stale: copies of fields, references that refer back, summaries, and lists of the
//! newest.

use bson::{Bson, Document, RawDocumentBuf};

use crate::error::{Error, Result};
use crate::exec::{Keys, StoredPath};
use crate::model::copies::Copies;
use crate::model::newest::NewestList;
use crate::model::summaries::Summaries;
use crate::model::two_way::TwoWay;
use crate::model::{ModelMeta, name};
use crate::store::{Modification, Operation};

/// What a write makes stale.
#[derive(Debug, Default, Clone)]
pub(crate) struct Stale {
    /// Copies in other documents, of fields that the update may change.
    pub(crate) made: Vec<&'static Copies>,
    /// Copies in the updated documents, where the update may change the copy or the reference.
    pub(crate) held: Vec<&'static Copies>,
    /// References that the write may change, and to which others refer back.
    pub(crate) two_way: Vec<&'static TwoWay>,
    /// Summaries in other documents, to which the written documents count.
    pub(crate) counted: Vec<&'static Summaries>,
    /// Summaries in the written documents that the write itself changes.
    pub(crate) summaries: Vec<&'static Summaries>,
    /// Lists in other documents that the written documents are in, or may get into.
    pub(crate) listed: Vec<&'static NewestList>,
    /// Lists in the written documents that the write itself changes.
    pub(crate) lists: Vec<&'static NewestList>,
}

/// The fields that an update may change.
enum Changed {
    All,
    /// Their paths, and those that only an upsert sets in a document that it inserts.
    Some(Vec<String>, Vec<String>),
}

impl Stale {
    /// Whether the write makes nothing stale.
    pub(crate) fn is_empty(&self) -> bool {
        let Self {
            made,
            held,
            two_way,
            counted,
            summaries,
            listed,
            lists,
        } = self;
        made.is_empty()
            && held.is_empty()
            && two_way.is_empty()
            && counted.is_empty()
            && summaries.is_empty()
            && listed.is_empty()
            && lists.is_empty()
    }

    /// Adds what another write makes stale.
    pub(crate) fn add(&mut self, other: Self) {
        fn add<T>(all: &mut Vec<&'static T>, others: Vec<&'static T>) {
            for one in others {
                if !all.iter().any(|known| std::ptr::eq(*known, one)) {
                    all.push(one);
                }
            }
        }
        add(&mut self.made, other.made);
        add(&mut self.held, other.held);
        add(&mut self.two_way, other.two_way);
        add(&mut self.counted, other.counted);
        add(&mut self.summaries, other.summaries);
        add(&mut self.listed, other.listed);
        add(&mut self.lists, other.lists);
    }

    /// What the operation makes stale.
    pub(crate) fn of(model: &'static ModelMeta, operation: &Operation) -> Result<Self> {
        if !model.derives()? {
            return Ok(Self::default());
        }
        let modification = match operation {
            Operation::Update(update) | Operation::FindAndUpdate(update) => {
                Some(&update.modification)
            }
            Operation::Replace { .. } | Operation::FindAndReplace { .. } => None,
            Operation::InsertOne { document } => {
                return Self::of_inserts(model, std::slice::from_ref(document));
            }
            Operation::InsertMany { documents } => return Self::of_inserts(model, documents),
            _ => return Ok(Self::default()),
        };
        Self::of_changed(model, &modification.map_or(Changed::All, Changed::by))
    }

    /// What a change of any field may make stale.
    pub(crate) fn of_any_change(model: &'static ModelMeta) -> Result<Self> {
        Self::of_changed(model, &Changed::All)
    }

    /// The derived data that a change of the field at this stored path may make stale.
    pub(crate) fn of_change(model: &'static ModelMeta, path: &str) -> Result<Self> {
        Self::of_changed(model, &Changed::Some(vec![path.to_owned()], Vec::new()))
    }

    /// What may have to be written because of, and in, a document that an upsert inserts.
    pub(crate) fn of_new(model: &'static ModelMeta) -> Result<Self> {
        Ok(Self {
            made: Vec::new(),
            ..Self::of_any_change(model)?
        })
    }

    fn of_changed(model: &'static ModelMeta, changed: &Changed) -> Result<Self> {
        let (made, held, two_way) = (model.copied()?, model.copies()?, model.two_way()?);
        let (counted, summaries) = (model.summarized()?, model.summaries()?);
        let (listed, lists) = (model.listed()?, model.newest_lists()?);
        let copies_a_change = |copies: &&&'static Copies| {
            let mut fields = copies.following();
            fields.any(|field| field.sources.iter().any(|path| changed.touches(path)))
        };
        let made = made.iter().filter(copies_a_change).copied().collect();
        let mut stale = Vec::new();
        for copies in held.iter().filter(|it| it.follows_reference()) {
            let by: Vec<&str> = copies.by.iter().map(String::as_str).collect();
            let reference = reference(model, &by)?;
            let parent = reference.rsplit_once('.').map(|(parent, _)| parent);
            let beside = |name: &str| match parent {
                Some(parent) => format!("{parent}.{name}"),
                None => name.to_owned(),
            };
            let mut fields = copies.following();
            if changed.touches(&reference)
                || fields.any(|field| changed.touches(&beside(field.name)))
            {
                stale.push(copies);
            }
        }
        let two_way = two_way
            .iter()
            .filter(|one| changed.inserts_or_touches(&one.own.path));
        let mut counts = Vec::new();
        for summaries in counted {
            let reference = reference(model, summaries.relation.by)?;
            let mut sources = summaries.fields.iter().filter_map(|it| it.source.as_ref());
            if changed.inserts_or_touches(&reference) || sources.any(|it| changed.touches(&it.path))
            {
                counts.push(*summaries);
            }
        }
        let summaries = summaries.iter().filter(|summaries| {
            let mut fields = summaries.fields.iter();
            fields.any(|field| changed.touches(field.name))
        });
        let changes_list = |list: &&'static NewestList| {
            let mut copied = list.copied.iter();
            changed.inserts_or_touches(&list.reference.path.to_string())
                || changed.touches(list.sort)
                || copied.any(|path| changed.touches(path))
        };
        Ok(Self {
            made,
            held: stale,
            two_way: two_way.collect(),
            counted: counts,
            summaries: summaries.collect(),
            listed: listed.iter().copied().filter(changes_list).collect(),
            lists: lists
                .iter()
                .filter(|list| changed.touches(list.name))
                .collect(),
        })
    }

    /// The references of new documents to which others do not refer back yet, and the summaries and lists in which
    /// they count.
    pub(crate) fn of_inserts(
        model: &'static ModelMeta,
        documents: &[RawDocumentBuf],
    ) -> Result<Self> {
        let mut stale = Self::default();
        for one in model.two_way()? {
            if Keys::at(&StoredPath::at(&one.own.path), documents)?.len() > 0 {
                stale.two_way.push(one);
            }
        }
        for summaries in model.summarized()? {
            let reference = StoredPath::at(&reference(model, summaries.relation.by)?);
            if Keys::at(&reference, documents)?.len() > 0 {
                stale.counted.push(summaries);
            }
        }
        for list in model.listed()? {
            let reference = StoredPath::through_arrays(&list.reference.path);
            if Keys::at(&reference, documents)?.len() > 0 {
                stale.listed.push(list);
            }
        }
        Ok(stale)
    }

    /// Refuses an operation that has to say what becomes of the copies, and does not.
    pub(crate) fn refuse(model: &'static ModelMeta, operation: &Operation) -> Result<()> {
        Self::of(model, operation)?.expect_empty()
    }

    /// Refuses a write that makes something stale, and does not say what becomes of it.
    pub(crate) fn expect_empty(&self) -> Result<()> {
        let how =
            "write `.propagate()` on an update, which writes the copies too, or `.leave_stale()`";
        if let Some(one) = self.two_way.first() {
            let (own, other) = (&one.own, &one.other);
            return Err(Error::usage(format!(
                "`{}` of `{}` refers back to `{}`, which the write changes: write `.propagate()` on an insert or an update, which \
                 writes both, or `.leave_stale()`",
                other.field, other.model.name, own.field
            )));
        }
        if let Some(summaries) = self.counted.first() {
            return Err(Error::usage(format!(
                "`{}` has summaries of its `{}`, and the write changes them: write `.propagate()` on an insert or an update, \
                 which writes the summaries too, or `.leave_stale()`",
                summaries.model.name, summaries.relation.name,
            )));
        }
        if let Some(summaries) = self.summaries.first() {
            let fields: Vec<_> = summaries.fields.iter().map(|field| field.rust).collect();
            return Err(Error::usage(format!(
                "`{}` is computed from the documents of `{}`, and the write changes it: leave it out, or write `.propagate()` on \
                 an update, which computes it, or `.leave_stale()`",
                fields.join("`, `"),
                summaries.relation.name,
            )));
        }
        if let Some(list) = self.listed.first() {
            return Err(Error::usage(format!(
                "`{}` of `{}` lists the newest documents, and the write changes them: write `.propagate()` on an insert or an \
                 update, which writes the list too, or `.leave_stale()`",
                list.recent.field, list.model.name,
            )));
        }
        if let Some(list) = self.lists.first() {
            return Err(Error::usage(format!(
                "`{}` lists the newest documents of `{}`, and the write changes it: leave it out, or write `.propagate()` on an \
                 update, which reads them, or `.leave_stale()`",
                list.recent.field, list.source.name,
            )));
        }
        if let Some(copies) = self.made.first() {
            let fields = copies.following().next();
            let field = fields.map_or("", |field| field.rust);
            let (holder, by) = (copies.model.name, copies.by.join("."));
            return Err(Error::usage(format!(
                "`{holder}` copies a changed field into `{field}`, by its reference `{by}`: {how}"
            )));
        }
        if let Some(copies) = self.held.first() {
            let names: Vec<_> = copies.following().map(|field| field.rust).collect();
            return Err(Error::usage(format!(
                "`{}` is a copy of what `{}` leads to, and one of the two changes: {how}",
                names.join("`, `"),
                copies.by.join("."),
            )));
        }
        Ok(())
    }
}

/// The stored path of a reference.
fn reference(model: &'static ModelMeta, by: &[&str]) -> Result<String> {
    let found = name::resolve((model.embedded)(), by)?;
    Ok(found.path.to_string())
}

impl Changed {
    fn by(modification: &Modification) -> Self {
        let (mut paths, mut inserted) = (Vec::new(), Vec::new());
        let mut add = |operator: &str, path: &str, value: &Bson| {
            if operator == "$setOnInsert" {
                inserted.push(path.to_owned());
                return;
            }
            paths.push(path.to_owned());
            if operator == "$rename"
                && let Some(to) = value.as_str()
            {
                paths.push(to.to_owned());
            }
        };
        match modification {
            Modification::One {
                operator,
                path,
                value,
            } => add(operator, path, value),
            Modification::Operators(operators) => {
                for (operator, operands) in operators {
                    let Bson::Document(operands) = operands else {
                        return Self::All;
                    };
                    for (path, value) in operands {
                        add(operator, path, value);
                    }
                }
            }
            Modification::Pipeline(stages) => {
                for stage in stages {
                    if !add_stage(&mut paths, stage) {
                        return Self::All;
                    }
                }
            }
        }
        Self::Some(paths, inserted)
    }

    /// Whether the field, one of its parents or a part of it may change.
    fn touches(&self, field: &str) -> bool {
        match self {
            Self::All => true,
            Self::Some(paths, _) => paths.iter().any(|path| overlaps(path, field)),
        }
    }

    /// Whether the field may change, or be set in a document that an upsert inserts.
    fn inserts_or_touches(&self, field: &str) -> bool {
        match self {
            Self::All => true,
            Self::Some(paths, inserted) => {
                let mut all = paths.iter().chain(inserted);
                all.any(|path| overlaps(path, field))
            }
        }
    }
}

/// Adds what a stage of an update changes; returns `false` if that is not known.
fn add_stage(paths: &mut Vec<String>, stage: &Document) -> bool {
    stage
        .iter()
        .all(|(name, operand)| match (name.as_str(), operand) {
            ("$set" | "$addFields", Bson::Document(fields)) => {
                paths.extend(fields.keys().cloned());
                true
            }
            ("$unset", Bson::String(path)) => {
                paths.push(path.clone());
                true
            }
            ("$unset", Bson::Array(all)) => {
                let all = all.iter().filter_map(|path| path.as_str());
                paths.extend(all.map(str::to_owned));
                true
            }
            _ => false,
        })
}

/// Whether a path of an update leads to the field, to one of its parents, or inside of it. The path may select elements of
/// lists, as `lines.0.name` and `lines.$[line].name` do.
pub(crate) fn overlaps(path: &str, field: &str) -> bool {
    let mut names = field.split('.').peekable();
    for segment in path.split('.') {
        match names.peek() {
            None => return true,
            Some(name) if *name == segment => {
                names.next();
            }
            Some(_) if segment.starts_with('$') || segment.parse::<usize>().is_ok() => {}
            Some(_) => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::doc;

    #[test]
    fn paths_select_elements() {
        for path in ["a", "a.b", "a.0.b", "a.$[e].b", "a.$.b.c", "a.$[].b", "a.3"] {
            assert!(overlaps(path, "a.b"), "{path}");
        }
        for path in ["ab", "a.c", "b", "a.0.c"] {
            assert!(!overlaps(path, "a.b"), "{path}");
        }
        assert!(overlaps("0", "0"));
    }

    #[test]
    fn every_form_of_an_update_is_read() {
        let changes = |modification: Modification, field| Changed::by(&modification).touches(field);
        let operators = |document| Modification::Operators(document);
        assert!(changes(operators(doc! {"$set": {"a": 1}}), "a"));
        assert!(changes(operators(doc! {"$rename": {"b": "a"}}), "a"));
        assert!(!changes(operators(doc! {"$setOnInsert": {"a": 1}}), "a"));
        assert!(changes(operators(doc! {"$odd": 1}), "a"));
        let stages = |stage| Modification::Pipeline(vec![stage]);
        assert!(changes(stages(doc! {"$set": {"a": "$b"}}), "a"));
        assert!(!changes(stages(doc! {"$addFields": {"b": "$a"}}), "a"));
        assert!(changes(stages(doc! {"$unset": ["b", "a.c"]}), "a"));
        assert!(changes(stages(doc! {"$unset": "a"}), "a"));
        assert!(changes(stages(doc! {"$replaceWith": {}}), "a"));
    }
}
