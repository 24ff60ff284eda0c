//! The one-sweep coupling: every wheel from the same velocity, warm-started.

use crate::banks::{Banks, Many};
use crate::constants::MAX_WHEELS;
use crate::lane::{Corners, Four, Lane, both};
use crate::linear::{OuterProducts, SpatialVector, Symmetric6};
use crate::step::coupling::{Friction, StepReport, Stop, Within};
use crate::step::rows::{Rows, Surroundings};
use crate::step::stages::{CarOf, CarsOf, TwistOf, Velocities, Wheels};
use crate::step::vehicle::{Vehicle, response, wheel_impulses};
use crate::suspension::rows::Loaded;
use crate::wheel::pack::WheelPack;
use crate::wheel::rows::ContactRows;

impl Vehicle {
    /// One sweep from the `velocities`; where tyres are stiff and it agrees neither with the loads nor with itself, the converged coupling.
    #[inline(always)]
    pub(crate) fn sweep<B: Banks>(&mut self, velocities: &Velocities, dt: f32) -> StepReport {
        if sweep_once::<B, _>(self, velocities.loaded.velocity) {
            return self.iterate_if_stiff(velocities, dt);
        }
        SWEPT_ONCE
    }

    #[cold]
    #[inline(never)]
    fn iterate_if_stiff(&mut self, velocities: &Velocities, dt: f32) -> StepReport {
        if !self.disagrees(velocities.free, dt) {
            self.hold_to_limits(Within::Cone);
            return SWEPT_ONCE;
        }
        self.shafts.clear_impulses(&self.model, &mut self.rows);
        // The loads were looked at elsewhere since.
        let velocities = &Velocities { loaded: Loaded { in_rows: false, ..velocities.loaded }, ..*velocities };
        self.iterate::<Many>(velocities, Stop::SHIPPED, Friction::Cone, dt)
    }

    /// Whether stiff tyres moved the loads, or each other: a kart whose tyres turn it while it stands on hard springs would get
    /// energy from the difference.
    #[cold]
    #[inline(never)]
    pub(crate) fn disagrees(&mut self, free: SpatialVector<f32>, dt: f32) -> bool {
        let mut before = [Four::default(); MAX_WHEELS];
        for (before, rows) in before.iter_mut().zip(&self.rows) {
            *before = rows.suspension.load;
        }
        let warm = free + self.response(self.wheel_impulses::<Many>(false));
        self.solve_any_loads::<Many>(free, warm, dt);
        let moved = |(before, rows): (&Four, &Rows)| Four::any(rows.has_moved(*before));
        before.iter().zip(&self.rows).any(moved)
    }
}

/// Solves shafts, then every wheel block, from the velocity `loaded` that loads and the last step's tyre impulses
/// left.
///
/// Each block sees its chassis compliance times the number of gripping wheels: no wheel knows what the others
/// do, so together they cannot over-correct. At rest and in steady motion nothing changes from step to step and
/// the result is the converged one.
///
/// Where tyres are stiff against that (slow cars), what the sweep takes back would lag behind the deflections for many
/// steps, and cars would rock themselves across the ground: there the sweep starts with the impulses of the coupled
/// linear rows. Tells which cars have such tyres.
#[inline(always)]
pub(crate) fn sweep_once<B: Banks, S: Wheels<B>>(cars: &mut S, loaded: TwistOf<B, S>) -> CarsOf<B, S> {
    let mut gripping = CarOf::<B, S>::default();
    for rows in cars.rows().chunks(S::Lanes::ROWS) {
        gripping += S::Lanes::sum_of(
            #[inline(always)]
            |k| S::Lanes::splat(1.0).only(rows[k].tyre.active),
        );
    }
    let (is_slanted, share) = (cars.is_slanted(), S::Lanes::of_car(gripping));
    let mut stiff = <S::Lanes as Lane>::Mask::default();
    for (bank, rows) in cars.packs() {
        rows.coupled.friction_bound = rows.limit();
        rows.coupled.surroundings = surroundings(bank, is_slanted, rows, loaded.at_each_wheel(), share);
        stiff = stiff | rows.is_stiff();
    }
    let stiff = S::Lanes::cars(stiff);
    if CarOf::<B, S>::any(stiff) {
        begin_coupled(cars, stiff, loaded, gripping);
    }
    cars.solve_shafts();
    for (bank, rows) in cars.packs() {
        rows.solve_block(bank, Within::NearCone);
    }
    stiff
}

pub(crate) const SWEPT_ONCE: StepReport =
    StepReport { not_finite: false, not_converged: false, iterations: 1, residual: 0.0, misuse: None };

/// Change of a load or a tyre impulse that is none, as a share of the load and the weight.
const SWEPT: f32 = 0.01;

/// Gain times compliance of all wheels from which on rows are coupled before the sweep.
const STIFF: f32 = 1.0;

