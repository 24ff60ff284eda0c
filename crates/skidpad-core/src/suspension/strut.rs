//! Strut of a wheel over one step: spring, damper and stops as their mean force along the way the wheel goes.
//!
//! With z the compression and ż its rate at the start (0) and the end (1) of the step,
//!
//! ```text
//! impulse / dt = F(½ (z₀ + z₁)) + (1 − θ) c ż₀ + θ c ż₁,    z₁ = z₀ + ½ dt (ż₀ + ż₁)
//! ```
//!
//! The spring's part is the implicit midpoint rule: a spring gives back what it took at any step, and no stiffness is
//! too much for it (Hairer, Lubich, Wanner, *Geometric Numerical Integration*, ch. II.1). Stops take the mean of
//! their force along the way instead (Gonzalez, "Time integration and discrete Hamiltonian systems", 1996), so that a
//! wheel may run into one and out of it within a step.

use crate::constants::STANDARD_GRAVITY;
use crate::lane::Corners;
use crate::step::rows::Rows;
use crate::wheel::pack::WheelPack;
use crate::world::seam::OVERLAP_RETURN_SPEED;

/// Rebound slower than this still counts as bump, m/s: what is off is half a newton, and in a standing car, which moves by
/// rounding errors only, dampers do not change sides.
const STANDING_DAMPER: f32 = 2e-4;

/// Metal on metal, as a spring and a damper on the mass a wheel carries: natural frequency, rad/s, and damping ratio. Rim,
/// arms and mounts give so much; a car's tyre has 20 to 30 rad/s.
const METAL_FREQUENCY: f32 = 70.0;
const METAL_DAMPING: f32 = 0.7;

impl<W: Corners> Rows<W> {
    /// Begins a step of `dt` s with the spring and damper of its start.
    #[inline(always)]
    pub(crate) fn strut_step(&mut self, bank: &WheelPack<W>, dt: f32) {
        let (half, step, before) = (W::splat(0.5), W::splat(dt), self.contact.jounce_rate);
        let begun = self.contact.compression + self.contact.lag - half * step * before * self.contact.contact_share;
        self.suspension.strut.start = begun + self.contact.beyond_droop;
        // Of the way within the ground.
        self.suspension.strut.middle = half * (begun + self.suspension.strut.start) + W::splat(0.25) * step * before;
        let has_unsprung = self.has_unsprung;
        self.suspension.strut.mass = if has_unsprung { bank.unsprung_mass } else { bank.sprung };
        let carried = if has_unsprung { bank.sprung - bank.unsprung_mass } else { bank.sprung };
        self.suspension.strut.weight = step * carried * W::splat(STANDARD_GRAVITY);
        let meets = if has_unsprung { bank.present() } else { self.contact.in_contact };
        // Rays may find a wheel deeper than its stops let it go, and a bar twisted by as much as nothing has paid for.
        let travel =
            W::select(meets, self.suspension.strut.middle, self.contact.compression).at_most(bank.solid_travel);
        (self.suspension.axle_links.travel, self.suspension.axle_links.lifted) = (travel, W::Mask::default());
        self.spring_to(bank, before, dt);
        if !has_unsprung {
            self.damp(bank, before, dt);
        }
    }

