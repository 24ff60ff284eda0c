//! One step of one vehicle: stages make the rows, a coupling solves them, the world gets one push.
//!
//! Everything between [`Vehicle::solve`]'s door and its return is in the vehicle frame at the start of the step, with
//! arms relative to the centre of mass; only row *directions* are taken at the predicted end of the step (with the
//! start's, side-slip is 27 % off at 60 Hz).

mod air;
mod assists;
mod block;
mod converged;
mod cruise;
mod direct;
mod drive;
mod ground;
mod hull;
mod laws;
mod links;
mod loads;
mod orders;
mod own_wheels;
mod rolling;
mod rows;
mod shafts;
mod strut;
mod sweep;
mod ties;
mod traction;
mod write_back;

use std::sync::Arc;

use crate::assists::Asked;
use crate::lane::{Four, Lane};
use crate::linear::SpatialVector;
use crate::{Body, Budget, Contact, Controls, DVec3, HullPoint, Mat3, Model, Probe, Push, Quat, State, Vec3, math};

use assists::Correction;
use block::Within;
use converged::Stop;
use hull::HullRows;
use rows::Rows;
use shafts::Shafts;

/// Which pairs of tyre impulses a patch can give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Friction {
    /// Inside the ellipse of both limits; while it slides, against the sliding velocity.
    #[default]
    Cone,
    /// Each direction up to its own limit, as box-bounded solvers have it: up to √2 too much at 45° between them.
    Pyramid,
    /// The forward impulse is found in one sweep and stays, as a force from outside; only the side rows take part in
    /// the iteration, with what the forward one leaves of the ellipse.
    Hybrid,
}

/// How the rows of a vehicle are solved together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coupling {
    /// Loads at once, then every wheel from the same velocity, warm-started with the last step's impulses.
    OneSweep,
    /// All rows together, to a residual.
    Converged {
        /// Largest change of the chassis velocity in the last iteration, m/s (and rad/s times 1 m).
        tolerance: f32,
        /// Most iterations.
        iterations: u16,
        /// Shape of the friction limit.
        friction: Friction,
        /// Whether wheels move on their own, where the model says how heavy they are; else their mass is the chassis'.
        own_wheels: bool,
    },
}

impl Coupling {
    /// All rows together to the tolerance of every shipped solver, within a friction limit shaped like `friction`, with wheels that
    /// move on their own if `own_wheels`.
    ///
    /// The tolerance is a change of velocity: 1e-5 m/s moves a car 0.2 µm in a step at 60 Hz, four times the last bit of a speed of
    /// 25 m/s. Tighter only adds iterations; ten times looser shows as noise in the order of convergence.
    pub const fn converged(friction: Friction, own_wheels: bool) -> Self {
        let Stop { tolerance, iterations } = Stop::SHIPPED;
        Self::Converged { tolerance, iterations, friction, own_wheels }
    }
}

/// How a step went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// The world held something that is not finite, or the length of the step was negative or not finite; the vehicle pushed nothing.
    pub not_finite: bool,
    /// The converged coupling stopped at its limit of iterations.
    pub not_converged: bool,
    /// Most iterations any vehicle took; 1 for one sweep.
    pub iterations: u16,
    /// Largest change of a chassis velocity in a last iteration, m/s.
    pub residual: f32,
}

impl StepReport {
    /// The report of a step of `dt` s that is none, `None` of one that is: in no time nothing happens, and what is no length of time
    /// is told. States, and the count of steps, stay as they were.
    pub fn of_no_step(dt: f32) -> Option<Self> {
        let no_step = !(dt > 0.0 && dt < f32::INFINITY);
        no_step.then(|| Self { not_finite: dt != 0.0, ..Self::default() })
    }

    /// The worse of both, field by field.
    pub fn and(self, other: Self) -> Self {
        Self {
            not_finite: self.not_finite || other.not_finite,
            not_converged: self.not_converged || other.not_converged,
            iterations: self.iterations.max(other.iterations),
            residual: self.residual.max(other.residual),
        }
    }
}

/// A car: its model, its motion, and the workspace of its step.
#[derive(Clone, Debug)]
pub struct Vehicle {
    model: Arc<Model>,
    state: State,
    /// One for each bank of the model.
    rows: Box<[Rows]>,
    shafts: Shafts,
    hull: HullRows,
    /// What bars beside the struts do to the chassis, N s and N m s.
    beside: SpatialVector<f32>,
    budget: Budget,
    correction: Option<Correction>,
    /// Share of the rate that anti-roll bars have in this step.
    bar_share: f32,
    /// Vehicle axes to world axes at the start of the step.
    to_world: Mat3,
    /// Of the body at the start of the step, s.
    lead: f32,
    /// Steering angle that the wheels were last turned to, if that alone turned them.
    turned_to: Option<f32>,
}

