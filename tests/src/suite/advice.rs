//! Advice: each anti-pattern is found in data that has it, and nothing else is; data without any gets none.

mod indexes;
mod models;
mod related;

use odm::advise::{Advice, AdviceCode, AdviceReport};
use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::model::ModelMeta;
use odm::prelude::*;

use self::indexes::{
    counters_of_indexes_need_time, indexes_with_other_options_are_not_redundant,
    redundant_indexes_are_found, reports, undeclared_indexes_are_named_as_such,
    unused_indexes_are_found, without_delay,
};
use self::models::{
    Address, Album, Author, Book, Host, Member, Movie, Note, Offer, Person, Playlist, Reader,
    Reply, Report, Setup, Shelf, Thread, Topic,
};
use self::related::{
    authors, documents_that_always_have_one_other_are_found,
    documents_that_others_refer_to_are_not, documents_that_seldom_have_one_other_are_not,
    few_documents_are_found, many_documents_are_not,
    references_to_documents_of_their_own_are_found, relations_without_an_index_are_not_examined,
};
use crate::case::cases;

cases![
    sound_data_gets_no_advice,
    documents_near_a_budget_are_found,
    arrays_without_a_bound_are_found,
    lists_within_lists_and_maps_are_measured,
    arrays_near_their_bound_are_found,
    buckets_are_filled_on_purpose,
    declared_reasons_answer_advice,
    bloated_documents_are_found,
    unused_indexes_are_found,
    counters_of_indexes_need_time,
    redundant_indexes_are_found,
    indexes_with_other_options_are_not_redundant,
    undeclared_indexes_are_named_as_such,
    too_many_collections_are_found,
    empty_collections_are_found,
    variants_by_case_are_found,
    a_collation_answers_variants_by_case,
    documents_that_always_have_one_other_are_found,
    documents_that_seldom_have_one_other_are_not,
    references_to_documents_of_their_own_are_found,
    few_documents_are_found,
    many_documents_are_not,
    documents_that_others_refer_to_are_not,
    relations_without_an_index_are_not_examined,
    kept_lists_of_trees_are_not_examined,
    fields_that_all_documents_have_are_found,
    nested_fields_that_all_documents_have_are_found,
    documents_of_other_programs_are_measured,
    empty_and_missing_collections_are_reported,
    views_are_not_examined,
    samples_have_the_wanted_size,
    reports_are_json_lines,
    handles_with_other_names_are_examined,
];

async fn filled<M: Document + odm::model::Writable>(
    db: &Db,
    documents: impl IntoIterator<Item = M>,
) {
    synced(db, [M::model()]).await;
    let documents: Vec<M> = documents.into_iter().collect();
    db.collection().insert_many(documents).await.unwrap();
}

async fn synced(db: &Db, models: impl IntoIterator<Item = &'static ModelMeta>) {
    let plan = db.sync(models).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
}

async fn run(db: &Db, command: BsonDocument) {
    db.run_command(command).await.unwrap();
}

/// Documents as another program inserts them.
async fn inserted(db: &Db, collection: &str, documents: Vec<BsonDocument>) {
    run(db, doc! {"insert": collection, "documents": documents}).await;
}

async fn advised(db: &Db, models: impl IntoIterator<Item = &'static ModelMeta>) -> AdviceReport {
    db.advise(models).await.unwrap()
}

/// The advice of a report that has one piece.
fn only(report: &AdviceReport, code: AdviceCode) -> &Advice {
    let [advice] = report.advice.as_slice() else {
        panic!("{report}");
    };
    assert_eq!(advice.code, code, "{report}");
    assert!(!advice.message.is_empty() && !advice.remedy.is_empty());
    advice
}

fn figures<const N: usize>(advice: &Advice, names: [&str; N]) -> [i64; N] {
    names.map(|name| {
        let figure = advice.figures.get_i64(name);
        figure.unwrap_or_else(|_| panic!("{name} in {advice:?}"))
    })
}

fn words(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("word {number}")).collect()
}

fn playlist(id: i32, songs: usize, tags: usize) -> Playlist {
    Playlist {
        id,
        songs: words(songs),
        tags: words(tags),
    }
}

fn reader(id: i32) -> Reader {
    Reader {
        id,
        nickname: (id != 3).then(|| format!("reader {id}")),
        points: id,
        address: None,
    }
}