    /// Linearises the spring where the step ends with the jounce rate `ends`.
    ///
    /// The midpoint rule slows a mode of frequency ω by ω² dt² / 12 and loses 1/4 − 1/12 of ω² dt² of its damping ratio; the
    /// damper is taken stronger by as much.
    #[inline(always)]
    fn spring_to(&mut self, bank: &WheelPack<W>, ends: W, dt: f32) {
        let (step, quarter) = (W::splat(dt), W::splat(0.25 * dt));
        let (mut spring, rate) = match bank.progressive_rate {
            None => bank.springs(self.suspension.strut.middle),
            Some(_) => {
                // Straight on beyond its ends: a rate that fell for ever would pull, one that rose leaves the stop no say.
                let middle = self.suspension.strut.middle + quarter * ends;
                let at = middle.within(-bank.droop_travel, bank.solid_travel);
                let (spring, rate) = bank.springs(at);
                (spring + rate * (middle - at), rate)
            }
        };
        if let Some(rise) = bank.progressive_rate {
            // The mean of a force that rises along the way, and the line through it.
            let half_way = quarter * (self.contact.jounce_rate + ends);
            let most = W::splat(0.5) * (bank.droop_travel + bank.solid_travel);
            let half_way = half_way.within(-most, most);
            spring += rise * half_way * half_way * W::splat(1.0 / 6.0) - rate * quarter * ends;
        }
        let relative = (rate * step * step / bank.sprung).at_most(W::splat(MOST_STIFFENING));
        self.suspension.strut.stiffening = W::splat(1.0) + relative * W::splat(DAMPING_LOST);
        self.suspension.strut.rate = rate;
        self.suspension.strut.spring = step * quarter * rate;
        self.suspension.strut.held = self.suspension.strut.weight + step * spring;
    }

    /// Adds the damper, as it is at a jounce rate at the end of the step, to the load row.
    #[inline(always)]
    pub(crate) fn damp(&mut self, bank: &WheelPack<W>, jounce_rate: W, dt: f32) {
        let [target_impulse, gain] = self.damped(bank, jounce_rate, dt);
        self.suspension.load_target = target_impulse / self.contact.cosine;
        self.suspension.load_gain = gain / (self.contact.cosine * self.contact.cosine);
    }

    /// Impulse of spring and damper along the travel at no rate at the end of the step, N s, and per rate there, kg, with the damper
    /// as it is at a jounce rate there.
    #[inline(always)]
    fn damped(&mut self, bank: &WheelPack<W>, jounce_rate: W, dt: f32) -> [W; 2] {
        let (damping, opened) = damper_at(bank, jounce_rate);
        let [share, begun] = self.damper_begun(bank, dt);
        let factor = W::splat(dt) * self.suspension.strut.stiffening;
        let explicit = (W::splat(1.0) - share) * begun;
        self.suspension.strut.damping = damping;
        [
            self.suspension.strut.held + factor * (explicit + share * opened),
            self.suspension.strut.spring + factor * share * damping,
        ]
    }

    /// Share of the damper that counts at the end of the step, and its force at the start, N.
    #[inline(always)]
    fn damper_begun(&self, bank: &WheelPack<W>, dt: f32) -> [W; 2] {
        let (before, opened_before) = damper_at(bank, self.contact.jounce_rate);
        // As stiff as it is at the start: a share that changed with the side the damper ends on would give the load a step there, and
        // the solve of the loads no answer.
        let share = late_share(before * W::splat(dt) / self.suspension.strut.mass);
        [share, before * self.contact.jounce_rate + opened_before]
    }

    /// Impulse of spring and damper on a wheel on its own along the travel, N s, and its slope, kg, where the step ends with the jounce
    /// rate `ends`.
    ///
    /// The end counts more than the start where the damper is stiff, which is as if it moved a mass beside the wheel's: on a wheel that
    /// springs turn over within the step it would give back along the way what that took. It pushes along the mean way no more than where
    /// both ends count alike, which differ with its sides, and against it no more than [`STEEPER`] times as its end does by the sum of both rates.
    pub(crate) fn own_strut(&mut self, bank: &WheelPack<W>, ends: W, dt: f32) -> [W; 2] {
        if bank.progressive_rate.is_some() {
            self.spring_to(bank, ends, dt);
        }
        let (zero, half) = (W::splat(0.0), W::splat(0.5));
        let (damping, opened) = damper_at(bank, ends);
        let [share, begun] = self.damper_begun(bank, dt);
        let (ended, rates) = (opened + damping * ends, self.contact.jounce_rate + ends);
        let (later, alike) = (begun + share * (ended - begun), half * (begun + ended));
        let steepest = W::splat(STEEPER) * share * damping;
        let most = steepest * rates;
        let force = later.within(most.at_most(zero).at_most(alike), most.at_least(zero).at_least(alike));
        let held = force.less(later) | later.less(force);
        let along = (half * damping).only((alike * rates).less(zero));
        let slope = W::select(held, W::select((later * rates).less(zero), along, steepest), share * damping);
        let factor = W::splat(dt) * self.suspension.strut.stiffening;
        let spring = self.suspension.strut.held + self.suspension.strut.spring * ends;
        [spring + factor * force, self.suspension.strut.spring + factor * slope]
    }

