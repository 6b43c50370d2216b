//! Amounts as decimal text.

use super::MoneyError;

/// Reads a decimal number as a count of units with this many digits after the point.
pub(super) fn parse(text: &str, digits: u32) -> Result<i64, MoneyError> {
    let wrong = || MoneyError::NotANumber(text.to_owned());
    let (is_negative, number) = match text.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, text),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if !are_digits(whole) || !are_digits(fraction) {
        return Err(wrong());
    }
    let fraction = fraction.trim_end_matches('0');
    let width = digits as usize;
    if fraction.len() > width {
        return Err(MoneyError::TooPrecise {
            text: text.to_owned(),
            digits,
        });
    }
    let mut amount: i64 = 0;
    let zeros = std::iter::repeat_n(b'0', width - fraction.len());
    for digit in whole.bytes().chain(fraction.bytes()).chain(zeros) {
        let digit = i64::from(digit - b'0');
        // Negative amounts reach one further.
        let next = amount
            .checked_mul(10)
            .and_then(|amount| amount.checked_sub(digit));
        amount = next.ok_or(MoneyError::Overflow)?;
    }
    if is_negative {
        return Ok(amount);
    }
    amount.checked_neg().ok_or(MoneyError::Overflow)
}

fn are_digits(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the text is a plain decimal number: an optional `-`, digits, and optionally a point and digits.
#[cfg(feature = "bigdecimal_0_4")]
pub(super) fn is_decimal(text: &str) -> bool {
    let number = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    are_digits(whole) && are_digits(fraction)
}

/// Writes a count of units with this many digits after the point.
pub(super) fn format(amount: i64, digits: u32) -> String {
    let sign = if amount < 0 { "-" } else { "" };
    let digits = digits as usize;
    let number = format!("{:0width$}", amount.unsigned_abs(), width = digits + 1);
    match number.split_at_checked(number.len() - digits) {
        Some((whole, fraction)) if !fraction.is_empty() => format!("{sign}{whole}.{fraction}"),
        _ => format!("{sign}{number}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{format, parse};
    use crate::types::money::MoneyError;

    #[test]
    fn text_is_read_exactly() {
        for (text, digits, amount) in [
            ("9.99", 2, 999),
            ("9.99", 3, 9_990),
            ("-0.5", 2, -50),
            ("12", 0, 12),
            ("0012.10", 1, 121),
            ("9.990", 2, 999),
            ("92233720368547758.07", 2, i64::MAX),
            ("-92233720368547758.08", 2, i64::MIN),
        ] {
            assert_eq!(parse(text, digits), Ok(amount), "{text}");
        }
        for text in [
            "", "-", ".5", "5.", "1e3", "+1", "1,000", "--1", "1.2.3", " 1", "٣",
        ] {
            assert!(
                matches!(parse(text, 2), Err(MoneyError::NotANumber(_))),
                "{text}"
            );
        }
        assert!(matches!(
            parse("9.995", 2),
            Err(MoneyError::TooPrecise { .. })
        ));
        assert_eq!(parse("92233720368547758.08", 2), Err(MoneyError::Overflow));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(amount: i64, digits in 0..=18_u32) {
            prop_assert_eq!(parse(&format(amount, digits), digits), Ok(amount));
        }
    }
}
