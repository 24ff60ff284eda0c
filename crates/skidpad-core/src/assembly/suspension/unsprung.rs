//! Unsprung masses: each wheel is a mass between its strut and the vertical spring of its tyre.
//!
//! The coordinate q is the travel along the suspension, so that no joint can drift. For a given chassis velocity V, the
//! travel rates at the end of the step follow from the balance of impulses, jointly for both wheels of an axle that a
//! beam or axle links connect. With `b = m (ẑ, r × ẑ)`, the coupling of the wheel to the chassis motion, the strut
//! impulse S, the tyre impulse N at the angle γ to the travel, and the tangential tyre impulse T_z along the travel,
//!
//! ```text
//! m (q̇ − q̇₀) + b · (V − V_free) = N(q̇) cos γ + T_z − S(q̇)
//! M (V − V_free)                 = Σ n N + tyres − b (q̇ − q̇₀)
//! ```
//!
//! where M includes the wheels. Both sides stay symmetric when q̇ is eliminated (Featherstone, *Rigid Body Dynamics
//! Algorithms*, ch. 7, for a tree of this depth). S is the strut of [`crate::assembly::suspension::strut`]. The tyre
//! spring also acts with its mean force along the travel, and can only push.
//!
//! The wheels of a solid axle are connected by a beam. It rotates about its roll centre by `θ = (q_l − q_r) / t` with
//! the track t, and moves both wheel centres, at the height R above it, sideways. With the lateral row y and the
//! vertical row z at the wheel centre, and `σ = ±R / t`, each wheel has the row `b = m (ẑ − σ (y_l + y_r + θ (z_l +
//! z_r)))`, the mass `m + 2 m σ²`, and the coupling mass `2 m σ_l σ_r` to the other wheel. Lateral forces reach the
//! body through the beam at its roll centre. If the roll centre is at the ground, they load both struts equally.
//! Otherwise R counts from the roll centre height, and [`crate::assembly::suspension::roll_centre`] adds the rest.

use crate::assembly::suspension::strut::{LOST_DAMPING_SHARE, MAX_STIFFENING, StopOverlap, end_rate_weight};
use crate::model::wheel_pack::{Beam, WheelPack};
use crate::port::{MAX_OVERLAP_CORRECTION_MPS, Probe};
use crate::state::WheelState;
use crate::suspension::rows::{AxleLinkGains, Scrub, TyreStep, UnsprungMotion};
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;
use bevy_math::Vec3;
use skidpad_simd::lane::{F32x4, Lane, Mask32x4, WheelLanes};
use skidpad_simd::linear::{OuterProducts, SpatialVector, Symmetric6};
use skidpad_simd::vectors::Vec3Lanes;
use skidpad_simd::wheel_groups::ManyGroups;

/// Square of ω dt up to which wheel hop follows the midpoint rule. Faster modes are damped increasingly, because a step
/// cannot resolve them and they would alternate from step to step.
const MAX_RESOLVED_PHASE_SQUARED: f32 = 9.0;

/// Maximum number of iterations for the travel rates. Two are typical, more if a wheel lands, lifts off or hits a stop.
const MAX_TRAVEL_ITERATIONS: usize = 24;

/// Tolerance for the change of a travel rate, m/s.
const TRAVEL_RATE_TOLERANCE_MPS: f32 = 1e-6;

/// Maximum number of load solves before the coupling.
const MAX_SOLVES_BEFORE_COUPLING: usize = 4;
/// Change of the chassis velocity below which the coupling takes over, m/s.
const CHASSIS_SPEED_TOLERANCE_MPS: f32 = 1e-3;

/// Largest residual at the end of a step, with the opposite sign, as a share of that at its start; else the step is
/// cut.
const MAX_OVERSHOOT_RATIO: f32 = 0.5;
/// Smallest share of a cut step that is kept, and smallest share that is cut off.
const MIN_CUT_SHARE: f32 = 0.1;

impl UnsprungMotion {
    /// Adds the lateral motion of the wheels' beam at wheel centres `centre` and `travel` (m): the momentum row
    /// `−m σ (y_l + y_r + θ (z_l + z_r))` and the mass `2 m σ²`. Sets the coupling mass; see the module's equations.
    fn add_beam_motion(&mut self, group: &WheelPack, beam: &Beam, centre: Vec3Lanes<F32x4>, travel: F32x4) {
        // Sum of the rows of both wheel centres of an axle in one direction.
        let axle_row = |direction: Vec3| {
            SpatialVector::new(Vec3Lanes::splat(direction), centre.cross(Vec3Lanes::splat(direction))).plus_opposite()
        };
        let beam_row = axle_row(Vec3::Y) + axle_row(Vec3::Z) * beam.tilt(travel);
        self.momentum_row = self.momentum_row - beam_row * (beam.sway * group.unsprung_mass);
        // Lateral momentum of both wheels per travel rate, 2 m σ, kg.
        let lateral_momentum = F32x4::splat(2.0) * group.unsprung_mass * beam.sway;
        self.mass += lateral_momentum * beam.sway;
        self.coupling_mass = lateral_momentum * beam.sway.opposite();
    }

