//! Validation: the struct, the client and the store report the same rule with the same details.

use std::collections::BTreeMap;

use odm::bson::Bson;
use odm::prelude::*;
use odm::query::raw;
use odm::schema::Validator;
use odm::{ValidationFailure, bson};

use crate::case::cases;

cases![
    every_rule_is_refused_with_its_path_and_value,
    client_and_store_validation_agree,
    valid_documents_pass_in_all_shapes,
    types_are_checked_where_raw_documents_come_in,
    undeclared_fields_are_refused_when_asked,
    expression_rules_are_named,
    an_expression_that_fails_says_why,
    a_value_may_look_like_an_operator,
    a_bulk_write_names_the_rule_of_each_document,
    warn_action_accepts_documents,
    bypass_is_per_write,
    validation_can_be_switched_off,
    moderate_validation_leaves_old_documents_alone,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Contact {
    #[odm(length(min = 1))]
    name: String,
    #[odm(pattern = "^[^@]+@[^@]+$")]
    mail: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "lowercase")]
enum Status {
    New,
    Used,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
enum Shape {
    Point,
    Circle { radius: f64 },
    Square(f64),
    Pair(i32, String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(tag = "kind")]
enum Event {
    Start,
    Stop { after: i32 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(tag = "t", content = "c")]
enum Payload {
    Empty,
    Text(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(untagged)]
enum Either {
    Number(i32),
    Words(Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Audit {
    #[serde(rename = "createdBy")]
    created_by: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Node {
    value: i32,
    next: Option<Box<Node>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "things",
    rule("a thing is not sold for less than it cost", |_| raw(doc! {"$expr": {"$gte": ["$price", "$cost"]}})),
    rule("a forbidden title stays out", |t| t.title.ne("forbid") & t.cost.lt(1000))
)]
struct Thing {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(length(min = 1, max = 8))]
    title: String,
    #[odm(range(min = 0, exclusive_max = 100))]
    price: i32,
    #[odm(range(min = 0))]
    cost: i32,
    #[odm(one_of("red", "green"))]
    colour: Option<String>,
    status: Status,
    #[odm(items(min = 1, max = 3), unique_items, length(max = 5))]
    tags: Vec<String>,
    #[odm(embed(few, max = 2))]
    contacts: Vec<Contact>,
    shape: Shape,
    event: Option<Event>,
    payload: Payload,
    either: Either,
    counts: BTreeMap<String, i32>,
    #[serde(flatten)]
    audit: Audit,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    node: Option<Node>,
    when: DateTime,
}

fn thing() -> Thing {
    Thing {
        id: 1,
        title: "title".to_owned(),
        price: 9,
        cost: 5,
        colour: Some("red".to_owned()),
        status: Status::New,
        tags: vec!["a".to_owned()],
        contacts: vec![contact("Ada", Some("ada@example.org"))],
        shape: Shape::Circle { radius: 1.0 },
        event: None,
        payload: Payload::Empty,
        either: Either::Number(1),
        counts: BTreeMap::new(),
        audit: Audit {
            created_by: "me".to_owned(),
        },
        node: None,
        when: DateTime::from_millis(0),
    }
}

fn contact(name: &str, mail: Option<&str>) -> Contact {
    Contact {
        name: name.to_owned(),
        mail: mail.map(str::to_owned),
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Documents that break one rule each: the document, the rule, the path, the value.
fn broken() -> Vec<(Thing, &'static str, &'static str, Option<Bson>)> {
    let with = |change: fn(&mut Thing)| {
        let mut thing = thing();
        change(&mut thing);
        thing
    };
    vec![
        (
            with(|t| t.title.clear()),
            "minLength",
            "title",
            Some("".into()),
        ),
        (
            with(|t| t.title = "too long a title".into()),
            "maxLength",
            "title",
            Some("too long a title".into()),
        ),
        (
            with(|t| t.price = 100),
            "maximum",
            "price",
            Some(100.into()),
        ),
        (with(|t| t.cost = -1), "minimum", "cost", Some((-1).into())),
        (
            with(|t| t.colour = Some("blue".to_owned())),
            "enum",
            "colour",
            Some("blue".into()),
        ),
        (
            with(|t| t.tags.clear()),
            "minItems",
            "tags",
            Some(Bson::Array(Vec::new())),
        ),
        (
            with(|t| t.tags = words(&["a", "b", "a"])),
            "uniqueItems",
            "tags",
            Some(words(&["a", "b", "a"]).into()),
        ),
        (
            with(|t| t.tags = words(&["a", "longer"])),
            "maxLength",
            "tags.1",
            Some("longer".into()),
        ),
        (
            with(|t| t.contacts.push(contact("", None))),
            "minLength",
            "contacts.1.name",
            Some("".into()),
        ),
        (
            with(|t| t.contacts.push(contact("Bob", Some("bob")))),
            "pattern",
            "contacts.1.mail",
            Some("bob".into()),
        ),
        (
            with(|t| t.cost = 10),
            "a thing is not sold for less than it cost",
            "",
            None,
        ),
        (
            with(|t| t.title = "forbid".into()),
            "a forbidden title stays out",
            "title",
            Some("forbid".into()),
        ),
    ]
}

async fn things(db: &Db) -> Collection<Thing> {
    sync::<Thing>(db).await;
    db.collection()
}

async fn sync<M: Document>(db: &Db) {
    let plan = db.sync(models![M]).plan().await.unwrap();
    let everything = Allow::CREATE | Allow::CHANGE;
    assert!(plan.apply(everything).await.unwrap().is_complete());
    let again = db.sync(models![M]).plan().await.unwrap();
    assert!(again.is_empty(), "{again}");
}

fn failure(error: &odm::Error) -> &ValidationFailure {
    assert!(error.is_validation_failure(), "{error}");
    assert_eq!(error.code().unwrap().number(), 121);
    error.validation_failure().unwrap()
}

async fn every_rule_is_refused_with_its_path_and_value(db: &Db) {
    let things = things(db).await;
    for (thing, rule, path, value) in broken() {
        let error = things.insert_one(&thing).await.unwrap_err();
        let violation = &failure(&error).violations()[0];
        assert_eq!(
            (violation.rule.as_str(), violation.path.as_str()),
            (rule, path)
        );
        assert_eq!(violation.value, value);
        assert_eq!(error.model(), Some("Thing"));
        assert_eq!(failure(&error).model(), failure(&error).model());
        assert!(error.to_string().contains(rule), "{error}");
    }
    assert_eq!(things.count_documents(|_| raw(doc! {})).await.unwrap(), 0);
}

async fn client_and_store_validation_agree(db: &Db) {
    let things = things(db).await;
    let validator = Validator::<Thing>::new().unwrap();
    assert!(thing().validate().is_ok());
    for (thing, rule, ..) in broken() {
        let store = things.insert_one(&thing).await.unwrap_err();
        let client = thing.validate().unwrap_err();
        let (store, client) = (failure(&store), failure(&client));
        assert_eq!(client.details(), store.details(), "{rule}");
        assert_eq!(client.document_id(), store.document_id());
        assert_eq!(client.violations(), store.violations());
        assert_eq!(client.model(), store.model());
        assert!(validator.validate(&thing).is_err());
    }
}

async fn valid_documents_pass_in_all_shapes(db: &Db) {
    let things = things(db).await;
    let chain = (0..9).fold(None, |next, value| {
        Some(Node {
            value,
            next: next.map(Box::new),
        })
    });
    let changes: [fn(&mut Thing); 12] = [
        |t| t.colour = None,
        |t| t.status = Status::Used,
        |t| t.shape = Shape::Point,
        |t| t.shape = Shape::Square(2.0),
        |t| t.shape = Shape::Pair(1, "x".to_owned()),
        |t| t.event = Some(Event::Start),
        |t| t.event = Some(Event::Stop { after: 3 }),
        |t| t.payload = Payload::Text("x".to_owned()),
        |t| t.either = Either::Words(words(&["a"])),
        |t| t.contacts.clear(),
        |t| t.counts = BTreeMap::from([("a".to_owned(), 1)]),
        |t| t.price = 99,
    ];
    for (id, change) in changes.into_iter().enumerate() {
        let mut thing = Thing {
            id: i32::try_from(id).unwrap(),
            node: chain.clone(),
            ..thing()
        };
        change(&mut thing);
        things.insert_one(&thing).await.unwrap();
        assert!(thing.validate().is_ok());
        assert_eq!(things.get(&thing.id).await.unwrap(), Some(thing));
    }
}

async fn types_are_checked_where_raw_documents_come_in(db: &Db) {
    let things = things(db).await;
    things.insert_one(thing()).await.unwrap();
    let rows: Vec<(bson::Document, &str, &str)> = vec![
        (doc! {"$set": {"price": "9"}}, "bsonType", "price"),
        (doc! {"$set": {"price": 9_i64}}, "bsonType", "price"),
        (doc! {"$unset": {"title": 1}}, "required", "title"),
        (doc! {"$unset": {"createdBy": 1}}, "required", "createdBy"),
        (doc! {"$set": {"status": "gone"}}, "enum", "status"),
        (
            doc! {"$set": {"contacts.0.name": 1}},
            "bsonType",
            "contacts.0.name",
        ),
        (
            doc! {"$unset": {"contacts.0.name": 1}},
            "required",
            "contacts.0.name",
        ),
        (doc! {"$set": {"contacts": [1]}}, "bsonType", "contacts.0"),
        (
            doc! {"$set": {"shape": {"Circle": {"radius": "x"}}}},
            "bsonType",
            "shape.Circle.radius",
        ),
        (
            doc! {"$set": {"shape": {"Pair": [1]}}},
            "minItems",
            "shape.Pair",
        ),
        (doc! {"$set": {"shape": "Round"}}, "anyOf", "shape"),
        (
            doc! {"$set": {"event": {"kind": "Stop"}}},
            "required",
            "event.after",
        ),
        (
            doc! {"$set": {"event": {"kind": "Stop", "after": "x"}}},
            "bsonType",
            "event.after",
        ),
        (
            doc! {"$set": {"payload": {"t": "Text", "c": 1}}},
            "bsonType",
            "payload.c",
        ),
        (doc! {"$set": {"either": 1.5}}, "anyOf", "either"),
        (
            doc! {"$set": {"counts": {"a": "x"}}},
            "bsonType",
            "counts.a",
        ),
        (
            doc! {"$set": {"node": {"value": 1, "next": {"value": 2, "next": {"value": "x"}}}}},
            "bsonType",
            "node.next.next.value",
        ),
    ];
    for (update, rule, path) in rows {
        let error = things
            .update_one(|t| t.id.eq(1), |_| raw(update.clone()))
            .await
            .unwrap_err();
        let found: Vec<_> = failure(&error)
            .violations()
            .iter()
            .map(|violation| (violation.rule.as_str(), violation.path.as_str()))
            .collect();
        assert!(found.contains(&(rule, path)), "{update}: {found:?}");
    }
    assert_eq!(things.get(&1).await.unwrap(), Some(thing()));
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "strict", deny_undeclared)]
struct Strict {
    #[serde(rename = "_id")]
    id: i32,
    a: i32,
}

async fn undeclared_fields_are_refused_when_asked(db: &Db) {
    sync::<Strict>(db).await;
    let strict = db.collection::<Strict>();
    strict.insert_one(Strict { id: 1, a: 1 }).await.unwrap();
    let error = strict
        .update_one(|s| s.id.eq(1), |_| raw(doc! {"$set": {"b": 1}}))
        .await
        .unwrap_err();
    let violation = &failure(&error).violations()[0];
    assert_eq!(
        (violation.rule.as_str(), violation.path.as_str()),
        ("additionalProperties", "b")
    );
    assert_eq!(failure(&error).model(), Some("Strict"));
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "stock",
    rule("available is not negative", |s| s.available.gte(0)),
    rule("a or b", |s| s.a.eq(1) | s.b.eq(1))
)]
struct Stock {
    #[serde(rename = "_id")]
    id: i32,
    available: i32,
    a: i32,
    b: i32,
}

fn stock(id: i32, available: i32, a: i32) -> Stock {
    Stock {
        id,
        available,
        a,
        b: 0,
    }
}

async fn expression_rules_are_named(db: &Db) {
    sync::<Stock>(db).await;
    let stocks = db.collection::<Stock>();
    let error = stocks.insert_one(stock(1, -1, 1)).await.unwrap_err();
    let violation = &failure(&error).violations()[0];
    assert_eq!(violation.rule, "available is not negative");
    assert_eq!(violation.operator, "$gte");
    assert_eq!(violation.path, "available");
    assert_eq!(violation.value, Some(Bson::Int32(-1)));
    assert_eq!(
        error.to_string(),
        "Stock: document failed validation, _id 1: available breaks `available is not negative` \
         with -1 (DocumentValidationFailure 121)"
    );
    let error = stocks.insert_one(stock(1, 1, 2)).await.unwrap_err();
    let found: Vec<_> = failure(&error)
        .violations()
        .iter()
        .map(|violation| (violation.rule.as_str(), violation.path.as_str()))
        .collect();
    assert_eq!(found, [("a or b", "a"), ("a or b", "b")]);
    stocks.insert_one(stock(1, 1, 1)).await.unwrap();
    let error = stocks
        .update_one(|s| s.id.eq(1), |s| s.available.inc(-2))
        .await
        .unwrap_err();
    assert_eq!(
        failure(&error).violations()[0].rule,
        "available is not negative"
    );
}

async fn a_bulk_write_names_the_rule_of_each_document(db: &Db) {
    sync::<Stock>(db).await;
    let stocks = db.collection::<Stock>();
    let documents = [stock(1, -1, 1), stock(2, 1, 1), stock(3, 1, 2)];
    let error = stocks
        .insert_many(&documents)
        .ordered(false)
        .await
        .unwrap_err();
    let rules: Vec<_> = error
        .write_errors()
        .iter()
        .map(|write| {
            let failure = write.validation_failure().unwrap();
            (write.index(), failure.violations()[0].rule.clone())
        })
        .collect();
    assert_eq!(
        rules,
        [
            (0, "available is not negative".to_owned()),
            (2, "a or b".to_owned())
        ]
    );
}

async fn bypass_is_per_write(db: &Db) {
    sync::<Stock>(db).await;
    let stocks = db.collection::<Stock>();
    let bad = stock(1, -1, 1);
    let bypassing = stocks.insert_one(&bad).bypass_document_validation(true);
    bypassing.await.unwrap();
    assert!(stocks.insert_one(stock(2, -1, 1)).await.is_err());
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "lenient", validation(action = "warn"), rule("n is positive", |l| l.n.gt(0)))]
struct Lenient {
    #[serde(rename = "_id")]
    id: i32,
    n: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "lenient", validation(level = "off"), rule("n is positive", |l| l.n.gt(0)))]
struct Off {
    #[serde(rename = "_id")]
    id: i32,
    n: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "lenient", validation(level = "moderate"), rule("n is positive", |l| l.n.gt(0)))]
struct Moderate {
    #[serde(rename = "_id")]
    id: i32,
    n: i32,
}

async fn warn_action_accepts_documents(db: &Db) {
    sync::<Lenient>(db).await;
    let bad = Lenient { id: 1, n: 0 };
    db.collection::<Lenient>().insert_one(&bad).await.unwrap();
    assert!(
        bad.validate().is_err(),
        "the client's check is always strict"
    );
}

async fn validation_can_be_switched_off(db: &Db) {
    sync::<Off>(db).await;
    let bad = Off { id: 1, n: 0 };
    db.collection::<Off>().insert_one(&bad).await.unwrap();
}

async fn moderate_validation_leaves_old_documents_alone(db: &Db) {
    sync::<Off>(db).await;
    let bad = Off { id: 1, n: 0 };
    db.collection::<Off>().insert_one(&bad).await.unwrap();
    sync::<Moderate>(db).await;
    let moderate = db.collection::<Moderate>();
    moderate
        .update_one(|m| m.id.eq(1), |m| m.n.set(-5))
        .await
        .unwrap();
    assert!(moderate.insert_one(Moderate { id: 2, n: 0 }).await.is_err());
    moderate.insert_one(Moderate { id: 3, n: 1 }).await.unwrap();
    let update = moderate.update_one(|m| m.id.eq(3), |m| m.n.set(0));
    assert!(update.await.is_err());
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(
    collection = "shares",
    rule("shares are whole", |_| raw(doc! {"$or": [
        {"$expr": {"$eq": [0, {"$mod": ["$sum", "$parts"]}]}}, {"sum": 1},
    ]})),
    rule("nothing of the future", |_| raw(doc! {"$expr": {"$lt": ["$at", "$$NOW"]}})),
    rule("not a single one", |_| raw(doc! {"$nor": [{"$expr": {"$eq": [1, {"$divide": ["$sum", "$parts"]}]}}]}))
)]
struct Share {
    #[serde(rename = "_id")]
    id: i32,
    sum: i32,
    parts: i32,
    at: DateTime,
}

async fn an_expression_that_fails_says_why(db: &Db) {
    sync::<Share>(db).await;
    let share = Share {
        id: 1,
        sum: 1,
        parts: 0,
        at: DateTime::from_millis(0),
    };
    let store = db
        .collection::<Share>()
        .insert_one(&share)
        .await
        .unwrap_err();
    let client = share.validate().unwrap_err();
    assert_eq!(failure(&client).details(), failure(&store).details());
    assert_eq!(client.to_string(), store.to_string());
    let found: Vec<_> = failure(&store)
        .violations()
        .iter()
        .map(|violation| (violation.rule.as_str(), violation.reason.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (
                "shares are whole",
                "failed to evaluate aggregation expression: can't $mod by zero"
            ),
            // mongod lists it although it matches.
            ("shares are whole", "comparison failed"),
            (
                "nothing of the future",
                "failed to evaluate aggregation expression: Builtin variable '$$NOW' is not available"
            ),
            (
                "not a single one",
                "failed to evaluate aggregation expression: can't $divide by zero"
            ),
        ]
    );
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(
    collection = "filters",
    rule("no script", |_| raw(doc! {"filter": {"$ne": {"$where": "1"}}})),
    rule("no search", |_| raw(doc! {"$expr": {"$ne": ["$filter", {"$literal": {"$text": 1}}]}}))
)]
struct Stored {
    #[serde(rename = "_id")]
    id: i32,
    filter: bson::Document,
}

async fn a_value_may_look_like_an_operator(db: &Db) {
    sync::<Stored>(db).await;
    let filters = db.collection::<Stored>();
    let filter = doc! {"$where": "1"};
    let stored = Stored { id: 1, filter };
    let error = filters.insert_one(&stored).await.unwrap_err();
    assert_eq!(failure(&error).violations()[0].rule, "no script");
    let filter = doc! {"$where": "2"};
    let stored = Stored { id: 1, filter };
    filters.insert_one(&stored).await.unwrap();
    for filter in [
        doc! {"a": {"$not": {"$near": [0, 0]}}},
        doc! {"$nor": [{"a": {"$elemMatch": {"$where": "1"}}}]},
    ] {
        let create = doc! {"create": "others", "validator": filter};
        assert!(db.run_command(create).await.is_err());
    }
}
