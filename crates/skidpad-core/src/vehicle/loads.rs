//! Load rows: strut, stop and what ties it to another of every wheel as one soft row along its contact normal, all solved at once.

use super::Vehicle;
use super::rows::Rows;
use crate::lane::{Four, FourMask, Lane};
use crate::linear::{OuterProducts, Six, Symmetric6};
use crate::model::Bank;
use crate::seam::{OVERLAP_RETURN, OVERLAP_RETURN_SPEED};
use crate::{MAX_WHEELS, STANDARD_GRAVITY};

/// Admittance of a solid stop, or of ground under a wheel at its droop stop, in masses carried: leaves a thousandth of the speed, and f32 still solves it.
pub(super) const SOLIDITY: f32 = 1e3;

/// Solves in which dampers may turn out to move the other way; one is typical of steps in which one does.
const DAMPER_PASSES: usize = 4;

/// Rebound slower than this still counts as bump, m/s: what is off is half a newton, and in a standing car, which moves by
/// rounding errors only, dampers do not change sides.
const STANDING_DAMPER: f32 = 2e-4;

impl Vehicle {
    /// Compression of wheels without ground: strut, ties and droop stop balance, what ties lead to taken where it hangs or
    /// stands without them, so that no wheel is asked before another.
    pub(super) fn hang(&mut self) {
        let mut hanging = [0.0; MAX_WHEELS];
        for tied in [false, true] {
            for (i, (wheel, hanging)) in self.model.wheels().iter().zip(&mut hanging).enumerate() {
                let strut = &wheel.strut;
                let free = || strut.compression_under((-self.model.static_load(i)).into(), 0.0) as f32;
                let balance = if tied { self.hanging(i, |rows| rows.compression) } else { free() };
                *hanging = balance.clamp(-strut.droop_travel, strut.bump_travel);
            }
            for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
                rows.compression = Four::select(rows.touching, rows.compression, bank.gather(|i| hanging[i]));
            }
        }
    }

    /// Solves all load rows together, each not below zero, from the velocity `warm`; returns the velocity after them.
    pub(super) fn solve_loads(&mut self, warm: Six<f32>, dt: f32) -> Six<f32> {
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            rows.load_row(bank, warm.wide(), dt);
            (rows.pressing, rows.hanging) = (rows.touching, FourMask::default());
        }
        // Each pass hands rows to their droop stop or drops those that would pull; a car cannot do more than both to each.
        for pass in 0..DAMPER_PASSES + 2 * self.model.wheels().len() {
            let mut products = OuterProducts::none();
            let mut wished = Six::default();
            for rows in &self.rows {
                let (wish, admittance) = rows.load_terms();
                products.add(admittance, rows.normal);
                let wish = wish - admittance * rows.warm_speed;
                wished = wished + (rows.normal * wish).sum();
            }
            let system = Symmetric6::new(self.model.mass(), self.model.inertia(), &products);
            let after = warm + system.solve(wished);
            let at = after.wide();
            let mut changed = false;
            for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
                changed |= rows.settle_load(bank, at, dt, pass < DAMPER_PASSES);
            }
            if !changed {
                return after;
            }
        }
        warm
    }
}

impl Rows {
    /// Compression in step with the velocity.
    #[inline(always)]
    pub(super) fn led(&self) -> Four {
        self.compression + self.lead
    }

    /// Load row: strut, stop and bar as one soft row along each contact normal, at the velocity `warm`.
    ///
    /// The damper's admittance is `c (1 + c dt / 4m)`, not below `k dt`. An explicit step with plain `c` loses
    /// ζ² ω dt / 2 of the damping ratio (1.5 % at 1.5 Hz, ζ 0.2, 60 Hz); the correction cancels that order. The floor
    /// bounds springs of any stiffness.
    #[inline(always)]
    fn load_row(&mut self, bank: &Bank, warm: Six<Four>, dt: f32) {
        let (zero, step) = (Four::splat(0.0), Four::splat(dt));
        let led = self.led();
        self.warm_speed = self.parting(warm);
        let jounce_rate = -self.warm_speed / self.cosine;
        let sprung = led.at_most(bank.solid_travel);
        let beyond_stop = sprung - bank.bump_travel;
        let stopped = zero.less(beyond_stop + step * jounce_rate);
        let (spring, spring_rate) = bank.springs(sprung);
        let force = bank.sprung * Four::splat(STANDARD_GRAVITY)
            + spring
            + Four::new(self.tied.force)
            + (bank.stop_rate * beyond_stop).only(stopped);
        let rate = spring_rate + Four::new(self.tied.rate) + bank.stop_rate.only(stopped);
        let (mut wish, mut metal) = (step * force, zero);
        let beyond_solid = led - bank.solid_travel;
        let rigid = Four::splat(SOLIDITY) * bank.sprung;
        let solid = zero.less(beyond_solid + step * jounce_rate);
        if Four::any(solid) {
            // Compressions end the step where metal meets metal; what is beyond comes back without a jump.
            let excess = beyond_solid / step;
            let returned = (excess * Four::splat(OVERLAP_RETURN)).at_most(Four::splat(OVERLAP_RETURN_SPEED));
            let back = Four::select(zero.less(excess), returned, excess);
            wish += (rigid * back).only(solid);
            metal = rigid.only(solid);
        }
        let gap = led + self.beyond_droop + bank.droop_travel;
        self.droop_wish = rigid * gap / (step * self.cosine);
        self.droop_admittance = rigid / (self.cosine * self.cosine);
        if self.footing.moves {
            let droop = self.yielding_load(self.droop_wish, self.droop_admittance);
            (self.droop_wish, self.droop_admittance) = droop;
        }
        self.undamped = [wish, step * rate, metal];
        self.damp(bank, self.jounce_rate, dt);
    }

