//! Cars, worlds and comparisons shared by the tests.

use std::sync::Arc;

use skidpad::core::model::{RollingCoefficients, Tyre};
use skidpad::core::state::Placement;
use skidpad::core::tyre::{CurveLaw, CurveTyre};
use skidpad::core::{
    CarStart, Controls, DVec3, FixedBox, Frame, Model, ModelParts, Scene, Simulation, SolverInfo, Vec3, WheelControls,
};

pub const GRAVITY: f64 = 9.81;

/// Returns the solvers that must satisfy the contract of a backend: all backends except peers.
pub fn solvers() -> Vec<SolverInfo> {
    skidpad::solvers().into_iter().filter(|b| !b.comparison_only).collect()
}

/// Returns the solvers, the modes and the peer `bullet`: every backend except peers with code of other projects.
pub fn own_code() -> Vec<SolverInfo> {
    let ours = |b: &SolverInfo| !b.comparison_only || b.name == "bullet";
    skidpad::solvers().into_iter().filter(ours).chain(skidpad::solver_variants()).collect()
}

/// Returns the solvers and modes that solve wheels with skidpad's constraint rows: [`own_code`] without `bullet`.
pub fn on_rows() -> Vec<SolverInfo> {
    own_code().into_iter().filter(|solver| solver.name != "bullet").collect()
}

/// Returns a copy of the parts of a shipped vehicle, for changes.
pub fn shipped(name: &str) -> ModelParts {
    skidpad::spec::load(name).expect("shipped").model.parts().clone()
}

/// Returns the parts of the shipped Corvette C5.
pub fn c5() -> ModelParts {
    shipped("corvette_c5")
}

/// Returns the parameters of a curve tyre. Panics on other tyre models.
#[track_caller]
pub fn curve(tyre: &Tyre) -> &CurveTyre {
    let Tyre::Curve(curve) = tyre else { panic!("{tyre:?}") };
    curve
}

/// Simplifications of a car for which a closed form is exact.
pub trait Simplify: Sized {
    fn with_tyres(self, tyre: impl Fn(&CurveTyre) -> CurveTyre) -> Self;
    fn without_air(self) -> Self;
    fn without_rolling_resistance(self) -> Self;
    fn model(self) -> Arc<Model>;

    /// Replaces the tyre law by Coulomb friction of coefficient `mu`, which slides after a deflection of 5 mm. Load
    /// sensitivity is 0.
    fn on_coulomb_tyres(self, mu: f32) -> Self {
        self.with_tyres(|tyre| CurveTyre {
            law: CurveLaw::Coulomb { deflection: 0.005 },
            friction: [mu; 2],
            load_sensitivity: 0.0,
            ..*tyre
        })
    }
}

impl Simplify for ModelParts {
    fn with_tyres(mut self, tyre: impl Fn(&CurveTyre) -> CurveTyre) -> Self {
        for t in &mut self.tyres {
            *t = Tyre::Curve(tyre(curve(t)));
        }
        self
    }

    fn without_air(mut self) -> Self {
        self.aero = Default::default();
        self
    }

    fn without_rolling_resistance(mut self) -> Self {
        for wheel in &mut self.wheels {
            wheel.rolling = RollingCoefficients::default();
        }
        self
    }

    fn model(self) -> Arc<Model> {
        Arc::new(Model::new(self).expect("valid parts"))
    }
}

/// A world with one car.
pub struct Drive {
    pub world: Box<dyn Simulation>,
}

impl Drive {
    pub fn new(solver: &SolverInfo, model: &Arc<Model>, scene: &Scene, placement: Placement, hz: f32) -> Self {
        let start = CarStart { model: model.clone(), placement };
        Self { world: (solver.build_world)(scene, &[start], 1.0 / hz) }
    }

    /// Builds a car on flat ground that rolls in neutral at `speed` (m/s).
    pub fn rolling(solver: &SolverInfo, model: &Arc<Model>, speed: f32, hz: f32) -> Self {
        let placement = Placement { speed, gear: Some(0), ..Placement::default() };
        Self::new(solver, model, &Scene::flat(), placement, hz)
    }

    pub fn step(&mut self, controls: &Controls) -> Frame {
        self.world.step(std::slice::from_ref(controls));
        self.world.frame(0)
    }

    /// Steps for `seconds` with the result of `controls` on the frame before each step. Returns the initial frame and
    /// the frame after each step.
    pub fn run(&mut self, seconds: f64, mut controls: impl FnMut(&Frame) -> Controls) -> Vec<Frame> {
        let steps = (seconds / f64::from(self.world.dt())).round() as usize;
        let mut frames = vec![self.world.frame(0)];
        for _ in 0..steps {
            let asked = controls(&frames[frames.len() - 1]);
            frames.push(self.step(&asked));
        }
        frames
    }
}

/// Returns the time at which `frames` first reach `speed` (m/s), interpolated between two steps (s). Panics if the
/// speed is not reached.
#[track_caller]
pub fn time_at(frames: &[Frame], speed: f64) -> f64 {
    let reached = frames.windows(2).find(|pair| pair[1].vx_mps >= speed).expect("gets that fast");
    let share = (speed - reached[0].vx_mps) / (reached[1].vx_mps - reached[0].vx_mps);
    reached[0].t_s + share * (reached[1].t_s - reached[0].t_s)
}

/// Returns the last 2 s at 240 Hz of a car parked for 8 s with a front wheel on a block of 12 cm. Panics unless a
/// wheel is unloaded in each of these frames.
#[track_caller]
pub fn parked_on_a_block(solver: &SolverInfo, model: &Arc<Model>) -> Vec<Frame> {
    let at = model.wheels()[0].contact;
    let block = FixedBox::axis_aligned(DVec3::new(f64::from(at.x), f64::from(at.y), 0.06), Vec3::new(0.3, 0.3, 0.12));
    let scene = Scene { boxes: vec![block], ..Scene::flat() };
    let lifted = Placement { height: 0.12, ..Placement::default() };
    let mut car = Drive::new(solver, model, &scene, lifted, 240.0);
    let frames = car.run(8.0, |_| Controls::parked());
    let last = frames[frames.len() - 480..].to_vec();
    assert!(last.iter().all(|f| f.wheels.iter().any(|w| w.load_n == 0.0)), "{}: a wheel hangs", solver.name);
    last
}

/// Returns motor torques that control the car to `speed` (m/s), with a gain of 2 1/s. The force is the same at all
/// wheels, so that it causes no yaw moment.
pub fn hold_speed(frame: &Frame, model: &Model, speed: f64) -> Box<[WheelControls]> {
    let wanted = (model.mass() as f64 * 2.0 * (speed - frame.vx_mps)) as f32;
    let count = model.wheels().len() as f32;
    let torque = |radius: f32| wanted * radius / count;
    model
        .wheels()
        .iter()
        .map(|w| WheelControls { motor_torque: torque(w.radius), ..WheelControls::default() })
        .collect()
}

pub fn mean(frames: &[Frame], channel: impl Fn(&Frame) -> f64) -> f64 {
    frames.iter().map(channel).sum::<f64>() / frames.len() as f64
}

/// Panics unless `found` is within the relative tolerance `relative` of `expected`. `why` is the reason for the
/// tolerance.
#[track_caller]
pub fn close(what: &str, found: f64, expected: f64, relative: f64, why: &str) {
    let error = found / expected - 1.0;
    assert!(
        error.abs() <= relative,
        "{what}: {found} instead of {expected}, {:+.3} % (allowed {:.3} %: {why})",
        100.0 * error,
        100.0 * relative
    );
}
