//! Multi-body car with solid axles, an independent reference for roll. The body, two axles and their joints have 20
//! equations after Althoff and Würsching, "CommonRoad: Vehicle models" (2020), chapter on the multi-body model. Axes are
//! those of ISO 8855. The forward speed is given, so that there is no longitudinal slip.

use std::f64::consts::TAU;
use std::sync::Arc;

use skidpad::core::model::LateralCompliance;
use skidpad::core::{Controls, Frame, Model, ModelParts, SolverInfo};

use crate::common::{Drive, GRAVITY, Simplify, hold_speed, shipped, solvers};

/// Step rate of the reference, Hz. The errors of its fourth-order method are far below a thousandth.
pub const RATE: f64 = 1000.0;

/// Point whose lateral velocity determines the slip angles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Slip {
    /// Centre of the sprung mass, above its axle, as in the published equations.
    Body,
    /// Contact points, as at a real tyre.
    Contact,
}

/// Parameter set 2 of the CommonRoad models, BMW 320i, in its units and with its names in brackets.
#[derive(Clone, Copy, Debug)]
pub struct Car {
    /// Sprung mass (m_s), and mass of one axle (m_uf, m_ur).
    pub sprung: f64,
    pub axle: f64,
    /// Moments of inertia: roll and pitch of the sprung mass, yaw of the car (I_Phi_s, I_y_s, I_z).
    inertia: [f64; 3],
    /// Front and rear: distance in front of the centre (a, -b), track (T), spring (K_s), damper (K_sd), bar (-K_ts), roll
    /// inertia (I_u).
    at: [f64; 2],
    track: [f64; 2],
    rate: [f64; 2],
    damping: [f64; 2],
    bar: [f64; 2],
    roll_inertia: [f64; 2],
    /// Lateral rate and damping of the joint between body and axle (K_ras, K_rad).
    pub joint: [f64; 2],
    /// Tyre: vertical rate (K_zt), lateral displacement per lateral force (K_lt), radius (R_w).
    tyre_rate: f64,
    tyre_way: f64,
    pub radius: f64,
    /// Height of the sprung mass (h_s).
    pub height: f64,
    /// Lateral Magic Formula: shape, friction, curvature, stiffness per load (p_cy1, p_dy1, p_ey1, -p_ky1).
    formula: [f64; 4],
}

pub const CAR: Car = Car {
    sprung: 965.710_809_880_436_3,
    axle: 63.792_182_605_678_4,
    inertia: [207.265_245_579_369_52, 1_565.817_878_712_554_1, 1_791.599_530_012_285_6],
    at: [1.156_195_706_4, -1.422_717_093_6],
    track: [1.386_84, 1.363_98],
    rate: [24_453.137_879_749_014, 19_635.504_745_231_297],
    damping: [1_786.244_100_244_072_3, 1_649.083_303_488_738_2],
    bar: [6_914.881_688_272_133, 2_643.600_952_015_530_8],
    roll_inertia: [30.673_279_563_178_017, 29.670_408_143_156_248],
    joint: [175_186.659_437_007_88, 10_215.732_056_044_453],
    tyre_rate: 158_294.139_811_911_5,
    tyre_way: 1.643_072_459_997_472_5e-5,
    radius: 0.344,
    height: 0.613_730_04,
    formula: [1.3507, 1.0489, -0.007_472_2, 21.92],
};

/// Displacements from rest, and rates. The integration method adds them without regard to their meaning.
#[derive(Clone, Copy, Debug, Default)]
struct Motion {
    /// Roll, pitch (nose down) and height of the body; then for each axle its roll, its height, and the displacement of the
    /// body to its left.
    places: [f64; 9],
    /// Rates of `places`, but in the last place of each axle the axle's own speed to the left.
    rates: [f64; 9],
    /// Speed of the body to the left, m/s.
    speed: f64,
    /// Yaw rate, rad/s.
    yaw_rate: f64,
}

