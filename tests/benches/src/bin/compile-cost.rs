//! What odm costs the compiler. Three pairs of programs: 50 models with serde's derives alone and with odm's beside them;
//! a service of 20 models with eleven calls each, on the official driver and on odm; and one typed pipeline beside 41 of them.
//!
//! `cargo run -p odm-benches --bin compile-cost [-- ROUNDS]`. The programs of a pair are built in turn, several rounds in
//! one run, so that a busy machine disturbs both; the smallest processor time (user and system, of cargo and rustc) of
//! each counts. Dependencies are built before. Linux only: it reads `/proc/self/stat`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The models of the programs that have nothing else.
const DERIVED: usize = 50;

/// The models of the programs that call something.
const CALLED: usize = 20;

/// How many typed pipelines the larger program has more than the smaller one.
const PIPELINES: usize = 40;

/// The eleven fields of a model: attributes of odm, serde's, the field.
const FIELDS: [(&str, &str, &str); 11] = [
    ("", "#[serde(rename = \"_id\")]", "id: i32"),
    ("#[odm(length(min = 1, max = 200))]", "", "title: String"),
    ("#[odm(range(min = 1450))]", "", "year: i32"),
    ("#[odm(index)]", "", "author: String"),
    ("", "", "available: i64"),
    ("", "", "rating: Option<f64>"),
    ("", "", "in_print: bool"),
    ("", "", "tags: Vec<String>"),
    ("", "", "publisher: String"),
    ("", "", "subtitle: Option<String>"),
    ("", "", "pages: u32"),
];

/// The calls of one model on the official driver. `N` stands for the number of the model.
const DRIVER_CALLS: &str = r#"
async fn callsN(db: &mongodb::Database) -> mongodb::error::Result<u64> {
    let models = db.collection::<ModelN>("mN");
    let found = models.find(doc! {"year": {"$gte": 1900}}).sort(doc! {"title": 1}).limit(10).await?;
    let found: Vec<ModelN> = found.try_collect().await?;
    models.insert_many(&found).await?;
    if let Some(one) = models.find_one(doc! {"title": "Emma"}).await? {
        models.insert_one(&one).await?;
        models.replace_one(doc! {"_id": one.id}, &one).await?;
    }
    models.update_one(doc! {"_id": 1}, doc! {"$set": {"rating": 4.5}}).await?;
    let changes = doc! {"$inc": {"available": 1_i64}, "$push": {"tags": "new"}};
    models.update_many(doc! {"in_print": true}, changes).await?;
    models.delete_one(doc! {"_id": 2}).await?;
    models.delete_many(doc! {"year": {"$lt": 1500}}).await?;
    let mut pages = 0;
    let mut stream = models.find(doc! {"publisher": "Penguin"}).await?;
    while let Some(model) = stream.try_next().await? {
        pages += u64::from(model.pages);
    }
    Ok(models.count_documents(doc! {"author": "Austen"}).await? + pages)
}
"#;

/// The same calls on odm.
const ODM_CALLS: &str = r#"
async fn callsN(db: &odm::Db) -> odm::Result<u64> {
    let models = db.collection::<ModelN>();
    let found = models.find(|m| m.year.gte(1900)).sort(|m| m.title.asc()).limit(10).all().await?;
    models.insert_many(&found).await?;
    if let Some(one) = models.find_one(|m| m.title.eq("Emma")).await? {
        models.insert_one(&one).await?;
        models.replace_one(|m| m.id.eq(one.id), &one).await?;
    }
    models.update_one(|m| m.id.eq(1), |m| m.rating.set(4.5)).await?;
    let change = models.update_many(|m| m.in_print.eq(true), |m| m.available.inc(1) & m.tags.push("new"));
    change.await?;
    models.delete_one(|m| m.id.eq(2)).await?;
    models.delete_many(|m| m.year.lt(1500)).await?;
    let mut pages = 0;
    let mut stream = models.find(|m| m.publisher.eq("Penguin")).await?;
    while let Some(model) = stream.next().await.transpose()? {
        pages += u64::from(model.pages);
    }
    Ok(models.count_documents(|m| m.author.eq("Austen")).await? + pages)
}
"#;

/// The models and the results of typed pipelines.
const PIPELINE_MODELS: &str = r#"use odm::output;
use odm::pipeline::{Pipeline, partition_by, pipeline};
use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "products")]
pub struct Product {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    stock: i32,
}

