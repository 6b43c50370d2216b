//! Models that macros declare, with words of their callers in the attributes.

use odm::prelude::*;

use crate::case::cases;

cases![names_of_the_caller_are_found];

macro_rules! models {
    ($one:ident, $many:ident, $title:ident, $by:ident, $part:ident, $inside:ident) => {
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
        #[odm(
                                    collection = "ones",
                                    has_many(many: $many, by = $by, on_delete = set_null),
                                    has_many(parts: $many, by = $part.$inside, on_delete = pull)
                                )]
        struct $one {
            #[serde(rename = "_id")]
            id: i32,
            $title: String,
        }

        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
        #[odm(collection = "many", index($by), index($part.$inside))]
        struct $many {
            #[serde(rename = "_id")]
            id: i32,
            $by: Option<Ref<$one>>,
            #[odm(embed(few, max = 3))]
            $part: Vec<Part>,
        }

        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
        struct Part {
            $inside: Ref<$one>,
        }

        #[derive(Debug, Clone, PartialEq, Deserialize, Projection)]
        #[odm(of = $one)]
        struct Titled {
            $title: String,
        }
    };
}

models!(Author, Book, name, author, quotes, of);

async fn names_of_the_caller_are_found(db: &Db) {
    let name = "Woolf".to_owned();
    let author = Author { id: 1, name };
    db.collection::<Author>().insert_one(&author).await.unwrap();
    let book = Book {
        id: 1,
        author: Some(Ref::to(&author)),
        quotes: vec![Part {
            of: Ref::to(&author),
        }],
    };
    db.collection::<Book>().insert_one(&book).await.unwrap();
    let authors = db.collection::<Author>();
    let titled = authors.find_all().select::<Titled>().all().await.unwrap();
    assert_eq!(titled, [Titled { name: author.name }]);
    let rows = authors.find_all().join(|a| a.parts).all().await.unwrap();
    assert_eq!(rows[0].parts().len(), 1);
    authors.delete_by_id(&1).with_dependents().await.unwrap();
    let left = db.collection::<Book>().get(&1).await.unwrap().unwrap();
    assert_eq!((left.author, left.quotes), (None, Vec::new()));
}