impl Motion {
    fn plus(&self, of: &Self, by: f64) -> Self {
        let sum = |a: [f64; 9], b: [f64; 9]| core::array::from_fn(|i| a[i] + by * b[i]);
        Self {
            places: sum(self.places, of.places),
            rates: sum(self.rates, of.rates),
            speed: self.speed + by * of.speed,
            yaw_rate: self.yaw_rate + by * of.yaw_rate,
        }
    }
}

/// Output of the reference at a time. Roll in rad.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    pub roll: f64,
    /// Lateral forces over the mass, m/s².
    pub ay: f64,
}

impl Car {
    pub fn mass(&self) -> f64 {
        self.sprung + 2.0 * self.axle
    }

    /// Integrates the car over `seconds` in `RATE` steps a second. Returns roll and lateral acceleration before each step
    /// and at the end. `steer` is the steering angle (rad) at a time (s), `speed` in m/s.
    pub fn drive(&self, slip: Slip, speed: f64, seconds: f64, steer: impl Fn(f64) -> f64) -> Vec<Told> {
        let (mut now, dt) = (Motion::default(), 1.0 / RATE);
        let steps = (seconds * RATE).round() as usize;
        (0..=steps)
            .map(|i| {
                let at = |share: f64| steer((i as f64 + share) * dt);
                let (first, ay) = self.rates(slip, speed, at(0.0), &now);
                let told = Told { roll: now.places[0], ay };
                let (second, _) = self.rates(slip, speed, at(0.5), &now.plus(&first, 0.5 * dt));
                let (third, _) = self.rates(slip, speed, at(0.5), &now.plus(&second, 0.5 * dt));
                let (fourth, _) = self.rates(slip, speed, at(1.0), &now.plus(&third, dt));
                for (rate, weight) in [(first, 1.0), (second, 2.0), (third, 2.0), (fourth, 1.0)] {
                    now = now.plus(&rate, weight * dt / 6.0);
                }
                told
            })
            .collect()
    }

    /// Returns the derivative of `now`, and the lateral acceleration, m/s².
    fn rates(&self, slip: Slip, speed: f64, steer: f64, now: &Motion) -> (Motion, f64) {
        let [roll, pitch, up, ..] = now.places;
        let [roll_rate, pitch_rate, rising, ..] = now.rates;
        let (sin, cos) = roll.sin_cos();
        let turning = now.yaw_rate * speed;
        let mut rate = Motion { places: now.rates, ..Motion::default() };
        // On the body: lateral and upward force, roll and pitch moment. On the car: yaw moment, lateral forces.
        let [mut across, mut lift, mut rolling, mut pitching] = [0.0, -self.sprung * GRAVITY, 0.0, 0.0];
        let (mut yawing, mut sides) = (0.0, 0.0);
        for i in [0, 1] {
            let k = 3 + 3 * i;
            let [turned, height, left] = [now.places[k], now.places[k + 1], now.places[k + 2]];
            let [turns, rises, drifts] = [now.rates[k], now.rates[k + 1], now.rates[k + 2]];
            let (at, half) = (self.at[i], 0.5 * self.track[i]);
            let angle = if i == 0 { steer } else { 0.0 };
            let share = (self.at[1 - i] / (self.at[0] - self.at[1])).abs();
            let carried = 0.5 * share * self.sprung * GRAVITY;
            let pressed = carried + 0.5 * self.axle * GRAVITY;
            let above = self.height - self.radius + up - height;
            // Struts, left and right.
            let (against, against_rate) = (roll - turned, roll_rate - turns);
            let mean = above / cos - (self.height - self.radius) - at * pitch;
            let mean_rate = rising - rises - at * pitch_rate;
            let strut = self.struts(i, [mean, mean_rate], [against, against_rate], carried);
            // Joint at the ground below the centre of the axle, and displacement of the body to its left.
            let drifting = now.speed + at * now.yaw_rate - drifts;
            let moved = above * sin + left * cos + self.radius * against.sin();
            let swung = (above * cos - left * sin) * roll_rate + self.radius * against.cos() * against_rate;
            let moving = swung + (rising - rises) * sin + drifting * cos;
            let joint = -self.joint[0] * moved - self.joint[1] * moving;
            let centre = self.radius - pressed / self.tyre_rate + height;
            let contact = turns * centre + if slip == Slip::Body { now.speed + at * now.yaw_rate } else { drifts };
            let (lean, upright) = turned.sin_cos();
            let slips = [1.0, -1.0].map(|side| angle - (contact / (speed - side * half * now.yaw_rate)).atan());
            let [(left_load, left_force), (right_load, right_force)] = self.tyres(i, [turned, height], pressed, slips);
            let (force, load) = ((left_force + right_force) * angle.cos(), left_load + right_load);
            let struts = strut[0] + strut[1];
            sides += force;
            yawing += at * force + half * (left_force - right_force) * angle.sin();
            across += joint * cos - struts * sin;
            lift += struts * cos + joint * sin;
            rolling += half * (strut[0] - strut[1]) + joint / cos * (above + self.radius * upright);
            pitching -= at * struts;
            rate.rates[k] = (half * (strut[1] - strut[0]) - self.radius * joint
                + load * self.radius * lean
                + half * upright * (left_load - right_load)
                + self.tyre_way * (left_load * left_force + right_load * right_force)
                + force * centre)
                / self.roll_inertia[i];
            rate.rates[k + 1] = (load - joint * sin - struts * cos) / self.axle - GRAVITY;
            rate.rates[k + 2] = (force - joint * cos + struts * sin) / self.axle - turning;
            rate.places[k + 2] = drifting;
        }
        rate.rates[0] = rolling / self.inertia[0];
        rate.rates[1] = pitching / self.inertia[1];
        rate.rates[2] = lift / self.sprung;
        rate.speed = across / self.sprung - turning;
        rate.yaw_rate = yawing / self.inertia[2];
        (rate, sides / self.mass())
    }

