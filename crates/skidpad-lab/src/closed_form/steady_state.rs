//! Steady pose of a car under constant forces: wheel loads with bump stops, droop and lifted wheels.
//!
//! Angles are small. The travel of a wheel follows from heave, pitch and roll of the chassis; the wheels have no degree
//! of freedom of their own. Loads come from springs, stops and anti-roll bars, which are piecewise linear unless a
//! spring is progressive.

use skidpad_core::Model;
use skidpad_core::model::{BarForcePath, Side};

use super::{GRAVITY_MPS2, lower_side};

/// Stiffness of metal contact (N/m): stiffer than any spring, low enough for the solver.
const METAL_RATE_N_PER_M: f64 = 1e8;
/// Travel over which the load of a wheel at its droop stop falls to zero (m); short against any suspension travel.
const DROOP_CORNER_M: f64 = 1e-4;
/// Maximum number of iterations between wheel loads and link forces.
const MAX_LINK_ITERATIONS: usize = 60;
/// Change of a link force, relative to the total load, below which the iteration has converged (–).
const LINK_FORCE_TOLERANCE: f64 = 1e-9;
/// Largest roll angle of the search for the largest lateral acceleration (rad), and number of its steps.
const ROLL_SEARCH_RAD: (f64, usize) = (0.6, 300);

/// Steady pose of a car with the corresponding loads.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyState {
    /// Roll angle (rad), positive right side down.
    pub roll: f64,
    /// Lateral acceleration for this roll angle (m/s²), positive to the left.
    pub lateral_acceleration: f64,
    /// Compression of each wheel from rest (m). A lifted wheel hangs at the balance of its springs.
    pub compressions: Vec<f64>,
    /// Load of each wheel (N), ≥ 0.
    pub loads: Vec<f64>,
}

/// Resultant of the wheel loads that a pose must provide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadDemand {
    /// Sum of the loads (N).
    pub total_load: f64,
    /// Moment `Σ x N` about the centre of mass (N m); positive values load the front axle.
    pub pitch_moment: f64,
}

impl LoadDemand {
    /// Returns the demand of a car that stands still or turns.
    pub fn at_rest(model: &Model) -> Self {
        Self { total_load: f64::from(model.mass()) * GRAVITY_MPS2, pitch_moment: 0.0 }
    }

    /// Returns the demand of braking at the ground with `deceleration` (m/s²): `Σ x N = m a h`.
    pub fn braking(model: &Model, deceleration: f64) -> Self {
        let pitch_moment = f64::from(model.mass()) * deceleration * model.tyre_force_lever();
        Self { pitch_moment, ..Self::at_rest(model) }
    }

    /// Returns the demand at a steady speed: downforce of both surfaces (N), drag at its point of application (N), and
    /// drive at the ground that balances the drag. The total load is the weight plus the downforce. The drag unloads
    /// the front axle by its height above the points where tyre forces act; downforce acts at the positions of its
    /// surfaces.
    pub fn at_speed(model: &Model, downforce_n: [f64; 2], drag_n: f64) -> Self {
        let (aero, rest) = (&model.parts().aero, Self::at_rest(model));
        let moments =
            downforce_n.iter().zip(&aero.downforce).map(|(force, surface)| force * f64::from(surface.point.x));
        // Height of the drag above the points where tyre forces act (m).
        let lever = f64::from(aero.drag_point.z) + model.tyre_force_lever();
        Self {
            total_load: rest.total_load + downforce_n.iter().sum::<f64>(),
            pitch_moment: moments.sum::<f64>() - drag_n * lever,
        }
    }
}

