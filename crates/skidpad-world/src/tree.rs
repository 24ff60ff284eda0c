//! Bounding volume hierarchy with four boxes per node, which finds the triangles of a mesh in a box.
//!
//! Queries with small boxes do not start at the root. A grid of squares on the ground plan stores, for each square, the
//! deepest node that contains everything in it.

use parry3d::bounding_volume::{Aabb, BoundingVolume};
use parry3d::partitioning::{Bvh, BvhBuildStrategy, TraversalAction};
use skidpad_core::Vec3;
use skidpad_core::simd::lane::{F32x4, Lane};

/// Four-wide tree, in the order of the binary tree of parry from which it is built.
#[derive(Clone)]
pub(crate) struct Tree {
    /// Nodes: the root first, those of the squares last.
    nodes: Vec<Node>,
    /// Grid of start nodes for small queries; `None` for few triangles.
    squares: Option<Squares>,
}

/// Grid of squares on the ground plan, row by row along x. Each square has a node with everything in it and in its next
/// neighbours along x and y.
#[derive(Clone)]
struct Squares {
    /// Middle of the first square, m.
    first_centre: [f32; 2],
    /// Reciprocal of the side length, 1/m.
    squares_per_metre: f32,
    /// Indices of the last square along x and y.
    last_indices: [f32; 2],
    /// Number of squares along x.
    columns: u32,
    /// Index of the node of the first square.
    first_node: u32,
}

/// Node of up to four boxes, side by side.
#[derive(Clone)]
struct Node {
    /// Lowest x, y and z of each box, m.
    low: [F32x4; 3],
    /// Highest x, y and z of each box, m.
    high: [F32x4; 3],
    /// Content of each box: the index of another node, or a leaf number with [`LEAF_FLAG`] set; [`NO_NODE`] for an
    /// unused box.
    contents: [u32; 4],
}

/// Flag bit of leaf numbers.
const LEAF_FLAG: u32 = 1 << 31;

/// Index that stands for no node.
const NO_NODE: u32 = LEAF_FLAG - 1;

/// Number 2²³, from which on an f32 has no fraction and its bit pattern increases by one per integer.
pub(crate) const ROUNDING_OFFSET: f32 = 8_388_608.0;

/// Average number of leaves per square.
const LEAVES_PER_SQUARE: usize = 4;

/// Maximum number of squares along x or y, so that f32 resolves a hundredth of a square.
const MAX_SQUARES_PER_SIDE: f32 = 65_536.0;

impl Node {
    /// Returns the used boxes of the node (content other than [`NO_NODE`]), each with its content, in the order of the
    /// lanes.
    fn parts(&self) -> impl Iterator<Item = (Aabb, u32)> + '_ {
        let corner = |sides: &[F32x4; 3], lane: usize| Vec3::from_array(sides.map(|side| side.lane_value(lane)));
        let part =
            move |lane: usize| (Aabb::new(corner(&self.low, lane), corner(&self.high, lane)), self.contents[lane]);
        (0..4).map(part).filter(|(_, content)| *content != NO_NODE)
    }

    /// Creates a node of the first four `parts`: boxes and their contents, one per lane. Further parts are dropped.
    /// Unused boxes are empty (from +∞ to −∞, so that nothing intersects them) and have the content [`NO_NODE`].
    fn from_parts(parts: &[(Aabb, u32)]) -> Self {
        let (mut low, mut high, mut contents) = ([[f32::INFINITY; 4]; 3], [[f32::NEG_INFINITY; 4]; 3], [NO_NODE; 4]);
        // First index of `low` and `high`: axis; second index: lane.
        for (lane, (bounds, content)) in parts.iter().take(4).enumerate() {
            let (mins, maxs) = (bounds.mins.to_array(), bounds.maxs.to_array());
            (0..3).for_each(|k| (low[k][lane], high[k][lane]) = (mins[k], maxs[k]));
            contents[lane] = *content;
        }
        Self { low: low.map(F32x4::new), high: high.map(F32x4::new), contents }
    }
}

/// Box of parry's tree, and its content.
struct Branch {
    /// Box around everything below.
    bounds: Aabb,
    /// Content of the box: a leaf, or two smaller boxes.
    content: BranchContent,
}

/// Content of a box of the binary tree.
enum BranchContent {
    /// Number of a leaf: its index in the list from which the tree is built.
    Leaf(u32),
    /// Children of this box: two boxes within it.
    Children(Box<[Branch; 2]>),
}

