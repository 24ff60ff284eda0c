//! Steady cornering beyond the linear range: tyre curves with load transfer.

use skidpad_core::Model;
use skidpad_core::model::Side;
use skidpad_core::tyre::Conditions;

use super::root::find_rising_root;
use super::steady_state::{self, LoadDemand, SteadyState};
use super::{Characteristics, CruiseState, drive_shares, linkage};

/// Lateral acceleration at which the understeer gradient with load transfer is listed (m/s²): 0.4 g, where road cars
/// leave their linear range.
pub const UNDERSTEER_ACCELERATION_MPS2: f64 = 3.924;

/// Largest slip angle of the search (rad).
const MAX_SLIP_ANGLE_RAD: f64 = 0.6;
/// Largest longitudinal slip of a wheel that grips (–).
const MAX_GRIPPING_SLIP: f64 = 1.0;
/// Longitudinal slip of a wheel that spins (–).
const SPINNING_SLIP: f64 = 10.0;
/// Maximum number of iterations over loads and longitudinal slips, each with the sideslip and the drive of the previous
/// one.
const MAX_LOAD_ITERATIONS: usize = 6;
/// Change of the steering angle below which the iteration has converged (rad).
const STEER_TOLERANCE_RAD: f64 = 1e-8;

/// Computes the steering angle that a steady turn at `lateral_acceleration` (m/s²) needs in addition to the geometric
/// (Ackermann) angle (rad, positive to the left). The path has an infinite radius, so the geometric angle is 0, and
/// there are no aerodynamic forces. Axle `i` has the slip angle `β − sᵢ δ` with its steer ratio `sᵢ`. The forces across
/// the path sum to `m a_y`, the yaw moments to zero.
///
/// Loads are those of [`steady_state::solve_cornering`]; toe and camber follow from its wheel travels and roll angle.
/// Side forces act perpendicular to the wheels, and aligning moments are included. Side forces and aligning moments
/// deflect a compliant steering linkage. The drive balances the braking
/// components of side forces and rolling resistance, with the longitudinal slips that this requires.
///
/// `None` above the rollover threshold, or if the tyres cannot hold the turn. The result has no meaning for tyres
/// without creep (dry friction), whose side force does not follow from a slip curve.
pub fn extra_steer(model: &Model, lateral_acceleration: f64) -> Option<f64> {
    SteadyTurn { lateral_acceleration, speed: None }.solve_steering_angle(model)
}

/// Steady turn on level ground.
#[derive(Clone, Copy, Debug)]
struct SteadyTurn {
    /// Acceleration towards the inside of the path (m/s²), positive to the left.
    lateral_acceleration: f64,
    /// Speed (m/s); `None` for a path of infinite radius without aerodynamic forces.
    speed: Option<f64>,
}

/// Motion and wheels of one iteration, on which the next one builds.
#[derive(Clone, Debug)]
struct TurnIterate {
    /// Sideslip angle (rad).
    sideslip: f64,
    /// Longitudinal slip of each wheel (–).
    slips: Vec<f64>,
    /// Deflection of the steering linkage at each wheel (rad).
    deflections: Vec<f64>,
}

/// Aerodynamic forces on a car in a turn (N).
#[derive(Clone, Copy, Debug, Default)]
struct AeroForces {
    /// Drag, against the motion.
    drag: f64,
    /// Downforce of each surface, positive downwards.
    downforce: [f64; 2],
    /// Magnitude of the side force per sine of the sideslip angle; the force acts against the lateral velocity.
    side_force_per_sine: f64,
}

impl AeroForces {
    /// Computes drag, downforce and the coefficient of the side force for a car that drives straight ahead at `speed`
    /// m/s. Drag and downforce are those at the ride heights of this speed. `None` if the car has no steady pose at
    /// this speed.
    fn at_speed(model: &Model, speed: f64) -> Option<Self> {
        let side_force_per_sine = f64::from(model.parts().aero.side) * speed * speed;
        let CruiseState { drag_n: drag, downforce_n: downforce, .. } = CruiseState::at_speed(model, speed)?;
        Some(Self { drag, downforce, side_force_per_sine })
    }
}

