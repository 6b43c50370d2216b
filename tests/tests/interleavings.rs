//! The orders in which the commands of two or three operations can reach the in-memory engine, also with one of them stopped
//! after any of its commands: all of them, or those with a bounded number of switches between operations. After each order, no
//! reference may dangle, no copy, no summary and no list of the
//! newest may be stale, each two-way reference must be referred back to, and trees must be whole.
//!
//! A gate holds each operation after each of its commands until the explorer grants it the next one. The explorer runs an
//! order from its beginning, and then the next one in depth-first order, until it has run them all.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a check that panics is a test that fails"
)]
#![expect(
    clippy::print_stdout,
    reason = "the number of orders belongs into the output"
)]

mod interleavings {
    mod aged;
    pub(crate) mod copies;
    pub(crate) mod explorer;
    pub(crate) mod library;
    pub(crate) mod newest;
    mod nodes;
    pub(crate) mod overflow;
    pub(crate) mod summaries;
    pub(crate) mod trees;
    pub(crate) mod two_way;
    mod verbs;
    pub(crate) mod ways;
}

use interleavings::explorer::{Explored, Operation, Orders, explore};
use interleavings::library::{Source, delete_book, fill, insert_by_hand, insert_note, is_sound};
use interleavings::ways::{Way, ways};
use interleavings::{copies, newest, overflow, summaries, trees, two_way};

/// Explores the operations on a filled library.
fn explored(name: &str, operations: &[Operation], orders: Orders) -> Explored {
    let explored = explore(fill, operations, orders, |db| Box::pin(is_sound(db)));
    println!("{name}: {explored}");
    assert!(
        explored.orders > 1,
        "{name}: the operations don't interleave"
    );
    explored
}

fn sound(name: &str, operations: &[Operation], orders: Orders) {
    let explored = explored(name, operations, orders);
    assert_eq!(explored.unsound, 0, "{name}: {explored}");
}

/// What an insert reads in its transaction is not protected: MongoDB lets both commit.
#[test]
fn a_delete_beside_an_insert_that_only_reads_its_author_leaves_damage() {
    let operations = [Source::Author.delete(true), insert_by_hand()];
    let explored = explored(
        "a delete beside an insert by hand",
        &operations,
        Orders::All,
    );
    assert!(explored.unsound > 0, "{explored}");
}

#[test]
fn checked_inserts_beside_deletes() {
    for source in Source::ALL {
        let operations = [source.delete(true), source.insert_book(true)];
        sound(&format!("{source:?}"), &operations, Orders::All);
    }
}

#[test]
fn checked_updates_beside_deletes() {
    for source in Source::ALL {
        let name = format!("{source:?}, by an update");
        let operations = [source.delete(true), source.refer()];
        sound(&name, &operations, Orders::All);
        let operations = [
            source.delete(true),
            source.refer(),
            source.insert_book(true),
        ];
        sound(
            &format!("{name}, and an insert"),
            &operations,
            Orders::Switches(2),
        );
    }
}

#[test]
fn a_checked_insert_below_a_cascade() {
    let operations = [Source::Author.delete(true), insert_note(true)];
    sound(
        "an insert two levels below a cascade",
        &operations,
        Orders::All,
    );
    let operations = [Source::Author.delete(false), insert_note(true)];
    sound(
        "the same without a transaction",
        &operations,
        Orders::Switches(3),
    );
}

#[test]
fn two_deletes_beside_each_other() {
    let operations = [Source::Author.delete(true), delete_book()];
    sound("two deletes", &operations, Orders::All);
}

/// A restricted delete needs a transaction: what is deleted can't come back.
#[test]
fn deletes_and_inserts_without_transactions() {
    for source in [Source::Author, Source::Translator, Source::Reader] {
        for (delete, insert) in [(false, true), (true, false), (false, false)] {
            let operations = [source.delete(delete), source.insert_book(insert)];
            let name = format!("{source:?}, in transactions: {delete} and {insert}");
            sound(&name, &operations, Orders::Switches(3));
        }
    }
}

#[test]
fn three_operations() {
    let operations = [
        Source::Author.delete(true),
        Source::Author.insert_book(true),
        insert_note(true),
    ];
    sound(
        "a cascade beside two inserts",
        &operations,
        Orders::Switches(2),
    );
}

