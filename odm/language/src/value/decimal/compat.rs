//! The functions of decimals beyond arithmetic, with the same last digits as mongod.
//!
//! They round intermediate results where MongoDB's decimal library does. Nothing else depends on how they compute.

pub(super) mod binary128;
mod exponential;
mod float256;
mod fma;
mod hyperbolic;
mod power;
mod range_reduction;
mod trigonometric;
