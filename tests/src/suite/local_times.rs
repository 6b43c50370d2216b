//! Local times, and days as ranges of instants.

use odm::bson::{self, Bson, DateTime};
use odm::prelude::*;
use odm::query::raw;
use odm::time::{CivilDay, InstantRange, Iso, JavaScript, LocalTime, Offset, ZonedTime, day};

use crate::case::cases;

cases![
    local_times_are_stored_as_in_the_guide,
    local_times_are_compared_by_the_instant,
    local_times_are_changed,
    optional_and_listed_local_times,
    days_of_zones_are_ranges_of_the_index,
    days_of_writers_are_exact,
    times_of_zones_keep_the_name,
    one_element_is_within_a_range,
    validators_refuse_other_offsets,
];

/// `{date, offset}` flattened into the document, as the guide stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "data", index(now.date))]
struct Record {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(flatten)]
    now: LocalTime<JavaScript>,
    note: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "visits", index(id, at = desc))]
struct Visit {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    at: LocalTime<Iso>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left: Option<LocalTime<Iso>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    seen: Vec<LocalTime<Iso>>,
}

fn visit(id: i32, at: &str) -> Visit {
    Visit {
        id,
        at: at.parse().unwrap(),
        left: None,
        seen: Vec::new(),
    }
}

fn time(text: &str) -> LocalTime<Iso> {
    text.parse().unwrap()
}

async fn ids(visits: &Collection<Visit>, filter: Filter<Visit>) -> Vec<i32> {
    let found = visits.find(|_| filter).sort(|v| v.id.asc());
    let found = found.all().await.unwrap();
    found.into_iter().map(|visit| visit.id).collect()
}

async fn created(db: &Db) {
    db.sync(models![Record, Visit])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
}

async fn local_times_are_stored_as_in_the_guide(db: &Db) {
    let records = db.collection::<Record>();
    let record = Record {
        id: 1,
        now: "2026-03-29T10:30:00.250+02:00".parse().unwrap(),
        note: "summer".to_owned(),
    };
    records.insert_one(&record).await.unwrap();
    let stored: Vec<bson::Document> = records.find_all().with_type().all().await.unwrap();
    let date = DateTime::from_millis(1_774_773_000_250);
    assert_eq!(
        stored,
        [doc! {"_id": 1, "date": date, "offset": -120, "note": "summer"}]
    );
    let found = records.get(&1).await.unwrap().unwrap();
    assert_eq!(found, record);
    assert_eq!(found.now.to_string(), "2026-03-29T10:30:00.250+02:00");

    // `db.data.save({date: now, offset: now.getTimezoneOffset()})` in New York: shells store doubles.
    for (id, offset) in [(2, Bson::Double(300.0)), (3, Bson::Int64(300))] {
        let shell = doc! {"_id": id, "date": date, "offset": offset, "note": "winter"};
        let insert = doc! {"insert": "data", "documents": [shell]};
        db.run_command(insert).await.unwrap();
        let found = records.get(&id).await.unwrap().unwrap();
        assert_eq!(found.now.to_string(), "2026-03-29T03:30:00.250-05:00");
    }
    let far = doc! {"_id": 4, "date": date, "offset": 1_081, "note": "far"};
    let insert = doc! {"insert": "data", "documents": [far]};
    db.run_command(insert).await.unwrap();
    let error = records.get(&4).await.unwrap_err().to_string();
    assert!(error.contains("18 hours"), "{error}");
}

async fn local_times_are_compared_by_the_instant(db: &Db) {
    created(db).await;
    let visits = db.collection::<Visit>();
    // In the order of the instants; not in that of what the clocks showed.
    let times = [
        "2026-03-29T12:00:00+12:00",
        "2026-03-29T02:00:00+01:00",
        "2026-03-28T20:00:00-06:00",
    ];
    for (id, at) in (1..).zip(times) {
        visits.insert_one(visit(id, at)).await.unwrap();
    }
    let fields = odm::query::fields::<Visit>;
    let second = time("2026-03-29T01:00:00Z");
    assert_eq!(ids(&visits, fields().at.eq(second)).await, [2]);
    assert_eq!(ids(&visits, fields().at.eq(second.instant())).await, [2]);
    assert_eq!(ids(&visits, fields().at.ne(second)).await, [1, 3]);
    assert_eq!(ids(&visits, fields().at.gt(second)).await, [3]);
    assert_eq!(ids(&visits, fields().at.gte(second)).await, [2, 3]);
    assert_eq!(ids(&visits, fields().at.lt(second)).await, [1]);
    assert_eq!(ids(&visits, fields().at.lte(second)).await, [1, 2]);
    assert_eq!(ids(&visits, fields().at.in_([second])).await, [2]);
    assert_eq!(ids(&visits, fields().at.nin([second])).await, [1, 3]);
    let zone = visits.find(|v| v.at.offset.eq(Offset::from_minutes_east(-360).unwrap()));
    assert_eq!(zone.all().await.unwrap().len(), 1);

    let latest = visits.find_all().sort(|v| v.at.desc());
    let latest: Vec<_> = latest.all().await.unwrap().iter().map(|v| v.id).collect();
    assert_eq!(latest, [3, 2, 1]);
    let explain = visits.find(|v| v.at.gt(second)).explain().await.unwrap();
    assert_eq!(explain.indexes, ["at.date_1"]);
    let one = visits.find(|v| v.id.eq(1) & v.at.gt(second));
    let command = one.command().unwrap();
    let filter = command.get_document("filter").unwrap();
    assert_eq!(
        filter,
        &doc! {"_id": 1, "at.date": {"$gt": second.instant()}}
    );

    let records = db.collection::<Record>();
    let flattened = records
        .find(|r| r.now.gt(second.instant()))
        .sort(|r| r.now.asc());
    assert_eq!(flattened.explain().await.unwrap().indexes, ["date_1"]);
}

