//! Amounts whose currency is a value, and amounts of any precision.

use odm::bson::{self, Bson, Document as BsonDocument};
use odm::money::{
    Amount, AnyCurrency, AnyMoney, BinaryForm, Iso4217, Money, PreciseMoney, Scaled, Usd,
};
use odm::prelude::*;

use crate::case::cases;

cases![
    amounts_are_stored_beside_their_currency,
    comparisons_include_the_currency,
    amounts_in_another_currency_do_not_change,
    lists_of_amounts_are_searched_by_element,
    validators_take_amounts_and_no_doubles,
    precise_amounts_are_stored_as_in_the_guide,
    ranges_of_precise_amounts_are_exact,
    exact_text_is_stored_as_binary_data,
    fields_with_a_json_form_are_stored_and_compared_as_without,
];

/// As in the guide: 9990 for 9.99.
type Mills = Scaled<3>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "offers", index(price.currency, price.amount), index(currency, fee))]
struct Offer {
    #[serde(rename = "_id")]
    id: i32,
    price: AnyMoney<Mills>,
    #[odm(currency = currency)]
    fee: Amount<Mills>,
    currency: AnyCurrency<Mills>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refund: Option<AnyMoney<Mills>>,
    #[odm(embed(few, max = 10))]
    paid: Vec<AnyMoney<Mills>>,
}

fn mills(text: &str) -> AnyMoney<Mills> {
    text.parse().unwrap()
}

fn offer(id: i32, price: &str) -> Offer {
    let price = mills(price);
    Offer {
        id,
        price,
        fee: price.into(),
        currency: price.currency(),
        refund: None,
        paid: vec![price],
    }
}

