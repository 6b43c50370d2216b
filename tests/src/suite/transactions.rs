//! Sessions and transactions.

use odm::prelude::*;

use crate::case::cases;

cases![
    committed_writes_are_visible,
    errors_roll_back_the_transaction,
    transactions_are_isolated,
    a_conflict_is_a_transient_error,
    a_transaction_runs_again_after_a_conflict,
    a_swallowed_error_ends_the_transaction,
    an_error_that_aborts_nothing_may_be_swallowed,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "accounts")]
struct Account {
    #[serde(rename = "_id")]
    id: String,
    balance: i64,
}

async fn bank(db: &Db) -> Collection<Account> {
    let accounts = db.collection::<Account>();
    for id in ["ada", "grace"] {
        let account = Account {
            id: id.to_owned(),
            balance: 100,
        };
        accounts.insert_one(&account).await.unwrap();
    }
    accounts
}

async fn balance(accounts: &Collection<Account>, id: &str) -> i64 {
    accounts.get(&id.to_owned()).await.unwrap().unwrap().balance
}

async fn committed_writes_are_visible(db: &Db) {
    let accounts = bank(db).await;
    let moved = transaction!(db, |tx| -> odm::Result<_> {
        accounts
            .update_one(|a| a.id.eq("ada"), |a| a.balance.dec(30))
            .session(tx)
            .await?;
        accounts
            .update_one(|a| a.id.eq("grace"), |a| a.balance.inc(30))
            .session(tx)
            .await?;
        Ok(30)
    })
    .await
    .unwrap();
    assert_eq!(moved, 30);
    assert_eq!(balance(&accounts, "ada").await, 70);
    assert_eq!(balance(&accounts, "grace").await, 130);
}

async fn errors_roll_back_the_transaction(db: &Db) {
    let accounts = bank(db).await;
    let failed = transaction!(db, |tx| -> odm::Result<_> {
        accounts
            .update_one(|a| a.id.eq("ada"), |a| a.balance.dec(30))
            .session(tx)
            .await?;
        let twin = Account {
            id: "grace".to_owned(),
            balance: 0,
        };
        accounts.insert_one(&twin).session(tx).await?;
        Ok(())
    })
    .await
    .unwrap_err();
    assert!(failed.is_duplicate_key(), "{failed}");
    assert_eq!(balance(&accounts, "ada").await, 100);
}

async fn transactions_are_isolated(db: &Db) {
    let accounts = bank(db).await;
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    let total = async |session: &mut Session| -> i64 {
        let all = accounts.find_all().session(session).all().await.unwrap();
        all.iter().map(|a| a.balance).sum()
    };
    assert_eq!(total(&mut session).await, 200);
    accounts
        .update_one(|a| a.id.eq("ada"), |a| a.balance.inc(1))
        .session(&mut session)
        .await
        .unwrap();
    // Another client wrote this after the snapshot.
    accounts
        .update_one(|a| a.id.eq("grace"), |a| a.balance.inc(1000))
        .await
        .unwrap();
    assert_eq!(total(&mut session).await, 201);
    assert_eq!(balance(&accounts, "ada").await, 100);
    session.commit_transaction().await.unwrap();
    assert_eq!(balance(&accounts, "ada").await, 101);
    assert_eq!(balance(&accounts, "grace").await, 1100);
}

async fn a_conflict_is_a_transient_error(db: &Db) {
    let accounts = bank(db).await;
    let mut first = db.start_session().await.unwrap();
    let mut second = db.start_session().await.unwrap();
    first.start_transaction().await.unwrap();
    second.start_transaction().await.unwrap();
    let add = |amount| accounts.update_one(|a| a.id.eq("ada"), move |a| a.balance.inc(amount));
    add(1).session(&mut first).await.unwrap();
    let refused = add(2).session(&mut second).await.unwrap_err();
    assert_eq!(refused.code(), Some(odm::Code::WRITE_CONFLICT), "{refused}");
    assert!(refused.has_label("TransientTransactionError"), "{refused}");
    first.commit_transaction().await.unwrap();
    assert_eq!(balance(&accounts, "ada").await, 101);
}