/// Solves for the steady state with the roll angle `roll` (rad, positive right side down) whose wheel loads N provide
/// `demand`: their sum `Σ N` and their pitch moment `Σ x N`. Heave s and pitch θ are the unknowns, with the wheel
/// travels `z = s + x θ − y φ`.
///
/// The lateral acceleration follows from the roll balance `m h_t a_y = −Σ y N − m g h φ`. The centre of mass is `h`
/// above the ground and `h_t` above the points where tyre forces act on the chassis. The contact points are at the
/// lateral position y to which the suspension links have moved them. The links also turn side forces into vertical link
/// forces (jacking forces, N, positive if they lift the wheel), which reduce N. On a solid axle a link force is at most
/// the load of the wheel.
///
/// Alternates between the balance of heave and pitch with given link forces, and the link forces of the resulting
/// lateral acceleration. The first iteration has no link forces. The iteration ends once no link force changes by more
/// than 1e-9 of the demanded total load.
///
/// `None` if no heave and pitch provide the demand, for example if braking would lift the rear axle, or if the link
/// forces do not converge within 60 iterations.
pub fn solve_at_roll(model: &Model, roll: f64, demand: LoadDemand) -> Option<SteadyState> {
    let mut link_forces = vec![0.0; model.wheels().len()];
    for _ in 0..MAX_LINK_ITERATIONS {
        let (steady, link_force_per_acceleration) = solve_with_link_forces(model, roll, demand, &link_forces)?;
        // `link_force_per_acceleration` has the unit kg; `link_forces` are forces (N).
        let previous_forces = core::mem::replace(
            &mut link_forces,
            link_force_per_acceleration.iter().map(|gain| gain * steady.lateral_acceleration).collect(),
        );
        if previous_forces
            .iter()
            .zip(&link_forces)
            .all(|(previous, current)| (previous - current).abs() <= LINK_FORCE_TOLERANCE * demand.total_load)
        {
            return Some(steady);
        }
    }
    None
}

/// Solves for the steady state at the roll angle `roll` (rad) with given `link_forces` (vertical forces of the
/// suspension links, N).
///
/// 1. Solves heave and pitch: the forces of the wheels on the chassis less the link forces provide `demand`. On a solid
///    axle a link force is at most the load of the wheel.
/// 2. Computes the loads of the tyres: wheel loads less link forces, at least 0. External anti-roll bars add to the
///    forces on the chassis, but not to these loads.
/// 3. Distributes the side forces by these loads, and computes the link forces that they cause, both per lateral
///    acceleration (kg).
/// 4. Computes the lateral acceleration from the roll balance of the forces on the chassis.
///
/// Also returns the link force of each wheel per lateral acceleration (kg), without the limit for solid axles. The
/// caller computes the link forces of the next iteration from it. `None` if no heave and pitch provide the demand.
fn solve_with_link_forces(
    model: &Model,
    roll: f64,
    demand: LoadDemand,
    link_forces: &[f64],
) -> Option<(SteadyState, Vec<f64>)> {
    let is_solid_axle = |i: usize| model.parts().axles[model.wheels()[i].axle].solid;
    // Link force (N); that of a solid axle is limited to the load of the wheel.
    let limited_link_force =
        |i: usize, load: f64| if is_solid_axle(i) { link_forces[i].min(load) } else { link_forces[i] };
    // Excess of the vertical force (N) and of the pitch moment (N m).
    let residual = |pose: [f64; 2]| {
        let WheelLoads { loads, chassis_forces, .. } = compute_wheel_loads(model, pose, roll);
        let net_force = |i: usize| chassis_forces[i] - limited_link_force(i, loads[i]);
        let weighted_sum =
            |lever: &dyn Fn(usize) -> f64| (0..chassis_forces.len()).map(|i| lever(i) * net_force(i)).sum::<f64>();
        // 1.0: the plain sum of the forces.
        [
            weighted_sum(&|_| 1.0) - demand.total_load,
            weighted_sum(&|i| model.wheels()[i].contact.x.into()) - demand.pitch_moment,
        ]
    };
    let pose = solve_newton(residual, demand.total_load)?;
    let WheelLoads { compressions, loads, chassis_forces } = compute_wheel_loads(model, pose, roll);
    // Part of the link force that is left by the limit of a solid axle (–).
    let transmitted_shares: Vec<f64> = (0..loads.len())
        .map(|i| if link_forces[i] == 0.0 { 1.0 } else { limited_link_force(i, loads[i]) / link_forces[i] })
        .collect();
    let loads: Vec<f64> =
        loads.iter().zip(link_forces).map(|(load, link_force)| (load - link_force).max(0.0)).collect();
    let side_force_per_acceleration = side_forces(model, &loads);
    let link_force_per_acceleration: Vec<f64> =
        (0..loads.len()).map(|i| model.jacking_force(i, |k| side_force_per_acceleration[k])).collect();
    // Link forces per lateral acceleration, reduced by the limit of a solid axle (kg).
    let limited_link_force_per_acceleration: Vec<f64> =
        link_force_per_acceleration.iter().zip(&transmitted_shares).map(|(gain, share)| gain * share).collect();
    // Lateral position of the contact point after link scrub (m), and the roll moment of forces there.
    let contact_y = |i: usize| f64::from(model.wheels()[i].contact.y) + model.link_scrub(i, |k| compressions[k]);
    let roll_moment = |forces: &[f64]| forces.iter().enumerate().map(|(i, force)| force * contact_y(i)).sum::<f64>();
    let mass = f64::from(model.mass());
    // Roll moment of the weight (N m).
    let weight_moment = mass * GRAVITY_MPS2 * f64::from(model.parts().centre_height) * roll;
    // `(m h_t − Σ y f) a_y = −Σ y N − m g h φ`, with the link forces f per lateral acceleration. The centre of mass is
    // h above the ground and h_t above the points where tyre forces act.
    let lateral_acceleration = (-roll_moment(&chassis_forces) - weight_moment)
        / (mass * model.tyre_force_lever() - roll_moment(&limited_link_force_per_acceleration));
    Some((SteadyState { roll, lateral_acceleration, compressions, loads }, link_force_per_acceleration))
}

