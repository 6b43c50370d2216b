//! The section of the models: what each declares.

use bson::Document;

use super::pieces::{cell, code_cell, link, made, table};
use super::text;
use crate::markup::Markup;
use crate::model::{
    Arity, Guarantee, InverseKind, InverseMeta, ModelMeta, OnDelete, RelationMeta,
    ValidationAction, ValidationLevel,
};
use crate::plan::{documents, shell};
use crate::report::fields::{self, FieldRow};
use crate::report::{DatabaseReport, Part, ReportedModel};

/// Links to the models, for the table of contents.
pub(super) fn write_contents(item: &mut Markup, report: &DatabaseReport) {
    if report.models.is_empty() {
        return;
    }
    item.element("ul").with(|list| {
        for (position, one) in report.models.iter().enumerate() {
            list.element("li").with(|item| {
                link(item, format_args!("#model-{position}"), one.model.name);
            });
        }
    });
}

pub(super) fn write(section: &mut Markup, report: &DatabaseReport) {
    for (position, one) in report.models.iter().enumerate() {
        section
            .element("article")
            .attr("id", format_args!("model-{position}"))
            .with(|article| write_model(article, one, report));
    }
}

fn write_model(article: &mut Markup, one: &ReportedModel, report: &DatabaseReport) {
    article.element("h3").with(|heading| {
        heading.text(one.model.name);
        heading.text(" ");
        heading.element("code").text(&one.collection);
    });
    article.element("p").text(facts(one));
    let headings = ["Field", "Type", "Declared"];
    let rows = fields::rows(one.model);
    table(article, "Fields", &headings, rows, |row, field| {
        write_field(row, &field);
    });
    write_relations(article, one.model, report);
    write_indexes(article, one);
    if one.model.view.is_some() {
        return;
    }
    article.element("details").with(|details| {
        details.element("summary").text("Validator");
        if let Some(validator) = made(details, "The validator", &one.validator) {
            details
                .element("pre")
                .attr("tabindex", 0)
                .text(text::document(validator));
        }
    });
}

/// The options that the model declares for its collection.
fn facts(one: &ReportedModel) -> String {
    let model = one.model;
    let mut facts = vec![match &one.documents {
        Part::Made(count) => documents(*count),
        _ => "an unknown number of documents".to_owned(),
    }];
    if let Some(view) = model.view {
        facts.push(format!("a view on {}", (view.on)().name));
        return facts.join(", ");
    }
    match model.validation_level {
        ValidationLevel::Strict => {}
        ValidationLevel::Moderate => facts.push("validates what was valid before".to_owned()),
        ValidationLevel::Off => facts.push("not validated by MongoDB".to_owned()),
    }
    if model.validation_action == ValidationAction::Warn {
        facts.push("logs invalid documents and stores them".to_owned());
    }
    if model.deny_undeclared {
        facts.push("refuses undeclared fields".to_owned());
    }
    if let Some(capped) = model.capped {
        facts.push(format!("capped at {} bytes", capped.size));
    }
    if let Some(budget) = model.budget {
        let worst = model.worst_case();
        let worst = worst.map_or(String::new(), |bytes| format!(", and can have {bytes}"));
        facts.push(format!("a budget of {} bytes{worst}", budget.max));
    }
    if let Some(collation) = model.collation {
        facts.push(format!("collation {}", collation.locale));
    }
    for tree in model.trees {
        facts.push(format!(
            "a tree by {}",
            words(&format!("{:?}", tree.pattern))
        ));
    }
    facts.join("; ") + "."
}

/// `ChildReferences` as `child references`
fn words(name: &str) -> String {
    let mut words = String::new();
    for one in name.chars() {
        if one.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(one.to_ascii_lowercase());
    }
    words
}

fn write_field(row: &mut Markup, field: &FieldRow) {
    code_cell(row, &field.path);
    code_cell(row, &field.ty);
    let declared = row.element("td").class("wide");
    declared.with(|cell| text::prose(cell, &field.declared.join("; ")));
}

