//! Shipped cars with single assists and pairs of assists, in random manoeuvres and at several tick rates: every
//! assist serves its purpose.

use std::sync::Arc;

use skidpad::core::model::{Assists, CruiseControl, ModelParts, SpeedSteering, StabilityControl};
use skidpad::core::{Controls, DVec3, FixedBox, Frame, Model, Scene, SolverInfo, Vec3, state::Placement};

use super::fitted::{ABS, COUNTER_STEER, CRUISE, LAUNCH, TRACTION};
use crate::common::solvers;
use crate::hitch::rigs;
use crate::step::random::Random;

const RATES: [f32; 4] = [30.0, 60.0, 240.0, 1000.0];

/// Number of draws of assists and manoeuvre for each vehicle or train.
const DRAWS: usize = 8;

/// Target speed of cruise control (m/s).
const HELD: f32 = 15.0;

/// Number of assists in a bit set. The masks that follow name the bits.
const ASSISTS: u32 = 7;
const ANTI_LOCK: u32 = 1;
const STABILITY: u32 = 1 << 1;
const TRACTION_CONTROL: u32 = 1 << 2;
const LAUNCH_CONTROL: u32 = 1 << 3;
const CRUISE_CONTROL: u32 = 1 << 4;
const STEERING: u32 = 3 << 5;

/// Returns the assists of the bit set `bits`.
fn fit(bits: u32) -> Assists {
    let has = |i: u32| bits & (1 << i) != 0;
    Assists {
        abs: has(0).then_some(ABS),
        stability: has(1).then(StabilityControl::default),
        traction: has(2).then_some(TRACTION),
        launch: has(3).then_some(LAUNCH),
        cruise: has(4).then_some(CruiseControl { may_brake: true, ..CRUISE }),
        counter_steer: has(5).then_some(COUNTER_STEER),
        speed_steering: has(6).then_some(SpeedSteering { speed_range: [5.0, 15.0], factors: [0.3, 0.5] }),
        ..Assists::default()
    }
}

/// Manoeuvre of a driver. The number is a gear, a factor of grip, or a slope in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Manoeuvre {
    Launch,
    HillStart,
    PartThrottle,
    InGear(i8),
    Ice,
    Split,
    Reverse,
    Stop(f32),
    Lift(f32),
    Turn,
    Cruise(f32),
}

impl Manoeuvre {
    const ALL: [Self; 15] = [
        Self::Launch,
        Self::HillStart,
        Self::PartThrottle,
        Self::InGear(1),
        Self::InGear(3),
        Self::InGear(6),
        Self::Ice,
        Self::Split,
        Self::Reverse,
        Self::Stop(1.0),
        Self::Stop(0.15),
        Self::Lift(0.1),
        Self::Turn,
        Self::Cruise(0.0),
        Self::Cruise(6.0),
    ];

    fn scene(self) -> Scene {
        match self {
            Self::HillStart => Scene::sloping(8f32.to_radians()),
            Self::Cruise(degrees) => Scene::sloping(degrees.to_radians()),
            Self::Ice => Scene { grip: 0.15, ..Scene::flat() },
            Self::Stop(grip) | Self::Lift(grip) => Scene { grip, ..Scene::flat() },
            Self::Split => {
                let size = Vec3::new(800.0, 20.0, 1.0);
                let ice = FixedBox { grip: 0.2, ..FixedBox::axis_aligned(DVec3::new(300.0, -10.0, -0.499), size) };
                Scene { boxes: vec![ice], ..Scene::flat() }
            }
            _ => Scene::flat(),
        }
    }

    fn speed(self) -> f32 {
        match self {
            Self::InGear(gear) => 3.0 * f32::from(gear),
            Self::Split => 5.0,
            Self::Stop(grip) => {
                if grip < 0.5 {
                    12.0
                } else {
                    25.0
                }
            }
            Self::Lift(_) => 15.0,
            Self::Turn => 6.0,
            _ => 0.0,
        }
    }

