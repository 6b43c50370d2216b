//! Relations by a reference that stands in a list of subdocuments, held against a search by hand.

use odm::bson::doc;
use odm::error::Code;
use odm::prelude::*;

use crate::case::cases;

cases![
    counts_and_conditions_go_through_lists,
    rows_are_sorted_by_two_relations_and_an_own_list,
    rows_are_sorted_by_lists_of_two_relations,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "shops",
    has_many(orders: Order, by = lines.shop),
    has_squillions(sold: Order, by = lines.shop),
    has_many(parcels: Order, by = parcels.lines.shop),
    has_many(visits: Order, by = lines.visited)
)]
struct Shop {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(default)]
    #[odm(items(max = 5))]
    tags: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "orders",
    index(lines.shop),
    index(parcels.lines.shop),
    index(lines.visited)
)]
struct Order {
    #[serde(rename = "_id")]
    id: i32,
    total: i32,
    #[serde(default)]
    #[odm(embed(few, max = 10))]
    lines: Vec<Line>,
    #[serde(default)]
    #[odm(embed(few, max = 10))]
    parcels: Vec<Parcel>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Line {
    shop: Ref<Shop>,
    #[odm(references(many, max = 5))]
    visited: Vec<Ref<Shop>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Parcel {
    #[odm(embed(few, max = 10))]
    lines: Vec<Line>,
}

const SHOPS: i32 = 6;

/// Draws numbers below `below`.
fn draws() -> impl FnMut(u64) -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    }
}

/// Orders with empty lists, a shop twice in one list, and shops that are not stored.
fn orders() -> Vec<Order> {
    let mut draw = draws();
    let mut shop = move |below| i32::try_from(draw(below)).unwrap();
    (0..40)
        .map(|id| {
            let mut lines = || -> Vec<Line> {
                (0..shop(4))
                    .map(|_| Line {
                        // Orders name no shop above 5, except 6 and 7, which are missing.
                        shop: Ref::from(shop(8)),
                        visited: (0..shop(3)).map(|_| Ref::from(shop(8))).collect(),
                    })
                    .collect()
            };
            Order {
                id,
                total: id * 7 % 40,
                lines: lines(),
                parcels: (0..id % 3).map(|_| Parcel { lines: lines() }).collect(),
            }
        })
        .collect()
}