/// Lets `stiff` cars, of whose wheels so many are `gripping`, begin the sweep with the impulses of the coupled linear rows.
#[cold]
#[inline(never)]
fn begin_coupled<B: Banks, S: Wheels<B>>(
    cars: &mut S,
    stiff: CarsOf<B, S>,
    loaded: TwistOf<B, S>,
    gripping: CarOf<B, S>,
) {
    S::Lanes::called(
        #[inline(always)]
        || {
            let mut was = [[S::Lanes::default(); 2]; MAX_WHEELS];
            was.iter_mut().zip(cars.packs()).for_each(|(was, (_, rows))| *was = rows.coupled.tyre);
            let at = couple_linear(cars, loaded).at_each_wheel();
            let (stiff, share) = (S::Lanes::of_cars(stiff), S::Lanes::of_car(gripping));
            let is_slanted = cars.is_slanted();
            for (was, (bank, rows)) in was.into_iter().zip(cars.packs()) {
                let around = surroundings(bank, is_slanted, rows, at, share);
                rows.coupled.surroundings = Surroundings::select(stiff, around, rows.coupled.surroundings);
                rows.coupled.tyre = both(|i| S::Lanes::select(stiff, rows.coupled.tyre[i], was[i]));
                rows.coupled.began = rows.coupled.tyre;
            }
        },
    );
}

/// Takes the tyre impulses of the linear rows, solved together with the chassis and every wheel's spin, each brought back
/// to its limit; returns the velocity they lead to from that with the last step's impulses.
#[inline(always)]
fn couple_linear<B: Banks, S: Wheels<B>>(cars: &mut S, loaded: TwistOf<B, S>) -> TwistOf<B, S> {
    let tyres = |cars: &S| response(cars.model(), wheel_impulses(cars.rows(), false));
    let without = loaded + tyres(cars) * CarOf::<B, S>::splat(-1.0);
    let mut products = OuterProducts::none();
    let mut lasts = [S::Lanes::default(); MAX_WHEELS];
    for (i, ((bank, rows), last)) in cars.packs().zip(&mut lasts).enumerate() {
        *last = rows.coupled.tyre[0];
        let (target_impulse, gain) = rows.linear_tyres(bank, *last, without.at_each_wheel());
        products.add_of(i % S::Lanes::ROWS, gain[0], rows.contact.forward);
        products.add_of(i % S::Lanes::ROWS, gain[1], rows.contact.side);
        rows.coupled.tyre = target_impulse;
    }
    let given = wheel_impulses(cars.rows(), false);
    let change = Symmetric6::new(cars.model().mass(), cars.model().inertia(), &products).solve(given);
    for ((bank, rows), last) in cars.packs().zip(lasts) {
        (rows.coupled.tyre, _) = rows.linear_tyres(bank, last, (without + change).at_each_wheel());
        rows.hold_to_limit(Within::Cone);
    }
    without + tyres(cars)
}

impl<W: Corners> Surroundings<W> {
    /// `yes` where `mask` holds, `no` elsewhere.
    #[inline(always)]
    fn select(mask: W::Mask, yes: Self, no: Self) -> Self {
        let pick = |yes: W, no: W| W::select(mask, yes, no);
        let ([a, b, c], [d, e, f]) = (yes.compliance, no.compliance);
        Self { speed: both(|i| pick(yes.speed[i], no.speed[i])), compliance: [pick(a, d), pick(b, e), pick(c, f)] }
    }
}

impl<W: Corners> Rows<W> {
    /// Where a tyre answers its own impulse, as often as there are wheels, with more than it.
    #[inline(always)]
    pub(crate) fn is_stiff(&self) -> W::Mask {
        let [along, _, across] = self.coupled.surroundings.compliance;
        let most = W::splat(STIFF);
        most.less(self.tyre.gain[0] * along) | most.less(self.tyre.gain[1] * across)
    }

    /// Where stiff tyres moved the loads, which were those `before` the sweep, or each other.
    #[inline(always)]
    pub(crate) fn has_moved(&self, before: W) -> W::Mask {
        let allowed = W::splat(SWEPT) * (self.suspension.load + self.suspension.strut.weight);
        let load = (self.suspension.load - before).abs();
        let [along, across] = both(|i| (self.coupled.tyre[i] - self.coupled.began[i]).abs());
        allowed.less(load) | allowed.less(along.at_least(across))
    }