pub(crate) const CHASSIS_AT_ORIGIN: Body = Body {
    position: DVec3::ZERO,
    rotation: Quat::IDENTITY,
    velocity: Vec3::ZERO,
    angular: Vec3::ZERO,
    free_velocity: Vec3::ZERO,
    free_angular: Vec3::ZERO,
    wind: Vec3::ZERO,
    lead: 0.0,
    asleep: false,
};

/// How far from an answer, m/s, a step may end that is taken although it did not converge.
const LARGEST_RESIDUAL: f32 = 0.02;

/// Contacts steeper than this against the suspension are obstacles, not ground: cosine of 80°.
const LEAST_GROUND_COSINE: f32 = 0.173_648_18;

/// Tangent of the same angle: a wheel that moves sideways by a metre comes so much nearer to such ground along its ray, at most.
const STEEPEST: f32 = 5.671_282;

impl Vehicle {
    /// A car in `state`.
    pub fn new(model: Arc<Model>, state: State) -> Self {
        let rows = model.banks().iter().map(|_| Rows::default()).collect();
        Self {
            model,
            state,
            rows,
            shafts: Shafts::default(),
            hull: HullRows::default(),
            beside: SpatialVector::default(),
            budget: Budget::default(),
            correction: None,
            bar_share: 1.0,
            to_world: Mat3::IDENTITY,
            lead: 0.0,
            turned_to: None,
        }
    }

    /// What it is.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// What it is doing.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What assists added in the last step that was solved.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Continues from `state`. One of a car with another number of wheels is refused: then nothing changes, and the answer is
    /// `false`.
    pub fn set_state(&mut self, state: &State) -> bool {
        let fits = state.wheels.len() == self.state.wheels.len();
        if fits {
            self.state.clone_from(state);
            self.turned_to = None;
        }
        fits
    }

    /// Writes the rays to cast, one for each wheel, into `asked`.
    ///
    /// A ray starts one wheel diameter above the resting contact point, inside the chassis, so that ground the bump
    /// stop has given way to is still below its start. It reaches to the droop stop and as much further as the wheel sinks
    /// within `dt` s, so that a landing wheel meets the ground in time.
    pub fn probes(&self, car: usize, body: &Body, dt: f32, asked: &mut [Probe]) {
        let to_world = Mat3::from_quat(body.rotation);
        let direction = -to_world.z_axis;
        let falling = body.free_velocity;
        let closing = Four::splat(STEEPEST * falling.length() - falling.dot(to_world.z_axis));
        let [roll, pitch] = [to_world.x_axis, to_world.y_axis].map(|axis| Four::splat(body.angular.dot(axis)));
        for bank in self.model.banks() {
            let start = bank.contact.raised(bank.start_height()).through(&to_world);
            let offsets = [start.x, start.y, start.z].map(Four::lanes);
            let sinking = closing - roll * bank.contact.y + pitch * bank.contact.x;
            let ahead = (sinking * Four::splat(dt)).at_least(Four::splat(rows::DROOP_SLACK));
            let reach = (bank.start_height() + bank.droop_travel + ahead).lanes();
            bank.each(|lane, wheel| {
                let Some(probe) = asked.get_mut(wheel) else { return };
                let offset = Vec3::new(offsets[0][lane], offsets[1][lane], offsets[2][lane]);
                *probe = Probe { car, position: body.position, offset, direction, reach: reach[lane] };
            });
        }
    }

