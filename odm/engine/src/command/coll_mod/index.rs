//! The changes that `collMod` makes to an index.

use std::collections::BTreeMap;

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::catalog::collection::{Collection, document};
use crate::command::args::{Args, Field, Kind, field, truthy};
use crate::command::coll_mod::invalid;
use crate::command::create::to_document;
use crate::command::create_indexes::check_hides;
use crate::index::Index;
use crate::index::spec::{Kind as IndexKind, Spec, same_key, show};

pub(crate) const FIELDS: &[Field] = &[
    field("name", Kind::Str),
    field("keyPattern", Kind::Object),
    field("expireAfterSeconds", Kind::SafeInt),
    field("hidden", Kind::SafeBool),
    field("unique", Kind::SafeBool),
    field("prepareUnique", Kind::SafeBool),
];

/// Checks the form of the `index` option: each field by itself.
pub(super) fn is_change(name: &str, value: RawBsonRef<'_>) -> Result<(), ServerError> {
    match value {
        RawBsonRef::Document(index) => Args::of_statement(index, name, FIELDS).map(drop),
        _ => Ok(()),
    }
}

/// Refuses a `dryRun` of anything but `unique: true`.
pub(super) fn check_dry(index: Option<&RawDocument>) -> Result<(), ServerError> {
    let Some(index) = index else {
        return Err(invalid(
            "dry run mode requires an valid index modification.",
        ));
    };
    if makes_unique(index) {
        return Ok(());
    }
    Err(invalid(
        "dry run mode requires an index modification with unique: true.",
    ))
}

pub(super) fn makes_unique(index: &RawDocument) -> bool {
    raw::get(index, "unique").is_some_and(truthy)
}

/// The requested changes.
#[derive(Debug)]
pub(super) struct IndexRequest {
    name: String,
    key: Option<Document>,
    seconds: Option<i64>,
    hidden: Option<bool>,
    unique: Option<bool>,
    prepare_unique: Option<bool>,
}

/// The changes to make to an index, and the position of the index in the collection.
#[derive(Debug)]
pub(super) struct IndexModification {
    at: usize,
    seconds: Option<i32>,
    hidden: Option<bool>,
    unique: bool,
    prepare_unique: Option<bool>,
}

impl IndexRequest {
    pub(super) fn parse(index: &RawDocument) -> Result<Self, ServerError> {
        let args = Args::of_statement(index, "collMod.index", FIELDS)?;
        let (name, key) = (args.str("name"), args.document("keyPattern"));
        match (name, key) {
            (None, None) => {
                return Err(invalid("Must specify either index name or key pattern."));
            }
            (Some(_), Some(_)) => {
                return Err(invalid("Cannot specify both key pattern and name."));
            }
            _ => {}
        }
        let wanted = Self {
            name: name.unwrap_or_default().to_owned(),
            key: key.map(to_document).transpose()?,
            seconds: args.int("expireAfterSeconds"),
            hidden: args.bool("hidden"),
            unique: args.bool("unique"),
            prepare_unique: args.bool("prepareUnique"),
        };
        let others = wanted.seconds.is_some() || wanted.hidden.is_some();
        if !others && wanted.unique.is_none() && wanted.prepare_unique.is_none() {
            return Err(invalid(
                "no expireAfterSeconds, hidden, unique, or prepareUnique field",
            ));
        }
        Ok(wanted)
    }

    /// Refuses `expireAfterSeconds` on capped collections, and negative values.
    fn check_seconds(&self, collection: &Collection) -> Result<(), ServerError> {
        if self.seconds.is_some() && collection.options.capped.is_some() {
            return Err(invalid(
                "TTL indexes are not supported for capped collections.",
            ));
        }
        if self.seconds.is_some_and(|seconds| seconds < 0) {
            return Err(invalid(
                "TTL index 'expireAfterSeconds' option cannot be less than 0",
            ));
        }
        Ok(())
    }

    /// Finds the index and keeps only the changes that differ from its current options.
    pub(super) fn found_in(
        &self,
        collection: &Collection,
    ) -> Result<IndexModification, ServerError> {
        self.check_seconds(collection)?;
        let (at, index) = self.find(collection)?;
        let spec = &index.spec;
        let seconds = self.seconds.map(|seconds| seconds_of(spec, seconds));
        let seconds = seconds.transpose()?;
        if self.unique == Some(false) {
            return Err(ServerError::new(
                Code::BAD_VALUE,
                "Cannot make index non-unique",
            ));
        }
        let is_unique = spec.unique || spec.is_id();
        let unique = self.unique.is_some() && !is_unique;
        if unique && !spec.prepare_unique {
            return Err(invalid(
                "Cannot make index unique with 'prepareUnique=false'. Run collMod to set it first.",
            ));
        }
        if self.hidden.is_some() {
            check_hides(&collection.namespace)?;
        }
        if self.hidden.is_some() && spec.is_id() {
            return Err(ServerError::new(Code::BAD_VALUE, "can't hide _id index"));
        }
        Ok(IndexModification {
            at,
            seconds,
            hidden: self.hidden,
            unique,
            prepare_unique: self
                .prepare_unique
                .filter(|wanted| !is_unique && *wanted != spec.prepare_unique),
        })
    }

