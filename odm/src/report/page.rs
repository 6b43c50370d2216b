//! A report as an HTML page.
//!
//! Plain functions write it by [`Markup`]: the page is one shape without branches that a designer would edit, so that a template
//! language would add a dependency and no clarity.

mod advice;
mod check;
mod design;
mod drift;
mod models;
mod pieces;
mod summary;
mod text;

use self::pieces::{link, made, scrolling};
use super::DatabaseReport;
use crate::markup::Markup;

/// What a page may do: show itself. It runs no scripts and loads nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// The sections with their ids, in their order.
const SECTIONS: [(&str, &str); 6] = [
    ("diagram", "Diagram"),
    ("design", "Design checks"),
    ("drift", "Drift"),
    ("check", "Check"),
    ("advice", "Advice"),
    ("models", "Models"),
];

impl DatabaseReport {
    /// The report as an HTML page: one file without scripts that loads nothing from elsewhere, for phones, desktops and
    /// printers, on light and dark screens.
    ///
    /// All names and values are escaped, and characters that nobody sees are shown by their numbers, such as `[U+202E]`. The page
    /// is well-formed XML as well.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let page = db.report(models![Book]).await?.html();
    /// assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\""));
    /// assert!(!page.contains("<script"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn html(&self) -> String {
        write(self)
    }
}

fn write(report: &DatabaseReport) -> String {
    let mut page = Markup::default();
    page.raw("<!DOCTYPE html>\n");
    let html = page.element("html").attr("lang", "en");
    html.attr("xmlns", "http://www.w3.org/1999/xhtml")
        .with(|html| {
            html.element("head").with(|head| write_head(head, report));
            html.element("body").with(|body| write_body(body, report));
        });
    let mut text = page.into_string();
    text.push('\n');
    text
}

fn write_head(head: &mut Markup, report: &DatabaseReport) {
    head.element("meta").attr("charset", "utf-8").empty();
    head.element("meta")
        .attr("http-equiv", "Content-Security-Policy")
        .attr("content", POLICY)
        .empty();
    head.element("meta")
        .attr("name", "viewport")
        .attr("content", "width=device-width, initial-scale=1")
        .empty();
    head.element("meta")
        .attr("name", "color-scheme")
        .attr("content", "light dark")
        .empty();
    head.element("title").text(&report.title);
    head.element("style")
        .with(|style| style.raw(include_str!("style.css")));
}

fn write_body(body: &mut Markup, report: &DatabaseReport) {
    body.element("header").with(|header| {
        header.element("h1").text(&report.title);
        summary::write_facts(header, report);
    });
    body.element("main").with(|main| {
        section(main, "answers", "Answers", |section| {
            summary::write_answers(section, report);
        });
        write_contents(main, report);
        for (id, title) in SECTIONS {
            section(main, id, title, |section| match id {
                "diagram" => write_diagram(section, report),
                "design" => design::write(section, report),
                "drift" => drift::write(section, report),
                "check" => check::write(section, report),
                "advice" => advice::write(section, report),
                _ => models::write(section, report),
            });
        }
    });
    body.element("footer").with(|footer| {
        footer.element("p").with(|p| {
            p.text("Made by odm ");
            p.text(env!("CARGO_PKG_VERSION"));
            p.text(". This page runs no script and loads nothing.");
        });
    });
}

fn section(
    main: &mut Markup,
    id: &'static str,
    title: &'static str,
    content: impl FnOnce(&mut Markup),
) {
    main.element("section")
        .attr("id", id)
        .attr("aria-labelledby", format_args!("{id}-title"))
        .with(|section| {
            let heading = section.element("h2");
            heading.attr("id", format_args!("{id}-title")).text(title);
            content(section);
        });
}

fn write_contents(main: &mut Markup, report: &DatabaseReport) {
    let nav = main.element("nav").attr("aria-label", "Contents");
    nav.with(|nav| {
        nav.element("ul").with(|list| {
            for (id, title) in SECTIONS {
                list.element("li").with(|item| {
                    link(item, format_args!("#{id}"), title);
                    if id == "models" {
                        models::write_contents(item, report);
                    }
                });
            }
        });
    });
}

fn write_diagram(section: &mut Markup, report: &DatabaseReport) {
    let Some(diagram) = made(section, "The diagram", &report.diagram) else {
        return;
    };
    if report.models.is_empty() {
        section.element("p").text("The report names no models.");
        return;
    }
    section.element("p").class("note").text(
        "A solid line leads from a document to what is embedded in it, a dashed line to those that refer to it. A bar stands for \
         one document, a ring for none, a foot for any number.",
    );
    scrolling(section, "Diagram", |box_| diagram.draw(box_));
}
