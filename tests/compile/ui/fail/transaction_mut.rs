async fn run(db: &odm::Db) -> odm::Result<()> {
    odm::transaction!(db, |mut tx| {
        drop(&mut tx);
        Ok(())
    })
    .await
}

fn main() {}