async fn sound_data_gets_no_advice(db: &Db) {
    let note = |id| Note {
        id,
        text: "short".to_owned(),
    };
    filled(db, (0..20).map(note)).await;
    filled(db, (0..120).map(|id| playlist(id, 4, 3))).await;
    let movie = |id| Movie {
        id,
        title: format!("movie {id}"),
        year: 1980,
        rating: 3,
        script: "s".repeat(900),
    };
    filled(db, (0..20).map(movie)).await;
    let person = |id| Person {
        id,
        mail: format!("Person{id}@x"),
        tags: words(2),
    };
    filled(db, (0..50).map(person)).await;
    filled(db, (0..30).map(reader)).await;
    let models = models![Note, Playlist, Movie, Person, Reader];
    let report = advised(db, models).await;
    assert!(report.is_empty(), "{report}");
    assert_eq!(report.sampled.len(), 5);
    let read: u64 = report.sampled.iter().map(|one| one.documents).sum();
    assert_eq!(read, 20 + 120 + 20 + 50 + 30);
}

async fn documents_near_a_budget_are_found(db: &Db) {
    let text = |id: i32| {
        if id == 3 {
            "😀".repeat(200)
        } else {
            "short".to_owned()
        }
    };
    filled(db, (0..20).map(|id| Note { id, text: text(id) })).await;
    let report = advised(db, models![Note]).await;
    let advice = only(&report, AdviceCode::NearSizeLimit);
    assert_eq!(advice.model, Some("Note"));
    assert_eq!(advice.collection.as_deref(), Some("notes"));
    let [largest, limit, percent] = figures(advice, ["largest", "limit", "percent"]);
    assert!(largest > 800 && limit <= 1024 && percent > 80, "{advice:?}");
    assert!(advice.remedy.contains("`text`"), "{}", advice.remedy);
}

async fn arrays_without_a_bound_are_found(db: &Db) {
    // One long array among short ones: the 99th percentile is short, and the longest has grown.
    let songs = |id| if id == 3 { 150 } else { 5 };
    filled(db, (0..200).map(|id| playlist(id, songs(id), 3))).await;
    let report = advised(db, models![Playlist]).await;
    let advice = only(&report, AdviceCode::UnboundedArray);
    assert_eq!(advice.path.as_deref(), Some("songs"));
    let found = figures(advice, ["p50", "p90", "p99", "max", "arrays"]);
    assert_eq!(found, [5, 5, 5, 150, 200]);
    // All arrays are long.
    run(
        db,
        doc! {"delete": "playlists", "deletes": [{"q": {}, "limit": 0}]},
    )
    .await;
    let long = (0..5).map(|id| playlist(id, 220, 3));
    db.collection().insert_many(long).await.unwrap();
    let report = advised(db, models![Playlist]).await;
    let advice = only(&report, AdviceCode::UnboundedArray);
    assert_eq!(figures(advice, ["p50", "max"]), [220, 220]);
}

async fn lists_within_lists_and_maps_are_measured(db: &Db) {
    let shelf = |id: i32| Shelf {
        id,
        albums: vec![Album {
            tracks: (0..if id == 1 { 250 } else { 3 }).collect(),
        }],
        plays: (0..if id == 2 { 300 } else { 2 })
            .map(|song: i32| (format!("song{song}"), song))
            .collect(),
        grid: vec![(0..if id == 3 { 400 } else { 1 }).collect()],
    };
    filled(db, (0..300).map(shelf)).await;
    let report = advised(db, models![Shelf]).await;
    let mut found: Vec<_> = report
        .advice
        .iter()
        .map(|one| (one.path.as_deref().unwrap(), one.code.as_str()))
        .collect();
    found.sort_unstable();
    let code = "unbounded-array";
    assert_eq!(
        found,
        [("albums.tracks", code), ("grid", code), ("plays", code)]
    );
    let lengths = report.advice.iter().map(|one| figures(one, ["max"])[0]);
    assert_eq!(lengths.sum::<i64>(), 250 + 300 + 400);
}

async fn arrays_near_their_bound_are_found(db: &Db) {
    let tags = |id| if id == 3 { 46 } else { 3 };
    filled(db, (0..100).map(|id| playlist(id, 5, tags(id)))).await;
    let report = advised(db, models![Playlist]).await;
    let advice = only(&report, AdviceCode::ArrayNearBound);
    assert_eq!(advice.path.as_deref(), Some("tags"));
    assert_eq!(figures(advice, ["p50", "max", "bound"]), [3, 46, 50]);
}

async fn buckets_are_filled_on_purpose(db: &Db) {
    let tags = |id| if id == 3 { 7 } else { 50 };
    filled(db, (0..100).map(|id| playlist(id, 5, tags(id)))).await;
    let report = advised(db, models![Playlist]).await;
    assert!(report.is_empty(), "{report}");
}