    /// The index with the given name or key.
    fn find<'c>(&self, collection: &'c Collection) -> Result<(usize, &'c Index), ServerError> {
        let is_meant = |index: &Index| match &self.key {
            Some(key) => same_key(&index.spec.key, key),
            None => index.spec.name == self.name,
        };
        let indexes = collection.indexes.iter().enumerate();
        let found: Vec<_> = indexes.filter(|(_, index)| is_meant(index)).collect();
        let shown = match &self.key {
            Some(key) => show(key),
            None if self.name.is_empty() => "{}".to_owned(),
            None => self.name.clone(),
        };
        match found.as_slice() {
            [] => Err(ServerError::new(
                Code::INDEX_NOT_FOUND,
                format!("cannot find index {shown} for ns {}", collection.namespace),
            )),
            [found] => Ok(*found),
            [(_, one), (_, other), ..] => Err(ServerError::new(
                Code::AMBIGUOUS_INDEX_KEY_PATTERN,
                format!(
                    "index keyPattern {shown} matches {} indexes, must use index name. Conflicting indexes:{}, {}",
                    found.len(),
                    one.spec.printed(),
                    other.spec.printed()
                ),
            )),
        }
    }
}

impl IndexModification {
    /// Applies the changes; `alone` means that the command changes nothing else. With `dry_run`, only checks that the
    /// index could be made unique. Adds the changed options to `reply`.
    pub(super) fn make(
        &self,
        collection: &mut Collection,
        dry_run: bool,
        alone: bool,
        reply: &mut Document,
    ) -> Result<(), ServerError> {
        let others = self.seconds.is_some() || self.hidden.is_some() || self.unique;
        if self.prepare_unique.is_some() && (!alone || others) {
            return Err(invalid(
                "prepareUnique cannot be combined with any other modification.",
            ));
        }
        let Some(index) = collection.indexes.get(self.at) else {
            return Ok(());
        };
        let mut spec = None;
        if self.unique {
            let violations = violations(collection, self.at);
            if !violations.is_empty() {
                return Err(ServerError::new(
                    Code::CANNOT_CONVERT_INDEX_TO_UNIQUE,
                    "Cannot convert the index to unique. Please resolve conflicting documents before running collMod \
                     again.",
                )
                .with_details(doc! { "violations": violations }));
            }
            if dry_run {
                return Ok(());
            }
            if index.spec.kind == IndexKind::Hashed {
                return Err(ServerError::new(
                    Code::location(16764),
                    "Currently hashed indexes cannot guarantee uniqueness. Use a regular index.",
                ));
            }
            reply.insert("unique_new", true);
            let prepared = index
                .spec
                .with_option("prepareUnique", Bson::Boolean(false))?;
            spec = Some(prepared.with_option("unique", Bson::Boolean(true))?);
        }
        let last = |spec: &Option<Spec>, option: &str, value: Bson| match spec {
            Some(spec) => spec.with_option(option, value),
            None => index.spec.with_option(option, value),
        };
        if let Some(prepare) = self.prepare_unique {
            reply.insert("prepareUnique_old", index.spec.prepare_unique);
            reply.insert("prepareUnique_new", prepare);
            spec = Some(last(&spec, "prepareUnique", Bson::Boolean(prepare))?);
        }
        if let Some(seconds) = self.seconds {
            if let Some(before) = index.spec.ttl {
                reply.insert("expireAfterSeconds_old", before);
            }
            reply.insert("expireAfterSeconds_new", i64::from(seconds));
            spec = Some(last(&spec, "expireAfterSeconds", Bson::Int32(seconds))?);
        }
        if let Some(hidden) = self.hidden
            && hidden != index.spec.hidden
        {
            reply.insert("hidden_old", index.spec.hidden);
            reply.insert("hidden_new", hidden);
            spec = Some(last(&spec, "hidden", Bson::Boolean(hidden))?);
        }
        if let Some(spec) = spec
            && let Some(index) = collection.indexes.get_mut(self.at)
        {
            *index = index.with_spec(spec);
        }
        Ok(())
    }

    /// The new values of the changed index options, as in the reply, and the old ones.
    pub(super) fn changed(
        &self,
        was: &Collection,
        reply: &Document,
    ) -> Option<(Document, Document)> {
        let name = &was.indexes.get(self.at)?.spec.name;
        let (mut now, mut before) = (doc! { "name": name }, Document::new());
        for option in ["expireAfterSeconds", "hidden", "unique", "prepareUnique"] {
            if let Some(value) = reply.get(format!("{option}_new")) {
                now.insert(option, value);
            }
            if let Some(value) = reply.get(format!("{option}_old")) {
                before.insert(option, value);
            }
        }
        (now.len() > 1).then_some((now, before))
    }
}

/// The seconds of a TTL index, capped at the largest value that fits.
fn seconds_of(spec: &Spec, seconds: i64) -> Result<i32, ServerError> {
    if spec.is_id() {
        return Err(invalid("the _id field does not support TTL indexes"));
    }
    if spec.ttl.is_none() && spec.key.len() != 1 {
        return Err(invalid(
            "TTL indexes are single-field indexes, compound indexes do not support TTL",
        ));
    }
    Ok(i32::try_from(seconds).unwrap_or(i32::MAX))
}

/// The ids of the documents that share a key of the index, as `{ids: […]}`.
fn violations(collection: &Collection, at: usize) -> Vec<Bson> {
    let Some(index) = collection.indexes.get(at) else {
        return Vec::new();
    };
    let mut shared: BTreeMap<Vec<u8>, Vec<Bson>> = BTreeMap::new();
    let mut buffer = Vec::new();
    for stored in collection.all() {
        let Some(document) = document(stored.bytes) else {
            continue;
        };
        let id = raw::get(document, "_id").unwrap_or(RawBsonRef::Null);
        let id = Bson::try_from(id).unwrap_or(Bson::Null);
        for key in index
            .keys(document, &mut buffer)
            .map(|(keys, _)| keys)
            .unwrap_or_default()
        {
            shared.entry(key.into_vec()).or_default().push(id.clone());
        }
    }
    shared
        .into_values()
        .filter(|ids| ids.len() > 1)
        .map(|ids| doc! { "ids": ids }.into())
        .collect()
}
