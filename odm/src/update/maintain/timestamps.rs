//! The times at which a document was created and last changed.

use bson::{Bson, DateTime, doc};

use super::{Maintained, Maintainer, Maintenance};
use crate::model::{Clock, ModelMeta};

pub(super) struct Timestamps;

impl Maintainer for Timestamps {
    fn fields(&self, model: &'static ModelMeta) -> Vec<Maintained> {
        let Some(declared) = model.timestamps else {
            return Vec::new();
        };
        let now = DateTime::now();
        let created = declared.created_at.map(|name| Maintained {
            name,
            refusal: "an insert sets this field, and no update changes it: leave it out, or write the whole update raw",
            inserted: Some(now.into()),
            change: None,
            replaced: doc! {"$ifNull": [format!("${name}"), now]}.into(),
        });
        let updated = declared.updated_at.map(|name| {
            let (operator, operand, expression) = match declared.clock {
                Clock::Client => ("$set", Bson::DateTime(now), Bson::DateTime(now)),
                Clock::Server => ("$currentDate", Bson::Boolean(true), "$$NOW".into()),
            };
            Maintained {
                name,
                refusal: "each typed update sets this field to the current time: leave it out, or write the whole update raw",
                inserted: Some(now.into()),
                change: Some(Maintenance {
                    operator,
                    operand,
                    expression: expression.clone(),
                }),
                replaced: expression,
            }
        });
        created.into_iter().chain(updated).collect()
    }
}