async fn local_times_are_changed(db: &Db) {
    created(db).await;
    let visits = db.collection::<Visit>();
    visits
        .insert_one(visit(1, "2026-03-29T12:00:00+12:00"))
        .await
        .unwrap();
    let new = time("2026-03-30T09:00:00-03:30");
    visits
        .update_one(|v| v.id.eq(1), |v| v.at.set(new) & v.left.set(new))
        .await
        .unwrap();
    let found = visits.get(&1).await.unwrap().unwrap();
    assert_eq!(found.at.to_string(), "2026-03-30T09:00:00-03:30");
    assert_eq!(found.left.unwrap().to_string(), found.at.to_string());
    visits
        .update_one(|v| v.id.eq(1), |v| v.left.unset())
        .await
        .unwrap();
    assert_eq!(visits.get(&1).await.unwrap().unwrap().left, None);

    let records = db.collection::<Record>();
    let record = Record {
        id: 1,
        now: new.to_form(),
        note: "kept".to_owned(),
    };
    records.insert_one(&record).await.unwrap();
    let now: LocalTime<JavaScript> = "2026-03-31T09:00:00+01:00".parse().unwrap();
    records
        .update_one(|r| r.id.eq(1), |r| r.now.set(now))
        .await
        .unwrap();
    let found = records.get(&1).await.unwrap().unwrap();
    assert_eq!(
        (found.now.to_string(), found.note.as_str()),
        (now.to_string(), "kept")
    );

    // A save that changes the offset alone sends the offset.
    let mut loaded = records.load(&1).await.unwrap().unwrap();
    loaded.now = now.with_offset(Offset::UTC);
    let command = records.save(&mut loaded).command().unwrap().unwrap();
    assert!(
        command
            .to_string()
            .contains(r#"{ "$set": { "offset": 0 } }"#),
        "{command}"
    );
}

async fn optional_and_listed_local_times(db: &Db) {
    created(db).await;
    let visits = db.collection::<Visit>();
    let mut full = visit(1, "2026-03-29T12:00:00Z");
    full.left = Some(time("2026-03-29T14:00:00+02:00"));
    full.seen = vec![
        time("2026-03-29T12:30:00Z"),
        time("2026-03-29T15:00:00+02:00"),
    ];
    visits.insert_one(&full).await.unwrap();
    visits
        .insert_one(visit(2, "2026-03-29T12:00:00Z"))
        .await
        .unwrap();
    let fields = odm::query::fields::<Visit>;
    let noon = time("2026-03-29T12:00:00Z");
    assert_eq!(ids(&visits, fields().left.eq(noon)).await, [1]);
    assert_eq!(ids(&visits, fields().left.is_missing()).await, [2]);
    assert_eq!(ids(&visits, fields().left.exists(true)).await, [1]);
    assert_eq!(ids(&visits, fields().seen.any().gt(noon)).await, [1]);
    let one = time("2026-03-29T13:00:00Z");
    let filter = fields().seen.elem_match(|seen| seen.gte(one));
    assert_eq!(ids(&visits, filter).await, [1]);
    visits
        .update_one(|v| v.id.eq(2), |v| v.seen.push(one))
        .await
        .unwrap();
    assert_eq!(visits.get(&2).await.unwrap().unwrap().seen, [one]);
    let within = fields()
        .seen
        .any()
        .on_writers_day(day("2026-03-29").unwrap());
    assert!(within.to_document().unwrap_err().is_usage());
}

async fn days_of_zones_are_ranges_of_the_index(db: &Db) {
    created(db).await;
    let visits = db.collection::<Visit>();
    let times = [
        "2026-03-28T22:59:59.999Z",
        "2026-03-28T23:00:00Z",
        "2026-03-29T21:59:59.999Z",
        "2026-03-29T22:00:00Z",
    ];
    for (id, at) in (1..).zip(times) {
        visits.insert_one(visit(id, at)).await.unwrap();
    }
    let fields = odm::query::fields::<Visit>;
    // Clocks were set forward: the day has 23 hours.
    let berlin = day("2026-03-29").unwrap().in_zone("Europe/Berlin").unwrap();
    assert_eq!(ids(&visits, fields().at.within(berlin)).await, [2, 3]);
    assert_eq!(ids(&visits, fields().at.date.within(berlin)).await, [2, 3]);
    let utc = day("2026-03-29").unwrap().in_utc();
    assert_eq!(ids(&visits, fields().at.within(utc)).await, [3, 4]);
    let both = day("2026-03-28").unwrap().in_utc().through(utc);
    assert_eq!(ids(&visits, fields().at.within(both)).await, [1, 2, 3, 4]);
    let skipped = day("2011-12-30").unwrap().in_zone("Pacific/Apia").unwrap();
    assert_eq!(ids(&visits, fields().at.within(skipped)).await, [0; 0]);

    let explain = visits
        .find(|v| v.at.within(berlin))
        .explain()
        .await
        .unwrap();
    assert_eq!(explain.indexes, ["at.date_1"]);
    assert_eq!((explain.keys_examined, explain.documents_examined), (2, 2));
}

async fn days_of_writers_are_exact(db: &Db) {
    created(db).await;
    let (visits, records) = (db.collection::<Visit>(), db.collection::<Record>());
    let offsets = [-1_080, -720, -210, 0, 60, 345, 840, 1_080];
    let today = day("2026-03-29").unwrap();
    let mut expected = Vec::new();
    let mut id = 0;
    for hour in -48..72 {
        for minutes in offsets {
            id += 1;
            let start = today.in_utc().start().timestamp_millis();
            let instant = DateTime::from_millis(start + hour * 3_600_000);
            let at = LocalTime::new(instant, Offset::from_minutes_east(minutes).unwrap());
            if at.civil_day() == Ok(today) {
                expected.push(id);
            }
            let mut visit = visit(id, "2026-03-29T12:00:00Z");
            visit.at = at;
            visits.insert_one(visit).await.unwrap();
            let record = Record {
                id,
                now: at.to_form(),
                note: String::new(),
            };
            records.insert_one(record).await.unwrap();
        }
    }
    assert_eq!(expected.len(), 24 * offsets.len());
    let found = ids(
        &visits,
        odm::query::fields::<Visit>().at.on_writers_day(today),
    )
    .await;
    assert_eq!(found, expected);
    let found = records
        .find(|r| r.now.on_writers_day(today))
        .sort(|r| r.id.asc());
    let found: Vec<_> = found.all().await.unwrap().iter().map(|r| r.id).collect();
    assert_eq!(found, expected);

    // The index serves the 60 hours that are on the day somewhere.
    let explain = visits
        .find(|v| v.at.on_writers_day(today))
        .explain()
        .await
        .unwrap();
    assert_eq!(explain.indexes, ["at.date_1"]);
    let examined = 60 * u64::try_from(offsets.len()).unwrap();
    assert_eq!(explain.keys_examined, examined);
    assert_eq!(today.anywhere().millis(), 60 * 3_600_000);
    let everywhere = InstantRange::new(today.anywhere().start(), today.anywhere().end());
    assert!(everywhere.contains(today.in_offset(Offset::<Iso>::UTC).start()));
    assert_eq!(CivilDay::new(2026, 3, 29), Ok(today));
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "meetings")]
struct Meeting {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(flatten)]
    begins: ZonedTime<Iso>,
    #[odm(index)]
    ends: Option<ZonedTime<JavaScript>>,
}