/// A relation as a row.
struct RelationRow {
    name: String,
    kind: String,
    target: &'static ModelMeta,
    details: String,
}

fn write_relations(article: &mut Markup, model: &'static ModelMeta, report: &DatabaseReport) {
    let relations = model.relations();
    if relations.is_empty() {
        return;
    }
    let headings = ["Relation", "Kind", "Leads to", "How"];
    let rows = relations.iter().map(relation_row);
    table(article, "Relations", &headings, rows, |row, relation| {
        code_cell(row, &relation.name);
        cell(row, &relation.kind);
        row.element("td")
            .with(|cell| write_target(cell, relation.target, report));
        let details = row.element("td").class("wide");
        details.with(|cell| text::prose(cell, &relation.details));
    });
}

/// Names a model, with a link if the report has it.
fn write_target(cell: &mut Markup, target: &'static ModelMeta, report: &DatabaseReport) {
    let mut models = report.models.iter();
    match models.position(|one| std::ptr::eq(one.model, target)) {
        Some(position) => link(cell, format_args!("#model-{position}"), target.name),
        None => cell.text(format_args!("{} (not listed)", target.name)),
    }
}

fn relation_row(relation: &RelationMeta) -> RelationRow {
    match relation {
        RelationMeta::Reference(reference) => RelationRow {
            name: reference.name.clone(),
            kind: match reference.arity {
                Arity::One => "a reference to one".to_owned(),
                Arity::AtMostOne => "a reference to at most one".to_owned(),
                Arity::Many { max: Some(max) } => format!("references to at most {max}"),
                Arity::Many { max: None } => "references to many".to_owned(),
            },
            target: reference.target,
            details: format!("stored at `{}`", reference.path),
        },
        RelationMeta::Inverse(inverse) => RelationRow {
            name: inverse.name.to_owned(),
            kind: match inverse.kind {
                InverseKind::One => "has one",
                InverseKind::Many => "has many",
                InverseKind::Squillions => "has squillions",
                InverseKind::Rest => "has the rest (subset)",
            }
            .to_owned(),
            target: (inverse.target)(),
            details: inverse_details(inverse),
        },
        RelationMeta::Recent(recent) => RelationRow {
            name: recent.field.to_owned(),
            kind: format!("the newest {}", recent.max),
            target: (recent.source)(),
            details: format!("sorted by `{}`", recent.sort),
        },
    }
}

fn inverse_details(inverse: &InverseMeta) -> String {
    let mut details = vec![format!("by `{}`", inverse.by.join("."))];
    if let Some(on_delete) = inverse.on_delete {
        let action = match on_delete {
            OnDelete::Restrict => "a delete is refused while there are any",
            OnDelete::Cascade => "deleted along",
            OnDelete::SetNull => "set to null on delete",
            OnDelete::Pull => "pulled on delete",
            OnDelete::Leave => "left dangling on delete",
        };
        details.push(action.to_owned());
    }
    details.push(match inverse.guarantee() {
        Guarantee::Strict => "strict".to_owned(),
        Guarantee::Settled => "settled".to_owned(),
    });
    if let Some(reason) = inverse.allow_scan {
        details.push(format!("without an index: {reason}"));
    }
    details.join("; ")
}

fn write_indexes(article: &mut Markup, one: &ReportedModel) {
    let Some(indexes) = made(article, "The list of indexes", &one.indexes) else {
        return;
    };
    if indexes.is_empty() {
        return;
    }
    let headings = ["Index", "Keys", "Options"];
    table(article, "Indexes", &headings, indexes, |row, index| {
        code_cell(row, index.get_str("name").unwrap_or_default());
        let keys = index.get_document("key").map(shell::document);
        code_cell(row, keys.unwrap_or_default());
        let is_option = |(name, _): &(&String, _)| *name != "name" && *name != "key";
        let options: Document = index
            .iter()
            .filter(is_option)
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if options.is_empty() {
            cell(row, "");
        } else {
            code_cell(row, shell::document(&options));
        }
    });
}
