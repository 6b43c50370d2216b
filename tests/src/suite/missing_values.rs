//! Values that can be missing although their types do not say so: typed pipelines refuse them where null can't be read.

use std::collections::BTreeMap;

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::expr::{Expr, Unit, cases, if_};
use odm::output;
use odm::pipeline::{Output, Pipeline, ValueCount, pipeline};
use odm::prelude::*;

use crate::case::cases as suite;

suite![
    outputs_refuse_what_the_store_returns_as_null,
    variants_and_entries_of_maps_can_be_missing,
    documents_that_are_not_found_are_missing,
    keys_and_values_beside_documents_keep_it,
    values_that_are_there_are_read,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Address {
    city: String,
    number: i32,
    since: DateTime,
    tags: Vec<String>,
    floor: Option<i32>,
    place: Option<Place>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Place {
    height: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Contact {
    Phone { digits: String },
    Mail { domain: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "customers")]
struct Customer {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    address: Option<Address>,
    #[odm(embed(few, max = 20))]
    others: Vec<Option<Address>>,
    contact: Contact,
    stock: BTreeMap<String, i32>,
    friend: Option<Ref<Customer>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
struct Whole {
    v: i32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
struct Long {
    v: i64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
struct Real {
    v: f64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
struct Text {
    v: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
struct Truth {
    v: bool,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
struct Date {
    v: DateTime,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
#[odm(result)]
struct Texts {
    v: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
#[odm(result)]
struct Wholes {
    v: Vec<i32>,
}

fn address(city: &str, number: i32, place: Option<Place>) -> Address {
    Address {
        city: city.to_owned(),
        number,
        since: DateTime::from_millis(0),
        tags: vec!["home".to_owned()],
        floor: None,
        place,
    }
}

async fn filled(db: &Db) -> Collection<Customer> {
    let customers = db.collection::<Customer>();
    let with = |id, address: Option<Address>, contact, friend: Option<i32>| Customer {
        id,
        name: format!("c{id}"),
        others: vec![address.clone(), None],
        address,
        contact,
        stock: BTreeMap::from([(format!("k{id}"), id)]),
        friend: friend.map(Ref::from),
    };
    let phone = Contact::Phone {
        digits: "1".to_owned(),
    };
    let mail = Contact::Mail {
        domain: "x".to_owned(),
    };
    let place = Some(Place { height: 1.5 });
    customers
        .insert_many([
            with(1, Some(address("Graz", 7, place)), phone, Some(2)),
            with(2, Some(address("Linz", 8, None)), mail.clone(), Some(9)),
            with(3, None, mail, None),
        ])
        .await
        .unwrap();
    customers
}

type Of<T> = Expr<Customer, T>;

/// Whether the store returns null or a list with null, or nothing, for one of the customers.
async fn is_missing<T>(customers: &Collection<Customer>, value: &Of<T>) -> bool {
    let stage = doc! {"$project": {"v": value.to_bson().unwrap()}};
    let found = customers.aggregate(vec![stage]).with_type::<BsonDocument>();
    let found = found.all().await.unwrap();
    found.iter().any(|one| match one.get("v") {
        None | Some(Bson::Null) => true,
        Some(Bson::Array(items)) => items.contains(&Bson::Null),
        Some(_) => false,
    })
}

fn is_refused<R: Embedded>(output: Output<Customer, R>) -> bool {
    match pipeline::<Customer>().project(|_| output).to_stages() {
        Ok(_) => false,
        Err(error) => {
            assert!(error.is_usage(), "{error}");
            let message = error.to_string();
            assert!(message.contains("the field `v` of"), "{message}");
            true
        }
    }
}

async fn outputs_refuse_what_the_store_returns_as_null(db: &Db) {
    let customers = filled(db).await;
    let c = odm::query::fields::<Customer>();
    macro_rules! check {
        ($($shape:ident: $value:expr;)*) => {$({
            let value = $value;
            let shown = value.to_bson().unwrap();
            let refused = is_refused(output!($shape { v: &value }));
            assert_eq!(refused, is_missing(&customers, &value).await, "{shown}");
        })*};
    }
    let city = || c.address.city.expr();
    let number = || c.address.number.expr();
    let since = || c.address.since.expr();
    let tags = || c.address.tags.expr();
    check! {
        Text: city();
        Text: city().concat("x");
        Text: c.name.expr().concat(city());
        Text: city().optional().or("x");
        Text: city().optional().or(&c.name);
        Text: city().bson_type();
        Whole: number();
        Whole: number() + 1;
        Whole: number() * c.id.expr();
        Whole: number().abs();
        Real: number() / 2;
        Real: c.address.place.height.expr();
        Real: c.address.place.height.expr() + 0.5;
        Truth: number().gt(3);
        Truth: !number().gt(3);
        Truth: number().optional().is_null();
        Truth: city().optional().or("").matches("^G", "");
        Truth: number().gt(3) & city().eq("Graz");
        Whole: if_(c.id.expr().eq(1), number(), number());
        Whole: if_(number().gt(7), c.id.expr(), c.id.expr());
        Whole: cases(c.id.expr().lt(5), number()).otherwise(0);
        Whole: cases(number().lt(5), c.id.expr()).otherwise(0);
        Whole: cases(c.id.expr().gt(5), c.id.expr()).otherwise(number());
        Date: since();
        Date: since().trunc(Unit::Day);
        Date: since().add_time(1, Unit::Day);
        Whole: since().year();
        Text: since().format("%Y");
        Long: since().until(since(), Unit::Day);
        Texts: tags();
        Texts: tags().reversed();
        Texts: tags().concat_list(tags());
        Texts: tags().filter(|tag| tag.expr().ne("home"));
        Texts: tags().map(|tag| tag.expr().concat("s"));
        Texts: c.others.expr().map(|one| one.city);
        Wholes: c.others.expr().map(|one| one.number.expr() + 1);
        Wholes: c.others.expr().map(|one| one.number.expr().optional().or(0));
        Long: c.others.expr().map(|one| one.number).sum();
        Text: c.address.number.expr().to_text();
        Text: c.name.expr();
        Whole: c.id.expr() + 1;
    }
    let chosen = || cases(c.id.expr().lt(5), number()).otherwise(number() + 1);
    assert!(is_refused(output!(Whole { v: chosen() })));
    assert!(!is_refused(output!(Whole {
        v: chosen().required()
    })));
    assert!(!is_refused(output!(Whole {
        v: chosen().optional().or(0)
    })));
    // The value of an `Option` is one whatever its document is.
    let floors = pipeline::<Customer>().group_all(|c, all| {
        output!(Floors {
            floors: all.push(c.address.floor.expr() + 1),
            addresses: all.first_n(2, c.address.expr()),
        })
    });
    assert!(floors.to_stages().is_ok(), "{floors:?}");
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
#[odm(result)]
struct Floors {
    floors: Vec<Option<i32>>,
    addresses: Vec<Option<Address>>,
}

async fn variants_and_entries_of_maps_can_be_missing(db: &Db) {
    let customers = filled(db).await;
    let c = odm::query::fields::<Customer>();
    assert!(is_refused(output!(Text {
        v: &c.contact.phone.digits
    })));
    assert!(is_refused(output!(Whole {
        v: c.stock.key("k1")
    })));
    let digits = c.contact.phone.digits.expr().optional();
    let stages = pipeline::<Customer>().sort(|c| c.id.asc()).project(|_| {
        output!(Text {
            v: digits.or("none")
        })
    });
    let found = customers.aggregate(stages).all().await.unwrap();
    let found: Vec<&str> = found.iter().map(|text| text.v.as_str()).collect();
    assert_eq!(found, ["1", "none", "none"]);
    let entries = pipeline::<Customer>()
        .match_(|c| c.stock.key("k1").exists(true))
        .project(|c| {
            output!(Whole {
                v: c.stock.key("k1").expr().required()
            })
        });
    assert_eq!(
        customers.aggregate(entries).all().await.unwrap(),
        [Whole { v: 1 }]
    );
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
struct Pair {
    #[serde(rename = "_id")]
    id: i32,
    friend: Option<String>,
    longer: Option<i32>,
}

async fn documents_that_are_not_found_are_missing(db: &Db) {
    let customers = filled(db).await;
    let with_friend = || pipeline::<Customer>().lookup_or_none(|c| c.friend);
    let refused = with_friend().project(|(_, friend)| output!(Text { v: friend.name }));
    assert!(refused.to_stages().is_err());
    let found = with_friend()
        .project(|(c, friend)| {
            output!(Pair {
                id: &c.id,
                friend: &friend.name,
                longer: friend.id.expr() - c.id,
            })
        })
        .sort(|f| f.id.asc());
    let found = customers.aggregate(found).all().await.unwrap();
    let expected = |id, friend: Option<&str>, longer| Pair {
        id,
        friend: friend.map(str::to_owned),
        longer,
    };
    assert_eq!(
        found,
        [
            expected(1, Some("c2"), Some(1)),
            expected(2, None, None),
            expected(3, None, None),
        ]
    );
    // What `lookup_one` and `unwind` find is there.
    let one = pipeline::<Customer>()
        .lookup_one(|c| c.friend)
        .project(|(_, friend)| output!(Text { v: friend.name }));
    assert_eq!(
        customers.aggregate(one).all().await.unwrap(),
        [Text { v: "c2".into() }]
    );
    let tags = pipeline::<Customer>()
        .unwind(|c| c.address.tags)
        .project(|(_, tag)| output!(Text { v: tag }));
    assert_eq!(customers.aggregate(tags).all().await.unwrap().len(), 2);
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
struct City {
    #[serde(rename = "_id")]
    city: Option<String>,
    customers: i64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
struct KnownCity {
    #[serde(rename = "_id")]
    city: String,
    highest: i32,
}

async fn keys_and_values_beside_documents_keep_it(db: &Db) {
    let customers = filled(db).await;
    let known = |stages: Pipeline<Customer>| {
        stages.group_by(
            |c| c.address.city,
            |c, group| {
                output!(KnownCity {
                    city: group.key(),
                    highest: group.max(c.id),
                })
            },
        )
    };
    assert!(known(pipeline()).to_stages().is_err());
    let highest = pipeline::<Customer>().group_by(
        |c| c.name,
        |c, group| {
            output!(KnownCity {
                city: group.key(),
                highest: group.max(c.address.number),
            })
        },
    );
    assert!(highest.to_stages().is_err());
    let cities = pipeline::<Customer>()
        .group_by(
            |c| c.address.city,
            |_, group| {
                output!(City {
                    city: group.key(),
                    customers: group.count(),
                })
            },
        )
        .sort(|city| city.city.asc());
    let cities = customers.aggregate(cities).all().await.unwrap();
    let cities: Vec<Option<&str>> = cities.iter().map(|one| one.city.as_deref()).collect();
    assert_eq!(cities, [None, Some("Graz"), Some("Linz")]);

    let counted = pipeline::<Customer>().count_by(|c| c.address.city);
    assert!(counted.to_stages().is_err());
    let counted = pipeline::<Customer>().count_by(|c| c.address.city.expr().optional());
    let counted: Vec<ValueCount<Option<String>>> =
        customers.aggregate(counted).all().await.unwrap();
    assert_eq!(counted.len(), 3);

    let more = |stages: Pipeline<Customer>| {
        stages
            .add_field(|c| c.address.number.expr() + 1)
            .project(|(_, more)| output!(Whole { v: more }))
    };
    assert!(more(pipeline()).to_stages().is_err());
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
struct WithDefault {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(default)]
    city: String,
}

async fn values_that_are_there_are_read(db: &Db) {
    let customers = filled(db).await;
    let in_cities = pipeline::<Customer>()
        .match_(|c| c.address.city.exists(true))
        .sort(|c| c.id.asc())
        .project(|c| {
            output!(Whole {
                v: (c.address.number.expr() + 1).required()
            })
        });
    let found = customers.aggregate(in_cities).all().await.unwrap();
    assert_eq!(found, [Whole { v: 8 }, Whole { v: 9 }]);
    // A missing field is read as its default.
    let defaults = pipeline::<Customer>().sort(|c| c.id.desc()).project(|c| {
        output!(WithDefault {
            id: c.id,
            city: c.address.city
        })
    });
    let first = customers.aggregate(defaults).first().await.unwrap();
    let expected = WithDefault {
        id: 3,
        city: String::new(),
    };
    assert_eq!(first, Some(expected));
}