impl SteadyTurn {
    /// Returns the curvature of the path `a_y / v²` (1/m), positive to the left; 0 without a speed.
    fn curvature(self) -> f64 {
        self.speed.map_or(0.0, |speed| self.lateral_acceleration / (speed * speed).max(1e-6))
    }

    /// Solves for the steering angle (rad, positive to the left). Each iteration computes wheel loads and tyre
    /// conditions from sideslip, longitudinal slips and linkage deflections of the previous iteration (initially 0). It
    /// then solves the yaw balance for the steering angle. The iteration ends once the angle changes by less than
    /// [`STEER_TOLERANCE_RAD`], or after [`MAX_LOAD_ITERATIONS`] with the last angle. `None` if the tyres cannot hold
    /// the turn, above the rollover threshold, or without a steady pose at the speed. The result has no meaning for
    /// tyres without creep (dry friction).
    fn solve_steering_angle(self, model: &Model) -> Option<f64> {
        let aero_forces = match self.speed {
            Some(speed) => AeroForces::at_speed(model, speed)?,
            None => AeroForces::default(),
        };
        let zeros = || vec![0.0; model.wheels().len()];
        let mut iterate = TurnIterate { sideslip: 0.0, slips: zeros(), deflections: zeros() };
        let mut steering_angle = f64::NAN;
        for _ in 0..MAX_LOAD_ITERATIONS {
            let balance = TurnBalance::new(model, self, aero_forces, &iterate)?;
            // Steering angle of the previous iteration; NaN in the first one, which therefore never ends the loop.
            let previous_angle = core::mem::replace(&mut steering_angle, balance.steering_angle()?);
            let sideslip = balance.sideslip_angle(steering_angle)?;
            iterate = TurnIterate {
                sideslip,
                slips: balance.longitudinal_slips(sideslip, steering_angle),
                deflections: balance.linkage_deflections(sideslip, steering_angle),
            };
            if (steering_angle - previous_angle).abs() < STEER_TOLERANCE_RAD {
                break;
            }
        }
        Some(steering_angle)
    }
}

/// Balance of forces and moments of a car in a turn, for the loads of one iteration.
struct TurnBalance<'a> {
    model: &'a Model,
    turn: SteadyTurn,
    aero_forces: AeroForces,
    /// Tyres in wheel order.
    tyres: Vec<LoadedTyre>,
}

/// Tyre under its load in a turn.
struct LoadedTyre {
    /// Load, camber and grip.
    conditions: Conditions<f32>,
    /// Angle of the wheel in addition to the steering angle (rad).
    toe: f64,
    /// Deflection of the steering linkage (rad).
    linkage_deflection: f64,
    /// Share of the drive (–).
    drive_share: f64,
    /// Rolling resistance (N).
    rolling: f64,
    /// Largest longitudinal force that friction allows (N).
    max_longitudinal_force: f64,
    /// Longitudinal slip (–).
    slip: f64,
}

/// Angles, force and moment of a tyre at a given sideslip and steering angle.
struct TyreForces {
    /// Angle of the wheel relative to the car (rad).
    steer_angle: f64,
    /// Angle of the wheel relative to the path of the car (rad).
    path_angle: f64,
    /// Lateral slip `−tan α` (–).
    lateral_slip: f32,
    /// Side force perpendicular to the wheel (N).
    side_force: f64,
    /// Aligning moment (N m).
    aligning_moment: f64,
}

