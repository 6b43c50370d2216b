//! A walk through the library on real input: films, and the subdivisions of countries.
//!
//! ```sh
//! cargo run --example tour                                        # on the engine in this process
//! cargo run --example tour -- --uri mongodb://localhost/tour      # on a server: the same output
//! ```
//!
//! Each step shows what a struct looks like when it is stored, the exact command that is sent, and what
//! came back. Start reading at [`films`].

mod arguments;
mod films;
mod library;
mod places;
mod regions;
mod show;
mod source;

use std::process::ExitCode;

use odm::prelude::*;

use crate::arguments::Arguments;
use crate::show::Show;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            show::complain(&message);
            return ExitCode::from(2);
        }
    };
    if arguments.help {
        show::line(arguments::USAGE);
        return ExitCode::SUCCESS;
    }
    match tour(arguments.uri.as_deref()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            show::complain(&format!("the tour ended early: {error}"));
            ExitCode::FAILURE
        }
    }
}

async fn tour(uri: Option<&str>) -> Result<(), Box<dyn std::error::Error>> {
    let db = match uri {
        None => Db::memory(),
        Some(uri) => Db::connect(uri).await?,
    };
    // The tour ends by dropping the database: never one that holds anything of yours.
    let there = db
        .run_command(doc! {"listCollections": 1, "nameOnly": true})
        .all()
        .await?;
    if !there.is_empty() {
        return Err("the database is not empty; name one that the tour may fill and drop".into());
    }
    let (db, show) = Show::of(&db);
    let outcome = steps(&db, &show).await;
    db.drop().await?;
    Ok(outcome?)
}

async fn steps(db: &Db, show: &Show) -> odm::Result<()> {
    films::plan_and_apply(db, show).await?;
    films::load(db, show).await?;
    films::query(db, show).await?;
    library::check_out(db, show).await?;
    films::refusal(db, show).await?;
    places::join(db, show).await?;
    regions::tree(db, show).await
}
