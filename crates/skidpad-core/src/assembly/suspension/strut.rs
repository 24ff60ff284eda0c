//! Strut of a wheel over one step: spring, damper and stops, as mean force along the travel.
//!
//! The compression is z, its rate is ż, at the start (0) and the end (1) of the step:
//!
//! ```text
//! impulse / dt = F(½ (z₀ + z₁)) + (1 − θ) c ż₀ + θ c ż₁,    z₁ = z₀ + ½ dt (ż₀ + ż₁)
//! ```
//!
//! The spring part is the implicit midpoint rule: a spring returns exactly the energy that it stored, for any step
//! length and stiffness (Hairer, Lubich, Wanner, *Geometric Numerical Integration*, ch. II.1). Stops use the mean of
//! their force along the travel (Gonzalez, "Time integration and discrete Hamiltonian systems", 1996), so that a wheel
//! can enter and leave a stop within one step.

use crate::constants::STANDARD_GRAVITY;
use crate::model::wheel_pack::WheelPack;
use crate::port::MAX_OVERLAP_CORRECTION_MPS;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::WheelLanes;

/// Rebound rate up to which bump damping applies, m/s. The force error is about half a newton. A standing car moves by
/// rounding errors only, and its dampers do not alternate between bump and rebound.
const BUMP_SIDE_REBOUND_MPS: f32 = 2e-4;

/// Natural frequency of metal contact, as a spring and damper on the mass that a wheel carries, rad/s. This value
/// represents the compliance of rim, arms and mounts; the tyre of a car has 20 to 30 rad/s.
const METAL_FREQUENCY_RAD_S: f32 = 70.0;
/// Damping ratio of metal contact, –.
const METAL_DAMPING_RATIO: f32 = 0.7;

impl<W: WheelLanes> WheelRows<W> {
    /// Initialises the strut rows and the travel at the axle links for a step of `dt` s, from compression and jounce
    /// rate of the contacts. Sets the compression at the start (`start_travel`), that in the middle of the step for a
    /// final rate of zero (`midstep_travel`), the moved mass and the impulse of the static load. Then linearises the
    /// spring at the initial jounce rate. Without unsprung masses, also linearises the damper and sets the load row.
    ///
    /// If the wheel has an unsprung mass, the strut moves that mass and carries only the rest of the weight. The travel
    /// at the links is `midstep_travel`, or the compression for wheels in the air, and is limited to metal contact.
    /// Marks no wheel as lifted by links.
    #[inline(always)]
    pub(crate) fn init_strut(&mut self, group: &WheelPack<W>, dt: f32) {
        let (half, dt_lanes, start_rate) = (W::splat(0.5), W::splat(dt), self.contact.jounce_rate);
        // Compression at the start of the contact, synchronous with the velocity, m.
        let start_compression = self.contact.compression + self.contact.compression_lag
            - half * dt_lanes * start_rate * self.contact.contact_share;
        self.suspension.strut.start_travel = start_compression + self.contact.beyond_droop;
        // Only the part of the travel after the touchdown counts. For a final rate of 0, the whole travel is
        // ½ dt · rate, and its half is added.
        self.suspension.strut.midstep_travel =
            half * (start_compression + self.suspension.strut.start_travel) + W::splat(0.25) * dt_lanes * start_rate;
        let has_unsprung = self.has_unsprung;
        self.suspension.strut.mass = if has_unsprung { group.unsprung_mass } else { group.carried_mass };
        // Mass whose weight the strut carries, kg.
        let load_mass = if has_unsprung { group.carried_mass - group.unsprung_mass } else { group.carried_mass };
        // Impulse of the static load, N s.
        self.suspension.strut.weight_impulse = dt_lanes * load_mass * W::splat(STANDARD_GRAVITY);
        // Wheels whose travel follows the ground or their unsprung mass.
        let moving_wheels = if has_unsprung { group.present_mask() } else { self.contact.in_contact };
        // A ray can find a wheel deeper than its stops allow. Without the limit, bars would store energy that nothing
        // has supplied.
        let travel = W::select(moving_wheels, self.suspension.strut.midstep_travel, self.contact.compression)
            .at_most(group.solid_travel);
        (self.suspension.axle_links.travel, self.suspension.axle_links.lifted) = (travel, W::Mask::default());
        self.linearise_spring(group, start_rate, dt);
        if !has_unsprung {
            self.linearise_damper(group, start_rate, dt);
        }
    }

