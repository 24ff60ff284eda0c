//! Converged coupling: Newton's method on all rows of a car at once.
//!
//! For a given chassis velocity every wheel responds independently (its load, then its block), and so does every
//! contact point of the hull. The problem is therefore six equations: the momentum gained by the chassis is the sum of
//! all impulses. Newton's method with linearised responses converges in a few iterations for any number of wheels. It
//! treats left and right alike to the bit and leaves pinned bodies at rest.
//!
//! With fixed friction limits the six equations are the derivative of a convex function. Steps that are cut where they
//! overshoot therefore lead to its only minimum.

use crate::banks::{Banks, Many};
use crate::lane::{Four, FourMask, Lane};
use crate::linear::{OuterProducts, SpatialVector, Symmetric6};
use crate::step::coupling::{Friction, StepReport, Stop, Within};
use crate::step::newton::{NewtonStep, size};
use crate::step::rows::{Approach, Rows, Surroundings};
use crate::step::sweep::sweep_once;
use crate::step::vehicle::{Vehicle, banks};
use crate::suspension::rows::Loaded;
use crate::world::seam::Body;
use bevy_math::Vec3;

/// Number of iterations in which friction limits follow the loads. After these the limits stay fixed until the
/// remaining problem, which is convex, has converged; then they follow once more. If friction presses a wheel into a
/// wall the more it slides, there may be no solution (Painlevé's paradox).
const FOLLOWING: u16 = 12;

/// Last iteration in which the friction limits of the hull follow its normal impulses. They follow only once a step
/// changes no velocity by more than [`HULL_FOLLOWS_BELOW`]: the impulses of a first guess at a hard contact would stop
/// anything.
const HULL_FOLLOWING: u16 = 30;
/// Change of velocity (m/s) below which the friction limits of the hull follow its normal impulses.
const HULL_FOLLOWS_BELOW: f32 = 1e-2;

/// Width at which cutting a step ends, as a share of the tolerance. On either side of a kink, the next step is as long
/// as the cuts left it.
const CUT_TO: f32 = 0.1;

/// Largest share by which the friction limit of a sliding tyre may differ from its limit by the load.
const LACKING: f32 = 0.01;

/// Options of an iteration: which friction limits it updates, and whether the loads are current.
#[derive(Clone, Copy, Debug)]
struct Follow {
    /// Whether the friction limits of tyres follow the loads.
    loads: bool,
    /// Whether the friction limits of tyres follow by a part of the difference only, because full updates oscillate.
    slowly: bool,
    /// Whether the friction limits of the hull follow its normal impulses.
    hull: bool,
    /// Whether the rows have the loads of their present velocity.
    loaded: bool,
}

/// Factor on the share of a friction-limit update after the difference changed its sign.
const SHARE_AFTER_TURN: f32 = 0.5;
/// Factor on the share of a friction-limit update without a change of sign. The share is at most 1.
const SHARE_GROWTH: f32 = 1.25;

impl Rows {
    /// Moves the friction limits towards the limits by the loads.
    ///
    /// If a load decreases with the friction of its wheel, full updates overshoot without end. The share of each update
    /// follows the rule of M. Riedmiller and H. Braun, "A direct adaptive method for faster backpropagation learning:
    /// the RPROP algorithm".
    fn approach_limit(&mut self) {
        let (limit, zero, one) = (self.limit(), Four::default(), Four::splat(1.0));
        let missing = limit[0] + limit[1] - self.coupled.friction_bound[0] - self.coupled.friction_bound[1];
        let Approach { share, missing: before, .. } = self.coupled.approach;
        let turned = (missing * before).less(zero);
        let share = Four::select(
            turned,
            share * Four::splat(SHARE_AFTER_TURN),
            (share * Four::splat(SHARE_GROWTH)).at_most(one),
        );
        self.coupled.friction_bound =
            [0, 1].map(|i| self.coupled.friction_bound[i] + share * (limit[i] - self.coupled.friction_bound[i]));
        self.coupled.approach = Approach { share, missing, turned };
    }

    /// Returns the shares by which the limits of sliding tyres fall short of those by their loads; 0 for other tyres.
    ///
    /// `steady` means that the velocity has hardly changed since the last update. Tyres whose difference changed its
    /// sign then count as 0: the solution lies between both velocities, and `f32` resolves a load on metal no further.
    ///
    /// Within a pyramid, whose directions slide separately, tyres with a load but a limit of zero count as 1: their
    /// patches would deflect without a force. Within a cone such tyres obtain a limit when they begin to slide. If they
    /// counted there, loads that appear and vanish between iterations would have no solution.
    fn friction_missing(&self, within: Within, steady: bool) -> Four {
        let limit = self.limit();
        let [reach, found] = [self.coupled.friction_bound[0] + self.coupled.friction_bound[1], limit[0] + limit[1]];
        let (zero, one) = (Four::default(), Four::splat(1.0));
        let none = if within == Within::Pyramid { !zero.less(reach) & zero.less(found) } else { FourMask::default() };
        let lacking = Four::select(none, one, (found - reach) / reach.at_least(Four::splat(f32::MIN_POSITIVE)));
        let between = if steady { self.coupled.approach.turned } else { FourMask::default() };
        lacking.only((self.coupled.sliding | none) & !between)
    }
}