impl<'a> TurnBalance<'a> {
    /// Solves for the pose of the turn and prepares the tyres of one iteration. `previous` is the result of the
    /// previous iteration. The loads are those of the lateral acceleration `a_y cos β`, of downforce and drag at the
    /// speed of the turn, and of the longitudinal component `a_y sin β`. This component adds the pitch moment
    /// `m a_y sin β h`. Without a speed there are no aerodynamic loads. `None` above the rollover threshold.
    fn new(model: &'a Model, turn: SteadyTurn, aero_forces: AeroForces, previous: &TurnIterate) -> Option<Self> {
        let (sin, cos) = previous.sideslip.sin_cos();
        let mass = f64::from(model.mass());
        // The acceleration towards the inside has a component along the car.
        let pitch_moment = mass * turn.lateral_acceleration * sin * model.tyre_force_lever();
        let straight_demand = match turn.speed {
            Some(_) => LoadDemand::at_speed(model, aero_forces.downforce, aero_forces.drag),
            None => LoadDemand::at_rest(model),
        };
        let demand = LoadDemand { pitch_moment: straight_demand.pitch_moment + pitch_moment, ..straight_demand };
        let steady = steady_state::solve_cornering_with(model, turn.lateral_acceleration * cos, demand)?;
        let tyres = drive_shares(model).into_iter().enumerate().map(|(i, share)| {
            // 0.0: without a speed the rolling resistance is that at standstill.
            let tyre = LoadedTyre::new(model, &steady, turn.speed.unwrap_or(0.0), i, [share, previous.slips[i]]);
            LoadedTyre { linkage_deflection: previous.deflections[i], ..tyre }
        });
        let tyres = tyres.collect();
        Some(Self { model, turn, aero_forces, tyres })
    }

    /// Returns the angles of the wheels relative to the car for the steering angle `delta`, in wheel order (rad,
    /// positive to the left). The steering geometry turns left and right wheel of an axle differently; toe angle and
    /// linkage deflection of each wheel are added.
    fn wheel_angles(&self, delta: f64) -> Vec<f64> {
        // Mean angle of each axle: steer ratio times steering angle.
        let mean_angles: Vec<f32> =
            self.model.parts().axles.iter().map(|axle| axle.steer_ratio * delta as f32).collect();
        let road_wheel_angles = self.model.road_wheel_angles(&mean_angles);
        let wheels = self.model.wheels().iter().zip(&self.tyres);
        // `road_wheel_angles` has the left (0) and the right (1) wheel of each axle.
        wheels
            .map(|(wheel, tyre)| {
                tyre.toe
                    + tyre.linkage_deflection
                    + f64::from(road_wheel_angles[wheel.axle][usize::from(wheel.side == Side::Right)])
            })
            .collect()
    }

    /// Computes side force, aligning moment, lateral slip and angles of each tyre, in wheel order. `beta` is the
    /// sideslip angle (rad), `wheel_angles` are the angles of the wheels relative to the car (rad).
    ///
    /// The direction of motion of each contact point follows from `beta` and the curvature of the path. The lateral
    /// slip is the tangent of the angle between wheel and motion, limited to ±1. The longitudinal slip is that of the
    /// present iteration, [`LoadedTyre::slip`].
    fn tyre_forces(&self, beta: f64, wheel_angles: &[f64]) -> Vec<TyreForces> {
        // Sine and cosine of the sideslip: lateral and longitudinal velocity per speed.
        let ((sin, cos), curvature) = (beta.sin_cos(), self.turn.curvature());
        let forces_of_wheel = |i: usize| {
            let (tyre, contact) = (&self.tyres[i], self.model.wheels()[i].contact);
            // Direction of motion of the contact point relative to the car (rad), and the lateral slip.
            let motion_angle = (sin + curvature * f64::from(contact.x)).atan2(cos - curvature * f64::from(contact.y));
            let lateral_slip = (wheel_angles[i] - motion_angle).tan().clamp(-1.0, 1.0) as f32;
            let slip = [tyre.slip as f32, lateral_slip];
            TyreForces {
                lateral_slip,
                steer_angle: wheel_angles[i],
                // Relative to the motion of the centre of mass, not of the contact point.
                path_angle: wheel_angles[i] - beta,
                side_force: self.model.tyre_force(i, slip, &tyre.conditions).force[1].into(),
                aligning_moment: self.model.tyre_moments(i, slip, &tyre.conditions).aligning.into(),
            }
        };
        (0..self.tyres.len()).map(forces_of_wheel).collect()
    }

