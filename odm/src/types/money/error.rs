//! Errors of amounts.

use std::fmt;

/// Why an amount can't be computed or read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MoneyError {
    /// The amount has more than 64 bits, in the smallest unit.
    Overflow,
    /// A division by zero, or into no parts.
    DivisionByZero,
    /// The text is not a decimal number.
    NotANumber(String),
    /// The text has more digits after the decimal point than the unit: round it first.
    TooPrecise {
        /// The text.
        text: String,
        /// How many digits the unit has.
        digits: u32,
    },
    /// The amount is in another currency.
    OtherCurrency {
        /// The code that was found.
        found: String,
        /// The code of the type, or of the other amount.
        expected: String,
    },
    /// The set has no currency with this code, or counts it in another unit.
    UnknownCurrency(String),
    /// The text lacks the code of the currency.
    NoCurrency(String),
}

impl fmt::Display for MoneyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overflow => f.write_str("the amount does not fit 64 bits"),
            Self::DivisionByZero => f.write_str("an amount can't be divided by zero"),
            Self::NotANumber(text) => {
                write!(
                    f,
                    "`{text}` is not an amount: expected digits and a point, as in `-9.99`"
                )
            }
            Self::TooPrecise { text, digits } => write!(
                f,
                "`{text}` has more than {digits} digits after the point: round it first, or use a finer unit"
            ),
            Self::OtherCurrency { found, expected } => {
                write!(f, "expected an amount in {expected}, found {found}")
            }
            Self::UnknownCurrency(code) => {
                write!(
                    f,
                    "unknown currency: no currency has the code `{code}` and this unit"
                )
            }
            Self::NoCurrency(text) => {
                write!(
                    f,
                    "`{text}` has no currency: expected an amount, a space and a code, as in `9.99 USD`"
                )
            }
        }
    }
}

impl std::error::Error for MoneyError {}
