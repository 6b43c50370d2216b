//! Repairs of each kind of damage, by what the models declare and by answers.

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::check::FindingKind;
use odm::prelude::*;
use odm::repair::{Answer, Repair, RepairAction, RepairStep};

use super::damages::damages;
use super::walks::{Work, work};
use super::{Author, Book, Review, Shelf, check, filled, insert, models, set, texts};

/// All documents of the collections, in the order of their `_id`s.
pub(super) async fn stored(db: &Db) -> Vec<(&'static str, Vec<BsonDocument>)> {
    let mut all = Vec::new();
    for name in ["authors", "books", "reviews", "shelves", "works"] {
        all.push((name, documents(db, name).await));
    }
    all
}

async fn documents(db: &Db, collection: &str) -> Vec<BsonDocument> {
    let find = doc! {"find": collection, "sort": {"_id": 1}};
    db.run_command(find).all().await.unwrap()
}

/// A repair with an answer for everything that is open.
pub(super) fn answered(db: &Db) -> Repair<'static> {
    db.repair(models())
        .answer::<Book, _, _>(|b| b.author, Answer::Delete)
        .answer_at("Book", "translator", Answer::SetNull)
        .answer::<Review, _, _>(|r| r.reviewer, Answer::SetNull)
        .answer::<Author, _, _>(|a| a.reviews, Answer::Follow)
        .answer::<Book, _, _>(|b| b.tags, Answer::KeepFirst)
        .answer_at("Book", "colour", Answer::RemoveField)
        .answer_at("Shelf", "parent", Answer::BecomeRoot)
}

fn is_by_hand(step: &RepairStep) -> bool {
    step.action == RepairAction::ByHand
}

/// What writes to a document count: fields that change with each write are left out.
pub(super) async fn each_damage_is_repaired(db: &Db) {
    for (command, expected) in damages() {
        db.drop().await.unwrap();
        filled(db).await;
        let before = stored(db).await;
        db.run_command(command.clone()).await.unwrap();
        let damaged = stored(db).await;

        // Without answers, nothing is guessed.
        let plan = db.repair(models()).plan().await.unwrap();
        assert_eq!(plan.findings(), expected.len() as u64, "{plan}");
        let report = plan.run().await.unwrap();
        assert!(report.is_complete(), "{report}");
        if plan.open().count() > 0 {
            assert_eq!(
                (report.repaired(), stored(db).await),
                (0, damaged),
                "{plan}"
            );
        } else if !plan.steps().iter().any(is_by_hand) {
            // What follows from other documents has one answer.
            assert_eq!(stored(db).await, before, "{command}: {plan}");
        }

        let plan = answered(db).plan().await.unwrap();
        assert_eq!(plan.open().count(), 0, "{command}: {plan}");
        let by_hand = plan.steps().iter().filter(|step| is_by_hand(step)).count();
        let report = plan.run().await.unwrap();
        assert!(report.is_complete(), "{report}");
        let left = check(db).await;
        assert_eq!(left.findings, by_hand as u64, "{command}: {left}");
        assert!(answered(db).plan().await.unwrap().is_empty());
    }
}

