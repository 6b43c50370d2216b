use bson::{Document, bson, doc};

use crate::pull::testing::{database, head, pulled};

/// The head of a struct whose collection has these indexes.
async fn declared(indexes: Vec<Document>) -> Vec<String> {
    let document = doc! {
        "_id": 1, "title": "Emma", "year": 1815, "seen": bson::DateTime::from_millis(0), "tags": ["a"],
        "lists": ["b"], "contact": {"name": "Ada"}, "at": [1.5, 2.5], "unique": 1, "language": "en",
        "map": {"2020": 1}, "maybe": 1,
    };
    let db = database(&[(
        "books",
        vec![document, doc! {"_id": 2, "title": "", "year": 1}],
    )])
    .await;
    for index in indexes {
        let mut index = index;
        if !index.contains_key("name") {
            let keys = index.get_document("key").unwrap();
            let name = keys.iter().map(|(key, kind)| match kind {
                bson::Bson::String(kind) => format!("{key}_{kind}"),
                kind => format!("{key}_{kind}"),
            });
            let name: Vec<String> = name.collect();
            index.insert("name", name.join("_"));
        }
        let command = doc! {"createIndexes": "books", "indexes": [index]};
        db.run_command(command).await.unwrap();
    }
    let source = pulled(&db).await.to_source();
    let lines = head(&source, "Book").into_iter();
    let lines = lines.filter(|line| !line.contains("collection = "));
    lines.map(str::to_owned).collect()
}

#[tokio::test]
async fn keys_and_options_are_declared() {
    for (index, attribute) in [
        (doc! {"key": {"title": 1}}, "index(title)"),
        (
            doc! {"key": {"title": 1, "year": -1}},
            "index(title, year = desc)",
        ),
        (doc! {"key": {"contact.name": 1}}, "index(contact.name)"),
        (doc! {"key": {"year": 1}, "unique": true}, "unique(year)"),
        (
            doc! {"key": {"maybe": 1}, "unique": true, "sparse": true},
            "unique(maybe, sparse)",
        ),
        (
            doc! {"key": {"title": 1}, "hidden": true},
            "index(title, hidden)",
        ),
        (
            doc! {"key": {"title": 1}, "name": "mine"},
            "index(title, name = \"mine\")",
        ),
        (doc! {"key": {"unique": 1}}, "index(unique = asc)"),
        (doc! {"key": {"title": "hashed"}}, "index(title = hashed)"),
        (doc! {"key": {"at": "2dsphere"}}, "index(at = \"2dsphere\")"),
        (
            doc! {"key": {"seen": 1}, "expireAfterSeconds": 2_592_000},
            "ttl(seen, after = \"30d\")",
        ),
        (
            doc! {"key": {"seen": 1}, "expireAfterSeconds": 0},
            "ttl(seen, after = \"0s\")",
        ),
        (
            doc! {"key": {"seen": 1}, "expireAfterSeconds": 5_400},
            "ttl(seen, after = \"90m\")",
        ),
        (doc! {"key": {"$**": 1}}, "wildcard"),
        (doc! {"key": {"contact.$**": 1}}, "wildcard(contact)"),
        (
            doc! {"key": {"title": 1}, "collation": {"locale": "en", "strength": 2}},
            "index(title, collation(locale = \"en\", strength = 2))",
        ),
        (
            doc! {"key": {"title": 1}, "partialFilterExpression": {"year": {"$gt": 5}}},
            "index(title, partial = |_| odm::query::raw(doc! { \"year\": { \"$gt\": 5 } }))",
        ),
        (
            doc! {"key": {"title": "text"}, "weights": {"title": 3}, "language_override": "none"},
            "text(title(weight = 3), language_override = \"none\")",
        ),
    ] {
        assert_eq!(
            declared(vec![index]).await,
            [format!("#[odm({attribute})]")]
        );
    }
}

#[tokio::test]
async fn what_the_derive_refuses_is_a_comment() {
    for (index, reason) in [
        (doc! {"key": {"nope": 1}}, "`nope` is not a declared field"),
        (
            doc! {"key": {"map.2020": 1}},
            "`map.2020` has no typed fields inside",
        ),
        (
            doc! {"key": {"year": 1}, "expireAfterSeconds": 60},
            "documents expire by a date",
        ),
        (
            doc! {"key": {"maybe": 1}, "unique": true},
            "need `sparse` or a partial filter",
        ),
        (
            doc! {"key": {"title": "text"}},
            "the field `language` for the language",
        ),
    ] {
        let lines = declared(vec![index]).await;
        assert!(
            lines.len() == 1 && lines[0].starts_with("// The index"),
            "{lines:?}"
        );
        assert!(lines[0].contains(reason), "{lines:?}");
    }
}

#[tokio::test]
async fn an_index_that_another_serves_is_a_comment() {
    let lines = declared(vec![
        doc! {"key": {"title": 1}},
        doc! {"key": {"title": -1, "year": 1}},
        doc! {"key": {"title": 1}, "name": "s", "sparse": true},
    ])
    .await;
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines[0].contains("the index `title_-1_year_1` serves its queries"),
        "{lines:?}"
    );
    assert_eq!(
        lines[1..],
        [
            "#[odm(index(title = desc, year))]",
            "#[odm(index(title, name = \"s\", sparse))]"
        ]
    );
}

#[tokio::test]
async fn options_of_the_collection_are_declared() {
    let db = database(&[]).await;
    let collation = bson!({"locale": "fr", "caseLevel": true});
    let create = doc! {
        "create": "books", "collation": collation, "changeStreamPreAndPostImages": {"enabled": true},
        "validator": {"year": {"$gt": 5}}, "validationLevel": "moderate",
    };
    db.run_command(create).await.unwrap();
    db.run_command(doc! {"create": "log", "capped": true, "size": 4096, "max": 5})
        .await
        .unwrap();
    let source = pulled(&db).await.to_source();
    let mut head = head(&source, "Book");
    head.sort_unstable();
    assert_eq!(
        head,
        [
            "#[odm(change_stream_images)]",
            "#[odm(collation(locale = \"fr\", case_level = true))]",
            "#[odm(collection = \"books\")]",
            "#[odm(rule(\"validator 1\", |_| odm::query::raw(doc! { \"year\": { \"$gt\": 5 } })))]",
            "#[odm(validation(level = \"moderate\"))]",
        ]
    );
    assert!(
        source.contains("#[odm(capped(size = 4_096, max = 5))]"),
        "{source}"
    );
}
