//! Unsprung masses between strut and tyre: two modes of a quarter car, and no energy gain.

use skidpad::core::model::{Strut, Unsprung};
use skidpad::core::{Controls, ModelParts, Scene, SolverInfo, Vec3, state::Placement};

use crate::common::{Drive, Simplify, c5, close, shipped};
use crate::step::energy::Audit;

const RATES: [f32; 5] = [30.0, 60.0, 120.0, 240.0, 1000.0];

fn solver() -> SolverInfo {
    skidpad::Solver::ConstraintUnsprung.info()
}

/// Quarter car: masses above and below the strut (kg), rate and damping of strut and tyre (N/m, N·s/m).
#[derive(Clone, Copy)]
struct Quarter {
    body: f64,
    wheel: f64,
    strut: [f64; 2],
    tyre: [f64; 2],
}

impl Quarter {
    /// Returns a car of four quarters. Its centre of mass is midway between the axles, so that it heaves without pitching.
    fn car(&self) -> ModelParts {
        let mut parts = c5().without_air();
        parts.bars.clear();
        parts.inertia *= 4.0 * (self.body + self.wheel) as f32 / parts.mass;
        parts.mass = 4.0 * (self.body + self.wheel) as f32;
        for wheel in &mut parts.wheels {
            wheel.contact.x = if wheel.axle == 0 { 1.4 } else { -1.4 };
            wheel.contact.y = 0.75 * wheel.contact.y.signum();
            wheel.strut = Strut::linear(self.strut[0] as f32, self.strut[1] as f32, [0.3, 0.3]);
            wheel.unsprung = Some(Unsprung {
                mass: self.wheel as f32,
                tyre_rate: self.tyre[0] as f32,
                tyre_damping: self.tyre[1] as f32,
            });
        }
        parts
    }

    /// Returns height and speed of body and wheel above rest, `seconds` after `now`, m and m/s. The classical Runge-Kutta
    /// method in steps of at most 50 µs is exact in every digit that is compared.
    fn after(&self, now: [f64; 4], seconds: f64) -> [f64; 4] {
        let slope = |[z, v, y, w]: [f64; 4]| {
            let strut = self.strut[0] * (y - z) + self.strut[1] * (w - v);
            let tyre = -self.tyre[0] * y - self.tyre[1] * w;
            [v, strut / self.body, w, (tyre - strut) / self.wheel]
        };
        let steps = (seconds / 5e-5).ceil();
        let dt = seconds / steps;
        (0..steps as usize).fold(now, |now, _| {
            let on = |by: [f64; 4], share: f64| [0, 1, 2, 3].map(|i| now[i] + share * dt * by[i]);
            let first = slope(now);
            let second = slope(on(first, 0.5));
            let third = slope(on(second, 0.5));
            let last = slope(on(third, 1.0));
            [0, 1, 2, 3].map(|i| now[i] + dt / 6.0 * (first[i] + 2.0 * (second[i] + third[i]) + last[i]))
        })
    }
}

/// Quarter of a C5.
const CORNER: Quarter = Quarter { body: 330.0, wheel: 40.0, strut: [25e3, 1500.0], tyre: [220e3, 100.0] };

/// A body released 20 mm above rest, on wheels at rest, moves as in the closed form. A damping floor of k dt would raise the
/// damping ratio from 0.26 to 0.41 at 30 Hz.
#[test]
fn a_body_moves_as_on_a_quarter_car() {
    let model = CORNER.car().model();
    for hz in RATES {
        let mut car = Drive::rolling(&solver(), &model, 0.0, hz);
        let mut state = car.world.state(0).clone();
        let rest = state.position.z;
        state.position.z += 0.02;
        state.wheels.iter_mut().for_each(|wheel| wheel.compression -= 0.02);
        car.world.set_state(0, &state).expect("it fits");
        let (mut worst, mut expected) = (0f64, [0.02, 0.0, 0.0, 0.0]);
        for _ in 0..(1.5 * hz) as usize {
            car.step(&Controls::coasting());
            expected = CORNER.after(expected, f64::from(car.world.dt()));
            worst = worst.max((car.world.state(0).position.z - rest - expected[0]).abs());
        }
        // The error is of second order in the step: 0.43 mm at 30 Hz, 0.12 mm at 60 Hz, 0.45 µm at 1000 Hz.
        let allowed = 0.6e-3 * f64::from(30.0 / hz).powi(2);
        assert!(worst < allowed, "{hz} Hz: {:.3} mm off, {:.3} allowed", 1e3 * worst, 1e3 * allowed);
    }
}