    /// Computes the longitudinal force of each wheel at constant speed (N, positive forward): its drive force less its
    /// rolling resistance. `beta` is the sideslip angle (rad).
    ///
    /// The drive balances four resistances: rolling resistance, the braking components of the side forces in
    /// `tyre_forces`, drag, and the braking component of the aerodynamic side force. The drive shares divide it among
    /// the driven wheels. A wheel whose share exceeds the largest force that friction allows spins with this force; the
    /// other driven wheels divide the rest by their shares. If all driven wheels spin, the drive does not balance the
    /// resistances.
    fn longitudinal_forces(&self, beta: f64, tyre_forces: &[TyreForces]) -> Vec<f64> {
        let tyres = || tyre_forces.iter().zip(&self.tyres);
        // Braking components of the side forces, and rolling resistance (N).
        let braking_force: f64 =
            tyres().map(|(force, tyre)| force.side_force * force.path_angle.sin() + tyre.rolling).sum();
        let required_force =
            braking_force + self.aero_forces.drag + self.aero_forces.side_force_per_sine * beta.sin().powi(2);
        // Drive force that the shares divide (N). Wheels that spin raise it for the others, so more of them may spin in
        // the next pass.
        let mut drive_force = required_force;
        for _ in 0..self.tyres.len() {
            let is_spinning = |tyre: &&LoadedTyre| tyre.drive_share * drive_force > tyre.max_longitudinal_force;
            // Total force of the spinning wheels (N), and the sum of the drive shares of the other wheels.
            let spinning_force: f64 =
                self.tyres.iter().filter(is_spinning).map(|tyre| tyre.max_longitudinal_force).sum();
            let gripping_share: f64 =
                self.tyres.iter().filter(|tyre| !is_spinning(tyre)).map(|tyre| tyre.drive_share).sum();
            if gripping_share <= 0.0 {
                break;
            }
            drive_force = (required_force - spinning_force) / gripping_share;
        }
        self.tyres
            .iter()
            .map(|tyre| (tyre.drive_share * drive_force).min(tyre.max_longitudinal_force) - tyre.rolling)
            .collect()
    }

    /// Computes the force across the path (N) and the yaw moment about the centre of mass (N m), both positive to the
    /// left. `beta` is the sideslip angle (rad); `wheel_angles` are the angles of the wheels relative to the car (rad).
    /// Both results include side forces, longitudinal forces and the aerodynamic side force. The moment also includes
    /// the aligning moments and the drag at its point of application.
    fn lateral_force_and_moment(&self, beta: f64, wheel_angles: &[f64]) -> [f64; 2] {
        let (tyre_forces, aero) = (self.tyre_forces(beta, wheel_angles), &self.model.parts().aero);
        let (longitudinal_forces, (sin, cos)) = (self.longitudinal_forces(beta, &tyre_forces), beta.sin_cos());
        // Lateral components of the aerodynamic side force and of the drag in axes of the car (N).
        let [aero_side, drag_side] =
            [self.aero_forces.side_force_per_sine, self.aero_forces.drag].map(|magnitude| -magnitude * sin);
        // Aerodynamic contributions first; drag has no component across the path.
        let mut force_and_moment =
            [aero_side * cos, f64::from(aero.side_point.x) * aero_side + f64::from(aero.drag_point.x) * drag_side];
        for ((force, longitudinal_force), wheel) in tyre_forces.iter().zip(longitudinal_forces).zip(self.model.wheels())
        {
            // Tyre force in axes of the car; sine and cosine are now those of the wheel angle.
            let ((sin, cos), [x, y]) = (force.steer_angle.sin_cos(), [wheel.contact.x, wheel.contact.y].map(f64::from));
            let [force_x, force_y] =
                [longitudinal_force * cos - force.side_force * sin, longitudinal_force * sin + force.side_force * cos];
            force_and_moment[0] +=
                force.side_force * force.path_angle.cos() + longitudinal_force * force.path_angle.sin();
            force_and_moment[1] += x * force_y - y * force_x + force.aligning_moment;
        }
        force_and_moment
    }

    /// Solves for the sideslip angle (rad) at which the force across the path equals `m a_y`, with the steering angle
    /// `delta` (rad). The search covers ±[`MAX_SLIP_ANGLE_RAD`]. `None` if the tyres cannot produce the force in this
    /// range.
    fn sideslip_angle(&self, delta: f64) -> Option<f64> {
        let demanded_force = f64::from(self.model.mass()) * self.turn.lateral_acceleration;
        let wheel_angles = self.wheel_angles(delta);
        // The force to the left falls with the sideslip angle, so the search for a rising root uses its negative.
        find_rising_root(
            |negative_sideslip| self.lateral_force_and_moment(-negative_sideslip, &wheel_angles)[0] - demanded_force,
            -MAX_SLIP_ANGLE_RAD,
            MAX_SLIP_ANGLE_RAD,
        )
        .map(|negative_sideslip| -negative_sideslip)
    }