async fn a_transaction_runs_again_after_a_conflict(db: &Db) {
    let accounts = bank(db).await;
    let mut runs = 0;
    transaction!(db, |tx| -> odm::Result<_> {
        runs += 1;
        let ada = accounts.get("ada").session(tx).await?.unwrap();
        if runs == 1 {
            // This write is between the transaction's snapshot and its write.
            accounts
                .update_one(|a| a.id.eq("ada"), |a| a.balance.inc(1))
                .await?;
        }
        accounts
            .update_one(|a| a.id.eq("ada"), |a| a.balance.set(ada.balance + 10))
            .session(tx)
            .await?;
        Ok(())
    })
    .await
    .unwrap();
    assert_eq!(runs, 2);
    assert_eq!(balance(&accounts, "ada").await, 111);
}

/// Asserts that this is the error of a transaction that a duplicate key aborted.
fn was_aborted(error: &odm::Error) {
    let text = error.to_string();
    assert!(
        text.contains("aborted the transaction") && text.contains("E11000"),
        "{text}"
    );
    assert!(!error.is_retryable() && !error.is_duplicate_key(), "{text}");
}

async fn a_swallowed_error_ends_the_transaction(db: &Db) {
    let accounts = bank(db).await;
    let twin = || Account {
        id: "grace".to_owned(),
        balance: 0,
    };
    let add = || accounts.update_one(|a| a.id.eq("ada"), |a| a.balance.inc(1));

    // The next operation fails.
    let mut runs = 0;
    let failed = transaction!(db, |tx| -> odm::Result<_> {
        runs += 1;
        add().session(tx).await?;
        let refused = accounts.insert_one(twin()).session(tx).await.unwrap_err();
        assert!(refused.is_duplicate_key(), "{refused}");
        add().session(tx).await?;
        Ok(())
    });
    was_aborted(&failed.await.unwrap_err());
    assert_eq!(runs, 1);

    // Without one, the commit fails.
    for writes in 0..3 {
        let mut runs = 0;
        let failed = transaction!(db, |tx| -> odm::Result<_> {
            runs += 1;
            add().session(tx).await?;
            let refused = match writes {
                0 => accounts.insert_one(twin()).session(tx).await.map(|_| ()),
                1 => {
                    let many = accounts.insert_many([twin()]).ordered(false);
                    many.session(tx).await.map(|_| ())
                }
                _ => {
                    let many = accounts.bulk_write(|w| [w.insert_one(twin())]);
                    many.session(tx).await.map(|_| ())
                }
            };
            assert!(refused.is_err());
            Ok(())
        });
        was_aborted(&failed.await.unwrap_err());
        assert_eq!(runs, 1);
    }

    // So do a read, every further operation, and a commit by hand.
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    let refused = accounts.insert_one(twin()).session(&mut session).await;
    assert!(refused.unwrap_err().is_duplicate_key());
    for _ in 0..2 {
        let read = accounts.find_all().session(&mut session).all().await;
        was_aborted(&read.unwrap_err());
        let read = accounts.get("ada").session(&mut session).await;
        was_aborted(&read.unwrap_err());
    }
    was_aborted(&session.commit_transaction().await.unwrap_err());

    // A raw command reports write errors in a reply that is ok.
    session.start_transaction().await.unwrap();
    let raw = doc! {"insert": "accounts", "documents": [{"_id": "grace", "balance": 0_i64}]};
    let reply = db.run_command(raw).session(&mut session).await.unwrap();
    assert!(reply.contains_key("writeErrors"), "{reply}");
    was_aborted(&add().session(&mut session).await.unwrap_err());
    session.abort_transaction().await.unwrap();

    // The session can be used again.
    session.start_transaction().await.unwrap();
    add().session(&mut session).await.unwrap();
    session.commit_transaction().await.unwrap();
    assert_eq!(balance(&accounts, "ada").await, 101);
}

async fn an_error_that_aborts_nothing_may_be_swallowed(db: &Db) {
    let accounts = bank(db).await;
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    let add = || accounts.update_one(|a| a.id.eq("ada"), |a| a.balance.inc(1));
    add().session(&mut session).await.unwrap();
    let count = doc! {"count": "accounts"};
    let refused = db.run_command(count).session(&mut session).await;
    assert!(refused.unwrap_err().server().is_some());
    add().session(&mut session).await.unwrap();
    session.commit_transaction().await.unwrap();
    assert_eq!(balance(&accounts, "ada").await, 102);
}