async fn offers(db: &Db) -> Collection<Offer> {
    let plan = db.sync([Offer::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let offers = db.collection::<Offer>();
    let all = [
        offer(1, "9.99 USD"),
        offer(2, "9.99 EUR"),
        offer(3, "10 USD"),
    ];
    offers.insert_many(all).await.unwrap();
    offers
}

async fn amounts_are_stored_beside_their_currency(db: &Db) {
    let offers = offers(db).await;
    let stored: Option<BsonDocument> = offers.find_one(|o| o.id.eq(1)).with_type().await.unwrap();
    let amount = doc! {"amount": 9990_i64, "currency": "USD"};
    let expected = doc! {
        "_id": 1,
        "price": &amount,
        "fee": 9990_i64,
        "currency": "USD",
        "paid": [&amount],
    };
    assert_eq!(stored.unwrap(), expected);
    let read = offers.get(&1).await.unwrap().unwrap();
    assert_eq!(read, offer(1, "9.99 USD"));
    assert_eq!(read.fee.with(read.currency), mills("9.99 USD"));
    // The guide's own document, whose amount a shell stores as an int.
    let guide = doc! {"_id": 4, "price": {"amount": 9990, "currency": "USD"}, "fee": 9990, "currency": "USD", "paid": []};
    let read: Offer = bson::deserialize_from_document(guide).unwrap();
    assert_eq!(read.price, mills("9.99 USD"));
    let unknown = doc! {"_id": 4, "price": {"amount": 9990, "currency": "XXY"}, "fee": 9990, "currency": "USD", "paid": []};
    let error = bson::deserialize_from_document::<Offer>(unknown).unwrap_err();
    assert!(error.to_string().contains("`XXY`"), "{error}");
}

async fn comparisons_include_the_currency(db: &Db) {
    let offers = offers(db).await;
    let ten = mills("10 USD");
    let ids = async |filter: Filter<Offer>| {
        let found = offers.find(|_| filter).sort(|o| o.id.asc());
        let found = found.all().await.unwrap();
        found.into_iter().map(|offer| offer.id).collect::<Vec<_>>()
    };
    let o = odm::query::fields::<Offer>();
    assert_eq!(ids(o.price.eq(mills("9.99 EUR"))).await, [2]);
    assert_eq!(ids(o.price.ne(mills("9.99 EUR"))).await, [1, 3]);
    assert_eq!(ids(o.price.lt(ten)).await, [1]);
    assert_eq!(ids(o.price.lte(ten)).await, [1, 3]);
    assert_eq!(ids(o.price.gt(mills("9.99 USD"))).await, [3]);
    assert_eq!(ids(o.price.gte(mills("0 EUR"))).await, [2]);
    assert_eq!(ids(o.fee.lt(ten)).await, [1]);
    assert_eq!(ids(o.fee.eq(mills("9.99 EUR"))).await, [2]);
    assert_eq!(ids(o.refund.eq(ten)).await, [0; 0]);
    assert_eq!(ids(o.price.amount.eq(9990)).await, [1, 2]);
    let sorted = offers
        .find(|o| o.fee.gte(mills("0 USD")))
        .sort(|o| o.fee.desc());
    let sorted: Vec<_> = sorted.all().await.unwrap();
    assert_eq!(sorted.iter().map(|it| it.id).collect::<Vec<_>>(), [3, 1]);
}

async fn amounts_in_another_currency_do_not_change(db: &Db) {
    let offers = offers(db).await;
    let one = mills("0.01 USD");
    let result = offers
        .update_one(|o| o.id.eq(1), |o| o.price.inc(one) & o.fee.dec(one))
        .await
        .unwrap();
    assert!((result.matched, result.modified) == (1, 1) && !result.is_in_other_currency());
    let changed = offers.get(&1).await.unwrap().unwrap();
    assert_eq!(changed.price, mills("10 USD"));
    assert_eq!(changed.fee.with(changed.currency), mills("9.98 USD"));
    for update in [
        offers
            .update_one(|o| o.id.eq(2), |o| o.price.inc(one))
            .await,
        offers.update_one(|o| o.id.eq(2), |o| o.fee.inc(one)).await,
    ] {
        let result = update.unwrap();
        assert!(result.matched == 0 && result.is_in_other_currency());
        assert!(!result.is_full());
    }
    let result = offers
        .update_many(|o| o.id.gt(0), |o| o.price.dec(one))
        .await
        .unwrap();
    assert_eq!((result.matched, result.modified), (2, 2));
    assert_eq!(offers.get(&2).await.unwrap().unwrap(), offer(2, "9.99 EUR"));
    let missing = offers
        .update_one(|o| o.id.eq(9), |o| o.price.inc(one))
        .await
        .unwrap();
    assert!(missing.matched == 0 && !missing.is_in_other_currency());
    // Whole numbers multiply any amount.
    offers
        .update_one(|o| o.id.eq(2), |o| o.price.amount.mul(2))
        .await
        .unwrap();
    assert_eq!(
        offers.get(&2).await.unwrap().unwrap().price,
        mills("19.98 EUR")
    );
    let most = AnyMoney::from_minor(i64::MAX, one.currency());
    let over = offers
        .update_one(|o| o.id.eq(1), |o| o.price.inc(most))
        .await;
    assert_eq!(over.unwrap_err().code(), Some(odm::error::Code::BAD_VALUE));
}

async fn lists_of_amounts_are_searched_by_element(db: &Db) {
    let offers = offers(db).await;
    let both = Offer {
        paid: vec![mills("5 USD"), mills("50 EUR")],
        ..offer(4, "1 USD")
    };
    offers.insert_one(&both).await.unwrap();
    let over = offers.find(|o| o.paid.elem_match(|paid| paid.gt(mills("40 EUR"))));
    assert_eq!(over.all().await.unwrap(), [both]);
    let none = offers.find(|o| o.paid.elem_match(|paid| paid.gt(mills("40 USD"))));
    assert!(none.all().await.unwrap().is_empty());
    let mixed = offers
        .find(|o| o.paid.any().gt(mills("40 USD")))
        .all()
        .await;
    let message = mixed.unwrap_err().to_string();
    assert!(
        message.contains("paid") && message.contains("elem_match"),
        "{message}"
    );
}

async fn validators_take_amounts_and_no_doubles(db: &Db) {
    offers(db).await;
    for (amount, currency) in [
        (Bson::Double(9.99), Bson::from("USD")),
        (1_i64.into(), 5.into()),
    ] {
        let price: BsonDocument = doc! {"amount": amount, "currency": currency};
        let document = doc! {"_id": 9, "price": price, "fee": 1_i64, "currency": "USD", "paid": []};
        let insert = doc! {"insert": "offers", "documents": [document]};
        let reply = db.run_command(insert).await.unwrap();
        assert!(reply.contains_key("writeErrors"), "{reply}");
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "rates", index(price.currency, price.approx))]
struct Rate {
    #[serde(rename = "_id")]
    id: i32,
    price: PreciseMoney,
}

fn rate(id: i32, price: &str) -> Rate {
    let price = price.parse().unwrap();
    Rate { id, price }
}

async fn precise_amounts_are_stored_as_in_the_guide(db: &Db) {
    let plan = db.sync([Rate::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let rates = db.collection::<Rate>();
    rates.insert_one(rate(1, "9.990 USD")).await.unwrap();
    let stored: Option<BsonDocument> = rates.find_one(|r| r.id.eq(1)).with_type().await.unwrap();
    let price = doc! {"display": "9.99", "approx": 9.99, "currency": "USD"};
    assert_eq!(stored.unwrap(), doc! {"_id": 1, "price": price});
    // An approximation of the guide.
    let price = doc! {"display": "0.25", "approx": 0.249_999_999_999_999_9, "currency": "USD"};
    let insert = doc! {"insert": "rates", "documents": [{"_id": 2, "price": price}]};
    db.run_command(insert).await.unwrap();
    assert_eq!(rates.get(&2).await.unwrap().unwrap(), rate(2, "0.25 USD"));
    let quarter: PreciseMoney = "0.250 USD".parse().unwrap();
    let found = rates.find_one(|r| r.price.eq(&quarter)).await.unwrap();
    assert_eq!(found.unwrap().id, 2);
    let near = rates.find(|r| r.price.candidates(quarter.clone()..=quarter.clone()));
    assert_eq!(near.all().await.unwrap(), [rate(2, "0.25 USD")]);
    let wrong = doc! {"display": "0.25", "approx": 0.26, "currency": "USD"};
    let insert = doc! {"insert": "rates", "documents": [{"_id": 3, "price": wrong}]};
    db.run_command(insert).await.unwrap();
    let error = rates.get(&3).await.unwrap_err().to_string();
    assert!(error.contains("price") && error.contains("0.26"), "{error}");
}

async fn ranges_of_precise_amounts_are_exact(db: &Db) {
    let plan = db.sync([Rate::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let rates = db.collection::<Rate>();
    // Steps of 10^-19 around 0.1 have one approximation.
    let price = |step: i32| format!("0.1{step:018} USD");
    let all: Vec<Rate> = (0..40)
        .map(|step| rate(step, &price(step * 7 % 40)))
        .collect();
    rates.insert_many(&all).await.unwrap();
    rates.insert_one(rate(100, "0.1 EUR")).await.unwrap();
    let amount = |step: i32| -> PreciseMoney { price(step).parse().unwrap() };
    for (start, end) in [(0, 40), (5, 6), (7, 30), (20, 20)] {
        let range = amount(start)..amount(end);
        let candidates = rates.find(|r| r.price.candidates(range.clone()));
        let mut found = candidates.all().await.unwrap();
        found.retain(|rate| range.contains(&rate.price));
        found.sort_by(|one, other| one.price.value().cmp(other.price.value()));
        let found: Vec<PreciseMoney> = found.into_iter().map(|rate| rate.price).collect();
        assert_eq!(found, (start..end).map(amount).collect::<Vec<_>>());
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "rates")]
struct BinaryRate {
    #[serde(rename = "_id")]
    id: i32,
    price: PreciseMoney<Iso4217, BinaryForm>,
}

async fn exact_text_is_stored_as_binary_data(db: &Db) {
    let plan = db.sync([BinaryRate::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let rates = db.collection::<BinaryRate>();
    let rate = |id, price: &str| BinaryRate {
        id,
        price: price.parse().unwrap(),
    };
    rates
        .insert_many([rate(1, "9.99 USD"), rate(2, "0.1 USD")])
        .await
        .unwrap();
    let stored: Option<BsonDocument> = rates.find_one(|r| r.id.eq(1)).with_type().await.unwrap();
    let display = bson::Binary {
        subtype: bson::spec::BinarySubtype::Generic,
        bytes: b"9.99".to_vec(),
    };
    let price = doc! {"display": display, "approx": 9.99, "currency": "USD"};
    assert_eq!(stored.unwrap(), doc! {"_id": 1, "price": price});
    let exact = rate(1, "9.990 USD").price;
    let found = rates.find(|r| r.price.eq(&exact)).all().await.unwrap();
    assert_eq!(found, [rate(1, "9.99 USD")]);
    let near = rates.find(|r| r.price.candidates(..exact.clone()));
    assert_eq!(near.all().await.unwrap().len(), 2);
    // The validator asks for binary data.
    let text = doc! {"display": "9.99", "approx": 9.99, "currency": "USD"};
    let insert = doc! {"insert": "rates", "documents": [{"_id": 3, "price": text}]};
    let reply = db.run_command(insert).await.unwrap();
    let errors = reply.get_array("writeErrors").unwrap();
    let code = errors[0].as_document().unwrap().get_i32("code");
    assert_eq!(code.unwrap(), 121);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "sales", index(total.currency, total.amount))]
struct Sale {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(with = "odm::money::json::amount")]
    price: Money<Usd>,
    #[serde(with = "odm::money::json::parts")]
    total: AnyMoney,
    #[serde(default, with = "odm::money::json::text")]
    tip: Option<PreciseMoney>,
    #[serde(with = "odm::money::json::text")]
    #[odm(embed(few, max = 3))]
    paid: Vec<Money<Usd>>,
}

async fn fields_with_a_json_form_are_stored_and_compared_as_without(db: &Db) {
    let plan = db.sync([Sale::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let sales = db.collection::<Sale>();
    let cents = Money::<Usd>::from_minor;
    let sale = Sale {
        id: 1,
        price: cents(999),
        total: "19.98 USD".parse().unwrap(),
        tip: Some("0.125 USD".parse().unwrap()),
        paid: vec![cents(1), cents(2)],
    };
    sales.insert_one(&sale).await.unwrap();
    let stored: Option<BsonDocument> = sales.find_one(|s| s.id.eq(1)).with_type().await.unwrap();
    let expected = doc! {
        "_id": 1,
        "price": 999_i64,
        "total": {"amount": 1998_i64, "currency": "USD"},
        "tip": {"display": "0.125", "approx": 0.125, "currency": "USD"},
        "paid": [1_i64, 2_i64],
    };
    assert_eq!(stored.unwrap(), expected);
    let of = || sales.find(|s| s.price.lt(cents(1_000)) & s.total.gte("19 USD".parse().unwrap()));
    assert_eq!(of().all().await.unwrap(), [sale]);
    assert_eq!(
        of().explain().await.unwrap().indexes,
        ["total.currency_1_total.amount_1"]
    );
    let prices = sales.distinct(|s| s.price, |s| s.id.eq(1)).await.unwrap();
    assert_eq!(prices, [cents(999)]);
    let whole: Vec<Sale> = sales.find_all().with_type().all().await.unwrap();
    assert_eq!(whole.len(), 1);
    sales
        .update_one(
            |s| s.paid.any().eq(cents(2)) & s.tip.currency.eq(AnyCurrency::of::<Usd>().unwrap()),
            |s| {
                s.price.inc(cents(1))
                    & s.total.inc("0.02 USD".parse().unwrap())
                    & s.paid.push(cents(3))
            },
        )
        .await
        .unwrap();
    let changed = sales.get(&1).await.unwrap().unwrap();
    let json = "{\"_id\":1,\"price\":\"10.00\",\"total\":{\"amount\":\"20.00\",\"currency\":\"USD\"},\
                \"tip\":\"0.125 USD\",\"paid\":[\"0.01 USD\",\"0.02 USD\",\"0.03 USD\"]}";
    assert_eq!(serde_json::to_string(&changed).unwrap(), json);
    assert_eq!(serde_json::from_str::<Sale>(json).unwrap(), changed);
}