    fn seconds(self) -> f64 {
        match self {
            Self::Launch | Self::HillStart | Self::PartThrottle | Self::Ice => 5.0,
            Self::InGear(_) | Self::Split | Self::Lift(_) => 4.0,
            Self::Reverse => 5.0,
            Self::Stop(_) => 2.0,
            Self::Turn => 6.0,
            Self::Cruise(_) => 15.0,
        }
    }

    fn gear(self) -> Option<i8> {
        match self {
            Self::InGear(gear) => Some(gear),
            Self::Reverse => Some(-1),
            Self::Stop(_) => Some(0),
            _ => None,
        }
    }

    fn controls(self, now: &Frame) -> Controls {
        let gear = self.gear();
        let driven = |throttle: f32| Controls { throttle, gear, ..Controls::default() };
        match self {
            Self::Launch | Self::InGear(_) | Self::Ice => driven(1.0),
            Self::HillStart if now.t_s < 1.0 => Controls { brake: 1.0, ..driven(1.0) },
            Self::HillStart => driven(1.0),
            Self::PartThrottle | Self::Reverse => driven(0.3),
            Self::Split => Controls { steer: (-0.8 * now.yaw_rate_radps - 1.5 * now.yaw_rad) as f32, ..driven(1.0) },
            Self::Stop(_) => Controls { brake: 1.0, ..driven(0.0) },
            Self::Lift(_) => driven(0.0),
            Self::Turn => Controls { steer: 0.55, ..driven(0.4) },
            Self::Cruise(_) => Controls { cruise: Some(HELD), ..driven(0.0) },
        }
    }

    /// Returns the bit set of the assists that may act in this manoeuvre.
    fn busy(self) -> u32 {
        match self {
            Self::PartThrottle | Self::Reverse => TRACTION_CONTROL,
            // Spinning wheels let a car yaw, so that stability control and steering assists act, too.
            Self::Launch | Self::HillStart | Self::InGear(_) | Self::Ice | Self::Split => {
                STABILITY | TRACTION_CONTROL | LAUNCH_CONTROL | STEERING
            }
            Self::Stop(_) => ANTI_LOCK,
            Self::Lift(_) => ANTI_LOCK | STABILITY,
            Self::Turn => STABILITY | TRACTION_CONTROL | STEERING,
            Self::Cruise(_) => CRUISE_CONTROL,
        }
    }
}

/// A vehicle with its trailers, a set of assists, a manoeuvre and a solver.
struct Case {
    what: String,
    models: Vec<Arc<Model>>,
    plain: Vec<Arc<Model>>,
    bits: u32,
    manoeuvre: Manoeuvre,
    solver: SolverInfo,
}

impl Case {
    fn new(rig: &[&str], bits: u32, manoeuvre: Manoeuvre, solver: SolverInfo) -> Self {
        let plain: Vec<_> = rigs::shipped(rig)
            .iter()
            .map(|model| {
                let parts = ModelParts { assists: Assists::default(), ..model.parts().clone() };
                Arc::new(Model::new(parts).expect("valid"))
            })
            .collect();
        let mut models = plain.clone();
        let parts = ModelParts { assists: fit(bits), ..plain[0].parts().clone() };
        models[0] = Arc::new(Model::new(parts).expect("valid"));
        let fitted: Vec<_> = models[0].assists().iter().map(|assist| assist.name()).collect();
        let what = format!("{} with {}, {manoeuvre:?}, {}", rig.join("+"), fitted.join("+"), solver.name);
        Self { what, models, plain, bits, manoeuvre, solver }
    }

    fn has(&self, assists: u32) -> bool {
        self.bits & assists != 0
    }

    fn drive(&self, models: &[Arc<Model>], hz: f32, controls: impl Fn(&Frame) -> Controls) -> Vec<Frame> {
        let (speed, gear) = (self.manoeuvre.speed(), self.manoeuvre.gear());
        let placement = Placement { speed, gear, ..Placement::default() };
        let mut world = rigs::train_from(&self.solver, models, &self.manoeuvre.scene(), &placement, hz);
        let steps = (self.manoeuvre.seconds() * f64::from(hz)).round() as usize;
        let mut frames = vec![world.frame(0)];
        for _ in 0..steps {
            world.step(&[controls(&frames[frames.len() - 1])]);
            frames.push(world.frame(0));
        }
        frames
    }