    /// Solves for the steering angle (rad) at which the yaw moment is zero. Each trial angle has the sideslip angle of
    /// the demanded lateral force; a trial angle without one is skipped. The search covers ±[`MAX_SLIP_ANGLE_RAD`].
    /// `None` if there is no balance in this range.
    fn steering_angle(&self) -> Option<f64> {
        // Yaw moment (N m). NaN if the tyres cannot hold the turn at this angle: the search continues beyond it.
        let moment = |delta: f64| {
            self.sideslip_angle(delta)
                .map_or(f64::NAN, |beta| self.lateral_force_and_moment(beta, &self.wheel_angles(delta))[1])
        };
        find_rising_root(moment, -MAX_SLIP_ANGLE_RAD, MAX_SLIP_ANGLE_RAD)
    }

    /// Computes the deflection of the steering linkage at each wheel (rad), for the sideslip angle `beta` and the
    /// steering angle `delta` (rad).
    fn linkage_deflections(&self, beta: f64, delta: f64) -> Vec<f64> {
        let tyre_forces = self.tyre_forces(beta, &self.wheel_angles(delta));
        let deflection = |(i, force): (usize, &TyreForces)| {
            let previous = self.tyres[i].linkage_deflection;
            linkage::next_deflection(self.model, i, previous, force.side_force, force.aligning_moment)
        };
        tyre_forces.iter().enumerate().map(deflection).collect()
    }

    /// Computes the longitudinal slip of each wheel (–, positive for drive) that produces the forces of
    /// [`TurnBalance::longitudinal_forces`]. `beta` is the sideslip angle, `delta` the steering angle (rad); they also
    /// give the lateral slip of each wheel. A wheel whose tyre cannot produce its force spins with [`SPINNING_SLIP`] in
    /// the direction of the force.
    fn longitudinal_slips(&self, beta: f64, delta: f64) -> Vec<f64> {
        let tyre_forces = self.tyre_forces(beta, &self.wheel_angles(delta));
        // Slip of wheel `i` at which its tyre has the demanded longitudinal force (N).
        let solve_slip = |(i, demanded_force): (usize, &f64)| {
            let (conditions, lateral_slip) = (&self.tyres[i].conditions, tyre_forces[i].lateral_slip);
            let force_error = |slip: f64| {
                f64::from(self.model.tyre_force(i, [slip as f32, lateral_slip], conditions).force[0]) - demanded_force
            };
            find_rising_root(force_error, -MAX_GRIPPING_SLIP, MAX_GRIPPING_SLIP)
                .unwrap_or(SPINNING_SLIP.copysign(*demanded_force))
        };
        self.longitudinal_forces(beta, &tyre_forces).iter().enumerate().map(solve_slip).collect()
    }
}

impl LoadedTyre {
    /// Prepares the tyre of wheel `i` at `speed` m/s in the pose `steady`, with its `share` of the drive (–) and its
    /// longitudinal `slip` (–). Toe and camber include the changes by suspension links at the travel of the wheel;
    /// camber also includes the roll angle. The linkage is not deflected, and the friction factor of the ground is 1.
    fn new(model: &Model, steady: &SteadyState, speed: f64, i: usize, [share, slip]: [f64; 2]) -> Self {
        let (wheel, load) = (&model.wheels()[i], steady.loads[i] as f32);
        let axle = &model.parts().axles[wheel.axle];
        let travel = |i: usize| steady.compressions[i] as f32;
        let outward_sign = wheel.side.outward_sign();
        // Change of toe by the links (rad); [0]: toe, [1]: camber.
        let toe_change = axle.toe_camber.map_or(0.0, |curves| curves.changes_at(travel(i))[0]);
        let camber = outward_sign * model.camber(i, travel) + steady.roll as f32;
        Self {
            // 1.0: forces and aligning moment depend on the direction of the motion only, not on the speed (m/s).
            conditions: Conditions { camber, ..Conditions::upright(load, 1.0) },
            toe: f64::from(outward_sign * (wheel.toe + toe_change)),
            linkage_deflection: 0.0,
            drive_share: share,
            max_longitudinal_force: f64::from(model.tyre(i).friction_at(load)[0] * load),
            rolling: f64::from(wheel.rolling.coefficient(speed as f32) * load),
            slip,
        }
    }
}