    /// Returns the coupling gain: the decrease of the impulse on each wheel per travel rate of the opposite wheel, due
    /// to beams and axle links, kg. `None` if the group has no beam and no gain differs from 0.
    fn opposite_gain(&self, group: &WheelPack) -> Option<F32x4> {
        let (coupling_gain, zero) = (self.coupling_mass + self.axle_link_gains.opposite, F32x4::default());
        (group.beam.is_some() || F32x4::any(zero.less(coupling_gain.abs()))).then_some(coupling_gain)
    }
}

impl<W: WheelLanes> UnsprungMotion<W> {
    /// Returns the impulse on the chassis by the acceleration of unsprung masses along their travel, `b (q̇₀ − q̇)`.
    #[inline(always)]
    pub(crate) fn travel_impulse(&self) -> SpatialVector<W> {
        self.momentum_row * (self.rate - self.next_rate)
    }

    /// Returns the travel (m) after a step of `dt` s from `travel`, by the rule with which the world moves poses: the
    /// initial rate acts for `pose_lag` s, the final rate for the rest.
    pub(crate) fn next_travel(&self, travel: W, pose_lag: f32, dt: f32) -> W {
        travel + self.rate * W::splat(pose_lag) + self.next_rate * W::splat(dt - pose_lag)
    }
}

/// Response of the load of an unsprung wheel to the chassis velocity.
pub(crate) struct UnsprungTangent {
    /// Gain along the contact normal, kg.
    normal_gain: F32x4,
    /// Gain along `travel_row`, 1/kg, negative: the reduction by the motion of the unsprung mass.
    travel_gain: F32x4,
    /// Row of the impulse that the travel rate transmits, tyre and inertia included.
    travel_row: SpatialVector<F32x4>,
    /// Half of the gain along the sum of both wheels' `travel_row`, 1/kg; `None` if nothing connects both wheels.
    axle_gain: Option<F32x4>,
}

impl UnsprungTangent {
    /// Adds the response to `products` as outer products gain · row rowᵀ: along the contact normals, along
    /// `travel_row`, and along the sum of both wheels' `travel_row` if they are connected.
    pub(crate) fn add_to(&self, products: &mut OuterProducts, rows: &WheelRows) {
        products.add(self.normal_gain, rows.contact.normal);
        products.add(self.travel_gain, self.travel_row);
        if let Some(axle_gain) = self.axle_gain {
            products.add(axle_gain, self.travel_row.plus_opposite());
        }
    }
}

/// Balance of the impulses on unsprung masses along their travel, at given travel rates.
struct TravelBalance {
    /// Impulse of the tyre, N s.
    tyre_impulse: F32x4,
    /// Decrease of the tyre impulse per travel rate, kg.
    tyre_slope: F32x4,
    /// Decrease of the total impulse on a wheel per travel rate of its own, kg.
    inertia: F32x4,
    /// Decrease of the total impulse on a wheel per travel rate of the opposite wheel, kg; `None` without connection.
    opposite_gain: Option<F32x4>,
    /// Residual: total impulse minus change of momentum, N s.
    residual: F32x4,
    /// Wheels that end the step at their droop stops.
    at_droop_stop: Mask32x4,
}

impl TravelBalance {
    /// Returns the Newton step of the travel rates, m/s: residual over inertia. If the wheels of an axle are connected,
    /// solves the symmetric 2×2 system of both instead. A wheel at its droop stop has the step 0, and the opposite
    /// wheel is solved alone.
    fn newton_step(&self) -> F32x4 {
        // Residual of wheels that are free to move, N s.
        let free_residual = self.residual.masked(!self.at_droop_stop);
        let Some(coupling_gain) = self.opposite_gain else { return free_residual / self.inertia };
        let opposite_inertia = self.inertia.opposite();
        let coupling_gain = coupling_gain.masked(!self.at_droop_stop & !opposite_at_droop_stop(self.at_droop_stop));
        (opposite_inertia * free_residual - coupling_gain * free_residual.opposite())
            / (self.inertia * opposite_inertia - coupling_gain * coupling_gain)
    }

