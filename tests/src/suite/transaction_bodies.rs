//! The bodies of `transaction!`: borrows, results, errors and retries.

use std::fmt;

use futures::future::BoxFuture;
use odm::collection::{ReadConcern, TransactionOptions, WriteConcern};
use odm::prelude::*;

use crate::case::cases;

cases![
    a_spawned_task_borrows_in_its_body,
    a_handler_is_a_boxed_future_that_is_send,
    an_error_of_the_caller_aborts_and_comes_back,
    a_wrapped_transient_error_is_retried,
    a_swallowed_transient_error_is_retried,
    a_body_returns_only_from_itself,
    a_body_may_end_its_transaction,
    a_body_is_any_expression,
    a_transaction_has_options,
    a_dropped_transaction_leaves_nothing,
    a_session_of_another_store_fails_the_body,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "accounts")]
struct Account {
    #[serde(rename = "_id")]
    id: String,
    balance: i64,
}

/// An error type of a program, without labels.
#[derive(Debug)]
enum PayError {
    Broke { missing: i64 },
    Odm(odm::Error),
}

impl fmt::Display for PayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for PayError {}

impl From<odm::Error> for PayError {
    fn from(error: odm::Error) -> Self {
        Self::Odm(error)
    }
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

async fn add(
    accounts: &Collection<Account>,
    id: &str,
    amount: i64,
    tx: &mut Session,
) -> odm::Result<()> {
    let add = accounts.update_one(|a| a.id.eq(id), |a| a.balance.inc(amount));
    add.session(tx).await?;
    Ok(())
}

/// Moves money; the error type is inferred from the signature.
async fn pay(db: &Db, accounts: &Collection<Account>, amount: i64) -> Result<i64, PayError> {
    transaction!(db, |tx| {
        let from = accounts.get("ada").session(tx).await?;
        let left = from.map_or(0, |from| from.balance) - amount;
        add(accounts, "ada", -amount, tx).await?;
        if left < 0 {
            return Err(PayError::Broke { missing: -left });
        }
        add(accounts, "grace", amount, tx).await?;
        Ok(left)
    })
    .await
}

async fn a_spawned_task_borrows_in_its_body(db: &Db) {
    let accounts = bank(db).await;
    let (db, shared) = (db.clone(), accounts.clone());
    let ids = vec!["ada".to_owned(), "grace".to_owned()];
    let task = tokio::spawn(async move {
        transaction!(db, |tx| -> odm::Result<usize> {
            for id in &ids {
                add(&shared, id, 5, tx).await?;
            }
            Ok(ids.len())
        })
        .await
    });
    assert_eq!(task.await.unwrap().unwrap(), 2);
    assert_eq!(balance(&accounts, "grace").await, 105);
}

async fn a_handler_is_a_boxed_future_that_is_send(db: &Db) {
    /// A handler with the bounds of a web framework.
    type Handler = Box<dyn Fn(i64) -> BoxFuture<'static, Result<i64, PayError>> + Send + Sync>;
    let accounts = bank(db).await;
    let (state, shared) = (db.clone(), accounts.clone());
    let handler: Handler = Box::new(move |amount| {
        let (state, shared) = (state.clone(), shared.clone());
        Box::pin(async move { pay(&state, &shared, amount).await })
    });
    let task = tokio::spawn(handler(30));
    assert_eq!(task.await.unwrap().unwrap(), 70);
    assert_eq!(balance(&accounts, "ada").await, 70);
}

async fn an_error_of_the_caller_aborts_and_comes_back(db: &Db) {
    let accounts = bank(db).await;
    let failed = pay(db, &accounts, 130).await.unwrap_err();
    assert!(
        matches!(failed, PayError::Broke { missing: 30 }),
        "{failed}"
    );
    assert_eq!(balance(&accounts, "ada").await, 100);
    assert_eq!(pay(db, &accounts, 30).await.unwrap(), 70);
}

async fn a_wrapped_transient_error_is_retried(db: &Db) {
    let accounts = bank(db).await;
    let mut runs = 0;
    let done = transaction!(db, |tx| -> Result<
        i32,
        Box<dyn std::error::Error + Send + Sync>,
    > {
        runs += 1;
        accounts.get("ada").session(tx).await?;
        if runs == 1 {
            let other = accounts.update_one(|a| a.id.eq("ada"), |a| a.balance.inc(1));
            other.await?;
        }
        let added = add(&accounts, "ada", 10, tx).await;
        added.map_err(|error| format!("adding: {error}"))?;
        Ok(runs)
    })
    .await;
    assert_eq!(done.unwrap(), 2);
    assert_eq!(balance(&accounts, "ada").await, 111);
}

async fn a_swallowed_transient_error_is_retried(db: &Db) {
    let accounts = bank(db).await;
    let mut runs = 0;
    let done = transaction!(db, |tx| -> Result<(), PayError> {
        runs += 1;
        accounts.get("ada").session(tx).await?;
        if runs == 1 {
            let other = accounts.update_one(|a| a.id.eq("ada"), |a| a.balance.inc(1));
            other.await?;
        }
        let added = add(&accounts, "ada", 10, tx).await;
        assert_eq!(added.is_err(), runs == 1);
        Ok(())
    });
    done.await.unwrap();
    assert_eq!((runs, balance(&accounts, "ada").await), (2, 111));
}

async fn a_body_returns_only_from_itself(db: &Db) {
    let accounts = bank(db).await;
    let mut seen = Vec::new();
    for id in ["ada", "nobody"] {
        let found = transaction!(db, |tx| -> odm::Result<Option<i64>> {
            let Some(account) = accounts.get(&id.to_owned()).session(tx).await? else {
                return Ok(None);
            };
            Ok(Some(account.balance))
        });
        seen.push(found.await.unwrap());
    }
    assert_eq!(seen, [Some(100), None]);
}

async fn a_body_may_end_its_transaction(db: &Db) {
    let accounts = bank(db).await;
    let done = transaction!(db, |tx| -> odm::Result<()> {
        add(&accounts, "ada", 1, tx).await?;
        tx.commit_transaction().await?;
        add(&accounts, "ada", 2, tx).await
    });
    done.await.unwrap();
    assert_eq!(balance(&accounts, "ada").await, 103);
    let done = transaction!(db, |tx| -> odm::Result<()> {
        add(&accounts, "ada", 1, tx).await?;
        tx.abort_transaction().await
    });
    done.await.unwrap();
    assert_eq!(balance(&accounts, "ada").await, 103);
}

async fn a_body_is_any_expression(db: &Db) {
    let accounts = bank(db).await;
    let added = transaction!(db, |tx| add(&accounts, "ada", 7, tx).await);
    added.await.unwrap();
    assert_eq!(balance(&accounts, "ada").await, 107);
}

async fn a_transaction_has_options(db: &Db) {
    let accounts = bank(db).await;
    let options = TransactionOptions::new()
        .read_concern(ReadConcern::Snapshot)
        .write_concern(WriteConcern::majority());
    let added = transaction!(db, options, |tx| -> odm::Result<()> {
        add(&accounts, "ada", 7, tx).await
    });
    added.await.unwrap();
    assert_eq!(balance(&accounts, "ada").await, 107);
    let nobody = TransactionOptions::new().write_concern(WriteConcern::nodes(0));
    let refused = transaction!(db, nobody, |tx| -> Result<(), PayError> {
        add(&accounts, "ada", 7, tx).await?;
        Ok(())
    });
    let refused = refused.await.unwrap_err();
    assert!(
        matches!(&refused, PayError::Odm(error) if error.is_usage()),
        "{refused}"
    );
}

async fn a_dropped_transaction_leaves_nothing(db: &Db) {
    let accounts = bank(db).await;
    let stuck = transaction!(db, |tx| -> odm::Result<()> {
        add(&accounts, "ada", 7, tx).await?;
        std::future::pending().await
    });
    let wait = std::time::Duration::from_millis(300);
    assert!(tokio::time::timeout(wait, stuck).await.is_err());
    // The write waits until the transaction has ended.
    let add = accounts.update_one(|a| a.id.eq("ada"), |a| a.balance.inc(1));
    add.await.unwrap();
    assert_eq!(balance(&accounts, "ada").await, 101);
}

async fn a_session_of_another_store_fails_the_body(db: &Db) {
    let accounts = bank(db).await;
    let elsewhere = Db::memory();
    let refused = transaction!(elsewhere, |tx| add(&accounts, "ada", 1, tx).await);
    assert!(refused.await.unwrap_err().is_usage());
}
