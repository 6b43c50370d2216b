//! A collection for a cluster: its plan, and what a cluster would not send to one shard.

use odm::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "readings", shard_key(host = hashed))]
struct Reading {
    #[serde(rename = "_id")]
    id: i32,
    host: String,
    load: f64,
}

pub(super) async fn show(db: &Db) -> Result<(), Box<dyn std::error::Error>> {
    let plan = db.sync(models![Reading]).plan().await?;
    println!(
        "\n{} steps, and left out on a single server:",
        plan.steps().len()
    );
    for step in plan.left_out() {
        println!("  {step}");
    }
    plan.apply(Allow::CREATE).await?.require_complete()?;

    let db = db.on_scattered(models![Reading], |scattered| println!("  {scattered}"))?;
    let readings = db.collection::<Reading>();
    for (id, host) in ["a", "b", "c"].into_iter().enumerate() {
        let id = i32::try_from(id)?;
        let reading = Reading {
            id,
            host: host.to_owned(),
            load: 0.1,
        };
        readings.insert_one(&reading).await?;
    }
    println!("of one host:");
    readings
        .update_many(|r| r.host.eq("a"), |r| r.load.set(0.9))
        .await?;
    println!("of all hosts:");
    readings.find(|r| r.load.gt(0.5)).all().await?;
    println!("of any host:");
    readings
        .update_one(|r| r.load.gt(0.5), |r| r.load.set(0.5))
        .await?;
    Ok(())
}