    /// Returns the sum of both wheels of an axle if they are solved together, otherwise the value itself.
    fn sum_over_axle(&self, value: F32x4) -> F32x4 {
        if self.opposite_gain.is_some() { value + value.opposite() } else { value }
    }

    /// Returns the decrease of the residual for a `step` of the travel rates (m/s), N s.
    fn residual_decrease(&self, step: F32x4) -> F32x4 {
        let own_decrease = self.inertia * step;
        self.opposite_gain.map_or(own_decrease, |coupling_gain| own_decrease + coupling_gain * step.opposite())
    }
}

/// Returns the wheels whose opposite wheel is in `at_droop_stop` (wheels at their droop stops).
fn opposite_at_droop_stop(at_droop_stop: Mask32x4) -> Mask32x4 {
    F32x4::default().less(F32x4::splat(1.0).masked(at_droop_stop).opposite())
}

/// Returns the response of the travel rates to impulses, 1/kg, from the inverse of the 2×2 matrix with the diagonal
/// `inertia` and the coupling `coupling` (kg): the negative gain of each wheel alone, and half the gain of the sum of
/// both wheels. If the opposite wheel is in `at_droop_stop`, a wheel is uncoupled: `−1 / inertia` and 0. The second
/// value is also 0 for a wheel at its droop stop.
fn axle_response(inertia: F32x4, coupling: F32x4, at_droop_stop: Mask32x4) -> (F32x4, F32x4) {
    let (one, opposite_inertia) = (F32x4::splat(1.0), inertia.opposite());
    let determinant = inertia * opposite_inertia - coupling * coupling;
    // Wheels whose opposite wheel is at its droop stop.
    let is_uncoupled = opposite_at_droop_stop(at_droop_stop);
    let compliance = F32x4::select(is_uncoupled, one / inertia, (opposite_inertia + coupling) / determinant);
    let axle_gain = F32x4::splat(0.5) * coupling / determinant;
    (-compliance, axle_gain.masked(!at_droop_stop & !is_uncoupled))
}

/// Last step of the travel rates, for the line search.
#[derive(Default)]
struct TravelLineSearch {
    /// Part of the last step that was kept, m/s.
    step: F32x4,
    /// Product of the step and the residual at its start, J.
    initial_slope: F32x4,
}

impl TravelLineSearch {
    /// Returns the next step of the travel rates (m/s), and the wheels whose last step overshot. A step overshoots if
    /// its product with the residual has changed its sign and exceeds [`MAX_OVERSHOOT_RATIO`] of its initial value.
    /// `balance` is the balance at the end of the last step.
    ///
    /// A wheel that overshot steps back, so that a share of its last step is kept: the larger estimate of secant and
    /// tangent, limited to [`MIN_CUT_SHARE`] from either end. All other wheels take `newton_step` (m/s). Stores the
    /// kept part, or the new step, in `self`.
    fn next_step(&mut self, newton_step: F32x4, balance: &TravelBalance) -> (F32x4, Mask32x4) {
        let one = F32x4::splat(1.0);
        // Product of the last step and the residual at its end, J.
        let end_slope = balance.sum_over_axle(self.step * balance.residual);
        // Wheels with a previous step that led downhill.
        let has_descended = F32x4::splat(TRAVEL_RATE_TOLERANCE_MPS).less(balance.sum_over_axle(self.step.abs()))
            & F32x4::default().less(self.initial_slope);
        let has_overshot = has_descended & end_slope.less(F32x4::splat(-MAX_OVERSHOOT_RATIO) * self.initial_slope);
        // Product of the new step and the residual at its start, J.
        let newton_slope = balance.sum_over_axle(newton_step * balance.residual);
        if !F32x4::any(has_overshot) {
            *self = Self { step: newton_step, initial_slope: newton_slope };
            return (newton_step, has_overshot);
        }
        // Zero of the slope by linear interpolation, and by the tangent at the end, as shares of the last step.
        let secant = self.initial_slope / (self.initial_slope - end_slope);
        let tangent = one + end_slope / balance.sum_over_axle(self.step * balance.residual_decrease(self.step));
        // Share of the last step that is kept.
        let kept_share =
            secant.at_least(tangent).clamp_nan_to_low(F32x4::splat(MIN_CUT_SHARE), F32x4::splat(1.0 - MIN_CUT_SHARE));
        let step = F32x4::select(has_overshot, self.step * (kept_share - one), newton_step);
        self.step = F32x4::select(has_overshot, self.step * kept_share, newton_step);
        self.initial_slope = F32x4::select(has_overshot, self.initial_slope, newton_slope);
        (step, has_overshot)
    }
}

