use bson::{Document, doc};

use super::indexes;
use crate::model::field::{
    EmbeddedMeta, EnumMeta, FieldMeta, Tagging, VariantContent, VariantMeta,
};
use crate::model::{Capped, CollationMeta, IndexMeta, KeyKind, ModelMeta, Shape, TypeMeta};
use crate::schema::testing::{DATE, INT, STRING, array, field, key, model, object, shape};
use crate::support::index;

fn contact() -> &'static EmbeddedMeta {
    const META: &EmbeddedMeta = &object(
        "Contact",
        &[
            field("name", STRING, &[]),
            field("mails", array(&STRING), &[]),
        ],
    );
    META
}

fn figure() -> &'static EmbeddedMeta {
    const META: &EmbeddedMeta = &EmbeddedMeta {
        variants: Some(EnumMeta {
            tagging: Tagging::Adjacent {
                tag: "t",
                content: "c",
            },
            variants: &[VariantMeta {
                rust: "Circle",
                name: "circle",
                content: VariantContent::Struct(&[field("radius", INT, &[])]),
            }],
        }),
        ..object("Figure", &[])
    };
    META
}

const RENAMED: FieldMeta = FieldMeta {
    rust: "kind",
    name: "type",
    ..field("", INT, &[])
};
const FLAT: FieldMeta = FieldMeta {
    rust: "flat",
    flatten: true,
    ..field("", shape(Shape::Embedded(contact)), &[])
};

fn embedded() -> &'static EmbeddedMeta {
    const FIELDS: &[FieldMeta] = &[
        field("_id", INT, &[]),
        field("title", STRING, &[]),
        field("time", DATE, &[]),
        field("tags", array(&STRING), &[]),
        field(
            "contacts",
            array(const { &shape(Shape::Embedded(contact)) }),
            &[],
        ),
        field("figure", shape(Shape::Embedded(figure)).nullable(), &[]),
        field("extra", shape(Shape::Map(&INT)), &[]),
        field("any", TypeMeta::ANY, &[]),
        RENAMED,
        FLAT,
    ];
    const META: &EmbeddedMeta = &object("M", FIELDS);
    META
}

const UP: KeyKind = KeyKind::Ascending;
const DOWN: KeyKind = KeyKind::Descending;
const TEXT: KeyKind = KeyKind::Text { weight: 1 };

fn specs(declared: &[IndexMeta]) -> Result<Vec<Document>, String> {
    let declared: &'static [IndexMeta] = Box::leak(declared.iter().map(copy).collect());
    let meta = ModelMeta {
        indexes: declared,
        ..model(embedded)
    };
    indexes(&meta).map_err(|error| {
        assert!(error.is_declaration());
        error.to_string()
    })
}

fn copy(index: &IndexMeta) -> IndexMeta {
    IndexMeta { ..*index }
}

fn one(declared: IndexMeta) -> Result<Document, String> {
    specs(&[declared]).map(|mut specs| specs.remove(0))
}

#[test]
fn specifications() {
    const EN: CollationMeta = CollationMeta {
        locale: "en",
        strength: Some(2),
        case_level: None,
        case_first: None,
        numeric_ordering: Some(true),
        alternate: None,
        max_variable: None,
        backwards: None,
        normalization: None,
    };
    let rows = [
        (
            index(const { &[key(&["title"], UP), key(&["kind"], DOWN)] }),
            doc! {"key": {"title": 1, "type": -1}, "name": "title_1_type_-1"},
        ),
        (
            index(const { &[key(&["contacts", "name"], KeyKind::Hashed)] }),
            doc! {},
        ),
        (
            index(const { &[key(&["flat", "name"], KeyKind::Hashed)] }),
            doc! {"key": {"name": "hashed"}, "name": "name_hashed"},
        ),
        (
            index(const { &[key(&["figure", "circle", "radius"], UP)] }),
            doc! {"key": {"figure.c.radius": 1}, "name": "figure.c.radius_1"},
        ),
        (
            IndexMeta {
                name: Some("words"),
                default_language: Some("french"),
                ..index(
                    const {
                        &[
                            key(&["title"], KeyKind::Text { weight: 10 }),
                            key(&["contacts", "name"], TEXT),
                        ]
                    },
                )
            },
            doc! {"key": {"title": "text", "contacts.name": "text"}, "name": "words",
            "weights": {"title": 10}, "default_language": "french"},
        ),
        (
            IndexMeta {
                wildcard_projection: &[(&["title"], true), (&["kind"], true)],
                ..index(const { &[key(&[], KeyKind::Wildcard)] })
            },
            doc! {"key": {"$**": 1}, "name": "$**_1", "wildcardProjection": {"title": 1, "type": 1}},
        ),
        (
            index(const { &[key(&["extra"], KeyKind::Wildcard)] }),
            doc! {"key": {"extra.$**": 1}, "name": "extra.$**_1"},
        ),
        (
            IndexMeta {
                unique: true,
                hidden: true,
                partial: Some(|| Ok(doc! {"title": {"$gt": ""}})),
                collation: Some(EN),
                ..index(const { &[key(&["any"], KeyKind::Sphere)] })
            },
            doc! {"key": {"any": "2dsphere"}, "name": "any_2dsphere", "unique": true, "hidden": true,
            "partialFilterExpression": {"title": {"$gt": ""}},
            "collation": {"locale": "en", "strength": 2, "numericOrdering": true}},
        ),
        (
            IndexMeta {
                expire_after_seconds: Some(60),
                sparse: true,
                ..index(const { &[key(&["time"], UP)] })
            },
            doc! {"key": {"time": 1}, "name": "time_1", "sparse": true, "expireAfterSeconds": 60},
        ),
    ];
    for (declared, expected) in rows {
        if expected.is_empty() {
            assert!(one(declared).unwrap_err().contains("can't hold arrays"));
        } else {
            assert_eq!(one(declared).unwrap(), expected);
        }
    }
}

