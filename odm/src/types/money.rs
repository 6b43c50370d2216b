//! Money as an exact count of the smallest unit of a currency, which is part of the type.
//!
//! MongoDB's guide calls this model *exact precision*: 9.99 US dollars are stored as the integer 999. [`Money`] is that
//! integer, with a type for the currency, so that amounts of different currencies can't be mixed up. Where the guide stores
//! 9990 for 9.99, it counts thousandths: that is [`Finer`]. [`AnyMoney`] and [`Amount`] are for currencies that are known
//! only at run time.
//!
//! The rules of a field count in this unit, too: `#[odm(range(min = 0, max = 100_00))]` on a `Money<Usd>` allows up to 100
//! dollars. Money is computed by [`try_add`](Money::try_add), [`try_mul`](Money::try_mul) and their kin, which return an
//! error where an operator would overflow; [`from_minor`](Money::from_minor) and `"4.20".parse()` make an amount.
//!
//! ```
//! use odm::money::{CodeOf, Finer, Money, Rounding, Usd};
//! use odm::prelude::*;
//!
//! /// Thousandths of a dollar.
//! type Mills = Finer<Usd, 3>;
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "prices")]
//! struct Price {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     price: Money<Mills>,
//!     currency: CodeOf<Usd>,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let db = Db::memory();
//! let prices = db.collection::<Price>();
//! prices.insert_one(&Price { id: 1, price: "9.99".parse()?, currency: CodeOf::new() }).await?;
//!
//! let half_a_cent: Money<Mills> = "0.005".parse()?;
//! prices.update_one(|p| p.id.eq(1), |p| p.price.inc(half_a_cent)).await?;
//! let stored = prices.find_one(|p| p.price.gt(half_a_cent)).await?.ok_or("no price")?;
//! assert_eq!(stored.price.to_string(), "9.995 USD");
//!
//! let third = stored.price.ratio(1, 3, Rounding::HalfEven)?;
//! assert_eq!(third.minor(), 3_332);
//! # Ok(())
//! # }
//! ```

mod amount;
mod any;
mod code;
mod codes;
mod currencies;
mod error;
mod handle;
pub mod json;
mod parts;
#[cfg(feature = "bigdecimal_0_4")]
mod precise;
mod rounding;
mod text;

use std::marker::PhantomData;

pub use self::amount::Money;
pub use self::any::{Amount, AnyMoney};
pub use self::code::CodeOf;
pub use self::codes::*;
pub use self::currencies::{AnyCurrency, Currencies, Iso4217, Scaled};
pub use self::error::MoneyError;
#[doc(hidden)]
pub use self::handle::AmountIn;
pub use self::handle::AnyMoneyFields;
#[cfg(feature = "bigdecimal_0_4")]
pub use self::precise::{BinaryForm, DisplayForm, PreciseMoney, PreciseMoneyFields, TextForm};
pub use self::rounding::Rounding;

/// A currency as a type: one of [this module](self), a [finer](Finer) one, or your own.
///
/// ```
/// use odm::money::{Currency, Money};
///
/// /// Points of a loyalty programme, which are not divided.
/// enum Points {}
///
/// impl Currency for Points {
///     const CODE: &'static str = "PTS";
///     const DIGITS: u32 = 0;
/// }
///
/// assert_eq!(Money::<Points>::from_minor(120).to_string(), "120 PTS");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a currency",
    label = "expected a currency type, such as `odm::money::Usd`",
    note = "for a currency of your own, implement `odm::money::Currency`"
)]
pub trait Currency: 'static {
    /// The code: `USD`.
    const CODE: &'static str;

    /// How many digits after the decimal point the smallest unit has: 2 if it is a hundredth.
    const DIGITS: u32;
}

/// A currency counted in smaller units than its own: `Finer<Usd, 3>` is thousandths of a dollar.
///
/// `DIGITS` is at most 18, and not less than those of the currency; the compiler checks it.
#[derive(Debug)]
pub struct Finer<C, const DIGITS: u32> {
    of: PhantomData<C>,
}

impl<C: Currency, const DIGITS: u32> Currency for Finer<C, DIGITS> {
    const CODE: &'static str = C::CODE;
    const DIGITS: u32 = {
        assert!(
            DIGITS >= C::DIGITS,
            "`Finer` has fewer digits than its currency; write a larger number"
        );
        DIGITS
    };
}

/// The number of digits of a currency, if an amount can have them.
const fn digits<C: Currency>() -> u32 {
    assert!(
        C::DIGITS <= 18,
        "an amount has at most 18 digits after the decimal point"
    );
    C::DIGITS
}
