//! Every type of a field, in every place of a document where a value of it can stand.
//!
//! `reading` holds what the validators accept against what is read, `operators` the typed operators against Rust's own
//! equality and order.

mod operators;
mod reading;
mod shape;
mod values;

use std::cmp::Ordering;
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroU8, NonZeroU16, NonZeroU32, NonZeroU64,
    NonZeroUsize,
};
use std::time::Duration;

use odm::bson::oid::ObjectId;
use odm::bson::{Binary, Decimal128, Timestamp, spec::BinarySubtype};
use odm::geo::{LineString, MultiPoint, Point};
use odm::money::{AnyCurrency, AnyMoney, CodeOf, Money, Scaled, Usd};
use odm::prelude::*;
use odm::query::Sort;
use odm::query::fields;
use odm::time::{Iso, JavaScript, LocalTime, Offset};

use self::operators::{Condition, Edit};
use self::shape::Shape;
use crate::case::Case;

/// A model with values of one type in every place.
trait Row: odm::model::Writable + Document<Id = i32> {
    /// The type.
    type Value: Clone + 'static;

    /// Some values, each another one.
    fn pool() -> Vec<Self::Value>;

    /// The row with values of the pool where the shape has their indexes.
    fn of(id: i32, shape: &Shape) -> Self;

    /// How the values of the pool compare, if the type has an order in Rust.
    fn order() -> Option<Vec<Vec<Option<Ordering>>>>;

    /// Every typed condition on every place.
    fn conditions() -> Vec<Condition>;

    /// Every typed change of every place.
    fn edits() -> Vec<Edit<Self>>;

    /// The row of this shape, written by an upsert.
    fn inserted(shape: &Shape) -> Update<Self>;

    fn by_id() -> Sort<Self>;

    fn with_id(id: i32) -> Filter<Self>;

    /// The order of the values in `value`.
    fn by_value(descending: bool) -> Sort<Self>;
}

/// Two values; [`ByRust`] or [`Otherwise`] compares them, whichever the type allows.
struct Two<'v, T>(&'v T, &'v T);

/// How two values compare, by the order of their type in Rust if it has one.
enum Compared {
    ByRust(Option<Ordering>),
    Otherwise,
}

trait ByRust {
    fn order(&self) -> Compared;
}

impl<T: PartialOrd> ByRust for Two<'_, T> {
    fn order(&self) -> Compared {
        Compared::ByRust(self.0.partial_cmp(self.1))
    }
}

trait Otherwise {
    fn order(&self) -> Compared;
}

impl<T> Otherwise for &Two<'_, T> {
    fn order(&self) -> Compared {
        Compared::Otherwise
    }
}

