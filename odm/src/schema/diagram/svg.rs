//! A diagram as SVG.

use std::fmt::Write as _;

use super::layout::{Graph, Layout, Line as GraphLine, Point, Rect, Route, Size, layout};
use super::measure::{shortened, width, wrapped};
use super::{Attribute, Diagram, Ends, Entity, EntityKind, Line, LineKind};
use crate::markup::{Markup, visible};

/// The sizes of the fonts, as in the style sheet.
const FONT: usize = 12;
const LABEL_FONT: usize = 11;
const LABEL_ROW: i32 = 13;
/// The heights of a row and of the line above the rows.
const ROW: i32 = 19;
const HEAD: i32 = 26;
const PADDING: i32 = 8;
const COLUMN_GAP: i32 = 12;
/// Where letters stand in a row.
const BASELINE: i32 = 14;

/// The most characters of a name in a box.
const LONGEST_NAME: usize = 36;
/// The characters on a line of a label.
const LABEL_CHARS: usize = 20;

impl Diagram {
    /// The diagram as [SVG](https://developer.mozilla.org/docs/Web/SVG), which browsers draw without a script: a file, or a part
    /// of an HTML page.
    ///
    /// It has colours for light and dark pages, and the same text for the same models. Names that are very long end in `…`; the whole
    /// name is shown when the pointer rests on it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # fn main() -> odm::Result<()> {
    /// let svg = odm::schema::Diagram::of(models![Book])?.svg();
    /// assert!(svg.starts_with(r#"<svg xmlns="http://www.w3.org/2000/svg""#));
    /// assert!(svg.contains(">title</text>"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn svg(&self) -> String {
        let mut markup = Markup::default();
        self.draw(&mut markup);
        markup.into_string()
    }

    pub(crate) fn draw(&self, markup: &mut Markup) {
        let tables: Vec<_> = self.entities.iter().map(Table::of).collect();
        let labels: Vec<_> = self
            .lines
            .iter()
            .map(|line| Label::of(&line.label))
            .collect();
        let lines = self.lines.iter().zip(&labels);
        let lines = lines.map(|(line, label)| GraphLine {
            from: line.from.0,
            to: line.to.0,
            label: label.size,
        });
        let Layout {
            size,
            boxes,
            routes,
        } = layout(&Graph {
            boxes: tables.iter().map(|table| table.size).collect(),
            lines: lines.collect(),
        });
        let svg = markup
            .element("svg")
            .attr("xmlns", "http://www.w3.org/2000/svg")
            .class("odm-diagram")
            .attr(
                "viewBox",
                format_args!("0 0 {} {}", size.width, size.height),
            )
            .attr("width", size.width)
            .attr("height", size.height)
            .attr("role", "img");
        svg.with(|svg| {
            svg.element("title").text(self.title());
            svg.element("desc").text(self.description());
            svg.element("style")
                .with(|style| style.raw(include_str!("svg.css")));
            for ((line, route), label) in self.lines.iter().zip(&routes).zip(&labels) {
                draw_line(svg, line, route, label);
            }
            for (table, rect) in tables.iter().zip(boxes) {
                table.draw(svg, rect);
            }
        });
    }

    fn title(&self) -> String {
        let is_listed = |entity: &&Entity| matches!(entity.kind, EntityKind::Collection(_));
        let names = self.entities.iter().filter(is_listed);
        let names: Vec<_> = names.map(|entity| entity.name).collect();
        format!("Diagram of the models {}", names.join(", "))
    }

    /// The lines in words, for readers who do not see them.
    fn description(&self) -> String {
        let name = |number: usize| self.entities.get(number).map_or("", |entity| entity.name);
        let mut text = String::new();
        for line in &self.lines {
            let (from, to) = (name(line.from.0), name(line.to.0));
            let verb = match line.kind {
                LineKind::Embeds => "contains",
                LineKind::Refers => "is referred to by",
            };
            // Writing to a string can't fail.
            let _ = write!(text, "{from} {verb} {to}: {}. ", line.label);
        }
        text
    }
}

/// The text of a box, and the widths of its columns.
struct Table {
    size: Size,
    is_embedded: bool,
    head: [String; 2],
    rows: Vec<Row>,
    columns: [i32; 4],
}