impl Branch {
    /// Builds the next two siblings of `boxes`, with everything below them. Each of `boxes` has its leaf number, or
    /// `None` if two smaller boxes belong to it. `boxes` is in the order in which parry traverses a tree: both children
    /// of a node, then everything below the first, then everything below the second. Consumes these boxes. Returns
    /// `None` if boxes are missing.
    fn build_siblings(boxes: &mut impl Iterator<Item = (Aabb, Option<u32>)>) -> Option<Box<[Self; 2]>> {
        let [first, second] = [boxes.next()?, boxes.next()?];
        // Recursion: a box without leaf number is followed by its own two children.
        let mut build_branch = |(bounds, leaf): (Aabb, Option<u32>)| {
            let content = leaf.map_or_else(
                || Self::build_siblings(boxes).map(BranchContent::Children),
                |leaf| Some(BranchContent::Leaf(leaf)),
            )?;
            Some(Self { bounds, content })
        };
        Some(Box::new([build_branch(first)?, build_branch(second)?]))
    }

    /// Returns the sum of the three edge lengths of the box, m; the lowest f32 for a leaf, so that a leaf is never the
    /// largest branch next to one that can be divided.
    fn edge_length_sum(&self) -> f32 {
        match self.content {
            BranchContent::Leaf(_) => f32::MIN,
            BranchContent::Children(_) => self.bounds.extents().element_sum(),
        }
    }
}

impl Tree {
    /// Builds the tree over the boxes `leaves`, at least one; the number of a leaf is its index. Uses the binary tree
    /// of parry, of which two levels become one node of four boxes. Adds the grid of squares last
    /// ([`Tree::add_squares`]). A single leaf becomes a tree of one node without grid, because parry has no tree of
    /// siblings for it.
    pub fn build(leaves: &[Aabb]) -> Self {
        let mut tree = Self { nodes: Vec::with_capacity(leaves.len() / 2), squares: None };
        if let [only_leaf] = leaves {
            tree.add_node(vec![Branch { bounds: *only_leaf, content: BranchContent::Leaf(0) }]);
            return tree;
        }
        let mut boxes = Vec::with_capacity(2 * leaves.len());
        Bvh::from_leaves(BvhBuildStrategy::Binned, leaves).traverse(|node| {
            boxes.push((node.aabb(), node.leaf_data()));
            TraversalAction::Continue
        });
        if let Some(root) = Branch::build_siblings(&mut boxes.into_iter()) {
            tree.add_node((*root).into());
        }
        tree.add_squares(leaves);
        tree
    }

    /// Adds the grid of squares on the ground plan (x, y) of all `leaves`, with about [`LEAVES_PER_SQUARE`] leaves per
    /// square, and one node per square at the end of `nodes`, row by row along x. The node contains everything that
    /// intersects the square or the next one along x and y, at any height, plus a margin for rounding. Squares are
    /// enlarged so that a side has at most [`MAX_SQUARES_PER_SIDE`] of them, and the longer side at most one per
    /// [`LEAVES_PER_SQUARE`] leaves. Adds no grid for fewer than twice [`LEAVES_PER_SQUARE`] leaves, or if the size of
    /// a square is zero or not finite.
    fn add_squares(&mut self, leaves: &[Aabb]) {
        let bounds = leaves.iter().fold(Aabb::new_invalid(), |bounds, leaf| bounds.merged(leaf));
        // Extents in m, and the share of all leaves that one square has.
        let (extents, square_share) = (bounds.extents(), LEAVES_PER_SQUARE as f32 / leaves.len() as f32);
        let longest_side = extents.x.max(extents.y);
        // Side length of a square, m. The longer side of the grid has at most a quarter as many squares as there are
        // leaves.
        let side_length = (extents.x * extents.y * square_share)
            .sqrt()
            .max(longest_side * square_share.max(1.0 / MAX_SQUARES_PER_SIDE));
        let squares_per_metre = side_length.recip();
        if leaves.len() < 2 * LEAVES_PER_SQUARE || !(squares_per_metre.is_finite() && squares_per_metre > 0.0) {
            return;
        }
        // Lowest corner of the grid and centre of its first square, m.
        let low = [bounds.mins.x, bounds.mins.y];
        let first_centre = low.map(|low| low + 0.5 * side_length);
        // Number of squares along x and y.
        let counts = [extents.x, extents.y].map(|extent| (extent * squares_per_metre) as u32 + 1);
        // Margin for the rounding of square indices and of coordinates, m.
        let margin = 0.1 * side_length + 1e-6 * bounds.mins.abs().max(bounds.maxs.abs()).max_element();
        let last_indices = counts.map(|count| (count - 1) as f32);
        let squares = Squares {
            first_centre,
            squares_per_metre,
            last_indices,
            columns: counts[0],
            first_node: self.nodes.len() as u32,
        };
        // Nodes in the order of the squares, after all other nodes.
        for (row, column) in (0..counts[1]).flat_map(|row| (0..counts[0]).map(move |column| (row, column))) {
            let corner = Vec3::new(low[0] + column as f32 * side_length, low[1] + row as f32 * side_length, 0.0);
            // The square and the next one along x and y, at any height.
            let extent = Vec3::new(2.0 * side_length + margin, 2.0 * side_length + margin, f32::INFINITY);
            let square = Aabb::new(corner - Vec3::new(margin, margin, f32::INFINITY), corner + extent);
            self.nodes.push(self.square_node(&square));
        }
        self.squares = Some(squares);
    }

