//! Whole numbers that a tree keeps.

/// Declares a whole number, stored as `int`, or as `long` if it is larger.
macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(i64);

        impl $name {
            /// A number to compare the field with.
            ///
            /// ```
            /// # use odm::prelude::*;
            /// # use odm::tree::prelude::*;
            /// use odm::query::fields;
            /// # #[derive(Serialize, Deserialize, Embedded)]
            /// # struct Category { left: Left, right: Right, depth: Depth, size: NodeCount }
            /// let c = fields::<Category>();
            /// let inside = c.left.gt(Left::new(1)) & c.right.lt(Right::new(6));
            /// assert_eq!(inside.to_document()?, doc! {"left": {"$gt": 1}, "right": {"$lt": 6}});
            /// let leaves = c.depth.eq(Depth::new(1)) & c.size.eq(NodeCount::new(0));
            /// assert_eq!(leaves.to_document()?, doc! {"depth": 1, "size": 0});
            /// # Ok::<(), odm::Error>(())
            /// ```
            pub const fn new(number: i64) -> Self {
                Self(number)
            }

            /// The number.
            ///
            /// ```
            /// # use odm::prelude::*;
            /// # use odm::tree::prelude::*;
            /// # #[derive(Debug, Clone, Serialize, Deserialize, Document)]
            /// # #[odm(
            /// #     collection = "categories",
            /// #     tree(nested_sets, parent = parent, depth = depth, count(descendants = size))
            /// # )]
            /// # struct Category {
            /// #     #[serde(rename = "_id")] id: String,
            /// #     parent: Parent<Category>,
            /// #     left: Left,
            /// #     right: Right,
            /// #     depth: Depth,
            /// #     size: NodeCount,
            /// # }
            /// # fn new(id: &str) -> Category {
            /// #     Category {
            /// #         id: id.to_owned(),
            /// #         parent: Parent::default(),
            /// #         left: Left::default(),
            /// #         right: Right::default(),
            /// #         depth: Depth::default(),
            /// #         size: NodeCount::default(),
            /// #     }
            /// # }
            /// # #[tokio::main(flavor = "current_thread")]
            /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
            /// # let tree = Db::memory().tree::<Category>();
            /// let books = tree.insert(new("Books"), Position::root()).await?.node;
            /// let fiction = tree.insert(new("Fiction"), Position::child_of(&books)).await?.node;
            /// assert_eq!((fiction.left.get(), fiction.right.get()), (2, 3));
            /// assert_eq!((fiction.depth.get(), fiction.size.get()), (1, 0));
            /// # Ok(())
            /// # }
            /// ```
            pub const fn get(self) -> i64 {
                self.0
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match i32::try_from(self.0) {
                    Ok(small) => serializer.serialize_i32(small),
                    Err(_) => serializer.serialize_i64(self.0),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                i64::deserialize(deserializer).map(Self)
            }
        }

        $crate::query::scalars::field_type!(
            [] $name,
            $crate::model::TypeMeta::scalar(&[$crate::model::BsonType::Int, $crate::model::BsonType::Long])
        );
    };
}

pub(super) use number;
