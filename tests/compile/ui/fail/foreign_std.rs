use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use odm::prelude::*;

#[derive(Serialize, Deserialize, Embedded)]
struct Request {
    took: Duration,
    at: SystemTime,
    from: Option<IpAddr>,
    bytes: u128,
    body: serde_json::Value,
}

fn main() {}
