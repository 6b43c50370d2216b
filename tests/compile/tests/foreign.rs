//! Serializers of every kind beside those of this crate: modules that declare nothing, in every place, and types.
#![deny(warnings)]
#![allow(dead_code)]

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, Utc};
use odm::prelude::*;
use uuid::Uuid;

mod as_is {
    //! It has the names of types that the struct below means.
    #[allow(unused_imports)]
    pub use odm::bson::Uuid as String;
    pub struct Option;
    pub struct DateTime;

    pub fn serialize<T: serde::Serialize, S: serde::Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }

    pub fn deserialize<'de, T: serde::Deserialize<'de>, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        T::deserialize(deserializer)
    }
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "loans", budget = "1MiB")]
struct Loan {
    #[serde(rename = "_id")]
    id: LoanId,
    #[serde(with = "crate::as_is")]
    #[odm(bytes(max = "1KiB"))]
    note: Option<String>,
    #[serde(with = "self::as_is")]
    #[odm(bytes(max = "1KiB"))]
    at: DateTime<Utc>,
    #[serde(with = "chrono::serde::ts_seconds")]
    #[odm(bson_type = "long")]
    seconds: DateTime<Utc>,
    #[serde(with = "::odm::chrono_0_4")]
    due: DateTime<Utc>,
    #[serde(with = "odm::bson::serde_helpers::datetime::AsRfc3339String")]
    #[odm(bytes(max = "1KiB"))]
    text: odm::bson::DateTime,
    #[serde(with = "odm::uuid_1")]
    batch: Uuid,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, Embedded)]
#[serde(transparent)]
struct LoanId {
    #[serde(with = "odm::uuid_1")]
    uuid: Uuid,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Lists<T: odm::model::FieldType> {
    of: T,
    #[serde(with = "odm::uuid_1")]
    set: HashSet<Uuid>,
    #[serde(with = "odm::uuid_1")]
    map: HashMap<String, Uuid>,
    #[serde(with = "odm::uuid_1")]
    tree: BTreeMap<String, Vec<Uuid>>,
    #[serde(with = "odm::uuid_1")]
    boxed: Box<Uuid>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Pair(#[serde(with = "odm::uuid_1")] Uuid, i32);

#[derive(Deserialize, Projection)]
#[odm(of = Loan)]
struct Due {
    #[serde(with = "odm::chrono_0_4")]
    due: DateTime<Utc>,
}

#[test]
fn runs() {
    mod local {
        pub(super) use crate::as_is::*;
    }

    #[derive(Serialize, Deserialize, Embedded)]
    struct Inner {
        #[serde(with = "local")]
        number: i32,
    }

    let inner = odm::query::fields::<Inner>();
    let _ = inner.number.inc(1);
    let loan = odm::query::fields::<Loan>();
    let _ = loan.due.current_date();
    let _ = loan.id.eq(LoanId { uuid: Uuid::nil() });
}