    /// Linearises the spring for a step of `dt` s that ends with the jounce rate `end_rate` (m/s): sets spring rate,
    /// impulse for a final rate of zero with the static load, gain `dt² k / 4`, and the damping compensation. A linear
    /// spring does not depend on `end_rate`. A progressive spring has its mean force along the travel, with the rate at
    /// the middle of the step, and is continued linearly beyond droop stop and metal contact.
    ///
    /// The midpoint rule reduces the frequency ω of a mode by the share ω² dt² / 12 and its damping ratio by the share
    /// (1/4 − 1/12) ω² dt². The damper is increased by the latter, with ω² dt² limited to [`MAX_STIFFENING`].
    #[inline(always)]
    fn linearise_spring(&mut self, group: &WheelPack<W>, end_rate: W, dt: f32) {
        let (dt_lanes, quarter_dt) = (W::splat(dt), W::splat(0.25 * dt));
        // Stage 1: force and rate in the middle of the step.
        let (mut force, rate) = match group.progressive_rate {
            None => group.spring_force_and_rate(self.suspension.strut.midstep_travel),
            Some(_) => {
                // Linear extrapolation beyond both ends of the travel: a decreasing rate would become a pull, an
                // increasing one would dominate the stop.
                let travel_at_end_rate = self.suspension.strut.midstep_travel + quarter_dt * end_rate;
                let clamped_travel = travel_at_end_rate.clamp_nan_to_low(-group.droop_travel, group.solid_travel);
                let (force, rate) = group.spring_force_and_rate(clamped_travel);
                (force + rate * (travel_at_end_rate - clamped_travel), rate)
            }
        };
        if let Some(rate_slope) = group.progressive_rate {
            // Stage 2: mean force of a progressive spring along the travel, and its tangent at a final rate of zero.
            // `half_travel` is half of the travel within the step, m.
            let half_travel = quarter_dt * (self.contact.jounce_rate + end_rate);
            let max_half_travel = W::splat(0.5) * (group.droop_travel + group.solid_travel);
            let half_travel = half_travel.clamp_nan_to_low(-max_half_travel, max_half_travel);
            force += rate_slope * half_travel * half_travel * W::splat(1.0 / 6.0) - rate * quarter_dt * end_rate;
        }
        // Stage 3: damping compensation from the square of ω dt, and the stored results.
        let phase_squared = (rate * dt_lanes * dt_lanes / group.carried_mass).at_most(W::splat(MAX_STIFFENING));
        self.suspension.strut.damping_compensation = W::splat(1.0) + phase_squared * W::splat(LOST_DAMPING_SHARE);
        self.suspension.strut.spring_rate = rate;
        self.suspension.strut.spring_gain = dt_lanes * quarter_dt * rate;
        self.suspension.strut.static_impulse = self.suspension.strut.weight_impulse + dt_lanes * force;
    }

    /// Sets the load row `load_target − load_gain · speed along the normal` to spring and damper, with the damper
    /// linearised at the final `jounce_rate` (m/s). Impulse and gain along the travel are divided by the cosine between
    /// normal and travel and by its square.
    #[inline(always)]
    pub(crate) fn linearise_damper(&mut self, group: &WheelPack<W>, jounce_rate: W, dt: f32) {
        let [target_impulse, gain] = self.strut_impulse_and_gain(group, jounce_rate, dt);
        self.suspension.load_target = target_impulse / self.contact.normal_cosine;
        self.suspension.load_gain = gain / (self.contact.normal_cosine * self.contact.normal_cosine);
    }

    /// Returns the impulse of spring, static load and damper along the travel for a final rate of zero (N s), and its
    /// increase per final rate (kg). The damper force is the weighted mean of the forces at start and end, times the
    /// damping compensation. The force at the end is linearised at the final `jounce_rate` (m/s); the slope there is
    /// stored in `damping`.
    #[inline(always)]
    fn strut_impulse_and_gain(&mut self, group: &WheelPack<W>, jounce_rate: W, dt: f32) -> [W; 2] {
        let (damping, offset) = smoothed_damper_line(group, jounce_rate);
        let [end_weight, start_force] = self.damper_weight_and_force(group, dt);
        let damper_factor = W::splat(dt) * self.suspension.strut.damping_compensation;
        // Part of the damper force by the rate at the start, N.
        let start_part = (W::splat(1.0) - end_weight) * start_force;
        self.suspension.strut.damping = damping;
        [
            self.suspension.strut.static_impulse + damper_factor * (start_part + end_weight * offset),
            self.suspension.strut.spring_gain + damper_factor * end_weight * damping,
        ]
    }

