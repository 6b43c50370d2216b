async fn body(db: &odm::Db) -> odm::Result<()> {
    odm::transaction!(db, async |tx| Ok(())).await
}

fn main() {}