pub(super) async fn each_side_can_follow(db: &Db) {
    // Author 1 lists the second review, which refers to author 2.
    let disagree = async |second: &[i32]| {
        db.drop().await.unwrap();
        filled(db).await;
        set(db, "authors", 1, doc! {"$set": {"reviews": [2]}}).await;
        set(db, "authors", 2, doc! {"$set": {"reviews": second}}).await;
    };
    disagree(&[]).await;
    let plan = db.repair(models()).plan().await.unwrap();
    let open: Vec<_> = plan.open().map(|step| (step.model, &*step.path)).collect();
    assert_eq!(open, [("Author", "reviews"), ("Review", "reviewer")]);
    assert_eq!(plan.run().await.unwrap().repaired(), 0);

    let authors_are_right = || {
        let repair = db.repair(models());
        repair.answer::<Review, _, _>(|r| r.reviewer, Answer::Follow)
    };
    let report = authors_are_right()
        .plan()
        .await
        .unwrap()
        .run()
        .await
        .unwrap();
    assert!(report.is_complete(), "{report}");
    assert!(check(db).await.is_sound());
    let expected = [
        doc! {"_id": 1, "reviewer": Bson::Null},
        doc! {"_id": 2, "reviewer": 1},
    ];
    assert_eq!(documents(db, "reviews").await, expected);

    disagree(&[]).await;
    // Only the model of the side that is right is checked.
    let repair = db
        .repair(models![Author, Review])
        .answer::<Author, _, _>(|a| a.reviews, Answer::Follow);
    let report = repair.plan().await.unwrap().run().await.unwrap();
    assert!(report.is_complete(), "{report}");
    assert!(check(db).await.is_sound());
    let expected = [
        doc! {"_id": 1, "reviewer": 1},
        doc! {"_id": 2, "reviewer": 2},
    ];
    assert_eq!(documents(db, "reviews").await, expected);

    // Both authors list the second review, which can refer to one of them only.
    disagree(&[2]).await;
    let report = authors_are_right()
        .plan()
        .await
        .unwrap()
        .run()
        .await
        .unwrap();
    assert_eq!((report.repaired(), report.failed), (1, 1), "{report}");
    let failed = report.not_repaired[0].to_string();
    assert!(failed.contains("can refer to one of them only"), "{failed}");
}

pub(super) async fn answers_that_do_not_fit_are_refused(db: &Db) {
    let refused = async |model: &str, path: &str, answer: Answer| {
        let repair = db.repair(models()).answer_at(model, path, answer);
        let error = repair.plan().await.unwrap_err();
        assert!(error.is_usage());
        error.to_string()
    };
    for (model, path, answer, expected) in [
        ("Bok", "author", Answer::Delete, "list it in `models![…]`"),
        (
            "Book",
            "autor",
            Answer::Delete,
            "no reference is declared there",
        ),
        (
            "Book",
            "author",
            Answer::SetNull,
            "the reference is not optional",
        ),
        (
            "Book",
            "author",
            Answer::Pull,
            "the reference is in no list",
        ),
        (
            "Book",
            "author",
            Answer::Follow,
            "no `two_way` reference is declared there",
        ),
        (
            "Book",
            "author",
            Answer::BecomeRoot,
            "the model has no tree",
        ),
        (
            "Author",
            "reviews",
            Answer::SetNull,
            "the reference is not optional",
        ),
        (
            "Shelf",
            "parent",
            Answer::Delete,
            "delete them by `db.tree::<…>().delete(…)`",
        ),
    ] {
        let message = refused(model, path, answer).await;
        assert!(message.contains(expected), "{message}");
        assert!(
            message.contains(&format!("`{answer}` for `{model}.{path}`")),
            "{message}"
        );
    }
    let both = db
        .repair(models())
        .answer_at("Author", "reviews", Answer::Follow)
        .answer_at("Review", "reviewer", Answer::Follow);
    let message = both.plan().await.unwrap_err().to_string();
    assert!(
        message.contains("the other side is to follow this one"),
        "{message}"
    );
    assert!("remove".parse::<Answer>().unwrap_err().is_usage());
    for answer in Answer::ALL {
        assert_eq!(answer.to_string().parse::<Answer>().unwrap(), answer);
    }
}

