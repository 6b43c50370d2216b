use bson::doc;
use serde::{Deserialize, Serialize};

use super::*;
use crate::Embedded;
use crate::query::fields;

#[derive(Serialize, Deserialize, Embedded)]
struct Post {
    title: String,
    scores: Vec<i32>,
    #[odm(embed(few, max = 9))]
    comments: Vec<Comment>,
}

#[derive(Clone, Serialize, Deserialize, Embedded)]
struct Comment {
    id: i32,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[odm(embed(few, max = 9))]
    replies: Vec<Reply>,
}

#[derive(Clone, Serialize, Deserialize, Embedded)]
struct Reply {
    id: i32,
    text: String,
}

fn post() -> <Post as Embedded>::Fields<Post> {
    fields::<Post>()
}

#[track_caller]
fn refused(update: &Update<Post>, path: &str, word: &str) {
    let error = update.to_bson().unwrap_err();
    assert_eq!(error.path().unwrap_or_default(), path, "{error}");
    assert!(error.to_string().contains(word), "{error}");
}

#[test]
fn array_filters_get_names_two_levels_deep() {
    let p = post();
    let update = p.comments.update_where(
        |c| c.id.eq(1),
        |c| {
            c.text.set("one")
                & c.replies
                    .update_where(|r| r.id.eq(2), |r| r.text.set("two"))
                & c.replies
                    .update_where(|r| r.id.eq(3), |r| r.text.set("three"))
        },
    );
    assert_eq!(
        update.to_document().unwrap(),
        doc! {"$set": {
            "comments.$[a].text": "one",
            "comments.$[a].replies.$[b].text": "two",
            "comments.$[a].replies.$[c].text": "three",
        }}
    );
    let filters = [doc! {"a.id": 1}, doc! {"b.id": 2}, doc! {"c.id": 3}];
    assert_eq!(update.array_filters().unwrap(), filters);
}

#[test]
fn joined_updates_get_different_names_and_equal_conditions_the_same() {
    let p = post();
    let one = || p.comments.update_where(|c| c.id.eq(1), |c| c.text.set("x"));
    let update = one()
        & p.comments
            .update_where(|c| c.id.eq(1), |c| c.by.set("me".to_owned()))
        & p.comments.update_where(
            |c| c.id.gt(1) & !c.by.eq("me".to_owned()),
            |c| c.text.set("y"),
        )
        & p.scores
            .update_where(|s| s.lt(60) | s.gt(90), |s| s.set(60))
        & p.comments.filtered("b").replies.set(Vec::new())
        & p.comments.array_filter("b", |c| c.id.eq(9));
    assert_eq!(
        update.to_document().unwrap(),
        doc! {"$set": {
            "comments.$[a].text": "x",
            "comments.$[a].by": "me",
            "comments.$[c].text": "y",
            "scores.$[d]": 60,
            "comments.$[b].replies": [],
        }}
    );
    let filters = [
        doc! {"a.id": 1},
        doc! {"c.id": {"$gt": 1}, "c.by": {"$ne": "me"}},
        doc! {"$or": [{"d": {"$lt": 60}}, {"d": {"$gt": 90}}]},
        doc! {"b.id": 9},
    ];
    assert_eq!(update.array_filters().unwrap(), filters);
    refused(&(one() & one()), "comments.$[a].text", "only once");
    let all = p
        .comments
        .update_where(|_| Filter::all(), |c| c.text.set(""));
    assert_eq!(
        all.array_filters().unwrap(),
        [doc! {"a": {"$exists": true}}]
    );
    let many = Update::all_of(
        (0..30).map(|id| p.comments.update_where(|c| c.id.eq(id), |c| c.text.set(""))),
    );
    let filters = many.array_filters().unwrap();
    assert_eq!(filters.last(), Some(&doc! {"d1.id": 29}));
}

#[test]
fn raw_conditions_are_moved_to_the_element() {
    let p = post();
    let raw = doc! {"id": 1, "$or": [{"by": "me"}, {"text": {"$regex": "^x"}}]};
    let update = p
        .comments
        .update_where(|_| Filter::raw(raw), |c| c.text.set(""));
    assert_eq!(
        update.array_filters().unwrap(),
        [doc! {"a.id": 1, "$or": [{"a.by": "me"}, {"a.text": {"$regex": "^x"}}]}]
    );
}

#[test]
fn changes_that_name_no_element_are_refused() {
    let p = post();
    refused(
        &p.comments
            .update_where(|c| c.id.eq(1), |_| p.title.set("x")),
        "comments",
        "names no field",
    );
    refused(
        &p.comments
            .update_where(|c| c.id.eq(1), |_| Update::pipeline([])),
        "comments",
        "array filters",
    );
    let anonymous = Comment {
        id: 1,
        text: String::new(),
        by: None,
        replies: Vec::new(),
    };
    refused(
        &p.comments.push_new(|c| c.by, &anonymous),
        "comments.by",
        "no key",
    );
    refused(
        &p.comments.set_by(|c| c.by, &anonymous),
        "comments.by",
        "no key",
    );
}

#[test]
fn elements_are_replaced_and_removed_by_key() {
    let p = post();
    let reply = Reply {
        id: 2,
        text: "two".to_owned(),
    };
    let update = p
        .comments
        .update_where(|c| c.id.eq(1), |c| c.replies.set_by(|r| r.id, reply));
    assert_eq!(
        update.to_document().unwrap(),
        doc! {"$set": {"comments.$[a].replies.$[b]": {"id": 2, "text": "two"}}}
    );
    assert_eq!(
        update.array_filters().unwrap(),
        [doc! {"a.id": 1}, doc! {"b.id": 2}]
    );
    let removed = p
        .comments
        .update_where(|c| c.id.eq(1), |c| c.replies.pull_by(|r| r.id, [2, 3]));
    assert_eq!(
        removed.to_document().unwrap(),
        doc! {"$pull": {"comments.$[a].replies": {"id": {"$in": [2, 3]}}}}
    );
}