struct Row {
    /// The mark of a key, the name, the type and what else there is to say.
    cells: [String; 4],
    /// The whole text, if a part is left out.
    tooltip: Option<String>,
}

impl Table {
    fn of(entity: &Entity) -> Self {
        let kind = match entity.kind {
            EntityKind::Collection(collection) => shortened(&visible(collection), LONGEST_NAME),
            EntityKind::Embedded => "embedded".to_owned(),
            EntityKind::NotListed => "not listed".to_owned(),
        };
        let head = [shortened(&visible(entity.name), LONGEST_NAME), kind];
        let rows: Vec<_> = entity.attributes.iter().map(Row::of).collect();
        let mut columns = [0; 4];
        for row in &rows {
            for (column, cell) in columns.iter_mut().zip(&row.cells) {
                *column = width(cell, FONT).max(*column);
            }
        }
        let shown = columns.iter().filter(|column| **column > 0);
        let rows_width: i32 = shown.map(|column| column + COLUMN_GAP).sum();
        let head_width: i32 = head.iter().map(|text| width(text, FONT) + COLUMN_GAP).sum();
        let rows_height: i32 = rows.iter().map(|_| ROW).sum();
        Self {
            size: Size {
                width: rows_width.max(head_width) - COLUMN_GAP + 2 * PADDING,
                height: HEAD + rows_height + if rows.is_empty() { 0 } else { PADDING },
            },
            is_embedded: entity.kind == EntityKind::Embedded,
            head,
            rows,
            columns,
        }
    }

    fn draw(&self, svg: &mut Markup, rect: Rect) {
        let shape = |svg: &mut Markup, class: &'static str, height: i32| {
            svg.element("rect")
                .class(class)
                .attr("x", rect.left)
                .attr("y", rect.top)
                .attr("width", rect.width)
                .attr("height", height)
                .attr("rx", 4)
                .empty();
        };
        svg.element("g").with(|group| {
            shape(group, "odm-box", rect.height);
            let class = if self.is_embedded {
                "odm-head odm-embedded"
            } else {
                "odm-head"
            };
            shape(group, class, HEAD);
            let [name, kind] = &self.head;
            let y = rect.top + BASELINE + 3;
            let left = rect.left + PADDING;
            draw_text(group, "odm-name", Point { x: left, y }, name, FONT);
            let right = rect.left + rect.width - PADDING - width(kind, FONT);
            draw_text(group, "odm-faint", Point { x: right, y }, kind, FONT);
            let mut y = rect.top + HEAD + BASELINE + 2;
            for row in &self.rows {
                self.draw_row(group, row, Point { x: left, y });
                y += ROW;
            }
        });
    }

    fn draw_row(&self, svg: &mut Markup, row: &Row, mut at: Point) {
        const CLASSES: [&str; 4] = ["odm-faint", "odm-field", "odm-faint", "odm-faint"];
        svg.element("g").with(|group| {
            if let Some(tooltip) = &row.tooltip {
                group.element("title").text(tooltip);
            }
            for ((cell, class), column) in row.cells.iter().zip(CLASSES).zip(self.columns) {
                if !cell.is_empty() {
                    draw_text(group, class, at, cell, FONT);
                }
                if column > 0 {
                    at.x += column + COLUMN_GAP;
                }
            }
        });
    }
}

impl Row {
    fn of(attribute: &Attribute) -> Self {
        let key = attribute.key.map_or("", super::Key::mark);
        let ty = attribute.ty.written(&str::to_owned);
        let variant = attribute.variant.map(|variant| format!("if {variant}"));
        let nullable = attribute.nullable.then(|| "or null".to_owned());
        let index = (!attribute.indexes.is_empty()).then(|| "index".to_owned());
        let notes = variant.into_iter().chain(nullable).chain(index);
        let notes: Vec<_> = notes.collect();
        let whole = [key, attribute.name, &ty, &notes.join(", ")].map(visible);
        let cells = whole.clone().map(|cell| shortened(&cell, LONGEST_NAME));
        let says_more = cells != whole || !attribute.indexes.is_empty();
        let tooltip = says_more.then(|| {
            let comments = attribute.comments().join(", ");
            format!("{} {ty} {comments}", attribute.name)
        });
        Self { cells, tooltip }
    }
}