#[test]
fn what_the_server_would_refuse_is_refused() {
    let ttl = |keys: &'static [crate::model::KeyMeta]| IndexMeta {
        expire_after_seconds: Some(1),
        ..index(keys)
    };
    let rows = [
        (
            index(const { &[key(&["tags"], UP), key(&["contacts", "name"], UP)] }),
            "index (tags, contacts.name): M: `tags` and `contacts.name` go through different arrays, \
             and the server can index only one array of a document in one index; make two indexes",
        ),
        (
            ttl(const { &[key(&["title"], UP)] }),
            "not stored as a date",
        ),
        (
            ttl(const { &[key(&["time"], UP), key(&["title"], UP)] }),
            "has one key",
        ),
        (index(&[]), "1 to 32 keys"),
        (
            index(const { &[key(&["title"], UP), key(&["title"], DOWN)] }),
            "a key twice",
        ),
        (
            index(const { &[key(&["nothing"], UP)] }),
            "`M` has no field `nothing`; expected one of _id, title",
        ),
        (
            index(const { &[key(&["title", "x"], UP)] }),
            "the value before it has no fields",
        ),
        (
            index(const { &[key(&["_id"], UP)] }),
            "an index of its `_id`",
        ),
        (
            IndexMeta {
                sparse: true,
                partial: Some(|| Ok(doc! {})),
                ..index(const { &[key(&["title"], UP)] })
            },
            "sparse or partial",
        ),
        (
            IndexMeta {
                unique: true,
                ..index(const { &[key(&["title"], KeyKind::Hashed)] })
            },
            "can't be unique",
        ),
        (
            IndexMeta {
                unique: true,
                ..index(const { &[key(&[], KeyKind::Wildcard)] })
            },
            "a wildcard index can't be unique",
        ),
        (
            index(
                const {
                    &[
                        key(&["title"], TEXT),
                        key(&["kind"], UP),
                        key(&["flat", "name"], TEXT),
                    ]
                },
            ),
            "must stand together",
        ),
        (index(const { &[key(&["kind"], TEXT)] }), "holds no strings"),
        (
            index(const { &[key(&["title"], KeyKind::Text { weight: 0 })] }),
            "must be 1 to 99999",
        ),
        (
            index(const { &[key(&["title"], TEXT), key(&["any"], KeyKind::Sphere)] }),
            "make one index of each",
        ),
    ];
    for (declared, expected) in rows {
        let message = one(declared).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn indexes_are_checked_against_each_other() {
    const TITLE: IndexMeta = index(&[key(&["title"], UP)]);
    let named = |name, index| IndexMeta {
        name: Some(name),
        ..index
    };
    let text = index(const { &[key(&["title"], TEXT)] });
    assert!(
        specs(&[TITLE, named("b", TITLE)])
            .unwrap_err()
            .contains("are the same")
    );
    assert!(
        specs(&[
            named("a", TITLE),
            named("a", index(const { &[key(&["kind"], UP)] }))
        ])
        .unwrap_err()
        .contains("are called a")
    );
    assert!(
        specs(&[text, index(const { &[key(&["flat", "name"], TEXT)] })])
            .unwrap_err()
            .contains("at most one text index")
    );
    let many = (0..64).map(|_| TITLE);
    assert!(
        specs(&many.collect::<Vec<_>>())
            .unwrap_err()
            .contains("at most 64")
    );
    // The server takes these for two.
    let unique = IndexMeta {
        unique: true,
        ..named("u", TITLE)
    };
    assert_eq!(specs(&[TITLE, unique]).unwrap().len(), 2);
}

#[test]
fn options_of_the_collection_count() {
    const COLLATED: ModelMeta = ModelMeta {
        collation: Some(CollationMeta {
            locale: "fr",
            strength: None,
            case_level: None,
            case_first: None,
            numeric_ordering: None,
            alternate: None,
            max_variable: None,
            backwards: None,
            normalization: None,
        }),
        indexes: &[index(&[key(&["title"], TEXT)])],
        ..model(embedded)
    };
    const CAPPED: ModelMeta = ModelMeta {
        capped: Some(Capped { size: 1, max: None }),
        indexes: &[IndexMeta {
            expire_after_seconds: Some(1),
            ..index(&[key(&["time"], UP)])
        }],
        ..model(embedded)
    };
    assert!(indexes(&CAPPED).unwrap_err().to_string().contains("capped"));
    assert_eq!(
        indexes(&COLLATED).unwrap(),
        [doc! {"key": {"title": "text"}, "name": "title_text", "collation": {"locale": "simple"}}]
    );
}
