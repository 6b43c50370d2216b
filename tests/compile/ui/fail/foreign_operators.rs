use chrono::{DateTime, NaiveDate, Utc};
use odm::prelude::*;
use odm::query::fields;

#[derive(Serialize, Deserialize, Embedded)]
struct Loan {
    #[serde(with = "odm::chrono_0_4")]
    due: NaiveDate,
    #[serde(with = "chrono::serde::ts_seconds")]
    returned: DateTime<Utc>,
}

fn main() {
    let loan = fields::<Loan>();
    let _ = loan.due.current_date();
    let _ = loan.due.gt(DateTime::<Utc>::MIN_UTC);
    let _ = loan.returned.current_date();
}