async fn declared_reasons_answer_advice(db: &Db) {
    let reply = |likes| Reply {
        replies: Vec::new(),
        likes: (0..likes).collect(),
    };
    let thread = |id, likes| Thread {
        id,
        replies: vec![reply(likes); 300],
    };
    filled(db, [thread(1, 1), thread(2, 1)]).await;
    let report = advised(db, models![Thread]).await;
    assert!(report.is_empty(), "{report}");
    let threads = db.collection::<Thread>();
    threads.insert_one(&thread(3, 250)).await.unwrap();
    let report = advised(db, models![Thread]).await;
    let advice = only(&report, AdviceCode::UnboundedArray);
    assert_eq!(advice.path.as_deref(), Some("replies.likes"));
    assert_eq!(figures(advice, ["max", "arrays"]), [250, 900]);
}

async fn kept_lists_of_trees_are_not_examined(db: &Db) {
    let topic = |id: i32| {
        let children: Vec<i32> = if id == 0 {
            (1..300).collect()
        } else {
            Vec::new()
        };
        doc! {"_id": id, "children": children}
    };
    inserted(db, "topics", (0..300).map(topic).collect()).await;
    let report = advised(db, models![Topic]).await;
    assert!(report.is_empty(), "{report}");
    assert_eq!(report.sampled[0].documents, 300);
}

async fn bloated_documents_are_found(db: &Db) {
    let movie = |id| Movie {
        id,
        title: format!("movie {id}"),
        year: 1980,
        rating: 3,
        script: "s".repeat(20_000),
    };
    filled(db, (0..20).map(movie)).await;
    let report = advised(db, models![Movie]).await;
    let advice = only(&report, AdviceCode::BloatedDocuments);
    let [mean, percent, others] = figures(advice, ["mean", "percent", "others"]);
    assert!(mean > 20_000 && percent == 99 && others == 3, "{advice:?}");
    let heaviest = advice.figures.get_document("heaviest").unwrap();
    assert!(heaviest.get_i64("script").unwrap() > 20_000);
    assert!(advice.message.contains("`script` (19.5 KiB)"), "{advice:?}");
}

async fn too_many_collections_are_found(db: &Db) {
    filled(db, [playlist(1, 2, 2)]).await;
    for name in ["a", "b"] {
        inserted(db, name, vec![doc! {"_id": 1}]).await;
    }
    run(db, doc! {"create": "v", "viewOn": "a", "pipeline": []}).await;
    let most = |most| db.advise(models![Playlist]).max_collections(most);
    assert!(most(3).await.unwrap().is_empty());
    let report = most(2).await.unwrap();
    let advice = only(&report, AdviceCode::TooManyCollections);
    assert_eq!(figures(advice, ["collections", "most"]), [3, 2]);
    assert_eq!((advice.model, &advice.collection), (None, &None));
}

async fn empty_collections_are_found(db: &Db) {
    synced(db, models![Playlist]).await;
    inserted(db, "full", vec![doc! {"_id": 1}]).await;
    for name in ["old", "odm_own"] {
        run(db, doc! {"create": name}).await;
    }
    run(db, doc! {"create": "v", "viewOn": "old", "pipeline": []}).await;
    let report = advised(db, models![Playlist]).await;
    let advice = only(&report, AdviceCode::EmptyCollection);
    assert_eq!(advice.collection.as_deref(), Some("old"));
    assert_eq!(advice.model, None);
}

fn person(id: i32, mail: &str, tag: &str) -> Person {
    Person {
        id,
        mail: mail.to_owned(),
        tags: vec![tag.to_owned()],
    }
}

async fn variants_by_case_are_found(db: &Db) {
    let people = [
        person(1, "ANN@x", "one"),
        person(2, "ann@x", "one"),
        person(3, "bob@x", "two"),
        person(4, "Ann@x", "two"),
    ];
    filled(db, people).await;
    let report = advised(db, models![Person]).await;
    let advice = only(&report, AdviceCode::CaseVariants);
    assert_eq!(advice.path.as_deref(), Some("mail"));
    assert_eq!(advice.index.as_deref(), Some("mail_1"));
    assert_eq!(figures(advice, ["variants", "different"]), [1, 2]);
    // A report holds no values.
    let text = format!("{report}{}", report.to_json_lines());
    assert!(!text.to_lowercase().contains("ann"), "{text}");
    let people = db.collection::<Person>();
    people.insert_one(&person(5, "eve@x", "ONE")).await.unwrap();
    let report = advised(db, models![Person]).await;
    let paths = report.advice.iter().map(|one| one.path.as_deref().unwrap());
    assert_eq!(paths.collect::<Vec<_>>(), ["mail", "tags"]);
}

