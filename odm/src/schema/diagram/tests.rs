//! Diagrams of derived models.

use serde::{Deserialize, Serialize};

use super::mermaid::{identifier, quoted, word};
use super::{Diagram, diagram};
use crate::models;
use crate::types::{Id, Ref};
use crate::{Document, Embedded, Projection};

#[derive(Serialize, Deserialize, Document)]
#[odm(
    crate = crate,
    collection = "hosts",
    has_squillions(messages: LogMessage, by = host),
    subset(setup: Setup, by = host)
)]
struct Host {
    #[serde(rename = "_id")]
    id: Id<Host>,
    #[odm(unique)]
    ipaddr: String,
    address: Option<Address>,
    #[odm(embed(few, max = 12))]
    contacts: Vec<Address>,
    #[odm(recent(LogMessage, max = 1_000, sort = time))]
    logmsgs: Vec<Line>,
    #[odm(references(many, max = 20), two_way = hosts)]
    admins: Vec<Ref<Person>>,
    parent: Option<Ref<Host>>,
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(crate = crate)]
struct Address {
    street: String,
    kind: Kind,
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(crate = crate)]
#[serde(tag = "kind")]
enum Kind {
    Home,
    Work { floor: i32 },
}

#[derive(Serialize, Deserialize, Document)]
#[odm(crate = crate, collection = "logmsg", index(host, time = desc))]
struct LogMessage {
    #[serde(rename = "_id")]
    id: Id<LogMessage>,
    #[serde(rename = "host id")]
    #[odm(recent_in = logmsgs)]
    host: Ref<Host>,
    time: i64,
    #[odm(refers_to(Person, by = email))]
    author: String,
}

#[derive(Serialize, Deserialize, Embedded, Projection)]
#[odm(crate = crate, of = LogMessage)]
struct Line {
    time: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(crate = crate, collection = "setups")]
struct Setup {
    #[serde(rename = "_id")]
    #[odm(rest_of = setup)]
    host: Ref<Host>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(crate = crate, collection = "people")]
struct Person {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique)]
    email: String,
    #[odm(references(many, max = 20), two_way = admins)]
    hosts: Vec<Ref<Host>>,
}

#[test]
fn every_kind_of_relation_is_drawn() {
    let drawn = diagram(models![Host, LogMessage, Setup, Person, Host]).unwrap();
    assert_eq!(
        drawn,
        r#"erDiagram
    Host["hosts"] {
        objectId _id PK
        string ipaddr UK "unique index ipaddr_1"
        Address address "or null"
        Address[] contacts
        Line[] logmsgs
        int[] admins FK
        objectId parent FK "or null"
    }
    Address {
        string street
        Kind kind
    }
    Kind {
        string kind
        int floor "if Work"
    }
    Line {
        long time
    }
    LogMessage["logmsg"] {
        objectId _id PK
        objectId host_id FK "index host id_1_time_-1"
        long time
        string author FK
    }
    Setup["setups"] {
        objectId _id PK
    }
    Person["people"] {
        int _id PK
        string email UK "unique index email_1"
        objectId[] hosts FK
    }
    Host ||--o| Address : "address"
    Address ||--|| Kind : "kind"
    Host ||--o{ Address : "contacts, at most 12"
    Host ||--o{ Line : "logmsgs, the newest 1000 of LogMessage"
    Person }o..o{ Host : "hosts / admins, two-way"
    Host |o..o{ Host : "parent"
    Host ||..o{ LogMessage : "messages / host, squillions"
    Person ||..o{ LogMessage : "author"
    Host ||..o| Setup : "setup / host, subset"
"#
    );
}

#[test]
fn a_model_that_is_not_drawn_is_named() {
    let drawn = diagram(models![Person]).unwrap();
    assert!(
        drawn.ends_with("    Host }o..o{ Person : \"hosts\"\n"),
        "{drawn}"
    );
}

#[test]
fn names_are_written_as_mermaid_reads_them() {
    assert_eq!(identifier("Page<Contact>"), "Page_Contact");
    assert_eq!(word("2nd choice"), "_2nd_choice");
    assert_eq!(quoted("a \"b\""), "a 'b'");
}

#[test]
fn svg_has_each_name_and_line() {
    let models = models![Host, LogMessage, Setup, Person];
    let diagram = Diagram::of(models).unwrap();
    let svg = diagram.svg();
    assert_eq!(svg, diagram.svg());
    for text in [
        "Diagram of the models Host, LogMessage, Setup, Person",
        ">logmsg</text>",
        ">host id</text>",
        ">Address[]</text>",
        ">if Work</text>",
        "unique index ipaddr_1",
        "Host is referred to by LogMessage: messages / host, squillions. ",
        "<title>parent</title>",
    ] {
        assert!(svg.contains(text), "{text}\n{svg}");
    }
    assert_eq!(svg.matches("<path class=\"odm-line").count(), 9);
}

#[derive(Serialize, Deserialize, Document)]
#[odm(crate = crate, collection = "<i>&\"'漢字")]
struct Hostile {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(rename = "</svg><script>\u{202E}")]
    field: String,
}

#[test]
fn svg_escapes_names() {
    let svg = Diagram::of(models![Hostile]).unwrap().svg();
    assert!(!svg.contains("<script>") && !svg.contains("<i>"), "{svg}");
    assert!(
        svg.contains(">&lt;/svg&gt;&lt;script&gt;[U+202E]</text>"),
        "{svg}"
    );
    assert!(
        svg.contains(">&lt;i&gt;&amp;&quot;&#39;漢字</text>"),
        "{svg}"
    );
}
