//! Random documents, of this program and of others, compared with a plain model of the summaries.

use odm::bson::{Bson, DateTime, Document as BsonDocument, doc};
use odm::prelude::*;

use super::models::{Product, decimal};
use super::{insert, stored};
use crate::random::{Random, count};

const PRODUCTS: usize = 4;

/// A summary: where it is, and what it is computed from.
struct Summary {
    name: &'static str,
    kind: &'static str,
    /// The collection, the reference, and the key.
    of: (&'static str, &'static [&'static str], &'static str),
    from: &'static [&'static str],
    stored: &'static str,
}

const REVIEWS: (&str, &[&str], &str) = ("reviews", &["product"], "_id");
const SALES: (&str, &[&str], &str) = ("sales", &["place", "code"], "code");

const fn summary(
    name: &'static str,
    kind: &'static str,
    from: &'static [&'static str],
    stored: &'static str,
) -> Summary {
    Summary {
        name,
        kind,
        of: REVIEWS,
        from,
        stored,
    }
}

const SUMMARIES: &[Summary] = &[
    summary("n", "count", &[], "long"),
    summary("count_int", "count", &[], "int"),
    summary("sum_int", "sum", &["int"], "int"),
    summary("sum_long", "sum", &["long"], "long"),
    summary("sum_double", "sum", &["double"], "double"),
    summary("sum_decimal", "sum", &["decimal"], "decimal"),
    summary("long_as_double", "sum", &["long"], "double"),
    summary("long_as_decimal", "sum", &["long"], "decimal"),
    summary("mean_int", "mean", &["int"], "double"),
    summary("mean_decimal", "mean", &["decimal"], "decimal"),
    summary("int_as_decimal", "mean", &["int"], "decimal"),
    summary("min_int", "min", &["int"], "int"),
    summary("max_long", "max", &["long"], "long"),
    summary("min_double", "min", &["double"], "double"),
    summary("max_decimal", "max", &["decimal"], "decimal"),
    summary("first", "min", &["date"], "date"),
    summary("last_text", "max", &["text"], "string"),
    summary("best", "max", &["rating", "s"], "int"),
    Summary {
        of: SALES,
        ..summary("sale_count", "count", &[], "long")
    },
    Summary {
        of: SALES,
        ..summary("sold", "sum", &["amount"], "long")
    },
];

pub(super) async fn random_documents_have_the_summaries_of_a_plain_model(db: &Db) {
    let mut random = Random::unless_set("ODM_SUMMARIES_SEED", 7);
    for round in 0..count("ODM_SUMMARIES", 50) {
        let seed = random.seed();
        run(db, &mut random, &format!("round {round}, seed {seed}")).await;
    }
}

/// A small integer in one of the types of numbers.
fn integer(random: &mut Random) -> Bson {
    let number = i32::try_from(random.below(9)).unwrap() - 4;
    match random.below(6) {
        0 => Bson::Int64(number.into()),
        1 => Bson::Double(number.into()),
        2 => Bson::Decimal128(decimal(&number.to_string())),
        _ => Bson::Int32(number),
    }
}

/// A number that a double stores exactly.
fn fraction(random: &mut Random) -> Bson {
    let quarters = i32::try_from(random.below(33)).unwrap() - 16;
    let number = f64::from(quarters) / 4.0;
    match random.below(4) {
        0 => Bson::Decimal128(decimal(&number.to_string())),
        1 if random.one_in(4) => Bson::Double(f64::NAN),
        1 => Bson::Int32(quarters),
        _ => Bson::Double(number),
    }
}

/// A value, or what other programs store instead.
fn foreign(random: &mut Random, value: Bson) -> Bson {
    match random.below(24) {
        0 => Bson::Null,
        1 => "z".into(),
        2 => Bson::Boolean(true),
        3 => Bson::Array(vec![7.into(), 8.into()]),
        4 => doc! {"x": 1}.into(),
        5 => Bson::DateTime(DateTime::from_millis(-5)),
        _ => value,
    }
}

