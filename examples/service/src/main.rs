//! Starts the service.

use odm::prelude::*;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let db = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Db::memory(),
        ["--uri", uri] => Db::connect(uri).await?,
        _ => return Err("usage: odm-service [--uri mongodb://HOST/DATABASE]".into()),
    };
    odm_service::prepare(&db).await?;
    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, odm_service::router(db)).await?;
    Ok(())
}
