//! Amounts in parts, none of which is lost.

use super::MoneyError;

/// Divides an amount in the proportions of the weights. The parts differ from their exact shares by less than one unit; the
/// units that are left go to the parts with the largest fractions, the first of equal ones first.
pub(super) fn by_weights(amount: i64, weights: &[u64]) -> Result<Vec<i64>, MoneyError> {
    let total: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    if total == 0 {
        return Err(MoneyError::DivisionByZero);
    }
    let size = u128::from(amount.unsigned_abs());
    let mut left = size;
    let mut parts = Vec::with_capacity(weights.len());
    let mut rests = Vec::with_capacity(weights.len());
    for (index, weight) in weights.iter().enumerate() {
        // At most 64 and 64 bits.
        let share = size * u128::from(*weight);
        let part = share / total;
        left -= part;
        parts.push(part);
        rests.push((share % total, index));
    }
    rests.sort_by(|(one, first), (other, second)| other.cmp(one).then(first.cmp(second)));
    for (_, index) in rests {
        if left == 0 {
            break;
        }
        if let Some(part) = parts.get_mut(index) {
            *part += 1;
            left -= 1;
        }
    }
    let signed = |part: u128| {
        let part = i128::try_from(part).map_err(|_| MoneyError::Overflow)?;
        let part = if amount < 0 { -part } else { part };
        i64::try_from(part).map_err(|_| MoneyError::Overflow)
    };
    parts.into_iter().map(signed).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::by_weights;

    #[test]
    fn ten_in_three_parts_loses_no_cent() {
        assert_eq!(by_weights(1_000, &[1, 1, 1]).unwrap(), [334, 333, 333]);
        assert_eq!(by_weights(-1_000, &[1, 1, 1]).unwrap(), [-334, -333, -333]);
        assert_eq!(by_weights(100, &[50, 30, 20]).unwrap(), [50, 30, 20]);
        assert_eq!(by_weights(5, &[0, 3, 7]).unwrap(), [0, 2, 3]);
        assert_eq!(by_weights(2, &[1, 1, 1]).unwrap(), [1, 1, 0]);
        assert_eq!(by_weights(i64::MIN, &[1]).unwrap(), [i64::MIN]);
        assert!(by_weights(1, &[]).is_err());
        assert!(by_weights(1, &[0, 0]).is_err());
    }

    proptest! {
        #[test]
        fn the_parts_are_the_whole(amount: i64, weights in prop::collection::vec(any::<u64>(), 1..20)) {
            prop_assume!(weights.iter().any(|weight| *weight > 0));
            let parts = by_weights(amount, &weights).unwrap();
            let sum: i128 = parts.iter().map(|part| i128::from(*part)).sum();
            prop_assert_eq!(sum, i128::from(amount));
            let total: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
            for (part, weight) in parts.iter().zip(&weights) {
                let exact = u128::from(amount.unsigned_abs()) * u128::from(*weight) / total;
                let part = u128::from(part.unsigned_abs());
                prop_assert!(part == exact || part == exact + 1);
            }
        }
    }
}
