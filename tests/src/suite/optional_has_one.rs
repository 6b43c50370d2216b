//! `has_one` by a reference that may be absent.

use odm::prelude::*;

use crate::case::cases;

cases![has_one_by_an_optional_reference];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "desks", has_one(lamp: Lamp, by = desk))]
struct Desk {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "lamps")]
struct Lamp {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[odm(unique(sparse))]
    desk: Option<Ref<Desk>>,
}

async fn has_one_by_an_optional_reference(db: &Db) {
    let plan = db.sync(models![Desk, Lamp]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let (desks, lamps) = (db.collection::<Desk>(), db.collection::<Lamp>());
    desks
        .insert_many([1, 2].map(|id| Desk { id }))
        .await
        .unwrap();
    // Two lamps stand on no desk.
    let stored = [(1, Some(2)), (2, None), (3, None)];
    let stored = stored.map(|(id, desk)| Lamp {
        id,
        desk: desk.map(Ref::from),
    });
    lamps.insert_many(stored).await.unwrap();
    let second = Lamp {
        id: 4,
        desk: Some(Ref::from(2)),
    };
    assert!(
        lamps
            .insert_one(&second)
            .await
            .unwrap_err()
            .is_duplicate_key()
    );
    let find = || desks.find_all().sort(|d| d.id.asc());
    let rows = find().join(|d| d.lamp).all().await.unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| row.lamp().as_ref().map(|lamp| lamp.id))
        .collect();
    assert_eq!(found, [None, Some(1)]);
    let plans = find().join(|d| d.lamp).explain().await.unwrap();
    assert_eq!(plans[1].indexes, ["desk_1"]);
    let lit = find()
        .where_any(|d| d.lamp, |l| l.id.gt(0))
        .all()
        .await
        .unwrap();
    assert_eq!(lit, [Desk { id: 2 }]);
    let dark = find()
        .where_none(|d| d.lamp, |l| l.id.gt(0))
        .all()
        .await
        .unwrap();
    assert_eq!(dark, [Desk { id: 1 }]);
}