#[derive(Serialize, Deserialize, Embedded)]
pub struct Line {
    product: Ref<Product>,
    price: f64,
    quantity: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
pub struct Order {
    #[serde(rename = "_id")]
    id: i32,
    customer: String,
    at: DateTime,
    #[odm(embed(few, max = 100))]
    lines: Vec<Line>,
    total: f64,
}

#[derive(Serialize, Deserialize, Embedded)]
pub struct Day {
    day: String,
    title: String,
    pieces: i64,
    turnover: f64,
    mean: Option<f64>,
}

#[derive(Serialize, Deserialize, Embedded)]
pub struct Ranked {
    day: String,
    title: String,
    until_then: f64,
    rank: i64,
}
"#;

/// A typed pipeline of ten stages. `N` stands for its number.
const PIPELINE: &str = r#"
pub fn pipelineN() -> Pipeline<Order, Ranked> {
    pipeline::<Order>()
        .match_(|o| o.id.gt(N) & o.customer.ne("Ada"))
        .sort(|o| o.at.desc())
        .limit(1000)
        .unwind(|o| o.lines)
        .lookup_one(|(_, line)| line.product)
        .match_(|((_, line), product)| line.quantity.gt(0) & product.stock.gt(0))
        .group_by(
            |((order, _), _)| order.at.expr().in_zone("Europe/Berlin").format("%Y-%m-%d"),
            |((order, line), product), group| {
                output!(Day {
                    day: group.key(),
                    title: group.max(product.title),
                    pieces: group.sum(&line.quantity),
                    turnover: group.sum(&line.price * &line.quantity),
                    mean: group.avg(order.total),
                })
            },
        )
        .match_(|day| day.pieces.gt(N))
        .set_window_fields(
            |day| partition_by(day.title).sort(day.day.asc()),
            |day, w| {
                output!(Ranked {
                    day: day.day,
                    title: day.title,
                    until_then: w.documents(..=0).sum(&day.turnover),
                    rank: w.rank(),
                })
            },
        )
        .sort(|r| r.rank.asc().then(r.day.desc()))
}
"#;

/// A generated program.
struct Program {
    folder: PathBuf,
    /// `src/lib.rs` or `src/main.rs`.
    source: PathBuf,
}

/// The target directory of the programs, and the tree whose odm they use.
struct Place {
    root: PathBuf,
    folder: PathBuf,
}

fn main() -> io::Result<()> {
    let rounds: usize = env::args()
        .nth(1)
        .map_or(Ok(5), |rounds| rounds.parse())
        .map_err(io::Error::other)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let folder = target.join("compile-cost");
    let place = Place { root, folder };

    let serde = place.write("serde-alone", "lib.rs", &[SERDE], &models(DERIVED, false))?;
    let odm = place.odm("memory");
    let both = place.write(
        "serde-and-odm",
        "lib.rs",
        &[SERDE, &odm],
        &models(DERIVED, true),
    )?;
    let what = format!("{DERIVED} models of {} fields", FIELDS.len());
    for verb in [&["check"][..], &["build"]] {
        let (alone, both) = place.compare(&serde, &both, verb, rounds)?;
        report(&what, verb, "serde", alone, "serde and odm", both);
    }

    let driver = place.write(
        "calls-driver",
        "main.rs",
        &[SERDE, DRIVER, FUTURES, TOKIO],
        &calls(false),
    )?;
    let odm = place.odm("mongodb");
    let odm = place.write("calls-odm", "main.rs", &[SERDE, &odm, TOKIO], &calls(true))?;
    let what = format!("{CALLED} models with eleven calls each");
    for verb in [&["check"][..], &["build"], &["build", "--release"]] {
        let (driver, odm) = place.compare(&driver, &odm, verb, rounds)?;
        report(&what, verb, "driver", driver, "odm", odm);
    }

    let odm = place.odm("memory");
    let one = place.write("pipeline", "lib.rs", &[SERDE, &odm], &pipelines(1))?;
    let more = pipelines(1 + PIPELINES);
    let more = place.write("pipelines", "lib.rs", &[SERDE, &odm], &more)?;
    for verb in [&["check"][..], &["build"]] {
        let (one, more) = place.compare(&one, &more, verb, rounds)?;
        report_each(
            verb,
            (more - one) / f64::from(u32::try_from(PIPELINES).map_err(io::Error::other)?),
        );
    }
    Ok(())
}

const SERDE: &str = r#"serde = { version = "1", features = ["derive"] }"#;
const TOKIO: &str = r#"tokio = { version = "1", features = ["macros", "rt-multi-thread"] }"#;
const FUTURES: &str = r#"futures = "0.3""#;
/// With the features that odm asks for.
const DRIVER: &str = r#"mongodb = { version = "3.9", default-features = false, features = ["bson-3", "compat-3-3-0", "rustls-tls"] }"#;

#[expect(clippy::print_stdout, reason = "a report is what this program is for")]
fn report(what: &str, verb: &[&str], name: &str, one: f64, other_name: &str, other: f64) {
    println!(
        "cargo {}, {what}: {name} {one:.2} s, {other_name} {other:.2} s of processor time: {:.2} times",
        verb.join(" "),
        other / one
    );
}

#[expect(clippy::print_stdout, reason = "a report is what this program is for")]
fn report_each(verb: &[&str], each: f64) {
    println!(
        "cargo {}, each typed pipeline of ten stages: {each:.3} s of processor time",
        verb.join(" ")
    );
}

/// Typed pipelines.
fn pipelines(count: usize) -> String {
    let mut source = String::from(PIPELINE_MODELS);
    for number in 0..count {
        let number = number.to_string();
        let named = PIPELINE.replace("pipelineN", &format!("pipeline{number}"));
        source += &named.replace("(N)", &format!("({number})"));
    }
    source
}

/// The declarations of models.
fn models(count: usize, odm: bool) -> String {
    let mut source = String::from("use serde::{Deserialize, Serialize};\n");
    for model in 0..count {
        let derives = if odm {
            format!(
                "Serialize, Deserialize, odm::Document)]\n#[odm(collection = \"m{model}\", index(title, year = desc))]"
            )
        } else {
            "Serialize, Deserialize)]".to_owned()
        };
        let _ = writeln!(source, "\n#[derive({derives}\npub struct Model{model} {{");
        for (ours, serdes, field) in FIELDS {
            let ours = if odm { ours } else { "" };
            let _ = writeln!(source, "    {ours} {serdes} pub {field},");
        }
        source.push_str("}\n");
    }
    source
}

/// A service: models, calls, and a `main` that makes all of them.
fn calls(odm: bool) -> String {
    let (imports, result, connect, calls) = if odm {
        (
            "use odm::prelude::*;\n",
            "odm::Result<()>",
            "let db = odm::Db::connect(&uri).await?;",
            ODM_CALLS,
        )
    } else {
        (
            "use futures::TryStreamExt;\nuse mongodb::bson::doc;\n",
            "mongodb::error::Result<()>",
            "let db = mongodb::Client::with_uri_str(uri).await?.database(\"test\");",
            DRIVER_CALLS,
        )
    };
    let mut source = String::from(imports) + &models(CALLED, odm);
    for model in 0..CALLED {
        let number = model.to_string();
        let named = calls.replace("ModelN", &format!("Model{number}"));
        let named = named.replace("callsN", &format!("calls{number}"));
        source += &named.replace("\"mN\"", &format!("\"m{number}\""));
    }
    let _ = writeln!(
        source,
        "\n#[tokio::main]\nasync fn main() -> {result} {{\n    let uri = std::env::args().nth(1).unwrap_or_default();\n    {connect}"
    );
    for model in 0..CALLED {
        let _ = writeln!(source, "    println!(\"{{}}\", calls{model}(&db).await?);");
    }
    source + "    Ok(())\n}\n"
}

impl Place {
    /// The dependency on the tree's odm with one store.
    fn odm(&self, store: &str) -> String {
        let path = self.root.join("odm");
        format!(
            "odm = {{ package = \"mongodb-odm\", path = \"{}\", default-features = false, features = [\"{store}\"] }}",
            path.display()
        )
    }

