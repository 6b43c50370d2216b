//! Documents that contradict their own model: those that the validator refuses, and fields that are not declared.

use bson::raw::{RawBsonRef, RawDocumentBuf};
use bson::{Bson, doc};

use super::FindingKind;
use crate::collection::versions::version_of;
use crate::error::{Error, Result, Violation};
use crate::exec::declared::{Declared, Walk};
use crate::exec::{Channel, Keys};
use crate::model::{ModelMeta, SchemaMeta, gridfs};
use crate::query::operators::any_of;
use crate::schema::{ModelValidator, validator};
use crate::store::Operation;
use crate::store::options::Options;
use crate::write::Damage;
use crate::write::checker::id_of;

/// Compares documents with the validator of their model.
pub(super) struct Validation {
    model: &'static ModelMeta,
    compiled: ModelValidator,
    validator: bson::Document,
}

impl Validation {
    pub(super) fn of(model: &'static ModelMeta) -> Result<Self> {
        Ok(Self {
            model,
            compiled: ModelValidator::of(model)?,
            validator: validator(model)?,
        })
    }

    /// Runs the validator in this process, and asks the store about the documents that it refuses.
    pub(super) async fn look(
        &self,
        channel: &mut Channel<'_>,
        documents: &[RawDocumentBuf],
    ) -> Result<Vec<Damage<FindingKind>>> {
        let (mut damages, mut ids) = (Vec::new(), Keys::default());
        for document in documents {
            let Err(error) = self.compiled.validate(document) else {
                continue;
            };
            let Some(failure) = error.validation_failure() else {
                return Err(error);
            };
            let id = id_of(document)?;
            ids.add_value(Some(&id))?;
            let violations = failure.violations().iter();
            damages.extend(violations.map(|violation| broken(&id, violation)));
        }
        if damages.is_empty() {
            return Ok(damages);
        }
        let refused = self.refused(channel, &ids).await?;
        let mut failed = Ok(());
        damages.retain(|damage| match refused.contains(&damage.id) {
            Ok(is_refused) => is_refused,
            Err(error) => {
                failed = Err(error);
                false
            }
        });
        failed.map(|()| damages)
    }

    /// The documents among these that the store would refuse.
    async fn refused(&self, channel: &mut Channel<'_>, ids: &Keys) -> Result<Keys> {
        let mut refused = Keys::default();
        for part in ids.parts() {
            let mut filter = any_of("_id", part);
            filter.insert("$nor", vec![self.validator.clone()]);
            let find = Operation::Find {
                filter: filter.into(),
                one: false,
            };
            let options = Options {
                projection: Some(doc! {"_id": 1}),
                ..channel.current()
            };
            let read = channel
                .of(self.model)
                .read(find, options.into(), |document| {
                    let id = document.get("_id").map_err(Error::encode)?;
                    refused.add(id.unwrap_or(RawBsonRef::Null)).map(drop)
                });
            read.await?;
        }
        Ok(refused)
    }
}

fn broken(id: &Bson, violation: &Violation) -> Damage<FindingKind> {
    let kind = match violation.operator.as_str() {
        "maxItems" => FindingKind::LongList,
        _ => FindingKind::InvalidDocument,
    };
    let is_position = |name: &&str| name.bytes().all(|byte| byte.is_ascii_digit());
    let names = violation.path.split('.').filter(|name| !is_position(name));
    let path = names.collect::<Vec<_>>().join(".");
    let demanded = violation.demanded.clone();
    let damage = Damage::new(id, kind, violation.to_string());
    damage.at(path, violation.value.clone()).expecting(demanded)
}

/// Finds documents of other versions of their schema.
pub(super) struct Versions {
    model: &'static ModelMeta,
    schema: &'static SchemaMeta,
}

impl Versions {
    pub(super) fn of(model: &'static ModelMeta) -> Option<Self> {
        let schema = model.schema?;
        Some(Self { model, schema })
    }

    pub(super) fn look(&self, documents: &[RawDocumentBuf]) -> Result<Vec<Damage<FindingKind>>> {
        let mut damages = Vec::new();
        let known = self.schema.version;
        for document in documents {
            let (kind, detail) = match version_of(document, self.model, self.schema) {
                Ok(version) if version == i64::from(known) => continue,
                Ok(version) if version > i64::from(known) => (
                    FindingKind::NewerSchema,
                    format!(
                        "it has version {version}, and this program knows versions up to {known}"
                    ),
                ),
                Ok(version) => (
                    FindingKind::OutdatedSchema,
                    format!(
                        "it has version {version}, and the program writes {known}: `db.migrate` rewrites it"
                    ),
                ),
                Err(error) => (FindingKind::OutdatedSchema, error.to_string()),
            };
            let id = id_of(document)?;
            let stored = document.get(self.schema.field).map_err(Error::encode)?;
            let stored = stored
                .map(Bson::try_from)
                .transpose()
                .map_err(Error::encode)?;
            let damage = Damage::new(&id, kind, detail);
            let damage = damage.at(self.schema.field.to_owned(), stored);
            damages.push(damage.expecting(Some(known.into())));
        }
        Ok(damages)
    }
}

/// Finds the fields of documents that a model does not declare.
pub(super) struct Undeclared {
    declared: Declared,
    /// Fields that the model need not declare.
    known: Vec<&'static str>,
}

impl Undeclared {
    pub(super) fn of(model: &'static ModelMeta) -> Result<Self> {
        let declared = Declared::of(model)?;
        let mut known = Vec::from_iter(model.schema_field());
        if model.gridfs.is_some() {
            known.extend(gridfs::FIELDS);
        }
        Ok(Self { declared, known })
    }

    pub(super) fn look(&self, documents: &[RawDocumentBuf]) -> Result<Vec<Damage<FindingKind>>> {
        let mut damages = Vec::new();
        for document in documents {
            let mut fields = Fields {
                known: &self.known,
                found: Vec::new(),
            };
            self.declared.walk(document, &mut fields)?;
            if fields.found.is_empty() {
                continue;
            }
            let id = id_of(document)?;
            for (path, value) in fields.found {
                let detail = format!("`{path}` is not declared");
                let damage = Damage::new(&id, FindingKind::UndeclaredField, detail);
                damages.push(damage.at(path, Some(value.map_err(Error::encode)?)));
            }
        }
        Ok(damages)
    }
}

/// The paths of undeclared fields in one document, each once.
struct Fields<'k> {
    known: &'k [&'static str],
    found: Vec<(String, bson::error::Result<Bson>)>,
}

impl Walk for Fields<'_> {
    fn undeclared(&mut self, path: &[&str], value: RawBsonRef<'_>) {
        if matches!(path, [name] if self.known.contains(name)) {
            return;
        }
        let path = path.join(".");
        if self.found.iter().all(|(other, _)| *other != path) {
            self.found.push((path, Bson::try_from(value)));
        }
    }
}
