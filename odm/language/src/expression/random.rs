//! `$rand`.

use crate::error::{Code, ServerError};
use crate::expression::operator::{Args, Operator, Outcome, listed, owned};

/// Sorted by name.
pub(super) const OPERATORS: &[Operator] = &[listed("$rand", 0, 0, random)];

/// A double from 0 to less than 1, from 53 random bits.
fn random<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let Some(bits) = args.globals.random() else {
        return Err(ServerError::new(
            Code::COMMAND_NOT_SUPPORTED,
            "$rand has no source of randomness here",
        ));
    };
    let numerator = u32::try_from(bits >> 38).unwrap_or_default();
    let rest = u32::try_from(bits >> 11 & 0x7ff_ffff).unwrap_or_default();
    owned(
        (f64::from(numerator) + f64::from(rest) / f64::from(1_u32 << 27)) / f64::from(1_u32 << 26),
    )
}