    /// Returns the weight of the final rate in the damper force, –, and the damper force at the start of the step, N.
    /// The weight is that of [`end_rate_weight`] for the damping at the start and the mass that the strut moves.
    #[inline(always)]
    fn damper_weight_and_force(&self, group: &WheelPack<W>, dt: f32) -> [W; 2] {
        let (damping, offset) = smoothed_damper_line(group, self.contact.jounce_rate);
        // The weight uses the damping at the start. If it depended on the side on which the damper ends, the load would
        // have a step there, and the load solve would have no solution.
        let end_weight = end_rate_weight(damping * W::splat(dt) / self.suspension.strut.mass);
        [end_weight, damping * self.contact.jounce_rate + offset]
    }

    /// Returns the impulse of spring, static load and damper on an unsprung mass along the travel (N s) and its slope
    /// (kg) for a step of `dt` s that ends with the jounce rate `end_rate` (m/s). Stops and axle links are left out. A
    /// progressive spring is linearised again, which changes the stored strut.
    ///
    /// A stiff damper weights the end of the step more than its start, which acts like an additional mass. If springs
    /// reverse the wheel within the step, this damper would return energy. A damper force in the direction of the mean
    /// travel is therefore limited to the force with equal weights for both ends if that has this direction, too,
    /// otherwise to 0. (It has this direction only if bump and rebound damping differ.) A damper force against the mean
    /// travel is limited to [`REVERSAL_SLOPE_FACTOR`] times final weight, damping and the sum of both rates, or to the
    /// force with equal weights if this is larger. A limited force has the slope of its limit.
    pub(crate) fn unsprung_strut(&mut self, group: &WheelPack<W>, end_rate: W, dt: f32) -> [W; 2] {
        if group.progressive_rate.is_some() {
            self.linearise_spring(group, end_rate, dt);
        }
        let (zero, half) = (W::splat(0.0), W::splat(0.5));
        let (damping, offset) = smoothed_damper_line(group, end_rate);
        let [end_weight, start_force] = self.damper_weight_and_force(group, dt);
        // Damper force at the end (N), and twice the mean rate (m/s).
        let (end_force, rate_sum) = (offset + damping * end_rate, self.contact.jounce_rate + end_rate);
        // Damper force with the larger final weight, and with equal weights, N.
        let (end_weighted, equal_weighted) =
            (start_force + end_weight * (end_force - start_force), half * (start_force + end_force));
        let max_slope = W::splat(REVERSAL_SLOPE_FACTOR) * end_weight * damping;
        // Limit of the force against the mean travel, N.
        let reversal_limit = max_slope * rate_sum;
        let force = end_weighted.clamp_nan_to_low(
            reversal_limit.at_most(zero).at_most(equal_weighted),
            reversal_limit.at_least(zero).at_least(equal_weighted),
        );
        // Wheels whose damper force is limited.
        let is_limited = force.less(end_weighted) | end_weighted.less(force);
        // Slopes, N s/m. A limit of 0 has slope 0; one by equal weights has half of the damping.
        let equal_slope = (half * damping).masked((equal_weighted * rate_sum).less(zero));
        let slope = W::select(
            is_limited,
            W::select((end_weighted * rate_sum).less(zero), equal_slope, max_slope),
            end_weight * damping,
        );
        let damper_factor = W::splat(dt) * self.suspension.strut.damping_compensation;
        let spring_impulse = self.suspension.strut.static_impulse + self.suspension.strut.spring_gain * end_rate;
        [spring_impulse + damper_factor * force, self.suspension.strut.spring_gain + damper_factor * slope]
    }

    /// Returns the rate of the spring, N/m.
    pub(crate) fn strut_rate(&self) -> W {
        self.suspension.strut.spring_rate
    }

