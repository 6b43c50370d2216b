//! Typed pipelines made at random: each store returns what an engine in memory returns, or fails as it does.

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::expr::{Expr, Unit, cases, if_, literal};
use odm::pipeline::{DocumentCount, Pipeline, WhenMatched, WhenNotMatched, partition_by, pipeline};
use odm::prelude::*;
use odm::{facets, output};

use crate::case::cases as suite;
use crate::random::{Random, count};

suite![
    generated_pipelines_have_the_results_of_the_engine,
    generated_pipelines_write_what_they_write_in_the_engine,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "rows", has_many(children: Row, by = parent))]
struct Row {
    #[serde(rename = "_id")]
    id: i32,
    name: Option<String>,
    real: Option<f64>,
    whole: Option<i64>,
    at: Option<DateTime>,
    list: Vec<f64>,
    flag: Option<bool>,
    #[odm(index)]
    parent: Option<Ref<Row>>,
}

/// What pipelines write.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "kept")]
struct Kept {
    #[serde(rename = "_id")]
    id: i32,
    name: Option<String>,
    whole: Option<i64>,
    count: i64,
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
#[odm(result)]
struct Parts {
    rows: Vec<Row>,
    total: Vec<DocumentCount>,
    few: Vec<Row>,
}

type Rows = Pipeline<Row>;
type Fields = <Row as Embedded>::Fields<Row>;

const NAMES: [&str; 6] = ["", "a", "Ab", "ß", "$a", "a.b"];
const UNITS: [Unit; 5] = [
    Unit::Year,
    Unit::Quarter,
    Unit::IsoWeek,
    Unit::Day,
    Unit::Hour,
];

/// Documents as the struct writes them, and as another program may have: with other types of numbers, nulls, and fields missing.
fn documents(random: &mut Random) -> Vec<BsonDocument> {
    let mut all = Vec::new();
    for id in 0..24 {
        let mut row = doc! {"_id": id};
        if !random.one_in(6) {
            let name = *random.pick(&NAMES);
            row.insert("name", name);
        }
        let number = |random: &mut Random| -> Bson {
            let small = i32::try_from(random.below(9)).unwrap() - 4;
            match random.below(7) {
                0 => Bson::Null,
                1 => Bson::Int32(small),
                2 => Bson::Int64(small.into()),
                3 => Bson::Double(f64::from(small) / 4.0),
                4 => Bson::Double(f64::from(small) * 1e9),
                5 => Bson::Double(f64::NAN),
                _ => Bson::Double(f64::from(small)),
            }
        };
        for field in ["real", "whole"] {
            if !random.one_in(6) {
                row.insert(field, number(random));
            }
        }
        if !random.one_in(6) {
            let days = i64::try_from(random.below(900)).unwrap() - 300;
            let at = DateTime::from_millis(days * 86_400_000 + 3_600_000 * (days % 24));
            row.insert("at", at);
        }
        if !random.one_in(8) {
            let list: Vec<Bson> = (0..random.below(5)).map(|_| number(random)).collect();
            row.insert("list", list);
        }
        if !random.one_in(4) {
            row.insert("flag", random.one_in(2));
        }
        if !random.one_in(4) {
            let parent = i32::try_from(random.below(30)).unwrap();
            row.insert("parent", parent);
        }
        all.push(row);
    }
    all
}

/// Makes expressions over the fields of a row.
struct Maker<'r> {
    random: &'r mut Random,
    row: Fields,
}

type Of<T> = Expr<Row, T>;