    /// Returns the forces of the left and the right strut of axle `i`, N. Each carries `carried` N at rest. `mean` is the
    /// mean travel and its rate, `against` the roll angle between body and axle and its rate.
    fn struts(&self, i: usize, mean: [f64; 2], against: [f64; 2], carried: f64) -> [f64; 2] {
        let half = 0.5 * self.track[i];
        [1.0, -1.0].map(|side| {
            let spring = self.rate[i] * (mean[0] + side * half * against[0]);
            let damper = self.damping[i] * (mean[1] + side * half * against[1]);
            carried - spring - damper - side * self.bar[i] * against[0] / self.track[i]
        })
    }

    /// Returns load and lateral force of the left and the right tyre of axle `i`, N. The axle has rolled by `turned` rad and
    /// risen by `height` m. Each tyre carries `pressed` N at rest.
    fn tyres(&self, i: usize, [turned, height]: [f64; 2], pressed: f64, slips: [f64; 2]) -> [(f64, f64); 2] {
        let (lean, upright) = turned.sin_cos();
        let tyre = |side: f64, slip: f64| {
            let sunk = self.radius * (upright - 1.0) - side * 0.5 * self.track[i] * lean - height;
            let load = pressed + self.tyre_rate * sunk;
            (load, self.side_force(load, slip))
        };
        [tyre(1.0, slips[0]), tyre(-1.0, slips[1])]
    }

    /// Returns the lateral force of the Magic Formula without shifts, N.
    fn side_force(&self, load: f64, slip: f64) -> f64 {
        let [shape, friction, curvature, stiffness] = self.formula;
        let slip = stiffness / (shape * friction) * slip;
        friction * load * (shape * (slip - curvature * (slip - slip.atan())).atan()).sin()
    }
}

/// Returns the shipped 320i with its masses at the heights of the multi-body model: the sprung mass at h_s, the axles at the
/// wheel centres.
pub fn with_its_masses() -> ModelParts {
    let mut parts = shipped("bmw_320i_mf");
    let height = (CAR.sprung * CAR.height + 2.0 * CAR.axle * CAR.radius) / CAR.mass();
    let raised = height as f32 - parts.centre_height;
    parts.centre_height += raised;
    parts.wheels.iter_mut().for_each(|wheel| wheel.contact.z -= raised);
    parts
}

