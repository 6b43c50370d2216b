async fn body(db: &odm::Db, name: String) -> odm::Result<()> {
    odm::transaction!(db, |_tx| {
        drop(name);
        Ok(())
    })
    .await
}

fn main() {}
