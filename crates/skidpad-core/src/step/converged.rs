//! The converged coupling: all rows of a car at once.
//!
//! For a given chassis velocity every wheel answers on its own (its load, then its block), and so does every point at which
//! the hull touches something. So the whole problem is six equations: the momentum the chassis gained is the sum of all
//! impulses. Newton's method on them, with each answer linearised, converges in a few iterations for any number of wheels,
//! treats left and right alike to the bit, and has no wobble of pinned bodies.
//!
//! With fixed friction limits the six equations are the derivative of a convex function, so steps that are cut where they
//! overshoot lead to its only minimum, whatever hits whatever.

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

/// Iterations in which friction limits follow the loads. After these they stay until what is left, which is convex, has
/// converged, and follow once more. Where friction presses a wheel into a wall the harder it slides there may be no answer
/// to agree on (Painlevé's paradox).
const FOLLOWING: u16 = 12;

/// Iterations in which the friction of the hull follows what presses it, once a step changes no velocity by more than
/// [`HULL_FOLLOWS_BELOW`] m/s: with the impulses of a first guess at a hard contact it would stop anything.
const HULL_FOLLOWING: u16 = 30;
const HULL_FOLLOWS_BELOW: f32 = 1e-2;

/// Width at which cuts of a step end, as a share of the tolerance: from either side of a kink the next step is as long as the cuts
/// left it.
const CUT_TO: f32 = 0.1;

/// Share of its limit that a tyre may lack.
const LACKING: f32 = 0.01;

/// How an iteration goes on: which limits of friction it takes anew, and how near it is.
#[derive(Clone, Copy, Debug)]
struct Follow {
    loads: bool,
    /// Part of the way to the limits by the loads, since all of it leads to and fro.
    slowly: bool,
    hull: bool,
    /// Whether the rows have the loads of the velocity they see.
    loaded: bool,
}

/// By how much the share of the way to a friction limit changes: where the way turned, and where it did not.
const SHARE_AFTER_TURN: f32 = 0.5;
const SHARE_GROWTH: f32 = 1.25;

impl Rows {
    /// Takes friction limits nearer to those by the loads.
    ///
    /// Where a load falls with the friction of its wheel, limits taken over whole overshoot for ever (M. Riedmiller and H. Braun,
    /// "A direct adaptive method for faster backpropagation learning: the RPROP algorithm", has the rule for the share).
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