/// Computes the side forces of steady cornering per lateral acceleration (kg). Each axle takes the share of its static
/// load, distributed to its wheels by `loads` (N). An axle without load has no side force. The sum over any other axle
/// is the sum of the carried masses of its wheels.
fn side_forces(model: &Model, loads: &[f64]) -> Vec<f64> {
    let wheels = model.wheels();
    // Sum of `quantity` over the wheels on the axle of wheel `i`.
    let axle_sum = |i: usize, quantity: &dyn Fn(usize) -> f64| {
        (0..wheels.len()).filter(|&k| wheels[k].axle == wheels[i].axle).map(quantity).sum::<f64>()
    };
    // Share of a wheel in the load of its axle (–); 0 for an axle without load.
    let share = |i: usize| loads[i] / axle_sum(i, &|k| loads[k]).max(f64::MIN_POSITIVE);
    (0..wheels.len()).map(|i| share(i) * axle_sum(i, &|k| model.carried_masses()[k].into())).collect()
}

/// Solves for steady cornering at `lateral_acceleration` (m/s²), positive to the left; `None` above the rollover
/// threshold.
pub fn solve_cornering(model: &Model, lateral_acceleration: f64) -> Option<SteadyState> {
    solve_cornering_with(model, lateral_acceleration, LoadDemand::at_rest(model))
}

/// Solves for steady cornering at `lateral_acceleration` (m/s², positive to the left) with the given `demand`; `None`
/// above the rollover threshold. A lateral acceleration of 0 counts as a left turn.
///
/// Scans the roll angle towards the outside of the turn in 300 steps up to 0.6 rad, for the first pose that reaches the
/// lateral acceleration. If no step reaches it, the pose of the largest lateral acceleration is tried. Then 50
/// bisections refine the roll angle, between the angle of this pose less one step and the angle of this pose. A roll
/// angle without a pose counts as one that does not reach the acceleration.
pub fn solve_cornering_with(model: &Model, lateral_acceleration: f64, demand: LoadDemand) -> Option<SteadyState> {
    // 1 for a left turn, −1 for a right turn.
    let turn_sign = lateral_acceleration.signum();
    let pose = |roll: f64| solve_at_roll(model, turn_sign * roll, demand);
    // Whether the pose reaches the lateral acceleration.
    let reaches_acceleration = |roll: f64| {
        pose(roll).is_some_and(|state| turn_sign * state.lateral_acceleration >= turn_sign * lateral_acceleration)
    };
    let (max_roll, step_count) = ROLL_SEARCH_RAD;
    let step = max_roll / step_count as f64;
    let first_roll = (0..=step_count).map(|i| i as f64 * step).find(|&roll| reaches_acceleration(roll));
    // Close to the threshold only the maximum between two of these roll angles is sufficient.
    let first_roll = first_roll.or_else(|| {
        find_rollover_state(model, turn_sign, demand)
            .map(|peak| turn_sign * peak.roll)
            .filter(|&roll| reaches_acceleration(roll))
    })?;
    let (mut low, mut high) = ((first_roll - step).max(0.0), first_roll);
    // Bisection.
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if reaches_acceleration(middle) { high = middle } else { low = middle }
    }
    pose(high)
}

