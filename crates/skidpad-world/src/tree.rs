//! A tree of boxes, four to a node, that knows which triangles of a mesh come into a box.

use parry3d::bounding_volume::Aabb;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, TraversalAction};
use skidpad_core::Vec3;
use skidpad_core::lane::{Four, Lane};

/// Boxes in the order of the tree of parry that they come from.
#[derive(Clone)]
pub(crate) struct Tree {
    /// The root first.
    nodes: Vec<Node>,
}

/// Four boxes, or fewer, side by side.
#[derive(Clone)]
struct Node {
    low: [Four; 3],
    high: [Four; 3],
    /// What is in each box: another node, or with [`LEAF`] the number of what it is around.
    within: [u32; 4],
}

/// Marks the numbers of leaves.
const LEAF: u32 = 1 << 31;

/// Number of no node.
const NONE: u32 = LEAF - 1;

/// A box of parry's tree, and what is in it.
struct Branch {
    around: Aabb,
    within: Within,
}

enum Within {
    Leaf(u32),
    Two(Box<[Branch; 2]>),
}

impl Branch {
    /// The next of `boxes`, which come as parry walks a tree: both children of a node, then all below the first, then all below the other.
    fn two(boxes: &mut impl Iterator<Item = (Aabb, Option<u32>)>) -> Option<Box<[Self; 2]>> {
        let [one, other] = [boxes.next()?, boxes.next()?];
        let mut with = |(around, leaf): (Aabb, Option<u32>)| {
            let within = leaf.map_or_else(|| Self::two(boxes).map(Within::Two), |leaf| Some(Within::Leaf(leaf)))?;
            Some(Self { around, within })
        };
        Some(Box::new([with(one)?, with(other)?]))
    }

    fn size(&self) -> f32 {
        match self.within {
            Within::Leaf(_) => f32::MIN,
            Within::Two(_) => self.around.extents().element_sum(),
        }
    }
}

impl Tree {
    /// Of the boxes `leaves`, at least one.
    pub fn of(leaves: &[Aabb]) -> Self {
        let mut tree = Self { nodes: Vec::with_capacity(leaves.len() / 2) };
        if let [only] = leaves {
            tree.add(vec![Branch { around: *only, within: Within::Leaf(0) }]);
            return tree;
        }
        let mut boxes = Vec::with_capacity(2 * leaves.len());
        Bvh::from_leaves(BvhBuildStrategy::Binned, leaves).traverse(|node| {
            boxes.push((node.aabb(), node.leaf_data()));
            TraversalAction::Continue
        });
        if let Some(root) = Branch::two(&mut boxes.into_iter()) {
            tree.add((*root).into());
        }
        tree
    }

    /// Adds the node of `branches`, the largest of them as what is within it until there are four; its number.
    fn add(&mut self, mut branches: Vec<Branch>) -> u32 {
        while branches.len() < 4 {
            let sizes = branches.iter().map(Branch::size);
            let Some((largest, _)) = sizes.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b)) else { break };
            let Branch { around, within } = branches.remove(largest);
            match within {
                Within::Two(two) => drop(branches.splice(largest..largest, *two)),
                leaf => {
                    branches.insert(largest, Branch { around, within: leaf });
                    break;
                }
            }
        }
        let number = self.nodes.len();
        let (mut low, mut high) = ([[f32::INFINITY; 4]; 3], [[f32::NEG_INFINITY; 4]; 3]);
        for (lane, Branch { around, .. }) in branches.iter().enumerate() {
            let (mins, maxs) = (around.mins.to_array(), around.maxs.to_array());
            (0..3).for_each(|k| (low[k][lane], high[k][lane]) = (mins[k], maxs[k]));
        }
        self.nodes.push(Node { low: low.map(Four::new), high: high.map(Four::new), within: [NONE; 4] });
        for (lane, branch) in branches.into_iter().enumerate() {
            self.nodes[number].within[lane] = match branch.within {
                Within::Leaf(leaf) => leaf | LEAF,
                Within::Two(two) => self.add((*two).into()),
            };
        }
        number as u32
    }

    /// Calls `to` with the numbers of all boxes that come into the one from `low` to `high`.
    pub fn within(&self, low: Vec3, high: Vec3, mut to: impl FnMut(u32)) {
        // Nothing is within a box of no numbers.
        if low.cmple(high).all() {
            let sought = [low, high].map(|corner| corner.to_array().map(Four::splat));
            self.walk(0, &sought, &mut to);
        }
    }

    fn walk(&self, first: u32, sought: &[[Four; 3]; 2], to: &mut impl FnMut(u32)) {
        let mut number = first;
        while let Some(node) = self.nodes.get(number as usize) {
            let beside = |k: usize| sought[1][k].less(node.low[k]) | node.high[k].less(sought[0][k]);
            let mut met = !(beside(0) | beside(1) | beside(2)).bits() & 0b1111;
            number = NONE;
            while met != 0 {
                let within = node.within[met.trailing_zeros() as usize % 4];
                met &= met - 1;
                if within & LEAF != 0 {
                    to(within & !LEAF);
                } else if met == 0 {
                    number = within;
                } else {
                    self.walk(within, sought, to);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The leaves that parry finds, in its order; of one to many boxes, some of them alike.
    #[test]
    fn leaves_are_those_of_parry() {
        let number = |k: usize, step: usize, of: usize| (k * step % of) as f32;
        for count in [1usize, 2, 3, 4, 5, 17, 300] {
            let leaves: Vec<Aabb> = (0..count)
                .map(|k| {
                    let low = Vec3::new(number(k, 37, 29), number(k, 11, 31), number(k / 2, 3, 7));
                    Aabb::new(low, low + Vec3::new(number(k, 5, 3), 1.0, number(k, 7, 2)))
                })
                .collect();
            let (tree, of_parry) = (Tree::of(&leaves), Bvh::from_leaves(BvhBuildStrategy::Binned, &leaves));
            let mut met = 0;
            for k in 0..400 {
                let low = Vec3::new(number(k, 17, 33), number(k, 23, 35), number(k, 5, 9)) - 1.0;
                // The first one is around them all.
                let more = if k == 0 { 50.0 } else { 0.0 };
                let sought = Aabb::new(low, low + Vec3::new(number(k, 3, 5), number(k, 7, 4), number(k, 2, 6)) + more);
                let mut found = Vec::new();
                tree.within(sought.mins, sought.maxs, |leaf| found.push(leaf));
                assert_eq!(found, of_parry.intersect_aabb(&sought).collect::<Vec<u32>>(), "{count} {k}");
                met += found.len();
            }
            assert!(met >= count, "{met} of {count}");
            tree.within(Vec3::NAN, Vec3::ONE, |leaf| panic!("{leaf}"));
        }
    }
}