impl Maker<'_> {
    fn small(&mut self) -> i32 {
        i32::try_from(self.random.below(7)).unwrap() - 2
    }

    fn unit(&mut self) -> Unit {
        *self.random.pick(&UNITS)
    }

    fn real(&mut self, depth: usize) -> Of<Option<f64>> {
        if depth == 0 || self.random.one_in(5) {
            return match self.random.below(3) {
                0 => self.row.whole.expr().to_double(),
                1 => literal(Some(f64::from(self.small()) / 2.0)),
                _ => self.row.real.expr(),
            };
        }
        let depth = depth - 1;
        match self.random.below(16) {
            0 => self.real(depth) + self.real(depth),
            1 => self.real(depth) - self.real(depth),
            2 => self.real(depth) * self.real(depth),
            3 => self.real(depth).abs(),
            4 => self.real(depth).ceil(),
            5 => self.real(depth).floor(),
            6 => self.real(depth).trunc_number(1),
            7 => self.real(depth) / self.real(depth).or(1.0),
            8 => if_(self.truth(depth), self.real(depth), self.real(depth)),
            9 => self.list(depth).avg(),
            10 => self.list(depth).max_item(),
            11 => self.list(depth).first_item(),
            12 => {
                let position = self.small();
                self.list(depth).at(position)
            }
            13 => self.real(depth) % 3.0,
            14 => self.whole(depth).to_double(),
            _ => self.row.real.expr() + self.list(depth).sum(),
        }
    }

    fn whole(&mut self, depth: usize) -> Of<Option<i64>> {
        if depth == 0 || self.random.one_in(5) {
            return match self.random.below(3) {
                0 => literal(Some(i64::from(self.small()))),
                1 => self.row.id.expr().to_long() + self.row.whole.expr(),
                _ => self.row.whole.expr(),
            };
        }
        let depth = depth - 1;
        match self.random.below(8) {
            0 => self.whole(depth) + self.whole(depth),
            1 => self.whole(depth) * self.small(),
            2 => {
                let text = self.text(depth);
                self.row.whole.expr() + text.or("x").char_count()
            }
            3 => {
                let size = self.list(depth).size();
                self.row.whole.expr() - size
            }
            4 => {
                let (start, end, unit) = (self.date(depth), self.date(depth), self.unit());
                start.until(end, unit)
            }
            5 => {
                let month = self.date(depth).month();
                self.row.whole.expr() + month
            }
            6 => cases(self.truth(depth), self.whole(depth))
                .case(self.truth(depth), self.whole(depth))
                .otherwise(self.whole(depth)),
            _ => self.whole(depth).abs(),
        }
    }

    fn text(&mut self, depth: usize) -> Of<Option<String>> {
        if depth == 0 || self.random.one_in(4) {
            return match self.random.below(2) {
                0 => {
                    let name = *self.random.pick(&NAMES);
                    literal(Some(name.to_owned()))
                }
                _ => self.row.name.expr(),
            };
        }
        let depth = depth - 1;
        match self.random.below(6) {
            0 => self.text(depth).concat(self.text(depth)),
            1 => self.text(depth).replace_all("a", "bb"),
            2 => self.text(depth).trim(),
            3 => self.date(depth).format("%Y-%m-%dT%H"),
            4 => {
                let zone = ["Europe/Berlin", "+05:30", "UTC"][self.random.below(3)];
                self.date(depth).in_zone(zone).format("%G-%V")
            }
            _ => if_(self.truth(depth), self.text(depth), self.text(depth)),
        }
    }

    fn date(&mut self, depth: usize) -> Of<Option<DateTime>> {
        if depth == 0 || self.random.one_in(3) {
            return self.row.at.expr();
        }
        let depth = depth - 1;
        let unit = self.unit();
        match self.random.below(3) {
            0 => self.date(depth).trunc(unit),
            1 => {
                let amount = self.small();
                self.date(depth).add_time(amount, unit)
            }
            _ => if_(self.truth(depth), self.date(depth), self.date(depth)),
        }
    }

    fn list(&mut self, depth: usize) -> Of<Vec<f64>> {
        if depth == 0 || self.random.one_in(3) {
            return self.row.list.expr();
        }
        let depth = depth - 1;
        match self.random.below(7) {
            0 => self.list(depth).reversed(),
            1 => {
                let count = self.small().max(1);
                self.list(depth).slice(count)
            }
            2 => {
                let factor = f64::from(self.small());
                self.list(depth).map(|one| one * factor)
            }
            3 => {
                let least = f64::from(self.small());
                self.list(depth).filter(|one| one.expr().gte(least))
            }
            4 => self.list(depth).concat_list(self.list(depth)),
            5 => {
                let least = self.real(depth);
                self.list(depth).filter(|one| one.expr().gt(least))
            }
            _ => if_(self.truth(depth), self.list(depth), self.list(depth)),
        }
    }

    fn truth(&mut self, depth: usize) -> Of<bool> {
        if depth == 0 {
            return self.row.flag.expr().or(false);
        }
        let depth = depth - 1;
        match self.random.below(11) {
            0 => self.real(depth).gt(self.real(depth)),
            1 => self.whole(depth).lte(self.whole(depth)),
            2 => self.text(depth).eq(self.text(depth)),
            3 => self.date(depth).lt(self.date(depth)),
            4 => self.truth(depth) & self.truth(depth),
            5 => self.truth(depth) | self.truth(depth),
            6 => !self.truth(depth),
            7 => self.real(depth).is_null(),
            8 => self.text(depth).or("").matches("^a", "i"),
            9 => {
                let least = f64::from(self.small());
                self.list(depth).any(|one| one.expr().gt(least))
            }
            _ => self.list(depth).contains(f64::from(self.small())),
        }
    }
}

