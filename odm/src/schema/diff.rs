//! Computes the steps from an existing collection to what its model declares.

mod indexes;
mod sharding;
mod validator;
mod view;

use bson::{Bson, Document, doc};

use crate::error::Result;
use crate::model::ModelMeta;
use crate::plan::{Action, Settled, Step, describe, shell};
use crate::schema::indexes::{Declared, declared, i64_to_bson, shard_key};
use crate::schema::normal::{self, IMAGES, NormalOptions};
use crate::schema::validator::{refuse_system_collection, validator};
use crate::store::{CollectionName, CollectionNames};

/// One existing collection, as the server lists it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Existing {
    /// `collection`, `view` or `timeseries`.
    pub(crate) kind: String,
    /// As `listCollections` lists them.
    pub(crate) options: Document,
    /// As `listIndexes` lists them, including the index on `_id`.
    pub(crate) indexes: Vec<Document>,
}

/// The declarations of a model, checked.
#[derive(Debug)]
pub(crate) struct Target {
    meta: &'static ModelMeta,
    collection: CollectionName,
    options: Document,
    indexes: Vec<Declared>,
    shard_key: Option<Document>,
}

impl Target {
    pub(crate) fn new(
        meta: &'static ModelMeta,
        collection: CollectionName,
        names: &CollectionNames,
    ) -> Result<Self> {
        refuse_system_collection(&collection).map_err(|error| error.with_model(meta.name))?;
        meta.check_budget()?;
        Ok(Self {
            meta,
            collection,
            options: if let Some(declared) = meta.view {
                view::options(meta, declared, names)?
            } else if meta.is_of_chunks() {
                Document::new()
            } else {
                normal::options(meta, validator(meta)?)
            },
            indexes: declared(meta)?,
            shard_key: shard_key(meta).map_err(|error| error.with_model(meta.name))?,
        })
    }

    /// The steps from `existing` to what is declared.
    pub(crate) fn steps(&self, existing: Option<&Existing>) -> Vec<Step> {
        match existing {
            None => self.create(),
            Some(existing) if existing.kind != self.kind() => vec![self.in_the_way(existing)],
            Some(existing) if self.meta.view.is_some() => self.change_view(existing),
            Some(existing) => {
                let mut steps = Vec::new();
                if !self.meta.is_of_chunks() {
                    steps.extend(self.change(existing));
                }
                steps.extend(self.index(existing));
                steps
            }
        }
    }

