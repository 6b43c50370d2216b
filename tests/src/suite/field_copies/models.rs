//! Models with copies in every place where one may stand.

use odm::bson::DateTime;
use odm::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(
    collection = "customers",
    has_many(orders: Order, by = customer, on_delete = set_null),
    has_many(notes: Order, by = lines.notes.by, on_delete = set_null),
    has_many(paid: Order, by = payment.card.holder),
    has_squillions(visits: Visit, by = customer),
    has_many(cards: Card, by = customer_code, key = code)
)]
pub(super) struct Customer {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[serde(rename = "n")]
    pub(super) name: String,
    pub(super) country: String,
    #[odm(unique)]
    pub(super) code: String,
    pub(super) address: Option<Address>,
    pub(super) tags: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
pub(super) struct Address {
    pub(super) city: String,
    pub(super) zip: Option<i32>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "products", has_many(orders: Order, by = lines.product))]
pub(super) struct Product {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) name: String,
    pub(super) price: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(
    collection = "orders",
    index(lines.product),
    index(lines.notes.by),
    index(payment.card.holder)
)]
pub(super) struct Order {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(index)]
    pub(super) customer: Option<Ref<Customer>>,
    #[odm(copy_of(customer.name))]
    #[serde(rename = "cn")]
    pub(super) customer_name: Option<String>,
    #[odm(embed(few, max = 10))]
    #[serde(rename = "l")]
    pub(super) lines: Vec<Line>,
    pub(super) payment: Option<Payment>,
    #[odm(version)]
    pub(super) version: i64,
    #[odm(updated_at)]
    pub(super) updated: Option<DateTime>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
pub(super) struct Line {
    pub(super) product: Ref<Product>,
    #[odm(copy_of(product.name))]
    #[serde(rename = "pn")]
    pub(super) name: String,
    #[odm(copy_of(product.price, once))]
    pub(super) price: i64,
    #[odm(embed(few, max = 5))]
    pub(super) notes: Vec<Note>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
pub(super) struct Note {
    pub(super) by: Option<Ref<Customer>>,
    #[odm(copy_of(by.address.city))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) city: Option<String>,
    #[odm(copy_of(by.tags))]
    pub(super) tags: Option<Vec<String>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
pub(super) enum Payment {
    Cash,
    Card {
        holder: Ref<Customer>,
        #[odm(copy_of(holder.country))]
        country: String,
    },
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "visits")]
pub(super) struct Visit {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(index)]
    pub(super) customer: Ref<Customer>,
    #[odm(copy_of(customer))]
    pub(super) info: Info,
}

/// A part of a customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Customer)]
pub(super) struct Info {
    #[serde(rename = "n")]
    pub(super) name: String,
    pub(super) country: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "cards")]
pub(super) struct Card {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(index, refers_to(Customer, by = code))]
    pub(super) customer_code: String,
    #[odm(copy_of(customer_code.name))]
    pub(super) name: String,
}

pub(super) fn customer(id: i32, name: &str) -> Customer {
    Customer {
        id,
        name: name.to_owned(),
        country: "ch".to_owned(),
        code: format!("c{id}"),
        address: None,
        tags: Vec::new(),
    }
}

pub(super) fn product(id: i32, name: &str) -> Product {
    Product {
        id,
        name: name.to_owned(),
        price: i64::from(id) * 100,
    }
}

/// An order of these products, whose copies are to be filled.
pub(super) fn order(id: i32, customer: impl Into<Option<i32>>, products: &[i32]) -> Order {
    let line = |product: &i32| Line {
        product: Ref::from(*product),
        name: String::new(),
        price: 0,
        notes: vec![Note {
            by: customer_of_note(*product),
            city: None,
            tags: None,
        }],
    };
    Order {
        id,
        customer: customer.into().map(Ref::from),
        customer_name: None,
        lines: products.iter().map(line).collect(),
        payment: None,
        version: 0,
        updated: None,
    }
}

fn customer_of_note(product: i32) -> Option<Ref<Customer>> {
    (product == 1).then(|| Ref::from(1))
}

pub(super) fn visit(id: i32, customer: i32) -> Visit {
    let info = Info {
        name: String::new(),
        country: String::new(),
    };
    Visit {
        id,
        customer: Ref::from(customer),
        info,
    }
}
