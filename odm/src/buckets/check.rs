//! Compares what buckets keep with their items.

use std::fmt;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};
use odm_language::value::key;
use odm_language::value::number::Number;

use super::computed;
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys};
use crate::model::bucket::{BucketShape, KeptKind};
use crate::model::{BsonType, ModelMeta};
use crate::plan::shell;
use crate::query::operators::any_of;
use crate::store::Operation;
use crate::store::options::{Chosen, Options};
use crate::update::maintain;
use crate::write::checker::Checker;
use crate::write::{Damage, exactly};

/// The kinds of damage to a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum BucketDamage {
    /// The count, or another kept value, is not that of the items.
    Kept,
    /// An item is outside of the bucket's span, where reads of its range do not look.
    Misplaced,
}

/// By how much a total of doubles may differ from the sum of its items: inserts add in another order, up to 5,000 times.
const DOUBLE: f64 = 4e-12;

/// The same for decimals, which have 34 digits.
const DECIMAL: f64 = 1e-29;

/// Compares what buckets keep with their items.
pub(crate) struct BucketChecker {
    model: &'static ModelMeta,
    shape: &'static BucketShape,
}

impl BucketChecker {
    /// The check of a model, if it is a bucket.
    pub(crate) fn of(model: &'static ModelMeta) -> Result<Option<Self>> {
        if model.bucket.is_none() {
            return Ok(None);
        }
        let shape = model.bucket_shape()?;
        Ok(Some(Self { model, shape }))
    }

    /// Computes what these buckets keep, each in one atomic write.
    pub(crate) async fn refresh(
        &self,
        channel: &mut Channel<'_>,
        documents: Vec<RawDocumentBuf>,
    ) -> Result<()> {
        let mut ids = Keys::default();
        for document in &documents {
            ids.add(
                document
                    .get("_id")
                    .map_err(Error::encode)?
                    .unwrap_or(RawBsonRef::Null),
            )?;
        }
        let mut pipeline = vec![computed::stage(self.shape)];
        pipeline.extend(maintain::stage(&maintain::fields(self.model)));
        for part in ids.parts() {
            let statement = doc! {"q": any_of("_id", part), "u": &pipeline, "multi": true};
            channel
                .of(self.model)
                .update(vec![exactly(self.model, statement)])
                .await?;
        }
        Ok(())
    }

    /// The values that are compared, of the buckets with these ids.
    fn pipeline(&self, ids: Vec<Bson>) -> Vec<Document> {
        let (shape, meta) = (self.shape, self.shape.meta);
        let items = || computed::items(shape);
        let mut project = doc! {
            meta.count: 1,
            meta.start: 1,
            computed_name(0): computed::count(shape, items()),
            "odmMisplaced": self.misplaced(),
        };
        for (position, field) in shape.kept.iter().enumerate() {
            project.insert(field.meta.name, 1);
            project.insert(computed_name(position + 1), computed::kept(field, items()));
            if field.meta.kind == KeptKind::Total {
                project.insert(size_name(position), size(&field.source, items()));
            }
        }
        vec![
            doc! {"$match": any_of("_id", ids)},
            doc! {"$project": project},
        ]
    }

    /// How many items are outside of the span.
    fn misplaced(&self) -> Document {
        let (shape, meta) = (self.shape, self.shape.meta);
        let (start, time) = (format!("${}", meta.start), format!("$$item.{}", shape.time));
        let is_date = computed::types(shape.start).contains(&BsonType::Date);
        let is_point = |value: &str| {
            if is_date {
                doc! {"$eq": [{"$type": value}, "date"]}
            } else {
                doc! {"$isNumber": value}
            }
        };
        let end = doc! {"$add": [&start, meta.span]};
        let is_inside =
            doc! {"$and": [is_point(&time), {"$gte": [&time, &start]}, {"$lt": [&time, end]}]};
        // Without a start, all of them are.
        let is_outside = doc! {"$cond": [is_point(&start), {"$not": [is_inside]}, true]};
        let outside = doc! {"input": computed::items(shape), "as": "item", "cond": is_outside};
        doc! {"$size": {"$filter": outside}}
    }

