//! `transaction!` compiles where its future must be `Send`, borrows, and infers the body's error, which is `odm::Error` where
//! nothing else names a type.
#![deny(unused, unused_qualifications, clippy::all)]

use odm::{Db, Session};

mod shadowed {
    #![allow(dead_code, non_camel_case_types)]

    // Only `transaction!` itself must do without them.
    struct Result;
    struct Option;
    struct Some;
    struct None;
    mod core {}
    mod std {}

    pub async fn nothing(db: &odm::Db) -> ::std::result::Result<(), odm::Error> {
        odm::transaction!(db, |tx| {
            super::read(tx).await?;
            Ok(())
        })
        .await
    }
}

#[derive(Debug)]
enum Mine {
    No,
    Odm(odm::Error),
}

impl From<odm::Error> for Mine {
    fn from(error: odm::Error) -> Self {
        Self::Odm(error)
    }
}

async fn read(_: &mut Session) -> odm::Result<()> {
    Ok(())
}

fn sent<T: Send>(value: T) -> T {
    value
}

fn boxed<'a>(
    db: &'a Db,
    name: &'a str,
) -> std::pin::Pin<Box<dyn Future<Output = Result<usize, Mine>> + Send + 'a>> {
    Box::pin(async move {
        odm::transaction!(db, |tx| {
            read(tx).await?;
            if name.is_empty() {
                return Err(Mine::No);
            }
            Ok(name.len())
        })
        .await
    })
}

struct State {
    db: std::sync::Arc<Db>,
}

async fn inferred(state: &State, mut owned: Vec<i32>) -> Result<(), Mine> {
    let borrowed: Result<usize, Mine> = sent(odm::transaction!(state.db, |tx| {
        read(tx).await?;
        owned.push(1);
        Ok(owned.len())
    }))
    .await;
    let result = odm::transaction!(&state.db, |tx| -> Result<_, Mine> { Ok(read(tx).await?) });
    sent(result).await?;
    let options = odm::collection::TransactionOptions::new();
    let length = odm::transaction!(state.db, options.clone(), |session| -> Result<_, Mine> {
        read(session).await?;
        odm::transaction!(state.db, options.clone(), |tx| read(tx).await).await?;
        borrowed.as_ref().copied().map_err(|_| Mine::No)
    },)
    .await?;
    match boxed(&state.db, &length.to_string()).await {
        Ok(_) | Err(Mine::No) => Ok(()),
        Err(Mine::Odm(error)) => Err(Mine::Odm(error)),
    }
}

async fn defaults_to_the_error_of_odm(db: &Db) -> odm::Result<()> {
    odm::transaction!(db, |tx| {
        read(tx).await?;
        Ok(())
    })
    .await?;
    odm::transaction!(db, |tx| Ok(tx.in_transaction()))
        .await
        .unwrap();
    let options = odm::collection::TransactionOptions::new();
    match odm::transaction!(db, options, |tx| Ok(tx.in_transaction())).await {
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    }
}

async fn converts_the_error_of_odm(db: &Db) -> Result<(), Mine> {
    odm::transaction!(db, |tx| {
        read(tx).await?;
        Ok(())
    })
    .await?;
    odm::transaction!(db, |tx| {
        if !tx.in_transaction() {
            return Err(Mine::No);
        }
        Ok(read(tx).await?)
    })
    .await?;
    let boxed: Result<(), Box<dyn std::error::Error>> = async {
        Ok(odm::transaction!(db, |tx| {
            read(tx).await?;
            Ok(())
        })
        .await?)
    }
    .await;
    boxed.map_err(|_| Mine::No)
}

#[test]
fn runs() {
    let db = Db::memory();
    let task = async move {
        let _ = shadowed::nothing(&db).await;
        let _ = defaults_to_the_error_of_odm(&db).await;
        converts_the_error_of_odm(&db).await?;
        inferred(&State { db: db.into() }, Vec::new()).await
    };
    drop(sent(task));
}
