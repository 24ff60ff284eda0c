//! Broad phase: pairs of hulls that may collide in the coming steps, and hulls near a place. Spheres around the hulls
//! are sorted along the longer side of the world. "Car" stands for car or free body here.

use skidpad_core::DVec3;

use crate::chassis::Chassis;

/// Number of pairs per car for which memory is reserved.
const RESERVED_NEIGHBOURS_PER_CAR: usize = 8;

/// Distance from its position at the last sweep at which a car triggers a new sweep, m.
const RESWEEP_DISTANCE_M: f64 = 1.5;

/// Ratio of a car's speed to its speed at the last sweep above which a new sweep follows.
const RESWEEP_SPEED_RATIO: f32 = 1.25;

/// Travel in a step that never triggers a sweep by its speed, m; added to the limit of [`RESWEEP_SPEED_RATIO`].
const MIN_RESWEEP_TRAVEL_M: f32 = 0.1;

/// Maximum number of swaps of the insertion sort per sphere. Beyond it many spheres are new, and a sort in n log n is
/// faster.
const MAX_SWAPS_PER_SPHERE: usize = 8;

/// Maximum travel of a car in a step, m. A faster car is lost and collides with nothing.
const MAX_STEP_TRAVEL_M: f32 = 1e5;

/// Spheres around the hulls of a world. They stay valid until a hull leaves its sphere.
#[derive(Clone, Default)]
pub(crate) struct Bounds {
    /// Position of each car at the last sweep.
    swept_cars: Vec<SweptCar>,
    /// Spheres of all cars, sorted by their lowest coordinate along the axis of the sweep.
    spheres: Vec<BoundingSphere>,
    /// Pairs of cars whose spheres overlap, sorted, the lower index first.
    near_pairs: Vec<[u32; 2]>,
    /// Axis of the sweep: 0 for x, 1 for y.
    axis: usize,
    /// Radius of the largest sphere, m.
    max_radius: f64,
}

/// Car at the last sweep. The sphere is valid while the car stays near that position.
#[derive(Clone, Copy, Debug)]
struct SweptCar {
    /// Position of the centre of mass at the last sweep, m.
    position: DVec3,
    /// Maximum travel in a step, m. NaN for a lost car and infinite for a suspended one: both collide with nothing.
    max_travel: f32,
}

/// Sphere around everything that a hull and its wheels sweep until the next sweep of the broad phase.
#[derive(Clone, Copy, Debug, Default)]
struct BoundingSphere {
    /// Index of the car or free body.
    car: u32,
    /// Radius of the sphere, m; not finite for a car that collides with nothing.
    radius: f64,
    /// Lowest coordinate along the axis of the sweep, m; infinite for a car that collides with nothing.
    low: f64,
}

impl Bounds {
    /// Reserves memory for `car_count` cars, adds a sphere for each car that has none yet, and discards the last sweep,
    /// so that [`Bounds::is_valid`] returns false. `can_collide`: whether pairs can collide at all; if not, no memory
    /// is reserved for pairs. Stored pairs and existing spheres stay.
    pub fn reserve(&mut self, car_count: usize, can_collide: bool) {
        self.swept_cars.clear();
        self.swept_cars.reserve(car_count);
        // One entry per car; the order of existing entries is kept for the next sort.
        self.spheres.extend(
            (self.spheres.len()..car_count).map(|car| BoundingSphere { car: car as u32, ..BoundingSphere::default() }),
        );
        if can_collide {
            self.near_pairs.reserve((RESERVED_NEIGHBOURS_PER_CAR * car_count).saturating_sub(self.near_pairs.len()));
        }
    }

    /// Discards the last sweep, so that [`Bounds::is_valid`] returns false. Stored pairs and spheres stay until the
    /// next sweep.
    pub fn clear(&mut self) {
        self.swept_cars.clear();
    }

    /// Returns the pairs of cars whose spheres overlapped at the last sweep, sorted, the lower index first.
    pub fn near_pairs(&self) -> &[[u32; 2]] {
        &self.near_pairs
    }

    /// Returns the cars whose spheres of the last sweep come within `reach` m of `point` (world, m), ordered by the
    /// lowest coordinates of their spheres along the axis of the sweep. Free bodies are included; suspended and lost
    /// cars are left out.
    pub fn cars_near(&self, point: DVec3, reach: f64) -> impl Iterator<Item = usize> {
        // A sphere that reaches `point` has its lowest coordinate in this range, since it is two radii wide.
        let [low, high] = [point[self.axis] - reach - 2.0 * self.max_radius, point[self.axis] + reach];
        let first_index = self.spheres.partition_point(|sphere| sphere.low < low);
        let is_within_reach = move |sphere: &&BoundingSphere| {
            // Largest distance of the centres, m.
            let max_distance = sphere.radius + reach;
            self.swept_cars[sphere.car as usize].position.distance_squared(point) <= max_distance * max_distance
        };
        let near_spheres = self.spheres[first_index..].iter().take_while(move |sphere| sphere.low <= high);
        near_spheres.filter(is_within_reach).map(|sphere| sphere.car as usize)
    }