    /// Returns the slope of the damper force at the start of the step, N s/m.
    pub(crate) fn strut_damping(&self, group: &WheelPack<W>) -> W {
        smoothed_damper_line(group, self.contact.jounce_rate).0
    }

    /// Updates the load row for the final jounce rate `end_rate` (m/s) in a step of `dt` s. Progressive springs are
    /// linearised again at every call. Dampers are linearised again for progressive springs, or if the slope at
    /// `end_rate` differs from the stored one for a wheel in contact: a change of direction or a crossed knee. Leaves
    /// the rows unchanged otherwise.
    #[inline(always)]
    pub(crate) fn relinearise_strut(&mut self, group: &WheelPack<W>, end_rate: W, dt: f32) {
        let (damping, _) = smoothed_damper_line(group, end_rate);
        let last_damping = self.suspension.strut.damping;
        if group.progressive_rate.is_some() {
            self.linearise_spring(group, end_rate, dt);
        }
        if group.progressive_rate.is_some()
            || W::any((damping.less(last_damping) | last_damping.less(damping)) & self.contact.in_contact)
        {
            self.linearise_damper(group, end_rate, dt);
        }
    }

    /// Returns the wheels in contact that touch down, or whose compression exceeds the bump travel at the start or the
    /// end, in a step that ends with the jounce rate `end_rate` (m/s).
    #[inline(always)]
    pub(crate) fn wheels_reaching_stops(&self, group: &WheelPack<W>, end_rate: W, dt: f32) -> W::Mask {
        // Travel within the step, m.
        let travel = W::splat(0.5 * dt) * (self.contact.jounce_rate + end_rate);
        let max_compression = self.suspension.strut.start_travel + travel.at_least(W::splat(0.0));
        // A contact share below 1: the wheel touches down within the step.
        (group.bump_travel.less(max_compression) | self.contact.contact_share.less(W::splat(1.0)))
            & self.contact.in_contact
    }

    /// Returns the load impulse along the normal (N s) and its slope (kg) with bump stop and metal contact, for a step
    /// that ends with the jounce rate `end_rate` (m/s). `strut` is impulse and slope of spring and damper,
    /// `link_impulse` the impulse of the axle links, all along the normal.
    ///
    /// For a wheel that lands within the step, strut and links count with the share of the travel after the touchdown.
    /// The slope includes the change of that share times the strut impulse (at least 0), but not times `link_impulse`.
    /// Stops are added in full. The load can be negative.
    pub(crate) fn load_with_stops(
        &self,
        group: &WheelPack<W>,
        strut: [W; 2],
        link_impulse: W,
        end_rate: W,
        dt: f32,
    ) -> [W; 2] {
        W::call_outlined(
            #[inline(always)]
            || {
                let (zero, half, one, dt_lanes) = (W::splat(0.0), W::splat(0.5), W::splat(1.0), W::splat(dt));
                let [mut load, mut slope] = strut;
                // Travel within the step and compression at its end, m.
                let travel = half * dt_lanes * (self.contact.jounce_rate + end_rate);
                let end_compression = self.suspension.strut.start_travel + travel;
                let inverse_cosine = one / self.contact.normal_cosine;
                // Change of the final compression per final speed of the row.
                let end_per_speed = half * dt_lanes * inverse_cosine;
                let is_landing = self.contact.contact_share.less(one);
                // Part of the travel after the touchdown, m.
                let ground_travel = (end_compression + group.droop_travel).at_least(zero);
                let bounded_travel = travel.at_least(W::splat(MIN_TRAVEL_M));
                let contact_share = W::select(is_landing, (ground_travel / bounded_travel).at_most(one), one);
                // Landing wheels that reach the ground.
                let has_landed = is_landing & zero.less(ground_travel);
                // Slope of the product share · load: share · slope of the load + load · slope of the share.
                slope = contact_share * slope
                    + (load.at_least(zero) * (one - contact_share) / bounded_travel * end_per_speed).masked(has_landed);
                load = contact_share * (load + link_impulse);
                let [stop_impulse, stop_slope] = self.stop_impulse(group, end_rate, dt);
                // From the travel to the normal.
                load += stop_impulse * inverse_cosine;
                slope += stop_slope * inverse_cosine * inverse_cosine;
                [load, slope]
            },
        )
    }

