//! The check itself can fail.

use super::{HOUSES, Sources};

/// The faults in a crate whose `module` consists of `text`.
fn faults(folder: &str, module: &str, text: &str) -> Vec<String> {
    let mut sources = Sources::default();
    let module: Vec<String> = module.split("::").map(str::to_owned).collect();
    sources.add(&module, text, None, false);
    let houses = HOUSES.iter().filter(|house| house.folder == folder);
    houses.flat_map(|house| house.faults(&sources)).collect()
}

#[track_caller]
fn passes(folder: &str, module: &str, text: &str) {
    assert_eq!(faults(folder, module, text), Vec::<String>::new());
}

#[track_caller]
fn fails(folder: &str, module: &str, text: &str, with: &str) {
    let faults = faults(folder, module, text);
    assert!(
        faults.len() == 1 && faults[0].contains(with),
        "expected one fault with {with:?}, found {faults:?}"
    );
}

#[test]
fn lower_modules_may_be_named() {
    let text = "use crate::store::Store; use crate::{error, model::path};";
    passes("odm", "query::filter", text);
    passes("odm", "query", "pub(in crate::collection) fn f() {}");
    passes("odm/engine", "txn", "use crate::catalog::Catalog;");
    let text = "use super::parse; use crate::expression;";
    passes("odm/language", "matcher::ast", text);
}

#[test]
fn higher_modules_may_not_be_named() {
    let text = "use crate::query::Filter;";
    fails("odm", "store", text, "floor 3 is above floor 2");
    let text = "use crate::{error::Error, store};";
    fails("odm", "codec", text, "names crate::store");
    let text = "use odm::store::Store;";
    fails("odm", "codec", text, "names crate::store");
    let text = "use crate::error::{Error, self}; use super::super::query;";
    fails("odm", "codec::encode", text, "names crate::query");
    let text = "use crate::planner::Plan;";
    fails("odm/engine", "index", text, "floor 2 is above floor 1");
}

#[test]
fn neighbouring_modules_may_not_be_named() {
    let text = "use crate::update::Update;";
    fails("odm", "plan", text, "a neighbour on floor 6");
    let text = "use super::updater::Update;";
    fails("odm/engine", "index", text, "a neighbour on floor 1");
}

#[test]
fn paths_in_expressions_and_macros_count() {
    for (text, named) in [
        (
            "fn f() { if true { crate::model::name::resolve() } }",
            "crate::model",
        ),
        (
            "fn f() { vec![crate::store::Store::new()] }",
            "crate::store",
        ),
        (
            "macro_rules! m { () => { $crate::store::x } }",
            "crate::store",
        ),
        ("impl crate::query::Sealed for X {}", "crate::query"),
        ("fn f() { super::model::f::<u8>() }", "crate::model"),
    ] {
        fails("odm", "codec", text, named);
    }
}

#[test]
fn the_crate_root_may_not_be_named() {
    let text = "use crate::Error;";
    fails("odm", "codec", text, "no module with a floor");
    let text = "use crate::*;";
    fails("odm", "codec", text, "the root stands above all floors");
    let text = "use crate::error::Error;";
    fails("odm", "attic", text, "`attic` has no floor");
}

#[test]
fn cycles_are_found_and_chains_are_not() {
    let cycles = |last: &str| {
        let mut sources = Sources::default();
        for (module, text) in [
            ("a", "use crate::b::X;"),
            ("b", "use crate::c;"),
            ("c", last),
        ] {
            sources.add(&[module.to_owned()], text, None, false);
        }
        sources.cycles()
    };
    assert_eq!(cycles("use crate::a::Y;"), [["a", "b", "c"]]);
    assert_eq!(cycles("use std::fmt;"), Vec::<Vec<String>>::new());
}

#[test]
fn cycles_lead_through_children_and_re_exports() {
    let cycles = |parent: &str, child: &str| {
        let mut sources = Sources::default();
        let path = |path: &str| path.split("::").map(str::to_owned).collect::<Vec<_>>();
        sources.add(&path("a"), parent, None, false);
        sources.add(&path("a::child"), child, None, false);
        sources.add(&path("a::other"), "use crate::a::child::Y;", None, false);
        sources.cycles()
    };
    let parent = "mod child { pub(super) struct C; } use self::child::C; struct X;";
    assert_eq!(cycles(parent, "use super::X;"), [["a", "a::child"]]);
    let parent = "mod child { pub(super) struct C; } fn f() { child::f() } struct X;";
    assert_eq!(cycles(parent, "use crate::a::X;"), [["a", "a::child"]]);
    // `other` declares what `a` re-exports.
    let parent = "mod other; pub use self::other::X;";
    let both = [["a::child", "a::other"]];
    assert_eq!(cycles(parent, "use super::X as Z;"), both);
    assert_eq!(cycles(parent, "use std::fmt;"), Vec::<Vec<String>>::new());
    // In some builds, `child` stands in for `other`.
    let parent =
        "mod child; mod other; #[cfg(not(f))] use self::child as other; pub use self::other::X;";
    assert_eq!(cycles(parent, "use super::X as Z;"), both);
}

#[test]
fn only_tests_are_exempt() {
    let text = "#[cfg(test)] mod tests { use crate::store::Store; }";
    passes("odm", "codec", text);
    let text = "#[cfg(test)] use crate::store::Store;";
    passes("odm", "codec", text);
    let text = "#[cfg(feature = \"memory\")] mod m { use crate::store::Store; }";
    fails("odm", "codec", text, "crate::store");
}
