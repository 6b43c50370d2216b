//! What `Db::advise` returns.

use std::fmt;

use bson::{Bson, Document, doc};

use super::AdviceCode;
use crate::types::json::text::to_relaxed_text;

/// The advice about a database and its models: [`Db::advise`](crate::Db::advise).
///
/// It holds names, numbers and no values of documents, so that it can be logged and kept.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct AdviceReport {
    /// The advice, by models in the order in which they were named; what concerns the database comes last.
    pub advice: Vec<Advice>,
    /// The models whose documents were read.
    pub sampled: Vec<SampledModel>,
    /// What could not be examined, and why: collections that do not exist, statistics that the server refuses.
    pub not_examined: Vec<String>,
}

/// How many documents of a model were read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampledModel {
    /// The Rust name of the model.
    pub model: &'static str,
    /// The name of the collection.
    pub collection: String,
    /// How many documents were read.
    pub documents: u64,
    /// How many documents the collection has.
    pub of: u64,
}

/// Something that the data suggests to change.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Advice {
    /// What it is about.
    pub code: AdviceCode,
    /// The Rust name of the model, unless it concerns a collection without a model, or the database.
    pub model: Option<&'static str>,
    /// The name of the collection, unless it concerns the database.
    pub collection: Option<String>,
    /// The stored path of the field, if it concerns one. `*` stands for the keys of a map.
    pub path: Option<String>,
    /// The name of the index, if it concerns one.
    pub index: Option<String>,
    /// The numbers that the advice comes from, by their names, such as `p99` and `max`. Numbers are of type `long`; what
    /// counts since a time has a date.
    pub figures: Document,
    /// What was found, with the figures.
    pub message: String,
    /// What to write.
    pub remedy: String,
}

impl AdviceReport {
    /// Whether there is no advice. What was [not examined](Self::not_examined) may still hide some.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/advice.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = playlists().await?;
    /// assert!(!db.advise(models![Playlist]).await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_empty(&self) -> bool {
        self.advice.is_empty()
    }

    /// The report as lines of relaxed Extended JSON, for machines: an object for each piece of advice, then one
    /// `{"sampled": {…}}` for each model and one `{"not_examined": "…"}` for each thing that was not examined.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/advice.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = playlists().await?;
    /// let lines = db.advise(models![Playlist]).await?.to_json_lines();
    /// let first = lines.lines().next().ok_or("no advice")?;
    /// assert!(first.contains(r#""code":"unbounded-array""#) && first.contains(r#""path":"songs""#));
    /// let last = lines.lines().last().ok_or("no sample")?;
    /// assert!(last.starts_with(r#"{"sampled":{"#) && last.contains(r#""documents":20"#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn to_json_lines(&self) -> String {
        let sampled = self.sampled.iter().map(|one| {
            doc! {"sampled": {
                "model": one.model,
                "collection": &one.collection,
                "documents": number(one.documents),
                "of": number(one.of),
            }}
        });
        let not_examined = self.not_examined.iter();
        let not_examined = not_examined.map(|text| doc! {"not_examined": text});
        let advice = self.advice.iter().map(Advice::to_document);
        let mut lines = String::new();
        for object in advice.chain(sampled).chain(not_examined) {
            lines.push_str(&to_relaxed_text(&object));
            lines.push('\n');
        }
        lines
    }
}

impl SampledModel {
    /// Whether the advice is about this model.
    fn is_of(&self, advice: &Advice) -> bool {
        advice.model == Some(self.model)
            && advice.collection.as_deref() == Some(self.collection.as_str())
    }
}

impl Advice {
    fn to_document(&self) -> Document {
        let mut object = doc! {"code": self.code.as_str()};
        let names = [
            ("model", self.model),
            ("collection", self.collection.as_deref()),
            ("path", self.path.as_deref()),
            ("index", self.index.as_deref()),
        ];
        for (name, value) in names {
            if let Some(value) = value {
                object.insert(name, value);
            }
        }
        object.extend(doc! {
            "figures": &self.figures,
            "message": &self.message,
            "remedy": &self.remedy,
        });
        object
    }
}

/// The advice by models, each with its remedy; then what was not examined.
impl fmt::Display for AdviceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for one in &self.sampled {
            let SampledModel {
                model,
                collection,
                documents,
                of,
            } = one;
            writeln!(
                f,
                "{model} (`{collection}`): {documents} of {of} documents sampled"
            )?;
            let advice = self.advice.iter();
            for advice in advice.filter(|advice| one.is_of(advice)) {
                writeln!(f, "{advice}")?;
            }
        }
        let is_sampled = |advice: &Advice| self.sampled.iter().any(|one| one.is_of(advice));
        let mut others = self.advice.iter().filter(|advice| !is_sampled(advice));
        if let Some(first) = others.next() {
            writeln!(f, "the database:")?;
            for advice in std::iter::once(first).chain(others) {
                writeln!(f, "{advice}")?;
            }
        }
        for text in &self.not_examined {
            writeln!(f, "not examined: {text}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {}: {}", self.code, self.message)?;
        write!(f, "\n      {}", self.remedy)
    }
}

pub(super) fn number(value: u64) -> Bson {
    Bson::Int64(i64::try_from(value).unwrap_or(i64::MAX))
}

/// A size for messages: `812 bytes`, `14.2 MiB`.
pub(super) fn size(bytes: u64) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = KIB * KIB;
    const GIB: u64 = KIB * MIB;
    let (unit, name) = match bytes {
        0..KIB => return format!("{bytes} bytes"),
        KIB..MIB => (KIB, "KiB"),
        MIB..GIB => (MIB, "MiB"),
        _ => (GIB, "GiB"),
    };
    let tenths = bytes.saturating_mul(10) / unit;
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

/// How many hundredths of `whole` the part is; 0 of nothing.
pub(super) fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100).checked_div(whole).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let sizes = [0, 1023, 1024, 1_500_000, 16 * 1024 * 1024].map(size);
        assert_eq!(
            sizes,
            ["0 bytes", "1023 bytes", "1.0 KiB", "1.4 MiB", "16.0 MiB"]
        );
        assert_eq!((percent(1, 3), percent(1, 0)), (33, 0));
    }
}