async fn a_collation_answers_variants_by_case(db: &Db) {
    let member = |(id, mail): (i32, &str)| Member {
        id,
        mail: mail.to_owned(),
    };
    filled(db, [(1, "ANN@x"), (2, "ann@x")].map(member)).await;
    let report = advised(db, models![Member]).await;
    assert!(report.is_empty(), "{report}");
}

async fn fields_that_all_documents_have_are_found(db: &Db) {
    let with_nickname = |id| Reader {
        nickname: Some(format!("reader {id}")),
        ..reader(id)
    };
    filled(db, (0..1_100).map(reader)).await;
    let report = advised(db, models![Reader]).await;
    let advice = only(&report, AdviceCode::CouldBeRequired);
    assert_eq!(advice.path.as_deref(), Some("points"));
    assert_eq!(figures(advice, ["documents"]), [1_100]);
    assert!(
        advice.remedy.contains("serde(default)"),
        "{}",
        advice.remedy
    );
    run(
        db,
        doc! {"delete": "readers", "deletes": [{"q": {"_id": 3}, "limit": 1}]},
    )
    .await;
    let report = advised(db, models![Reader]).await;
    let paths = report.advice.iter().map(|one| one.path.as_deref().unwrap());
    assert_eq!(paths.collect::<Vec<_>>(), ["nickname", "points"]);
    // Too few documents say nothing.
    run(
        db,
        doc! {"delete": "readers", "deletes": [{"q": {}, "limit": 0}]},
    )
    .await;
    let few = (0..900).map(with_nickname);
    db.collection().insert_many(few).await.unwrap();
    let report = advised(db, models![Reader]).await;
    assert!(report.is_empty(), "{report}");
}

async fn nested_fields_that_all_documents_have_are_found(db: &Db) {
    let address = |id: i32| Address {
        city: "Paris".to_owned(),
        street: Some(format!("street {id}")),
    };
    let with_address = |id| Reader {
        address: (id % 10 > 0).then(|| address(id)),
        ..reader(id)
    };
    filled(db, (0..1_200).map(with_address)).await;
    let report = advised(db, models![Reader]).await;
    let found = report.advice.iter().map(|one| one.path.as_deref().unwrap());
    assert_eq!(found.collect::<Vec<_>>(), ["points", "address.street"]);
    assert_eq!(figures(&report.advice[1], ["documents"]), [1_080]);
}

/// Values that no model declares.
fn foreign_values() -> Vec<Bson> {
    vec![
        Bson::Null,
        1.into(),
        "text".into(),
        Bson::Array(vec![]),
        Bson::Array(vec![
            1.into(),
            Bson::Null,
            Bson::Array(vec![doc! {"x": 1}.into()]),
        ]),
        doc! {}.into(),
        doc! {"albums": [[1, 2], {"tracks": 5}], "0": {"a": []}}.into(),
        Bson::Undefined,
        Bson::MinKey,
    ]
}

async fn documents_of_other_programs_are_measured(db: &Db) {
    let collections = [
        ("notes", vec!["text"]),
        ("playlists", vec!["songs", "tags"]),
        ("shelves", vec!["albums", "plays", "grid"]),
        ("threads", vec!["replies"]),
        ("movies", vec!["title", "script"]),
        ("people", vec!["mail", "tags"]),
        ("hosts", vec!["name"]),
        ("setups", vec!["host"]),
        ("authors", vec!["name"]),
        ("books", vec!["author"]),
        ("offers", vec!["product", "price"]),
        ("readers", vec!["nickname", "address"]),
    ];
    for (collection, names) in collections {
        let mut documents = vec![doc! {}, doc! {"other": {"deep": [[[1]]]}}];
        for name in names {
            documents.extend(foreign_values().into_iter().map(|value| doc! {name: value}));
            let inside = doc! {"tracks": null, "street": [1], "city": {"x": 1}};
            documents.push(doc! {name: [inside.clone(), [inside.clone()], 7]});
            documents.push(doc! {name: inside});
        }
        inserted(db, collection, documents).await;
        let key = doc! {"key": {"mail": 1, "name": 1}, "name": "strings"};
        run(db, doc! {"createIndexes": collection, "indexes": [key]}).await;
    }
    let models = models![
        Note, Playlist, Shelf, Thread, Topic, Movie, Person, Host, Setup, Author, Book, Offer,
        Reader
    ];
    let report = without_delay(db, models).await;
    let unused = |one: &Advice| one.code == AdviceCode::UnusedIndex;
    assert!(report.advice.iter().all(unused), "{report}");
    assert_eq!(report.sampled.len(), 12);
    assert!(
        report
            .sampled
            .iter()
            .all(|one| one.documents == one.of && one.of > 0)
    );
}