/// Returns the steady state with the largest lateral acceleration (rollover threshold on the springs), without
/// aerodynamic forces. At larger roll angles the car tips over. The state is that of the direction of turn in which the
/// car tips first, a left turn if both are equal. `None` if there is no such state in one of both directions, for
/// example for a car with a single track.
pub fn rollover(model: &Model) -> Option<SteadyState> {
    let [left, right] = [1.0, -1.0].map(|turn_sign| find_rollover_state(model, turn_sign, LoadDemand::at_rest(model)));
    let [left, right] = [left?, right?];
    let tip_side = lower_side([&left, &right].map(|peak| peak.lateral_acceleration.abs()));
    Some(if tip_side == Some(Side::Right) { right } else { left })
}

/// Returns the steady state with the largest lateral acceleration in one direction of turn: `turn_sign` is 1 for a left
/// turn, −1 for a right turn. Scans the roll angle towards the outside of the turn in 300 steps up to 0.6 rad, then
/// refines the maximum by ternary search. `None` if the largest lateral acceleration in this direction is at most 1e-6
/// m/s².
fn find_rollover_state(model: &Model, turn_sign: f64, demand: LoadDemand) -> Option<SteadyState> {
    let pose = |roll: f64| solve_at_roll(model, turn_sign * roll, demand);
    // Lateral acceleration in the direction of the turn (m/s²); `f64::MIN` without a pose.
    let acceleration_at = |roll: f64| pose(roll).map_or(f64::MIN, |state| turn_sign * state.lateral_acceleration);
    let (max_roll, step_count) = ROLL_SEARCH_RAD;
    let step = max_roll / step_count as f64;
    let samples = (0..=step_count).map(|i| i as f64 * step).map(|roll| (roll, acceleration_at(roll)));
    let (mut best_roll, mut best_acceleration) = samples.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let (mut low, mut high) = ((best_roll - step).max(0.0), best_roll + step);
    // Ternary search.
    for _ in 0..60 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        let accelerations = [a, b].map(acceleration_at);
        if accelerations[0] < accelerations[1] {
            low = a
        } else {
            high = b
        }
        // The best sampled angle is kept: just before wheels lift, there may be no solution if links carry much of the
        // load.
        for (roll, acceleration) in [a, b].into_iter().zip(accelerations) {
            if acceleration > best_acceleration {
                (best_roll, best_acceleration) = (roll, acceleration);
            }
        }
    }
    pose(best_roll).filter(|state| turn_sign * state.lateral_acceleration > 1e-6)
}

/// Solves `residual(x) = 0` for two unknowns, starting at 0, by Newton's method with numerical derivatives. A step is
/// halved until the residual decreases; a step below 1e-6 of its full length is taken in any case. `scale` is the scale
/// of the residuals (N). The iteration ends once the residual is below 1e-9 of `scale`. After 200 iterations a residual
/// below 1e-6 of `scale` is accepted. `None` if the Jacobian is singular or the residual stays larger.
fn solve_newton(residual: impl Fn([f64; 2]) -> [f64; 2], scale: f64) -> Option<[f64; 2]> {
    const DERIVATIVE_STEP: f64 = 1e-8;
    let relative_norm = |residual: [f64; 2]| residual[0].hypot(residual[1]) / scale;
    // Unknowns: lowering (m) and pitch (rad) of the chassis.
    let mut pose = [0.0; 2];
    let mut error = residual(pose);
    for _ in 0..200 {
        if relative_norm(error) < 1e-9 {
            return Some(pose);
        }
        // Forward difference with respect to unknown `k`.
        let derivative = |k: usize| {
            let mut shifted_pose = pose;
            shifted_pose[k] += DERIVATIVE_STEP;
            let shifted_residual = residual(shifted_pose);
            [(shifted_residual[0] - error[0]) / DERIVATIVE_STEP, (shifted_residual[1] - error[1]) / DERIVATIVE_STEP]
        };
        // Jacobian [[a, b], [c, d]].
        let ([a, c], [b, d]) = (derivative(0), derivative(1));
        let determinant = a * d - b * c;
        if determinant.abs() < 1e-6 * scale * scale {
            return None;
        }
        // Newton step by Cramer's rule.
        let step = [(d * error[0] - b * error[1]) / determinant, (a * error[1] - c * error[0]) / determinant];
        // Part of the Newton step that is taken (–).
        let mut step_fraction = 1.0;
        loop {
            let next_pose = [pose[0] - step_fraction * step[0], pose[1] - step_fraction * step[1]];
            let next_residual = residual(next_pose);
            if relative_norm(next_residual) < relative_norm(error) || step_fraction < 1e-6 {
                (pose, error) = (next_pose, next_residual);
                break;
            }
            step_fraction *= 0.5;
        }
    }
    (relative_norm(error) < 1e-6).then_some(pose)
}