    /// Returns the impulse of bump stop and metal contact along the travel (N s) and its slope (kg, ≥ 0), for a step
    /// that ends with the jounce rate `end_rate` (m/s). The bump stop adds its rate between bump travel and metal
    /// contact. Beyond metal contact, the forces of spring and bump stop stay constant: the spring's further increase
    /// is subtracted. A stiff spring and damper on the carried mass act there instead ([`METAL_FREQUENCY_RAD_S`],
    /// [`METAL_DAMPING_RATIO`]). The metal can only push; its spring force is limited so that overlaps are removed
    /// slowly.
    #[inline(always)]
    pub(crate) fn stop_impulse(&self, group: &WheelPack<W>, end_rate: W, dt: f32) -> [W; 2] {
        let (zero, half, dt_lanes) = (W::splat(0.0), W::splat(0.5), W::splat(dt));
        // Change of the final compression per final rate.
        let end_per_rate = half * dt_lanes;
        let end_compression = self.suspension.strut.start_travel + end_per_rate * (self.contact.jounce_rate + end_rate);
        // Depth in the bump stop (rubber) and in the metal contact behind it.
        let rubber = StopOverlap::new(
            self.suspension.strut.start_travel - group.bump_travel,
            end_compression - group.bump_travel,
        );
        let metal = StopOverlap::new(
            self.suspension.strut.start_travel - group.solid_travel,
            end_compression - group.solid_travel,
        );
        // Beyond metal contact, further compression of spring and bump stop adds no force.
        let stop_force = group.stop_rate * (rubber.mean - metal.mean) - self.suspension.strut.spring_rate * metal.mean;
        let stop_slope =
            group.stop_rate * (rubber.slope - metal.slope) - self.suspension.strut.spring_rate * metal.slope;
        // Damping (N s/m) and rate (N/m) of the metal contact.
        let metal_damping = group.carried_mass * W::splat(2.0 * METAL_DAMPING_RATIO * METAL_FREQUENCY_RAD_S);
        let metal_rate = group.carried_mass * W::splat(METAL_FREQUENCY_RAD_S * METAL_FREQUENCY_RAD_S);
        // Deep overlaps are resolved with `MAX_OVERLAP_CORRECTION_MPS`, whatever their cause.
        let max_spring_force = metal_damping * W::splat(MAX_OVERLAP_CORRECTION_MPS);
        // Forces of the metal spring, of its damper, and of both, N.
        let spring_force = (metal_rate * metal.mean).at_most(max_spring_force);
        let damper_force = metal_damping * (half * (self.contact.jounce_rate + end_rate));
        let metal_force = (spring_force + metal.share * damper_force).at_least(zero);
        let is_pressed = zero.less(metal_force);
        let spring_slope = (metal_rate * metal.slope).masked((metal_rate * metal.mean).less(max_spring_force));
        let metal_slope = (spring_slope * end_per_rate + metal.share * metal_damping * half).masked(is_pressed);
        [dt_lanes * (stop_force + metal_force), dt_lanes * (stop_slope * end_per_rate + metal_slope).at_least(zero)]
    }
}

/// Part of a travel beyond the start of a stop, as mean values along the travel.
pub(crate) struct StopOverlap<W: WheelLanes> {
    /// Mean depth along the travel, m.
    pub mean: W,
    /// Increase of the mean depth per final depth, –.
    pub slope: W,
    /// Share of the travel beyond the start of the stop, –.
    pub share: W,
}

impl<W: WheelLanes> StopOverlap<W> {
    /// Computes the part for a travel between the depths `start_depth` and `end_depth` beyond the start of the stop, m,
    /// negative in front of it. The depth counts as 0 in front of the stop. For a travel that crosses the start, the
    /// mean is `d² / (2 L)` with the depth d and the whole length L, and the share is `d / L`; L is at least
    /// [`MIN_TRAVEL_M`].
    #[inline(always)]
    pub(crate) fn new(start_depth: W, end_depth: W) -> Self {
        let (zero, half) = (W::splat(0.0), W::splat(0.5));
        let (clamped_start, clamped_end) = (start_depth.at_least(zero), end_depth.at_least(zero));
        // Travels that are beyond the start of the stop at both ends.
        let is_inside = zero.less(start_depth) & zero.less(end_depth);
        let length = (end_depth - start_depth).abs().at_least(W::splat(MIN_TRAVEL_M));
        // Final and initial depth over the length of the travel.
        let (end_share, start_share) = (clamped_end / length, clamped_start / length);
        let partial_mean = half * (clamped_start * start_share + clamped_end * end_share);
        let slope = end_share - half * end_share * end_share + half * start_share * start_share;
        Self {
            mean: W::select(is_inside, half * (clamped_start + clamped_end), partial_mean),
            slope: W::select(is_inside, half, slope),
            share: W::select(is_inside, W::splat(1.0), end_share + start_share),
        }
    }
}