    /// Builds the node of everything that intersects `square`, without adding it. Starts with the intersecting parts of
    /// the root. Then repeatedly replaces one part that is a node by its own intersecting parts, in its place: the
    /// first one for which at most four parts remain. Ends when there is none. Leaves are never replaced.
    fn square_node(&self, square: &Aabb) -> Node {
        let intersecting_parts = |node: u32| {
            let parts = self.nodes.get(node as usize).map(|node| node.parts()).into_iter().flatten();
            parts.filter(|(bounds, _)| bounds.intersects(square)).collect::<Vec<_>>()
        };
        let mut parts = intersecting_parts(0);
        while let Some((index, children)) = parts
            .iter()
            .enumerate()
            .filter(|(_, (_, part))| part & LEAF_FLAG == 0)
            .map(|(index, (_, part))| (index, intersecting_parts(*part)))
            // 5: one part is replaced, so that at most four remain.
            .find(|(_, children)| parts.len() + children.len() <= 5)
        {
            parts.splice(index..=index, children);
        }
        Node::from_parts(&parts)
    }

    /// Returns the index of the node at which a query starts: that of the square nearest to `low` (its centre; clamped
    /// to the grid) if this square and its next neighbours along x and y contain the box from `low` to `high` (m), else
    /// 0, the root. Also 0 without a grid. Heights do not matter.
    #[inline(always)]
    fn start_node(&self, low: Vec3, high: Vec3) -> u32 {
        let Some(Squares { first_centre, squares_per_metre, last_indices, columns, first_node }) = &self.squares else {
            return 0;
        };
        // Coordinate in squares from the centre of the first square.
        let square_coordinate = |corner: Vec3, axis: usize| (corner[axis] - first_centre[axis]) * squares_per_metre;
        // Adding 2²³ rounds to the nearest integer, which is then in the low bits.
        let nearest_square =
            |axis: usize| square_coordinate(low, axis).at_least(0.0).at_most(last_indices[axis]) + ROUNDING_OFFSET;
        let [column, row] = [nearest_square(0), nearest_square(1)];
        // 1.5: half of this square and the whole next one.
        let contains_high =
            |axis: usize, square_index: f32| square_coordinate(high, axis) < square_index - ROUNDING_OFFSET + 1.5;
        if !(contains_high(0, column) & contains_high(1, row)) {
            return 0;
        }
        let to_integer = |square_index: f32| square_index.to_bits() - ROUNDING_OFFSET.to_bits();
        first_node + to_integer(row) * columns + to_integer(column)
    }