/// A key in one of the types of numbers; or what other programs store instead.
fn key(random: &mut Random, factor: i32) -> Bson {
    let id = i32::try_from(random.below(PRODUCTS)).unwrap() * factor;
    match random.below(12) {
        0 => Bson::Null,
        1 => Bson::Int64(id.into()),
        2 => Bson::Double(id.into()),
        3 => Bson::Decimal128(decimal(&id.to_string())),
        4 => Bson::Int32(99),
        5 => "odd".into(),
        6 => Bson::Array(vec![id.into(), 1.into()]),
        _ => Bson::Int32(id),
    }
}

fn forgetful(random: &mut Random, document: BsonDocument) -> BsonDocument {
    let fields = document.into_iter();
    let kept = fields.filter(|(name, _)| name == "_id" || !random.one_in(8));
    kept.collect()
}

fn review(random: &mut Random, id: i32) -> BsonDocument {
    let mut review = doc! {"_id": id, "product": key(random, 1)};
    for name in ["int", "long"] {
        let value = integer(random);
        review.insert(name, foreign(random, value));
    }
    for name in ["double", "decimal"] {
        let value = fraction(random);
        review.insert(name, foreign(random, value));
    }
    let date = DateTime::from_millis(i64::try_from(random.below(9)).unwrap());
    review.insert("date", foreign(random, date.into()));
    let text = *random.pick(&["a", "A", "b", "ä"]);
    review.insert("text", foreign(random, text.into()));
    let stars = integer(random);
    let rating = doc! {"s": foreign(random, stars)};
    review.insert("rating", foreign(random, rating.into()));
    forgetful(random, review)
}

async fn run(db: &Db, random: &mut Random, what: &str) {
    for name in ["products", "reviews", "sales"] {
        let delete = doc! {"delete": name, "deletes": [{"q": {}, "limit": 0}]};
        db.run_command(delete).await.unwrap();
    }
    let products = (0..i32::try_from(PRODUCTS).unwrap()).map(|id| {
        let mut product = doc! {"_id": id, "version": 1_i64};
        for one in SUMMARIES {
            let value = integer(random);
            product.insert(one.name, foreign(random, value));
        }
        product = forgetful(random, product);
        product.insert("code", i64::from(id) * 10);
        product
    });
    let products: Vec<_> = products.collect();
    insert(db, "products", products).await;
    let reviews = 1 + random.below(20);
    let reviews = (0..reviews).map(|id| review(random, i32::try_from(id).unwrap()));
    let reviews: Vec<_> = reviews.collect();
    insert(db, "reviews", reviews).await;
    let sales = (0..8).map(|id| {
        let (code, amount) = (key(random, 10), integer(random));
        let place = forgetful(random, doc! {"code": code});
        doc! {"_id": id, "place": place, "amount": foreign(random, amount)}
    });
    let sales: Vec<_> = sales.collect();
    insert(db, "sales", sales).await;

    let collection = db.collection::<Product>();
    let stale = compare(db).await;
    let report = collection.check_summaries().await.unwrap();
    assert_eq!(report.read, PRODUCTS as u64, "{what}");
    let damages = usize::try_from(report.damages).unwrap();
    assert_eq!(damages, stale.len(), "{what}: {report}\n{stale:#?}");
    let before = stored(db, "products").await;
    collection.refresh_summaries().await.unwrap();
    let stale = compare(db).await;
    assert!(stale.is_empty(), "{what}: {stale:#?}");
    let report = collection.check_summaries().await.unwrap();
    assert!(report.is_sound(), "{what}: {report}");
    let after = stored(db, "products").await;
    let version = |product: &BsonDocument| product.get_i64("version").ok();
    for (before, after) in before.iter().zip(&after) {
        let is_same = SUMMARIES
            .iter()
            .all(|one| before.get(one.name) == after.get(one.name));
        assert_eq!(is_same, version(before) == version(after), "{what}");
    }
    let again = collection.refresh_summaries().await.unwrap();
    assert_eq!(again.updated, 0, "{what}");
}

fn at<'d>(document: &'d BsonDocument, path: &[&str]) -> Option<&'d Bson> {
    let (first, rest) = path.split_first()?;
    let value = document.get(first)?;
    match (rest, value) {
        ([], value) => Some(value),
        (rest, Bson::Document(inside)) => at(inside, rest),
        _ => None,
    }
}

