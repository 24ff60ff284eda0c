//! Suspension rows of four wheels in a step: strut, axle links and load.

use skidpad_simd::lane::{F32x4, WheelLanes};
use skidpad_simd::linear::SpatialVector;

/// Gain of rigid rows (ground under a wheel at its droop stop, hull points) as a multiple of the carried mass. This
/// gain leaves a thousandth of the speed, and f32 can still solve the system.
pub(crate) const RIGID_GAIN_FACTOR: f32 = 1e3;

/// Chassis velocity due to the loads.
#[derive(Clone, Copy, Debug)]
pub struct LoadSolution<C = f32> {
    /// Chassis velocity, m/s and rad/s.
    pub velocity: SpatialVector<C>,
    /// Whether the rows have exactly the loads that lead to `velocity`.
    pub matches_rows: bool,
}

/// Load rows of four wheels.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadRows<W: WheelLanes = F32x4> {
    /// Forces of the axle links.
    pub(crate) axle_links: AxleLinkRows<W>,
    /// Spring and damper over the step.
    pub(crate) strut: StrutStep<W>,
    /// Load impulse of the strut at zero speed along the normal, N s.
    pub(crate) load_target: W,
    /// Separation speed along the normal at the chassis velocity before the loads act, m/s.
    pub(crate) warm_speed: W,
    /// Decrease of the strut's load impulse per speed along the normal, kg.
    pub(crate) load_gain: W,
    /// Load impulse at zero speed that keeps a wheel at its droop stop from leaving the ground before the step ends, N
    /// s.
    pub(crate) droop_target: W,
    /// Decrease of that impulse per speed along the normal, kg.
    pub(crate) droop_gain: W,
    /// Wheels with a load.
    pub(crate) load_active: W::Mask,
    /// Wheels whose droop stop takes part of the spring force.
    pub(crate) at_droop_stop: W::Mask,
    /// Load impulse, N s.
    pub load: W,
    /// Decrease of the load per separation speed between wheel and ground, kg.
    pub load_slope: W,
    /// Share of the load that acts on the ground. Links take the rest, or add to it, by jacking; see
    /// [`crate::assembly::suspension::roll_centre`].
    pub(crate) pressing_share: W,
    /// Share of the force between the links of a beam and the body that remains at the wheel's end: 1, or less if the
    /// strut carries less than the jacking force (upward force of the links by a lateral tyre force).
    pub(crate) beam_share: W,
    /// Load less the part of the axle links, as predicted by the linearisation at the current velocity, N s.
    pub(crate) linearised_load: W,
}

/// Spring and damper of a strut over one step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StrutStep<W: WheelLanes = F32x4> {
    /// Compression at the start of the step, synchronous with the velocity, m. Below the droop stop for a wheel that
    /// touches down later.
    pub start_travel: W,
    /// Compression in the middle of the step (½ dt) for a final rate of zero, m.
    pub midstep_travel: W,
    /// Impulse of the strut's static load (the weight carried at rest), N s.
    pub weight_impulse: W,
    /// Mass that the strut moves, kg: the mass carried by the wheel, or its unsprung mass.
    pub mass: W,
    /// Impulse of the spring and the static load for a final rate of zero, N s.
    pub static_impulse: W,
    /// Increase of the spring impulse per final rate, N s per m/s.
    pub spring_gain: W,
    /// Rate of the spring, N/m.
    pub spring_rate: W,
    /// Factor on the damper that compensates the loss of damping by the midpoint rule.
    pub damping_compensation: W,
    /// Slope of the damper force at its linearisation, N s/m.
    pub damping: W,
}

