//! Geometry: GeoJSON shapes on the sphere, legacy shapes in the plane, and the cells that index both.
//!
//! Shapes on the sphere have geodesic edges between unit vectors; every decision about sides is exact (`vector`).
//! Start at `parse.rs`, which reads both forms, then at `stored.rs`, which holds a stored value against a query's region.

#[cfg(feature = "memory")]
pub(crate) mod cell;
#[cfg(not(feature = "memory"))]
mod cell;
pub(crate) mod flat;
pub(crate) mod parse;
mod polygon;
pub(crate) mod region;
pub(crate) mod shape;
pub(crate) mod stored;
pub(crate) mod vector;

/// The earth's radius in metres, as a server takes it.
#[cfg(feature = "memory")]
pub(crate) const EARTH: f64 = 6_378_100.0;
