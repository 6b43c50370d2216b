//! The times at which a document was created and last changed.

use bson::{Bson, DateTime, doc};

use super::{Maintained, Maintainer, Maintenance};
use crate::model::{Clock, ModelMeta};

pub(super) struct Timestamps;

impl Maintainer for Timestamps {
    fn concerns(&self, model: &ModelMeta) -> bool {
        model.timestamps.is_some()
    }

    fn inserted(&self, model: &'static ModelMeta) -> Vec<(&'static str, Bson)> {
        let Some(declared) = model.timestamps else {
            return Vec::new();
        };
        let now = Bson::DateTime(DateTime::now());
        let names = [declared.created_at, declared.updated_at];
        let names = names.into_iter().flatten();
        names.map(|name| (name, now.clone())).collect()
    }

    fn fields(&self, model: &'static ModelMeta) -> Vec<Maintained> {
        let Some(declared) = model.timestamps else {
            return Vec::new();
        };
        let now = DateTime::now();
        let created = declared.created_at.map(|name| Maintained {
            name,
            refusal: "an insert sets this field, and no update changes it: leave it out, or write the whole update raw",
            change: None,
            on_insert: Some(now.into()),
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
                change: Some(Maintenance {
                    operator,
                    operand,
                    expression: expression.clone(),
                }),
                on_insert: None,
                replaced: expression,
            }
        });
        created.into_iter().chain(updated).collect()
    }
}