    /// Impulses of the linear rows at chassis velocity `at`, and how they fall with it: along, the wheel turns or is held, as the
    /// `last` impulse along tells.
    #[inline(always)]
    fn linear_tyres(&self, bank: &WheelPack<W>, last: W, at: SpatialVector<W>) -> ([W; 2], [W; 2]) {
        let (one, radius) = (W::splat(1.0), bank.radius);
        let momentum = self.drive.momentum + self.drive.shaft;
        // By the last tyre impulse: what a tyre needs of a brake at a velocity without tyres lets braked wheels turn, and cars slide
        // downhill; without it a wheel that its own patch swings counts as held.
        let need = momentum - radius * last;
        let driven = momentum - self.tyre.locking_capacity.signed_by(need);
        let turns = self.tyre.locking_capacity.less(need.abs());
        let [along, across] = self.patch_speeds(at);
        let [stiff, side] = self.tyre.gain;
        let per_spin = (stiff * radius / bank.spin_inertia).only(turns);
        let gain = stiff / (one + per_spin * radius);
        let target_impulse =
            (self.tyre.target_impulse[0] - stiff * along + per_spin * driven) / (one + per_spin * radius);
        ([target_impulse, self.tyre.target_impulse[1] - side * across], [gain, side])
    }
}

/// Adds what directions that are no unit vectors at right angles see more of the chassis' mass.
#[cold]
#[inline(never)]
fn beyond_unit<W: Corners>(contact: &ContactRows<W>, inverse_mass: W, compliance: &mut [W; 3]) {
    let (one, forward, side) = (W::splat(1.0), contact.forward.linear, contact.side.linear);
    compliance[0] += inverse_mass * (forward.dot(forward) - one);
    compliance[1] += inverse_mass * forward.dot(side);
    compliance[2] += inverse_mass * (side.dot(side) - one);
}

/// What each wheel's tyre rows see at chassis velocity `at`, with `share` times its own compliance; `is_slanted` where
/// [`crate::Model::has_slanted_rows`].
#[inline(always)]
pub(crate) fn surroundings<W: Corners>(
    bank: &WheelPack<W>,
    is_slanted: bool,
    rows: &Rows<W>,
    at: SpatialVector<W>,
    share: W,
) -> Surroundings<W> {
    let inverse_mass = bank.inverse_mass;
    // The two directions are unit vectors at right angles, but for those on rims and links.
    let forward = bank.inverse_inertia.times(rows.contact.forward.angular);
    let side = bank.inverse_inertia.times(rows.contact.side.angular);
    let mut compliance = [
        (inverse_mass + rows.contact.forward.angular.dot(forward)) * share,
        rows.contact.forward.angular.dot(side) * share,
        (inverse_mass + rows.contact.side.angular.dot(side)) * share,
    ];
    if is_slanted {
        beyond_unit(&rows.contact, inverse_mass * share, &mut compliance);
    }
    let [along, across] = rows.patch_speeds(at);
    let speed = [
        along - compliance[0] * rows.coupled.tyre[0] - compliance[1] * rows.coupled.tyre[1],
        across - compliance[1] * rows.coupled.tyre[0] - compliance[2] * rows.coupled.tyre[1],
    ];
    Surroundings { speed, compliance }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vec3;
    use crate::model::{Model, plain::plain_car};
    use crate::vectors::Vec3Lanes;

    /// Speeds a wheel sees are those of its patch without what its own tyre does: `v − K p`, K what an impulse of the tyre gives the
    /// chassis at its patch, `1 / m + (r × a) · I⁻¹ (r × b)`.
    #[test]
    fn a_tyre_sees_the_chassis_without_what_it_does_itself() {
        let parts = plain_car();
        let (model, inertia) = (Model::new(parts.clone()).expect("valid"), parts.inertia);
        let bank = &model.banks()[0];
        let mut rows = Rows::<Four>::default();
        let row = |direction: Vec3| {
            SpatialVector::new(Vec3Lanes::splat(direction), bank.contact.cross(Vec3Lanes::splat(direction)))
        };
        (rows.contact.forward, rows.contact.side) = (row(Vec3::X), row(Vec3::Y));
        rows.coupled.tyre = [Four::splat(30.0), Four::splat(-20.0)];
        let twist = SpatialVector::of(Vec3::new(3.0, -2.0, 0.5), Vec3::new(0.25, -0.5, 1.0));
        let seen = surroundings(bank, false, &rows, twist.at_each_wheel(), Four::splat(1.0));
        for (i, wheel) in parts.wheels.iter().enumerate() {
            let moved_by = |impulse: Vec3| {
                impulse / parts.mass + (inertia.inverse() * wheel.contact.cross(impulse)).cross(wheel.contact)
            };
            let (linear, angular) = twist.parts();
            let expected = linear + angular.cross(wheel.contact) - moved_by(Vec3::new(30.0, -20.0, 0.0));
            for (found, expected) in [
                (seen.compliance[0], moved_by(Vec3::X).x),
                (seen.compliance[1], moved_by(Vec3::X).y),
                (seen.compliance[2], moved_by(Vec3::Y).y),
                (seen.speed[0], expected.x),
                (seen.speed[1], expected.y),
            ] {
                let found = found.at(i);
                // 32 bits of numbers up to 4.
                assert!((found - expected).abs() < 2e-6, "wheel {i}: {found} instead of {expected}");
            }
        }
    }
}