/// The text at a line.
struct Label {
    rows: Vec<String>,
    size: Size,
}

impl Label {
    fn of(text: &str) -> Self {
        let rows = wrapped(&visible(text), LABEL_CHARS);
        let widths = rows.iter().map(|row| width(row, LABEL_FONT));
        let size = Size {
            width: widths.max().unwrap_or(0),
            height: rows.iter().map(|_| LABEL_ROW).sum(),
        };
        Self { rows, size }
    }
}

fn draw_line(svg: &mut Markup, line: &Line, route: &Route, label: &Label) {
    let (begin, end) = if route.is_turned {
        (line.to.1, line.from.1)
    } else {
        (line.from.1, line.to.1)
    };
    let class = match line.kind {
        LineKind::Embeds => "odm-line",
        LineKind::Refers => "odm-line odm-refers",
    };
    svg.element("g").with(|group| {
        group.element("title").text(&line.label);
        group
            .element("path")
            .class(class)
            .attr("d", path(route))
            .empty();
        if let Some(point) = route.points.first() {
            draw_sign(group, begin, *point, 1);
        }
        if let Some(point) = route.points.last() {
            draw_sign(group, end, *point, if route.is_loop { 1 } else { -1 });
        }
        let mut at = Point {
            x: route.label.left,
            y: route.label.top + LABEL_ROW - 3,
        };
        for row in &label.rows {
            draw_text(group, "odm-label", at, row, LABEL_FONT);
            at.y += LABEL_ROW;
        }
    });
}

/// The course of a line: level stretches, and curves between them.
fn path(route: &Route) -> String {
    let mut path = String::new();
    let mut last: Option<Point> = None;
    for (number, point) in route.points.iter().enumerate() {
        let Point { x, y } = *point;
        // Writing to a string can't fail.
        let _ = match last {
            None => write!(path, "M{x} {y}"),
            Some(_) if number % 2 == 1 => write!(path, "H{x}"),
            Some(from) => {
                let (from_x, to_x) = if route.is_loop {
                    (x + TURN, x + TURN)
                } else {
                    let middle = i32::midpoint(from.x, x);
                    (middle, middle)
                };
                write!(path, "C{from_x} {} {to_x} {y} {x} {y}", from.y)
            }
        };
        last = Some(*point);
    }
    path
}

/// How far a line from a box to itself goes beyond its ends.
const TURN: i32 = 20;

/// The sign that says how many documents are at an end: a bar for one, a ring for none, a foot for many. `side` is 1 at the right
/// side of a box, and -1 at the left one.
fn draw_sign(svg: &mut Markup, ends: Ends, at: Point, side: i32) {
    let Point { x, y } = at;
    let bar = |distance: i32| {
        let x = x + side * distance;
        format!("M{x} {}V{}", y - 6, y + 6)
    };
    let (lines, ring) = match ends {
        Ends::One => (bar(6) + &bar(10), None),
        Ends::AtMostOne => (bar(6), Some(13)),
        Ends::Any => {
            let tip = x + side * 11;
            (format!("M{x} {}L{tip} {y}L{x} {}", y - 6, y + 6), Some(15))
        }
    };
    svg.element("path")
        .class("odm-sign")
        .attr("d", lines)
        .empty();
    if let Some(distance) = ring {
        svg.element("circle")
            .class("odm-sign odm-ring")
            .attr("cx", x + side * distance)
            .attr("cy", y)
            .attr("r", 4)
            .empty();
    }
}

fn draw_text(svg: &mut Markup, class: &'static str, at: Point, text: &str, size: usize) {
    let element = svg
        .element("text")
        .class(class)
        .attr("x", at.x)
        .attr("y", at.y);
    let element = if text.is_ascii() {
        element
    } else {
        // Characters from other fonts keep to the space that was measured.
        element
            .attr("textLength", width(text, size))
            .attr("lengthAdjust", "spacingAndGlyphs")
    };
    element.text(text);
}