    /// The kind of the declared collection.
    fn kind(&self) -> &'static str {
        if self.meta.view.is_some() {
            "view"
        } else if self.meta.time_series.is_some() {
            "timeseries"
        } else {
            "collection"
        }
    }

    fn step(&self, action: Action, reasons: Vec<String>, commands: Vec<Document>) -> Step {
        Step {
            model: self.meta.name,
            collection: self.collection.to_string(),
            action,
            reasons,
            commands,
            undo: Vec::new(),
            settled: None,
        }
    }

    fn create(&self) -> Vec<Step> {
        let mut command = doc! {"create": &self.collection};
        command.extend(self.options.clone());
        let shown = self
            .options
            .iter()
            .filter(|(option, _)| *option != "validator");
        let reasons = shown
            .map(|(option, value)| format!("{option}: {}", shell::value(value)))
            .collect();
        let action = if self.meta.view.is_some() {
            Action::CreateView
        } else {
            Action::CreateCollection
        };
        let mut create = self.step(action, reasons, vec![command]);
        create.settled = Some(if self.meta.view.is_some() {
            Settled(|existing, command| {
                let differences = view::differences(existing, command);
                differences.changed.is_empty() && differences.fixed.is_none()
            })
        } else {
            Settled(|existing, command| {
                NormalOptions::read(existing) == NormalOptions::read(command)
            })
        });
        let mut steps = vec![create];
        steps.extend(self.create_indexes(self.indexes.iter().map(|index| &index.spec).collect()));
        steps
    }

    fn create_indexes(&self, specs: Vec<&Document>) -> Option<Step> {
        if specs.is_empty() {
            return None;
        }
        let names = specs.iter().map(|spec| name_of(spec).to_owned()).collect();
        let reasons = specs.iter().map(|spec| describe(spec)).collect();
        let command = self.create_command(specs);
        Some(self.step(Action::CreateIndexes { names }, reasons, vec![command]))
    }

    fn create_command(&self, specs: Vec<&Document>) -> Document {
        let specs: Vec<Bson> = specs.into_iter().cloned().map(Bson::Document).collect();
        doc! {"createIndexes": &self.collection, "indexes": specs}
    }

    fn in_the_way(&self, existing: &Existing) -> Step {
        let reason = match (self.kind(), &*existing.kind) {
            ("view", "collection") => {
                "a collection of this name is in the way, and may have documents: rename it, or \
                 give the view another name by `collection = \"…\"`"
                    .to_owned()
            }
            (_, kind) => {
                format!("a {kind} of this name is in the way: rename it, or the model's collection")
            }
        };
        self.step(Action::ByHand, vec![reason], Vec::new())
    }

    /// The steps for a view.
    fn change_view(&self, existing: &Existing) -> Vec<Step> {
        let view::Differences {
            changed,
            change,
            fixed,
        } = view::differences(&existing.options, &self.options);
        if let Some(fixed) = fixed {
            let create = |options: &Document| {
                let mut command = doc! {"create": &self.collection};
                command.extend(options.clone());
                command
            };
            let reasons = changed.into_iter().chain([fixed]).collect();
            let mut before = existing.options.clone();
            if let Ok(collation) = before.get_document_mut("collation") {
                // `listCollections` adds it, and `create` may not have it.
                collation.remove("version");
            }
            let drop = doc! {"drop": &self.collection};
            let commands = vec![drop, create(&self.options)];
            let mut step = self.step(Action::RecreateView, reasons, commands);
            step.undo = vec![create(&before)];
            return vec![step];
        }
        if changed.is_empty() {
            return Vec::new();
        }
        let mut command = doc! {"collMod": &self.collection};
        command.extend(change);
        vec![self.step(Action::ChangeView, changed, vec![command])]
    }

    /// The steps for the options of the collection.
    fn change(&self, existing: &Existing) -> Vec<Step> {
        let is = NormalOptions::read(&existing.options);
        let wanted = NormalOptions::read(&self.options);
        let mut steps = Vec::new();
        let mut by_hand = Vec::new();
        if is.collation != wanted.collation {
            let show = |collation: &Option<Document>| {
                collation
                    .as_ref()
                    .map_or("simple".to_owned(), shell::document)
            };
            by_hand.push(format!(
                "collation is {}, declared {}: it is fixed when a collection is created",
                show(&is.collation),
                show(&wanted.collation),
            ));
        }
        let mut command = doc! {"collMod": &self.collection};
        let mut reasons = Vec::new();
        if !normal::same(&is.validator, &wanted.validator) {
            if is.validator.is_empty() {
                reasons.push("there is no validator".to_owned());
            } else {
                reasons.extend(validator::differences(&is.validator, &wanted.validator));
            }
            command.insert("validator", wanted.validator);
        }
        for (option, is, wanted) in [
            ("validationLevel", is.level, wanted.level),
            ("validationAction", is.action, wanted.action),
        ] {
            if is != wanted {
                reasons.push(format!("{option} is {is}, declared {wanted}"));
                command.insert(option, wanted);
            }
        }
        if is.keeps_images != wanted.keeps_images {
            reasons.push(
                if wanted.keeps_images {
                    "it keeps no images for change streams, declared with"
                } else {
                    "it keeps images for change streams, declared without"
                }
                .to_owned(),
            );
            command.insert(IMAGES, doc! {"enabled": wanted.keeps_images});
        }
        if is.time_series != wanted.time_series {
            by_hand.push(format!(
                "it is a time series with {}, declared with {}: copy its documents into a new collection; only to a coarser \
                 granularity, `collMod` changes it",
                series(is.time_series.as_ref()),
                series(wanted.time_series.as_ref()),
            ));
        }
        if is.expire_after != wanted.expire_after {
            steps.push(self.expire(is.expire_after, wanted.expire_after));
        }
        if !reasons.is_empty() {
            steps.push(self.step(Action::ChangeCollection, reasons, vec![command]));
        }
        match (is.capped, wanted.capped) {
            (None, Some(_)) => by_hand.push(
                "it is not capped, declared capped: `convertToCapped` rewrites it, keeping the \
                 newest documents and dropping the indexes"
                    .to_owned(),
            ),
            (Some(_), None) => {
                by_hand.push("it is capped, declared without: copy it to uncap it".to_owned());
            }
            (Some(is), Some(wanted)) if is != wanted => steps.push(self.resize(is, wanted)),
            _ => {}
        }
        if !by_hand.is_empty() {
            steps.push(self.step(Action::ByHand, by_hand, Vec::new()));
        }
        steps
    }

    /// Changes when documents of a time series expire. Those that are older by then are removed.
    fn expire(&self, is: Option<i64>, wanted: Option<i64>) -> Step {
        let show = |after: Option<i64>| match after {
            Some(seconds) => format!("after {seconds} seconds"),
            None => "never".to_owned(),
        };
        let later = |after: Option<i64>| after.unwrap_or(i64::MAX);
        let action = if later(wanted) < later(is) {
            Action::ShrinkCollection
        } else {
            Action::ChangeCollection
        };
        let after = wanted.map_or("off".into(), i64_to_bson);
        let command = doc! {"collMod": &self.collection, "expireAfterSeconds": after};
        let reason = format!("documents expire {}, declared {}", show(is), show(wanted));
        self.step(action, vec![reason], vec![command])
    }

    fn resize(&self, is: (i64, Option<i64>), wanted: (i64, Option<i64>)) -> Step {
        let show = |bounds: (i64, Option<i64>)| match bounds {
            (size, None) => format!("{size} bytes"),
            (size, Some(max)) => format!("{size} bytes and {max} documents"),
        };
        let mut command = doc! {"collMod": &self.collection};
        if is.0 != wanted.0 {
            command.insert("cappedSize", i64_to_bson(wanted.0));
        }
        if is.1 != wanted.1 {
            // `collMod` takes 0 for no bound.
            command.insert("cappedMax", i64_to_bson(wanted.1.unwrap_or_default()));
        }
        let largest = |max: Option<i64>| max.unwrap_or(i64::MAX);
        let action = if wanted.0 < is.0 || largest(wanted.1) < largest(is.1) {
            Action::ShrinkCollection
        } else {
            Action::ChangeCollection
        };
        let reason = format!("capped at {}, declared {}", show(is), show(wanted));
        self.step(action, vec![reason], vec![command])
    }
}

/// The options of a time series, for reasons.
fn series(series: Option<&normal::TimeSeries>) -> String {
    series.map_or("no options".to_owned(), |series| {
        let meta = series.meta.as_ref();
        let meta = meta.map_or(String::new(), |meta| format!(", the meta field `{meta}`"));
        format!(
            "the time field `{}`{meta} and the granularity {}",
            series.time, series.granularity
        )
    })
}

fn name_of(spec: &Document) -> &str {
    spec.get_str("name").unwrap_or_default()
}

#[cfg(test)]
mod tests;
