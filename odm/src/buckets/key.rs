//! The key of a bucket, and the filters that it makes.

use bson::{Bson, Document, doc};

use super::interval::{Interval, Point};
use super::model::BucketModel;
use crate::error::{Error, Result};
use crate::model::bucket::BucketShape;

/// The bucket's shape and the stored values of a key.
#[derive(Debug, Clone)]
pub(super) struct BucketKey {
    pub(super) shape: &'static BucketShape,
    pub(super) values: Vec<Bson>,
}

impl BucketKey {
    pub(super) fn new<M: BucketModel>(key: &M::Key) -> Result<Self> {
        let shape = M::model().bucket_shape()?;
        let values = M::encode_key(key).map_err(|error| error.with_model(M::model().name))?;
        for (name, value) in shape.meta.by.iter().zip(&values) {
            // MongoDB compares null with missing fields, too, and an array with each of its elements.
            if matches!(value, Bson::Null | Bson::Undefined | Bson::Array(_)) {
                let message = "the key of a bucket is one value, and neither null nor a list";
                let error = Error::usage(message).with_path(*name);
                return Err(error.with_model(M::model().name));
            }
        }
        Ok(Self { shape, values })
    }

    /// The condition of all buckets with this key.
    pub(super) fn filter(&self) -> Document {
        let names = self.shape.meta.by.iter().zip(&self.values);
        names
            .map(|(name, value)| ((*name).to_owned(), doc! {"$eq": value}.into()))
            .collect()
    }

    /// The condition of the buckets with this key and this start.
    pub(super) fn at(&self, start: Point) -> Document {
        let mut filter = self.filter();
        filter.insert(self.shape.meta.start, doc! {"$eq": start.value()});
        filter
    }

    /// The condition of the buckets whose span overlaps the interval.
    pub(super) fn overlapping(&self, interval: &Interval) -> Document {
        let mut filter = self.filter();
        let starts = interval.starts_overlapping(self.shape.meta.span);
        if !starts.is_empty() {
            filter.insert(self.shape.meta.start, starts);
        }
        filter
    }
}
