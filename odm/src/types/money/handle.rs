//! The typed fields of amounts with a currency beside them.

use std::fmt;
use std::ops::Deref;

use super::{Amount, AnyCurrency, AnyMoney, Currencies};
use crate::model::{
    BsonType, Embedded, EmbeddedMeta, FieldMeta, FieldType, Path, Segment, Shape, TypeMeta,
};
use crate::query::deferred::Deferred;
use crate::query::field::Inside;
use crate::query::{Field, Filter};

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
pub struct AnyMoneyFields<M, As, S> {
    /// The count of the smallest unit.
    pub amount: Field<M, i64>,
    /// The currency.
    pub currency: Field<M, AnyCurrency<S>>,
    this: Field<M, As>,
}

pub(super) const OF_SEVERAL: &str = "in an array, currency and amount could match different elements: write `.elem_match(|inner| …)`";

impl<M, As, S> AnyMoneyFields<M, As, S> {
    /// The fields of an amount at `path`; generated code calls it.
    #[doc(hidden)]
    pub fn at_paths(path: Path, amount: Path, currency: Path) -> Self {
        Self {
            amount: Field::at_path(amount),
            currency: Field::at_path(currency),
            this: Field::at_path(path),
        }
    }
}

impl<M, As, S: Currencies> AnyMoneyFields<M, As, S> {
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

impl<M, As, S> Deref for AnyMoneyFields<M, As, S> {
    type Target = Field<M, As>;

    fn deref(&self) -> &Self::Target {
        &self.this
    }
}

impl<M, As, S> Clone for AnyMoneyFields<M, As, S> {
    fn clone(&self) -> Self {
        Self {
            amount: self.amount.clone(),
            currency: self.currency.clone(),
            this: self.this.clone(),
        }
    }
}

impl<M, As, S> fmt::Debug for AnyMoneyFields<M, As, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnyMoneyFields({})", self.path())
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
    type Handle<M> = AnyMoneyFields<M, Self, S>;

    fn handle<M>(amount: Path, currency: Path) -> Self::Handle<M> {
        AnyMoneyFields::at_paths(amount.clone(), amount, currency)
    }
}

impl<S: Currencies> AmountIn<AnyCurrency<S>> for Option<Amount<S>> {
    type Handle<M> = AnyMoneyFields<M, Self, S>;

    fn handle<M>(amount: Path, currency: Path) -> Self::Handle<M> {
        AnyMoneyFields::at_paths(amount.clone(), amount, currency)
    }
}

impl<S: Currencies> FieldType for AnyMoney<S> {
    const TYPE: TypeMeta = TypeMeta::of(Shape::Embedded(<Self as Embedded>::meta));
    const FIELDS: &'static [FieldMeta] = <Self as Embedded>::META.fields;
    type Handle<M, As> = AnyMoneyFields<M, As, S>;

    #[inline]
    fn handle<M, As>(path: Path) -> Self::Handle<M, As> {
        AnyMoneyFields::at_paths(path.clone(), path.child("amount"), path.child("currency"))
    }
}

impl<S: Currencies> Embedded for AnyMoney<S> {
    type Fields<M> = AnyMoneyFields<M, Self, S>;

    const META: &'static EmbeddedMeta = &EmbeddedMeta {
        fields: &[
            FieldMeta::always("amount", "amount", TypeMeta::scalar(&[BsonType::Long])),
            FieldMeta::always("currency", "currency", <AnyCurrency<S> as FieldType>::TYPE),
        ],
        ..EmbeddedMeta::of("AnyMoney")
    };

    #[inline]
    fn fields<M>(path: Path) -> Self::Fields<M> {
        Self::handle(path)
    }
}

impl<S: Currencies> Inside for AnyMoney<S> {
    type Inside = Self;
}
