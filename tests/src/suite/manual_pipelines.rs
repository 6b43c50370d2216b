//! Pipelines of MongoDB's manual: the typed ones of the example `pipelines` find what the manual's own find.

use std::fmt::Debug;

use odm::bson::{Bson, Document as BsonDocument, bson, deserialize_from_document, doc};
use odm::geo::Point;
use odm::model::{Document as Model, Writable};
use odm::pipeline::{Pipeline, Written, pipeline};
use odm::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::case::cases as suite;
use crate::manual::books::{self, Author};
use crate::manual::budgets::{self, Budget};
use crate::manual::restaurants::{self, Restaurant, Served};
use crate::manual::{
    artists, artwork, cakes, classes, clothing, deliveries, employees, grades, inventory, items,
    people, places, sales, stationery, years,
};

suite![
    sales_by_day,
    books_by_author,
    write_authors,
    sales_by_tag,
    price_by_size,
    orders_with_stock,
    classes_with_members,
    orders_with_a_drink,
    orders_with_items,
    reporting_hierarchies,
    friends_who_play_golf,
    artists_by_decade,
    artwork_by_categories,
    quantities_in_years,
    ranks_in_states,
    totals_of_all_years,
    write_budgets,
    parks_near,
    summaries,
    days_until_delivery,
];

/// Compares the results of a typed pipeline with those of the manual's, put into an order where the manual has none.
async fn compare<M, R, const N: usize>(
    db: &Db,
    typed: Pipeline<M, R>,
    manual: [BsonDocument; N],
    order: impl Fn(&mut [R]),
) where
    M: Model,
    R: Embedded + DeserializeOwned + Debug + PartialEq + 'static,
{
    let of_model = db.collection::<M>();
    let manual = pipeline::<M>().raw_as::<R>(manual);
    let mut expected = of_model.aggregate(manual).all().await.unwrap();
    let mut found = of_model.aggregate(typed).all().await.unwrap();
    order(&mut expected);
    order(&mut found);
    assert!(!found.is_empty());
    assert_eq!(found, expected);
}

/// Compares the documents that a typed pipeline writes with those that the manual's writes.
async fn compare_written<M, N>(
    db: &Db,
    typed: Written<M>,
    manual: Vec<BsonDocument>,
    order: impl Fn(&mut [N]),
) where
    M: Model,
    N: Model + Writable + DeserializeOwned + Debug + PartialEq + 'static,
{
    let (read_from, written) = (db.collection::<M>(), db.collection::<N>());
    read_from.aggregate(manual).all().await.unwrap();
    let mut expected = written.find_all().all().await.unwrap();
    written.delete_all().await.unwrap();
    read_from.aggregate(typed).all().await.unwrap();
    let mut found = written.find_all().all().await.unwrap();
    order(&mut expected);
    order(&mut found);
    assert!(!found.is_empty());
    assert_eq!(found, expected);
}

fn as_they_are<R>(_: &mut [R]) {}

fn by_all_fields<R: Debug>(results: &mut [R]) {
    results.sort_by_key(|result| format!("{result:?}"));
}

/// Compares the stages with those that the book shows behind the function.
fn assert_shown(name: &str, stages: odm::Result<Vec<BsonDocument>>) {
    let page = include_str!("../../../book/src/manual-pipelines.md");
    let (_, page) = page.split_once(&format!("fn {name}(")).unwrap();
    let (_, page) = page.split_once("```json\n").unwrap();
    let (shown, _) = page.split_once("```\n").unwrap();
    let shown: Value = serde_json::from_str(shown).unwrap();
    let stages = Bson::from(stages.unwrap()).into_relaxed_extjson();
    assert_eq!(shown, stages, "book/src/manual-pipelines.md, {name}");
}

async fn sales_by_day(db: &Db) {
    sales::store(db).await.unwrap();
    let typed = sales::sales_by_day();
    assert_shown("sales_by_day", typed.to_stages());
    let date = |text| DateTime::parse_rfc3339_str(text).unwrap();
    let (start, end) = (date("2014-01-01T00:00:00Z"), date("2015-01-01T00:00:00Z"));
    let manual = [
        doc! {"$match": {"date": {"$gte": start, "$lt": end}}},
        doc! {"$group": {
            "_id": {"$dateToString": {"format": "%Y-%m-%d", "date": "$date"}},
            "totalSaleAmount": {"$sum": {"$multiply": ["$price", "$quantity"]}},
            "averageQuantity": {"$avg": "$quantity"},
            "count": {"$sum": 1},
        }},
        doc! {"$sort": {"totalSaleAmount": -1}},
    ];
    compare(db, typed, manual, as_they_are).await;
}