impl Vehicle {
    /// Iterates from the velocity with loads, `loaded`, of a car that has the velocity `free` without wheels. Returns
    /// the report, and the distance from a solution (m/s) if the iteration does not converge, otherwise 0. A small last
    /// step is no proof of convergence, because steps that are cut also stop at kinks.
    #[inline(always)]
    pub(crate) fn converge<B: Banks>(
        &mut self,
        free: SpatialVector<f32>,
        loaded: Loaded,
        stop: Stop,
        friction: Friction,
    ) -> (StepReport, f32) {
        let (within, has_loads) = self.bounds_of::<B>(friction, free, loaded);
        self.shafts.within = within;
        let mut momentum = self.set_velocity::<B>(free, loaded.velocity);
        let mut report = StepReport::default();
        let (mut last, mut followed) = (NewtonStep::default(), false);
        for iteration in 1..=stop.iterations.max(1) {
            if iteration == FOLLOWING + 1 {
                self.rows.iter_mut().for_each(|rows| rows.coupled.approach = Approach::default());
            }
            let settled = report.residual <= stop.tolerance;
            let follow = Follow {
                loads: iteration <= FOLLOWING || settled,
                slowly: iteration > FOLLOWING,
                hull: report.residual <= HULL_FOLLOWS_BELOW && (2..=HULL_FOLLOWING).contains(&iteration),
                loaded: has_loads && iteration == 1,
            };
            let (given, system) = self.linearise::<B>(within, follow);
            let missing = given - momentum;
            report.iterations = iteration;
            // A misfit with other limits is another function: the last step cannot be cut by it.
            let other = follow.hull || (follow.loads && iteration > FOLLOWING);
            let back = if other { None } else { last.shortened(missing, &system, CUT_TO * stop.tolerance) };
            // Written out: the compiler would call a closure, compiled for the baseline instructions.
            let change = match back {
                Some(back) => back,
                None => system.solve(missing),
            };
            self.hull.add_velocity(change);
            if back.is_none() {
                report.residual = size(change);
                let agreed = follow.hull || self.hull.is_off() || iteration > HULL_FOLLOWING;
                let near = agreed && report.residual <= stop.tolerance;
                if near && (!follow.slowly || self.reached_limits(within, settled && followed, stop.tolerance)) {
                    self.hull.settle();
                    if follow.slowly {
                        self.hold_to_limits(within);
                    }
                    return (report, 0.0);
                }
                followed = follow.loads;
                last = NewtonStep::whole(change, missing);
            }
            // A solution does not need these velocities.
            momentum = momentum + self.momentum(change);
            for rows in B::of_mut(&mut self.rows) {
                rows.add_velocity(change.at_each_wheel());
            }
        }
        report.not_converged = true;
        (report, report.residual.max(self.give_up(within, momentum)))
    }

    /// Returns the bounds on the tyre impulses for `friction`, and whether the rows already have the loads of an
    /// iteration. The hybrid shape runs one sweep first; the cone replaces it if that sweep is inconsistent.
    #[inline(always)]
    fn bounds_of<B: Banks>(&mut self, friction: Friction, free: SpatialVector<f32>, loaded: Loaded) -> (Within, bool) {
        let (mut within, mut has_loads) = (Within::of(friction), loaded.in_rows);
        // The longitudinal impulses stay as one sweep leaves them if the sweep is consistent.
        if within == Within::Side && sweep_once::<B, _>(self, loaded.velocity) {
            has_loads = false;
            if self.disagrees(free, self.shafts.dt) {
                within = Within::Cone;
            }
        }
        (within, has_loads && !B::of(&self.rows).iter().any(Rows::changes_when_asked_again))
    }

    /// Sets the velocities of rows and hull at the velocity `start` of a car that has `free` without wheels. Returns
    /// the momentum gained.
    #[inline(always)]
    fn set_velocity<B: Banks>(&mut self, free: SpatialVector<f32>, start: SpatialVector<f32>) -> SpatialVector<f32> {
        let gained = start - free;
        for rows in B::of_mut(&mut self.rows) {
            rows.set_velocity(start.at_each_wheel(), gained.at_each_wheel());
        }
        self.hull.set_velocity(start);
        self.momentum(gained)
    }

    /// Ends an iteration without a solution, of a chassis that gained `momentum`. Returns the distance from a solution
    /// (m/s).
    #[cold]
    fn give_up(&mut self, within: Within, momentum: SpatialVector<f32>) -> f32 {
        let (given, _) =
            self.linearise::<Many>(within, Follow { loads: false, slowly: true, hull: false, loaded: false });
        self.hull.settle();
        self.hold_to_limits(within);
        size(self.response(given - momentum))
    }

    /// Clamps the impulses of every tyre to its limit by the present load.
    #[cold]
    #[inline(never)]
    pub(crate) fn hold_to_limits(&mut self, within: Within) {
        self.rows.iter_mut().for_each(|rows| rows.hold_to_limit(within));
    }

