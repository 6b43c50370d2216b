use std::fmt::{Debug, Write as _};

use super::Ways;
use crate::model::TreeMeta;
use crate::model::tree::{ReadId, RootParent};
use crate::support::NO_TREE;

/// The options of `tree(…)` that name fields; `bounds` stands for `left` and `right`.
const OPTIONS: [&str; 9] = [
    "parent",
    "children",
    "ancestors",
    "path",
    "bounds",
    "depth",
    "order",
    "child_count",
    "descendant_count",
];

/// A tree that keeps these fields.
fn tree(options: &[&str]) -> TreeMeta {
    let field = |name: &'static str| options.contains(&name).then_some(name);
    TreeMeta {
        parent: field("parent").map(|name| (name, RootParent::Null)),
        children: field("children"),
        ancestors: field("ancestors"),
        path: field("path").map(|name| (name, (|_| None) as ReadId)),
        bounds: field("bounds").map(|_| ("left", "right")),
        depth: field("depth"),
        order: field("order"),
        child_count: field("child_count"),
        descendant_count: field("descendant_count"),
        ..*NO_TREE
    }
}

/// The ways of a tree in words: the options that each read uses.
fn in_words(ways: &Ways) -> Vec<(&'static str, &'static str)> {
    let words = |way: &dyn Debug| {
        let variant = format!("{way:?}").replace("Links(", "");
        match variant.split(['(', ' ']).next().unwrap_or_default() {
            "Parent" => "parent",
            "Children" => "children",
            "Ancestors" => "ancestors",
            "Path" => "path",
            "Bounds" => "bounds",
            "BoundsAndDepth" => "bounds and depth",
            "Depth" => "depth",
            "Rank" => "order",
            "ChildCount" => "child_count",
            "DescendantCount" => "descendant_count",
            "Lineage" => "ancestors or path",
            "None" => "nothing",
            other => panic!("{other}"),
        }
    };
    vec![
        ("ancestors", words(&ways.ancestors)),
        ("the parent", words(&ways.parent)),
        ("children", words(&ways.children)),
        ("whether there are children", words(&ways.has_children)),
        ("descendants", words(&ways.descendants)),
        ("descendants within some levels", words(&ways.levels_below)),
        ("roots", words(&ways.roots)),
        ("leaves", words(&ways.leaves)),
        ("depth", words(&ways.depth)),
        ("the order of siblings", words(&ways.siblings)),
    ]
}

#[test]
fn each_pattern_is_read_by_its_fields() {
    let declared: [&[&str]; 16] = [
        &["parent"],
        &["parent", "order"],
        &["parent", "depth", "child_count"],
        &["children"],
        &["children", "parent"],
        &["children", "order", "child_count"],
        &["ancestors"],
        &["ancestors", "parent"],
        &["ancestors", "parent", "depth", "order"],
        &["path"],
        &["path", "parent", "order"],
        &["path", "ancestors", "descendant_count"],
        &["bounds"],
        &["bounds", "parent"],
        &["bounds", "depth"],
        &["bounds", "parent", "ancestors", "path", "children"],
    ];
    let mut table = String::new();
    for options in declared {
        let ways = in_words(&Ways::of(&tree(options)));
        let ways: Vec<_> = ways.into_iter().map(|(_, way)| way).collect();
        writeln!(table, "{}: {}", options.join(", "), ways.join(" | ")).unwrap();
    }
    // The columns are those of `in_words`.
    let expected = "\
parent: parent | parent | parent | parent | parent | parent | parent | parent | parent | nothing
parent, order: parent | parent | parent | parent | parent | parent | parent | parent | parent | order
parent, depth, child_count: parent | parent | parent | parent | parent | parent | parent | child_count | depth | nothing
children: children | children | children | children | children | children | children | children | children | children
children, parent: parent | parent | parent | children | parent | parent | parent | children | parent | children
children, order, child_count: children | children | children | children | children | children | children | child_count | children | order
ancestors: ancestors | ancestors | ancestors | ancestors or path | ancestors | ancestors | ancestors | ancestors | ancestors | nothing
ancestors, parent: ancestors | parent | parent | parent | ancestors | ancestors | parent | parent | ancestors | nothing
ancestors, parent, depth, order: ancestors | parent | parent | parent | ancestors | ancestors | parent | parent | depth | order
path: path | path | path | ancestors or path | path | path | path | path | path | nothing
path, parent, order: path | parent | parent | parent | path | path | parent | parent | path | order
path, ancestors, descendant_count: ancestors | ancestors | path | ancestors or path | path | path | path | descendant_count | ancestors | nothing
bounds: bounds | bounds | bounds | bounds | bounds | bounds | bounds | bounds | bounds | bounds
bounds, parent: bounds | parent | parent | bounds | bounds | bounds | parent | bounds | bounds | bounds
bounds, depth: bounds | bounds | bounds and depth | bounds | bounds | bounds and depth | depth | bounds | depth | bounds
bounds, parent, ancestors, path, children: ancestors | parent | parent | children | bounds | path | parent | children | ancestors | bounds
";
    assert_eq!(table, expected, "\n{table}");
}

/// The book's table: each read, with the options in the order in which it prefers them.
fn table_of_the_book() -> Vec<(&'static str, Vec<&'static str>)> {
    let chapter = include_str!("../../../../../book/src/trees.md");
    let (_, table) = chapter.split_once("### What each read uses\n").unwrap();
    let rows = table.lines().skip_while(|line| !line.starts_with("| ---"));
    let rows = rows.skip(1).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        (cells[1], cells[2].split(", ").collect())
    })
    .collect()
}

#[test]
fn the_book_has_the_order_of_every_read() {
    let book = table_of_the_book();
    for chosen in 1..1_u32 << OPTIONS.len() {
        let options = OPTIONS.iter().enumerate();
        let options: Vec<&str> = options
            .filter(|(bit, _)| chosen >> bit & 1 == 1)
            .map(|(_, option)| *option)
            .collect();
        let structures = ["parent", "children", "ancestors", "path", "bounds"];
        if !structures.iter().any(|one| options.contains(one)) {
            continue;
        }
        let in_book = book.iter().map(|(read, preferred)| {
            let plain = |word: &str| word.split(':').next().unwrap().replace('`', "");
            let is_kept = |word: &str| match word.split_once(" and ") {
                Some((one, other)) => options.contains(&one) && options.contains(&other),
                None => word.split(" or ").any(|one| options.contains(&one)),
            };
            let words = preferred.iter().map(|word| plain(word));
            let first = words.into_iter().find(|word| is_kept(word));
            (*read, first.unwrap_or_else(|| "nothing".to_owned()))
        });
        let computed = in_words(&Ways::of(&tree(&options)));
        let computed = computed
            .into_iter()
            .map(|(read, way)| (read, way.to_owned()));
        let (in_book, computed): (Vec<_>, Vec<_>) = (in_book.collect(), computed.collect());
        assert_eq!(in_book, computed, "{options:?}");
    }
}