/// Wheels below a chassis too heavy to move, released 5 mm off balance. Their damping ratio is `(c + c_t) / 2 √(m (k +
/// k_t))`, their frequency that of the midpoint rule, `2 / dt atan(ω dt / 2)`, which is lower than ω by ω² dt² / 12 of it.
#[test]
fn wheels_hop_with_the_damping_of_a_quarter_car() {
    let heavy = Quarter { body: 100e3, strut: [25e3, 500.0], ..CORNER };
    let model = heavy.car().model();
    let [rate, damping] = [0, 1].map(|i| heavy.strut[i] + heavy.tyre[i]);
    let omega = (rate / heavy.wheel).sqrt();
    let ratio = 0.5 * damping / (rate * heavy.wheel).sqrt();
    for hz in RATES {
        let mut car = Drive::rolling(&solver(), &model, 0.0, hz);
        let mut state = car.world.state(0).clone();
        state.wheels.iter_mut().for_each(|wheel| wheel.compression += 0.005);
        car.world.set_state(0, &state).expect("it fits");
        let dt = 1.0 / f64::from(hz);
        let turn = 2.0 * (0.5 * omega * dt).atan();
        let damped = turn * (1.0 - ratio * ratio).sqrt();
        // A swing e^(−σ t) cos(ω t) of amplitude A has the property `x₂ x₀ − x₁² = −A² e^(−2 σ t) sin²(ω dt)`.
        let travels: Vec<f64> =
            car.run(0.4, |_| Controls::coasting()).iter().map(|f| f.wheels[0].compression_m).collect();
        let swing = |i: usize| travels[i] * travels[i] - travels[i - 1] * travels[i + 1];
        let last = (0.25 * f64::from(hz)) as usize;
        let first = 2;
        let decay = 0.5 * (swing(first) / swing(last)).ln() / (last - first) as f64;
        let found = decay / damped.hypot(decay);
        let why = "ω dt is 2.6 at 30 Hz, where the midpoint rule's loss of damping is made up for to second order";
        let allowed = if hz < 50.0 { 0.15 } else { 0.02 };
        close(&format!("{hz} Hz: damping ratio"), found, ratio, allowed, why);
    }
}

/// A parked truck on three axles, with wheels of 500 kg on 900 kN/m, gains no energy. Explicit tyres would gain 491 kJ at
/// 240 Hz, and more with shorter steps.
#[test]
fn heavy_wheels_on_stiff_tyres_stand() {
    let mut parts = shipped("truck_6x4");
    for wheel in &mut parts.wheels {
        wheel.unsprung = Some(Unsprung { mass: 500.0, tyre_rate: 900e3, tyre_damping: 0.0 });
    }
    let model = parts.model();
    for hz in [20.0, 60.0, 240.0, 1000.0] {
        let mut car = Drive::new(&solver(), &model, &Scene::flat(), Placement::default(), hz);
        let audit = Audit::of(&car, &solver(), &Scene::flat());
        let begun = audit.energy(car.world.state(0));
        for _ in 0..(4.0 * hz) as usize {
            car.step(&Controls::parked());
            let gained = audit.energy(car.world.state(0)) - begun;
            // Tolerance: rounding of forces of 70 kN over 4,000 steps.
            assert!(gained < 0.5, "{hz} Hz: {gained} J from nothing");
        }
        assert!(car.world.state(0).velocity.length() < 1e-3, "{hz} Hz");
    }
}

/// A wheel of 5 kg on 400 kN/m, which oscillates 2.3 times within a step at 20 Hz, comes to rest without chatter after a
/// kerb impact.
#[test]
fn light_wheels_on_stiff_tyres_come_to_rest() {
    let light = Quarter { wheel: 5.0, tyre: [400e3, 0.0], ..CORNER };
    let model = light.car().model();
    for hz in [20.0, 30.0, 60.0, 240.0] {
        let mut car = Drive::rolling(&solver(), &model, 0.0, hz);
        let mut state = car.world.state(0).clone();
        state.wheels.iter_mut().for_each(|wheel| wheel.travel_rate = 3.0);
        state.velocity += Vec3::NEG_Z * 0.3;
        car.world.set_state(0, &state).expect("it fits");
        let frames = car.run(3.0, |_| Controls::coasting());
        // The body has oscillated four times before.
        let calm = &frames[frames.len() * 5 / 6..];
        let most = calm.iter().flat_map(|f| f.wheels.iter().map(|w| w.load_n)).fold(0.0, f64::max);
        let least = calm.iter().flat_map(|f| f.wheels.iter().map(|w| w.load_n)).fold(f64::INFINITY, f64::min);
        assert!(most - least < 0.02 * most, "{hz} Hz: loads from {least} to {most} N");
    }
}
