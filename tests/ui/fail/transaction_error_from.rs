struct Mine;

async fn body(db: &odm::Db) -> Result<(), Mine> {
    odm::transaction!(db, |_tx| Err(Mine)).await
}

fn main() {}
