//! Geometry: GeoJSON shapes on the sphere, legacy shapes in the plane, and the cells that index both.
//!
//! Shapes on the sphere have geodesic edges between unit vectors; every decision about sides is exact (`vector`). Start
//! at `parse.rs`, which reads both forms. `stored.rs` holds the geometry of a stored value, and `region.rs` matches it
//! against a query.

pub mod cell;
pub mod flat;
pub mod parse;
mod polygon;
pub mod region;
pub mod shape;
pub mod stored;
pub mod vector;

/// The earth's radius in metres, as MongoDB uses it.
pub const EARTH: f64 = 6_378_100.0;
