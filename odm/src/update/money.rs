//! Changes of amounts whose currency is a value.

use bson::Bson;

use super::Update;
use super::operators::{Changes, Part, State, Unless};
use crate::error::Result;
use crate::model::{Path, Segment};
use crate::query::compare::stored_path;
use crate::query::deferred::Deferred;
use crate::types::money::{AnyMoney, AnyMoneyFields, Currencies, MoneyError};

impl<M, S: Currencies, As> AnyMoneyFields<M, S, As> {
    /// Adds an amount: `{$inc: {"price.amount": 500}}`. Documents whose amount is in another currency do not change: the
    /// filter of the update has the currency, too, and the result
    /// [says so](crate::collection::UpdateResult::is_in_other_currency).
    ///
    /// MongoDB refuses a result beyond 64 bits.
    ///
    /// ```
    /// use odm::money::AnyMoney;
    /// use odm::prelude::*;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "accounts")]
    /// struct Account {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     balance: AnyMoney,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let accounts = db.collection::<Account>();
    /// accounts.insert_one(&Account { id: 1, balance: "10 USD".parse()? }).await?;
    ///
    /// let five: AnyMoney = "5 USD".parse()?;
    /// accounts.update_one(|a| a.id.eq(1), |a| a.balance.inc(five)).await?;
    /// let euros: AnyMoney = "5 EUR".parse()?;
    /// let result = accounts.update_one(|a| a.id.eq(1), |a| a.balance.inc(euros)).await?;
    /// assert!(result.matched == 0 && result.is_in_other_currency());
    /// assert_eq!(accounts.get(&1).await?.ok_or("no account")?.balance.to_string(), "15.00 USD");
    /// # Ok(())
    /// # }
    /// ```
    pub fn inc(&self, value: AnyMoney<S>) -> Update<M> {
        Update::from_changes(self.add(Ok(value)))
    }

    /// Subtracts an amount, as [`inc`](Self::inc) adds one.
    ///
    /// ```
    /// # use odm::money::AnyMoney;
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "accounts")]
    /// # struct Account { #[serde(rename = "_id")] id: i32, balance: AnyMoney }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let accounts = Db::memory().collection::<Account>();
    /// # accounts.insert_one(&Account { id: 1, balance: "10 USD".parse()? }).await?;
    /// let four: AnyMoney = "4 USD".parse()?;
    /// accounts.update_one(|a| a.id.eq(1), |a| a.balance.dec(four)).await?;
    /// assert_eq!(accounts.get(&1).await?.ok_or("no account")?.balance.to_string(), "6.00 USD");
    /// # Ok(())
    /// # }
    /// ```
    pub fn dec(&self, value: AnyMoney<S>) -> Update<M> {
        Update::from_changes(self.add(value.try_neg()))
    }

    fn add(&self, value: Result<AnyMoney<S>, MoneyError>) -> Result<Changes, Deferred> {
        let path = self.currency.path();
        let value = value.map_err(|error| Deferred::usage(path.to_string(), error.to_string()))?;
        if !path.segments().all(|it| matches!(it, Segment::Name(_))) {
            return Err(elements(path));
        }
        let changes = Changes::one(self.amount.path(), "$inc", Ok(Bson::Int64(value.minor())))?;
        let unless = Unless {
            path: stored_path(path)?,
            state: State::OtherCurrency(value.currency().code().to_owned()),
        };
        changes.join(Changes::Operators(vec![Part::Unless(Box::new(unless))]))
    }
}

fn elements(path: &Path) -> Deferred {
    Deferred::usage(
        path.to_string(),
        "the currency of an element of an array can't be compared here: choose the elements with \
         `update_where(|it| it.currency.eq(…), |it| it.amount.inc(…))`",
    )
}