/// Wheels of a car in a pose.
struct WheelLoads {
    /// Compression of each wheel from rest (m).
    compressions: Vec<f64>,
    /// Load of each tyre (N).
    loads: Vec<f64>,
    /// Force of each wheel on the chassis (N), including external anti-roll bars, which do not load the tyres.
    chassis_forces: Vec<f64>,
}

/// Computes travels and forces of all wheels for a chassis that is lowered by `down` (m), pitched nose-down by `pitch`
/// (rad) and rolled by `roll` (rad, right side down).
///
/// The travel of a wheel follows the ground, down to its droop stop. Its force is the static load plus spring, bump
/// stop, metal contact, anti-roll bars in the load path and heave springs. A wheel with a negative force is off the
/// ground: it hangs at the balance of its springs, but not below its droop stop. Wheels are checked in wheel order, so
/// a wheel reacts to the changed travel of the wheels before it. The load of a wheel falls to zero within
/// [`DROOP_CORNER_M`] above the ground and is never negative. External anti-roll bars, which do not load the tyres, add
/// to the force on the chassis at wheels with load.
fn compute_wheel_loads(model: &Model, [down, pitch]: [f64; 2], roll: f64) -> WheelLoads {
    // Travel at which each wheel touches the ground, and its travel limited by the droop stop (m).
    let ground_travel: Vec<f64> =
        model.wheels().iter().map(|w| down + f64::from(w.contact.x) * pitch - f64::from(w.contact.y) * roll).collect();
    let mut travel: Vec<f64> =
        ground_travel.iter().zip(model.wheels()).map(|(z, w)| z.max(-f64::from(w.strut.droop_travel))).collect();
    // Force of wheel `i` (N), negative if it would have to pull at the ground.
    let force = |travel: &[f64], i: usize| {
        let strut = &model.wheels()[i].strut;
        let (z, bump) = (travel[i], f64::from(strut.bump_travel));
        let stop_force = f64::from(strut.stop_rate) * (z - bump).max(0.0)
            + METAL_RATE_N_PER_M * (z - bump - f64::from(strut.stop_travel)).max(0.0);
        let link_force: f64 =
            axle_links(model, i).map(|link| link.rate * (z + link.travel_sign * travel[link.other_wheel])).sum();
        f64::from(model.static_load(i)) + strut.spring_force(z) + stop_force + link_force
    };
    // A wheel with a negative load is off the ground and hangs at the balance of its spring, bars and heave springs.
    for i in 0..travel.len() {
        if force(&travel, i) < 0.0 {
            let strut = &model.wheels()[i].strut;
            // The wheel hangs at the travel z at which spring force plus `rate` z equals `zero_travel_force` (N). This
            // is minus the static load, less the forces that the travels of the other wheels cause in the axle links.
            // `rate` is the sum of the rates of the axle links (N/m).
            let (zero_travel_force, rate) = axle_links(model, i).fold(
                (-f64::from(model.static_load(i)), 0.0),
                |(zero_travel_force, rate), link| {
                    (zero_travel_force - link.travel_sign * link.rate * travel[link.other_wheel], rate + link.rate)
                },
            );
            travel[i] = strut.compression_at_force(zero_travel_force, rate).max(-f64::from(strut.droop_travel));
        }
    }
    let wheel_load = |i: usize| {
        // Share of the load that remains at this height above the ground, below 0 for a wheel far above it.
        let load_share = 1.0 - (travel[i] - ground_travel[i]).max(0.0) / DROOP_CORNER_M;
        force(&travel, i).max(0.0) * load_share.max(0.0)
    };
    let loads: Vec<f64> = (0..travel.len()).map(wheel_load).collect();
    // Force of the external anti-roll bars (N).
    let external_bar_force = |i: usize| {
        let bars = model.parts().bars.iter().filter(|bar| bar.force_path == BarForcePath::External && loads[i] > 0.0);
        bars.filter_map(|bar| Some((other_wheel(bar.wheels, i)?, f64::from(bar.rate))))
            .map(|(other, rate)| rate * (travel[i] - travel[other]))
            .sum::<f64>()
    };
    let chassis_forces = (0..travel.len()).map(|i| loads[i] + external_bar_force(i)).collect();
    WheelLoads { compressions: travel, loads, chassis_forces }
}

