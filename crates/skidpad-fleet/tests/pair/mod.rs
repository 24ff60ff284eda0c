//! Worlds of the solver `impulse` and fleets with the same cars, and random inputs for both.

use std::sync::Arc;

use skidpad_core::model::{Curve, Powertrain, Tyre, Wheel};
use skidpad_core::state::Placement;
use skidpad_core::tyre::curve::CurveLaw;
use skidpad_core::{CarStart, Controls, Model, Scene, Simulation, State};
use skidpad_fleet::{Fleet, Lanes};

/// Length of a step, s.
pub const DT: f32 = 0.01;

/// Pseudo-random number generator with its seed.
pub struct Random(pub u64);

#[allow(dead_code, reason = "not every test varies models")]
impl Random {
    /// Returns a number from 0 to 1: the upper bits of D. E. Knuth's linear congruential generator MMIX.
    pub fn next_share(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }

    /// Returns random pedals and steering: in a quarter of the cases with braking, in some with a requested gear, a
    /// clutch pedal, a pulled handbrake or the starter.
    pub fn controls(&mut self) -> Controls {
        let mut chance = |share: f32| self.next_share() < share;
        let (has_brake, has_gear, has_clutch, has_handbrake) = (chance(0.25), chance(0.1), chance(0.05), chance(0.05));
        let starter = chance(0.05);
        let mut number = || self.next_share();
        Controls {
            throttle: number(),
            brake: if has_brake { number() } else { 0.0 },
            handbrake: if has_handbrake { number() } else { 0.0 },
            steer: 0.6 * number() - 0.3,
            gear: has_gear.then(|| (7.0 * number()) as i8 - 1),
            clutch: has_clutch.then(&mut number),
            starter,
            ..Controls::default()
        }
    }

    /// Returns a factor from 0.7 to 1.3.
    pub fn factor(&mut self) -> f32 {
        0.7 + 0.6 * self.next_share()
    }

    /// Returns `model` with other masses, tyres, wheels, struts, brakes, bars, air and engine torques: nearly all
    /// numbers that may differ from car to car are multiplied by random factors.
    pub fn vary(&mut self, model: &Model) -> Arc<Model> {
        let mut parts = model.parts().clone();
        let mass = self.factor();
        parts.mass *= mass;
        parts.inertia *= mass;
        parts.tyres.iter_mut().for_each(|tyre| self.vary_tyre(tyre));
        parts.wheels.iter_mut().for_each(|wheel| self.vary_wheel(wheel));
        parts.bars.iter_mut().for_each(|bar| bar.rate *= self.factor());
        for coefficient in [&mut parts.aero.drag, &mut parts.aero.side] {
            *coefficient *= self.factor();
        }
        parts.aero.downforce.iter_mut().for_each(|surface| surface.coefficient *= self.factor());
        if let Powertrain::Engine(drive) = &mut parts.powertrain {
            let factor = self.factor();
            let points = drive.engine.torque.points().iter().map(|[speed, torque]| [*speed, torque * factor]);
            drive.engine.torque = Curve::new(points.collect()).expect("a curve");
        }
        Model::new(parts).expect("a valid model").into()
    }

    /// Varies the numbers of a simple curve or a TMeasy tyre. Slips and forces keep their order.
    fn vary_tyre(&mut self, tyre: &mut Tyre) {
        match tyre {
            Tyre::Curve(curve) => {
                let grip = self.factor();
                curve.friction = curve.friction.map(|friction| friction * grip);
                curve.relaxation = curve.relaxation.map(|length| length * self.factor());
                (curve.load_sensitivity, curve.nominal_load) =
                    (curve.load_sensitivity * self.factor(), curve.nominal_load * self.factor());
                let factor = self.factor();
                match &mut curve.law {
                    CurveLaw::Coulomb { deflection } => *deflection *= factor,
                    CurveLaw::Linear { stiffness } | CurveLaw::LinearPerLoad { stiffness } => {
                        *stiffness = stiffness.map(|stiffness| stiffness * factor);
                    }
                    CurveLaw::SlipCurve { extremum_slip, asymptote_slip, asymptote } => {
                        for slips in [extremum_slip, asymptote_slip] {
                            *slips = slips.map(|slip| slip * factor);
                        }
                        *asymptote = asymptote.map(|share| share * (0.5 + 0.5 * factor));
                    }
                }
            }
            Tyre::TMeasy(tyre) => {
                tyre.nominal_load *= self.factor();
                tyre.relaxation = tyre.relaxation.map(|length| length * self.factor());
                let grip = self.factor();
                for curve in tyre.nominal.iter_mut().chain(&mut tyre.double) {
                    for force in [&mut curve.slope, &mut curve.largest, &mut curve.sliding] {
                        *force *= grip;
                    }
                }
            }
            Tyre::Brush(_) | Tyre::MagicFormula { .. } => {}
        }
    }

