use odm::prelude::*;

#[derive(Debug)]
struct PayError;

async fn pay(db: &Db) -> Result<(), PayError> {
    odm::transaction!(db, |tx| {
        assert!(tx.in_transaction());
        Ok(())
    })
    .await
}

fn main() {}
