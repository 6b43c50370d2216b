//! Numbers in text.

/// A number with `_` between groups of three digits.
pub(super) fn separated(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(&digits, '_'))
}

/// A count for readers.
pub(super) fn count(count: u64) -> String {
    grouped(&count.to_string(), ',')
}

fn grouped(digits: &str, separator: char) -> String {
    let length = digits.len();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (length - place).is_multiple_of(3) {
            text.push(separator);
        }
        text.push(digit);
    }
    text
}

/// A share in percent.
pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 || part >= whole {
        return "100 %".to_owned();
    }
    let tenths = (u128::from(part) * 2_000 + u128::from(whole)) / (u128::from(whole) * 2);
    // Rounded to neither nothing nor everything.
    match (tenths / 10, tenths % 10) {
        (0, 0) => "under 0.1 %".to_owned(),
        (100, _) => "99.9 %".to_owned(),
        (whole, 0) => format!("{whole} %"),
        (whole, tenth) => format!("{whole}.{tenth} %"),
    }
}

/// A bound with room above a number that was seen: twice as large, and round.
pub(super) fn bound(seen: usize) -> usize {
    let wanted = seen.saturating_mul(2).max(10);
    let mut power: usize = 1;
    loop {
        for step in [1, 2, 5] {
            let bound = power.saturating_mul(step);
            if bound >= wanted {
                return bound;
            }
        }
        power = power.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(separated(-1_234_567), "-1_234_567");
        assert_eq!(separated(i64::MIN), "-9_223_372_036_854_775_808");
        assert_eq!(count(999), "999");
        assert_eq!(count(3_201), "3,201");
    }

    #[test]
    fn shares_are_in_percent() {
        assert_eq!(percent(1, 1), "100 %");
        assert_eq!(percent(999, 1_000), "99.9 %");
        assert_eq!(percent(1, 2), "50 %");
        assert_eq!(percent(2, 3), "66.7 %");
        assert_eq!(percent(99_999, 100_000), "99.9 %");
        assert_eq!(percent(1, 100_000), "under 0.1 %");
        assert_eq!(percent(0, 0), "100 %");
    }

    #[test]
    fn bounds_are_round() {
        let bounds = [0, 5, 6, 40, 100, 411, 5_000].map(bound);
        assert_eq!(bounds, [10, 10, 20, 100, 200, 1_000, 10_000]);
    }
}
