//! The section of the check: numbers, then the first findings of each kind.

use bson::Bson;

use super::pieces::{cell, code_cell, made, number, table};
use super::text;
use crate::check::{CheckReport, CheckedCollection, Finding, FindingCount};
use crate::markup::Markup;
use crate::plan::shell;
use crate::report::DatabaseReport;

/// How many findings of one kind at one path are shown.
const SHOWN: usize = 10;

/// How many kinds and paths are shown.
const MOST_GROUPS: usize = 200;

pub(super) fn write(section: &mut Markup, report: &DatabaseReport) {
    let Some(check) = made(section, "The check", &report.check) else {
        return;
    };
    if check.findings == 0 {
        section.element("p").text("Nothing was found.");
    } else {
        write_findings(section, check);
    }
    write_not_checked(section, check);
    section.element("h3").text("Documents read");
    write_read(section, check, report);
}

fn write_findings(section: &mut Markup, check: &CheckReport) {
    let groups = check.counts.iter().take(MOST_GROUPS);
    let headings = ["Finding", "Model", "Field", "Number"];
    table(
        section,
        "Findings",
        &headings,
        groups.clone(),
        |row, one| {
            cell(row, one.kind);
            code_cell(row, one.model);
            code_cell(row, &one.path);
            number(row, one.count);
        },
    );
    if let Some(more) = check.counts.len().checked_sub(MOST_GROUPS)
        && more > 0
    {
        section
            .element("p")
            .text(format_args!("{more} more kinds and fields are not shown."));
    }
    for group in groups {
        write_group(section, group, check);
    }
}

/// Writes how many documents of each collection were read.
fn write_read(section: &mut Markup, check: &CheckReport, report: &DatabaseReport) {
    let stored = |one: &CheckedCollection| {
        let mut models = report.models.iter();
        let model = models.find(|model| model.collection == one.collection)?;
        model.documents.value().copied()
    };
    let headings = ["Model", "Collection", "Read", "Stored"];
    table(
        section,
        "Documents",
        &headings,
        &check.collections,
        |row, one| {
            code_cell(row, one.model);
            code_cell(row, &one.collection);
            number(row, one.read);
            match stored(one) {
                Some(stored) => number(row, stored),
                None => number(row, "?"),
            }
        },
    );
}

fn write_not_checked(section: &mut Markup, check: &CheckReport) {
    let rest = check.rest.as_ref();
    let rest = rest.map(|token| format!("what follows {token}: the time was over"));
    let not_checked: Vec<_> = check.not_checked.iter().cloned().chain(rest).collect();
    if not_checked.is_empty() {
        return;
    }
    section.element("h3").text("Not checked");
    section.element("ul").with(|list| {
        for sentence in &not_checked {
            list.element("li").with(|item| text::prose(item, sentence));
        }
    });
}

fn write_group(section: &mut Markup, group: &FindingCount, check: &CheckReport) {
    let is_of_group = |finding: &&Finding| {
        finding.kind == group.kind && finding.model == group.model && finding.path == group.path
    };
    let findings: Vec<_> = check
        .listed
        .iter()
        .filter(is_of_group)
        .take(SHOWN)
        .collect();
    section.element("h3").with(|heading| {
        heading.text(format_args!("{} of ", group.kind));
        heading.element("code").text(group.model);
        if !group.path.is_empty() {
            heading.text(" at ");
            heading.element("code").text(&group.path);
        }
    });
    let headings = ["_id", "What is wrong", "Stored", "Expected"];
    let label = format!("Findings: {} at {}", group.kind, group.path);
    table(
        section,
        &label,
        &headings,
        findings.iter().copied(),
        write_finding,
    );
    let more = group.count - findings.len() as u64;
    if more > 0 {
        section.element("p").text(format_args!("{more} more."));
    }
}

fn write_finding(row: &mut Markup, finding: &Finding) {
    let value = |row: &mut Markup, value: &Option<Bson>| {
        code_cell(row, value.as_ref().map(shell::value).unwrap_or_default());
    };
    value(row, &finding.id);
    let detail = row.element("td").class("wide");
    detail.with(|cell| text::prose(cell, &finding.detail));
    value(row, &finding.stored);
    value(row, &finding.expected);
}