async fn times_of_zones_keep_the_name(db: &Db) {
    db.sync(models![Meeting])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    let meetings = db.collection::<Meeting>();
    let begins: ZonedTime<Iso> = "2026-03-29T10:30:00+02:00[Europe/Berlin]".parse().unwrap();
    let ends: ZonedTime<JavaScript> = "2026-03-29T06:30:00-04:00[America/New_York]"
        .parse()
        .unwrap();
    let meeting = Meeting {
        id: 1,
        begins: begins.clone(),
        ends: Some(ends.clone()),
    };
    meetings.insert_one(&meeting).await.unwrap();
    let stored: Vec<bson::Document> = meetings.find_all().with_type().all().await.unwrap();
    let date = |millis: i64| DateTime::from_millis(millis);
    assert_eq!(
        stored,
        [doc! {
            "_id": 1,
            "date": date(1_774_773_000_000),
            "offset": 120,
            "zone": "Europe/Berlin",
            "ends": {"date": date(1_774_780_200_000), "offset": 240, "zone": "America/New_York"},
        }]
    );
    let found = meetings.get(&1).await.unwrap().unwrap();
    assert_eq!(found.begins.to_string(), begins.to_string());
    assert_eq!(found.ends.unwrap().to_string(), ends.to_string());

    let by_end = meetings.find(|m| m.ends.gte(&ends) & m.ends.zone.eq("America/New_York"));
    assert_eq!(by_end.explain().await.unwrap().indexes, ["ends.date_1"]);
    let count = meetings.count_documents(|m| m.begins.eq(&begins) & m.ends.gt(begins.instant()));
    assert_eq!(count.await.unwrap(), 1);
    let later = ZonedTime::new(date(1_774_780_200_000), "Asia/Tokyo").unwrap();
    meetings
        .update_one(|m| m.id.eq(1), |m| m.begins.set(&later))
        .await
        .unwrap();
    let found = meetings.get(&1).await.unwrap().unwrap();
    assert_eq!(
        found.begins.to_string(),
        "2026-03-29T19:30:00+09:00[Asia/Tokyo]"
    );
    assert!(
        "2026-03-29T10:30:00+01:00[Europe/Berlin]"
            .parse::<ZonedTime<Iso>>()
            .is_err()
    );
}