impl Vehicle {
    /// Returns true if the model knows the unsprung mass of every wheel.
    #[inline(always)]
    pub(crate) fn has_unsprung_masses(&self) -> bool {
        self.model.wheels().iter().all(|wheel| wheel.unsprung.is_some())
    }

    /// Returns a clone in which the memory for unsprung masses is allocated if the model knows the mass of every wheel.
    pub(crate) fn with_unsprung_memory(&self) -> Self {
        let mut vehicle = self.clone();
        for rows in vehicle.rows.iter_mut().filter(|_| self.has_unsprung_masses()) {
            rows.unsprung_motion.get_or_insert_default();
        }
        vehicle
    }

    /// Lengthens each ray by the static tyre deflection of its wheel (m): an unloaded tyre touches lower ground.
    #[cold]
    #[inline(never)]
    pub(crate) fn extend_probes_by_tyres(&self, probes: &mut [Probe]) {
        for group in self.model.wheel_packs() {
            let deflection = group.static_tyre_deflection().lanes();
            group.for_each_wheel(|lane, wheel| {
                if let Some(probe) = probes.get_mut(wheel) {
                    probe.length += deflection[lane];
                }
            });
        }
    }

    /// Initialises the motion of the unsprung masses for this step from the compressions and travel rates of the wheel
    /// states. `pose_lag` is the time (s) by which poses lag behind velocities.
    pub(crate) fn init_unsprung(&mut self, pose_lag: f32) {
        for (group, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            let gather = |field: fn(&WheelState) -> f32| group.gather(|i| field(&self.state.wheels[i]));
            rows.init_travel(group, gather(|w| w.compression), gather(|w| w.travel_rate), F32x4::splat(pose_lag));
        }
    }

    /// Solves the loads of wheels with unsprung masses, with constant tangential tyre forces, and returns the chassis
    /// velocity after them. `v_warm` is the velocity with the tangential tyre impulses of the last step, but without
    /// loads; `v_free` is that without wheels, from which struts and links count the change of velocity.
    ///
    /// Linearises the travel once. Each Newton iteration, from `v_warm`, then solves axle links, loads and travel rates
    /// at the current velocity, and the 6×6 system of the chassis. Ends after [`MAX_SOLVES_BEFORE_COUPLING`] solves or
    /// with a change below [`CHASSIS_SPEED_TOLERANCE_MPS`]. The rows keep the loads at the velocity before the last
    /// change.
    pub(crate) fn solve_unsprung_loads(
        &mut self,
        v_free: SpatialVector<f32>,
        v_warm: SpatialVector<f32>,
        dt: f32,
    ) -> SpatialVector<f32> {
        for (group, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            rows.with_unsprung(|rows, unsprung| {
                rows.linearise_travel(unsprung, group, dt);
                rows.update_tyre_lift(unsprung, group);
            });
        }
        let mut velocity = v_warm;
        for _ in 0..MAX_SOLVES_BEFORE_COUPLING {
            for rows in &mut self.rows {
                rows.set_velocity(velocity.broadcast_to_wheels(), (velocity - v_free).broadcast_to_wheels());
            }
            self.update_link_impulses::<ManyGroups>();
            let mut products = OuterProducts::zero();
            // Only external bars act on the chassis here; `external_bar_impulse` below contains their impulse.
            self.add_axle_links::<ManyGroups>(&mut products, SpatialVector::default());
            let mut impulse = self.external_bar_impulse;
            for (group, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
                rows.with_unsprung(|rows, unsprung| {
                    rows.unsprung_load(unsprung, group).add_to(&mut products, rows);
                    impulse = impulse + (rows.contact.normal * rows.suspension.load + unsprung.travel_impulse()).sum();
                });
            }
            // Newton step: impulses of loads and bars, less the momentum that `velocity` has gained from them so far.
            let system = Symmetric6::new(self.model.mass(), self.model.inertia(), &products);
            let velocity_change = system.solve(impulse - self.momentum(velocity - v_warm));
            velocity = velocity + velocity_change;
            if velocity_change.dot(velocity_change) < CHASSIS_SPEED_TOLERANCE_MPS * CHASSIS_SPEED_TOLERANCE_MPS {
                break;
            }
        }
        velocity
    }
}

