//! Which hulls may meet in the coming steps, and which are where: spheres around them, sorted along the longer side of the world.

use skidpad_core::DVec3;

use crate::chassis::Chassis;

/// Pairs whose bounds meet for which there is memory from the start, for each car; more ask for it.
const NEAR: usize = 8;

/// How far a car may go until bounds are made anew, m.
const DRIFT: f64 = 1.5;

/// Speed, as a share of that it had, from which on they are.
const FASTER: f32 = 1.25;

/// And the way of a step, m, below which they are not.
const LEAST_WAY: f32 = 0.1;

/// Maximum number of swaps of the insertion sort per bound. Beyond it many bounds are new, and a sort in n log n is faster.
const MAX_SWAPS_PER_BOUND: usize = 8;

/// Farthest that a car is taken to come in a step, m. What is lost beyond it meets none.
const MOST_WAY: f32 = 1e5;

/// Spheres around the hulls of a world, which hold until one of them leaves its own.
#[derive(Clone, Default)]
pub(crate) struct Bounds {
    /// Where the last sweep found each car.
    kept: Vec<Kept>,
    /// Of all cars, by their lowest coordinate along the axis of the sweep.
    bounds: Vec<Bound>,
    /// Pairs whose bounds meet; in order, the lower number first.
    near: Vec<[u32; 2]>,
    axis: usize,
    /// Radius of the largest, m.
    widest: f64,
}

/// A car as the last sweep found it: its bound holds as long as it is not far from there.
#[derive(Clone, Copy, Debug)]
struct Kept {
    position: DVec3,
    /// Maximum travel in a step, m. NaN for a lost car and infinite for a suspended one: both collide with nothing.
    way: f32,
}

/// A sphere around all that a hull and its wheels sweep in the steps until the next sweep.
#[derive(Clone, Copy, Debug, Default)]
struct Bound {
    car: u32,
    radius: f64,
    /// Least coordinate along the axis of the sweep, m; infinite if it meets none.
    low: f64,
}

impl Bounds {
    /// Makes room for `cars` cars, which meet others or not.
    pub fn make_room(&mut self, cars: usize, meet: bool) {
        self.kept.clear();
        self.kept.reserve(cars);
        self.bounds.extend((self.bounds.len()..cars).map(|car| Bound { car: car as u32, ..Bound::default() }));
        if meet {
            self.near.reserve((NEAR * cars).saturating_sub(self.near.len()));
        }
    }

    /// Discards the bounds, so that [`Bounds::is_fresh`] returns false.
    pub fn clear(&mut self) {
        self.kept.clear();
    }

    /// The pairs of cars whose bounds meet, the lower number first.
    pub fn near(&self) -> &[[u32; 2]] {
        &self.near
    }

    /// Those whose bounds come within `reach` m of `place`, in no order.
    pub fn around(&self, place: DVec3, reach: f64) -> impl Iterator<Item = usize> {
        let [low, high] = [place[self.axis] - reach - 2.0 * self.widest, place[self.axis] + reach];
        let first = self.bounds.partition_point(|bound| bound.low < low);
        let within = move |bound: &&Bound| {
            let most = bound.radius + reach;
            self.kept[bound.car as usize].position.distance_squared(place) <= most * most
        };
        let along = self.bounds[first..].iter().take_while(move |bound| bound.low <= high);
        along.filter(within).map(|bound| bound.car as usize)
    }

    /// Whether no car has left its bound, nor will within `dt` s.
    #[inline(always)]
    pub fn is_fresh(&self, chassis: &[Chassis], dt: f32) -> bool {
        let still = |(kept, chassis): (&Kept, &Chassis)| {
            let moved = (chassis.position - kept.position).length_squared() <= DRIFT * DRIFT;
            moved && chassis.motion()[0].length_squared() * (dt * dt) <= kept.way * kept.way
        };
        self.kept.len() == chassis.len() && self.kept.iter().zip(chassis).all(still)
    }

    /// Finds the pairs whose bounds meet, but for those of numbers below `passing`: sorts the bounds along the longer side of the world and compares neighbours.
    #[inline(never)]
    pub fn sweep(&mut self, chassis: &[Chassis], passing: u32, dt: f32) {
        self.near.clear();
        self.kept.clear();
        let [mut low, mut high] = [DVec3::splat(f64::INFINITY), DVec3::splat(f64::NEG_INFINITY)];
        for chassis in chassis {
            let way = FASTER * chassis.motion()[0].length() * dt + LEAST_WAY;
            // What is lost, or no number, meets nothing, and is looked at again in the next step.
            let way = if way < MOST_WAY { way } else { f32::NAN };
            let way = if chassis.away { f32::INFINITY } else { way };
            self.kept.push(Kept { position: chassis.position, way });
            (low, high) = (low.min(chassis.position), high.max(chassis.position));
        }
        let size = high - low;
        self.axis = usize::from(size.y > size.x);
        self.widest = 0.0;
        for bound in &mut self.bounds {
            let (kept, chassis) = (self.kept[bound.car as usize], &chassis[bound.car as usize]);
            let reach = chassis.hull_reach.max(chassis.looks());
            bound.radius = DRIFT + f64::from(reach + kept.way);
            bound.low = f64::INFINITY;
            if bound.radius.is_finite() {
                bound.low = kept.position[self.axis] - bound.radius;
                self.widest = self.widest.max(bound.radius);
            }
        }
        self.sort();
        for (i, one) in self.bounds.iter().enumerate().take_while(|(_, one)| one.low < f64::INFINITY) {
            let middle = self.kept[one.car as usize].position;
            let end = one.low + 2.0 * one.radius;
            for other in self.bounds[i + 1..].iter().take_while(|other| other.low <= end) {
                let reach = one.radius + other.radius;
                if one.car.max(other.car) < passing {
                    continue;
                }
                if middle.distance_squared(self.kept[other.car as usize].position) <= reach * reach {
                    self.near.push([one.car.min(other.car), one.car.max(other.car)]);
                }
            }
        }
        self.near.sort_unstable();
    }

    /// Sorts the bounds by their lower ends. The order of the last sweep is a good start for an insertion sort.
    fn sort(&mut self) {
        let mut swaps = 0;
        for end in 1..self.bounds.len() {
            let mut k = end;
            while k > 0 && self.bounds[k].low < self.bounds[k - 1].low {
                self.bounds.swap(k, k - 1);
                k -= 1;
            }
            swaps += end - k;
            if swaps > MAX_SWAPS_PER_BOUND * self.bounds.len() {
                self.bounds.sort_unstable_by(|one, other| one.low.total_cmp(&other.low));
                return;
            }
        }
    }
}