/// The operation that stopped is run again, as a user would.
#[test]
fn stopped_operations() {
    let stopped = |is_atomic: bool| {
        let name = format!("a stopped cascade, in a transaction: {is_atomic}");
        let mut all = Explored::default();
        for commands in 1.. {
            let delete = Source::Author.delete(is_atomic).stopped_after(commands);
            let operations = [delete, Source::Author.insert_book(true)];
            let orders = explore(fill, &operations, Orders::Switches(2), |db| {
                Box::pin(is_sound(db))
            });
            if !orders.stopped {
                break;
            }
            all.add(&orders);
        }
        println!("{name}: {all}");
        assert!(all.orders > 10, "{name}: {all}");
        all
    };
    assert_eq!(stopped(true).unsound, 0);
    // The author is gone, so that the second call has nothing to look for.
    assert!(stopped(false).unsound > 0);
}

/// Explores operations on documents that copy fields of others.
fn in_step(name: &str, operations: &[Operation], orders: Orders) {
    let explored = explore(copies::fill, operations, orders, |db| {
        Box::pin(copies::is_in_step(db))
    });
    println!("{name}: {explored}");
    assert!(explored.orders > 1, "{name}: {explored}");
    assert_eq!(explored.unsound, 0, "{name}: {explored}");
}

/// The transaction reads a snapshot, and both commit.
#[test]
fn a_propagation_beside_an_insert_that_only_reads_the_source_leaves_damage() {
    let operations = [
        copies::rename("new", Way::Own),
        copies::insert_sale_by_hand(),
    ];
    let explored = explore(copies::fill, &operations, Orders::All, |db| {
        Box::pin(copies::is_in_step(db))
    });
    println!("a propagation beside an insert by hand: {explored}");
    assert!(explored.unsound > 0, "{explored}");
}

#[test]
fn propagations_beside_inserts() {
    for (rename, insert, orders) in ways() {
        let change = copies::rename("new", rename);
        let operations = [change.clone(), copies::insert_book(insert)];
        let name = format!("strict, a propagation ({rename:?}) beside an insert ({insert:?})");
        in_step(&name, &operations, orders);
        let operations = [change, copies::insert_sale(insert)];
        let name = format!("settled, a propagation ({rename:?}) beside an insert ({insert:?})");
        in_step(&name, &operations, orders);
    }
}

#[test]
fn propagations_beside_reassignments() {
    for (rename, reassign, _) in ways() {
        let orders = Orders::Switches(2);
        let change = copies::rename("new", rename);
        let operations = [change.clone(), copies::reassign_book(reassign)];
        let name = format!("strict, a propagation ({rename:?}) beside a move ({reassign:?})");
        in_step(&name, &operations, orders);
        let operations = [change, copies::reassign_sale(reassign)];
        let name = format!("settled, a propagation ({rename:?}) beside a move ({reassign:?})");
        in_step(&name, &operations, orders);
    }
}

#[test]
fn propagations_beside_each_other() {
    for (one, other) in [
        (Way::Own, Way::Own),
        (Way::NonAtomic, Way::Own),
        (Way::Joined, Way::Own),
    ] {
        let operations = [copies::rename("new", one), copies::rename("newer", other)];
        let name = format!("two propagations ({one:?} and {other:?})");
        in_step(&name, &operations, Orders::Switches(2));
    }
    let operations = [copies::rename("new", Way::Own), copies::refresh()];
    let name = "a propagation beside a refresh";
    in_step(name, &operations, Orders::Switches(3));
}

/// The change finds copies that have its value already, and does not write them.
#[test]
fn a_propagation_of_the_former_value_beside_a_refresh() {
    let operations = [copies::rename("first", Way::Own), copies::refresh()];
    let explored = explore(
        copies::fill_with_stale_copies,
        &operations,
        Orders::Switches(2),
        |db| Box::pin(copies::is_in_step(db)),
    );
    println!("a propagation of the former value beside a refresh: {explored}");
    assert_eq!(explored.unsound, 0, "{explored}");
}

#[test]
fn a_background_propagation_beside_an_insert_and_the_worker() {
    let operations = [
        copies::rename_in_background("new"),
        copies::insert_sale(Way::Own),
        copies::resume(),
    ];
    let explored = explore(copies::fill, &operations, Orders::Switches(2), |db| {
        Box::pin(copies::is_in_step_when_resumed(db))
    });
    println!("a propagation in the background, an insert, and the worker: {explored}");
    assert_eq!(explored.unsound, 0, "{explored}");
}

