//! The upkeep of `created_at` and `updated_at`.

use bson::{Bson, DateTime, doc};

use super::maintained::{Maintained, Maintenance};
use crate::model::{Clock, TimestampsMeta};

impl TimestampsMeta {
    /// How a typed write at `now` maintains the fields.
    pub(crate) fn maintained(&self, now: DateTime) -> impl Iterator<Item = Maintained> {
        let created = self.created_at.map(|name| {
            let stored = format!("${name}");
            Maintained {
                name,
                refusal: "an insert sets this field, and no update changes it: leave it out, or write the whole update raw",
                change: None,
                inserted: Some(now.into()),
                replaced: doc! {"$ifNull": [stored, now]}.into(),
            }
        });
        let updated = self.updated_at.map(|name| {
            let (operator, operand, expression) = match self.clock {
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
                inserted: None,
                replaced: expression,
            }
        });
        created.into_iter().chain(updated)
    }
}