    /// Share of their limits that sliding tyres lack for those by their loads. Where the way to a limit turned between two velocities
    /// that are as good as one, as `steady` says, the answer lies between them: a load on metal comes no nearer in `f32`.
    ///
    /// Within a pyramid, whose tyres do not slide together, those lack all of it that have none, as of a wheel that pressed on nothing
    /// when they were taken: their patches would strain without a force. Within a cone such wheels find theirs as they begin to slide,
    /// and loads that come and go from look to look would have no answer.
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
    /// Iterates from where a car is `loaded` that has the velocity `free` without wheels. Tells also how far from an answer it
    /// ends if it does not converge, m/s: steps that are cut come to rest at kinks, too.
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
            // With other limits the misfit is another function.
            let other = follow.hull || (follow.loads && iteration > FOLLOWING);
            let back = if other { None } else { last.shortened(missing, &system, CUT_TO * stop.tolerance) };
            // Written out: a closure is called, in the instructions of every processor.
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
            // Of an answer nobody asks for these any more.
            momentum = momentum + self.momentum(change);
            for rows in B::of_mut(&mut self.rows) {
                rows.add_velocity(change.at_each_wheel());
            }
        }
        report.not_converged = true;
        (report, report.residual.max(self.give_up(within, momentum)))
    }

    /// What bounds the tyres where `friction` is asked for, and whether the rows have the loads they would find.
    #[inline(always)]
    fn bounds_of<B: Banks>(&mut self, friction: Friction, free: SpatialVector<f32>, loaded: Loaded) -> (Within, bool) {
        let (mut within, mut has_loads) = (Within::of(friction), loaded.in_rows);
        // The forward impulses stay as one sweep leaves them, where that agrees with itself.
        if within == Within::Side && sweep_once::<B, _>(self, loaded.velocity) {
            has_loads = false;
            if self.disagrees(free, self.shafts.dt) {
                within = Within::Cone;
            }
        }
        (within, has_loads && !B::of(&self.rows).iter().any(Rows::changes_when_asked_again))
    }

    /// Shows rows and hull the velocity `start` of a car that has `free` without wheels; returns the momentum it gained.
    #[inline(always)]
    fn set_velocity<B: Banks>(&mut self, free: SpatialVector<f32>, start: SpatialVector<f32>) -> SpatialVector<f32> {
        let gained = start - free;
        for rows in B::of_mut(&mut self.rows) {
            rows.set_velocity(start.at_each_wheel(), gained.at_each_wheel());
        }
        self.hull.set_velocity(start);
        self.momentum(gained)
    }

    /// Ends an iteration without an answer, of a chassis that gained `momentum`; how far off that is, m/s.
    #[cold]
    fn give_up(&mut self, within: Within, momentum: SpatialVector<f32>) -> f32 {
        let (given, _) =
            self.linearise::<Many>(within, Follow { loads: false, slowly: true, hull: false, loaded: false });
        self.hull.settle();
        self.hold_to_limits(within);
        size(self.response(given - momentum))
    }

    /// Holds every tyre to its limit by the load that was looked at last.
    #[cold]
    #[inline(never)]
    pub(crate) fn hold_to_limits(&mut self, within: Within) {
        self.rows.iter_mut().for_each(|rows| rows.hold_to_limit(within));
    }

    /// Whether limits of friction that are only approached are as good as those by the loads: they would change the velocity by no
    /// more than `tolerance` m/s, and none by much of itself, which is nothing to the chassis under a light wheel.
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

    /// How momentum given to `body` answers its twist at the end of the step, all rows of the vehicle being as they were solved for
    /// the twist `end` (world axes). Spoils what was solved.
    #[cold]
    #[inline(never)]
    pub(crate) fn tangent(&mut self, body: &Body, end: [Vec3; 2]) -> Symmetric6 {
        let rows = self.tangent_by_wheel(body, end);
        Symmetric6::new(self.model.mass(), self.model.inertia(), &rows)
    }

    /// The same without the mass, a wheel in each lane.
    pub(crate) fn tangent_by_wheel(&mut self, body: &Body, end: [Vec3; 2]) -> OuterProducts {
        let free = self.free_velocity_in_body(body, &self.to_world);
        let to_vehicle = self.to_world.transpose();
        self.set_velocity::<Many>(free, SpatialVector::of(to_vehicle * end[0], to_vehicle * end[1]));
        self.answer::<Many>(Within::Cone, Follow { loads: false, slowly: true, hull: false, loaded: false }).1
    }

    /// Momentum of the chassis at a velocity.
    pub(crate) fn momentum(&self, velocity: SpatialVector<f32>) -> SpatialVector<f32> {
        let (linear, angular) = velocity.parts();
        SpatialVector::of(linear * self.model.mass(), *self.model.inertia() * angular)
    }

    /// Answers of all wheels and hull points to the velocity they see, as momentum given to the chassis, and the derivative
    /// of what is missing. What is not part of it, such as friction limits by the loads, follows or stays.
    #[inline(always)]
    fn linearise<B: Banks>(&mut self, within: Within, follow: Follow) -> (SpatialVector<f32>, Symmetric6) {
        let (given, products) = self.answer::<B>(within, follow);
        (given, Symmetric6::new(self.model.mass(), self.model.inertia(), &products))
    }

    /// The same, with that derivative wheel by wheel and without the mass.
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