impl WheelRows {
    /// Calls `action` with the rows and their unsprung motion, which is taken out for the call and put back, and
    /// returns its result. Returns `None` without a call if the wheels have no unsprung masses in this step.
    #[inline(always)]
    pub(crate) fn with_unsprung<R>(&mut self, action: impl FnOnce(&mut Self, &mut UnsprungMotion) -> R) -> Option<R> {
        if !self.has_unsprung {
            return None;
        }
        let mut unsprung = self.unsprung_motion.take()?;
        let result = action(self, &mut unsprung);
        self.unsprung_motion = Some(unsprung);
        Some(result)
    }

    /// Adds the static tyre deflection to `beyond_droop` of wheels in contact, which reduces their gap to the ground.
    /// Compressions count from the loaded tyre, and an unloaded tyre touches the ground earlier.
    #[inline(always)]
    pub(crate) fn reduce_gap_by_tyres(&mut self, group: &WheelPack) {
        let deflection = group.static_tyre_deflection().masked(self.contact.in_contact);
        self.contact.beyond_droop += deflection;
    }

    /// Initialises the unsprung masses at their `travel` (m) and its `rate` (m/s): contact points on roll centre links,
    /// deflection and rate of the tyres from ground and wheel heights, momentum rows and masses with beam or links, and
    /// lateral scrub speeds. `pose_lag` is the lag of the pose behind the velocity (s). Then replaces compression and
    /// jounce rate of the contacts by `travel` and `rate`, with contact for the whole step and no gap, and sets
    /// `has_unsprung`.
    fn init_travel(&mut self, group: &WheelPack, travel: F32x4, rate: F32x4, pose_lag: F32x4) {
        if let Some(links) = &group.roll_centre_links {
            self.shift_contact_points(links, travel);
        }
        let up = Vec3Lanes::splat(Vec3::Z);
        let centre = group.contact + up * (travel + group.radius);
        let (half, dt) = (F32x4::splat(0.5), F32x4::splat(self.dt));
        // Ground height relative to the unloaded tyre, synchronous with the velocities like the struts.
        let ground_height =
            self.contact.compression + self.contact.beyond_droop + self.contact.jounce_rate * (pose_lag - half * dt);
        let mut unsprung = self.unsprung_motion.take().unwrap_or_default();
        // Travel synchronous with the velocities, m.
        let start_travel = travel + rate * (pose_lag - half * dt);
        unsprung.tyre.deflection = ground_height - start_travel;
        unsprung.tyre.rate = self.contact.jounce_rate - rate;
        // Compression of the strut if the wheel had its static tyre deflection, m.
        let mid_compression =
            ground_height - group.static_tyre_deflection() + F32x4::splat(0.25) * dt * self.contact.jounce_rate;
        unsprung.ground_compression = mid_compression.clamp_nan_to_low(-group.droop_travel, group.solid_travel);
        unsprung.ground_share = self.contact.contact_share;
        unsprung.ground_rate = self.contact.jounce_rate;
        (unsprung.rate, unsprung.next_rate) = (rate, rate);
        // Momentum row and masses; beam and links add their lateral motion.
        unsprung.momentum_row = SpatialVector::new(up, centre.cross(up)) * group.unsprung_mass;
        (unsprung.mass, unsprung.coupling_mass) = (group.unsprung_mass, F32x4::default());
        if let Some(beam) = &group.beam {
            unsprung.add_beam_motion(group, beam, centre, travel);
        }
        unsprung.scrub = Scrub::default();
        if let Some(links) = &group.roll_centre_links {
            unsprung.add_link_motion(group, links, centre);
            unsprung.scrub.speed = self.scrub_speeds(links, rate);
            let [longitudinal_scrub, lateral_scrub] = unsprung.scrub.speed;
            self.contact.start_speed[0] += longitudinal_scrub;
            self.contact.start_speed[1] += lateral_scrub;
        }
        // From here on, the contacts describe the wheel instead of the ground.
        (self.contact.compression, self.contact.beyond_droop) = (travel, F32x4::default());
        self.contact.contact_share = F32x4::splat(1.0);
        self.contact.compression_lag = rate * pose_lag;
        self.contact.jounce_rate = rate;
        (self.has_unsprung, self.unsprung_motion) = (true, Some(unsprung));
    }