/// Returns the car of [`with_its_masses`] with the lateral compliance of the model's joints.
pub fn with_its_joints() -> ModelParts {
    let mut parts = with_its_masses();
    let [rate, damping] = CAR.joint.map(|of| of as f32);
    parts.axles.iter_mut().for_each(|axle| axle.lateral_compliance = Some(LateralCompliance { rate, damping }));
    parts
}

/// Returns the solver with unsprung masses; `None` if its feature is off.
pub fn unsprung() -> Option<SolverInfo> {
    skidpad::solver_variants().into_iter().find(|mode| mode.name == "constraint-unsprung")
}

/// Returns continuous sines of `hz` from 0.5 s on.
fn sine(t: f64, hz: f64) -> f64 {
    if t < 0.5 { 0.0 } else { (TAU * hz * (t - 0.5)).sin() }
}

/// Returns one sine of `hz` from 0.5 s on. Its value after three quarters is held for 0.5 s.
fn with_dwell(t: f64, hz: f64) -> f64 {
    let (held, phase) = (0.75 / hz, t - 0.5);
    let phase = if phase < held { phase } else { (phase - 0.5).max(held) };
    if (0.0..1.0 / hz).contains(&phase) { (TAU * hz * phase).sin() } else { 0.0 }
}

/// Returns one sine of `hz` to the left from 0.5 s on, and one to the right after a pause of 0.7 s.
fn lane_change(t: f64, hz: f64) -> f64 {
    let back = t - 0.5 - 1.0 / hz - 0.7;
    let one = |phase: f64| if (0.0..1.0 / hz).contains(&phase) { (TAU * hz * phase).sin() } else { 0.0 };
    one(t - 0.5) - one(back)
}

/// Name, speed (m/s), duration (s), and steering (rad) over time (s).
type Case = (&'static str, f64, f64, Box<dyn Fn(f64) -> f64>);

/// Returns the largest absolute value.
fn peak(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |most: f64, value| most.max(value.abs()))
}

/// The lateral joint between body and axle (K_ras, K_rad) does not change steady roll. A joint 50 times as stiff changes the
/// peak of a steering step by 0.1 % with slip at the body, and by 3.6 % with slip at the contact points.
#[test]
fn a_side_joint_rolls_the_body_by_what_tyres_feel_of_it() {
    let stiff = Car { joint: [50.0 * CAR.joint[0], 7.0 * CAR.joint[1]], ..CAR };
    let step = |t: f64| (0.4 * (t - 0.5)).clamp(0.0, 0.05);
    for (slip, least, most) in [(Slip::Body, 0.0, 2e-3), (Slip::Contact, 0.03, 0.04)] {
        let [given, stiff] = [CAR, stiff].map(|car| car.drive(slip, 15.0, 6.0, step));
        let steady = |told: &[Told]| told[told.len() - 1].roll;
        let highest = |told: &[Told]| peak(told.iter().map(|told| told.roll));
        assert!((steady(&stiff) / steady(&given) - 1.0).abs() < 1e-6, "{slip:?}");
        let less = 1.0 - highest(&stiff) / highest(&given);
        println!("{slip:?}: steady {:.2e}, peak {less:.4}", steady(&stiff) / steady(&given) - 1.0);
        assert!((least..most).contains(&less.abs()), "{slip:?}: {less}");
    }
}

