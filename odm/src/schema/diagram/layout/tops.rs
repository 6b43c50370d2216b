//! How high the nodes of a layer stand: near their neighbours, and without overlap.

use super::pixels;

/// The space between two nodes of a layer.
pub(super) const GAP: i32 = 26;

/// A node that is to be placed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish {
    pub(super) top: i32,
    pub(super) height: i32,
}

/// Nodes that touch each other, and so move together.
struct Block {
    sum: i64,
    count: i64,
}

impl Block {
    fn mean(&self) -> i64 {
        self.sum.div_euclid(self.count)
    }
}

/// The tops of nodes from top to bottom that differ least from the wishes, by the sum of squares.
///
/// Without the heights before it, each top may not be smaller than the one before: an isotonic regression, which merges
/// neighbours that would overlap into blocks.
pub(super) fn settle(wishes: &[Wish]) -> Vec<i32> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut before = 0;
    for wish in wishes {
        let mut block = Block {
            sum: i64::from(wish.top - before),
            count: 1,
        };
        while let Some(last) = blocks.pop_if(|last| last.mean() > block.mean()) {
            block.sum += last.sum;
            block.count += last.count;
        }
        blocks.push(block);
        before += wish.height + GAP;
    }
    let means = blocks.iter().flat_map(|block| {
        let count = usize::try_from(block.count).unwrap_or_default();
        let mean = i32::try_from(block.mean()).unwrap_or_default();
        std::iter::repeat_n(mean, count)
    });
    let mut before = 0;
    let mut tops = Vec::new();
    for (mean, wish) in means.zip(wishes) {
        tops.push(mean + before);
        before += wish.height + GAP;
    }
    tops
}

/// The mean of the wishes of a node; `None` without any.
pub(super) fn mean(wishes: impl Iterator<Item = i32>) -> Option<i32> {
    let (mut sum, mut count) = (0, 0);
    for wish in wishes {
        sum += wish;
        count += 1;
    }
    (count > 0).then(|| sum.div_euclid(pixels(count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(wishes: &[(i32, i32)]) -> Vec<i32> {
        let wishes: Vec<_> = wishes
            .iter()
            .map(|(top, height)| Wish {
                top: *top,
                height: *height,
            })
            .collect();
        settle(&wishes)
    }

    #[test]
    fn wishes_without_overlap_come_true() {
        assert_eq!(settled(&[(0, 10), (100, 10), (200, 10)]), [0, 100, 200]);
    }

    #[test]
    fn overlapping_nodes_meet_in_the_middle() {
        assert_eq!(settled(&[(50, 10), (50, 10)]), [32, 68]);
        assert_eq!(settled(&[(0, 10), (0, 10), (500, 10)]), [-18, 18, 500]);
    }
}