async fn validators_refuse_other_offsets(db: &Db) {
    created(db).await;
    let date = DateTime::from_millis(0);
    let insert = async |offset: Bson| {
        let document = doc! {"_id": 1, "at": {"date": date, "offset": offset}};
        db.collection::<Visit>()
            .find_one_and_update(
                |v| v.id.eq(1),
                |_| raw(doc! {"$set": {"at": document.get("at")}}),
            )
            .upsert(true)
            .await
    };
    for offset in [Bson::Int32(120), Bson::Double(-1_080.0), Bson::Int64(1_080)] {
        insert(offset).await.unwrap();
    }
    for offset in [
        Bson::Int32(1_081),
        Bson::String("+02:00".to_owned()),
        Bson::Null,
    ] {
        let error = insert(offset).await.unwrap_err();
        assert!(error.is_validation_failure(), "{error}");
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Shift {
    begin: DateTime,
    seen: Vec<LocalTime<Iso>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "rotas")]
struct Rota {
    #[serde(rename = "_id")]
    id: i32,
    times: Vec<DateTime>,
    #[odm(embed(few, max = 9))]
    shifts: Vec<Shift>,
}

/// One value below the range and one above it are not a value in the range.
async fn one_element_is_within_a_range(db: &Db) {
    type Within = fn(RotaFields<Rota>, InstantRange) -> Filter<Rota>;

    let hours = |hours: i64| DateTime::from_millis(hours * 3_600_000);
    let rota = |id, all: [i64; 3]| Rota {
        id,
        times: all.map(hours).to_vec(),
        shifts: all
            .map(|at| Shift {
                begin: hours(at),
                seen: vec![LocalTime::new(hours(at), Offset::UTC)],
            })
            .to_vec(),
    };
    let rotas = db.collection::<Rota>();
    let around = rota(1, [2, 50, 60]);
    rotas.insert_one(&around).await.unwrap();
    rotas.insert_one(&rota(2, [2, 30, 60])).await.unwrap();
    let day = InstantRange::new(hours(24), hours(48));
    let filters: [Within; 4] = [
        |r, day| r.times.any().within(day),
        |r, day| r.shifts.any().begin.within(day),
        |r, day| r.shifts.any().seen.any().within(day),
        |r, day| r.shifts.elem_match(|shift| shift.seen.any().within(day)),
    ];
    for filter in filters {
        let found = rotas.find(|r| filter(r, day)).all().await.unwrap();
        assert_eq!(found.iter().map(|r| r.id).collect::<Vec<_>>(), [2]);
        let others = rotas.find(|r| !filter(r, day)).all().await.unwrap();
        assert_eq!(others.iter().map(|r| r.id).collect::<Vec<_>>(), [1]);
    }
    // The position is that of the element in the range.
    let changed = rotas
        .update_many(
            |r| r.times.any().within(day),
            |r| r.times.positional().set(hours(31)),
        )
        .await
        .unwrap();
    assert_eq!(changed.matched, 1);
    let changed = rotas
        .update_many(
            |r| r.shifts.any().begin.within(day),
            |r| r.shifts.positional().begin.set(hours(31)),
        )
        .await
        .unwrap();
    assert_eq!(changed.matched, 1);
    let mut expected = rota(2, [2, 30, 60]);
    expected.times[1] = hours(31);
    expected.shifts[1].begin = hours(31);
    assert_eq!(rotas.get(&2).await.unwrap(), Some(expected));
    assert_eq!(rotas.get(&1).await.unwrap(), Some(around));
}
