//! Draws the models of the guides' examples and their relations as a Mermaid diagram, or as a picture.
//!
//! ```sh
//! cargo run --example schema
//! cargo run --example schema -- svg > schema.svg
//! ```
#![expect(clippy::print_stdout, reason = "the example prints a diagram")]

#[path = "documents/all.rs"]
#[expect(dead_code, reason = "only the models are drawn")]
mod examples;

use odm::prelude::*;
use odm::schema::Diagram;

use crate::examples::{hosts, movies, patrons, people, products, publishers, students, tasks};

fn main() -> odm::Result<()> {
    let diagram = Diagram::of(models![
        patrons::few::Patron,
        patrons::addresses::Member,
        patrons::addresses::Mail,
        publishers::squillions::Publisher,
        publishers::squillions::Book,
        people::Place,
        people::Person,
        students::courses::Student,
        students::courses::Course,
        students::posts::Author,
        students::posts::Post,
        movies::Movie,
        movies::MovieDetails,
        products::parts::Product,
        products::parts::Part,
        products::reviews::Item,
        products::reviews::Review,
        hosts::newest::Host,
        hosts::newest::LogMessage,
        tasks::owners::Owner,
        tasks::owners::Task,
    ])?;
    match std::env::args().nth(1).as_deref() {
        Some("svg") => println!("{}", diagram.svg()),
        _ => println!("{}", diagram.mermaid()),
    }
    Ok(())
}