    /// Adds the damper as it is at a jounce rate to the load row.
    #[inline(always)]
    fn damp(&mut self, bank: &Bank, jounce_rate: Four, dt: f32) {
        let step = Four::splat(dt);
        let [wish, least, metal] = self.undamped;
        let (damping, opened) = damper(bank, in_bump(jounce_rate), jounce_rate);
        let corrected = damping * (Four::splat(1.0) + damping * step / (Four::splat(4.0) * bank.sprung));
        let corrected = corrected + Four::new(self.tied.damping);
        let admittance = step * corrected.at_least(least) + metal;
        self.damping = damping;
        self.load_wish = self.contact_share * (wish + step * opened) / self.cosine;
        self.load_admittance = self.contact_share * admittance / (self.cosine * self.cosine);
        if self.footing.moves {
            (self.load_wish, self.load_admittance) = self.yielding_load(self.load_wish, self.load_admittance);
        }
    }

    /// Takes the dampers anew that the chassis, parting from the ground at `speed`, moves the other way or beyond a knee;
    /// whether there were any.
    #[inline(always)]
    fn damp_anew(&mut self, bank: &Bank, speed: Four, dt: f32) -> bool {
        let rate = -speed / self.cosine;
        let (damping, _) = damper(bank, in_bump(rate), rate);
        let other = damping.less(self.damping) | self.damping.less(damping);
        if !Four::any(other & self.pressing & !self.hanging) {
            return false;
        }
        self.damp(bank, rate, dt);
        true
    }

    /// Wish and admittance of the load row as it now acts, nothing where it does not press.
    #[inline(always)]
    pub fn load_terms(&self) -> (Four, Four) {
        let wish = Four::select(self.hanging, self.droop_wish, self.load_wish);
        let admittance = Four::select(self.hanging, self.droop_admittance, self.load_admittance);
        (wish.only(self.pressing), admittance.only(self.pressing))
    }

    /// Loads at chassis velocity `at`; whether a wheel came to hang on its droop stop or would pull, or a damper turned out
    /// to move the other way (asked only if they may be solved `again` for that), so that they have to be solved anew.
    #[inline(always)]
    fn settle_load(&mut self, bank: &Bank, at: Six<Four>, dt: f32, again: bool) -> bool {
        let (zero, speed) = (Four::splat(0.0), self.parting(at));
        if again && self.damp_anew(bank, speed, dt) {
            return true;
        }
        let (wish, admittance) = self.load_terms();
        let load = wish - admittance * speed;
        let pulls = load.less(zero);
        let held = (self.droop_wish - self.droop_admittance * speed).less(load) & self.pressing & !self.hanging;
        self.pressing = self.pressing & !pulls;
        self.hanging = self.hanging | held;
        self.load = load.only(self.pressing);
        Four::any(pulls | held)
    }

    /// Impulse of the load row as the chassis now moves, not below zero, and its admittance there.
    #[inline(always)]
    pub fn bounded_load(&mut self, bank: &Bank) -> (Four, Four) {
        let speed = self.seen.normal;
        self.damp_anew(bank, speed, self.dt);
        let spring = self.load_wish - self.load_admittance * speed;
        let stop = self.droop_wish - self.droop_admittance * speed;
        self.hanging = stop.less(spring);
        let load = Four::select(self.hanging, stop, spring);
        self.pressing = self.touching & Four::splat(0.0).less(load);
        (load.only(self.pressing), self.load_terms().1)
    }
}

/// Where dampers are in bump.
#[inline(always)]
fn in_bump(jounce_rate: Four) -> FourMask {
    Four::splat(-STANDING_DAMPER).less(jounce_rate)
}

/// A damper in `bump` or rebound at a jounce rate: slope of its force, and what the force would be at no speed if it went on
/// like this.
#[inline(always)]
pub(super) fn damper(bank: &Bank, bump: FourMask, jounce_rate: Four) -> (Four, Four) {
    let zero = Four::splat(0.0);
    let slow = Four::select(bump, bank.bump_damping, bank.rebound_damping);
    let Some(knees) = bank.knees else { return (slow, zero) };
    let [above, share] = [0, 1].map(|k| Four::select(bump, knees[0][k], knees[1][k]));
    let fast = above.less(jounce_rate.abs());
    let damping = Four::select(fast, slow * share, slow);
    let at_knee = Four::select(fast, (slow - damping) * above, zero);
    (damping, at_knee.signed_by(jounce_rate))
}
