//! Reads what a report says.

use bson::{Bson, DateTime, doc};

use super::{DatabaseReport, MakeReport, Part, ReportedModel, SAMPLE, Wanted, design};
use crate::error::{Code, Error, Result};
use crate::model::ModelMeta;
use crate::schema::normal::integer;
use crate::schema::{Diagram, indexes, validator};
use crate::store::Store;

pub(super) async fn collect(make: MakeReport<'_>) -> Result<DatabaseReport> {
    let MakeReport {
        db,
        models,
        title,
        check,
        advise,
    } = make;
    db.ping().await?;
    let made_at = DateTime::now();
    let store = &db.store;
    let server = part(version(store).await)?;
    let mut reported = Vec::new();
    for model in &models {
        reported.push(reported_model(store, model).await?);
    }
    let plan = part(db.sync(models.clone()).plan().await)?;
    let check = match check {
        Wanted::LeftOut => Part::LeftOut,
        Wanted::As(check) => part(check.await)?,
        Wanted::Usual => {
            let check = db.check(models.clone());
            let is_small = |model: &ReportedModel| {
                model
                    .documents
                    .value()
                    .is_some_and(|count| *count <= SAMPLE)
            };
            let is_whole = reported.iter().all(is_small);
            let check = if is_whole {
                check
            } else {
                check.sample(SAMPLE)
            };
            part(check.await)?
        }
    };
    let advice = match advise {
        Wanted::LeftOut => Part::LeftOut,
        Wanted::As(advise) => part(advise.await)?,
        Wanted::Usual => part(db.advise(models.clone()).await)?,
    };
    let database = store.database().to_owned();
    Ok(DatabaseReport {
        title: title.unwrap_or_else(|| format!("Database {database}")),
        database,
        server,
        made_at,
        models: reported,
        diagram: part(Diagram::of(models.clone()))?,
        design: design::notes(&models),
        plan,
        check,
        advice,
    })
}

/// A part, or its failure as a sentence. No other part could be read after a broken connection, and a wrong option is the
/// caller's to correct.
fn part<T>(result: Result<T>) -> Result<Part<T>> {
    match result {
        Ok(value) => Ok(Part::Made(value)),
        Err(error) if error.is_connection() || error.is_usage() => Err(error),
        Err(error) => Ok(Part::Failed(sentence(&error))),
    }
}

fn sentence(error: &Error) -> String {
    if error.code() != Some(Code::UNAUTHORIZED) {
        return error.to_string();
    }
    // MongoDB's message repeats the whole command.
    let model = error.model().map(|model| format!("{model}: "));
    format!(
        "{}the user has no privilege to read it",
        model.unwrap_or_default()
    )
}

async fn version(store: &Store) -> Result<String> {
    let info = store.run_command(doc! {"buildInfo": 1}).await?;
    let version = info.get_str("version").unwrap_or("of an unknown version");
    Ok(if store.engine().is_some() {
        format!("the in-memory engine, which behaves as MongoDB {version}")
    } else {
        format!("MongoDB {version}")
    })
}

async fn reported_model(store: &Store, model: &'static ModelMeta) -> Result<ReportedModel> {
    let collection = store.names().of(model.collection).to_string();
    let counted = store.run_command(doc! {"count": &collection}).await;
    let count = |reply: bson::Document| {
        let count = reply.get("n").and_then(|count: &Bson| integer(count));
        count
            .and_then(|count| u64::try_from(count).ok())
            .unwrap_or(0)
    };
    Ok(ReportedModel {
        model,
        documents: part(counted.map(count))?,
        indexes: part(indexes(model))?,
        validator: match model.view {
            None => part(validator(model))?,
            Some(_) => Part::LeftOut,
        },
        collection,
    })
}