/// Computes the understeer gradient `dδ/da_y` at `lateral_acceleration` (m/s²) with tyre curves and load transfer
/// (rad/(m/s²), positive for understeer). The gradient is the central difference of [`extra_steer`] over ±0.1 m/s².
/// `None` if [`extra_steer`] has no value at one of both accelerations. The result has no meaning for tyres without
/// creep (dry friction).
pub fn understeer(model: &Model, lateral_acceleration: f64) -> Option<f64> {
    const HALF_STEP_MPS2: f64 = 0.1;
    let steer_at_offset = |acceleration_offset: f64| extra_steer(model, lateral_acceleration + acceleration_offset);
    Some((steer_at_offset(HALF_STEP_MPS2)? - steer_at_offset(-HALF_STEP_MPS2)?) / (2.0 * HALF_STEP_MPS2))
}

/// Computes the mean road-wheel angle that holds `lateral_acceleration` (m/s²) at `v` m/s with tyre curves, load
/// transfer and aerodynamic forces (rad, positive to the left).
///
/// If there is no such angle within ±0.6 rad, because the tyres cannot hold the turn, the car tips
/// before, or the turn is too tight, the result is the angle of the tightest steady turn in this direction, found by 20
/// bisections. If there is no steady turn at all at this speed, or a tyre has no creep (dry friction), the result is
/// that of the linear [`Characteristics::steer_for`].
pub fn steer_to_hold(model: &Model, lateral_acceleration: f64, v: f64) -> f64 {
    let has_creep = (0..model.wheels().len()).all(|i| model.tyre(i).has_deflection_dynamics());
    let solve = |lateral_acceleration: f64| {
        let turn = SteadyTurn { lateral_acceleration, speed: Some(v) };
        if has_creep { turn.solve_steering_angle(model) } else { None }
    };
    let tightest_turn = || {
        let (mut low, mut high, mut angle) = (0.0, lateral_acceleration, None);
        for _ in 0..20 {
            let middle = 0.5 * (low + high);
            match solve(middle) {
                Some(solved) => (low, angle) = (middle, Some(solved)),
                None => high = middle,
            }
        }
        angle
    };
    let linear_angle = || Characteristics::new(model).steer_for(lateral_acceleration, v);
    solve(lateral_acceleration).or_else(tightest_turn).unwrap_or_else(linear_angle)
}