/// Coupling of a wheel to another one by an anti-roll bar or a heave spring. The force on the wheel is
/// `rate (z + travel_sign z')` with the travel z of the wheel and the travel z' of the other wheel.
struct AxleLink {
    /// Number of the other wheel.
    other_wheel: usize,
    /// Rate of the coupling (N/m).
    rate: f64,
    /// Sign of the other wheel's travel: −1 for an anti-roll bar, 1 for a heave spring.
    travel_sign: f64,
}

/// Iterates over the anti-roll bars in the load path and the heave springs of wheel `i`. A heave spring reacts to the
/// mean travel of its two wheels and splits its force, which gives a quarter of its rate.
fn axle_links(model: &Model, i: usize) -> impl Iterator<Item = AxleLink> + '_ {
    let parts = model.parts();
    // Bars and springs that do not act on wheel `i` are left out by `other_wheel`.
    let bars = parts.bars.iter().filter(|bar| bar.force_path == BarForcePath::InLoadPath);
    let bars = bars.filter_map(move |bar| {
        Some(AxleLink { other_wheel: other_wheel(bar.wheels, i)?, rate: bar.rate.into(), travel_sign: -1.0 })
    });
    let springs = parts.heave_springs.iter();
    bars.chain(springs.filter_map(move |spring| {
        Some(AxleLink {
            other_wheel: other_wheel(spring.wheels, i)?,
            rate: 0.25 * f64::from(spring.rate),
            travel_sign: 1.0,
        })
    }))
}