    /// Returns the frames of the same drive without assists.
    fn without(&self, hz: f32) -> Vec<Frame> {
        self.drive(&self.plain, hz, |now| self.manoeuvre.controls(now))
    }

    /// Returns the largest slip speeds of loaded wheels above and below the car's speed, `[ahead, behind]`, from
    /// `from` s on. They are divided by the slip speed that the assists of the tests aim at.
    fn slips(&self, frames: &[Frame], from: f64) -> [f64; 2] {
        let aimed = |speed: f64| (0.1 * speed.abs()).max(0.5);
        let direction = if self.manoeuvre.gear() == Some(-1) { -1.0 } else { 1.0 };
        let mut most = [0.0f64; 2];
        for frame in frames.iter().filter(|frame| frame.t_s >= from) {
            for (wheel, of) in frame.wheels.iter().zip(self.models[0].wheels()).filter(|(wheel, _)| wheel.load_n > 0.0)
            {
                let ahead = (wheel.spin_radps * f64::from(of.radius) - frame.vx_mps) * direction / aimed(frame.vx_mps);
                most = [most[0].max(ahead), most[1].max(-ahead)];
            }
        }
        most
    }

    /// Drives the case at all rates and appends every violation to `faults`.
    fn check(&self, faults: &mut Vec<String>) {
        let runs = RATES.map(|hz| self.drive(&self.models, hz, |now| self.manoeuvre.controls(now)));
        let speeds = runs.each_ref().map(|frames| speed(frames));
        let fastest = runs[3].iter().map(|frame| frame.vx_mps.abs()).fold(1.0, f64::max);
        let off = |speeds: [f64; 4]| speeds.iter().any(|speed| (speed - speeds[3]).abs() > 0.02 * fastest);
        // Speeds are not compared if they differ between the rates without assists, too, as those of a car that spins
        // do.
        if off(speeds) && !self.is_closed_by_stability() && !off(RATES.map(|hz| speed(&self.without(hz)))) {
            faults.push(format!("{}: {speeds:.3?} m/s over the rates", self.what));
        }
        for (hz, frames) in RATES.iter().zip(&runs) {
            let mut fault = |text: String| faults.push(format!("{} at {hz} Hz: {text}", self.what));
            self.check_slips(frames, &mut fault);
            if *hz == 60.0 {
                self.check_against_plain(*hz, frames, &mut fault);
            }
        }
    }

    /// Returns true if stability control alternately closes and opens the throttle of wheels that spin on split
    /// friction (see the limits).
    fn is_closed_by_stability(&self) -> bool {
        self.manoeuvre == Manoeuvre::Split && self.has(STABILITY) && !self.has(TRACTION_CONTROL)
    }

    /// Returns true if anti-lock brakes must act: on the brake pedal, or on motors that regenerate. Anti-lock brakes
    /// do not limit engine braking.
    fn is_kept_from_locking(&self) -> bool {
        let regenerates = !self.models[0].parts().motors.is_empty();
        let lifts = matches!(self.manoeuvre, Manoeuvre::Lift(_)) && regenerates;
        self.has(ANTI_LOCK) && (matches!(self.manoeuvre, Manoeuvre::Stop(_)) || lifts)
    }

    fn check_slips(&self, frames: &[Frame], fault: &mut impl FnMut(String)) {
        let [ahead, behind] = self.slips(frames, 0.5);
        let straight = self.manoeuvre != Manoeuvre::Turn;
        if self.has(TRACTION_CONTROL) && straight && self.manoeuvre.busy() & TRACTION_CONTROL != 0 && ahead > 1.5 {
            fault(format!("wheels spin by {ahead:.2} of the slip asked for"));
        }
        if self.is_kept_from_locking() && behind > 1.5 {
            fault(format!("wheels lock by {behind:.2} of the slip asked for"));
        }
        if self.has(CRUISE_CONTROL) && matches!(self.manoeuvre, Manoeuvre::Cruise(_)) {
            let least = frames.iter().map(|frame| frame.vx_mps).fold(0.0, f64::min);
            let most = frames.iter().map(|frame| frame.vx_mps).fold(0.0, f64::max);
            if least < -0.5 || most > 1.01 * f64::from(HELD) {
                fault(format!("cruises between {least:.3} and {most:.3} m/s"));
            }
        }
    }