    /// Varies the numbers of a wheel with its strut, brake and unsprung mass.
    fn vary_wheel(&mut self, wheel: &mut Wheel) {
        let strut = &mut wheel.strut;
        for number in [
            &mut wheel.radius,
            &mut wheel.spin_inertia,
            &mut wheel.brake_torque,
            &mut wheel.handbrake_torque,
            &mut wheel.rolling.constant,
            &mut wheel.rolling.quadratic,
            &mut wheel.rolling.static_coefficient,
            &mut strut.rate,
            &mut strut.bump_damping,
            &mut strut.rebound_damping,
            &mut strut.bump_travel,
            &mut strut.stop_rate,
            &mut strut.stop_travel,
        ] {
            *number *= self.factor();
        }
        // Shorter, so that a progressive spring keeps a positive rate.
        strut.droop_travel *= 1.0 - 0.3 * self.next_share();
        strut.progressive_rate *= 1.0 - 0.3 * self.next_share();
        // Dampers without a knee have none in other cars, either.
        for knee in strut.knees.iter_mut().filter(|knee| knee.speed.is_finite()) {
            knee.speed *= self.factor();
            knee.fast_ratio *= self.factor();
        }
        if let Some(disc) = &mut wheel.disc {
            disc.heat_capacity *= self.factor();
            disc.cooling = disc.cooling.map(|cooling| cooling * self.factor());
        }
        if let Some(unsprung) = &mut wheel.unsprung {
            for number in [&mut unsprung.mass, &mut unsprung.tyre_rate, &mut unsprung.tyre_damping] {
                *number *= self.factor();
            }
        }
    }
}

/// World and fleets with the same cars, one fleet for each type of lanes.
pub struct Pair {
    /// World of the solver `impulse`.
    pub world: Box<dyn Simulation>,
    /// Fleets, one for each type of lanes.
    pub fleets: Vec<Fleet>,
    /// Inputs of the drivers.
    pub controls: Vec<Controls>,
    random: Random,
}

impl Pair {
    /// Creates a world and fleets in all `lanes` with cars of `models` at `placements` in `scene`, and steps of [`DT`].
    /// A fleet has the layout of the model `layout`.
    pub fn new(
        scene: &Scene,
        models: &[Arc<Model>],
        layout: &Arc<Model>,
        placements: impl Fn(usize) -> Placement,
        lanes: &[Lanes],
    ) -> Self {
        Self::with_step_length(DT, scene, models, layout, placements, lanes)
    }

    /// Creates a world and fleets as [`Pair::new`] does, with steps of `dt` s.
    pub fn with_step_length(
        dt: f32,
        scene: &Scene,
        models: &[Arc<Model>],
        layout: &Arc<Model>,
        placements: impl Fn(usize) -> Placement,
        lanes: &[Lanes],
    ) -> Self {
        let fleet = |lanes: &Lanes| {
            Fleet::with_lanes(layout, scene, dt, *lanes).expect("a model and a scene that lanes support")
        };
        let fleets = lanes.iter().filter(|lanes| lanes.is_supported()).map(fleet).collect();
        Self::of_fleets(dt, scene, models, placements, fleets)
    }

    /// Creates a world with cars of `models` at `placements` in `scene`, and adds these cars to the empty `fleets`,
    /// which have steps of [`DT`].
    #[allow(dead_code, reason = "not every test has fleets of its own")]
    pub fn with_fleets(
        scene: &Scene,
        models: &[Arc<Model>],
        placements: impl Fn(usize) -> Placement,
        fleets: Vec<Fleet>,
    ) -> Self {
        Self::of_fleets(DT, scene, models, placements, fleets)
    }

    /// Creates a world with steps of `dt` s and cars of `models` at `placements` in `scene`, and adds these cars to the
    /// empty `fleets`.
    fn of_fleets(
        dt: f32,
        scene: &Scene,
        models: &[Arc<Model>],
        placements: impl Fn(usize) -> Placement,
        mut fleets: Vec<Fleet>,
    ) -> Self {
        let start = |(k, model): (usize, &Arc<Model>)| CarStart { model: model.clone(), placement: placements(k) };
        let starts: Vec<CarStart> = models.iter().enumerate().map(start).collect();
        let world = (skidpad_impulse::BACKEND_INFO.build_world)(scene, &starts, dt);
        for fleet in &mut fleets {
            for (k, model) in models.iter().enumerate() {
                fleet.spawn(&placements(k));
                if !Arc::ptr_eq(model, fleet.model()) {
                    fleet.set_model(k, model).expect("the same layout");
                    fleet.set_state(k, world.state(k)).expect("a state");
                }
            }
        }
        Self { world, fleets, controls: vec![Controls::default(); models.len()], random: Random(7) }
    }

    /// Sets the state of `car` in the world and in all fleets.
    pub fn set_state(&mut self, car: usize, state: &State) {
        self.world.set_state(car, state).expect("a car");
        self.fleets.iter_mut().for_each(|fleet| fleet.set_state(car, state).expect("a car"));
    }

    /// Takes `steps` steps at random controls and compares the bytes of all states after each of them.
    pub fn drive(&mut self, steps: u32) {
        let start = self.world.steps() as usize;
        for step in start..start + steps as usize {
            for car in (0..self.controls.len()).filter(|car| (step + 7 * car).is_multiple_of(40)) {
                self.controls[car] = self.random.controls();
                for fleet in &mut self.fleets {
                    fleet.set_controls(car, &self.controls[car]).expect("a car");
                }
            }
            self.world.step(&self.controls);
            for (number, fleet) in self.fleets.iter_mut().enumerate() {
                fleet.step(1);
                for car in 0..self.controls.len() {
                    let (found, expected) = (fleet.state(car).expect("a car"), self.world.state(car));
                    let is_same = found.to_bytes() == expected.to_bytes();
                    assert!(is_same, "car {car}, step {step}, lanes {number}: {found:?} instead of {expected:?}");
                }
            }
        }
    }
}