/// A row with the number of those that a `$graphLookup` reached, and their greatest values.
macro_rules! reached {
    ($row:ident, $found:ident) => {
        output!(Row {
            id: $row.id,
            name: $found.expr().map(|one| one.name).max_item().or($row.name),
            real: $found.expr().map(|one| one.id).sum() + $row.real,
            whole: $found.expr().size(),
            at: $row.at,
            list: $row.list,
            flag: $row.flag,
            parent: $row.parent,
        })
    };
}

fn by_id<M>(rows: Pipeline<M, Row>) -> Pipeline<M, Row> {
    rows.sort(|r| r.id.asc())
}

/// Adds a stage; the documents are always in the order of their ids.
fn stage(random: &mut Random, rows: Rows) -> Rows {
    let fields = odm::query::fields::<Row>;
    let mut maker = Maker {
        random,
        row: fields(),
    };
    match maker.random.below(15) {
        0 => {
            let truth = maker.truth(3);
            rows.match_(|_| Filter::expr(truth))
        }
        1 => {
            let least = f64::from(maker.small());
            rows.match_(|r| r.real.gte(least) | r.list.any().gt(least) | r.name.eq("a"))
        }
        2 => {
            let (skip, limit) = (maker.random.below(3), 1 + maker.random.below(20));
            rows.skip(u32::try_from(skip).unwrap())
                .limit(u32::try_from(limit).unwrap())
        }
        3 => {
            let (name, real, whole) = (maker.text(3), maker.real(3), maker.whole(3));
            let (at, list, flag) = (maker.date(3), maker.list(2), maker.truth(3));
            rows.project(|r| {
                output!(Row {
                    id: r.id,
                    name: name,
                    real: real,
                    whole: whole,
                    at: at,
                    list: list,
                    flag: flag,
                    parent: r.parent,
                })
            })
        }
        4 => {
            let (key, real, whole) = (maker.text(2), maker.real(2), maker.whole(2));
            let truth = maker.truth(2);
            rows.group_by(
                |_| key,
                |r, group| {
                    output!(Row {
                        id: group.min(&r.id),
                        name: group.key(),
                        real: group.avg(real) + group.count(),
                        whole: group.max(whole),
                        at: group.first(r.at),
                        list: group.first_n(3, r.real.expr().or(0.0)),
                        flag: group.last(truth),
                        parent: group.last(r.parent),
                    })
                },
            )
        }
        5 => {
            let key = maker.whole(2);
            rows.bucket(
                |_| key,
                [-2, 0, 3],
                |r, range| {
                    output!(Row {
                        id: range.min(&r.id),
                        name: range.max(r.name),
                        real: range.sum(r.real),
                        whole: range.key(),
                        at: range.min(r.at),
                        list: range.push(r.whole.expr().or(0).to_double()),
                        flag: range.top(r.id.desc(), r.flag),
                        parent: range.first(r.parent),
                    })
                },
            )
        }
        6 => {
            let (key, real) = (maker.text(1), maker.real(2));
            let from = -i64::from(maker.small().max(0));
            rows.set_window_fields(
                |r| partition_by(key).sort(r.id.asc()),
                |r, w| {
                    output!(Row {
                        id: r.id,
                        name: r.name,
                        real: w.documents(from..=1).avg(&real) + w.documents(..=0).sum(&real),
                        whole: w.rank() + r.whole.expr(),
                        at: w.shift(&r.at, -1),
                        list: w.documents(..).last_n(2, r.real.expr().or(1.0)),
                        flag: w.documents(-1..=0).max(r.flag),
                        parent: r.parent,
                    })
                },
            )
        }
        7 => rows.unwind_or_none(|r| r.list).group_by(
            |(r, _)| r.id,
            |(r, one), group| {
                output!(Row {
                    id: group.key(),
                    name: group.first(r.name),
                    real: group.max(&one),
                    whole: group.first(r.whole),
                    at: group.first(r.at),
                    list: group.push(one.expr().or(-1.0)),
                    flag: group.first(r.flag),
                    parent: group.first(r.parent),
                })
            },
        ),
        8 => rows
            .lookup_with(|r| r.children, |children| by_id(children).limit(3))
            .project(|(r, children)| {
                output!(Row {
                    id: r.id,
                    name: r.name,
                    real: children.expr().map(|child| child.id).avg(),
                    whole: children.expr().size(),
                    at: r.at,
                    list: children.expr().map(|child| child.real.expr().or(0.0)),
                    flag: r.flag,
                    parent: r.parent,
                })
            }),
        9 => rows.lookup_or_none(|r| r.parent).project(|(r, parent)| {
            output!(Row {
                id: r.id,
                name: parent.name,
                real: r.real.expr() - parent.real,
                whole: r.whole,
                at: parent.at,
                list: r.list,
                flag: parent.flag,
                parent: parent.parent,
            })
        }),
        10 => {
            let truth = maker.truth(2);
            let parts = rows.facet(|rows| {
                let few = by_id(rows.clone().match_(|_| Filter::expr(truth))).limit(5);
                facets!(Parts {
                    rows: by_id(rows.clone()),
                    total: rows.count(),
                    few: few,
                })
            });
            parts.unwind(|parts| parts.rows).project(|(parts, row)| {
                output!(Row {
                    id: row.id,
                    name: row.name,
                    real: parts.total.expr().map(|total| total.count).sum() * row.real,
                    whole: parts.few.expr().size(),
                    at: row.at,
                    list: parts.few.expr().map(|few| few.real.expr().or(0.0)),
                    flag: row.flag,
                    parent: row.parent,
                })
            })
        }
        11 => {
            // The order of equal ids is not certain, so they become one document again.
            let truth = maker.truth(2);
            let others = pipeline::<Row>().match_(|_| Filter::expr(truth));
            rows.union_with(others).group_by(
                |r| r.id,
                |r, group| {
                    output!(Row {
                        id: group.key(),
                        name: group.min(r.name),
                        real: group.max(r.real),
                        whole: group.count(),
                        at: group.max(r.at),
                        list: group.max(r.list),
                        flag: group.max(r.flag),
                        parent: group.min(r.parent),
                    })
                },
            )
        }
        12 => rows
            .graph_lookup(|r| r.parent)
            .project(|(r, above)| reached!(r, above)),
        13 => {
            let depth = u32::try_from(maker.random.below(3)).unwrap();
            let least = f64::from(maker.small());
            rows.graph_lookup_within(|r| r.children, depth, |r| r.real.gte(least))
                .project(|(r, below)| reached!(r, below))
        }
        _ => {
            let value = maker.real(2);
            rows.add_field(|_| value)
                .sort(|(r, value)| value.desc().then(r.id.asc()))
                .limit(12)
                .replace_with(|_| odm::expr::raw_expr::<_, Row>("$$ROOT"))
        }
    }
}

