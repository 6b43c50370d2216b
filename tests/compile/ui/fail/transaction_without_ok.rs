async fn read(_: &mut odm::Session) -> odm::Result<()> {
    Ok(())
}

async fn body(db: &odm::Db) -> odm::Result<()> {
    odm::transaction!(db, |tx| {
        read(tx).await?;
    })
    .await
}

fn main() {}
