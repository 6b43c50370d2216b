//! The typed fields of amounts with a currency beside them.

use super::{Amount, AnyCurrency, AnyMoney, Currencies};
use crate::model::{Contents, Path, Segment};
use crate::query::deferred::Deferred;
use crate::query::{Field, Filter};
use crate::types::compound::compound;

compound! {
    /// The typed fields of an [`AnyMoney`], or of an [`Amount`] and its currency.
    ///
    /// The comparisons include the currency: `price.gt("5 USD")` does not match amounts in euros. An index of both fields, the
    /// currency first, serves them.
    ///
    /// ```
    /// use odm::money::AnyMoney;
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Product {
    ///     price: AnyMoney,
    /// }
    ///
    /// let product = fields::<Product>();
    /// let five: AnyMoney = "5 USD".parse().unwrap();
    /// let filter = product.price.gte(five);
    /// assert_eq!(filter.to_document()?, doc! {"price.currency": "USD", "price.amount": {"$gte": 500_i64}});
    /// let change = product.price.inc(five);
    /// assert_eq!(change.to_document()?, doc! {"$inc": {"price.amount": 500_i64}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub struct AnyMoneyFields of AnyMoney<S: Currencies> in Field<M, As> {} {
        /// The count of the smallest unit.
        amount: i64 = "amount",
        /// The currency.
        currency: AnyCurrency<S> = "currency",
    }
    ordered_by: None,
    contents: Contents::DOCUMENT,
}

pub(super) const OF_SEVERAL: &str = "in an array, currency and amount could match different elements: write `.elem_match(|inner| …)`";

impl<M, S: Currencies, As> AnyMoneyFields<M, S, As> {
    /// The fields of an amount whose currency is another field.
    fn beside(amount: Path, currency: Path) -> Self {
        Self {
            amount: Field::at_path(amount.clone()),
            currency: Field::at_path(currency),
            whole: Field::at_path(amount),
        }
    }

    /// Matches where the amount is `value`, in the same currency.
    ///
    /// ```
    /// # use odm::money::AnyMoney;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Product { price: AnyMoney }
    /// # let product = odm::query::fields::<Product>();
    /// let filter = product.price.eq("5 USD".parse()?);
    /// let expected = doc! {"price.currency": "USD", "price.amount": 500_i64};
    /// assert_eq!(filter.to_document()?, expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn eq(&self, value: AnyMoney<S>) -> Filter<M> {
        self.both(value, self.amount.eq(value.minor()))
    }

    /// Matches where the amount or the currency differs from `value`, and where there is no amount.
    ///
    /// ```
    /// # use odm::money::AnyMoney;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Product { price: AnyMoney }
    /// # let product = odm::query::fields::<Product>();
    /// let filter = product.price.ne("5 USD".parse()?);
    /// let five = doc! {"price.currency": "USD", "price.amount": 500_i64};
    /// assert_eq!(filter.to_document()?, doc! {"$nor": [five]});
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ne(&self, value: AnyMoney<S>) -> Filter<M> {
        !self.eq(value)
    }

    /// Matches where the amount is greater than `value`, in the same currency.
    ///
    /// ```
    /// # use odm::money::AnyMoney;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Product { price: AnyMoney }
    /// # let product = odm::query::fields::<Product>();
    /// let filter = product.price.gt("5 USD".parse()?);
    /// let expected = doc! {"price.currency": "USD", "price.amount": {"$gt": 500_i64}};
    /// assert_eq!(filter.to_document()?, expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gt(&self, value: AnyMoney<S>) -> Filter<M> {
        self.both(value, self.amount.gt(value.minor()))
    }

    /// Matches where the amount is `value` or greater, in the same currency.
    ///
    /// ```
    /// # use odm::money::AnyMoney;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Product { price: AnyMoney }
    /// # let product = odm::query::fields::<Product>();
    /// let filter = product.price.gte("5 USD".parse()?);
    /// let expected = doc! {"price.currency": "USD", "price.amount": {"$gte": 500_i64}};
    /// assert_eq!(filter.to_document()?, expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gte(&self, value: AnyMoney<S>) -> Filter<M> {
        self.both(value, self.amount.gte(value.minor()))
    }

    /// Matches where the amount is less than `value`, in the same currency.
    ///
    /// ```
    /// # use odm::money::AnyMoney;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Product { price: AnyMoney }
    /// # let product = odm::query::fields::<Product>();
    /// let filter = product.price.lt("5 USD".parse()?);
    /// let expected = doc! {"price.currency": "USD", "price.amount": {"$lt": 500_i64}};
    /// assert_eq!(filter.to_document()?, expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lt(&self, value: AnyMoney<S>) -> Filter<M> {
        self.both(value, self.amount.lt(value.minor()))
    }

    /// Matches where the amount is `value` or less, in the same currency.
    ///
    /// ```
    /// # use odm::money::AnyMoney;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Product { price: AnyMoney }
    /// # let product = odm::query::fields::<Product>();
    /// let filter = product.price.lte("5 USD".parse()?);
    /// let expected = doc! {"price.currency": "USD", "price.amount": {"$lte": 500_i64}};
    /// assert_eq!(filter.to_document()?, expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lte(&self, value: AnyMoney<S>) -> Filter<M> {
        self.both(value, self.amount.lte(value.minor()))
    }

    fn both(&self, value: AnyMoney<S>, amount: Filter<M>) -> Filter<M> {
        if self.path().segments().any(|it| it == Segment::Any) {
            return Filter::from_node(Err(Deferred::usage(self.path().to_string(), OF_SEVERAL)));
        }
        self.currency.eq(value.currency()) & amount
    }
}

/// The typed fields of an amount whose currency is another field, a `C`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a `{Self}` is not an amount whose currency is a `{C}`",
    label = "`currency` is for an `Amount`",
    note = "declare both for the same set of currencies: `price: Amount` and `currency: AnyCurrency`"
)]
pub trait AmountIn<C> {
    /// The typed fields.
    type Handle<M>;

    /// The typed fields of the amount and the currency at these paths.
    fn handle<M>(amount: Path, currency: Path) -> Self::Handle<M>;
}

impl<S: Currencies> AmountIn<AnyCurrency<S>> for Amount<S> {
    type Handle<M> = AnyMoneyFields<M, S, Self>;

    fn handle<M>(amount: Path, currency: Path) -> Self::Handle<M> {
        AnyMoneyFields::beside(amount, currency)
    }
}

impl<S: Currencies> AmountIn<AnyCurrency<S>> for Option<Amount<S>> {
    type Handle<M> = AnyMoneyFields<M, S, Self>;

    fn handle<M>(amount: Path, currency: Path) -> Self::Handle<M> {
        AnyMoneyFields::beside(amount, currency)
    }
}