/// The results, or the code of the failure.
type Outcome = Result<Vec<BsonDocument>, Option<i32>>;

async fn outcome(rows: &Collection<Row>, pipeline: Rows) -> Outcome {
    let found = rows
        .aggregate(pipeline)
        .with_type::<BsonDocument>()
        .all()
        .await;
    found.map_err(|error| error.code().map(odm::error::Code::number))
}

/// The value with all numbers as doubles: of equal numbers, mongod's two engines take different ones for the greatest.
fn plain(value: &Bson) -> Bson {
    match value {
        Bson::Int32(number) => plain(&Bson::Double(f64::from(*number))),
        #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
        Bson::Int64(number) => plain(&Bson::Double(*number as f64)),
        Bson::Double(number) if *number == 0.0 => Bson::Double(0.0),
        // mongod adds and multiplies in another order where one sum or product is within another.
        Bson::Double(number) if is_long() => Bson::String(format!("{number:.11e}")),
        Bson::Array(items) => items.iter().map(plain).collect(),
        Bson::Document(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, field)| (name.clone(), plain(field)));
            Bson::Document(fields.collect())
        }
        other => other.clone(),
    }
}

/// Whether other pipelines are drawn than the fixed ones.
fn is_long() -> bool {
    std::env::var_os("ODM_RANDOM_PIPELINES").is_some()
}

/// The first results that differ.
fn difference(found: &Outcome, expected: &Outcome) -> Option<String> {
    let shown = |one: Option<&BsonDocument>| one.map(|one| format!("{:?}", plain(&one.into())));
    if let (Ok(found), Ok(expected)) = (found, expected) {
        let most = found.len().max(expected.len());
        let pairs = (0..most).map(|at| (shown(found.get(at)), shown(expected.get(at))));
        let mut different = pairs.filter(|(one, other)| one != other);
        return different.next().map(|pair| format!("{pair:?}"));
    }
    // In a long run: mongod leaves out more of what no result depends on, and what would fail in it.
    if found.is_ok() && expected.is_err() && is_long() {
        return None;
    }
    // MongoDB leaves open which of several failures it reports.
    let lengths = |outcome: &Outcome| outcome.as_ref().map(Vec::len).map_err(|code| *code);
    let (found, expected) = (lengths(found), lengths(expected));
    (found.is_ok() != expected.is_ok()).then(|| format!("{found:?}, not {expected:?}"))
}