async fn books_by_author(db: &Db) {
    books::store(db).await.unwrap();
    let typed = books::books_by_author();
    assert_shown("books_by_author", typed.to_stages());
    let manual = [
        doc! {"$group": {"_id": "$author", "books": {"$push": "$$ROOT"}}},
        doc! {"$addFields": {"totalCopies": {"$sum": ["$books.copies"]}}},
    ];
    compare(db, typed, manual, |shelves| {
        for shelf in &mut *shelves {
            by_all_fields(&mut shelf.books);
        }
        by_all_fields(shelves);
    })
    .await;
}

async fn write_authors(db: &Db) {
    books::store(db).await.unwrap();
    let typed = books::write_authors();
    assert_shown("write_authors", typed.to_stages());
    let manual = vec![
        doc! {"$group": {"_id": "$author", "books": {"$push": "$title"}}},
        doc! {"$out": "authors"},
    ];
    compare_written(db, typed, manual, |authors: &mut [Author]| {
        for author in &mut *authors {
            author.books.sort();
        }
        by_all_fields(authors);
    })
    .await;
}

async fn sales_by_tag(db: &Db) {
    stationery::store(db).await.unwrap();
    let typed = stationery::sales_by_tag();
    assert_shown("sales_by_tag", typed.to_stages());
    let manual = [
        doc! {"$unwind": {"path": "$items"}},
        doc! {"$unwind": {"path": "$items.tags"}},
        doc! {"$group": {
            "_id": "$items.tags",
            "totalSalesAmount": {"$sum": {"$multiply": ["$items.price", "$items.quantity"]}},
        }},
    ];
    compare(db, typed, manual, by_all_fields).await;
}

async fn price_by_size(db: &Db) {
    clothing::store(db).await.unwrap();
    let typed = clothing::price_by_size();
    assert_shown("price_by_size", typed.to_stages());
    let manual = [
        doc! {"$unwind": {"path": "$sizes", "preserveNullAndEmptyArrays": true}},
        doc! {"$group": {"_id": "$sizes", "averagePrice": {"$avg": "$price"}}},
        doc! {"$sort": {"averagePrice": -1}},
    ];
    // Two sizes have the same price.
    compare(db, typed, manual, by_all_fields).await;
}

async fn orders_with_stock(db: &Db) {
    inventory::store(db).await.unwrap();
    let typed = inventory::orders_with_stock();
    assert_shown("orders_with_stock", typed.to_stages());
    let manual = [doc! {"$lookup": {
        "from": "inventory",
        "localField": "item",
        "foreignField": "sku",
        "as": "inventory_docs",
    }}];
    // The manual's pipeline joins the order without an item with the stock without a number; a relation does not.
    let without_item = pipeline::<inventory::Order>().match_(|o| o.item.exists(false));
    let without_item = without_item.raw_as::<inventory::OrderWithStock>(manual.clone());
    let orders = db.collection::<inventory::Order>();
    let joined = orders.aggregate(without_item).all().await.unwrap();
    assert_eq!(joined[0].inventory_docs.len(), 1);
    compare(db, typed, manual, |orders| {
        for order in orders.iter_mut().filter(|order| order.item.is_none()) {
            order.inventory_docs.clear();
        }
        by_all_fields(orders);
    })
    .await;
}

async fn classes_with_members(db: &Db) {
    classes::store(db).await.unwrap();
    let typed = classes::classes_with_members();
    assert_shown("classes_with_members", typed.to_stages());
    let manual = [doc! {"$lookup": {
        "from": "members",
        "localField": "enrollmentlist",
        "foreignField": "name",
        "as": "enrollee_info",
    }}];
    compare(db, typed, manual, |classes| {
        for class in &mut *classes {
            by_all_fields(&mut class.enrollee_info);
        }
        by_all_fields(classes);
    })
    .await;
}

/// An order with the list that the manual's pipeline makes.
#[derive(Debug, Deserialize)]
struct Matched {
    #[serde(rename = "_id")]
    id: i32,
    item: String,
    matches: Vec<Restaurant>,
}