    /// Solves one step of length `dt` (s, > 0) on `contacts`, one for each wheel, and returns what to do to the body. A
    /// converged coupling also keeps the points of its `hull` out of what they touch; one sweep leaves that to the world.
    /// Of any other length it does nothing; see [`StepReport::of_no_step`].
    pub fn solve(
        &mut self,
        body: &Body,
        contacts: &[Option<Contact>],
        hull: &[HullPoint],
        controls: &Controls,
        coupling: Coupling,
        dt: f32,
    ) -> (Push, StepReport) {
        if let Some(nothing) = StepReport::of_no_step(dt) {
            return (Push::default(), nothing);
        }
        if !finite(body) {
            return self.let_go();
        }
        let to_world = Mat3::from_quat(body.rotation);
        (self.to_world, self.lead) = (to_world, body.lead);
        let asked = self.listen(controls, dt);
        self.steer(controls, &asked, dt);
        self.drive(controls, &asked, dt);
        self.set_bars(controls);
        self.locate(body, &to_world, contacts, dt);
        let external = self.external(body, &to_world, controls, dt);
        let free = self.enter(body, &to_world) + self.response(external);
        let warm = free + self.response(self.wheel_impulses(false));
        if matches!(coupling, Coupling::Converged { own_wheels: true, .. }) {
            self.free_wheels(body.lead);
        }
        self.tie_rows(dt);
        let loaded = self.solve_any_loads(free, warm, dt);
        self.grip_rows(dt);
        self.assist_brakes(&asked, loaded, dt);
        let report = self.couple(coupling, [free, warm, loaded], hull, dt);
        self.tell(dt);
        let [(linear, angular), (stop, turn_stop)] =
            [external + self.beside + self.wheel_impulses(true), self.hull.impulse()].map(SpatialVector::parts);
        let push = Push {
            impulse: to_world * linear,
            angular_impulse: to_world * angular,
            stop: to_world * stop,
            angular_stop: to_world * turn_stop,
        };
        let all = push.impulse + push.angular_impulse + push.stop + push.angular_stop;
        let spins: f32 = self.rows.iter().map(|rows| rows.spin.sum()).sum();
        if !(all.x + all.y + all.z + spins).is_finite() {
            return self.let_go();
        }
        (push, report)
    }

    /// Solves the rows from the `velocities` without wheels, with the last step's tyres, and with the loads.
    fn couple(
        &mut self,
        coupling: Coupling,
        velocities: [SpatialVector<f32>; 3],
        hull: &[HullPoint],
        dt: f32,
    ) -> StepReport {
        self.hull.forget();
        self.shafts.within = Within::NearCone;
        let Coupling::Converged { tolerance, iterations, friction, .. } = coupling else {
            return self.sweep(velocities, dt);
        };
        self.hull.meet(hull, &self.to_world, self.model.mass(), dt);
        self.iterate(velocities, Stop { tolerance, iterations }, friction, dt)
    }

    /// The converged coupling, or one sweep where that ends far from an answer.
    fn iterate(&mut self, velocities: [SpatialVector<f32>; 3], stop: Stop, friction: Friction, dt: f32) -> StepReport {
        let [free, warm, loaded] = velocities;
        let (report, missing) = self.converge(free, loaded, stop, friction);
        if missing > LARGEST_RESIDUAL {
            self.sweep_instead(free, warm, dt);
        }
        report
    }

    /// Loads of wheels that move on their own, or with the chassis; returns the velocity after them.
    fn solve_any_loads(&mut self, free: SpatialVector<f32>, warm: SpatialVector<f32>, dt: f32) -> SpatialVector<f32> {
        let own = self.rows.iter().any(|rows| rows.travel.own);
        if own { self.solve_own_loads(free, warm, dt) } else { self.solve_loads(warm, dt) }
    }