    /// Writes a program of one file.
    fn write(
        &self,
        name: &str,
        file: &str,
        dependencies: &[&str],
        source: &str,
    ) -> io::Result<Program> {
        let folder = self.folder.join(name);
        let program = Program {
            source: folder.join("src").join(file),
            folder,
        };
        fs::create_dir_all(program.folder.join("src"))?;
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{}\n",
            dependencies.join("\n")
        );
        fs::write(program.folder.join("Cargo.toml"), manifest)?;
        fs::write(&program.source, source)?;
        fs::copy(
            self.root.join("Cargo.lock"),
            program.folder.join("Cargo.lock"),
        )?;
        Ok(program)
    }

    /// The smallest processor times of two programs.
    fn compare(
        &self,
        one: &Program,
        other: &Program,
        verb: &[&str],
        rounds: usize,
    ) -> io::Result<(f64, f64)> {
        // The first builds compile the dependencies.
        self.measure(one, verb)?;
        self.measure(other, verb)?;
        let (mut least, mut other_least) = (f64::MAX, f64::MAX);
        for _ in 0..rounds {
            least = least.min(self.measure(one, verb)?);
            other_least = other_least.min(self.measure(other, verb)?);
        }
        Ok((least, other_least))
    }

    /// Builds a program anew, its dependencies not; the processor time in seconds.
    fn measure(&self, program: &Program, verb: &[&str]) -> io::Result<f64> {
        fs::write(&program.source, fs::read(&program.source)?)?;
        let before = children()?;
        let status = Command::new(env!("CARGO"))
            .args(verb)
            .arg("--quiet")
            .current_dir(&program.folder)
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
            .env("CARGO_INCREMENTAL", "0")
            .status()?;
        if !status.success() {
            return Err(io::Error::other("a generated program does not compile"));
        }
        Ok(children()? - before)
    }
}

/// The processor time of the child processes so far, in seconds.
fn children() -> io::Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The name in parentheses can have spaces; the fields behind it start with the third.
    let ticks: f64 = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(13)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok())
        .sum();
    Ok(ticks / 100.0)
}