    /// Sets the constants of the travel for a step of `dt` s: gains of the axle links, damping of the tyre and
    /// `extra_damping_force`, and the smallest travel rate (at most [`MAX_OVERLAP_CORRECTION_MPS`]), with which the
    /// wheel ends the step at its droop stop. The tyre damping is increased by the damping of wheel hop that the
    /// midpoint rule loses, and by numerical damping for modes beyond [`MAX_RESOLVED_PHASE_SQUARED`].
    fn linearise_travel(&self, unsprung: &mut UnsprungMotion, group: &WheelPack, dt: f32) {
        let (zero, half, one, dt_lanes) = (F32x4::splat(0.0), F32x4::splat(0.5), F32x4::splat(1.0), F32x4::splat(dt));
        let mass = unsprung.mass;
        unsprung.axle_link_gains = self.axle_link_gains(dt_lanes);
        unsprung.min_next_rate = ((-group.droop_travel - self.synchronous_compression()) / dt_lanes)
            .at_most(F32x4::splat(MAX_OVERLAP_CORRECTION_MPS));
        let tyre_rate = group.tyre_rate;
        // Square of ω dt of wheel hop.
        let phase_squared =
            (tyre_rate + self.strut_rate() + self.suspension.axle_links.rate) * dt_lanes * dt_lanes / mass;
        let lost_damping =
            (group.tyre_damping + self.strut_damping(group)) * phase_squared.at_most(F32x4::splat(MAX_STIFFENING));
        let damping = group.tyre_damping + lost_damping * F32x4::splat(LOST_DAMPING_SHARE);
        let end_weight = end_rate_weight(damping * dt_lanes / mass);
        // Transition from the midpoint rule (weight 1/4 for both rates) to implicit Euler with the mean velocity
        // (weights 1/2 and 1).
        let unresolved_damping =
            (one - F32x4::splat(MAX_RESOLVED_PHASE_SQUARED) / phase_squared).at_least(zero) * tyre_rate * dt_lanes;
        let tyre = &mut unsprung.tyre;
        // 3/4 and 1/2: increase of the final weight, and its difference to that of the initial one.
        tyre.damping = end_weight * damping + F32x4::splat(0.75) * unresolved_damping;
        // Share of the travel with tyre contact; 0 if the tyre starts above the ground.
        let contact_share = StopOverlap::new(tyre.deflection, tyre.deflection + dt_lanes * tyre.rate)
            .share
            .masked(zero.less(tyre.deflection));
        tyre.extra_damping_force =
            ((one - end_weight - end_weight) * damping - half * unresolved_damping) * tyre.rate * contact_share;
    }

    /// Returns the increase of the axle link impulse per travel rate at the end of a step of `dt` (s), of the wheel and
    /// of the opposite one, kg: `k dt² / 4 + c dt / 2` for a link with rate k and damping c, as the rate changes
    /// linearly. Links within an axle count once, those to other axles twice in the gain by the wheel itself, see
    /// [`Self::strut_and_link_impulse`]. The gain by the opposite wheel is negative for bars.
    fn axle_link_gains(&self, dt: F32x4) -> AxleLinkGains {
        let (half, links) = (F32x4::splat(0.5), &self.suspension.axle_links);
        let bar_gain = F32x4::splat(0.25) * dt * dt * links.bar_rate;
        let [rate, damping] = links.heave_gains;
        let heave_gain = half * dt * (half * dt * rate + damping);
        // Twice the gain of all axle links, kg, less the single gain of those to the opposite wheel.
        let double_gain = dt * (half * dt * links.rate + links.damping);
        AxleLinkGains { own: double_gain - (bar_gain + heave_gain), opposite: heave_gain - bar_gain }
    }

    /// Returns the impulse of the tyre along the travel (N s, ≥ 0) and its increase per `end_rate` (kg), if the
    /// deflection rate of the tyre ends at `end_rate` (m/s): `dt` times the mean spring force along the travel plus the
    /// damper force. Both are 0 without contact or if the tyre would pull.
    ///
    /// If part of the travel is above the ground, the damper acts with the mean rate of the part below it, so that the
    /// impulse only increases with `end_rate`. `extra_damping_force`, which gives the final rate a larger weight, can
    /// only reduce the damper force, at most to 0. More would add energy to a wheel that reverses within the step.
    fn tyre_impulse(&self, tyre: &TyreStep, group: &WheelPack, end_rate: F32x4) -> [F32x4; 2] {
        let (zero, dt) = (F32x4::splat(0.0), F32x4::splat(self.dt));
        // Change of the final deflection per final rate, s.
        let end_per_rate = F32x4::splat(0.5 * self.dt);
        let (start_deflection, full_rate_sum) = (tyre.deflection, tyre.rate + end_rate);
        let end_deflection = start_deflection + end_per_rate * full_rate_sum;
        // Mean deflection of the tyre along the travel.
        let overlap = StopOverlap::new(start_deflection, end_deflection);
        let is_partial = start_deflection.less(zero) | end_deflection.less(zero);
        // Sum of both rates that gives the part of the travel below the ground, m/s.
        let ground_rate_sum = (end_deflection.at_least(zero) - start_deflection.at_least(zero)) / end_per_rate;
        let rate_sum = F32x4::select(is_partial, ground_rate_sum, full_rate_sum);
        // Damper force with equal weights of both rates, N. `damping` is per sum: half the coefficient or more.
        let equal_force = tyre.damping * rate_sum;
        let [low, high] = [tyre.extra_damping_force.at_most(zero), tyre.extra_damping_force.at_least(zero)];
        // Wheels whose damper force is cancelled by `extra_damping_force`.
        let is_cancelled = low.less(-equal_force) & (-equal_force).less(high);
        let force = group.tyre_rate * overlap.mean + (equal_force + (-equal_force).clamp_nan_to_low(low, high));
        let slope = group.tyre_rate * overlap.slope * end_per_rate
            + tyre.damping.masked(zero.less(end_deflection) & !is_cancelled);
        let is_pressing = self.contact.in_contact & zero.less(force);
        [(dt * force).masked(is_pressing), (dt * slope).masked(is_pressing)]
    }

