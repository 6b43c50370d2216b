//! The failure of one command, and the codes of MongoDB 6.0.

mod code;
mod reply;
mod server;

pub use self::code::Code;
pub use self::server::ServerError;
pub(crate) use self::server::refuse;
