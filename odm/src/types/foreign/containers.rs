//! Options, pointers, lists and maps of foreign types are stored as those of what is stored.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::stored_as::{ConversionError, StoredAs};
use crate::model::{MapKey, Rule, Shape, TypeMeta};

macro_rules! lists {
    ($([$($generics:tt)*] $list:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*, W: StoredAs<T>> StoredAs<$list> for W {
            type Stored = Vec<W::Stored>;
            const TYPE: TypeMeta = TypeMeta::of(Shape::Array {
                element: &<W as StoredAs<T>>::TYPE,
                len: None,
                unique: false,
            });

            fn to_stored(value: &$list) -> Result<Self::Stored, ConversionError> {
                value.iter().map(W::to_stored).collect()
            }

            fn from_stored(stored: Self::Stored) -> Result<$list, ConversionError> {
                stored.into_iter().map(W::from_stored).collect()
            }
        }
    )*};
}

lists! {
    [T] Vec<T>;
    [T] VecDeque<T>;
    [T: Ord] BTreeSet<T>;
    [T: Hash + Eq, S: BuildHasher + Default] HashSet<T, S>;
}

#[diagnostic::do_not_recommend]
impl<T, W: StoredAs<T>> StoredAs<Option<T>> for W {
    type Stored = Option<W::Stored>;
    const TYPE: TypeMeta = <W as StoredAs<T>>::TYPE.optional();

    fn to_stored(value: &Option<T>) -> Result<Self::Stored, ConversionError> {
        value.as_ref().map(W::to_stored).transpose()
    }

    fn from_stored(stored: Self::Stored) -> Result<Option<T>, ConversionError> {
        stored.map(W::from_stored).transpose()
    }
}

#[diagnostic::do_not_recommend]
impl<T, W: StoredAs<T>> StoredAs<Box<T>> for W {
    type Stored = W::Stored;
    const TYPE: TypeMeta = <W as StoredAs<T>>::TYPE;

    fn to_stored(value: &Box<T>) -> Result<Self::Stored, ConversionError> {
        W::to_stored(value)
    }

    fn from_stored(stored: Self::Stored) -> Result<Box<T>, ConversionError> {
        W::from_stored(stored).map(Box::new)
    }
}

#[diagnostic::do_not_recommend]
impl<K, T, S, W> StoredAs<HashMap<K, T, S>> for W
where
    K: MapKey + Clone + Eq + Hash + Serialize + DeserializeOwned,
    S: BuildHasher + Default,
    W: StoredAs<T>,
{
    type Stored = HashMap<K, W::Stored, S>;
    const TYPE: TypeMeta = TypeMeta::map(&<W as StoredAs<T>>::TYPE, &[Rule::Keys(K::KEYS)]);

    fn to_stored(value: &HashMap<K, T, S>) -> Result<Self::Stored, ConversionError> {
        let entries = value.iter();
        entries
            .map(|(key, value)| Ok((key.clone(), W::to_stored(value)?)))
            .collect()
    }

    fn from_stored(stored: Self::Stored) -> Result<HashMap<K, T, S>, ConversionError> {
        let entries = stored.into_iter();
        entries
            .map(|(key, value)| Ok((key, W::from_stored(value)?)))
            .collect()
    }
}

#[diagnostic::do_not_recommend]
impl<K, T, W> StoredAs<BTreeMap<K, T>> for W
where
    K: MapKey + Clone + Ord + Serialize + DeserializeOwned,
    W: StoredAs<T>,
{
    type Stored = BTreeMap<K, W::Stored>;
    const TYPE: TypeMeta = TypeMeta::map(&<W as StoredAs<T>>::TYPE, &[Rule::Keys(K::KEYS)]);

    fn to_stored(value: &BTreeMap<K, T>) -> Result<Self::Stored, ConversionError> {
        let entries = value.iter();
        entries
            .map(|(key, value)| Ok((key.clone(), W::to_stored(value)?)))
            .collect()
    }

    fn from_stored(stored: Self::Stored) -> Result<BTreeMap<K, T>, ConversionError> {
        let entries = stored.into_iter();
        entries
            .map(|(key, value)| Ok((key, W::from_stored(value)?)))
            .collect()
    }
}