    /// Solves load and travel rate of each wheel at the chassis velocity in the rows, stores them, and returns the
    /// response of the load to that velocity. The load is the tyre impulse over the cosine between normal and travel.
    /// The travel of wheels at droop stops does not respond. On roll centre links, also updates the lateral motion
    /// `scrub`.
    pub(crate) fn unsprung_load(&mut self, unsprung: &mut UnsprungMotion, group: &WheelPack) -> UnsprungTangent {
        let cosine = self.contact.normal_cosine;
        let TravelBalance { tyre_impulse, tyre_slope, inertia, opposite_gain, at_droop_stop, .. } =
            self.solve_travel_rate(unsprung, group);
        self.suspension.load = tyre_impulse / cosine;
        // Decrease of the load per separation speed, kg.
        let normal_gain = tyre_slope / (cosine * cosine);
        // Impulse on the chassis per travel rate.
        let travel_row = self.contact.normal * (tyre_slope / cosine) + unsprung.momentum_row;
        let (travel_gain, axle_gain) = match opposite_gain {
            Some(opposite_gain) => {
                let (travel_gain, axle_gain) = axle_response(inertia, opposite_gain, at_droop_stop);
                (travel_gain, Some(axle_gain))
            }
            None => (F32x4::splat(-1.0) / inertia, None),
        };
        // A wheel at its droop stop, or an empty lane, does not yield.
        let travel_gain = travel_gain.masked(group.present_mask() & !at_droop_stop);
        if let Some(links) = &group.roll_centre_links {
            // Minus twice the half gain: response to an impulse on the opposite wheel.
            let coupled_response = axle_gain.map_or(F32x4::default(), |axle_gain| F32x4::splat(-2.0) * axle_gain);
            unsprung.scrub = self.link_scrub(
                unsprung,
                links,
                [coupled_response - travel_gain, coupled_response],
                tyre_slope / cosine,
            );
        }
        UnsprungTangent { normal_gain, travel_gain, travel_row, axle_gain }
    }

    /// Iterates the final travel rates to the balance of all impulses, jointly for both wheels of an axle that beam or
    /// axle links connect. Stores the rates in `next_rate` and returns the last balance. No rate falls below that of
    /// the droop stop. `TravelLineSearch` cuts steps that overshoot.
    ///
    /// Ends if no step was cut and all are within the tolerance: the last step is still applied, and the tyre impulse
    /// in the balance extrapolated by its slope (at least 0). After [`MAX_TRAVEL_ITERATIONS`] balances the current
    /// rates are kept.
    fn solve_travel_rate(&mut self, unsprung: &mut UnsprungMotion, group: &WheelPack) -> TravelBalance {
        let (min_rate, present) = (unsprung.min_next_rate, group.present_mask());
        let opposite_gain = unsprung.opposite_gain(group);
        let mut rate = unsprung.next_rate.at_least(min_rate);
        let mut line_search = TravelLineSearch::default();
        // Number of balances evaluated.
        let mut balance_count = 1;
        loop {
            let mut balance = self.balance_at(unsprung, group, opposite_gain, rate);
            let newton_step = ((rate + balance.newton_step()).at_least(min_rate) - rate).masked(present);
            let (step, was_cut) = line_search.next_step(newton_step, &balance);
            // Wheels whose rate still changes by more than the tolerance.
            let is_unsettled = (was_cut | F32x4::splat(TRAVEL_RATE_TOLERANCE_MPS).less(step.abs())) & present;
            if !F32x4::any(is_unsettled) {
                rate += step;
                balance.tyre_impulse = (balance.tyre_impulse - balance.tyre_slope * step).at_least(F32x4::default());
            } else if balance_count < MAX_TRAVEL_ITERATIONS {
                rate += step;
                balance_count += 1;
                continue;
            }
            unsprung.next_rate = rate;
            return balance;
        }
    }