async fn orders_with_a_drink(db: &Db) {
    restaurants::store(db).await.unwrap();
    let typed = restaurants::orders_with_a_drink();
    assert_shown("orders_with_a_drink", typed.to_stages());
    let served = bson!({"$in": ["$$orders_drink", "$beverages"]});
    let manual = [doc! {"$lookup": {
        "from": "restaurants",
        "localField": "restaurant_name",
        "foreignField": "name",
        "let": {"orders_drink": "$drink"},
        "pipeline": [{"$match": {"$expr": served}}],
        "as": "matches",
    }}];
    let orders = db.collection::<restaurants::Order>();
    let matched = orders.aggregate(manual).all().await.unwrap();
    let mut expected = Vec::new();
    for order in matched {
        let order: Matched = deserialize_from_document(order).unwrap();
        let (id, item) = (order.id, order.item);
        let served = order.matches.into_iter().map(|matches| Served {
            id,
            item: item.clone(),
            matches,
        });
        expected.extend(served);
    }
    let found = orders.aggregate(typed).all().await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found, expected);
}

async fn orders_with_items(db: &Db) {
    items::store(db).await.unwrap();
    let typed = items::orders_with_items();
    assert_shown("orders_with_items", typed.to_stages());
    let merged = bson!({"$mergeObjects": [{"$arrayElemAt": ["$fromItems", 0]}, "$$ROOT"]});
    let manual = [
        doc! {"$lookup": {
            "from": "items",
            "localField": "item",
            "foreignField": "item",
            "as": "fromItems",
        }},
        doc! {"$replaceRoot": {"newRoot": merged}},
        doc! {"$project": {"fromItems": 0}},
    ];
    compare(db, typed, manual, by_all_fields).await;
}

async fn reporting_hierarchies(db: &Db) {
    employees::store(db).await.unwrap();
    let typed = employees::reporting_hierarchies();
    assert_shown("reporting_hierarchies", typed.to_stages());
    let manual = [doc! {"$graphLookup": {
        "from": "employees",
        "startWith": "$reportsTo",
        "connectFromField": "reportsTo",
        "connectToField": "name",
        "as": "reportingHierarchy",
    }}];
    compare(db, typed, manual, |employees| {
        for employee in &mut *employees {
            by_all_fields(&mut employee.reporting_hierarchy);
        }
        by_all_fields(employees);
    })
    .await;
}

async fn friends_who_play_golf(db: &Db) {
    people::store(db).await.unwrap();
    let typed = people::friends_who_play_golf();
    assert_shown("friends_who_play_golf", typed.to_stages());
    let manual = [
        doc! {"$match": {"name": "Tanya Jordan"}},
        doc! {"$graphLookup": {
            "from": "people",
            "startWith": "$friends",
            "connectFromField": "friends",
            "connectToField": "name",
            "as": "golfers",
            "restrictSearchWithMatch": {"hobbies": "golf"},
        }},
        doc! {"$project": {
            "name": 1,
            "friends": 1,
            "connections who play golf": "$golfers.name",
        }},
    ];
    compare(db, typed, manual, |people| {
        for person in people {
            person.golfers.sort();
        }
    })
    .await;
}

async fn artists_by_decade(db: &Db) {
    artists::store(db).await.unwrap();
    let typed = artists::artists_by_decade();
    assert_shown("artists_by_decade", typed.to_stages());
    let manual = [
        doc! {"$bucket": {
            "groupBy": "$year_born",
            "boundaries": [1840, 1850, 1860, 1870, 1880],
            "default": "Other",
            "output": {
                "count": {"$sum": 1},
                "artists": {"$push": {
                    "name": {"$concat": ["$first_name", " ", "$last_name"]},
                    "year_born": "$year_born",
                }},
            },
        }},
        doc! {"$match": {"count": {"$gt": 3}}},
    ];
    compare(db, typed, manual, |decades| {
        for decade in decades {
            by_all_fields(&mut decade.artists);
        }
    })
    .await;
}

async fn artwork_by_categories(db: &Db) {
    artwork::store(db).await.unwrap();
    let typed = artwork::artwork_by_categories();
    assert_shown("artwork_by_categories", typed.to_stages());
    let manual = [doc! {"$facet": {
        "categorizedByTags": [{"$unwind": {"path": "$tags"}}, {"$sortByCount": "$tags"}],
        "categorizedByPrice": [
            {"$match": {"price": {"$exists": true}}},
            {"$bucket": {
                "groupBy": "$price",
                "boundaries": [0, 150, 200, 300, 400],
                // The manual has "Other", a text, which the type of the other keys can't hold.
                "default": null,
                "output": {"count": {"$sum": 1}, "titles": {"$push": "$title"}},
            }},
        ],
        "categorizedByYears(Auto)": [{"$bucketAuto": {"groupBy": "$year", "buckets": 4}}],
    }}];
    compare(db, typed, manual, |categories| {
        for found in categories {
            // Two tags have the same count.
            by_all_fields(&mut found.tags);
            for prices in &mut found.prices {
                prices.titles.sort();
            }
        }
    })
    .await;
}