/// Contribution of the axle links to the struts of four wheels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AxleLinkRows<W: WheelLanes = F32x4> {
    /// Wheel travels at the axle links in the middle of the step for a final rate of zero, m.
    pub travel: W,
    /// Wheels that their axle links lift off the ground.
    pub lifted: W::Mask,
    /// Impulse of all axle links on lifted wheels, N s.
    pub lifted_impulse: W,
    /// Rate of the bars to the opposite wheel, part of `rate`, N/m.
    pub bar_rate: W,
    /// Impulse of the axle links through the strut at the current rates, N s. The impulse acts along the contact
    /// normal, or along the travel of an unsprung mass.
    pub impulse: W,
    /// Travel rates of unsprung masses for which `impulse` is valid, m/s.
    pub link_rate: W,
    /// Force due to the compressions of both wheels and the jounce rate of the other wheel, N.
    pub force: W,
    /// Increase of the force per compression of the wheel, N/m.
    pub rate: W,
    /// Increase of the force per jounce rate of the wheel, N s/m.
    pub damping: W,
    /// Parts of `rate` and `damping` that belong to heave springs to the opposite wheel.
    pub heave_gains: [W; 2],
}

/// Motion of the unsprung masses of a group. Only steps with unsprung masses allocate it, because it is a fifth of a
/// car's rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UnsprungMotion<W: WheelLanes = F32x4> {
    /// Jounce rate relative to the chassis at the start of the step, m/s.
    pub rate: W,
    /// Jounce rate relative to the chassis at the end of the step, m/s.
    pub next_rate: W,
    /// Momentum of the chassis per travel rate (the row b on the chassis): `m (ẑ, r × ẑ)`, kg and kg m, plus the
    /// lateral motion of beam or links.
    pub momentum_row: SpatialVector<W>,
    /// Effective mass along the travel, kg. The lateral motion of the beam or the links counts.
    pub mass: W,
    /// Coupling mass between this wheel and the opposite one by the lateral motion of their beam, kg.
    pub coupling_mass: W,
    /// Impulses of the axle links on the wheel per travel rate.
    pub axle_link_gains: AxleLinkGains<W>,
    /// Impulse of the tangential tyre forces along the travel, jacking included, N s.
    pub tyre_lift: W,
    /// Smallest travel rate, with which the wheel ends at its droop stop, m/s.
    pub min_next_rate: W,
    /// Compression of a wheel on the ground with its static tyre deflection, in the middle of the step for a final rate
    /// of zero, m. External bars use it.
    pub ground_compression: W,
    /// Rate of that compression at the start of the step, m/s.
    pub ground_rate: W,
    /// Share of the step in which the strut can reach that compression.
    pub ground_share: W,
    /// Vertical spring and damper of the tyre.
    pub tyre: TyreStep<W>,
    /// Lateral motion on roll centre links; 0 without links.
    pub scrub: Scrub<W>,
}

/// Increase of the impulse of the axle links along the travel of a wheel per travel rate, kg.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AxleLinkGains<W: WheelLanes = F32x4> {
    /// Gain by the travel rate of the wheel itself. Links to wheels of other axles count twice.
    pub own: W,
    /// Gain by the travel rate of the opposite wheel. Links to wheels of other axles do not count.
    pub opposite: W,
}

/// Lateral motion of unsprung masses on roll centre links.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scrub<W: WheelLanes = F32x4> {
    /// Additional longitudinal and lateral speed of the patches over the ground, m/s.
    pub speed: [W; 2],
    /// Change of the travel rate per tyre impulse to the left, 1/kg.
    pub travel_response: W,
    /// Change of the opposite wheel's travel rate per tyre impulse to the left, by axle links, 1/kg.
    pub opposite_response: W,
    /// Decrease of the load per travel rate, kg.
    pub load_slope: W,
}

/// Vertical spring and damper of a tyre over one step, along the travel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TyreStep<W: WheelLanes = F32x4> {
    /// Vertical deflection at the start, positive in compression from the unloaded tyre, m.
    pub deflection: W,
    /// Rate of that deflection at the start, m/s.
    pub rate: W,
    /// Damping force per sum of the rates at both ends of the step, N s/m.
    pub damping: W,
    /// Additional damping force due to the larger weight of the final rate in the mean, N. The force is limited so that
    /// it never acts in the direction of the motion.
    pub extra_damping_force: W,
}