async fn generated_pipelines_have_the_results_of_the_engine(db: &Db) {
    let mut random = Random::unless_set("ODM_RANDOM_PIPELINES", 35);
    let engine = Db::memory();
    let insert = doc! {"insert": "rows", "documents": documents(&mut random)};
    for db in [db, &engine] {
        db.run_command(insert.clone()).await.unwrap();
    }
    let (ours, theirs) = (engine.collection::<Row>(), db.collection::<Row>());
    let mut succeeded = 0;
    let cases = count("ODM_RANDOM_PIPELINES", 150);
    for number in 0..cases {
        let mut rows = by_id(pipeline::<Row>());
        for _ in 0..=random.below(4) {
            rows = by_id(stage(&mut random, rows));
        }
        let sent = rows.to_stages().unwrap();
        let expected = outcome(&ours, rows.clone()).await;
        let found = outcome(&theirs, rows).await;
        succeeded += usize::from(found.is_ok());
        if let Some(difference) = difference(&found, &expected) {
            panic!("case {number}: {difference}\nof {}", Bson::from(sent));
        }
    }
    assert!(succeeded > cases / 2, "{succeeded} of {cases} succeeded");
}

/// A pipeline of random stages that ends with documents to keep: several times the same rows, in any case.
fn kept(random: &mut Random) -> Pipeline<Row, Kept> {
    let mut rows = by_id(pipeline::<Row>());
    for _ in 0..random.below(3) {
        rows = by_id(stage(random, rows));
    }
    let most = i32::try_from(random.below(12)).unwrap();
    rows.match_(|r| r.id.gte(most)).group_by(
        |r| r.id.expr() % 10,
        |r, group| {
            output!(Kept {
                id: group.key(),
                name: group.max(r.name),
                whole: group.count() * 2,
                count: group.count(),
            })
        },
    )
}

async fn written(db: &Db, kept: Pipeline<Row, Kept>, how: Option<WhenMatched>) -> Outcome {
    let rows = db.collection::<Row>();
    let kept = match how {
        Some(matched) => kept.merge(matched),
        None => kept.out(),
    };
    let result = rows.aggregate(kept).all().await;
    let found = db.collection::<Kept>().find_all().sort(|k| k.id.asc());
    let found = found.with_type::<BsonDocument>().all().await;
    match result {
        Ok(_) => found.map_err(|error| error.code().map(odm::error::Code::number)),
        Err(error) => Err(error.code().map(odm::error::Code::number)),
    }
}

async fn generated_pipelines_write_what_they_write_in_the_engine(db: &Db) {
    let mut random = Random::unless_set("ODM_RANDOM_PIPELINES", 36);
    let engine = Db::memory();
    let insert = doc! {"insert": "rows", "documents": documents(&mut random)};
    for db in [db, &engine] {
        db.run_command(insert.clone()).await.unwrap();
    }
    let ways = [
        None,
        Some(WhenMatched::Merge(WhenNotMatched::Insert)),
        Some(WhenMatched::Merge(WhenNotMatched::Discard)),
        Some(WhenMatched::Replace(WhenNotMatched::Insert)),
        Some(WhenMatched::Replace(WhenNotMatched::Discard)),
        Some(WhenMatched::KeepExisting),
    ];
    let mut succeeded = 0;
    let cases = count("ODM_RANDOM_PIPELINES", 60);
    for number in 0..cases {
        let how = *random.pick(&ways);
        let kept = kept(&mut random);
        let sent = kept.to_stages().unwrap();
        let expected = written(&engine, kept.clone(), how).await;
        let found = written(db, kept, how).await;
        succeeded += usize::from(found.is_ok());
        if let Some(difference) = difference(&found, &expected) {
            panic!(
                "case {number}, {how:?}: {difference}\nof {}",
                Bson::from(sent)
            );
        }
        if found.is_ok() != expected.is_ok() {
            // The stores go on from the same documents.
            for db in [db, &engine] {
                db.collection::<Kept>().delete_all().await.unwrap();
            }
        }
    }
    assert!(succeeded > cases / 2, "{succeeded} of {cases} succeeded");
}