    /// What is wrong with a bucket, by the values that were computed.
    fn damages(&self, values: &RawDocument) -> Result<Vec<Damage<BucketDamage>>> {
        let meta = self.shape.meta;
        let id = crate::write::checker::id_of(values)?;
        let mut damages = Vec::new();
        let mut compare = |name: &str, position: usize, tolerance: f64, what: &str| -> Result<()> {
            let stored = values.get(name).map_err(Error::encode)?;
            let computed = values.get(computed_name(position)).map_err(Error::encode)?;
            if are_same(stored, computed, tolerance) {
                return Ok(());
            }
            let (stored, computed) = (owned(stored)?, owned(computed)?);
            let detail = format!(
                "`{name}` is {}, and {what} is {}",
                text(stored.as_ref()),
                text(computed.as_ref()),
            );
            let damage = Damage::new(&id, BucketDamage::Kept, detail);
            damages.push(damage.at(name, stored).expecting(computed));
            Ok(())
        };
        compare(
            meta.count,
            0,
            0.0,
            &format!("the number of `{}`", meta.items),
        )?;
        for (position, field) in self.shape.kept.iter().enumerate() {
            let size = values.get(size_name(position)).map_err(Error::encode)?;
            let size = size.and_then(Number::from_raw).map_or(0.0, Number::to_f64);
            let (tolerance, what) = match (field.meta.kind, computed::types(field.ty)) {
                (KeptKind::Smallest, _) => (0.0, "smallest"),
                (KeptKind::Largest, _) => (0.0, "largest"),
                (KeptKind::Total, [BsonType::Double]) => (size * DOUBLE, "total"),
                (KeptKind::Total, [BsonType::Decimal]) => (size * DECIMAL, "total"),
                (KeptKind::Total, _) => (0.0, "total"),
            };
            let what = format!("the {what} `{}` of `{}`", field.source, meta.items);
            compare(field.meta.name, position + 1, tolerance, &what)?;
        }
        let misplaced = values.get("odmMisplaced").map_err(Error::encode)?;
        let misplaced = misplaced
            .and_then(Number::from_raw)
            .and_then(Number::to_i64_exact);
        if let Some(count @ 1..) = misplaced {
            let start = owned(values.get(meta.start).map_err(Error::encode)?)?;
            let items = if count == 1 {
                "1 item"
            } else {
                &format!("{count} items")
            };
            let detail = format!(
                "`{}` has {items} outside of the span that starts at {}, where reads of a range do not look",
                meta.items,
                text(start.as_ref()),
            );
            damages.push(Damage::new(&id, BucketDamage::Misplaced, detail).at(meta.items, None));
        }
        Ok(damages)
    }
}

impl Checker for BucketChecker {
    type Kind = BucketDamage;

    fn model(&self) -> &'static ModelMeta {
        self.model
    }

    fn options(&self, channel: &Channel<'_>) -> Chosen {
        // The items stay where they are: MongoDB computes what they make.
        Chosen::from(Options {
            projection: Some(doc! {"_id": 1}),
            ..channel.current()
        })
    }

    async fn look(
        &self,
        channel: &mut Channel<'_>,
        documents: &[RawDocumentBuf],
    ) -> Result<Vec<Damage<BucketDamage>>> {
        let mut ids = Keys::default();
        for document in documents {
            ids.add(
                document
                    .get("_id")
                    .map_err(Error::encode)?
                    .unwrap_or(RawBsonRef::Null),
            )?;
        }
        let mut damages = Vec::new();
        for part in ids.parts() {
            let pipeline = self.pipeline(part);
            let options = Chosen::from(channel.current());
            let read =
                channel
                    .of(self.model)
                    .read(Operation::Aggregate { pipeline }, options, |values| {
                        damages.extend(self.damages(values)?);
                        Ok(())
                    });
            read.await?;
        }
        Ok(damages)
    }
}

/// The field with what is computed of the items: first the count, then the kept values.
fn computed_name(position: usize) -> String {
    format!("odmComputed{position}")
}

/// The field with the sum of the sizes of the values that a total adds up.
fn size_name(position: usize) -> String {
    format!("odmSize{position}")
}

/// The sum of the absolute values, to which the rounding of their total is proportional.
fn size(source: &str, items: Bson) -> Document {
    let value = format!("$$item.{source}");
    let size = doc! {"$cond": [{"$isNumber": &value}, {"$abs": {"$toDouble": &value}}, 0]};
    doc! {"$sum": {"$map": {"input": items, "as": "item", "in": size}}}
}

/// Whether a stored value is what was computed. Null and a missing field are one.
fn are_same(
    stored: Option<RawBsonRef<'_>>,
    computed: Option<RawBsonRef<'_>>,
    tolerance: f64,
) -> bool {
    let stored = stored.filter(|one| *one != RawBsonRef::Null);
    let computed = computed.filter(|one| *one != RawBsonRef::Null);
    let (Some(stored), Some(computed)) = (stored, computed) else {
        return stored.is_none() && computed.is_none();
    };
    if key::of(stored, None) == key::of(computed, None) {
        return true;
    }
    match (Number::from_raw(stored), Number::from_raw(computed)) {
        (Some(stored), Some(computed)) => {
            tolerance > 0.0 && stored.sub(computed).to_f64().abs() <= tolerance
        }
        _ => false,
    }
}

fn owned(value: Option<RawBsonRef<'_>>) -> Result<Option<Bson>> {
    value.map(Bson::try_from).transpose().map_err(Error::encode)
}

fn text(value: Option<&Bson>) -> String {
    value.map_or_else(|| "missing".to_owned(), shell::value)
}

impl fmt::Display for BucketDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kept => "wrong kept value",
            Self::Misplaced => "misplaced item",
        })
    }
}
