//! Sort keys in one buffer.
//!
//! A sort compares the first bytes of two keys as one number, and only then the rest. It moves numbers instead of what
//! is sorted.

use std::ops::Range;

/// The bytes at the start of a key that are compared as a number.
const HEAD: usize = 16;

/// Keys, each with the number of keys before it.
#[derive(Debug, Default)]
pub(crate) struct KeyList {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl KeyList {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds the key that `write` appends.
    pub(crate) fn add<E>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = self.bytes.len();
        match write(&mut self.bytes) {
            Ok(()) => self.ends.push(self.bytes.len()),
            Err(error) => {
                self.bytes.truncate(start);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Removes the key that was added last.
    pub(crate) fn remove_last(&mut self) {
        self.ends.pop();
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }

    pub(crate) fn get(&self, number: usize) -> &[u8] {
        self.bytes.get(self.place(number)).unwrap_or_default()
    }

    fn place(&self, number: usize) -> Range<usize> {
        let before = number.checked_sub(1).and_then(|at| self.ends.get(at));
        let end = self.ends.get(number).copied().unwrap_or(self.bytes.len());
        before.copied().unwrap_or(0)..end
    }

    /// These numbers in the order of their keys. Numbers with equal keys keep their order.
    pub(crate) fn sorted(&self, numbers: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut order: Vec<(u128, usize)> = numbers
            .map(|number| (head(self.get(number)), number))
            .collect();
        order.sort_by(|(head, number), (other_head, other)| {
            head.cmp(other_head)
                .then_with(|| self.get(*number).cmp(self.get(*other)))
        });
        order.into_iter().map(|(_, number)| number).collect()
    }

    /// The keys with these numbers, in this order.
    pub(crate) fn only(&self, numbers: &[usize]) -> Self {
        let mut kept = Self::default();
        for number in numbers {
            kept.bytes.extend_from_slice(self.get(*number));
            kept.ends.push(kept.bytes.len());
        }
        kept
    }
}

/// The first bytes of a key, so that a smaller number belongs to a smaller key.
fn head(key: &[u8]) -> u128 {
    if let Some(head) = key.first_chunk::<HEAD>() {
        return u128::from_be_bytes(*head);
    }
    let mut head = [0; HEAD];
    for (to, from) in head.iter_mut().zip(key) {
        *to = *from;
    }
    u128::from_be_bytes(head)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::KeyList;

    proptest! {
        #[test]
        fn keys_are_sorted_as_bytes_and_equal_ones_keep_their_order(
            keys in prop::collection::vec(prop::collection::vec(0_u8..3, 0..20), 0..30),
        ) {
            let mut list = KeyList::default();
            for key in &keys {
                let add = list.add(|bytes| {
                    bytes.extend_from_slice(key);
                    Ok::<(), ()>(())
                });
                prop_assert_eq!(add, Ok(()));
            }
            let mut wanted: Vec<usize> = (0..keys.len()).collect();
            wanted.sort_by_key(|number| &keys[*number]);
            let sorted = list.sorted(0..list.len());
            prop_assert_eq!(&sorted, &wanted);
            let kept = list.only(&sorted);
            prop_assert_eq!(kept.sorted(0..kept.len()), (0..keys.len()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_removed_key_leaves_nothing() {
        let mut list = KeyList::default();
        for key in [b"a", b"b", b"c"] {
            list.add(|bytes| {
                bytes.extend_from_slice(key);
                Ok::<(), ()>(())
            })
            .unwrap();
        }
        list.remove_last();
        list.add(|bytes| {
            bytes.push(b'A');
            Err(())
        })
        .unwrap_err();
        list.add(|bytes| {
            bytes.push(b'0');
            Ok::<(), ()>(())
        })
        .unwrap();
        assert_eq!(list.get(2), b"0");
        assert_eq!(list.sorted(0..list.len()), [2, 0, 1]);
    }
}
