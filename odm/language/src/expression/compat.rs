//! Imitates mongod where results do not depend on it: the texts inside error messages, and the order in which arguments
//! are evaluated, which decides the error that is reported first. `optimized` prints expressions for `explain`.

pub(super) mod argument_order;
pub(super) mod known_constants;
pub mod messages;
mod optimized;