async fn empty_and_missing_collections_are_reported(db: &Db) {
    synced(db, models![Playlist]).await;
    let report = advised(db, models![Playlist, Shelf]).await;
    assert!(report.is_empty(), "{report}");
    let [sampled] = report.sampled.as_slice() else {
        panic!("{report}");
    };
    assert_eq!(
        (sampled.model, sampled.documents, sampled.of),
        ("Playlist", 0, 0)
    );
    assert_eq!(
        report.not_examined,
        ["Shelf (`shelves`): the collection does not exist"]
    );
    // Without models, the collection belongs to none.
    let report = advised(db, models![]).await;
    let advice = only(&report, AdviceCode::EmptyCollection);
    assert_eq!(advice.collection.as_deref(), Some("playlists"));
    assert!(report.sampled.is_empty());
}

async fn views_are_not_examined(db: &Db) {
    inserted(db, "a", vec![doc! {"_id": 1}]).await;
    run(
        db,
        doc! {"create": "playlists", "viewOn": "a", "pipeline": []},
    )
    .await;
    let report = advised(db, models![Playlist]).await;
    assert!(report.is_empty(), "{report}");
    assert_eq!(
        report.not_examined,
        ["Playlist (`playlists`): it is a view, and only collections are examined"]
    );
}

async fn samples_have_the_wanted_size(db: &Db) {
    filled(db, (0..1_000).map(|id| playlist(id, 2, 2))).await;
    let read = |sample| async move {
        let mut read = 0;
        let advise = db.advise(models![Playlist]).sample(sample);
        let report = advise.on_progress(|count| read = count).await.unwrap();
        assert!(report.is_empty(), "{report}");
        let sampled = &report.sampled[0];
        assert_eq!((sampled.documents, sampled.of), (read, 1_000));
        read
    };
    // By `$sample`.
    assert_eq!(read(30).await, 30);
    assert_eq!(read(50).await, 50);
    // By a rate, and so about half of them.
    assert!((350..650).contains(&read(500).await));
    assert_eq!(read(1_000).await, 1_000);
    assert_eq!(read(5_000).await, 1_000);
}

async fn reports_are_json_lines(db: &Db) {
    filled(db, (0..20).map(|id| playlist(id, 220, 2))).await;
    reports(db).await;
    run(db, doc! {"create": "old"}).await;
    let report = without_delay(db, models![Playlist, Report, Shelf]).await;
    let lines = report.to_json_lines();
    let objects: Vec<BsonDocument> = lines
        .lines()
        .map(|line| {
            let value: Bson = serde_json::from_str::<serde_json::Value>(line)
                .unwrap()
                .try_into()
                .unwrap();
            value.as_document().unwrap().clone()
        })
        .collect();
    let codes = objects.iter().filter_map(|one| one.get_str("code").ok());
    let expected = ["unbounded-array", "unused-index", "empty-collection"];
    assert_eq!(codes.collect::<Vec<_>>(), expected, "{lines}");
    assert_eq!(objects.len(), 3 + 2 + 1);
    for (object, advice) in objects.iter().zip(&report.advice) {
        assert_eq!(object.get_str("message").unwrap(), advice.message);
        assert_eq!(object.get_str("remedy").unwrap(), advice.remedy);
    }
    let since = objects[1].get_document("figures").unwrap().get("since");
    assert!(matches!(since, Some(Bson::DateTime(_))), "{lines}");
    let text = report.to_string();
    for part in [
        "Playlist (`playlists`): 20 of 20 documents sampled\n  unbounded-array: ",
        "Report (`reports`): 20 of 20 documents sampled\n  unused-index: ",
        "the database:\n  empty-collection: ",
        "not examined: Shelf (`shelves`): the collection does not exist\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

async fn handles_with_other_names_are_examined(db: &Db) {
    let tenant = db.with_collection_names(|name| format!("acme_{name}"));
    authors(&tenant, |author| author % 5).await;
    let report = advised(&tenant, models![Author, Book]).await;
    let advice = only(&report, AdviceCode::FewEnoughToEmbed);
    assert_eq!(advice.collection.as_deref(), Some("acme_authors"));
}
