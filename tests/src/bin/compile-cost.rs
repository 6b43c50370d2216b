//! What the derives cost the compiler: 50 models of 11 fields, with serde's derives alone and with
//! odm's beside them.
//!
//! `cargo run -p odm-tests --bin compile-cost [-- ROUNDS]`. The two crates are built in turn, several
//! rounds in one run, so that a busy machine disturbs both; the smallest processor time (user and
//! system, of cargo and rustc) of each counts. Linux only: it reads `/proc/self/stat`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

const MODELS: usize = 50;

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

fn main() -> io::Result<()> {
    let rounds: usize = env::args()
        .nth(1)
        .map_or(Ok(5), |rounds| rounds.parse())
        .map_err(io::Error::other)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let place = target.join("compile-cost");
    let serde = write(&root, &place.join("serde-alone"), false)?;
    let odm = write(&root, &place.join("serde-and-odm"), true)?;
    for verb in ["check", "build"] {
        for package in [&serde, &odm] {
            measure(package, &place, verb)?;
        }
        let (mut alone, mut both) = (f64::MAX, f64::MAX);
        for _ in 0..rounds {
            alone = alone.min(measure(&serde, &place, verb)?);
            both = both.min(measure(&odm, &place, verb)?);
        }
        report(&format!(
            "cargo {verb}, {MODELS} models of {} fields: serde {alone:.2} s, serde and odm {both:.2} s of processor time: {:.2} times",
            FIELDS.len(),
            both / alone
        ));
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a report is what this program is for")]
fn report(line: &str) {
    println!("{line}");
}

/// Writes one of the two crates.
fn write(root: &Path, package: &Path, odm: bool) -> io::Result<PathBuf> {
    fs::create_dir_all(package.join("src"))?;
    let mut manifest = String::from(
        "[package]\nname = \"models\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\nserde = { version = \"1\", features = [\"derive\"] }\n",
    );
    let mut source = String::from("use serde::{Deserialize, Serialize};\n");
    if odm {
        let path = root.join("odm");
        let _ = writeln!(
            manifest,
            "odm = {{ package = \"mongodb-odm\", path = \"{}\", default-features = false, features = [\"memory\"] }}",
            path.display()
        );
    }
    for model in 0..MODELS {
        source.push_str(if odm {
            "\n#[derive(Serialize, Deserialize, odm::Document)]\n"
        } else {
            "\n#[derive(Serialize, Deserialize)]\n"
        });
        if odm {
            let _ = writeln!(
                source,
                "#[odm(collection = \"m{model}\", index(title, year = desc))]"
            );
        }
        let _ = writeln!(source, "pub struct Model{model} {{");
        for (ours, serdes, field) in FIELDS {
            let ours = if odm { ours } else { "" };
            let _ = writeln!(source, "    {ours} {serdes} pub {field},");
        }
        source.push_str("}\n");
    }
    fs::write(package.join("Cargo.toml"), manifest)?;
    fs::write(package.join("src/lib.rs"), source)?;
    fs::copy(root.join("Cargo.lock"), package.join("Cargo.lock"))?;
    Ok(package.to_owned())
}

/// Builds a crate anew, its dependencies not; the processor time in seconds.
fn measure(package: &Path, place: &Path, verb: &str) -> io::Result<f64> {
    let source = package.join("src/lib.rs");
    fs::write(&source, fs::read(&source)?)?;
    let before = children()?;
    let status = Command::new(env!("CARGO"))
        .args([verb, "--quiet", "--offline"])
        .current_dir(package)
        .env("CARGO_TARGET_DIR", place.join("target"))
        .env("CARGO_INCREMENTAL", "0")
        .status()?;
    if !status.success() {
        return Err(io::Error::other("the generated crate does not compile"));
    }
    Ok(children()? - before)
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
