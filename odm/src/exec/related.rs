//! Filters and sorts by the documents on the other side of a relation: `where_any`, `where_none`, `where_all`,
//! `order_by_related`.

mod link;

use bson::raw::RawDocument;
use bson::{Bson, Document, doc};

pub use self::link::Link;
pub(crate) use self::link::Side;
use super::{Channel, Keys, StoredPath};
use crate::error::{Error, Result};
use crate::model::InverseKind;
use crate::pipeline::{Lookup, Stage};
use crate::store::limits::LIST_BYTES;
use crate::store::options::{Chosen, Options};
use crate::store::{CollectionNames, Operation, Request};

/// Conditions of a find on documents on the other side of relations, and its order by them.
#[derive(Debug, Default)]
pub(crate) struct Related {
    conditions: Vec<Condition>,
    order: Vec<Order>,
}

/// A condition on the documents on the other side.
#[derive(Debug)]
struct Condition {
    link: Link,
    quantifier: Quantifier,
    filter: Document,
}

/// How many documents on the other side must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantifier {
    Any,
    None,
    All,
}

/// Keys of a sort by the first document on the other side.
#[derive(Debug)]
struct Order {
    link: Link,
    sort: Document,
}

impl Related {
    /// Adds a condition.
    pub(crate) fn filter(&mut self, link: Link, quantifier: Quantifier, filter: Document) {
        self.conditions.push(Condition {
            link,
            quantifier,
            filter,
        });
    }

    /// Adds keys to sort by.
    pub(crate) fn order(&mut self, link: Link, sort: Document) {
        self.order.push(Order { link, sort });
    }

    /// Whether the rows are sorted by documents on the other side.
    pub(crate) fn is_ordered(&self) -> bool {
        !self.order.is_empty()
    }

    /// Leaves out the order, which a count does not need.
    pub(crate) fn forget_order(&mut self) {
        self.order.clear();
    }

    /// Changes the request of a find or a count so that it is about these rows, in this order. The commands of semi-joins
    /// are sent first.
    pub(crate) async fn apply(
        self,
        channel: &mut Channel<'_>,
        mut request: Request,
    ) -> Result<Request> {
        let (rows, one) = match &mut request.operation {
            Operation::Find { filter, one } => (filter, *one),
            Operation::Count { filter } => (filter, false),
            _ => {
                let message = "only a find or a count takes conditions on related documents";
                return Err(Error::usage(message));
            }
        };
        let own = std::mem::replace(rows, Document::new().into()).into_document();
        let mut filters = Vec::new();
        if !own.is_empty() {
            filters.push(own);
        }
        let mut look_ups = Stages::new(channel.store().names().clone());
        let most = LIST_BYTES / self.conditions.len().max(1);
        for condition in self.conditions {
            match condition.semi_join(channel, most).await? {
                Some(filter) => filters.push(filter),
                None => condition.look_up(&mut look_ups)?,
            }
        }
        let filter = conjunction(filters);
        if look_ups.list.is_empty() && self.order.is_empty() {
            *rows = filter.into();
            return Ok(request);
        }
        let pipeline = pipeline(filter, one, look_ups, self.order, &mut request.options)?;
        request.operation = Operation::Aggregate { pipeline };
        Ok(request)
    }
}

fn conjunction(mut filters: Vec<Document>) -> Document {
    match filters.len() {
        0 | 1 => filters.pop().unwrap_or_default(),
        _ => doc! {"$and": filters},
    }
}

/// Stages that look up documents on the other side, each into a field of its own.
#[derive(Debug)]
struct Stages {
    names: CollectionNames,
    list: Vec<Document>,
    fields: Vec<String>,
}

impl Stages {
    fn new(names: CollectionNames) -> Self {
        Self {
            names,
            list: Vec::new(),
            fields: Vec::new(),
        }
    }

    fn look_up(&mut self, link: &Link, inner: Vec<Document>) -> String {
        let field = format!("__odm_{}", self.fields.len());
        let lookup = Lookup {
            model: link.target,
            local: link.local.to_string(),
            foreign: link.foreign.clone(),
            outer: false,
            // The stages after it compare the key with null.
            optional: false,
            stages: inner.into_iter().map(Stage::Plain).collect(),
            to: field.clone(),
        };
        self.list.push(lookup.stage(&self.names));
        self.fields.push(field.clone());
        field
    }
}

