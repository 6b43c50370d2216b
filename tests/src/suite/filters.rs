//! Every filter operator of the typed fields.

use odm::model::BsonType;
use odm::prelude::*;
use odm::query::AnyNumber;
use odm::query::raw;

use crate::case::cases;

cases![
    equality,
    ranges,
    membership,
    presence_and_type,
    strings_match,
    numbers_and_bits,
    logic,
    arrays,
    arrays_in_arrays,
    nested_documents,
    raw_filters,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "items")]
struct Item {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    quantity: i64,
    price: f64,
    flags: i32,
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    color: Option<String>,
    tags: Vec<String>,
    scores: Vec<i32>,
    size: Size,
    #[odm(embed(few, max = 10))]
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Size {
    width: i32,
    unit: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Part {
    name: String,
    count: i32,
}

fn size(width: i32, unit: &str) -> Size {
    Size {
        width,
        unit: unit.to_owned(),
    }
}

fn part(name: &str, count: i32) -> Part {
    Part {
        name: name.to_owned(),
        count,
    }
}

fn strings(values: &[&str]) -> Vec<String> {
    values.iter().map(|&value| value.to_owned()).collect()
}

fn items() -> Vec<Item> {
    vec![
        Item {
            id: 1,
            name: "Anvil".to_owned(),
            quantity: 5,
            price: 99.5,
            flags: 0b0001,
            note: None,
            color: Some("black".to_owned()),
            tags: strings(&["iron", "heavy"]),
            scores: vec![82, 85, 88],
            size: size(30, "cm"),
            parts: vec![],
        },
        Item {
            id: 2,
            name: "anvil (small)".to_owned(),
            quantity: 0,
            price: 49.5,
            flags: 0b0011,
            note: Some("last one".to_owned()),
            color: None,
            tags: strings(&["iron"]),
            scores: vec![75, 88],
            size: size(12, "cm"),
            parts: vec![part("screw", 4)],
        },
        Item {
            id: 3,
            name: "Bolt 100%".to_owned(),
            quantity: 5_000_000_000,
            price: 0.25,
            flags: 0b0110,
            note: Some(String::new()),
            color: Some("grey".to_owned()),
            tags: strings(&["steel", "small"]),
            scores: vec![],
            size: size(1, "in"),
            parts: vec![part("nut", 1), part("washer", 2)],
        },
        Item {
            id: 4,
            name: "Clamp".to_owned(),
            quantity: -3,
            price: 12.0,
            flags: 0,
            note: None,
            color: None,
            tags: strings(&[]),
            scores: vec![90],
            size: size(8, "in"),
            parts: vec![part("screw", 1), part("nut", 4)],
        },
    ]
}

async fn stored(db: &Db) -> Collection<Item> {
    let collection = db.collection::<Item>();
    collection.insert_many(items()).await.unwrap();
    collection
}

/// Asserts which items a filter finds, by id.
macro_rules! finds {
    ($items:ident, $filter:expr, $expected:expr) => {{
        let found = $items
            .find($filter)
            .sort(|i| i.id.asc())
            .all()
            .await
            .unwrap();
        let found: Vec<i32> = found.iter().map(|item| item.id).collect();
        let expected: &[i32] = &$expected;
        assert_eq!(found, expected, "{}", stringify!($filter));
    }};
}

async fn equality(db: &Db) {
    let items = stored(db).await;
    finds!(items, |i| i.name.eq("Clamp"), [4]);
    finds!(items, |i| i.name.eq("clamp"), []);
    finds!(items, |i| i.quantity.ne(5), [2, 3, 4]);
    // Numbers are equal across BSON types.
    finds!(items, |i| i.price.eq(12.0), [4]);
    finds!(items, |_| raw(doc! {"price": 12}), [4]);
    // `null` matches null and missing fields.
    finds!(items, |i| i.note.eq(None), [1, 4]);
    finds!(items, |i| i.color.eq(None), [2, 4]);
    finds!(items, |i| i.color.ne(None), [1, 3]);
    // A whole array, in order; or one of its elements.
    finds!(items, |i| i.tags.eq(strings(&["iron", "heavy"])), [1]);
    finds!(items, |i| i.tags.eq(strings(&["heavy", "iron"])), []);
    finds!(items, |i| i.tags.has("iron"), [1, 2]);
    finds!(items, |i| i.tags.any().eq("iron"), [1, 2]);
    // A string with `$` is not an operator.
    finds!(items, |i| i.name.eq("$gt"), []);
}

async fn ranges(db: &Db) {
    let items = stored(db).await;
    finds!(items, |i| i.quantity.gt(5), [3]);
    finds!(items, |i| i.quantity.gte(5), [1, 3]);
    finds!(items, |i| i.quantity.lt(0), [4]);
    finds!(items, |i| i.quantity.lte(0), [2, 4]);
    finds!(items, |i| i.price.gt(0.25) & i.price.lt(50.0), [2, 4]);
    finds!(items, |i| i.name.gte("Bolt") & i.name.lt("D"), [3, 4]);
    finds!(items, |i| i.scores.any().gt(88), [4]);
    // Different elements may match the conditions.
    finds!(
        items,
        |i| i.scores.any().gt(86) & i.scores.any().lt(80),
        [2]
    );
}

async fn membership(db: &Db) {
    let items = stored(db).await;
    finds!(items, |i| i.id.in_([4, 1, 9]), [1, 4]);
    finds!(items, |i| i.id.in_(Vec::<i32>::new()), []);
    finds!(items, |i| i.id.nin([4, 1, 9]), [2, 3]);
    finds!(
        items,
        |i| i.note.in_([None, Some("last one".to_owned())]),
        [1, 2, 4]
    );
    finds!(items, |i| i.tags.any().in_(["small", "heavy"]), [1, 3]);
    finds!(items, |i| i.tags.any().nin(["small", "heavy"]), [2, 4]);
}

async fn presence_and_type(db: &Db) {
    let items = stored(db).await;
    finds!(items, |i| i.color.exists(true), [1, 3]);
    finds!(items, |i| i.color.is_missing(), [2, 4]);
    finds!(items, |i| i.note.exists(true), [1, 2, 3, 4]);
    finds!(items, |i| i.note.is_null(), [1, 4]);
    finds!(items, |i| i.color.is_null(), []);
    finds!(items, |i| i.note.type_(BsonType::String), [2, 3]);
    finds!(items, |i| i.quantity.type_(AnyNumber), [1, 2, 3, 4]);
    finds!(
        items,
        |i| i.quantity.type_([BsonType::Int, BsonType::Double]),
        []
    );
    // The type of an array's elements, or of the array.
    finds!(items, |i| i.scores.type_(BsonType::Int), [1, 2, 4]);
    finds!(items, |i| i.scores.type_(BsonType::Array), [1, 2, 3, 4]);
}

async fn strings_match(db: &Db) {
    let items = stored(db).await;
    finds!(items, |i| i.name.starts_with("An"), [1]);
    finds!(items, |i| i.name.ends_with("100%"), [3]);
    // The search text is not a pattern.
    finds!(items, |i| i.name.contains("(small)"), [2]);
    finds!(items, |i| i.name.contains("."), []);
    finds!(items, |i| i.name.regex("^[AC]"), [1, 4]);
    finds!(items, |i| i.name.regex_with("^a", "i"), [1, 2]);
    finds!(items, |i| i.note.contains("one"), [2]);
    finds!(items, |i| i.tags.any().starts_with("s"), [3]);
    finds!(items, |i| !i.name.regex("^[AC]"), [2, 3]);
}

async fn numbers_and_bits(db: &Db) {
    let items = stored(db).await;
    finds!(items, |i| i.quantity.mod_(5, 0), [1, 2, 3]);
    finds!(items, |i| i.quantity.mod_(5, -3), [4]);
    finds!(items, |i| i.scores.any().mod_(10, 5), [1, 2]);
    finds!(items, |i| i.flags.bits_all_set(0b0011), [2]);
    finds!(items, |i| i.flags.bits_any_set(0b0011), [1, 2, 3]);
    finds!(items, |i| i.flags.bits_all_clear(0b0011), [4]);
    finds!(items, |i| i.flags.bits_any_clear(0b0011), [1, 3, 4]);
    finds!(items, |i| i.flags.bits_all_set([1, 2]), [3]);
}

async fn logic(db: &Db) {
    let items = stored(db).await;
    finds!(items, |i| i.id.eq(1) | i.id.eq(3), [1, 3]);
    finds!(items, |i| (i.id.eq(1) | i.id.eq(3)) & i.price.gt(1.0), [1]);
    finds!(items, |i| !(i.id.eq(1) | i.id.eq(3)), [2, 4]);
    finds!(items, |i| !i.quantity.gt(0), [2, 4]);
    finds!(items, |i| i.quantity.not(|q| q.gt(0)), [2, 4]);
    finds!(
        items,
        |i| Filter::any_of([1, 2].map(|n| i.id.eq(n))),
        [1, 2]
    );
    finds!(
        items,
        |i| Filter::none_of([i.id.eq(1), i.color.exists(false)]),
        [3]
    );
    finds!(items, |i| Filter::all_of([i.id.gt(1), i.id.lt(4)]), [2, 3]);
    finds!(items, |_| Filter::any_of([]), []);
    finds!(items, |_| Filter::all_of([None]), [1, 2, 3, 4]);
    finds!(
        items,
        |i| Filter::all_of([None, Some(i.id.gt(2)), None]),
        [3, 4]
    );
    // The same operator twice on one field: both conditions apply.
    finds!(items, |i| i.name.regex("m") & i.name.regex("^C"), [4]);
    finds!(items, |i| i.id.ne(1) & i.id.ne(2), [3, 4]);
}

async fn arrays(db: &Db) {
    let items = stored(db).await;
    finds!(items, |i| i.tags.all(["heavy", "iron"]), [1]);
    finds!(items, |i| i.tags.size(0), [4]);
    finds!(items, |i| i.scores.size(2), [2]);
    finds!(items, |i| i.scores.elem_match(|s| s.gt(80) & s.lt(86)), [1]);
    finds!(items, |i| i.scores.at(0).gt(80), [1, 4]);
    finds!(items, |i| i.parts.any().name.eq("screw"), [2, 4]);
    // One part that is both; then parts that are one or the other.
    finds!(
        items,
        |i| i.parts.elem_match(|p| p.name.eq("screw") & p.count.gte(4)),
        [2]
    );
    finds!(
        items,
        |i| i.parts.any().name.eq("screw") & i.parts.any().count.gte(4),
        [2, 4]
    );
    finds!(items, |i| i.parts.at(1).name.eq("nut"), [4]);
    finds!(items, |i| i.parts.size(2), [3, 4]);
}

async fn nested_documents(db: &Db) {
    let items = stored(db).await;
    finds!(items, |i| i.size.width.gt(8), [1, 2]);
    finds!(items, |i| i.size.unit.eq("in") & i.size.width.lt(8), [3]);
    finds!(items, |i| i.size.eq(size(8, "in")), [4]);
    finds!(
        items,
        |i| i.size.in_([size(8, "in"), size(30, "cm"), size(30, "in")]),
        [1, 4]
    );
    // The same fields in another order are another document.
    finds!(
        items,
        |_| raw(doc! {"size": {"unit": "in", "width": 8}}),
        []
    );
    finds!(items, |i| i.parts.has(part("nut", 4)), [4]);
}

async fn raw_filters(db: &Db) {
    let items = stored(db).await;
    finds!(
        items,
        |_| raw(doc! {"scores": {"$elemMatch": {"$gt": 80, "$lt": 86}}}),
        [1]
    );
    finds!(items, |i| i.scores.raw(doc! {"$size": 3}), [1]);
    finds!(
        items,
        |_| raw(doc! {"$expr": {"$gt": ["$price", "$quantity"]}}),
        [1, 2, 4]
    );
    let refused = items
        .find(|_| raw(doc! {"price": {"$nearest": 2}}))
        .all()
        .await
        .unwrap_err();
    assert_eq!(refused.code(), Some(odm::Code::BAD_VALUE), "{refused}");
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "grids")]
struct Grid {
    #[serde(rename = "_id")]
    id: i32,
    rows: Vec<Vec<i32>>,
}

async fn grids(db: &Db) -> Collection<Grid> {
    let grids = db.collection::<Grid>();
    let rows = [
        vec![vec![4, 1], vec![2]],
        vec![vec![9]],
        vec![vec![1, 7], vec![4]],
    ];
    for (id, rows) in (1..).zip(rows) {
        grids.insert_one(&Grid { id, rows }).await.unwrap();
    }
    grids
}

async fn found(grids: &Collection<Grid>, filter: Filter<Grid>) -> Vec<i32> {
    let rows = grids
        .find(move |_| filter)
        .sort(|grid| grid.id.asc())
        .all()
        .await
        .unwrap();
    rows.into_iter().map(|grid| grid.id).collect()
}

async fn arrays_in_arrays(db: &Db) {
    let grids = grids(db).await;
    let grid = odm::query::fields::<Grid>();
    let cases = [
        (grid.rows.has([9]), vec![2]),
        (grid.rows.any().eq([9]), vec![2]),
        (grid.rows.elem_match(|row| row.has(4)), vec![1, 3]),
        (grid.rows.elem_match(|row| row.all([1, 4])), vec![1]),
        (grid.rows.elem_match(|row| !row.has(4)), vec![1, 2, 3]),
        (!grid.rows.elem_match(|row| row.has(4)), vec![2]),
        (
            grid.rows
                .elem_match(|row| row.elem_match(|n| n.gt(6) & n.lt(9))),
            vec![3],
        ),
        (grid.rows.elem_match(|row| row.size(1)), vec![1, 2, 3]),
        (grid.rows.elem_match(|row| row.at(1).eq(7)), vec![3]),
        (grid.rows.at(0).has(1), vec![1, 3]),
        (grid.rows.at(0).all([4, 1]), vec![1]),
        (grid.rows.at(0).elem_match(|n| n.gt(4)), vec![2, 3]),
        (grid.rows.at(0).at(1).eq(1), vec![1]),
    ];
    for (filter, expected) in cases {
        let text = format!("{filter:?}");
        assert_eq!(found(&grids, filter).await, expected, "{text}");
    }
    let unsayable = [
        grid.rows.any().has(4),
        grid.rows.any().any().eq(4),
        grid.rows.at(0).any().eq(4),
        grid.rows.any().at(0).eq(4),
        grid.rows.any().size(1),
        grid.rows.any().elem_match(|n| n.eq(4)),
        grid.rows.elem_match(|row| row.any().eq(4)),
    ];
    for filter in unsayable {
        let error = grids
            .find(move |_| filter)
            .all()
            .await
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("elem_match") && error.contains("rows"),
            "{error}"
        );
    }
}