/// Computes the largest lateral acceleration that the tyres hold in steady cornering (m/s², magnitude, ≥ 0.1). The turn
/// has the direction in which the car tips first. The upper bound is the smaller of rollover threshold and 50 m/s².
/// Bisects 24 times between 0.1 m/s² and this bound, and returns the lower end. Without a `speed` (m/s) the path has an
/// infinite radius and there are no aerodynamic forces. The result has no meaning for tyres without creep (dry
/// friction).
///
/// `None` in three cases:
///
/// - The car has no rollover threshold.
/// - The tyres hold 99.9 % of the upper bound, so that the car tips first (or holds almost 50 m/s²).
/// - The tyres do not hold 0.1 m/s², for example because nothing steers.
pub fn grip_limit(model: &Model, speed: Option<f64>) -> Option<f64> {
    const MAX_SEARCHED_ACCELERATION_MPS2: f64 = 50.0;
    let rollover_acceleration = steady_state::rollover(model)?.lateral_acceleration;
    // Whether the tyres hold the magnitude `a` (m/s²) in the direction in which the car tips first.
    let is_sustained = |a: f64| {
        SteadyTurn { lateral_acceleration: a.copysign(rollover_acceleration), speed }
            .solve_steering_angle(model)
            .is_some()
    };
    let max_acceleration = rollover_acceleration.abs().min(MAX_SEARCHED_ACCELERATION_MPS2);
    // The tyres hold no turn, or they hold the upper bound.
    if !is_sustained(0.1) || is_sustained(0.999 * max_acceleration) {
        return None;
    }
    let (mut low, mut high) = (0.1, max_acceleration);
    // Bisection.
    for _ in 0..24 {
        let middle = 0.5 * (low + high);
        if is_sustained(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use skidpad_core::model::{
        AntiRollBar, Kingpin, Powertrain, RollingCoefficients, SteeringCompliance, ToeCamberCurves, Tyre,
    };
    use skidpad_core::tyre::CurveLaw;
    use skidpad_core::{Model, ModelParts};

    /// Builds the test car with a change and without rolling resistance, which turns a car out of its bend if the outer
    /// wheels carry more.
    fn with(change: impl Fn(&mut ModelParts)) -> Model {
        let mut parts = testing::model().parts().clone();
        parts.wheels.iter_mut().for_each(|wheel| wheel.rolling = RollingCoefficients::default());
        change(&mut parts);
        Model::new(parts).expect("valid")
    }

    /// At a small lateral acceleration the understeer gradient is that of the linear bicycle model.
    #[test]
    fn the_slope_at_nothing_is_the_linear_bicycle() {
        let model = with(|parts| {
            for wheel in &mut parts.wheels {
                wheel.contact.x += 0.1;
            }
        });
        let linear = crate::Characteristics::new(&model).bicycle.expect("creeps").understeer;
        let found = understeer(&model, 0.2).expect("holds");
        // Tolerances: tan α against α at 0.01 rad (3e-5), and f32 forces in a difference over 0.2 m/s².
        assert!((found - linear).abs() < 2e-3 * linear.abs(), "{found} {linear}");
    }

    /// Compliance steer adds `m_f n / (2 k)` to the understeer gradient, with the mass on the front axle, the trail and
    /// the stiffness at each of its two wheels, in the linear gradient and in that with tyre curves.
    #[test]
    fn a_compliant_linkage_adds_understeer() {
        let gradients = |stiffness: Option<f32>| {
            let model = with(|parts| {
                parts.steering.kingpin = Some(Kingpin { trail: 0.04, ..Kingpin::default() });
                parts.steering.compliance =
                    stiffness.map(|stiffness| SteeringCompliance { stiffness, time_constant: 0.02 });
            });
            let linear = crate::Characteristics::new(&model).bicycle.expect("creeps").understeer;
            [linear, understeer(&model, 0.2).expect("holds")]
        };
        let [rigid, compliant] = [None, Some(10e3)].map(gradients);
        let expected = 500.0 * 0.04 / (2.0 * 10e3);
        for (rigid, compliant) in rigid.into_iter().zip(compliant) {
            // Tolerance as above.
            assert!((compliant - rigid - expected).abs() < 2e-3 * expected, "{rigid} {compliant}");
        }
    }

    /// Front links that turn the wheels in under compression steer the car into the turn, by slope times half the track
    /// times roll angle. Rear links steer it out of the turn. The linear gradient and the one with tyre curves agree
    /// with this change.
    #[test]
    fn toe_over_travel_steers_with_roll() {
        let roll = 500.0 / 51_345.0;
        for (axle, way) in [(0, -1.0), (1, 1.0)] {
            let model = with(|parts| {
                parts.axles[axle].toe_camber = Some(ToeCamberCurves { toe: [0.1, 0.0], camber: [0.0; 2] })
            });
            let expected = way * 0.1 * 0.75 * roll;
            let linear = crate::Characteristics::new(&model).bicycle.expect("creeps").understeer;
            // Slopes and tracks are f32.
            assert!((linear / expected - 1.0).abs() < 1e-5, "axle {axle}: {linear} {expected}");
            let found = understeer(&model, UNDERSTEER_ACCELERATION_MPS2).expect("holds");
            // Tolerances: f32 forces in a difference over 0.2 m/s², and tan α of 0.04 rad.
            assert!((found / expected - 1.0).abs() < 0.01, "axle {axle}: {found} {expected}");
        }
    }

    /// Row A7: with a load-sensitive tyre a stiffer front bar causes understeer and a stiffer rear bar oversteer, by
    /// the same amount on a symmetric car. Equal bars on both axles leave the car neutral.
    #[test]
    fn a7_bars_shift_the_balance() {
        // Understeer gradient with the rates of a front and a rear bar (N/m).
        let bar = |front: f32, rear: f32| {
            let model = with(|parts| {
                let Tyre::Curve(tyre) = &mut parts.tyres[0] else { unreachable!("the test car has a simple curve") };
                tyre.law =
                    CurveLaw::SlipCurve { extremum_slip: [0.1; 2], asymptote_slip: [0.5; 2], asymptote: [0.8; 2] };
                tyre.load_sensitivity = 0.2;
                parts.powertrain = Powertrain::Direct([200.0; 4].into());
                let bar = |wheels, rate| AntiRollBar { wheels, rate, ..AntiRollBar::default() };
                parts.bars = vec![bar([0, 1], front), bar([2, 3], rear)];
            });
            understeer(&model, UNDERSTEER_ACCELERATION_MPS2).expect("holds")
        };
        let (front, even, rear) = (bar(20e3, 0.0), bar(10e3, 10e3), bar(0.0, 20e3));
        // The acceleration has a component `a sin β` along a car with a sideslip of 0.04 rad. It moves 0.64 % of an
        // axle's load to the other axle and changes the slips by the same share.
        assert!(even.abs() < 2.0 * 0.0064 * 0.04, "{even}");
        assert!(
            front - even > 1e-5 && (front + rear - 2.0 * even).abs() < 0.02 * (front - even),
            "{front} {even} {rear}"
        );
    }

    /// Checks that a speed without a steady pose has no turn: the springs do not carry a car whose lift exceeds its
    /// weight. At a speed with a steady pose there is a steering angle.
    #[test]
    fn a_car_that_its_lift_takes_off_holds_no_turn() {
        let model = with(|parts| parts.aero.downforce[0].coefficient = -2.0);
        assert!(CruiseState::at_speed(&model, 100.0).is_none());
        let turn = |speed| SteadyTurn { lateral_acceleration: 1.0, speed: Some(speed) }.solve_steering_angle(&model);
        assert!(turn(10.0).is_some());
        assert_eq!(turn(100.0), None);
    }

    #[test]
    fn beyond_the_grip_there_is_no_angle() {
        assert_eq!(extra_steer(&testing::model(), 9.9), None);
    }

    /// More lateral acceleration needs more steering, and more than the tyres hold has the angle of their limit, in
    /// both directions. On dry friction, which has no steady turn, the angle is the linear one.
    #[test]
    fn no_angle_is_beyond_that_of_the_tightest_turn() {
        let model = with(|parts| {
            let Tyre::Curve(tyre) = &mut parts.tyres[0] else { unreachable!("the test car has a simple curve") };
            tyre.law = CurveLaw::SlipCurve { extremum_slip: [0.1; 2], asymptote_slip: [0.5; 2], asymptote: [0.8; 2] };
        });
        const SPEED_MPS: f64 = 20.0;
        let limit = grip_limit(&model, Some(SPEED_MPS)).expect("slides first");
        let angles = [0.5, 0.9, 1.0, 1.1, 2.0].map(|share| steer_to_hold(&model, share * limit, SPEED_MPS));
        assert!(angles[0] < angles[1] && angles[1] < angles[2], "{angles:?} at {limit} m/s2");
        for angle in &angles[3..] {
            // Near the limit the angle rises steeply: both bisections end within 1e-6 of the limit.
            assert!((angle / angles[2] - 1.0).abs() < 0.02, "{angles:?} at {limit} m/s2");
        }
        let right = steer_to_hold(&model, -2.0 * limit, SPEED_MPS);
        assert!((right / angles[4] + 1.0).abs() < 1e-3, "{right} {angles:?}");
        let dry = with(|parts| {
            let Tyre::Curve(tyre) = &mut parts.tyres[0] else { unreachable!("the test car has a simple curve") };
            tyre.law = CurveLaw::Coulomb { deflection: 0.005 };
        });
        let linear = crate::Characteristics::new(&dry).steer_for(4.0, SPEED_MPS);
        assert_eq!(steer_to_hold(&dry, 4.0, SPEED_MPS), linear);
    }
}