    fn check_against_plain(&self, hz: f32, frames: &[Frame], fault: &mut impl FnMut(String)) {
        let (plain, found) = (self.without(hz), speed(frames));
        let without = speed(&plain);
        let idle = !self.has(self.manoeuvre.busy());
        if idle && found != without {
            fault(format!("{found} m/s instead of {without}, with nothing to do"));
        }
        let only_traction = self.bits & self.manoeuvre.busy() == TRACTION_CONTROL;
        let grips = self.manoeuvre != Manoeuvre::HillStart && self.slips(&plain, 0.0)[0] < 0.9;
        if only_traction && grips && (found - without).abs() > 1e-3 * without.abs() {
            fault(format!("{found:.3} instead of {without:.3} m/s, though wheels grip"));
        }
        if self.has(STABILITY)
            && self.manoeuvre == Manoeuvre::Turn
            && !self.has(TRACTION_CONTROL | STEERING)
            && found < 0.9 * without
        {
            fault(format!("{found:.3} instead of {without:.3} m/s in a turn"));
        }
        if self.has(ANTI_LOCK) && matches!(self.manoeuvre, Manoeuvre::Stop(_)) {
            let [with, alone] = [frames, &plain].map(|frames| frames[frames.len() - 1].x_m);
            if with > 1.02 * alone {
                fault(format!("{with:.2} m instead of {alone:.2} m"));
            }
        }
        if self.has(CRUISE_CONTROL) && matches!(self.manoeuvre, Manoeuvre::Cruise(_)) {
            let floored = self.drive(&self.plain, hz, |_| Controls { throttle: 1.0, ..Controls::default() });
            let able = speed(&floored).min(f64::from(HELD));
            if found < 0.9 * able {
                fault(format!("cruises at {found:.3} m/s, though the car has {able:.3}"));
            }
        }
    }
}

fn speed(frames: &[Frame]) -> f64 {
    frames[frames.len() - 1].vx_mps
}

/// Names of the vehicles, alone and with trailers. Draws are made in this order, so that a vehicle at the end leaves those of
/// the others unchanged.
const VEHICLES: [&[&str]; 17] = [
    &["bmw_320i_commonroad"],
    &["bmw_320i_mf"],
    &["bullet_reference"],
    &["corvette_c5"],
    &["corvette_c5_mf"],
    &["corvette_c5_tmeasy"],
    &["tesla_model3_awd"],
    &["toyota_4runner"],
    &["truck_6x4"],
    &["unity_default"],
    &["toyota_4runner", "caravan"],
    &["toyota_4runner", "wagon"],
    &["truck_6x4", "semitrailer"],
    &["formula_car"],
    &["honda_civic_2016"],
    &["kart"],
    &["vw_vanagon"],
];

/// Single assists and pairs in random manoeuvres: final speeds agree over the rates within 2 %. Wheels neither lock
/// nor spin if an assist prevents it. An assist without an occasion to act changes nothing.
#[test]
fn assists_keep_their_purpose_in_every_combination() {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let (mut faults, solvers) = (Vec::new(), solvers());
    for rig in VEHICLES {
        for _ in 0..DRAWS {
            let bits = (1u32 << random.below(ASSISTS as usize)) | (1 << random.below(ASSISTS as usize));
            let manoeuvre = Manoeuvre::ALL[random.below(Manoeuvre::ALL.len())];
            let solver = solvers[random.below(solvers.len())];
            Case::new(rig, bits, manoeuvre, solver).check(&mut faults);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
