//! The trees, and the nodes that the cases are about.

/// A tree by the positions of its nodes in pre-order. The id of a node is its position and 1.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) parents: Vec<Option<usize>>,
    pub(crate) points: Points,
}

/// The ids of the nodes that the cases are about.
#[derive(Default)]
pub(crate) struct Points {
    /// Its children are read.
    pub(crate) parent: i32,
    /// Its ancestors are read.
    pub(crate) leaf: i32,
    /// Its descendants are read: a tenth of the tree.
    pub(crate) inner: i32,
    /// New nodes become its last children.
    pub(crate) growing: i32,
    /// New nodes come before it.
    pub(crate) sibling: i32,
    /// It moves with its subtree, a tenth of the tree ...
    pub(crate) moved: i32,
    /// ... to the end of the children of this node ...
    pub(crate) target: i32,
    /// ... and back before this one.
    pub(crate) next: i32,
    /// It is deleted with its subtree, a hundredth of the tree.
    pub(crate) deleted: i32,
}

/// The subtrees below the root, all of the same size.
const REGIONS: usize = 10;

/// The subtree to delete comes after this many of them.
const BEFORE_DELETED: usize = 6;

struct Builder {
    parents: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
}

impl Builder {
    fn add(&mut self, parent: usize) -> usize {
        let position = self.parents.len();
        self.parents.push(Some(parent));
        self.children.push(Vec::new());
        self.children[parent].push(position);
        position
    }

    /// A tree of regions, which `grow` makes with a width.
    fn new(region: usize, deleted: usize, grow: fn(&mut Self, usize, usize)) -> (Self, Points) {
        let mut tree = Self {
            parents: vec![None],
            children: vec![Vec::new()],
        };
        let mut points = Points::default();
        for number in 0..REGIONS {
            if number == BEFORE_DELETED {
                let position = tree.add(0);
                grow(&mut tree, position, deleted);
                points.deleted = id(position);
            }
            let position = tree.add(0);
            grow(&mut tree, position, region);
            match number {
                2 => points.inner = id(position),
                3 => points.moved = id(position),
                4 => points.next = id(position),
                _ => {}
            }
        }
        (tree, points)
    }

    /// The position of a region.
    fn region(&self, number: usize) -> usize {
        self.children[0][number + usize::from(number >= BEFORE_DELETED)]
    }

    fn child(&self, of: usize, number: usize) -> usize {
        self.children[of][number]
    }
}

fn id(position: usize) -> i32 {
    i32::try_from(position + 1).unwrap()
}

/// Groups of 99 leaves.
fn groups(tree: &mut Builder, top: usize, count: usize) {
    for _ in 0..count {
        let group = tree.add(top);
        for _ in 0..99 {
            tree.add(group);
        }
    }
}

/// A comb: a spine of `length` nodes, and from each of them two chains that end at the same depth as the spine. It has
/// `length` squared nodes.
fn comb(tree: &mut Builder, top: usize, length: usize) {
    let mut spine = top;
    for below in (1..length).rev() {
        for _ in 0..2 {
            let mut chain = spine;
            for _ in 0..below {
                chain = tree.add(chain);
            }
        }
        spine = tree.add(spine);
    }
}

impl Shape {
    /// Four levels: a root, 10 regions, their groups (100 in a tree of 100,000 nodes), and 99 leaves in each group.
    pub(crate) fn wide(nodes: usize) -> Self {
        let (tree, points) = Builder::new(nodes / 1_000, nodes / 10_000, groups);
        let middle = nodes / 2_000;
        let group = |region: usize, number: usize| tree.child(tree.region(region), number);
        let points = Points {
            parent: id(group(2, middle)),
            leaf: id(tree.child(group(5, middle), 98)),
            growing: id(group(7, middle)),
            sibling: id(tree.child(group(7, middle - 1), 49)),
            target: id(group(8, 0)),
            ..points
        };
        Self::of("wide", tree, points)
    }

    /// A root and 10 combs, as deep as a tenth of the tree is when it has the form of a comb: 100 levels for 100,000 nodes.
    /// The mean depth is two thirds of that.
    pub(crate) fn deep(nodes: usize) -> Self {
        let (tree, points) = Builder::new((nodes / 10).isqrt(), (nodes / 100).isqrt(), comb);
        let middle = (nodes / 10).isqrt() / 2;
        let spine = |region: usize, steps: usize| {
            let mut node = tree.region(region);
            for _ in 0..steps {
                node = *tree.children[node].last().unwrap();
            }
            node
        };
        let points = Points {
            parent: id(spine(2, middle)),
            leaf: id(spine(5, 2 * middle - 1)),
            growing: id(spine(7, middle)),
            sibling: id(tree.child(spine(7, middle / 2), 1)),
            target: id(tree.region(8)),
            ..points
        };
        Self::of("deep", tree, points)
    }

    fn of(name: &'static str, tree: Builder, points: Points) -> Self {
        Self {
            name,
            parents: tree.parents,
            points,
        }
    }

    /// The ids of the nodes, each with that of its parent.
    pub(crate) fn edges(&self) -> impl Iterator<Item = (i32, Option<i32>)> {
        let parents = self.parents.iter().enumerate();
        parents.map(|(position, parent)| (id(position), parent.map(id)))
    }
}
