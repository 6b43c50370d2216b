//! The steps from an existing view to the declared one.

use bson::{Bson, Document, doc};

use crate::error::Result;
use crate::model::{ModelMeta, ViewMeta};
use crate::plan::shell;
use crate::schema::indexes::collation;
use crate::schema::normal::{self, NormalOptions};
use crate::schema::validator::declaration;
use crate::store::CollectionNames;

/// The stages that write, which MongoDB refuses in views.
const WRITES: [&str; 2] = ["$merge", "$out"];

/// The options of `create` for a view.
pub(super) fn options(
    meta: &'static ModelMeta,
    view: &ViewMeta,
    names: &CollectionNames,
) -> Result<Document> {
    meta.depth_of_view()?;
    let on = (view.on)();
    if on.view.is_some() && !same_collation(meta, on) {
        return Err(declaration(format!(
            "`{}` reads the view `{}`, and MongoDB requires that views which read each other have one collation: declare the same \
             `collation(…)` on both",
            meta.name, on.name,
        ))
        .with_model(meta.name));
    }
    let pipeline = (view.pipeline)(&|declared| names.of(declared).to_string());
    let pipeline = pipeline.map_err(|error| error.with_model(meta.name))?;
    for (position, stage) in pipeline.iter().enumerate() {
        if let Some(writes) = WRITES.iter().find(|name| stage.contains_key(name)) {
            return Err(declaration(format!(
                "stage {} of the view is {writes}, and a view only reads: run it by `aggregate`",
                position + 1,
            ))
            .with_model(meta.name));
        }
    }
    let mut options = doc! {"viewOn": names.of(on.collection), "pipeline": pipeline};
    if let Some(one) = &meta.collation {
        options.insert("collation", collation::document(one));
    }
    Ok(options)
}

fn same_collation(one: &ModelMeta, other: &ModelMeta) -> bool {
    let read = |meta: &ModelMeta| {
        let declared = meta.collation.as_ref().map(collation::document);
        let options = declared.map_or_else(Document::new, |it| doc! {"collation": it});
        NormalOptions::read(&options).collation
    };
    read(one) == read(other)
}

/// How a view differs from the declared one.
pub(super) struct Differences {
    /// What `collMod` changes, and the command without its first field.
    pub(super) changed: Vec<String>,
    pub(super) change: Document,
    /// The collation, which is fixed when a view is created.
    pub(super) fixed: Option<String>,
}

/// Compares the options of a view with the declared ones.
pub(super) fn differences(is: &Document, wanted: &Document) -> Differences {
    let mut changed = Vec::new();
    let on = |options: &Document| options.get_str("viewOn").unwrap_or_default().to_owned();
    let (is_on, wanted_on) = (on(is), on(wanted));
    if is_on != wanted_on {
        changed.push(format!("it is on `{is_on}`, declared on `{wanted_on}`"));
    }
    changed.extend(stages(&pipeline(is), &pipeline(wanted)));
    // A `collMod` without one of the two keeps it, but both read as a definition.
    let change = doc! {"viewOn": wanted_on, "pipeline": pipeline(wanted)};
    let show = |collation: &Option<Document>| {
        collation
            .as_ref()
            .map_or("simple".to_owned(), shell::document)
    };
    let (is, wanted) = (
        NormalOptions::read(is).collation,
        NormalOptions::read(wanted).collation,
    );
    let fixed = (is != wanted).then(|| {
        format!(
            "collation is {}, declared {}: it is fixed when a view is created",
            show(&is),
            show(&wanted),
        )
    });
    Differences {
        changed,
        change,
        fixed,
    }
}

fn pipeline(options: &Document) -> Vec<Bson> {
    options.get_array("pipeline").cloned().unwrap_or_default()
}

/// The stages that differ, by their position.
fn stages(is: &[Bson], wanted: &[Bson]) -> Vec<String> {
    let same = |one: &Bson, other: &Bson| {
        normal::same(&doc! {"stage": one.clone()}, &doc! {"stage": other.clone()})
    };
    let mut differences = Vec::new();
    for position in 0..is.len().max(wanted.len()) {
        let number = position + 1;
        match (is.get(position), wanted.get(position)) {
            (Some(is), Some(wanted)) if same(is, wanted) => {}
            (Some(is), Some(wanted)) => differences.push(format!(
                "stage {number} is {}, declared {}",
                shell::value(is),
                shell::value(wanted),
            )),
            (Some(is), None) => {
                differences.push(format!(
                    "stage {number} is {}, declared none",
                    shell::value(is)
                ));
            }
            (None, wanted) => differences.push(format!(
                "there is no stage {number}, declared {}",
                wanted.map(shell::value).unwrap_or_default(),
            )),
        }
    }
    differences
}