    /// Returns true if the friction limits are as good as those by the loads. The difference must change the chassis
    /// velocity by at most `tolerance` (m/s), and each limit by at most 1 %: a light wheel does not move the chassis.
    /// For `steady`, see `friction_missing`.
    fn reached_limits(&self, within: Within, steady: bool, tolerance: f32) -> bool {
        let (mut impulse, mut near) = (SpatialVector::default(), true);
        for rows in &self.rows {
            let lacking = rows.friction_missing(within, steady);
            near &= !Four::any(Four::splat(LACKING).less(lacking.abs()));
            let [along, across] = rows.coupled.tyre.map(|x| x * lacking);
            impulse = impulse + (rows.contact.forward * along + rows.contact.side * across).sum();
        }
        near && size(self.response(impulse)) <= tolerance
    }

    /// Returns the derivative of the momentum given to `body` with respect to its twist at the end of the step, vehicle
    /// frame. The rows are those solved for the twist `end` (world axes). Overwrites the solution in the rows.
    #[cold]
    #[inline(never)]
    pub(crate) fn tangent(&mut self, body: &Body, end: [Vec3; 2]) -> Symmetric6 {
        let rows = self.tangent_by_wheel(body, end);
        Symmetric6::new(self.model.mass(), self.model.inertia(), &rows)
    }

    /// Returns the part of [`Vehicle::tangent`] that stems from the rows, without the mass, one wheel per lane.
    pub(crate) fn tangent_by_wheel(&mut self, body: &Body, end: [Vec3; 2]) -> OuterProducts {
        let free = self.free_velocity_in_body(body, &self.to_world);
        let to_vehicle = self.to_world.transpose();
        self.set_velocity::<Many>(free, SpatialVector::of(to_vehicle * end[0], to_vehicle * end[1]));
        self.answer::<Many>(Within::Cone, Follow { loads: false, slowly: true, hull: false, loaded: false }).1
    }

    /// Returns the momentum of the chassis at a velocity (N s, N m s).
    pub(crate) fn momentum(&self, velocity: SpatialVector<f32>) -> SpatialVector<f32> {
        let (linear, angular) = velocity.parts();
        SpatialVector::of(linear * self.model.mass(), *self.model.inertia() * angular)
    }

    /// Evaluates all wheels and hull points at the velocity in their rows. Returns their impulses as momentum given to
    /// the chassis, and the derivative of the misfit. Friction limits are not part of the derivative; `follow` selects
    /// those that are updated.
    #[inline(always)]
    fn linearise<B: Banks>(&mut self, within: Within, follow: Follow) -> (SpatialVector<f32>, Symmetric6) {
        let (given, products) = self.answer::<B>(within, follow);
        (given, Symmetric6::new(self.model.mass(), self.model.inertia(), &products))
    }

    /// Evaluates the rows as [`Vehicle::linearise`], but returns the derivative wheel by wheel and without the mass.
    #[inline(always)]
    fn answer<B: Banks>(&mut self, within: Within, follow: Follow) -> (SpatialVector<f32>, OuterProducts) {
        if !follow.loaded {
            self.load_axle_links::<B>();
        }
        let mut products = self.axle_link_products::<B>();
        for (bank, rows) in banks::<B>(&self.model, &mut self.rows) {
            let moved = rows.on_their_own(|rows, unsprung| {
                if follow.loads || bank.roll_centre_links.is_some() {
                    rows.lift(unsprung, bank);
                }
                rows.own_load(unsprung, bank).add_to(&mut products, rows);
            });
            if moved.is_none() {
                if !follow.loaded {
                    rows.evaluate_load(bank);
                }
                products.add(rows.suspension.load_slope, rows.contact.normal);
            }
            if follow.loads {
                if follow.slowly { rows.approach_limit() } else { rows.coupled.friction_bound = rows.limit() }
            }
            rows.coupled.surroundings = match (&bank.roll_centre_links, rows.unsprung()) {
                (Some(links), Some(unsprung)) => rows.answered_by_links(unsprung, links),
                _ => Surroundings { speed: rows.coupled.velocity.patch, compliance: [Four::default(); 3] },
            };
        }
        if within != Within::Side {
            self.solve_shafts::<B>();
        }
        let mut given = self.beside + self.hull.answer(&mut products, follow.hull);
        for (bank, rows) in banks::<B>(&self.model, &mut self.rows) {
            let before = rows.coupled.tyre;
            let mut lines = rows.solve_block(bank, within).tangent().lines(rows);
            if let (Some(links), Some(unsprung)) = (&bank.roll_centre_links, rows.unsprung()) {
                lines = lines.map(|(weight, row)| (weight, rows.row_on_links(unsprung, links, row)));
            }
            products.add_all(lines);
            if let Some(links) = &bank.roll_centre_links {
                rows.on_their_own(|rows, unsprung| rows.give_way_on_links(unsprung, links, before));
            }
            given = given + rows.impulse(true).sum();
        }
        (given, products)
    }
}