#[test]
fn three_operations_on_copies() {
    let operations = [
        copies::rename("new", Way::Own),
        copies::reassign_sale(Way::Own),
        copies::insert_sale(Way::Own),
    ];
    let name = "settled, a propagation, a move and an insert";
    in_step(name, &operations, Orders::Switches(1));
    let operations = [
        copies::rename("new", Way::Own),
        copies::rename("newer", Way::Own),
        copies::insert_book(Way::Own),
    ];
    let name = "strict, two propagations and an insert";
    in_step(name, &operations, Orders::Switches(1));
}

/// A propagation that stopped is completed by `resume_propagation`, whether or not it runs again.
#[test]
fn stopped_propagations() {
    for (way, is_repeated) in [
        (Way::Own, true),
        (Way::Own, false),
        (Way::NonAtomic, false),
        (Way::Joined, false),
    ] {
        let mut all = Explored::default();
        for commands in 1.. {
            let rename = copies::rename("new", way);
            let rename = if is_repeated {
                rename.stopped_after(commands)
            } else {
                rename.abandoned_after(commands)
            };
            let operations = [rename, copies::insert_sale(Way::Own)];
            let orders = explore(copies::fill, &operations, Orders::Switches(1), |db| {
                Box::pin(copies::is_in_step_when_resumed(db))
            });
            if !orders.stopped {
                break;
            }
            all.add(&orders);
        }
        println!("a stopped propagation ({way:?}), which runs again: {is_repeated}: {all}");
        assert!(all.orders > 10, "{all}");
        assert_eq!(all.unsound, 0, "{all}");
    }
}

/// Explores operations on references that refer to each other.
fn symmetric(name: &str, operations: &[Operation], orders: Orders) -> Explored {
    let explored = explore(two_way::fill, operations, orders, |db| {
        Box::pin(two_way::is_symmetric(db))
    });
    assert_eq!(explored.unsound, 0, "{name}: {explored}");
    explored
}

#[test]
fn two_way_references_from_both_sides() {
    let operations = two_way::operations();
    let mut all = Explored::default();
    for (at, (name, one)) in operations.iter().enumerate() {
        for (other_name, other) in &operations[at..] {
            let name = format!("{name} beside {other_name}");
            let pair = [one.clone(), other.clone()];
            all.add(&symmetric(&name, &pair, Orders::Switches(2)));
        }
    }
    println!("two writes of two-way references: {all}");
    assert!(all.orders > 500, "{all}");
}

#[test]
fn three_writes_of_two_way_references() {
    let operations = [
        two_way::assign(1, Some(2)),
        two_way::take(2, 2),
        two_way::assign(2, None),
    ];
    let name = "three writes of two-way references";
    let explored = symmetric(name, &operations, Orders::Switches(1));
    println!("{name}: {explored}");
}

#[test]
fn stopped_writes_of_two_way_references() {
    let mut all = Explored::default();
    for (name, write) in two_way::operations() {
        for commands in 1.. {
            let operations = [write.clone().abandoned_after(commands), two_way::take(2, 1)];
            let orders = symmetric(name, &operations, Orders::Switches(1));
            if !orders.stopped {
                break;
            }
            all.add(&orders);
        }
    }
    println!("a stopped write of two-way references beside another: {all}");
    assert!(all.orders > 50, "{all}");
}

/// Without transactions, each side is written by itself, and two writes of one task can leave different owners on its sides.
#[test]
fn two_way_references_without_transactions_leave_damage() {
    let operations = [two_way::assign_non_atomic(1, 2), two_way::assign(1, None)];
    let explored = explore(two_way::fill, &operations, Orders::All, |db| {
        Box::pin(two_way::is_symmetric(db))
    });
    println!("two writes of two-way references, one without a transaction: {explored}");
    assert!(explored.unsound > 0, "{explored}");
}

/// Explores operations on documents that others summarize.
fn summarized(operations: &[Operation], orders: Orders) -> Explored {
    explore(summaries::fill, operations, orders, |db| {
        Box::pin(summaries::are_right(db))
    })
}

/// Each transaction reads the other rating as it was, and the best of both stays as it is.
#[test]
fn summaries_by_hand_in_transactions_leave_damage() {
    let by_hand = [summaries::lower_by_hand(1), summaries::lower_by_hand(4)];
    let explored = summarized(&by_hand, Orders::All);
    println!("two changes of ratings by hand: {explored}");
    assert!(explored.unsound > 0, "{explored}");
    let explored = summarized(
        &[summaries::lower(1), summaries::lower(4)],
        Orders::Switches(3),
    );
    println!("two changes of ratings: {explored}");
    assert_eq!(explored.unsound, 0, "{explored}");
}