    /// Returns true if the last sweep still applies to all of `chassis`: their number is unchanged, no car is farther
    /// than [`RESWEEP_DISTANCE_M`] from its position at the sweep, and none moves farther within `dt` s than its sphere
    /// allows. Lost cars, which have a NaN as limit, always make the sweep invalid; suspended cars have no limit of
    /// travel.
    #[inline(always)]
    pub fn is_valid(&self, chassis: &[Chassis], dt: f32) -> bool {
        let is_in_sphere = |(swept_car, body): (&SweptCar, &Chassis)| {
            let is_near_sweep =
                (body.position - swept_car.position).length_squared() <= RESWEEP_DISTANCE_M * RESWEEP_DISTANCE_M;
            // Squared travel in the step against the squared limit; false for a limit of NaN.
            is_near_sweep
                && body.pose_motion()[0].length_squared() * (dt * dt) <= swept_car.max_travel * swept_car.max_travel
        };
        self.swept_cars.len() == chassis.len() && self.swept_cars.iter().zip(chassis).all(is_in_sphere)
    }

    /// Computes the spheres of all cars, sorts them along the longer horizontal side of the world and replaces
    /// `near_pairs` by the pairs that overlap, sorted. Also stores the positions, the axis of the sweep and the largest
    /// radius.
    ///
    /// A sphere covers hull and wheels plus [`RESWEEP_DISTANCE_M`] and the travel of a step of `dt` s at
    /// [`RESWEEP_SPEED_RATIO`] times the speed, plus [`MIN_RESWEEP_TRAVEL_M`]. Pairs of two cars with indices below
    /// `pass_through_below` are left out. Suspended cars, and cars whose travel is [`MAX_STEP_TRAVEL_M`] or more or not
    /// a number, are in no pair.
    #[inline(never)]
    pub fn sweep(&mut self, chassis: &[Chassis], pass_through_below: u32, dt: f32) {
        self.near_pairs.clear();
        self.swept_cars.clear();
        let [mut low, mut high] = [DVec3::splat(f64::INFINITY), DVec3::splat(f64::NEG_INFINITY)];
        // Stores positions and limits of travel, and the box around all positions.
        for body in chassis {
            // Maximum travel in a step before a new sweep, m.
            let max_travel = RESWEEP_SPEED_RATIO * body.pose_motion()[0].length() * dt + MIN_RESWEEP_TRAVEL_M;
            // A lost or non-finite car collides with nothing. NaN makes the sweep invalid, so that it is repeated in
            // the next step. A suspended car does not move; an infinite limit keeps the sweep valid.
            let max_travel = if max_travel < MAX_STEP_TRAVEL_M { max_travel } else { f32::NAN };
            let max_travel = if body.is_suspended { f32::INFINITY } else { max_travel };
            self.swept_cars.push(SweptCar { position: body.position, max_travel });
            (low, high) = (low.min(body.position), high.max(body.position));
        }
        // Sweeps along y (1) if the world is longer in y, otherwise along x (0).
        let extent = high - low;
        self.axis = usize::from(extent.y > extent.x);
        self.max_radius = 0.0;
        for sphere in &mut self.spheres {
            let (swept_car, body) = (self.swept_cars[sphere.car as usize], &chassis[sphere.car as usize]);
            // Radius of hull and wheels, m.
            let body_radius = body.hull_radius.max(body.wheel_search_radius());
            sphere.radius = RESWEEP_DISTANCE_M + f64::from(body_radius + swept_car.max_travel);
            sphere.low = f64::INFINITY;
            if sphere.radius.is_finite() {
                sphere.low = swept_car.position[self.axis] - sphere.radius;
                self.max_radius = self.max_radius.max(sphere.radius);
            }
        }
        self.sort_spheres();
        // Compares each sphere with the following ones that begin below its end. Spheres at infinity come last.
        for (i, sphere) in self.spheres.iter().enumerate().take_while(|(_, sphere)| sphere.low < f64::INFINITY) {
            let centre = self.swept_cars[sphere.car as usize].position;
            // Highest coordinate of the sphere, m.
            let sphere_high = sphere.low + 2.0 * sphere.radius;
            for other_sphere in self.spheres[i + 1..].iter().take_while(|other_sphere| other_sphere.low <= sphere_high)
            {
                // Distance of the centres at which the spheres touch, m.
                let max_distance = sphere.radius + other_sphere.radius;
                if sphere.car.max(other_sphere.car) < pass_through_below {
                    continue;
                }
                if centre.distance_squared(self.swept_cars[other_sphere.car as usize].position)
                    <= max_distance * max_distance
                {
                    self.near_pairs.push([sphere.car.min(other_sphere.car), sphere.car.max(other_sphere.car)]);
                }
            }
        }
        self.near_pairs.sort_unstable();
    }

    /// Sorts the spheres by their lowest coordinate. Uses an insertion sort, which starts well from the order of the
    /// last sweep; after more than [`MAX_SWAPS_PER_SPHERE`] swaps per sphere it changes to an unstable sort in n log n.
    fn sort_spheres(&mut self) {
        let mut swaps = 0;
        for end in 1..self.spheres.len() {
            // Moves the sphere at `end` down to its place `k` among the sorted ones before it.
            let mut k = end;
            while k > 0 && self.spheres[k].low < self.spheres[k - 1].low {
                self.spheres.swap(k, k - 1);
                k -= 1;
            }
            swaps += end - k;
            if swaps > MAX_SWAPS_PER_SPHERE * self.spheres.len() {
                self.spheres.sort_unstable_by(|first, second| first.low.total_cmp(&second.low));
                return;
            }
        }
    }
}
