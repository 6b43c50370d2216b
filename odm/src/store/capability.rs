//! The features of a deployment, as data.

/// The features of the deployment behind a [`Db`](crate::collection::Db), as it reports them:
/// [`Db::capability`](crate::collection::Db::capability).
///
/// The test suite lists them for each store, so that every change shows in a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[expect(
    clippy::struct_excessive_bools,
    reason = "features are independent of each other"
)]
pub struct Capability {
    /// Whether sessions can run transactions. A standalone `mongod` has none.
    pub transactions: bool,
    /// Whether collections can be watched. A standalone `mongod` has no change streams.
    pub change_streams: bool,
    /// Whether the deployment is a sharded cluster, reached through `mongos`.
    pub sharded: bool,
    /// Whether there are secondaries, from which reads can be served and for which writes can wait. Through
    /// `mongos` they can't be seen, and count as there.
    pub secondaries: bool,
    /// Whether written data outlives the process.
    pub durable: bool,
}

impl Capability {
    /// The engine in this process.
    pub(super) const MEMORY: Self = Self {
        transactions: true,
        change_streams: true,
        sharded: false,
        secondaries: false,
        durable: false,
    };

    /// What a reply to `hello` says. Transactions need sessions, which a deployment has that names a
    /// `logicalSessionTimeoutMinutes`.
    pub(super) fn of_hello(hello: &bson::Document) -> Self {
        let sharded = hello.get_str("msg").is_ok_and(|msg| msg == "isdbgrid");
        let replicated = sharded || hello.contains_key("setName");
        let has_sessions = hello
            .get("logicalSessionTimeoutMinutes")
            .is_some_and(|minutes| *minutes != bson::Bson::Null);
        let members = ["hosts", "passives"]
            .into_iter()
            .filter_map(|list| hello.get_array(list).ok())
            .map(Vec::len)
            .sum::<usize>();
        Self {
            transactions: replicated && has_sessions,
            change_streams: replicated,
            sharded,
            secondaries: sharded || members > 1,
            durable: true,
        }
    }
}

/// The transactions of a deployment that has them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transactions {
    /// Whether a transaction may read from several shards.
    pub(crate) is_sharded: bool,
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    #[test]
    fn hello_shows_the_kind_of_deployment() {
        let sessions = doc! {"logicalSessionTimeoutMinutes": 30};
        let hello = |more: bson::Document| {
            let mut hello = sessions.clone();
            hello.extend(more);
            Capability::of_hello(&hello)
        };
        let standalone = hello(doc! {"isWritablePrimary": true});
        assert!(!standalone.transactions && !standalone.change_streams && !standalone.sharded);
        let alone = hello(doc! {"setName": "rs0", "hosts": ["a:1"]});
        assert!(alone.transactions && alone.change_streams && !alone.secondaries);
        assert!(hello(doc! {"setName": "rs0", "hosts": ["a:1", "b:1"]}).secondaries);
        assert!(hello(doc! {"setName": "rs0", "hosts": ["a:1"], "passives": ["b:1"]}).secondaries);
        let sharded = hello(doc! {"msg": "isdbgrid"});
        assert!(sharded.transactions && sharded.sharded && sharded.secondaries);
        assert!(!Capability::of_hello(&doc! {"setName": "old"}).transactions);
    }
}
