async fn read(_: &mut odm::Session) -> odm::Result<()> {
    Ok(())
}

async fn body(db: &odm::Db) {
    let ended = odm::transaction!(db, |tx| {
        read(tx).await?;
        Ok(())
    })
    .await;
    if let Err(error) = ended {
        eprintln!("{:?}", error.code());
    }
}

fn main() {}