/// Factor on the slope with which the damper force on an unsprung mass drops to zero if the wheel reverses within the
/// step. Values from 1 to 100 were compared on light planks with stiff bars and heave springs, and on cars with roll
/// centres. Each value leaves a few different steps that do not converge; energy does not depend on it.
const REVERSAL_SLOPE_FACTOR: f32 = 1.2;

/// Shortest travel for divisions, m.
const MIN_TRAVEL_M: f32 = 1e-7;

/// Returns the weight of the final rate in a damper force, `½ + ½ s / (s + 6)`: 1/2, up to 1 for stiff dampers.
/// `stiffness` is s, the damping times step length over mass. This rational function is a second-order fit of the
/// exponential decay of a damped mass.
#[inline(always)]
pub(crate) fn end_rate_weight<W: WheelLanes>(stiffness: W) -> W {
    let half = W::splat(0.5);
    half + half * stiffness / (stiffness + W::splat(6.0))
}

/// Share of the damping ratio of a mode that the midpoint rule loses, per square of ω dt: 1/4 − 1/12.
pub(crate) const LOST_DAMPING_SHARE: f32 = 1.0 / 6.0;

/// Largest square of ω dt for which the damper compensates that loss.
pub(crate) const MAX_STIFFENING: f32 = 4.0;

/// Returns slope (N s/m) and offset (N) of a damper as [`damper_line`], with bump damping also in rebound slower than
/// [`BUMP_SIDE_REBOUND_MPS`]. An offset in faster rebound joins both sides there, so that the force is continuous.
#[inline(always)]
fn smoothed_damper_line<W: WheelLanes>(group: &WheelPack<W>, jounce_rate: W) -> (W, W) {
    let slow_rate = W::splat(BUMP_SIDE_REBOUND_MPS);
    // Rates at which bump damping applies.
    let is_bump = (-slow_rate).less(jounce_rate);
    let (damping, offset) = damper_line(group, is_bump, jounce_rate);
    // The offset of fast rebound makes both lines meet at the rate −BUMP_SIDE_REBOUND_MPS.
    (damping, offset + (slow_rate * (group.rebound_damping - group.bump_damping)).masked(!is_bump))
}