    /// Returns the balance of the impulses along the travel for the final travel rates `end_rate` (m/s). The residual
    /// is tyre + tyre lift − strut and links − m (q̇ − q̇₀) − b · (V − V_free), with `heave_momentum` as last term.
    /// Subtracts the impulses by beam and axle links due to the opposite wheel's rate, if `opposite_gain`, the coupling
    /// gain (kg), is given. A wheel is at its droop stop if its rate is the smallest one and the residual is negative.
    fn balance_at(
        &mut self,
        unsprung: &UnsprungMotion,
        group: &WheelPack,
        opposite_gain: Option<F32x4>,
        end_rate: F32x4,
    ) -> TravelBalance {
        let (mass, cosine) = (unsprung.mass, self.contact.normal_cosine);
        let [strut_impulse, strut_slope] = self.strut_and_link_impulse(unsprung, group, end_rate);
        let [tyre_impulse, tyre_slope] =
            self.tyre_impulse(&unsprung.tyre, group, -self.solution.velocity.normal / cosine - end_rate);
        let mut residual =
            tyre_impulse - strut_impulse - mass * (end_rate - unsprung.rate) - self.solution.velocity.heave_momentum
                + unsprung.tyre_lift;
        if opposite_gain.is_some() {
            let coupled_momentum = unsprung.coupling_mass * (end_rate - unsprung.rate).opposite();
            let link_impulse =
                unsprung.axle_link_gains.opposite * (end_rate - self.suspension.axle_links.link_rate).opposite();
            residual = residual - (coupled_momentum + link_impulse);
        }
        let at_droop_stop = !unsprung.min_next_rate.less(end_rate) & residual.less(F32x4::default());
        TravelBalance {
            tyre_impulse,
            tyre_slope,
            inertia: mass + strut_slope + tyre_slope,
            opposite_gain,
            residual,
            at_droop_stop,
        }
    }

    /// Returns the impulse of strut, bump stop, metal contact and axle links along the travel (N s) and its slope (kg),
    /// for the final travel rates `end_rate` (m/s). The droop stop is not included. The stored link impulse, which is
    /// valid for the rates `link_rate`, is extrapolated to `end_rate` with `axle_link_gains.own`; rates of other wheels
    /// count as constant.
    ///
    /// For links to other axles, this gain is twice that of the link, see [`Self::axle_link_gains`]. It is the largest
    /// response of a link if both its wheels move. Axle links therefore never add energy, wherever the iteration ends.
    fn strut_and_link_impulse(&mut self, unsprung: &UnsprungMotion, group: &WheelPack, end_rate: F32x4) -> [F32x4; 2] {
        let [mut impulse, mut slope] = self.unsprung_strut(group, end_rate, self.dt);
        // Travel within the step, m.
        let step_travel = F32x4::splat(0.5 * self.dt) * (unsprung.rate + end_rate);
        // Largest compression within the step, m.
        let max_compression = self.suspension.strut.start_travel + step_travel.at_least(F32x4::default());
        if F32x4::any(group.bump_travel.less(max_compression) & group.present_mask()) {
            let [stop_impulse, stop_slope] = self.stop_impulse(group, end_rate, self.dt);
            impulse += stop_impulse;
            slope += stop_slope;
        }
        let gain = unsprung.axle_link_gains.own;
        [
            impulse + self.suspension.axle_links.impulse + gain * (end_rate - self.suspension.axle_links.link_rate),
            slope + gain,
        ]
    }

    /// Sets `tyre_lift`, the upward impulse along the travel by the current tangential tyre impulses, N s, plus the
    /// jacking impulse of roll centre links. On a beam, both wheels have the mean of the lateral parts.
    #[inline(always)]
    pub(crate) fn update_tyre_lift(&self, unsprung: &mut UnsprungMotion, group: &WheelPack) {
        let lateral_lift = self.contact.side.linear.z * self.solution.tyre_impulse[1];
        let lateral_lift = group.beam.map_or(lateral_lift, |beam| beam.mean_of_ends(lateral_lift));
        unsprung.tyre_lift = self.contact.forward.linear.z * self.solution.tyre_impulse[0] + lateral_lift;
        if let Some(links) = &group.roll_centre_links {
            unsprung.tyre_lift += links.jacking_force(self.lateral_tyre_impulse());
        }
    }
}
