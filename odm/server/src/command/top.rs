//! `top`: how many commands each collection had, and how long they took.

use bson::{Document, doc};

use super::{Command, only_admin};
use crate::current_op::{Kind, Usage};

pub(super) const TOP: Command = Command {
    name: "top",
    run: |call| {
        only_admin(call)?;
        let mut totals = doc! { "note": "all times in microseconds" };
        for (namespace, usage) in call.state.operations.usages() {
            totals.insert(namespace, show(&usage));
        }
        Ok(doc! { "totals": totals })
    },
    is_open: false,
};

/// A usage by lock type and by kind of command, as in MongoDB.
fn show(usage: &Usage) -> Document {
    let of = |wanted: &dyn Fn(Kind) -> bool| {
        let (count, micros) = usage.total(wanted);
        doc! { "time": micros, "count": count }
    };
    let is = |kind: Kind| of(&|other| other == kind);
    doc! {
        "total": of(&|_| true),
        "readLock": of(&Kind::reads),
        "writeLock": of(&Kind::writes),
        "queries": is(Kind::Query),
        "getmore": is(Kind::GetMore),
        "insert": is(Kind::Insert),
        "update": is(Kind::Update),
        "remove": is(Kind::Remove),
        "commands": of(&|kind| matches!(kind, Kind::Read | Kind::Write | Kind::Command)),
    }
}
