//! The types that are fields without a derive.

use crate::model::{BsonType, FieldType, Path, Shape, TypeMeta};
use crate::query::Field;

impl FieldType for String {
    const TYPE: TypeMeta = TypeMeta::scalar(&[BsonType::String]);
    type Handle<M, As> = Field<M, As>;

    fn handle<M, As>(path: Path) -> Self::Handle<M, As> {
        Field::at_path(path)
    }
}

impl FieldType for i32 {
    const TYPE: TypeMeta = TypeMeta::scalar(&[BsonType::Int]);
    type Handle<M, As> = Field<M, As>;

    fn handle<M, As>(path: Path) -> Self::Handle<M, As> {
        Field::at_path(path)
    }
}

impl<T: FieldType> FieldType for Option<T> {
    const TYPE: TypeMeta = T::TYPE.nullable();
    type Handle<M, As> = T::Handle<M, As>;

    fn handle<M, As>(path: Path) -> Self::Handle<M, As> {
        T::handle(path)
    }
}

impl<T: FieldType> FieldType for Vec<T> {
    const TYPE: TypeMeta = TypeMeta {
        shape: Shape::Array {
            element: &T::TYPE,
            len: None,
            unique: false,
        },
        nullable: false,
    };
    type Handle<M, As> = Field<M, As>;

    fn handle<M, As>(path: Path) -> Self::Handle<M, As> {
        Field::at_path(path)
    }
}

impl<T: FieldType> FieldType for Box<T> {
    const TYPE: TypeMeta = T::TYPE;
    type Handle<M, As> = Field<M, As>;

    fn handle<M, As>(path: Path) -> Self::Handle<M, As> {
        Field::at_path(path)
    }
}