#[test]
fn writes_of_summarized_documents() {
    for is_strict in [true, false] {
        for (one_way, other_way, _) in ways() {
            let mut all = Explored::default();
            let ones = summaries::operations(is_strict, one_way, 5);
            let others = summaries::operations(is_strict, other_way, 6);
            for (at, (name, one)) in ones.iter().enumerate() {
                for (other_name, other) in &others[at..] {
                    let pair = [one.clone(), other.clone()];
                    let explored = summarized(&pair, Orders::Switches(1));
                    assert_eq!(
                        explored.unsound, 0,
                        "strict: {is_strict}, {name} ({one_way:?}) beside {other_name} ({other_way:?}): {explored}"
                    );
                    all.add(&explored);
                }
            }
            println!(
                "strict: {is_strict}, writes of summarized documents ({one_way:?} and {other_way:?}): {all}"
            );
        }
    }
}

/// The insert finds the summaries as it would write them, because the delete has not written its own yet.
#[test]
fn an_insert_beside_a_delete_without_a_transaction() {
    let operations = [
        summaries::insert_rating(5, Way::Own),
        summaries::delete_rating(Way::NonAtomic),
    ];
    let explored = summarized(&operations, Orders::Switches(2));
    println!("an insert beside a delete without a transaction: {explored}");
    assert_eq!(explored.unsound, 0, "{explored}");
}

/// A write that stopped is completed by `resume_propagation`.
#[test]
fn stopped_writes_of_summarized_documents() {
    for (is_strict, way) in [(true, Way::Own), (false, Way::Own), (false, Way::Joined)] {
        let mut all = Explored::default();
        for (name, write) in summaries::operations(is_strict, way, 5) {
            for commands in 1.. {
                let operations = [
                    write.clone().abandoned_after(commands),
                    summaries::insert_view(6, Way::Own),
                ];
                let explored = explore(summaries::fill, &operations, Orders::Switches(1), |db| {
                    Box::pin(summaries::are_right_when_resumed(db))
                });
                if !explored.stopped {
                    break;
                }
                assert_eq!(explored.unsound, 0, "{name} ({way:?}): {explored}");
                all.add(&explored);
            }
        }
        println!("a stopped write of summarized documents ({way:?}), strict: {is_strict}: {all}");
    }
}

/// Explores operations on documents that lists of the newest hold.
fn listed(operations: &[Operation], orders: Orders) -> Explored {
    explore(newest::fill, operations, orders, |db| {
        Box::pin(newest::are_right(db))
    })
}

/// A delete lists the order as its transaction reads it. The change writes no list, so that by hand the two do not conflict.
#[test]
fn lists_by_hand_leave_damage() {
    let delete = || newest::operations(true, Way::Own, 0).swap_remove(4).1;
    let pair = [newest::change_unlisted(true), delete()];
    let explored = listed(&pair, Orders::All);
    println!("a change of an order by hand beside a delete: {explored}");
    assert!(explored.unsound > 0, "{explored}");
    let pair = [newest::change_unlisted(false), delete()];
    let explored = listed(&pair, Orders::Switches(2));
    println!("a change of an order beside a delete: {explored}");
    assert_eq!(explored.unsound, 0, "{explored}");
}

#[test]
fn writes_of_listed_documents() {
    for is_strict in [true, false] {
        for (one_way, other_way, _) in ways() {
            let mut all = Explored::default();
            let mut ones = newest::operations(is_strict, one_way, 5);
            let mut others = newest::operations(is_strict, other_way, 6);
            if (one_way, other_way) != (Way::Own, Way::Own) {
                // The insert and the delete.
                for operations in [&mut ones, &mut others] {
                    operations.drain(1..4);
                }
            }
            for (at, (name, one)) in ones.iter().enumerate() {
                for (other_name, other) in &others[at..] {
                    let pair = [one.clone(), other.clone()];
                    let explored = listed(&pair, Orders::Switches(1));
                    assert_eq!(
                        explored.unsound, 0,
                        "strict: {is_strict}, {name} ({one_way:?}) beside {other_name} ({other_way:?}): {explored}"
                    );
                    all.add(&explored);
                }
            }
            println!(
                "strict: {is_strict}, writes of listed documents ({one_way:?} and {other_way:?}): {all}"
            );
        }
    }
}

