//! Lists that overflow: the outlier pattern.
//!
//! Most books have a few dozen readers, and one has a million. The list of the readers is bounded, so that a typical book is one small
//! document; what the list has no room for goes into overflow documents, each of which holds many elements. A struct with
//! `#[odm(overflow(…))]` declares them, and [`Overflow`] pushes, reads and changes the elements.

mod handle;
mod items;
mod model;
mod push;
mod update;

pub use self::handle::{CountItems, Overflow};
pub use self::items::{FindItems, ItemCursor};
pub use self::model::OverflowModel;
pub use self::push::{ItemsPush, PushItems, PushItemsResult};
pub use self::update::{ItemsUpdate, UpdateItems, UpdateItemsResult};
