//! Exact amounts of money.

use odm::bson::{self, Bson};
use odm::error::Code;
use odm::money::{CodeOf, Eur, Finer, Money, Usd};
use odm::prelude::*;

use crate::case::cases;

cases![
    amounts_are_stored_as_in_the_guide,
    amounts_are_compared_sorted_and_changed_exactly,
    overflow_is_refused_by_the_server,
    sums_that_overflow_are_not_read,
    amounts_that_are_no_integers_are_not_read,
    validators_refuse_other_numbers,
];

/// Thousandths of a dollar, as in the guide.
type Mills = Finer<Usd, 3>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "prices", index(price))]
struct Sale {
    #[serde(rename = "_id")]
    id: i32,
    price: Money<Mills>,
    currency: CodeOf<Usd>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fee: Option<Money<Usd>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[odm(embed(few, max = 10))]
    paid: Vec<Payment>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Payment {
    amount: Money<Eur>,
}

fn price(id: i32, price: &str) -> Sale {
    Sale {
        id,
        price: price.parse().unwrap(),
        currency: CodeOf::new(),
        fee: None,
        paid: Vec::new(),
    }
}

fn mills(text: &str) -> Money<Mills> {
    text.parse().unwrap()
}

async fn raw_prices(db: &Db) -> Vec<bson::Document> {
    let prices = db.collection::<Sale>().find_all().sort(|p| p.id.asc());
    let prices = prices.with_type();
    prices.all().await.unwrap()
}

async fn amounts_are_stored_as_in_the_guide(db: &Db) {
    let prices = db.collection::<Sale>();
    prices.insert_one(price(1, "9.99")).await.unwrap();
    let stored = raw_prices(db).await;
    assert_eq!(
        stored,
        [doc! {"_id": 1, "price": 9_990_i64, "currency": "USD"}]
    );
    assert_eq!(prices.get(&1).await.unwrap().unwrap(), price(1, "9.99"));

    // The shell stores small integers as `int`.
    let shell = doc! {"_id": 2, "price": 250, "currency": "USD"};
    let insert = doc! {"insert": "prices", "documents": [shell]};
    db.run_command(insert).await.unwrap();
    assert_eq!(prices.get(&2).await.unwrap().unwrap().price, mills("0.25"));
    let euros = doc! {"_id": 3, "price": 250, "currency": "EUR"};
    let insert = doc! {"insert": "prices", "documents": [euros]};
    db.run_command(insert).await.unwrap();
    let error = prices.get(&3).await.unwrap_err().to_string();
    assert!(
        error.contains("EUR") && error.contains("currency"),
        "{error}"
    );
}

async fn amounts_are_compared_sorted_and_changed_exactly(db: &Db) {
    let prices = db.collection::<Sale>();
    let texts = ["0.1", "0.3", "0.2", "92233720368547.758", "-5"];
    for (id, text) in (1..).zip(texts) {
        prices.insert_one(price(id, text)).await.unwrap();
    }
    let found = prices
        .find(|p| p.price.gte(mills("0.1")) & p.price.lt(mills("0.3")))
        .sort(|p| p.price.desc())
        .all()
        .await
        .unwrap();
    let ids: Vec<i32> = found.iter().map(|price| price.id).collect();
    assert_eq!(ids, [3, 1]);

    // 0.1 + 0.2 is 0.3.
    let change = prices.update_one(|p| p.id.eq(1), |p| p.price.inc(mills("0.2")));
    assert_eq!(change.await.unwrap().modified, 1);
    let same = prices
        .find(|p| p.price.eq(mills("0.3")))
        .all()
        .await
        .unwrap();
    assert_eq!(same.len(), 2);
    prices
        .update_one(
            |p| p.id.eq(1),
            |p| p.price.times(3) & p.fee.inc(Money::from_minor(5)),
        )
        .await
        .unwrap();
    prices
        .update_one(
            |p| p.id.eq(1),
            |p| p.price.dec(mills("0.005")) & p.fee.times(-2),
        )
        .await
        .unwrap();
    let changed = prices.get(&1).await.unwrap().unwrap();
    assert_eq!(changed.price, mills("0.895"));
    assert_eq!(changed.fee, Some(Money::from_minor(-10)));
    let stored = &raw_prices(db).await[0];
    assert_eq!(stored.get("price"), Some(&Bson::Int64(895)));
    assert_eq!(stored.get("fee"), Some(&Bson::Int64(-10)));

    // Amounts in elements of an array.
    let paid = Payment {
        amount: Money::from_minor(50),
    };
    prices
        .update_one(|p| p.id.eq(2), |p| p.paid.push(paid))
        .await
        .unwrap();
    prices
        .update_one(
            |p| p.paid.any().amount.eq(Money::from_minor(50)),
            |p| p.paid.positional().amount.inc(Money::from_minor(1)),
        )
        .await
        .unwrap();
    let changed = prices.get(&2).await.unwrap().unwrap();
    assert_eq!(changed.paid[0].amount.to_string(), "0.51 EUR");
}

async fn overflow_is_refused_by_the_server(db: &Db) {
    let prices = db.collection::<Sale>();
    let most = Sale {
        price: Money::from_minor(i64::MAX),
        ..price(1, "0")
    };
    prices.insert_one(&most).await.unwrap();
    let one = Money::from_minor(1);
    let more = prices.update_one(|p| p.id.eq(1), |p| p.price.inc(one));
    assert_eq!(more.await.unwrap_err().code(), Some(Code::BAD_VALUE));
    let twice = prices.update_one(|p| p.id.eq(1), |p| p.price.times(2));
    assert_eq!(twice.await.unwrap_err().code(), Some(Code::BAD_VALUE));
    assert_eq!(prices.get(&1).await.unwrap().unwrap(), most);
}

async fn sums_that_overflow_are_not_read(db: &Db) {
    #[derive(Debug, Deserialize)]
    struct Total {
        total: Money<Mills>,
    }
    let prices = db.collection::<Sale>();
    for (id, text) in (1..).zip(["0.999", "1.001"]) {
        prices.insert_one(price(id, text)).await.unwrap();
    }
    let sum = || {
        let group = doc! {"$group": {"_id": null, "total": {"$sum": "$price"}}};
        prices.aggregate([group]).with_type::<Total>().all()
    };
    assert_eq!(sum().await.unwrap()[0].total, mills("2"));
    let most = Sale {
        price: Money::from_minor(i64::MAX),
        ..price(3, "0")
    };
    prices.insert_one(&most).await.unwrap();
    let error = sum().await.unwrap_err().to_string();
    assert!(error.contains("$sum") && error.contains("total"), "{error}");
}

async fn amounts_that_are_no_integers_are_not_read(db: &Db) {
    let prices = db.collection::<Sale>();
    for (id, wrong) in (1..).zip([Bson::Double(9.99), Bson::Double(9.0), "9.99".into()]) {
        let document = doc! {"_id": id, "price": wrong, "currency": "USD"};
        let insert = doc! {"insert": "prices", "documents": [document]};
        db.run_command(insert).await.unwrap();
        let error = prices.get(&id).await.unwrap_err().to_string();
        assert!(error.contains("price"), "{error}");
    }
}

async fn validators_refuse_other_numbers(db: &Db) {
    let plan = db.sync([Sale::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let double = doc! {"_id": 1, "price": 9.99, "currency": "USD"};
    let insert = doc! {"insert": "prices", "documents": [double]};
    let reply = db.run_command(insert).await.unwrap();
    let errors = reply.get_array("writeErrors").unwrap();
    let code = errors[0].as_document().unwrap().get_i32("code");
    assert_eq!(code.unwrap(), Code::DOCUMENT_VALIDATION_FAILURE.number());
    let prices = db.collection::<Sale>();
    prices.insert_one(price(1, "9.99")).await.unwrap();
}