/// Peaks of roll in steps and sines of the steering, against the multi-body equations with slip at the contact points.
///
/// The published equations take slip angles from the velocity of the sprung mass. Their tyres do not react when a rolling
/// body moves its axles sideways. The body then rolls about its own centre (2.1 Hz), not about the ground (1.1 Hz), and 4 to
/// 14 % less. No real tyre behaves so.
#[test]
fn wheels_on_their_own_reach_the_peaks_of_the_multi_body_model() {
    let step = |to: f64| move |t: f64| (0.4 * (t - 0.5)).clamp(0.0, to);
    let cases: [Case; 6] = [
        ("step to 0.02 at 15 m/s", 15.0, 4.0, Box::new(step(0.02))),
        ("step to 0.05 at 15 m/s", 15.0, 4.0, Box::new(step(0.05))),
        ("step to 0.02 at 25 m/s", 25.0, 4.0, Box::new(step(0.02))),
        ("sines of 0.02 at 20 m/s", 20.0, 4.0, Box::new(|t| 0.02 * sine(t, 0.5))),
        ("sine with dwell of 0.03 at 22 m/s", 22.0, 4.0, Box::new(|t| 0.03 * with_dwell(t, 0.7))),
        ("lane change of 0.03 at 22 m/s", 22.0, 6.5, Box::new(|t| 0.03 * lane_change(t, 0.5))),
    ];
    let [rigid, giving] = [with_its_masses(), with_its_joints()].map(Simplify::model);
    let Some(solver) = unsprung() else { return };
    for (name, speed, seconds, steer) in cases {
        let [published, asked] = [Slip::Body, Slip::Contact]
            .map(|slip| peak(CAR.drive(slip, speed, seconds, &steer).into_iter().map(|told| told.roll)));
        for hz in [100.0, 1000.0] {
            for (axles, model, most) in [("rigid", &rigid, 0.05), ("giving", &giving, 0.03)] {
                let found = peak(drive(&solver, model, speed, hz, seconds, &steer).iter().map(|f| f.roll_rad));
                let off = [asked, published].map(|of| 100.0 * (found / of - 1.0));
                println!("{name}, {axles} axles, {hz} Hz: {:+.1} %; of the published {:+.1} %", off[0], off[1]);
                assert!((found / asked - 1.0).abs() < most, "{name}, {axles}, {hz} Hz: roll {found}, not {asked}");
            }
        }
    }
}

/// Returns the frames of a car of `model` at a held `speed`, m/s. `steer` is the steering angle (rad) at a time (s).
fn drive(
    solver: &SolverInfo,
    model: &Arc<Model>,
    speed: f64,
    hz: f32,
    seconds: f64,
    steer: impl Fn(f64) -> f64,
) -> Vec<Frame> {
    let mut car = Drive::rolling(solver, model, speed as f32, hz);
    car.run(seconds, |f| Controls {
        steer: steer(f.t_s + 1.0 / f64::from(hz)) as f32,
        gear: Some(0),
        wheels: hold_speed(f, model, speed),
        ..Controls::default()
    })
}

/// Ratio of peak to steady roll in steering steps, on every solver. Without unsprung masses a car rolls 11 % less, since its
/// tyres have no vertical deflection. The overshoot depends on the lateral compliance of the axles, except for 2 % that such
/// wheels lack otherwise.
#[test]
fn every_solver_overshoots_as_the_multi_body_model() {
    let [rigid, giving] = [with_its_masses(), with_its_joints()].map(Simplify::model);
    for to in [0.02, 0.05] {
        let step = |t: f64| (0.4 * (t - 0.5)).clamp(0.0, to);
        let over = |rolls: &[f64]| peak(rolls.iter().copied()) / rolls[rolls.len() - 1].abs();
        let asked: Vec<f64> = CAR.drive(Slip::Contact, 15.0, 6.0, step).into_iter().map(|told| told.roll).collect();
        for solver in solvers().into_iter().chain(unsprung()) {
            let found = [&rigid, &giving].map(|model| {
                let frames = drive(&solver, model, 15.0, 240.0, 6.0, step);
                over(&frames.iter().map(|f| f.roll_rad).collect::<Vec<_>>()) / over(&asked) - 1.0
            });
            println!(
                "{}, step to {to}: {:+.2} % rigid, {:+.2} % giving",
                solver.name,
                100.0 * found[0],
                100.0 * found[1]
            );
            assert!(found[1].abs() < 0.02, "{}: {found:?}", solver.name);
            assert!(found[1].abs() < 0.5 * found[0].abs(), "{}: {found:?}", solver.name);
        }
    }
}