    /// Rate of the spring, N/m.
    pub(crate) fn strut_rate(&self) -> W {
        self.suspension.strut.rate
    }

    /// Slope of the damper at the start of the step, N s/m.
    pub(crate) fn strut_damping(&self, bank: &WheelPack<W>) -> W {
        damper_at(bank, self.contact.jounce_rate).0
    }

    /// Takes anew the springs that stiffen, and the dampers that move the other way or beyond a knee, where the step ends with
    /// the jounce rate `ends`.
    #[inline(always)]
    pub(crate) fn strut_to(&mut self, bank: &WheelPack<W>, ends: W, dt: f32) {
        let (damping, _) = damper_at(bank, ends);
        let was = self.suspension.strut.damping;
        if bank.progressive_rate.is_some() {
            self.spring_to(bank, ends, dt);
        }
        if bank.progressive_rate.is_some() || W::any((damping.less(was) | was.less(damping)) & self.contact.in_contact)
        {
            self.damp(bank, ends, dt);
        }
    }

    /// Where a wheel meets the ground or its bump stop within the step that ends with the jounce rate `ends`.
    #[inline(always)]
    pub(crate) fn meets_stops(&self, bank: &WheelPack<W>, ends: W, dt: f32) -> W::Mask {
        let way = W::splat(0.5 * dt) * (self.contact.jounce_rate + ends);
        let farthest = self.suspension.strut.start + way.at_least(W::splat(0.0));
        (bank.bump_travel.less(farthest) | self.contact.contact_share.less(W::splat(1.0))) & self.contact.in_contact
    }

    /// Load impulse and its slope, N s and kg, of strut and `linked` impulse with bump stop and metal, and with the share of the
    /// way that lies within the ground, where the step ends with the jounce rate `ends`.
    pub(crate) fn with_stops(&self, bank: &WheelPack<W>, strut: [W; 2], linked: W, ends: W, dt: f32) -> [W; 2] {
        W::called(
            #[inline(always)]
            || {
                let (zero, half, one, step) = (W::splat(0.0), W::splat(0.5), W::splat(1.0), W::splat(dt));
                let [mut load, mut slope] = strut;
                let way = half * step * (self.contact.jounce_rate + ends);
                let end = self.suspension.strut.start + way;
                let per_cosine = one / self.contact.cosine;
                // How far the end of the way goes per rate at the end, and that per speed of the row.
                let turn = half * step * per_cosine;
                let lands = self.contact.contact_share.less(one);
                let within = (end + bank.droop_travel).at_least(zero);
                let length = way.at_least(W::splat(LEAST_WAY));
                let share = W::select(lands, (within / length).at_most(one), one);
                let reached = lands & zero.less(within);
                slope = share * slope + (load.at_least(zero) * (one - share) / length * turn).only(reached);
                load = share * (load + linked);
                let [stop, stop_slope] = self.stops(bank, ends, dt);
                load += stop * per_cosine;
                slope += stop_slope * per_cosine * per_cosine;
                [load, slope]
            },
        )
    }