/// Returns the slope of a damper's force in `is_bump` or rebound at a jounce rate (N s/m), and the offset of its
/// tangent at zero rate (N, with the sign of the rate). Above the knee speed, the slope is multiplied by the share of
/// the knee, and the offset keeps the force continuous; below it, or without knees, the offset is 0.
#[inline(always)]
fn damper_line<W: WheelLanes>(group: &WheelPack<W>, is_bump: W::Mask, jounce_rate: W) -> (W, W) {
    let zero = W::splat(0.0);
    let slow_damping = W::select(is_bump, group.bump_damping, group.rebound_damping);
    let Some(knees) = group.knees else { return (slow_damping, zero) };
    // Knee speed (m/s) and damping share above it.
    // `knees[0]` is for bump, `knees[1]` for rebound.
    let [knee_speed, fast_ratio] = [0, 1].map(|k| W::select(is_bump, knees[0][k], knees[1][k]));
    let is_fast = knee_speed.less(jounce_rate.abs());
    let damping = W::select(is_fast, slow_damping * fast_ratio, slow_damping);
    let offset = W::select(is_fast, (slow_damping - damping) * knee_speed, zero);
    (damping, offset.times_sign_of(jounce_rate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, ModelParts, plain::plain_car};
    use skidpad_simd::lane::{F32x4, Lane};

    const DT_S: f32 = 0.01;

    /// Returns the first group of wheels of the model `parts`.
    fn first_group(parts: ModelParts) -> WheelPack {
        Model::new(parts).expect("valid").wheel_packs()[0].clone()
    }

    /// Returns wheels on the ground at the start of a step, with a compression of `compression` (m) and a jounce rate
    /// of `rate` (m/s).
    fn start_rows(group: &WheelPack, compression: f32, rate: f32) -> WheelRows {
        let mut rows = WheelRows { dt: DT_S, ..WheelRows::default() };
        rows.contact.in_contact = group.present_mask();
        (rows.contact.contact_share, rows.contact.normal_cosine) = (F32x4::splat(1.0), F32x4::splat(1.0));
        rows.contact.compression = F32x4::splat(compression + 0.5 * DT_S * rate);
        rows.contact.jounce_rate = F32x4::splat(rate);
        rows.init_strut(group, DT_S);
        rows
    }

    /// Returns the impulse of the first wheel's strut beyond its static load, N s, for a step that ends with the jounce
    /// rate `end_rate` (m/s).
    fn strut_impulse(rows: &mut WheelRows, group: &WheelPack, end_rate: f32) -> f32 {
        let [impulse, _slope] =
            rows.unsprung_strut(group, F32x4::splat(end_rate), DT_S).map(|lanes| lanes.lane_value(0));
        impulse - rows.suspension.strut.weight_impulse.lane_value(0)
    }

    /// Checks the spring impulse `dt` times the mean of `k z + r z² / 2` from `z₀` to `z₁`,
    /// `k (z₀ + z₁) / 2 + r (z₀² + z₀ z₁ + z₁²) / 6`, for a linear and a progressive spring. The strut of the test has
    /// no damping.
    #[test]
    fn a_spring_gives_the_mean_of_its_force_along_the_way() {
        for progressive_rate in [0.0, 200_000.0] {
            let mut parts = plain_car();
            parts.wheels.iter_mut().for_each(|wheel| wheel.strut.progressive_rate = progressive_rate);
            let group = first_group(parts);
            for (start, rate, end_rate) in [(0.02, 0.5, 1.5), (0.04, 1.0, -2.0), (-0.05, -0.4, 0.2)] {
                let end = start + 0.5 * DT_S * (rate + end_rate);
                let squares = start * start + start * end + end * end;
                let expected = DT_S * (30_000.0 * 0.5 * (start + end) + progressive_rate * squares / 6.0);
                let found = strut_impulse(&mut start_rows(&group, start, rate), &group, end_rate);
                // f32 resolution at the static impulse of 29 N s.
                assert!((found - expected).abs() < 2e-5, "{found} instead of {expected} N s from {start} m");
            }
        }
    }

    /// Checks that the damper compensates the loss of damping by the midpoint rule: the damper impulse at equal rates
    /// is larger than `c ż dt` by the factor 1 + ω² dt² / 6.
    #[test]
    fn a_damper_makes_up_for_what_the_midpoint_rule_loses() {
        let impulse_with = |damping: f32| {
            let mut parts = plain_car();
            parts.wheels.iter_mut().for_each(|wheel| {
                (wheel.strut.bump_damping, wheel.strut.rebound_damping) = (damping, damping);
            });
            let group = first_group(parts);
            strut_impulse(&mut start_rows(&group, 0.02, 1.0), &group, 1.0)
        };
        // ω² = 30 kN/m over 300 kg.
        let compensation = 1.0 + 30_000.0 * DT_S * DT_S / 300.0 / 6.0;
        let expected = DT_S * 2000.0 * compensation;
        let found = impulse_with(2000.0) - impulse_with(0.0);
        // f32 resolution at 56 N s.
        assert!((found - expected).abs() < 2e-5, "{found} instead of {expected} N s");
    }

    /// Checks the damper force on a light unsprung mass of 3 kg, with most of its weight on the final rate: it never
    /// acts in the direction of the travel, it only increases with the final rate, and it is 0 where the unlimited
    /// force would act in the direction of the travel.
    #[test]
    fn a_damper_of_a_wheel_that_turns_over_gives_no_energy() {
        let group_with = |damping: [f32; 2]| {
            let mut parts = plain_car();
            for wheel in &mut parts.wheels {
                [wheel.strut.bump_damping, wheel.strut.rebound_damping] = damping;
            }
            first_group(parts)
        };
        let [group, undamped] = [[2000.0; 2], [0.0; 2]].map(group_with);
        for rate in [-1.0, 1.0] {
            let damper_impulse = |end_rate: f32| {
                let [found, spring] = [&group, &undamped].map(|group| {
                    let mut rows = start_rows(group, 0.02, rate);
                    rows.suspension.strut.mass = F32x4::splat(3.0);
                    strut_impulse(&mut rows, group, end_rate)
                });
                found - spring
            };
            let mut last_impulse = f32::NEG_INFINITY;
            for end_rate in (-30..=30).map(|k| 0.1 * k as f32) {
                let found = damper_impulse(end_rate);
                // f32 resolution at 56 N s.
                assert!(found * (rate + end_rate) > -2e-5, "{found} N s from {rate} to {end_rate} m/s");
                assert!(
                    found > last_impulse - 2e-5,
                    "{found} N s from {rate} to {end_rate} m/s, {last_impulse} before"
                );
                last_impulse = found;
            }
            // The final weight is 1/2 + 1/2 · (20/3) / (20/3 + 6). The force is 0 where the unlimited one would act in
            // the direction of the travel.
            assert!(damper_impulse(-0.9 * rate).abs() < 2e-5, "turns over from {rate} m/s");
        }
    }

    /// Checks that only the travel beyond the start of the rubber counts: a mean of `d² / (2 L)` for the depth `d` at
    /// the end of a travel `L`. The returned slope agrees with the difference quotient of the impulse.
    #[test]
    fn a_bump_stop_gives_the_mean_of_its_force_along_the_way() {
        let group = first_group(plain_car());
        for (start, end, mean) in [
            (0.07, 0.078, 0.0),
            (0.07, 0.09, 0.01 * 0.01 / (2.0 * 0.02)),
            (0.09, 0.07, 0.01 * 0.01 / (2.0 * 0.02)),
            (0.09, 0.11, 0.02),
        ] {
            let rate = (end - start) / DT_S;
            let rows = start_rows(&group, start, rate);
            let impulse = |end_rate: f32| {
                rows.stop_impulse(&group, F32x4::splat(end_rate), DT_S).map(|lanes| lanes.lane_value(0))
            };
            let [found, slope] = impulse(rate);
            let expected = DT_S * 60_000.0 * mean;
            // f32 resolution at lengths of 0.1 m, over a travel of 0.02 m.
            assert!((found - expected).abs() < 1e-3, "{found} instead of {expected} N s from {start} to {end} m");
            let difference_quotient = (impulse(rate + 0.02)[0] - impulse(rate - 0.02)[0]) / 0.04;
            // The slope changes by less than 1 kg on that travel.
            assert!(
                (slope - difference_quotient).abs() < 0.01 * slope + 0.01,
                "{slope} and {difference_quotient} kg from {start} m"
            );
        }
    }

    /// Checks that a wheel that touches down within the step has a load for the share of its travel after the
    /// touchdown, links included, and that the slope includes the change of this share.
    #[test]
    fn a_wheel_that_lands_presses_on_its_way_within_the_ground() {
        let group = first_group(plain_car());
        // Starts 0.01 m below the droop stop, with 4 m/s. The strut has 20 N s and 3 kg at that rate, the links 4 N s.
        let mut rows = start_rows(&group, -0.09, 4.0);
        rows.contact.contact_share = F32x4::splat(0.75);
        let load_at = |end_rate: f32| {
            let [load, slope] = [20.0, 3.0].map(F32x4::splat);
            let load = load + slope * F32x4::splat(end_rate - 4.0);
            rows.load_with_stops(&group, [load, slope], F32x4::splat(4.0), F32x4::splat(end_rate), DT_S)
                .map(|lanes| lanes.lane_value(0))
        };
        // The travel is 0.04 m, of which 0.03 m are after the touchdown.
        let [load, slope] = load_at(4.0);
        assert!((load - 0.75 * 24.0).abs() < 1e-3, "{load}: lengths of 0.1 m in 32 bits, over a way of 0.04 m");
        // The change of the share scales the strut load only, not the impulse of the axle links.
        let expected = 0.75 * 3.0 + 20.0 * 0.25 / 0.04 * 0.5 * DT_S;
        assert!((slope - expected).abs() < 1e-3, "{slope} instead of {expected} kg: as above");
    }
}