impl Condition {
    /// Reads the ids on the other side, and returns a condition on the rows; `None` if there are too many for a command,
    /// or if a look-up for each row is expected to read less.
    async fn semi_join(&self, channel: &mut Channel<'_>, most: usize) -> Result<Option<Document>> {
        let mut keys = Keys::default();
        let ids = match self.link.side {
            Side::Reference { .. } => self.ids(channel, &mut keys, most).await?,
            Side::Inverse {
                kind: InverseKind::Squillions,
                ..
            } => false,
            Side::Inverse { is_list, .. } => {
                self.references(channel, is_list, &mut keys, most).await?
            }
        };
        if !ids {
            return Ok(None);
        }
        let values = keys.into_values();
        Ok(Some(match (self.link.side, self.quantifier) {
            (_, Quantifier::Any) => self.link.any("$in", values),
            (Side::Reference { .. }, Quantifier::All) => self.link.all(values),
            // Of all documents that refer to a row, none fails the condition.
            (_, Quantifier::None) | (Side::Inverse { .. }, Quantifier::All) => {
                self.link.any("$nin", values)
            }
        }))
    }

    /// The filter for the related documents to look up: those that match or, for `All`, those that fail.
    fn deciding(&self) -> Document {
        match (self.link.side, self.quantifier) {
            (Side::Inverse { .. }, Quantifier::All) => doc! {"$nor": [self.filter.clone()]},
            _ => self.filter.clone(),
        }
    }

    /// Reads the ids of the documents that match; returns `false` if they take more than `most` bytes.
    async fn ids(&self, channel: &mut Channel<'_>, keys: &mut Keys, most: usize) -> Result<bool> {
        let operation = Operation::Find {
            filter: self.deciding().into(),
            one: false,
        };
        let mut options = channel.options();
        let foreign = self.link.foreign.as_str();
        options.projection = Some(match foreign {
            "_id" => doc! {"_id": 1},
            foreign => doc! {foreign: 1, "_id": 0},
        });
        self.read(channel, operation, options, foreign, keys, most)
            .await
    }

    /// Reads the rows' keys that the matching documents refer to; returns `false` if they take more than `most` bytes.
    async fn references(
        &self,
        channel: &mut Channel<'_>,
        is_list: bool,
        keys: &mut Keys,
        most: usize,
    ) -> Result<bool> {
        let mut pipeline = vec![doc! {"$match": self.deciding()}];
        if is_list {
            pipeline.extend(StoredPath::at(&self.link.foreign).unwound("by"));
            pipeline.push(doc! {"$group": {"_id": "$by"}});
        } else {
            pipeline.push(doc! {"$group": {"_id": format!("${}", self.link.foreign)}});
        }
        pipeline.push(doc! {"$match": {"_id": {"$ne": null}}});
        let options = channel.options();
        let operation = Operation::Aggregate { pipeline };
        self.read(channel, operation, options, "_id", keys, most)
            .await
    }

    async fn read(
        &self,
        channel: &mut Channel<'_>,
        operation: Operation,
        options: Chosen,
        path: &str,
        keys: &mut Keys,
        most: usize,
    ) -> Result<bool> {
        let id = StoredPath::at(path);
        let mut fits = true;
        let visit = |raw: &RawDocument| {
            if let Some(value) = id.value(raw) {
                keys.add(value)?;
            }
            fits = keys.bytes() <= most;
            Ok(fits)
        };
        let target = self.link.target;
        channel
            .of(target)
            .read_while(operation, options, visit)
            .await?;
        Ok(fits)
    }

    /// Adds stages that look up the documents of each row by the index of the relation.
    fn look_up(&self, stages: &mut Stages) -> Result<()> {
        let mut inner = vec![doc! {"$match": self.deciding()}];
        let is_all_of_references = matches!(
            (self.link.side, self.quantifier),
            (Side::Reference { .. }, Quantifier::All)
        );
        if is_all_of_references {
            inner.push(doc! {"$project": {&self.link.foreign: 1}});
        } else {
            inner.push(doc! {"$limit": 1});
            inner.push(doc! {"$project": {"_id": 1}});
        }
        let references = is_all_of_references
            .then(|| self.link.references())
            .transpose()?;
        let field = stages.look_up(&self.link, inner);
        let key = self.link.optional_key();
        stages.list.push(match (references, self.quantifier, key) {
            (Some(references), ..) => {
                let found = format!("${field}.{}", self.link.foreign);
                doc! {"$match": {"$expr": {"$setIsSubset": [references, found]}}}
            }
            (None, Quantifier::Any, None) => doc! {"$match": {field: {"$ne": []}}},
            (None, Quantifier::Any, Some(key)) => {
                doc! {"$match": {field: {"$ne": []}, key: {"$ne": null}}}
            }
            (None, _, None) => doc! {"$match": {field: []}},
            (None, _, Some(key)) => doc! {"$match": {"$or": [{field: []}, {key: null}]}},
        });
        Ok(())
    }
}