async fn quantities_in_years(db: &Db) {
    cakes::store(db).await.unwrap();
    let typed = cakes::quantities_in_years();
    assert_shown("quantities_in_years", typed.to_stages());
    let manual = [doc! {"$setWindowFields": {
        "partitionBy": {"$year": {"date": "$orderDate"}},
        "sortBy": {"orderDate": 1},
        "output": {
            "cumulativeQuantityForYear": {
                "$sum": "$quantity", "window": {"documents": ["unbounded", "current"]},
            },
            "maximumQuantityForYear": {
                "$max": "$quantity", "window": {"documents": ["unbounded", "unbounded"]},
            },
        },
    }}];
    compare(db, typed, manual, by_all_fields).await;
}

async fn ranks_in_states(db: &Db) {
    cakes::store(db).await.unwrap();
    let typed = cakes::ranks_in_states();
    assert_shown("ranks_in_states", typed.to_stages());
    let manual = [doc! {"$setWindowFields": {
        "partitionBy": "$state",
        "sortBy": {"quantity": -1},
        "output": {"rankQuantityForState": {"$rank": {}}},
    }}];
    compare(db, typed, manual, by_all_fields).await;
}

async fn totals_of_all_years(db: &Db) {
    years::store(db).await.unwrap();
    let typed = years::totals_of_all_years();
    assert_shown("totals_of_all_years", typed.to_stages());
    let manual = [
        doc! {"$unionWith": {"coll": "sales_2018"}},
        doc! {"$unionWith": {"coll": "sales_2019"}},
        doc! {"$unionWith": {"coll": "sales_2020"}},
        doc! {"$group": {"_id": "$item", "total": {"$sum": "$quantity"}}},
        doc! {"$sort": {"total": -1}},
    ];
    compare(db, typed, manual, as_they_are).await;
}

async fn write_budgets(db: &Db) {
    budgets::store(db).await.unwrap();
    let typed = budgets::write_budgets();
    assert_shown("write_budgets", typed.to_stages());
    let manual = vec![
        doc! {"$group": {
            "_id": {"fiscal_year": "$fiscal_year", "dept": "$dept"},
            "salaries": {"$sum": "$salary"},
        }},
        // The manual writes into another database.
        doc! {"$merge": {
            "into": "budgets",
            "on": "_id",
            "whenMatched": "replace",
            "whenNotMatched": "insert",
        }},
    ];
    compare_written(db, typed, manual, by_all_fields::<Budget>).await;
}

async fn parks_near(db: &Db) {
    places::store(db).await.unwrap();
    let typed = places::parks_near(Point::new(-73.99279, 40.719_296).unwrap());
    assert_shown("parks_near", typed.to_stages());
    let manual = [doc! {"$geoNear": {
        "near": {"type": "Point", "coordinates": [-73.99279, 40.719_296]},
        "distanceField": "dist.calculated",
        "maxDistance": 2,
        "query": {"category": "Parks"},
        "includeLocs": "dist.location",
        "spherical": true,
    }}];
    compare(db, typed, manual, as_they_are).await;
}

async fn summaries(db: &Db) {
    grades::store(db).await.unwrap();
    let typed = grades::summaries();
    assert_shown("summaries", typed.to_stages());
    let mean = || bson!({"$avg": ["$scores"]});
    let well = bson!({"$and": [{"$gte": [mean(), 80]}, {"$lt": [mean(), 90]}]});
    let manual = [doc! {"$project": {
        "name": 1,
        "summary": {"$switch": {
            "branches": [
                {"case": {"$gte": [mean(), 90]}, "then": "Doing great!"},
                {"case": well, "then": "Doing pretty well."},
                {"case": {"$lt": [mean(), 80]}, "then": "Needs improvement."},
            ],
            "default": "No scores found.",
        }},
    }}];
    compare(db, typed, manual, by_all_fields).await;
}

async fn days_until_delivery(db: &Db) {
    deliveries::store(db).await.unwrap();
    let typed = deliveries::days_until_delivery();
    assert_shown("days_until_delivery", typed.to_stages());
    let days = bson!({"$dateDiff": {
        "startDate": "$purchased",
        "endDate": "$delivered",
        "unit": "day",
    }});
    let manual = [
        doc! {"$group": {"_id": null, "averageTime": {"$avg": days}}},
        doc! {"$project": {"_id": 0, "numDays": {"$trunc": ["$averageTime", 1]}}},
    ];
    compare(db, typed, manual, as_they_are).await;
}
