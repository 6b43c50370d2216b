//! [`Rank`]: a node's place among its siblings.

use crate::model::{BsonType, TypeMeta};
use crate::query::scalars::field_type;

/// A node's place among its siblings, which sorts as a string: between any two ranks there is another, so an insert
/// writes one document.
///
/// A rank is a whole number, as a letter for its length and its digits in base 36, and a fraction of more digits. Ranks at
/// the ends are whole numbers and stay short. A rank grows by about one digit for every five inserts at the same place
/// between two siblings.
///
/// The operations of a tree write the field. A document to insert has `Rank::default()`.
#[derive(
    Debug,
    Clone,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(transparent)]
pub struct Rank(String);

impl Rank {
    /// The stored string.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let nodes = tree.children(node("Books")).all().await?;
    /// assert_eq!((nodes[0].id.as_str(), nodes[1].id.as_str()), ("Programming", "Fiction"));
    /// assert!(nodes[0].rank.as_str() < nodes[1].rank.as_str());
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

field_type!([] Rank, TypeMeta::scalar(&[BsonType::String]));

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// The letter of a whole number with one digit that is not negative. The letters after it stand for more digits, and those
/// before it, downwards, for negative numbers.
const ZERO: u8 = b'n';

/// A rank after `low` and before `high`, either of which may be missing; `None` if they are no ranks in this order.
pub(crate) fn between(low: Option<&str>, high: Option<&str>) -> Option<String> {
    let low = match low {
        Some(low) => Some(split(low)?),
        None => None,
    };
    let high = match high {
        Some(high) => Some(split(high)?),
        None => None,
    };
    match (low, high) {
        (None, None) => Some(format!("{}0", char::from(ZERO))),
        (Some((whole, _)), None) => next(whole),
        (None, Some((whole, fraction))) => {
            if fraction.is_empty() {
                previous(whole)
            } else {
                Some(whole.to_owned())
            }
        }
        (Some((whole, low)), Some((above, high))) if whole == above => {
            Some(format!("{whole}{}", middle(low, Some(high))?))
        }
        (Some((whole, low)), Some((above, high))) => {
            let following = next(whole)?;
            if following.as_str() < above || following == above && !high.is_empty() {
                Some(following)
            } else if whole < above {
                Some(format!("{whole}{}", middle(low, None)?))
            } else {
                None
            }
        }
    }
}

/// Ranks in their order after `low` and before `high`, as short as bisection makes them; `None` if those are no ranks in
/// this order.
pub(crate) fn ranks_between(
    low: Option<&str>,
    high: Option<&str>,
    count: usize,
) -> Option<Vec<String>> {
    let mut ranks: Vec<String> = Vec::with_capacity(count);
    match (low, high) {
        (Some(low), Some(high)) => bisect(low, high, count, &mut ranks)?,
        (None, Some(high)) => {
            for _ in 0..count {
                let before = ranks.last().map_or(high, String::as_str);
                ranks.push(between(None, Some(before))?);
            }
            ranks.reverse();
        }
        (low, None) => {
            for _ in 0..count {
                let after = ranks.last().map(String::as_str).or(low);
                ranks.push(between(after, None)?);
            }
        }
    }
    Some(ranks)
}

/// Adds `count` ranks; the one in the middle divides the others.
fn bisect(low: &str, high: &str, count: usize, ranks: &mut Vec<String>) -> Option<()> {
    let Some(rest) = count.checked_sub(1) else {
        return Some(());
    };
    let middle = between(Some(low), Some(high))?;
    bisect(low, &middle, rest / 2, ranks)?;
    ranks.push(middle.clone());
    bisect(&middle, high, rest - rest / 2, ranks)
}

/// The whole number, with its letter, and the fraction.
fn split(rank: &str) -> Option<(&str, &str)> {
    let letter = *rank
        .as_bytes()
        .first()
        .filter(|one| one.is_ascii_lowercase())?;
    let digits = if letter >= ZERO {
        letter - ZERO + 1
    } else {
        ZERO - letter
    };
    let is_valid = rank.bytes().all(|byte| digit(byte).is_some())
        && !(rank.len() > usize::from(digits) + 1 && rank.ends_with('0'));
    is_valid.then(|| rank.split_at_checked(usize::from(digits) + 1))?
}

fn digit(byte: u8) -> Option<usize> {
    DIGITS.iter().position(|one| *one == byte)
}

/// The whole number that follows.
fn next(whole: &str) -> Option<String> {
    step(
        whole,
        b'z',
        b'0',
        |digit| digit + 1,
        |letter, digits| {
            match letter.checked_add(1).filter(|letter| *letter <= b'z')? {
                // From -1 to 0: both have one digit.
                ZERO => {}
                letter if letter > ZERO => digits.push(b'0'),
                _ => {
                    digits.pop();
                }
            }
            Some(letter + 1)
        },
    )
}

/// The whole number before.
fn previous(whole: &str) -> Option<String> {
    step(
        whole,
        b'0',
        b'z',
        |digit| digit - 1,
        |letter, digits| {
            match letter.checked_sub(1).filter(|letter| *letter >= b'a')? {
                letter if letter == ZERO - 1 => {}
                letter if letter < ZERO => digits.push(b'z'),
                _ => {
                    digits.pop();
                }
            }
            Some(letter - 1)
        },
    )
}

/// Adds or subtracts one; where every digit overflows, `carry` changes the letter and the number of digits.
fn step(
    whole: &str,
    last: u8,
    first: u8,
    change: fn(usize) -> usize,
    carry: fn(u8, &mut Vec<u8>) -> Option<u8>,
) -> Option<String> {
    let (&letter, digits) = whole.as_bytes().split_first()?;
    let mut digits = digits.to_vec();
    let mut letter = letter;
    let mut carries = true;
    for one in digits.iter_mut().rev() {
        if *one != last {
            *one = *DIGITS.get(change(digit(*one)?))?;
            carries = false;
            break;
        }
        *one = first;
    }
    if carries {
        letter = carry(letter, &mut digits)?;
    }
    let mut number = vec![letter];
    number.extend(digits);
    String::from_utf8(number).ok()
}

/// A fraction after `low` and before `high`, which is 1 if it is missing; never empty, and without a zero at its end.
fn middle(low: &str, high: Option<&str>) -> Option<String> {
    if high.is_some_and(|high| low >= high) {
        return None;
    }
    let mut digits = String::new();
    let (mut low, mut high) = (low.bytes(), high.map(str::bytes));
    loop {
        let from = low.next().map_or(Some(0), digit)?;
        let to = match &mut high {
            Some(high) => high.next().map_or(Some(0), digit)?,
            None => DIGITS.len(),
        };
        if to > from + 1 {
            digits.push(char::from(*DIGITS.get(usize::midpoint(from, to))?));
            return Some(digits);
        }
        digits.push(char::from(*DIGITS.get(from)?));
        if to > from {
            // What follows is below `high` whatever it is.
            high = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{between, next, previous, ranks_between};

    #[test]
    fn whole_numbers_carry() {
        let pairs = [
            ("n0", "n1"),
            ("n9", "na"),
            ("nz", "o00"),
            ("ozz", "p000"),
            ("mz", "n0"),
            ("lzz", "m0"),
        ];
        for (low, high) in pairs {
            assert_eq!(next(low).as_deref(), Some(high));
            assert_eq!(previous(high).as_deref(), Some(low));
            assert!(low < high);
        }
        assert_eq!(next("zzzzzzzzzzzzzz"), None);
        assert_eq!(previous("a0000000000000"), None);
    }

    #[test]
    fn ranks_at_the_ends_stay_short() {
        let (mut low, mut high) = ("n0".to_owned(), "n0".to_owned());
        for _ in 0..10_000 {
            let after = between(Some(&high), None).unwrap();
            let before = between(None, Some(&low)).unwrap();
            assert!(after > high && before < low);
            (low, high) = (before, after);
        }
        assert_eq!((low.len(), high.len()), (4, 4));
    }

    #[test]
    fn strings_that_are_no_ranks_have_none_between() {
        for wrong in ["", "n", "N0", "n0 ", "n0i0", "o0", "é0"] {
            assert_eq!(between(Some(wrong), None), None, "{wrong}");
            assert_eq!(between(None, Some(wrong)), None, "{wrong}");
        }
        assert_eq!(between(Some("n1"), Some("n0")), None);
        assert_eq!(between(Some("n1"), Some("n1")), None);
    }

    #[test]
    fn many_ranks_between_two_stay_short() {
        let ends = [None, Some("n0"), Some("n1"), Some("n0i"), Some("pzzz")];
        for (low, high) in ends.iter().flat_map(|low| ends.map(|high| (*low, high))) {
            if low.is_some() && high.is_some() && low >= high {
                continue;
            }
            let ranks = ranks_between(low, high, 1_000).unwrap();
            assert_eq!(ranks.len(), 1_000);
            assert!(ranks.is_sorted_by(|one, next| one < next));
            assert!(low.is_none_or(|low| *low < *ranks[0]));
            assert!(high.is_none_or(|high| *ranks[999] < *high));
            assert!(ranks.iter().all(|rank| rank.len() <= 7), "{low:?} {high:?}");
        }
        assert_eq!(ranks_between(Some("n1"), Some("n0"), 1), None);
        assert_eq!(ranks_between(Some("n1"), Some("n1"), 0), Some(Vec::new()));
    }

    proptest! {
        #[test]
        fn a_rank_lies_between_its_neighbours(places in prop::collection::vec(any::<prop::sample::Index>(), 1..200)) {
            let mut ranks: Vec<String> = Vec::new();
            for place in places {
                let at = place.index(ranks.len() + 1);
                let low = at.checked_sub(1).map(|before| ranks[before].as_str());
                let high = ranks.get(at).map(String::as_str);
                let rank = between(low, high).unwrap();
                prop_assert!(low.is_none_or(|low| *low < *rank) && high.is_none_or(|high| *rank < *high));
                ranks.insert(at, rank);
            }
        }

        #[test]
        fn a_place_between_two_never_runs_out(steps in prop::collection::vec(any::<bool>(), 1..300)) {
            let (mut low, mut high) = ("n0".to_owned(), "n1".to_owned());
            for step in steps {
                let rank = between(Some(&low), Some(&high)).unwrap();
                prop_assert!(low < rank && rank < high);
                if step { low = rank } else { high = rank }
            }
        }
    }
}