fn number(value: &Bson) -> Option<f64> {
    Some(match value {
        Bson::Int32(value) => f64::from(*value),
        Bson::Int64(value) => i32::try_from(*value).unwrap().into(),
        Bson::Double(value) => *value,
        Bson::Decimal128(value) => value.to_string().parse().unwrap(),
        _ => return None,
    })
}

/// The summaries that differ from the plain model: the id, the name, and both values.
async fn compare(db: &Db) -> Vec<(Bson, &'static str, Option<Bson>, String)> {
    let mut stale = Vec::new();
    for product in stored(db, "products").await {
        for summary in SUMMARIES {
            let (collection, reference, key) = summary.of;
            let key = number(&product[key]).unwrap();
            let counted = stored(db, collection).await;
            let counted = counted
                .iter()
                .filter(|one| at(one, reference).and_then(number) == Some(key));
            let values: Vec<Bson> = counted
                .map(|one| at(one, summary.from).cloned().unwrap_or(Bson::Null))
                .collect();
            let found = product.get(summary.name);
            let expected = expected(summary, &values);
            if !is_equal(found, &expected) {
                let id = product["_id"].clone();
                stale.push((id, summary.name, found.cloned(), format!("{expected:?}")));
            }
        }
    }
    stale
}

#[derive(Debug)]
enum Expected {
    Null,
    Missing,
    Number(f64),
    Date(DateTime),
    Text(String),
}

fn expected(summary: &Summary, values: &[Bson]) -> Expected {
    let numbers: Vec<f64> = values.iter().filter_map(number).collect();
    let length = f64::from(u32::try_from(numbers.len()).unwrap());
    let sum: f64 = numbers.iter().sum();
    let (is_min, none) = (summary.kind == "min", Expected::Null);
    match (summary.kind, summary.stored) {
        ("count", _) => Expected::Number(f64::from(u32::try_from(values.len()).unwrap())),
        ("sum", _) => Expected::Number(sum),
        ("mean", _) if numbers.is_empty() => none,
        ("mean", _) => Expected::Number(sum / length),
        (_, "date") => {
            let dates = values.iter().filter_map(|value| match value {
                Bson::DateTime(date) => Some(*date),
                _ => None,
            });
            dates.min().map_or(none, Expected::Date)
        }
        (_, "string") => {
            let texts = values.iter().filter_map(Bson::as_str);
            texts
                .max()
                .map_or(none, |text| Expected::Text(text.to_owned()))
        }
        _ => {
            // NaN is less than every number.
            let order = |a: &f64, b: &f64| {
                a.partial_cmp(b)
                    .unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
            };
            let numbers = numbers.iter().copied();
            let chosen = if is_min {
                numbers.min_by(order)
            } else {
                numbers.max_by(order)
            };
            let none = if summary.name == "best" {
                Expected::Missing
            } else {
                Expected::Null
            };
            chosen.map_or(none, Expected::Number)
        }
    }
}

fn is_equal(found: Option<&Bson>, expected: &Expected) -> bool {
    match (found, expected) {
        (None, Expected::Missing) => true,
        (found, Expected::Null) => found.is_none_or(|found| *found == Bson::Null),
        (Some(Bson::DateTime(found)), Expected::Date(date)) => found == date,
        (Some(Bson::String(found)), Expected::Text(text)) => found == text,
        (Some(found), Expected::Number(expected)) => number(found).is_some_and(|found| {
            found.is_nan() && expected.is_nan() || (found - expected).abs() < 1e-9
        }),
        _ => false,
    }
}

/// Whether each summary is stored in the form of its field.
pub(super) fn has_declared_form(product: &BsonDocument) -> bool {
    SUMMARIES.iter().all(|summary| {
        let found = match product.get(summary.name) {
            None | Some(Bson::Null) => return true,
            Some(Bson::Int32(_)) => "int",
            Some(Bson::Int64(_)) => "long",
            Some(Bson::Double(_)) => "double",
            Some(Bson::Decimal128(_)) => "decimal",
            Some(Bson::DateTime(_)) => "date",
            Some(Bson::String(_)) => "string",
            Some(_) => return false,
        };
        found == summary.stored
    })
}
