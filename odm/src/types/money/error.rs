//! What is wrong with an amount.

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
    /// The text names another currency.
    OtherCurrency {
        /// The code that was found.
        found: String,
        /// The code of the type.
        expected: &'static str,
    },
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
                write!(
                    f,
                    "the amount is in {found}, and the type is for {expected}"
                )
            }
        }
    }
}

impl std::error::Error for MoneyError {}