/// A write that stopped is completed by `resume_propagation`.
#[test]
fn stopped_writes_of_listed_documents() {
    for (is_strict, way) in [(true, Way::Own), (false, Way::Own), (false, Way::Joined)] {
        let mut all = Explored::default();
        let mut writes = newest::operations(is_strict, way, 5);
        // The insert and the delete.
        writes.drain(1..4);
        for (name, write) in writes {
            for commands in 1.. {
                let operations = [
                    write.clone().abandoned_after(commands),
                    newest::insert::<newest::Message>(6, Way::Own),
                ];
                let explored = explore(newest::fill, &operations, Orders::Switches(1), |db| {
                    Box::pin(newest::are_right_when_resumed(db))
                });
                if !explored.stopped {
                    break;
                }
                assert_eq!(explored.unsound, 0, "{name} ({way:?}): {explored}");
                all.add(&explored);
            }
        }
        println!("a stopped write of listed documents ({way:?}), strict: {is_strict}: {all}");
    }
}

/// Explores operations on lists that overflow.
fn overflowing(operations: &[Operation], orders: Orders) -> Explored {
    explore(overflow::fill, operations, orders, |db| {
        Box::pin(overflow::is_sound(db))
    })
}

/// An insert by hand writes no fence: MongoDB lets it commit beside the delete.
#[test]
fn an_overflow_document_by_hand_leaves_damage() {
    let delete = || overflow::operations(10).swap_remove(5).1;
    let pair = [overflow::insert_by_hand(), delete()];
    let explored = overflowing(&pair, Orders::All);
    assert!(explored.unsound > 0, "{explored}");
}

#[test]
fn pushes_removals_and_deletes_of_lists_that_overflow() {
    let mut all = Explored::default();
    let (ones, others) = (overflow::operations(10), overflow::operations(20));
    for (at, (name, one)) in ones.iter().enumerate() {
        for (other_name, other) in &others[at..] {
            let pair = [one.clone(), other.clone()];
            // More orders of the push that opens a document.
            let explored = overflowing(&pair, Orders::Switches(1 + usize::from(at == 1)));
            assert_eq!(
                explored.unsound, 0,
                "{name} beside {other_name}: {explored}"
            );
            all.add(&explored);
        }
    }
    println!("lists that overflow, two operations: {all}");
    // Two pushes that open a document, beside a removal or a delete.
    for third in [4, 5] {
        let third = overflow::operations(30).swap_remove(third);
        let three = [ones[1].1.clone(), others[1].1.clone(), third.1];
        let explored = overflowing(&three, Orders::Switches(1));
        assert_eq!(explored.unsound, 0, "{}: {explored}", third.0);
        all.add(&explored);
    }
    println!("lists that overflow: {all}");
}

#[test]
fn stopped_operations_on_lists_that_overflow() {
    let mut all = Explored::default();
    for (name, one) in overflow::operations(10) {
        for commands in 1.. {
            let push = overflow::operations(20).swap_remove(1).1;
            let operations = [one.clone().abandoned_after(commands), push];
            let explored = overflowing(&operations, Orders::Switches(1));
            if !explored.stopped {
                break;
            }
            assert_eq!(explored.unsound, 0, "{name}: {explored}");
            all.add(&explored);
        }
    }
    println!("lists that overflow, stopped: {all}");
}

/// Any two changes of a tree, in transactions that take no turns.
fn changes_of_trees<N: trees::Nodes>(orders: Orders) {
    let name = <N::Model as odm::Document>::model().collection;
    let mut all = Explored::default();
    for (number, one) in trees::Change::ALL.into_iter().enumerate() {
        for other in trees::Change::ALL.into_iter().skip(number + 1) {
            let operations = [one.operation::<N>(), other.operation::<N>()];
            let explored = explore(trees::fill::<N>, &operations, orders, |db| {
                Box::pin(trees::is_sound::<N>(db))
            });
            assert_eq!(explored.unsound, 0, "{name}: {one} and {other}: {explored}");
            all.add(&explored);
        }
    }
    println!("two changes of a tree, {name}: {all}");
    assert!(all.orders > 100, "{name}: {all}");
}

#[test]
fn changes_of_trees_beside_each_other() {
    changes_of_trees::<trees::ByParent>(Orders::Switches(3));
    changes_of_trees::<trees::ByPath>(Orders::Switches(3));
    changes_of_trees::<trees::ByBounds>(Orders::Switches(3));
}
