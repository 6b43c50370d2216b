use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    f0: i32,
    #[odm(index)]
    f1: i32,
    #[odm(index)]
    f2: i32,
    #[odm(index)]
    f3: i32,
    #[odm(index)]
    f4: i32,
    #[odm(index)]
    f5: i32,
    #[odm(index)]
    f6: i32,
    #[odm(index)]
    f7: i32,
    #[odm(index)]
    f8: i32,
    #[odm(index)]
    f9: i32,
    #[odm(index)]
    f10: i32,
    #[odm(index)]
    f11: i32,
    #[odm(index)]
    f12: i32,
    #[odm(index)]
    f13: i32,
    #[odm(index)]
    f14: i32,
    #[odm(index)]
    f15: i32,
    #[odm(index)]
    f16: i32,
    #[odm(index)]
    f17: i32,
    #[odm(index)]
    f18: i32,
    #[odm(index)]
    f19: i32,
    #[odm(index)]
    f20: i32,
    #[odm(index)]
    f21: i32,
    #[odm(index)]
    f22: i32,
    #[odm(index)]
    f23: i32,
    #[odm(index)]
    f24: i32,
    #[odm(index)]
    f25: i32,
    #[odm(index)]
    f26: i32,
    #[odm(index)]
    f27: i32,
    #[odm(index)]
    f28: i32,
    #[odm(index)]
    f29: i32,
    #[odm(index)]
    f30: i32,
    #[odm(index)]
    f31: i32,
    #[odm(index)]
    f32: i32,
    #[odm(index)]
    f33: i32,
    #[odm(index)]
    f34: i32,
    #[odm(index)]
    f35: i32,
    #[odm(index)]
    f36: i32,
    #[odm(index)]
    f37: i32,
    #[odm(index)]
    f38: i32,
    #[odm(index)]
    f39: i32,
    #[odm(index)]
    f40: i32,
    #[odm(index)]
    f41: i32,
    #[odm(index)]
    f42: i32,
    #[odm(index)]
    f43: i32,
    #[odm(index)]
    f44: i32,
    #[odm(index)]
    f45: i32,
    #[odm(index)]
    f46: i32,
    #[odm(index)]
    f47: i32,
    #[odm(index)]
    f48: i32,
    #[odm(index)]
    f49: i32,
    #[odm(index)]
    f50: i32,
    #[odm(index)]
    f51: i32,
    #[odm(index)]
    f52: i32,
    #[odm(index)]
    f53: i32,
    #[odm(index)]
    f54: i32,
    #[odm(index)]
    f55: i32,
    #[odm(index)]
    f56: i32,
    #[odm(index)]
    f57: i32,
    #[odm(index)]
    f58: i32,
    #[odm(index)]
    f59: i32,
    #[odm(index)]
    f60: i32,
    #[odm(index)]
    f61: i32,
    #[odm(index)]
    f62: i32,
    #[odm(index)]
    f63: i32
}

fn main() {}