    /// Adds a node for `branches` (at most four) and, recursively, the nodes below it, which follow it in `nodes`.
    /// While there are fewer than four branches, the one with the largest box is replaced by its two children, in its
    /// place; this ends when only leaves are left. Returns the index of the node.
    fn add_node(&mut self, mut branches: Vec<Branch>) -> u32 {
        while branches.len() < 4 {
            let sizes = branches.iter().map(Branch::edge_length_sum);
            // A leaf has the smallest size, so it is chosen only if all branches are leaves.
            let Some((largest, _)) = sizes.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b)) else { break };
            let Branch { bounds, content } = branches.remove(largest);
            match content {
                BranchContent::Children(children) => drop(branches.splice(largest..largest, *children)),
                leaf => {
                    branches.insert(largest, Branch { bounds, content: leaf });
                    break;
                }
            }
        }
        // The node comes before the nodes below it, so its contents are set afterwards.
        let node_index = self.nodes.len();
        let parts: Vec<(Aabb, u32)> = branches.iter().map(|branch| (branch.bounds, NO_NODE)).collect();
        self.nodes.push(Node::from_parts(&parts));
        for (lane, branch) in branches.into_iter().enumerate() {
            self.nodes[node_index].contents[lane] = match branch.content {
                BranchContent::Leaf(leaf) => leaf | LEAF_FLAG,
                BranchContent::Children(children) => self.add_node((*children).into()),
            };
        }
        node_index as u32
    }

    /// Calls `visit` with the numbers of all leaves whose boxes intersect or touch the box from `low` to `high` (m). A
    /// box with NaN corners or with `low` above `high` finds nothing.
    pub fn visit_leaves_in(&self, low: Vec3, high: Vec3, mut visit: impl FnMut(u32)) {
        // A box with NaN corners contains nothing.
        if low.cmple(high).all() {
            let query = [low, high].map(|corner| corner.to_array().map(F32x4::splat));
            self.visit_leaves_below(self.start_node(low, high), &query, &mut visit);
        }
    }

    /// Calls `visit` with the numbers of all leaves below node `root` whose boxes intersect or touch the box `query`:
    /// lowest and highest corner, each number in all four lanes. Visits the parts of a node in order. The last
    /// intersecting part of a node is followed in the loop, the others by recursion. An index without node, such as
    /// [`NO_NODE`], ends the search.
    fn visit_leaves_below(&self, root: u32, query: &[[F32x4; 3]; 2], visit: &mut impl FnMut(u32)) {
        let mut node_index = root;
        while let Some(node) = self.nodes.get(node_index as usize) {
            // Whether the boxes are apart along axis k.
            let is_separate = |axis: usize| query[1][axis].less(node.low[axis]) | node.high[axis].less(query[0][axis]);
            // Bit per box of the node that intersects.
            let mut hit_bits = !(is_separate(0) | is_separate(1) | is_separate(2)).bits() & 0b1111;
            node_index = NO_NODE;
            while hit_bits != 0 {
                let content = node.contents[hit_bits.trailing_zeros() as usize % 4];
                // Clears the lowest bit that is set.
                hit_bits &= hit_bits - 1;
                if content & LEAF_FLAG != 0 {
                    visit(content & !LEAF_FLAG);
                } else if hit_bits == 0 {
                    node_index = content;
                } else {
                    self.visit_leaves_below(content, query, visit);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Queries find the leaves that parry finds, in the same order, for 1 to 3000 boxes, some of them identical, and
    /// 400 query boxes. A query with NaN corners finds nothing.
    #[test]
    fn leaves_are_those_of_parry() {
        // Repeatable whole number from 0 to `of` − 1.
        let number = |k: usize, step: usize, of: usize| (k * step % of) as f32;
        for count in [1usize, 2, 3, 4, 5, 17, 300, 3000] {
            let leaves: Vec<Aabb> = (0..count)
                .map(|k| {
                    let low = Vec3::new(number(k, 37, 29), number(k, 11, 31), number(k / 2, 3, 7));
                    Aabb::new(low, low + Vec3::new(number(k, 5, 3), 1.0, number(k, 7, 2)))
                })
                .collect();
            let (tree, of_parry) = (Tree::build(&leaves), Bvh::from_leaves(BvhBuildStrategy::Binned, &leaves));
            let mut met = 0;
            for k in 0..400 {
                let low = Vec3::new(number(k, 17, 33), number(k, 23, 35), number(k, 5, 9)) - 1.0;
                // The first query box contains all leaves.
                let more = if k == 0 { 50.0 } else { 0.0 };
                let sought = Aabb::new(low, low + Vec3::new(number(k, 3, 5), number(k, 7, 4), number(k, 2, 6)) + more);
                let mut found = Vec::new();
                tree.visit_leaves_in(sought.mins, sought.maxs, |leaf| found.push(leaf));
                assert_eq!(found, of_parry.intersect_aabb(&sought).collect::<Vec<u32>>(), "{count} {k}");
                met += found.len();
            }
            assert!(met >= count, "{met} of {count}");
            tree.visit_leaves_in(Vec3::NAN, Vec3::ONE, |leaf| panic!("{leaf}"));
        }
    }
}