/// Each reference to nothing gets each answer that the plan offers for it.
pub(super) async fn references_are_repaired_at_any_depth(db: &Db) {
    filled(db).await;
    let fill = async || {
        db.run_command(doc! {"delete": "works", "deletes": [{"q": {}, "limit": 0}]})
            .await
            .unwrap();
        insert(db, "works", [work(1, 1), work(2, 9)]).await;
    };
    fill().await;
    let [sound, _]: [BsonDocument; 2] = documents(db, "works").await.try_into().unwrap();
    let plan = db.repair(models![Work]).plan().await.unwrap();
    assert_eq!(plan.steps().len(), 12, "{plan}");
    let mut given = Vec::new();
    for step in plan.steps() {
        let RepairAction::Ask(answers) = &step.action else {
            panic!("{plan}");
        };
        for answer in answers {
            fill().await;
            let repair = db
                .repair(models![Work])
                .answer_at("Work", &step.path, *answer);
            let report = repair.plan().await.unwrap().run().await.unwrap();
            assert!(report.is_complete(), "{}: {answer}: {report}", step.path);
            let left = db.check(models![Work]).await.unwrap();
            let deleted = *answer == Answer::Delete;
            let expected = match answer {
                Answer::Leave => 12,
                Answer::Delete => 0,
                // With an element go the references below it.
                Answer::Pull if step.path == "parts.author" => 9,
                Answer::Pull if step.path == "parts.parts.author" => 10,
                _ => 11,
            };
            assert_eq!(left.findings, expected, "{}: {answer}: {left}", step.path);
            let works = db.collection::<Work>().find_all().all().await.unwrap();
            assert_eq!(
                works.len(),
                2 - usize::from(deleted),
                "every document is read"
            );
            assert_eq!(documents(db, "works").await[0], sound);
            given.push(format!("{} {answer}", step.path));
        }
    }
    for expected in [
        "about set-null",
        "flat set-null",
        "in_map.a delete",
        "parts.author set-null",
        "parts.author pull",
        "parts.parts.parts.author pull",
        "anything.deep.dbref delete",
    ] {
        assert!(
            given.iter().any(|one| one == expected),
            "{expected}: {given:?}"
        );
    }
    for unfit in [
        "in_tuple set-null",
        "role.who set-null",
        "in_map.a pull",
        "in_array pull",
        "in_tuple pull",
        "flat pull",
    ] {
        assert!(!given.iter().any(|one| one == unfit), "{unfit}");
    }
    // A path of several keys.
    fill().await;
    let repair = db
        .repair(models![Work])
        .answer_at("Work", "in_map.*", Answer::Delete);
    assert_eq!(
        repair.plan().await.unwrap().run().await.unwrap().repaired(),
        1
    );
    assert_eq!(documents(db, "works").await, [sound]);
}

/// The deletion of a document reaches what was counted, listed and referred to.
pub(super) async fn what_follows_from_repairs_is_repaired(db: &Db) {
    filled(db).await;
    // Book 1 has a translator that is not there; its author counts and lists it.
    let nobody = doc! {"$ref": "authors", "$id": 9};
    set(
        db,
        "books",
        1,
        doc! {"$set": {"translator": nobody, "year": 2000}},
    )
    .await;
    set(db, "authors", 1, doc! {"$set": {"name": "renamed"}}).await;
    let repair = db
        .repair(models())
        .answer_at("Book", "translator", Answer::Delete);
    let report = repair.plan().await.unwrap().run().await.unwrap();
    assert!(report.is_complete(), "{report}");
    let left = check(db).await;
    assert!(left.is_sound(), "{left}");
    let author = db.collection::<Author>().get(&1).await.unwrap().unwrap();
    assert_eq!((author.book_count, &*author.name), (2, "renamed"));
    assert_eq!(author.newest.len(), 2);
    assert_eq!(
        db.collection::<Shelf>().find_all().count().await.unwrap(),
        3
    );
}

/// A document that the validator refuses is in nobody's way.
pub(super) async fn documents_that_can_not_be_repaired_are_listed(db: &Db) {
    filled(db).await;
    for id in 1..=3 {
        set(db, "books", id, doc! {"$set": {"author_name": "nobody"}}).await;
    }
    set(db, "books", 2, doc! {"$set": {"tags": [7]}}).await;
    let report = db
        .repair(models())
        .plan()
        .await
        .unwrap()
        .run()
        .await
        .unwrap();
    assert_eq!((report.repaired(), report.failed), (2, 1), "{report}");
    let failed = &report.not_repaired[0];
    assert_eq!((failed.model, &failed.id), ("Book", &Bson::Int32(2)));
    assert!(failed.error.is_validation_failure(), "{report}");
    let left = check(db).await;
    let kinds: Vec<_> = left.listed.iter().map(|finding| finding.kind).collect();
    assert_eq!(
        kinds,
        [FindingKind::StaleCopy, FindingKind::InvalidDocument],
        "{:?}",
        texts(&left)
    );
}