    /// Takes a step that is far from convergence with one sweep, and leaves the hull to the world: what an unfinished iteration has
    /// may be any impulse, those of a sweep cannot give energy.
    fn sweep_instead(&mut self, free: SpatialVector<f32>, warm: SpatialVector<f32>, dt: f32) {
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            rows.recall(bank, &self.state, dt);
        }
        self.hull.forget();
        self.shafts.within = Within::NearCone;
        let loaded = self.solve_any_loads(free, warm, dt);
        self.sweep_once(loaded);
    }

    /// Pushes nothing and lets every wheel keep its spin, so that the state stays finite.
    fn let_go(&mut self) -> (Push, StepReport) {
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            *rows = Rows::default();
            rows.dt = 1.0;
            rows.spin = bank.gather(|i| self.state.wheels[i].spin);
            rows.compression = bank.gather(|i| self.state.wheels[i].compression);
        }
        (self.shafts, self.hull, self.budget, self.beside, self.turned_to) = Default::default();
        (Push::default(), StepReport { not_finite: true, ..StepReport::default() })
    }

    /// Free velocity in the vehicle frame.
    fn enter(&self, body: &Body, to_world: &Mat3) -> SpatialVector<f32> {
        let to_vehicle = to_world.transpose();
        SpatialVector::of(to_vehicle * body.free_velocity, to_vehicle * body.free_angular)
    }

    /// Change of velocity by an impulse on the chassis.
    fn response(&self, impulse: SpatialVector<f32>) -> SpatialVector<f32> {
        let (linear, angular) = impulse.parts();
        SpatialVector::of(linear * self.model.inverse_mass(), *self.model.inverse_inertia() * angular)
    }

    /// Sum of what the wheels' rows do to the chassis.
    fn wheel_impulses(&self, with_loads: bool) -> SpatialVector<f32> {
        self.rows.iter().fold(SpatialVector::default(), |sum, rows| sum + rows.impulse(with_loads).sum())
    }

    /// Road-wheel angles: rate limit, axle ratio, Ackermann, toe, or the raw angle of a wheel.
    fn steer(&mut self, controls: &Controls, asked: &Asked, dt: f32) {
        let parts = self.model.parts();
        let reach = asked.steer_rate * dt;
        self.state.steer += (asked.steer - self.state.steer).clamp(-reach, reach);
        // Toe and camber over travel, and raw angles, may have moved although the steering has not.
        let own = controls.wheels.is_empty() && !self.model.turned_by_travel();
        if own && self.turned_to == Some(self.state.steer) {
            return;
        }
        self.turned_to = own.then_some(self.state.steer);
        for (i, (axle, &[left, right])) in parts.axles.iter().zip(self.model.axle_wheels()).enumerate() {
            let mean = self.state.steer * axle.steer_ratio;
            let track = parts.wheels[left].contact.y - parts.wheels[right].contact.y;
            let leaning = if axle.solid { self.model.turned(i, |i| self.state.wheels[i].compression) } else { 0.0 };
            let spread = if mean == 0.0 { 0.0 } else { ackermann_spread(mean, axle, track) };
            for (i, sign) in [(left, -1.0), (right, 1.0)] {
                let (wheel, state) = (&parts.wheels[i], &mut self.state.wheels[i]);
                let (mut toe, mut camber) = (wheel.toe, wheel.camber);
                if let Some(links) = &axle.guidance {
                    let [more_toe, more_camber] = links.at(state.compression);
                    (toe, camber) = (toe + more_toe, camber + more_camber);
                }
                if axle.solid {
                    camber += wheel.side.rightwards() * leaning;
                }
                state.steer_to(controls.raw_angle(i).unwrap_or(mean + sign * (spread + toe)));
                let place = self.model.place(i);
                self.rows[place.bank].turn(place.lane, state.steer, [camber, wheel.side.rightwards()]);
            }
        }
    }
}

/// Half the difference between right and left road-wheel angle for a `mean` angle, rad.
///
/// With ε = this, full Ackermann asks cot(δ−ε) − cot(δ+ε) = T/L, which gives
/// `2ε = atan k − asin(k cos 2δ / √(1+k²))`, k = T/(2L): exact, and the mean stays δ.
fn ackermann_spread(mean: f32, axle: &crate::model::Axle, track: f32) -> f32 {
    let k = axle.ackermann * track / (2.0 * axle.turning_distance.abs().max(1e-3));
    if k == 0.0 {
        return 0.0;
    }
    let (_, cosine) = math::sin_cos(2.0 * mean);
    let full = math::atan(k) - math::asin(k * cosine / (1.0 + k * k).sqrt());
    // The wheels toe out in a turn to either side: the inner one steers more.
    -0.5 * full
}

fn finite(body: &Body) -> bool {
    // A sum is finite only if every term is: one test for all of them.
    let v = body.velocity + body.angular + body.free_velocity + body.free_angular;
    let place = body.position.x + body.position.y + body.position.z;
    let turn = body.rotation.x + body.rotation.y + body.rotation.z + body.rotation.w;
    (v.x + v.y + v.z + turn).is_finite() && place.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Axle;

    /// Oracle 5.13: cot δo − cot δi = T / L, and the mean is what was asked.
    #[test]
    fn ackermann_is_exact_on_both_sides() {
        let axle = Axle { steer_ratio: 1.0, ackermann: 1.0, turning_distance: 2.654, ..Axle::default() };
        for mean in [-0.6, -0.2, -0.01, 0.01, 0.2378, 0.6f32] {
            let spread = ackermann_spread(mean, &axle, 1.575);
            let (left, right) = (mean - spread, mean + spread);
            let (outer, inner) = if mean > 0.0 { (right, left) } else { (-left, -right) };
            let difference = 1.0 / math::tan(outer) - 1.0 / math::tan(inner);
            assert!((difference - 1.575 / 2.654).abs() < 2e-3 / mean.abs(), "{mean}: {difference}");
            assert!(outer < inner);
        }
    }
}