async fn market(db: &Db) -> Vec<Order> {
    let plan = db.sync(models![Shop, Order]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let shops = (0..=SHOPS).filter(|id| *id != 6).map(|id| Shop {
        id,
        tags: (0..id % 3)
            .map(|tag| format!("{}", (id + tag) % 4))
            .collect(),
    });
    db.collection::<Shop>().insert_many(shops).await.unwrap();
    let mut all = orders();
    db.collection::<Order>().insert_many(&all).await.unwrap();
    // An older version of the struct had no lists.
    let old = doc! {"_id": 40, "total": 3};
    let insert = doc! {"insert": "orders", "documents": [old], "bypassDocumentValidation": true};
    db.run_command(insert).await.unwrap();
    all.push(Order {
        id: 40,
        total: 3,
        lines: Vec::new(),
        parcels: Vec::new(),
    });
    all
}

fn in_lines(order: &Order, shop: i32) -> bool {
    order.lines.iter().any(|line| line.shop == Ref::from(shop))
}

fn in_parcels(order: &Order, shop: i32) -> bool {
    let mut lines = order.parcels.iter().flat_map(|parcel| &parcel.lines);
    lines.any(|line| line.shop == Ref::from(shop))
}

fn visited(order: &Order, shop: i32) -> bool {
    let mut visited = order.lines.iter().flat_map(|line| &line.visited);
    visited.any(|one| *one == Ref::from(shop))
}

/// Holds the counts and conditions of one relation against what `refers` says.
macro_rules! check_relation {
    ($db:expr, $orders:expr, $relation:ident, $refers:expr) => {
        let shops = $db.collection::<Shop>();
        let rows = shops
            .find_all()
            .sort(|s| s.id.asc())
            .join(|s| s.$relation.count())
            .all()
            .await
            .unwrap();
        for row in &rows {
            let right = $orders
                .iter()
                .filter(|order| $refers(*order, row.id))
                .count();
            assert_eq!(
                *row.$relation(),
                right as u64,
                "{} of {}",
                stringify!($relation),
                row.id
            );
        }
        for limit in [0, 5, 20, 38, 50] {
            let of = |id: i32| $orders.iter().filter(move |order| $refers(*order, id));
            let ids = |keep: &dyn Fn(i32) -> bool| -> Vec<i32> {
                (0..SHOPS).filter(|id| keep(*id)).collect()
            };
            let any = shops.find_all().sort(|s| s.id.asc());
            let any = any.where_any(|s| s.$relation, |o| o.total.lt(limit)).all();
            let any: Vec<_> = any.await.unwrap().iter().map(|row| row.id).collect();
            assert_eq!(any, ids(&|id| of(id).any(|order| order.total < limit)));
            let none = shops.find_all().sort(|s| s.id.asc());
            let none = none
                .where_none(|s| s.$relation, |o| o.total.lt(limit))
                .all();
            let none: Vec<_> = none.await.unwrap().iter().map(|row| row.id).collect();
            assert_eq!(none, ids(&|id| !of(id).any(|order| order.total < limit)));
            let all = shops.find_all().sort(|s| s.id.asc());
            let all = all.where_all(|s| s.$relation, |o| o.total.lt(limit)).all();
            let all: Vec<_> = all.await.unwrap().iter().map(|row| row.id).collect();
            assert_eq!(all, ids(&|id| of(id).all(|order| order.total < limit)));
        }
    };
}

async fn counts_and_conditions_go_through_lists(db: &Db) {
    let orders = market(db).await;
    check_relation!(db, orders, orders, in_lines);
    check_relation!(db, orders, sold, in_lines);
    check_relation!(db, orders, parcels, in_parcels);
    check_relation!(db, orders, visits, visited);
}

async fn rows_are_sorted_by_two_relations_and_an_own_list(db: &Db) {
    let orders = market(db).await;
    let rows = db
        .collection::<Shop>()
        .find_all()
        .order_by_related(|s| s.parcels, |o| o.total.asc())
        .order_by_related(|s| s.orders, |o| o.total.desc())
        .sort(|s| s.tags.asc().then(s.id.asc()))
        .all()
        .await
        .unwrap();
    let key = |shop: &Shop| {
        let of = |refers: fn(&Order, i32) -> bool| {
            let found = orders.iter().filter(move |order| refers(order, shop.id));
            found.map(|order| order.total)
        };
        let (parcel, order) = (of(in_parcels).min(), of(in_lines).max());
        // A shop without orders comes first where the order ascends, and last where it descends.
        (
            parcel,
            std::cmp::Reverse(order),
            shop.tags.iter().min().cloned(),
            shop.id,
        )
    };
    assert_eq!(rows.len(), 6);
    assert!(rows.is_sorted_by_key(key), "{rows:?}");
}

async fn rows_are_sorted_by_lists_of_two_relations(db: &Db) {
    let orders = market(db).await;
    let rows = db
        .collection::<Shop>()
        .find_all()
        .order_by_related(
            |s| s.parcels,
            |o| {
                o.lines
                    .any()
                    .shop
                    .desc()
                    .then(o.parcels.any().lines.any().shop.asc())
            },
        )
        .all()
        .await;
    // In one document, MongoDB refuses two lists.
    assert_eq!(rows.unwrap_err().code(), Some(Code::BAD_VALUE));

    let rows = db
        .collection::<Shop>()
        .find_all()
        .order_by_related(|s| s.parcels, |o| o.lines.any().shop.asc())
        .order_by_related(|s| s.orders, |o| o.parcels.any().lines.any().shop.desc())
        .sort(|s| s.tags.asc().then(s.id.asc()))
        .all()
        .await
        .unwrap();
    let in_line = |order: &Order| {
        order
            .lines
            .iter()
            .map(|line| line.shop.id().to_owned())
            .min()
    };
    let in_parcel = |order: &Order| {
        let lines = order.parcels.iter().flat_map(|parcel| &parcel.lines);
        lines.map(|line| line.shop.id().to_owned()).max()
    };
    let key = |shop: &Shop| {
        let of = |refers: fn(&Order, i32) -> bool| {
            orders.iter().filter(move |order| refers(order, shop.id))
        };
        (
            of(in_parcels).map(in_line).min().flatten(),
            std::cmp::Reverse(of(in_lines).map(in_parcel).max().flatten()),
            shop.tags.iter().min().cloned(),
            shop.id,
        )
    };
    assert_eq!(rows.len(), 6);
    assert!(rows.is_sorted_by_key(key), "{rows:?}");
}