/// The pipeline of a find. Its options that are stages of a pipeline are taken from the request.
fn pipeline(
    filter: Document,
    one: bool,
    mut look_ups: Stages,
    order: Vec<Order>,
    options: &mut Chosen,
) -> Result<Vec<Document>> {
    let own = options.chosen().cloned().unwrap_or_default();
    refuse_options_of_finds(&own)?;
    *options = Chosen::from(Options {
        sort: None,
        skip: None,
        limit: None,
        projection: None,
        ..own.clone()
    });
    let mut stages = vec![doc! {"$match": filter}];
    let mut sort = Document::new();
    if order.is_empty() {
        // Before the look-ups, where an index may serve it.
        stages.extend(own.sort.map(|sort| doc! {"$sort": sort}));
    } else {
        let alone = order.len() == 1 && own.sort.is_none();
        for one in order {
            sort.extend(one.look_up(&mut look_ups, alone));
        }
        for (path, direction) in own.sort.unwrap_or_default() {
            if !sort.contains_key(&path) {
                sort.insert(path, direction);
            }
        }
    }
    stages.append(&mut look_ups.list);
    if !sort.is_empty() {
        stages.push(doc! {"$sort": sort});
    }
    let skip = own.skip.and_then(|skip| i64::try_from(skip).ok());
    stages.extend(skip.map(|skip| doc! {"$skip": skip}));
    let limit = if one { Some(1) } else { own.limit };
    stages.extend(limit.map(|limit| doc! {"$limit": limit}));
    stages.push(doc! {"$unset": look_ups.fields});
    stages.extend(
        own.projection
            .map(|projection| doc! {"$project": projection}),
    );
    Ok(stages)
}

impl Order {
    /// Looks up the first document of each row, and returns the keys of the sort. `alone` means that the sort has no
    /// other keys.
    fn look_up(self, stages: &mut Stages, alone: bool) -> Document {
        let keys: Document = self
            .sort
            .keys()
            .map(|path| (path.clone(), Bson::Int32(1)))
            .collect();
        let mut inner = vec![
            doc! {"$sort": self.sort.clone()},
            doc! {"$limit": 1},
            doc! {"$project": keys},
        ];
        if !alone {
            inner.extend(decisive_elements(&self.sort));
        }
        let field = stages.look_up(&self.link, inner);
        // MongoDB does not sort by keys of two arrays, and a look-up makes one.
        let first = doc! {"$first": format!("${field}")};
        let first = match self.link.optional_key() {
            None => first,
            Some(key) => {
                let lacks = doc! {"$lte": [format!("${key}"), null]};
                doc! {"$cond": [lacks, null, first]}
            }
        };
        stages.list.push(doc! {"$set": {&field: first}});
        let sort = self.sort.into_iter();
        sort.map(|(path, direction)| (format!("{field}.{path}"), direction))
            .collect()
    }
}

/// Stages that replace each list in a document by the element that decides the order. MongoDB does not sort by keys of
/// two lists.
fn decisive_elements(sort: &Document) -> Vec<Document> {
    let mut lists: Vec<String> = Vec::new();
    for path in sort.keys() {
        let ends = path
            .match_indices('.')
            .map(|(at, _)| at)
            .chain([path.len()]);
        for list in ends.filter_map(|end| path.get(..end)) {
            if !lists.iter().any(|known| known == list) {
                lists.push(list.to_owned());
            }
        }
    }
    let unwind =
        |list| doc! {"$unwind": {"path": format!("${list}"), "preserveNullAndEmptyArrays": true}};
    let mut stages: Vec<Document> = lists.into_iter().map(unwind).collect();
    stages.push(doc! {"$sort": sort.clone()});
    stages.push(doc! {"$limit": 1});
    stages
}

/// Refuses options that a find has and a pipeline has not.
fn refuse_options_of_finds(options: &Options) -> Result<()> {
    let given = [
        ("min", options.min.is_some()),
        ("max", options.max.is_some()),
        (
            "allow_partial_results",
            options.allow_partial_results.is_some(),
        ),
        ("no_cursor_timeout", options.no_cursor_timeout.is_some()),
        ("show_record_id", options.show_record_id.is_some()),
        ("return_key", options.return_key.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((name, _)) => Err(Error::usage(format!(
            "a find that becomes a pipeline takes no `{name}`; leave it out"
        ))),
    }
}
