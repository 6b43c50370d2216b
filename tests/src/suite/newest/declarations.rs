//! What lists of the newest declare.

use odm::bson::doc;
use odm::model::{CounterpartKind, Document as _, RelationMeta};
use odm::prelude::*;

use super::models::{Host, LogMessage, hosts};

pub(super) async fn both_sides_are_in_the_metadata(_db: &Db) {
    let mut relations = Host::model().relations().iter();
    let recent = relations.find_map(RelationMeta::as_recent).unwrap();
    assert_eq!(
        (recent.field, recent.max, recent.sort, recent.descending),
        ("logmsgs", 3, "time", false)
    );
    let copied: Vec<_> = recent.copied.iter().map(|field| field.name).collect();
    assert_eq!(copied, ["t", "message"]);
    assert_eq!((recent.source)().name, "LogMessage");
    let reference = LogMessage::model().relations()[0].as_reference().unwrap();
    let counterpart = reference.counterpart.unwrap();
    assert_eq!(
        (counterpart.kind, counterpart.name),
        (CounterpartKind::Recent, "logmsgs")
    );
    assert_eq!(reference.target.name, "Host");
}

pub(super) async fn sync_creates_what_propagation_needs(db: &Db) {
    hosts(db).await;
    let list = db.run_command(doc! {"listCollections": 1, "nameOnly": true});
    let listed = list.all().await.unwrap();
    let names: Vec<_> = listed
        .iter()
        .filter_map(|one| one.get_str("name").ok())
        .collect();
    for name in ["odm_propagations", "odm_reference_fences"] {
        assert!(names.contains(&name), "{names:?}");
    }
}

mod copied {
    use odm::prelude::*;

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "blogs", has_many(all: Post, by = blog))]
    pub(super) struct Blog {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        title: String,
        #[odm(recent(Post, max = 3, sort = id))]
        posts: Vec<Line>,
    }

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "posts")]
    pub(super) struct Post {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(index, recent_in = posts)]
        blog: Ref<Blog>,
        #[odm(copy_of(blog.title))]
        title: String,
    }

    #[derive(Debug, Serialize, Deserialize, Embedded, Projection)]
    #[odm(of = Post)]
    struct Line {
        #[serde(rename = "_id")]
        id: i32,
        title: String,
    }
}

mod counted {
    use odm::prelude::*;

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "blogs")]
    pub(super) struct Blog {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        #[odm(recent(Post, max = 3, sort = version))]
        posts: Vec<Line>,
    }

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "posts")]
    pub(super) struct Post {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(index, recent_in = posts)]
        blog: Ref<Blog>,
        #[odm(version)]
        version: i64,
    }

    #[derive(Debug, Serialize, Deserialize, Embedded, Projection)]
    #[odm(of = Post)]
    struct Line {
        version: i64,
    }
}

mod removed {
    use odm::prelude::*;

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "authors", has_many(all: Post, by = author, on_delete = set_null))]
    pub(super) struct Author {
        #[serde(rename = "_id")]
        id: i32,
    }

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "blogs")]
    pub(super) struct Blog {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        #[odm(recent(Post, max = 3, sort = id))]
        posts: Vec<Line>,
    }

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "posts")]
    pub(super) struct Post {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(index, recent_in = posts)]
        blog: Ref<Blog>,
        #[odm(index)]
        author: Option<Ref<Author>>,
    }

    #[derive(Debug, Serialize, Deserialize, Embedded, Projection)]
    #[odm(of = Post)]
    struct Line {
        #[serde(rename = "_id")]
        id: i32,
        author: Option<Ref<Author>>,
    }
}

mod twice {
    use odm::prelude::*;

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "blogs")]
    pub(super) struct Blog {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        #[odm(recent(Post, max = 3, sort = id))]
        posts: Vec<Line>,
    }

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "posts")]
    pub(super) struct Post {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(index, recent_in = posts)]
        blog: Ref<Blog>,
        #[odm(index, recent_in = posts)]
        other: Ref<Blog>,
    }

    #[derive(Debug, Serialize, Deserialize, Embedded, Projection)]
    #[odm(of = Post)]
    struct Line {
        #[serde(rename = "_id")]
        id: i32,
    }
}

pub(super) async fn wrong_declarations_are_refused(db: &Db) {
    macro_rules! refused {
        ($module:ident, $message:expr) => {{
            let plan = db.sync(models![$module::Blog]).plan().await;
            let read = db.collection::<$module::Blog>().check_recent().await;
            let write = db.collection::<$module::Post>().delete_all().await;
            for error in [plan.unwrap_err(), read.unwrap_err(), write.unwrap_err()] {
                let text = error.to_string();
                assert!(error.is_declaration(), "{text}");
                assert!(text.contains($message), "{text}");
                assert!(text.contains("Blog.posts"), "{text}");
            }
        }};
    }
    refused!(
        copied,
        "`title` of `Post` changes without an update that names it"
    );
    refused!(
        counted,
        "`version` of `Post` changes without an update that names it"
    );
    refused!(
        removed,
        "`author` of `Post` changes without an update that names it"
    );
    refused!(
        twice,
        "`blog` and `other` of `Post` both say `recent_in = posts`"
    );
}
