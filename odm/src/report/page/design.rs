//! The section of the design checks.

use super::pieces::{cell, code_cell, table};
use super::text;
use crate::markup::Markup;
use crate::report::{DatabaseReport, DesignNote, DesignOutcome};

pub(super) fn write(section: &mut Markup, report: &DatabaseReport) {
    section.element("p").class("note").text(
        "The compiler checks what a declaration shows, so that a program with a refused declaration does not build. This section \
         has the checks that need the sizes of whole documents, and the exceptions that declarations give reasons for.",
    );
    if report.design.is_empty() {
        section
            .element("p")
            .text("Every check is passed, and no exception is declared.");
        return;
    }
    let headings = ["Model", "Field", "Check", "Outcome", "Message or reason"];
    table(
        section,
        "Design checks",
        &headings,
        &report.design,
        write_row,
    );
}

fn write_row(row: &mut Markup, note: &DesignNote) {
    code_cell(row, note.model);
    code_cell(row, note.path.as_deref().unwrap_or_default());
    code_cell(row, note.code.unwrap_or("declaration"));
    match note.outcome {
        DesignOutcome::Refused => row.element("td").class("bad").text("✗ refused"),
        DesignOutcome::Allowed => cell(row, "allowed"),
    }
    let message = row.element("td").class("wide");
    message.with(|cell| text::prose(cell, &note.message));
}