/// Returns the other wheel of the pair `wheels`; `None` if wheel `i` is not in the pair.
fn other_wheel(wheels: [usize; 2], i: usize) -> Option<usize> {
    let end = wheels.iter().position(|&wheel| wheel == i)?;
    Some(wheels[1 - end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use skidpad_core::model::{AntiRollBar, HeaveSpring};

    /// Roll angle and lateral load transfer at 2 m/s², and the front load when braking at 4 m/s², are those of the
    /// linear formulas.
    #[test]
    fn small_demands_are_the_linear_formulas() {
        let model = testing::model();
        let turning = solve_cornering(&model, 2.0).expect("stands");
        // Roll balance: m h a_y = (4 · 25e3 · 0.75² − m g h) φ.
        assert!((turning.roll - 1000.0 * 0.5 * 2.0 / 51_345.0).abs() < 1e-9, "{turning:?}");
        let moved = (turning.loads[1] - turning.loads[0]) * 1.5;
        assert!((moved - (1000.0 * 0.5 * 2.0 + 1000.0 * GRAVITY_MPS2 * 0.5 * turning.roll)).abs() < 1e-3);
        let braking = solve_at_roll(&model, 0.0, LoadDemand::braking(&model, 4.0)).expect("stands");
        let front = braking.loads[0] + braking.loads[1];
        assert!((front - (500.0 * GRAVITY_MPS2 + 1000.0 * 4.0 * 0.5 / 2.5)).abs() < 1e-3, "{braking:?}");
    }

    /// The roll angle follows from `m (h − r) a_y = (K − m g (h − r)) φ`, while the tyre loads balance the whole moment
    /// `m h a_y + m g (h − r) φ`. The sum of the loads does not change, except through the load differences between the
    /// sides. The links lift the car, and the rollover threshold includes the shift of the contact points.
    #[test]
    fn roll_centres_lead_side_forces_past_the_springs() {
        let mut parts = testing::model().parts().clone();
        parts.axles.iter_mut().for_each(|axle| axle.roll_centre_height = 0.2);
        let model = Model::new(parts).expect("valid");
        let turning = solve_cornering(&model, 2.0).expect("stands");
        let roll = 1000.0 * 0.3 * 2.0 / (56_250.0 - 1000.0 * GRAVITY_MPS2 * 0.3);
        // Unequal loads act on unequal lever arms: links of 0.27 move the contact points by up to 2.5 mm of 0.75 m.
        assert!((turning.roll / roll - 1.0).abs() < 1e-3, "{turning:?} {roll}");
        let moved = (turning.loads[1] - turning.loads[0]) * 1.5;
        assert!((moved - (1000.0 * 0.5 * 2.0 + 1000.0 * GRAVITY_MPS2 * 0.3 * turning.roll)).abs() < 0.5, "{turning:?}");
        assert!((turning.loads.iter().sum::<f64>() - 1000.0 * GRAVITY_MPS2).abs() < 1e-3, "{turning:?}");
        assert!(turning.compressions.iter().sum::<f64>() < -1e-4, "links lift it: {turning:?}");
        let tipping = rollover(&model).expect("two tracks");
        let outer = 0.75 + 0.2 / 0.75 * tipping.compressions[1];
        let expected = GRAVITY_MPS2 * (outer - 0.5 * tipping.roll) / 0.5;
        assert!((tipping.lateral_acceleration / expected - 1.0).abs() < 1e-3, "{tipping:?}");
    }

    /// Links of a solid axle take no more than the load of a wheel. They hold no car beyond `t / 2h`. Roll centres from
    /// −0.4 to 0.6 m, with and without solid axles, tip below this threshold, with loads that sum to the weight.
    #[test]
    fn no_roll_centre_holds_a_car_beyond_its_track_over_twice_its_height() {
        for (roll_centre, solid) in (-4..=6).flat_map(|tenth| [true, false].map(|solid| (0.1 * tenth as f32, solid))) {
            let mut parts = testing::model().parts().clone();
            parts.axles.iter_mut().for_each(|axle| (axle.roll_centre_height, axle.solid) = (roll_centre, solid));
            (parts.centre_height, parts.wheels) = (1.0, raised(&parts.wheels, 0.5));
            let model = Model::new(parts).expect("valid");
            let tipping = rollover(&model).expect("tips");
            let weight: f64 = tipping.loads.iter().sum();
            let what = format!("at {roll_centre} m, solid {solid}: {tipping:?}");
            assert!((weight / (1000.0 * GRAVITY_MPS2) - 1.0).abs() < 1e-6, "{what}");
            assert!(tipping.lateral_acceleration < 0.75 * GRAVITY_MPS2, "{what}");
        }
    }

    /// Returns the wheels of a car whose centre of mass is higher by `by` (m).
    fn raised(wheels: &[skidpad_core::model::Wheel], by: f32) -> Vec<skidpad_core::model::Wheel> {
        let mut wheels = wheels.to_vec();
        wheels.iter_mut().for_each(|wheel| wheel.contact.z -= by);
        wheels
    }

    /// The threshold is `g (t/2 − h φ) / h` with its roll angle, with hardly any load on the inner wheels. There is a
    /// steady turn just below it and none above.
    #[test]
    fn a_car_tips_when_all_inner_wheels_are_off_and_hangs_over() {
        let model = testing::model();
        let tipping = rollover(&model).expect("two tracks");
        let expected = GRAVITY_MPS2 * (0.75 - 0.5 * tipping.roll) / 0.5;
        assert!((tipping.lateral_acceleration / expected - 1.0).abs() < 1e-3, "{tipping:?}");
        assert!(tipping.loads[0] + tipping.loads[2] < 1e-2 * 1000.0 * GRAVITY_MPS2, "{tipping:?}");
        assert!(solve_cornering(&model, 1.001 * tipping.lateral_acceleration).is_none());
        assert!(solve_cornering(&model, 0.9999 * tipping.lateral_acceleration).is_some());
    }

    /// The centre of mass is 0.3 m left of the middle. The left wheels are 0.45 m beside it, over which the car falls
    /// when turning right. The car rolls about the middle: `a_y = g (0.45 − 0.5 φ) / 0.5`. The threshold of the left
    /// turn follows from the right wheels, which are 1.05 m beside it. Beyond the lower threshold there are steady
    /// turns only to the left.
    #[test]
    fn a_car_tips_first_to_the_side_of_its_mass() {
        let mut parts = testing::model().parts().clone();
        parts.wheels.iter_mut().for_each(|wheel| wheel.contact.y -= 0.3);
        let model = Model::new(parts).expect("valid");
        let right = rollover(&model).expect("two tracks");
        let expected = GRAVITY_MPS2 * (-0.45 - 0.5 * right.roll) / 0.5;
        // The maximum is flat: a deviation of 1e-3 remains while the last wheel hangs at its droop stop.
        assert!((right.lateral_acceleration / expected - 1.0).abs() < 1e-3, "{right:?}");
        assert!(right.loads[1] + right.loads[3] < 1e-2 * 1000.0 * GRAVITY_MPS2, "{right:?}");
        let left = find_rollover_state(&model, 1.0, LoadDemand::at_rest(&model)).expect("two tracks");
        assert!(
            (left.lateral_acceleration / (GRAVITY_MPS2 * (1.05 - 0.5 * left.roll) / 0.5) - 1.0).abs() < 1e-3,
            "{left:?}"
        );
        assert!(solve_cornering(&model, 1.01 * right.lateral_acceleration).is_none());
        assert!(solve_cornering(&model, -1.01 * right.lateral_acceleration).is_some());
    }

    /// A progressive spring, a heave spring and an external bar contribute to loads and roll by their laws. Both bars
    /// need the same lateral acceleration for a roll angle, but only the bar in the load path transfers wheel load.
    /// Tyre forces at half the height of the centre of mass double the acceleration for the same roll angle.
    #[test]
    fn every_part_of_a_suspension_counts() {
        let mut parts = testing::model().parts().clone();
        parts.wheels.iter_mut().for_each(|wheel| wheel.strut.progressive_rate = 1e5);
        parts.heave_springs = vec![HeaveSpring { wheels: [0, 1], rate: 50e3, damping: 0.0 }];
        let model = Model::new(parts.clone()).expect("valid");
        let heavy = LoadDemand { total_load: 1300.0 * GRAVITY_MPS2, pitch_moment: 0.0 };
        let pressed = solve_at_roll(&model, 0.0, heavy).expect("stands");
        let [front, rear] = [0, 2].map(|i| pressed.compressions[i]);
        let carried = |z: f64, more: f64| 250.0 * GRAVITY_MPS2 + 25e3 * z + 0.5e5 * z * z + 25e3 * more * z;
        assert!((pressed.loads[0] - carried(front, 1.0)).abs() < 1e-3, "{pressed:?}");
        assert!((pressed.loads[2] - carried(rear, 0.0)).abs() < 1e-3 && rear > front);
        let bar = |coupling| AntiRollBar { wheels: [0, 1], rate: 25e3, force_path: coupling, ..AntiRollBar::default() };
        let turning = [BarForcePath::InLoadPath, BarForcePath::External].map(|coupling| {
            parts.bars = vec![bar(coupling)];
            solve_at_roll(&Model::new(parts.clone()).expect("valid"), 0.02, LoadDemand::at_rest(&model))
                .expect("stands")
        });
        assert!((turning[0].lateral_acceleration - turning[1].lateral_acceleration).abs() < 1e-6);
        let moved = |steady: &SteadyState| steady.loads[1] - steady.loads[0];
        let through = 2.0 * 25e3 * (turning[0].compressions[1] - turning[0].compressions[0]);
        assert!((moved(&turning[0]) - moved(&turning[1]) - through).abs() < 1e-3, "{turning:?}");
        parts.bars.clear();
        parts.axles.iter_mut().for_each(|axle| axle.force_point_height = 0.25);
        let [ground, raised] = [model, Model::new(parts).expect("valid")].map(|model| {
            solve_at_roll(&model, 0.02, LoadDemand::at_rest(&model)).expect("stands").lateral_acceleration
        });
        assert!((raised / ground - 2.0).abs() < 1e-9, "half the lever, twice the acceleration for the same roll");
    }

    #[test]
    fn a_stop_too_hard_to_stand_is_told() {
        assert!(solve_at_roll(&testing::model(), 0.0, LoadDemand::braking(&testing::model(), 60.0)).is_none());
    }
}
