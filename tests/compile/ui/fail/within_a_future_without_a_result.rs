// A deadline ends a call with an error: the output of the future has to be a `Result` that can hold it.

use std::time::Duration;

use odm::prelude::*;

async fn five() -> i32 {
    5
}

async fn read() -> Result<i32, String> {
    Ok(5)
}

#[tokio::main]
async fn main() {
    let limit = Duration::from_secs(1);
    five().within(limit).await;
    let _ = read().within(limit).await;
}