    /// Impulse of bump stop and metal along the travel, N s, and its slope, kg, where the step ends with the jounce rate `ends`.
    #[inline(always)]
    pub(crate) fn stops(&self, bank: &WheelPack<W>, ends: W, dt: f32) -> [W; 2] {
        let (zero, half, step) = (W::splat(0.0), W::splat(0.5), W::splat(dt));
        // How far the end of the way goes per rate there.
        let turn = half * step;
        let end = self.suspension.strut.start + turn * (self.contact.jounce_rate + ends);
        let rubber = Beyond::of(self.suspension.strut.start - bank.bump_travel, end - bank.bump_travel);
        let metal = Beyond::of(self.suspension.strut.start - bank.solid_travel, end - bank.solid_travel);
        let stop = bank.stop_rate * (rubber.mean - metal.mean) - self.suspension.strut.rate * metal.mean;
        let stop_slope = bank.stop_rate * (rubber.slope - metal.slope) - self.suspension.strut.rate * metal.slope;
        let damping = bank.sprung * W::splat(2.0 * METAL_DAMPING * METAL_FREQUENCY);
        let rate = bank.sprung * W::splat(METAL_FREQUENCY * METAL_FREQUENCY);
        // What is deep in comes out at a walking pace, whatever put it there.
        let most = damping * W::splat(OVERLAP_RETURN_SPEED);
        let pushed = (rate * metal.mean).at_most(most);
        let resisting = damping * (half * (self.contact.jounce_rate + ends));
        let pressed = (pushed + metal.share * resisting).at_least(zero);
        let presses = zero.less(pressed);
        let spring = (rate * metal.slope).only((rate * metal.mean).less(most));
        let metal_slope = (spring * turn + metal.share * damping * half).only(presses);
        [step * (stop + pressed), step * (stop_slope * turn + metal_slope).at_least(zero)]
    }
}

/// Of a way from one place to another, both counted from the beginning of a stop, the part beyond it.
pub(crate) struct Beyond<W: Corners> {
    /// Mean depth along the way, m, and how it grows with the end of the way.
    pub mean: W,
    pub slope: W,
    /// Share of the way.
    pub share: W,
}

impl<W: Corners> Beyond<W> {
    #[inline(always)]
    pub(crate) fn of(from: W, to: W) -> Self {
        let (zero, half) = (W::splat(0.0), W::splat(0.5));
        let (first, last) = (from.at_least(zero), to.at_least(zero));
        let throughout = zero.less(from) & zero.less(to);
        let length = (to - from).abs().at_least(W::splat(LEAST_WAY));
        let (entered, left) = (last / length, first / length);
        let partly = half * (first * left + last * entered);
        let slope = entered - half * entered * entered + half * left * left;
        Self {
            mean: W::select(throughout, half * (first + last), partly),
            slope: W::select(throughout, half, slope),
            share: W::select(throughout, W::splat(1.0), entered + left),
        }
    }
}

/// How much steeper than by its rate at the end of the step the damper of a wheel on its own falls to nothing, where the wheel turns over.
/// Tried from 1 to 100 on light planks, with stiff bars and heave springs, and on cars with roll centres: every value leaves a few steps without
/// an answer, but each other ones; energy does not depend on it.
const STEEPER: f32 = 1.2;

/// A way shorter than this divides as this, m.
const LEAST_WAY: f32 = 1e-7;

/// Share of a damper that counts at the end of a step, where it slows its mass by `stiff` times its speed within the step: half, and all
/// where it is stiff. The exponential fit of a damper on a mass, to second order and without an exponential.
#[inline(always)]
pub(crate) fn late_share<W: Corners>(stiff: W) -> W {
    let half = W::splat(0.5);
    half + half * stiff / (stiff + W::splat(6.0))
}

/// Share of its damping that the midpoint rule takes from a mode, per square of ω dt: 1/4 − 1/12.
pub(crate) const DAMPING_LOST: f32 = 1.0 / 6.0;

/// Largest square of ω dt that the damper makes up for.
pub(crate) const MOST_STIFFENING: f32 = 4.0;

/// A damper at a jounce rate, as [`damper`] has it. The two sides meet where slow rebound begins, so that the force has no step.
#[inline(always)]
fn damper_at<W: Corners>(bank: &WheelPack<W>, jounce_rate: W) -> (W, W) {
    let standing = W::splat(STANDING_DAMPER);
    let bump = (-standing).less(jounce_rate);
    let (damping, opened) = damper(bank, bump, jounce_rate);
    (damping, opened + (standing * (bank.rebound_damping - bank.bump_damping)).only(!bump))
}