macro_rules! types {
    ($($case:ident: [$($with:tt)*] [$($default:tt)*] [$($list:tt)*] $ty:ty, $written:expr;)*) => {
        pub(super) fn cases() -> Vec<Case> {
            let mut cases = reading::CASES.to_vec();
            $(
                cases.push(Case {
                    name: concat!(module_path!(), "::reading::", stringify!($case)),
                    run: |db| Box::pin(reading::check::<$case::Rows>(db)),
                });
                cases.push(Case {
                    name: concat!(module_path!(), "::operators::", stringify!($case)),
                    run: |db| Box::pin(operators::check::<$case::Rows>(db)),
                });
            )*
            cases
        }

        $(mod $case {
            use std::collections::BTreeMap;

            use super::operators::{
                ENTRY, FIRST, MAYBE, VALUE, conditions_on, conditions_on_list, conditions_on_option, edits_of, edits_of_list,
                edits_of_option, replace_each, replace_first,
            };
            use super::shape::{Place, Test};
            use super::*;

            type Value = $ty;

            #[derive(Clone, Serialize, Deserialize, Embedded)]
            pub(super) struct Part {
                $($with)*
                value: $ty,
                $($default)*
                maybe: Option<$ty>,
            }

            #[derive(Serialize, Deserialize, Document)]
            #[odm(collection = "rows")]
            pub(super) struct Rows {
                #[serde(rename = "_id")]
                id: i32,
                $($with)*
                value: $ty,
                $($default)*
                maybe: Option<$ty>,
                $($with)*
                $($list)*
                list: Vec<$ty>,
                $($with)*
                $($list)*
                map: BTreeMap<String, $ty>,
                #[odm(embed(few, max = 9))]
                parts: Vec<Part>,
            }

            impl Row for Rows {
                type Value = Value;

                fn pool() -> Vec<Value> {
                    $written.into_iter().collect()
                }

                fn of(id: i32, shape: &Shape) -> Self {
                    let pool = Self::pool();
                    let value = |at: usize| pool[at].clone();
                    let part = |part: &shape::Part| Part {
                        value: value(part.value),
                        maybe: part.maybe.map(value),
                    };
                    Self {
                        id,
                        value: value(shape.value),
                        maybe: shape.maybe.map(value),
                        list: shape.list.iter().copied().map(value).collect(),
                        map: shape.entry.map(|at| ("key".to_owned(), value(at))).into_iter().collect(),
                        parts: shape.parts.iter().map(part).collect(),
                    }
                }

                fn order() -> Option<Vec<Vec<Option<Ordering>>>> {
                    let pool = Self::pool();
                    let compare = |one: &Value, other: &Value| match (&Two(one, other)).order() {
                        Compared::ByRust(order) => Some(order),
                        Compared::Otherwise => None,
                    };
                    let row = |one: &Value| pool.iter().map(|other| compare(one, other)).collect();
                    pool.iter().map(row).collect()
                }

                fn conditions() -> Vec<Condition> {
                    let (r, pool) = (fields::<Self>(), &Self::pool()[..]);
                    let last = pool.len() - 1;
                    let (low, high) = (|| pool[0].clone(), || pool[last].clone());
                    let mut all = vec![
                        Condition::new(
                            Place::Any,
                            Test::Between(0, last),
                            &r.list.elem_match(|e| e.gte(low()) & e.lte(high())),
                        ),
                        Condition::new(
                            Place::AnyPart,
                            Test::PartWith(0, last),
                            &r.parts.elem_match(|p| p.value.eq(low()) & p.maybe.eq(high())),
                        ),
                    ];
                    all.extend(conditions_on(Place::Value, &r.value, pool));
                    all.extend(conditions_on(Place::Maybe, &r.maybe, pool));
                    all.extend(conditions_on(Place::Any, &r.list.any(), pool));
                    all.extend(conditions_on(Place::First, &r.list.at(0), pool));
                    all.extend(conditions_on(Place::Entry, &r.map.key("key"), pool));
                    all.extend(conditions_on(Place::AnyPart, &r.parts.any().value, pool));
                    all.extend(conditions_on(Place::AnyPartMaybe, &r.parts.any().maybe, pool));
                    all.extend(conditions_on(Place::FirstPart, &r.parts.at(0).value, pool));
                    all.extend(conditions_on_option(Place::Maybe, &r.maybe));
                    all.extend(conditions_on_option(Place::AnyPartMaybe, &r.parts.any().maybe));
                    all.extend(conditions_on_list(&r.list, pool));
                    all
                }

                fn edits() -> Vec<Edit<Self>> {
                    let (r, pool) = (fields::<Self>(), &Self::pool()[..]);
                    let last = pool.len() - 1;
                    let (low, high) = (|| pool[0].clone(), || pool[last].clone());
                    let part = || Part { value: high(), maybe: None };
                    let mut all = edits_of(VALUE, &r.value, pool);
                    all.extend(edits_of(MAYBE, &r.maybe, pool));
                    all.extend(edits_of(FIRST, &r.list.at(0), pool));
                    all.extend(edits_of(ENTRY, &r.map.key("key"), pool));
                    all.extend(edits_of_option(&r.maybe, &low()));
                    all.extend(edits_of_list(&r.list, pool));
                    all.extend([
                        Edit::new("map.remove_key", r.map.remove_key("key"), |shape, _| shape.entry = None),
                        Edit::new("list.all_elements", r.list.all_elements().set(high()), move |shape, _| {
                            shape.list.fill(last);
                        }),
                        Edit::new("list.positional", r.list.positional().set(high()), move |shape, order| {
                            replace_first(&mut shape.list, 0, last, order);
                        })
                        .with(r.list.has(low())),
                        Edit::new(
                            "list.filtered",
                            r.list.filtered("e").set(high()) & r.list.array_filter("e", |e| e.eq(low())),
                            move |shape, order| replace_each(&mut shape.list, 0, last, order),
                        ),
                        Edit::new("list.update_where", r.list.update_where(|e| e.eq(low()), |e| e.set(high())), move |shape, order| {
                            replace_each(&mut shape.list, 0, last, order);
                        }),
                        Edit::new("list.pull_where", r.list.pull_where(|e| e.eq(low())), |shape, order| {
                            shape.list.retain(|at| !order.same(*at, 0));
                        }),
                        Edit::new("parts.push", r.parts.push(part()), move |shape, _| {
                            shape.parts.push(shape::Part { value: last, maybe: None });
                        }),
                        Edit::new("parts.all_elements", r.parts.all_elements().maybe.set(high()), move |shape, _| {
                            for part in &mut shape.parts {
                                part.maybe = Some(last);
                            }
                        }),
                        Edit::new("parts.positional", r.parts.positional().value.set(high()), move |shape, order| {
                            let found = shape.parts.iter_mut().find(|part| order.same(part.value, 0));
                            if let Some(part) = found {
                                part.value = last;
                            }
                        })
                        .with(r.parts.elem_match(|p| p.value.eq(low()))),
                        Edit::new(
                            "parts.update_where",
                            r.parts.update_where(|p| p.value.eq(low()), |p| p.value.set(high()) & p.maybe.set(None)),
                            move |shape, order| {
                                for part in shape.parts.iter_mut().filter(|part| order.same(part.value, 0)) {
                                    *part = shape::Part { value: last, maybe: None };
                                }
                            },
                        ),
                        Edit::new("parts.pull_where", r.parts.pull_where(|p| p.value.eq(low())), |shape, order| {
                            shape.parts.retain(|part| !order.same(part.value, 0));
                        }),
                        Edit::new("three at once", r.value.set(high()) & r.maybe.set(None) & r.list.push(low()), move |shape, _| {
                            shape.value = last;
                            shape.maybe = None;
                            shape.list.push(0);
                        }),
                        Edit::new("value.set_literal", r.value.set_literal(high()) & r.map.key("key").set_literal(low()), move |shape, _| {
                            shape.value = last;
                            shape.entry = Some(0);
                        }),
                    ]);
                    all
                }

                fn inserted(shape: &Shape) -> Update<Self> {
                    let Self { id: _, value, maybe, list, map, parts } = Self::of(0, shape);
                    let r = fields::<Self>();
                    r.value.set_on_insert(value)
                        & r.maybe.set_on_insert(maybe)
                        & r.list.set_on_insert(list)
                        & r.map.set_on_insert(map)
                        & r.parts.set_on_insert(parts)
                }

                fn by_id() -> Sort<Self> {
                    fields::<Self>().id.asc()
                }

                fn with_id(id: i32) -> Filter<Self> {
                    fields::<Self>().id.eq(id)
                }

                fn by_value(descending: bool) -> Sort<Self> {
                    let r = fields::<Self>();
                    if descending { r.value.desc() } else { r.value.asc() }
                }
            }
        })*
    };
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Embedded)]
enum Choice {
    One,
    Two,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
struct Level(i8);

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
struct Pair(u8, Level);

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
struct Stock {
    pieces: u16,
    weight: Option<u8>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
enum Tagged {
    None,
    Whole(u8),
    Two(u8, i16),
    Named { pieces: u32 },
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
#[serde(tag = "kind")]
enum Inside {
    None,
    Stock(Stock),
    Named { pieces: u32 },
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
#[serde(tag = "t", content = "c")]
enum Beside {
    Whole(u8),
    Two(u8, i16),
    Named { pieces: u32 },
}

fn day(text: &str) -> chrono::NaiveDate {
    text.parse().unwrap()
}

fn decimal(text: &str) -> rust_decimal::Decimal {
    text.parse().unwrap()
}

fn point(longitude: f64, latitude: f64) -> Point {
    Point::new(longitude, latitude).unwrap()
}

types! {
    i8s: [] [] [] i8, [i8::MIN, 0, i8::MAX];
    i16s: [] [] [] i16, [i16::MIN, i16::MAX];
    i32s: [] [] [] i32, [i32::MIN, i32::MAX];
    i64s: [] [] [] i64, [i64::MIN, 0, i64::MAX];
    isizes: [] [] [] isize, [isize::MIN, isize::MAX];
    u8s: [] [] [] u8, [u8::MIN, u8::MAX];
    u16s: [] [] [] u16, [u16::MIN, u16::MAX];
    u32s: [] [] [] u32, [u32::MIN, u32::MAX];
    u64s: [] [] [] u64, [0, u64::try_from(i64::MAX).unwrap()];
    usizes: [] [] [] usize, [0, usize::try_from(i64::MAX).unwrap()];
    not_zero_i8s: [] [] [] NonZeroI8, [NonZeroI8::MIN, NonZeroI8::MAX];
    not_zero_i16s: [] [] [] NonZeroI16, [NonZeroI16::MIN, NonZeroI16::MAX];
    not_zero_i32s: [] [] [] NonZeroI32, [NonZeroI32::MIN, NonZeroI32::MAX];
    not_zero_i64s: [] [] [] NonZeroI64, [NonZeroI64::MIN, NonZeroI64::MAX];
    not_zero_u8s: [] [] [] NonZeroU8, [NonZeroU8::MIN, NonZeroU8::MAX];
    not_zero_u16s: [] [] [] NonZeroU16, [NonZeroU16::MIN, NonZeroU16::MAX];
    not_zero_u32s: [] [] [] NonZeroU32, [NonZeroU32::MIN, NonZeroU32::MAX];
    not_zero_u64s: [] [] [] NonZeroU64, [NonZeroU64::MIN];
    not_zero_usizes: [] [] [] NonZeroUsize, [NonZeroUsize::MIN];
    f32s: [] [] [] f32, [f32::MIN, 0.1, f32::NAN, f32::INFINITY];
    f64s: [] [] [] f64, [f64::MIN, f64::NAN, f64::INFINITY];
    timestamps: [] [] [] Timestamp, [Timestamp { time: 0, increment: 1 }, Timestamp { time: 7, increment: 0 }];
    binaries: [] [] [] Binary, [vec![], vec![7; 3]].map(|bytes| Binary { subtype: BinarySubtype::Generic, bytes });
    money: [] [] [] Money<Usd>, ["-0.50", "0.00", "12.30"].map(|amount| amount.parse().unwrap());
    uuids: [#[serde(with = "odm::uuid_1")]] [#[serde(default, with = "odm::uuid_1")]] [] uuid::Uuid, [uuid::Uuid::nil(), uuid::Uuid::from_u128(7)];
    bools: [] [] [] bool, [true, false];
    chars: [] [] [] char, ['a', '\u{1F600}', '\n', '\0'];
    strings: [] [] [] String, [String::new(), "a\n".to_owned()];
    dates: [] [] [] DateTime, [DateTime::MIN, DateTime::MAX];
    object_ids: [] [] [] ObjectId, [ObjectId::from_bytes([7; 12])];
    decimals: [] [] [] Decimal128, ["NaN".parse().unwrap(), "1E+6000".parse().unwrap()];
    newtypes: [] [] [] Level, [Level(i8::MIN), Level(i8::MAX)];
    choices: [] [] [] Choice, [Choice::One, Choice::Two];
    pairs: [] [] [] (u8, i16), [(0, i16::MIN), (255, i16::MAX)];
    tuple_structs: [] [] [#[odm(items(max = 9))]] Pair, [Pair(255, Level(-128)), Pair(0, Level(127))];
    arrays: [] [] [#[odm(items(max = 9))]] [u8; 3], [[0, 7, 255]];
    structs: [] [] [#[odm(embed(few, max = 9))]] Stock, [Stock { pieces: 65_535, weight: None }, Stock { pieces: 0, weight: Some(255) }];
    tagged: [] [] [#[odm(embed(few, max = 9))]] Tagged, [
        Tagged::None, Tagged::Whole(255), Tagged::Two(0, -1), Tagged::Named { pieces: u32::MAX },
    ];
    tagged_inside: [] [] [#[odm(embed(few, max = 9))]] Inside, [
        Inside::Stock(Stock { pieces: 1, weight: Some(1) }), Inside::Named { pieces: u32::MAX }, Inside::None,
    ];
    tagged_beside: [] [] [#[odm(embed(few, max = 9))]] Beside, [Beside::Whole(255), Beside::Two(0, -1), Beside::Named { pieces: 0 }];
    offsets: [] [] [] Offset<Iso>, [Offset::from_minutes_east(-1_080).unwrap(), Offset::from_minutes_east(1_080).unwrap()];
    local_times: [] [] [] LocalTime<JavaScript>, [LocalTime::new(DateTime::from_millis(0), Offset::from_minutes_east(120).unwrap())];
    currencies: [] [] [] AnyCurrency, ["USD".parse().unwrap(), "KWD".parse().unwrap()];
    finer_currencies: [] [] [] AnyCurrency<Scaled<2>>, ["USD".parse().unwrap(), "JPY".parse().unwrap()];
    codes: [] [] [] CodeOf<Usd>, [CodeOf::new()];
    amounts: [] [] [#[odm(embed(few, max = 9))]] AnyMoney, ["1 USD".parse().unwrap(), "2 USD".parse().unwrap()];
    points: [] [] [] Point, [point(-180.0, 90.0), point(7.0, 7.0)];
    lines: [] [] [] LineString, [LineString::new([point(0.0, 0.0), point(180.0, -90.0)]).unwrap()];
    several_points: [] [] [] MultiPoint, [MultiPoint::new([point(0.0, 0.0)]).unwrap()];
    durations: [#[serde(with = "odm::duration")]] [#[serde(default, with = "odm::duration")]] [] Duration, [
        Duration::ZERO, Duration::from_millis(u64::try_from(i64::MAX).unwrap()),
    ];
    chrono_spans: [#[serde(with = "odm::chrono_0_4")]] [#[serde(default, with = "odm::chrono_0_4")]] [] chrono::TimeDelta, [
        chrono::TimeDelta::MIN, chrono::TimeDelta::MAX,
    ].map(|delta| chrono::TimeDelta::milliseconds(delta.num_milliseconds()));
    chrono_seconds: [#[serde(with = "odm::duration::seconds")]] [#[serde(default, with = "odm::duration::seconds")]] [] chrono::TimeDelta, [
        chrono::TimeDelta::MIN, chrono::TimeDelta::MAX,
    ].map(|delta| chrono::TimeDelta::seconds(delta.num_seconds()));
    chrono_days: [#[serde(with = "odm::chrono_0_4")]] [#[serde(default, with = "odm::chrono_0_4")]] [] chrono::NaiveDate, [
        day("0000-01-01"), day("2024-02-29"), day("9999-12-31"),
    ];
    chrono_times_of_day: [#[serde(with = "odm::chrono_0_4")]] [#[serde(default, with = "odm::chrono_0_4")]] [] chrono::NaiveTime, [
        chrono::NaiveTime::MIN, chrono::NaiveTime::from_hms_nano_opt(23, 59, 59, 999_999_999).unwrap(),
    ];
    chrono_times: [#[serde(with = "odm::chrono_0_4")]] [#[serde(default, with = "odm::chrono_0_4")]] [] chrono::NaiveDateTime, [
        day("2024-02-29").and_hms_milli_opt(23, 59, 59, 7).unwrap(),
    ];
    jiff_days: [#[serde(with = "odm::jiff_0_2")]] [#[serde(default, with = "odm::jiff_0_2")]] [] jiff::civil::Date, [
        jiff::civil::date(0, 1, 1), jiff::civil::date(9_999, 12, 31),
    ];
    jiff_times: [#[serde(with = "odm::jiff_0_2")]] [#[serde(default, with = "odm::jiff_0_2")]] [] jiff::civil::DateTime, [
        jiff::civil::datetime(2_000, 2, 29, 23, 59, 59, 999_999_999),
    ];
    time_days: [#[serde(with = "odm::time_0_3")]] [#[serde(default, with = "odm::time_0_3")]] [] time::Date, [
        time::Date::from_ordinal_date(2_024, 60).unwrap(), time::Date::MAX,
    ];
    decimals_of_96_bits: [#[serde(with = "odm::rust_decimal_1")]] [#[serde(default, with = "odm::rust_decimal_1")]] [] rust_decimal::Decimal, [
        rust_decimal::Decimal::MIN, rust_decimal::Decimal::MAX, decimal("7.9228162514264337593543950335"), decimal("0.0000000000000000000000000001"),
    ];
    bytes: [#[serde(with = "odm::bytes")]] [#[serde(default, with = "odm::bytes")]] [] Vec<u8>, [vec![], vec![0, 255]];
    large_integers: [#[serde(with = "odm::int128")]] [#[serde(default, with = "odm::int128")]] [] u128, [0, 10_u128.pow(34) - 1];
    large_signed_integers: [#[serde(with = "odm::int128")]] [#[serde(default, with = "odm::int128")]] [] i128, [1 - 10_i128.pow(34), 10_i128.pow(34) - 1];
    uuids_as_text: [#[serde(with = "odm::uuid_1::text")]] [#[serde(default, with = "odm::uuid_1::text")]] [] uuid::Uuid, [
        uuid::Uuid::from_u128(7), uuid::Uuid::max(),
    ];
}
