//! Sessions and transactions.

use odm::prelude::*;

use crate::case::cases;

cases![
    committed_writes_are_visible,
    errors_roll_back_the_transaction,
    transactions_are_isolated,
    a_conflict_is_a_transient_error,
    a_transaction_runs_again_after_a_conflict,
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