/// A damper in `bump` or rebound at a jounce rate: slope of its force, and what the force would be at no speed if it went on
/// like this.
#[inline(always)]
fn damper<W: Corners>(bank: &WheelPack<W>, bump: W::Mask, jounce_rate: W) -> (W, W) {
    let zero = W::splat(0.0);
    let slow = W::select(bump, bank.bump_damping, bank.rebound_damping);
    let Some(knees) = bank.knees else { return (slow, zero) };
    let [above, share] = [0, 1].map(|k| W::select(bump, knees[0][k], knees[1][k]));
    let fast = above.less(jounce_rate.abs());
    let damping = W::select(fast, slow * share, slow);
    let at_knee = W::select(fast, (slow - damping) * above, zero);
    (damping, at_knee.signed_by(jounce_rate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::{Four, Lane};
    use crate::model::{Model, ModelParts, plain::plain_car};

    const DT: f32 = 0.01;

    fn bank_of(parts: ModelParts) -> WheelPack {
        Model::new(parts).expect("valid").banks()[0].clone()
    }

    /// Wheels on the ground that begin a step compressed by `start` m, at a jounce rate of `rate` m/s.
    fn begun(bank: &WheelPack, start: f32, rate: f32) -> Rows {
        let mut rows = Rows { dt: DT, ..Rows::default() };
        rows.contact.in_contact = bank.present();
        (rows.contact.contact_share, rows.contact.cosine) = (Four::splat(1.0), Four::splat(1.0));
        rows.contact.compression = Four::splat(start + 0.5 * DT * rate);
        rows.contact.jounce_rate = Four::splat(rate);
        rows.strut_step(bank, DT);
        rows
    }

    /// Impulse of the strut of the first wheel beyond what it carries at rest, N s, where the step ends with the jounce rate `ends`.
    fn sprung(rows: &mut Rows, bank: &WheelPack, ends: f32) -> f32 {
        let [impulse, _] = rows.own_strut(bank, Four::splat(ends), DT).map(|lanes| lanes.at(0));
        impulse - rows.suspension.strut.weight.at(0)
    }

    /// The mean of `k z + r z² / 2` from `z₀` to `z₁` is `k (z₀ + z₁) / 2 + r (z₀² + z₀ z₁ + z₁²) / 6`.
    #[test]
    fn a_spring_gives_the_mean_of_its_force_along_the_way() {
        for rise in [0.0, 200_000.0] {
            let mut parts = plain_car();
            parts.wheels.iter_mut().for_each(|wheel| wheel.strut.progressive_rate = rise);
            let bank = bank_of(parts);
            for (start, rate, ends) in [(0.02, 0.5, 1.5), (0.04, 1.0, -2.0), (-0.05, -0.4, 0.2)] {
                let end = start + 0.5 * DT * (rate + ends);
                let squares = start * start + start * end + end * end;
                let expected = DT * (30_000.0 * 0.5 * (start + end) + rise * squares / 6.0);
                let found = sprung(&mut begun(&bank, start, rate), &bank, ends);
                // 32 bits, of 29 N s that the strut carries at rest.
                assert!((found - expected).abs() < 2e-5, "{found} instead of {expected} N s from {start} m");
            }
        }
    }

    /// A damper of ratio ζ takes from a mode of frequency ω what the midpoint rule would lose of it: ω² dt² / 6 more than `c`.
    #[test]
    fn a_damper_makes_up_for_what_the_midpoint_rule_loses() {
        let damped = |damping: f32| {
            let mut parts = plain_car();
            parts.wheels.iter_mut().for_each(|wheel| {
                (wheel.strut.bump_damping, wheel.strut.rebound_damping) = (damping, damping);
            });
            let bank = bank_of(parts);
            sprung(&mut begun(&bank, 0.02, 1.0), &bank, 1.0)
        };
        let stiffened = 1.0 + 30_000.0 * DT * DT / 300.0 / 6.0;
        let expected = DT * 2000.0 * stiffened;
        let found = damped(2000.0) - damped(0.0);
        // 32 bits, of 56 N s.
        assert!((found - expected).abs() < 2e-5, "{found} instead of {expected} N s");
    }

    /// The damper of a wheel on its own, most of which counts at the end of the step, never pushes along the way, and only grows with the
    /// rate at the end.
    #[test]
    fn a_damper_of_a_wheel_that_turns_over_gives_no_energy() {
        let bank_with = |damping: [f32; 2]| {
            let mut parts = plain_car();
            for wheel in &mut parts.wheels {
                [wheel.strut.bump_damping, wheel.strut.rebound_damping] = damping;
            }
            bank_of(parts)
        };
        let [bank, undamped] = [[2000.0; 2], [0.0; 2]].map(bank_with);
        for rate in [-1.0, 1.0] {
            let damped = |ends: f32| {
                let [found, spring] = [&bank, &undamped].map(|bank| {
                    let mut rows = begun(bank, 0.02, rate);
                    rows.suspension.strut.mass = Four::splat(3.0);
                    sprung(&mut rows, bank, ends)
                });
                found - spring
            };
            let mut last = f32::NEG_INFINITY;
            for ends in (-30..=30).map(|k| 0.1 * k as f32) {
                let found = damped(ends);
                // 32 bits, of 56 N s.
                assert!(found * (rate + ends) > -2e-5, "{found} N s from {rate} to {ends} m/s");
                assert!(found > last - 2e-5, "{found} N s from {rate} to {ends} m/s, {last} before");
                last = found;
            }
            // Share of 20/3 over 20/3 + 6 beyond a half of it: nothing where the whole would push along the way.
            assert!(damped(-0.9 * rate).abs() < 2e-5, "turns over from {rate} m/s");
        }
    }

    /// Only on the part of the way beyond the beginning of the rubber: `d² / (2 L)` on the mean where it ends `d` in on a way `L`.
    #[test]
    fn a_bump_stop_gives_the_mean_of_its_force_along_the_way() {
        let bank = bank_of(plain_car());
        for (start, end, mean) in [
            (0.07, 0.078, 0.0),
            (0.07, 0.09, 0.01 * 0.01 / (2.0 * 0.02)),
            (0.09, 0.07, 0.01 * 0.01 / (2.0 * 0.02)),
            (0.09, 0.11, 0.02),
        ] {
            let rate = (end - start) / DT;
            let rows = begun(&bank, start, rate);
            let impulse = |ends: f32| rows.stops(&bank, Four::splat(ends), DT).map(|lanes| lanes.at(0));
            let [found, slope] = impulse(rate);
            let expected = DT * 60_000.0 * mean;
            // Lengths of 0.1 m in 32 bits, over a way of 0.02 m.
            assert!((found - expected).abs() < 1e-3, "{found} instead of {expected} N s from {start} to {end} m");
            let difference = (impulse(rate + 0.02)[0] - impulse(rate - 0.02)[0]) / 0.04;
            // Of a slope that changes by less than 1 kg on that way.
            assert!((slope - difference).abs() < 0.01 * slope + 0.01, "{slope} and {difference} kg from {start} m");
        }
    }

    /// A wheel that meets the ground within the step presses for the share of its way that is within it.
    #[test]
    fn a_wheel_that_lands_presses_on_its_way_within_the_ground() {
        let bank = bank_of(plain_car());
        let mut rows = begun(&bank, -0.09, 4.0);
        rows.contact.contact_share = Four::splat(0.75);
        let pressed = |ends: f32| {
            let [load, slope] = [20.0, 3.0].map(Four::splat);
            let load = load + slope * Four::splat(ends - 4.0);
            rows.with_stops(&bank, [load, slope], Four::splat(4.0), Four::splat(ends), DT).map(|lanes| lanes.at(0))
        };
        // 0.04 m of way, of which 0.03 m are compressed by more than at the droop stop.
        let [load, slope] = pressed(4.0);
        assert!((load - 0.75 * 24.0).abs() < 1e-3, "{load}: lengths of 0.1 m in 32 bits, over a way of 0.04 m");
        // AxleLinks end with the spring's force: their part of the slope is left out.
        let expected = 0.75 * 3.0 + 20.0 * 0.25 / 0.04 * 0.5 * DT;
        assert!((slope - expected).abs() < 1e-3, "{slope} instead of {expected} kg: as above");
    }
}
