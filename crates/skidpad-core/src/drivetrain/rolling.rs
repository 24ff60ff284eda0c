//! Drivetrain alone, with wheels that roll at the speed of the car: used for peers, the vehicles of other engines.

use crate::assists::DriverDemand;
use crate::banks::Many;
use crate::controls::Controls;
use crate::lane::{Four, Lane};
use crate::step::rows::{Rows, Surroundings};
use crate::step::vehicle::Vehicle;

/// Stiffness of a rolling wheel's contact relative to the mass of the car. The finite value leaves a small slip.
const RIGID: f32 = 1e6;

impl Vehicle {
    /// Computes the force at the contact of every wheel, N, positive forward, from the pedals through engine, gearbox and motors in a step of `dt` s.
    /// Assists, brakes and raw inputs are not applied. The state of the drivetrain advances; wheels and chassis do not.
    ///
    /// Wheels with shares s of a shaft each push Σ s² of the car's mass, so that the shaft accelerates all of it. Several shafts share the mass.
    pub fn drive_rolling(&mut self, controls: &Controls, dt: f32, forces: &mut [f32]) {
        let Controls { throttle, brake, clutch, gear, starter, .. } = *controls;
        let pedals = Controls { throttle, brake, clutch, gear, starter, ..Controls::default() };
        self.begin::<Many>();
        self.drive::<Many>(&pedals, &DriverDemand::of(&pedals, &self.model.parts().steering), dt);
        self.stick_to_road();
        self.roll_shafts();
        for (bank, rows) in self.model.banks().iter().zip(&self.rows) {
            let force = ((rows.drive.motor + rows.drive.shaft) / (bank.radius * Four::splat(dt))).lanes();
            bank.each(|k, i| forces[i] = force[k]);
        }
        self.end_shafts::<Many>();
    }

    /// Sets the contact of every wheel to stick to its share of a mass that moves as the wheel rolls.
    fn stick_to_road(&mut self) {
        let compliance = self.model.inverse_mass() * self.driven_wheels();
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            rows.roll(bank.radius * bank.gather(|i| self.state.wheels[i].spin), compliance);
        }
    }

    /// Returns the number of wheels that engine and motors drive, counted by their shares of each shaft; at least 1.
    fn driven_wheels(&self) -> f32 {
        let [_, couplings] = self.shafts.first_rows(&self.model);
        let counted = |row: usize| {
            let squares: f32 = self.model.banks().iter().map(|bank| (bank.levers[row] * bank.levers[row]).sum()).sum();
            1.0 / squares
        };
        (0..couplings).map(counted).sum::<f32>().max(1.0)
    }
}

impl Rows {
    /// Sets up wheels without brakes that stick to a mass of 1 / `compliance` kg each, which moves at `speed` m/s.
    fn roll(&mut self, speed: Four, compliance: f32) {
        let (zero, compliance) = (Four::default(), Four::splat(compliance));
        self.coupled.surroundings = Surroundings { speed: [speed, zero], compliance: [compliance, zero, zero] };
        self.tyre.gain = [Four::splat(RIGID) / compliance, zero];
        (self.tyre.target_impulse, self.tyre.locking_capacity) = ([zero; 2], zero);
        self.coupled.friction_bound = [Four::splat(f32::MAX); 2];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivetrain::assisted::tests::motor;
    use crate::drivetrain::converter::{Clutch, LaunchDevice};
    use crate::drivetrain::engine::{Curve, Engine, Gearbox};
    use crate::drivetrain::parameters::{EngineDrive, Powertrain};
    use crate::lane::FourMask;
    use crate::model::{Model, plain::plain_car};
    use crate::state::{Placement, State};
    use crate::world::scene::Scene;

    const DT: f32 = 0.01;

    /// Builds the plain car with `powertrain`, rolling at `speed` m/s.
    fn rolling(powertrain: Powertrain, speed: f32) -> Vehicle {
        let model = Model::new(crate::ModelParts { powertrain, ..plain_car() }).expect("valid");
        let state = State::at_rest(&model, &Scene::flat(), &Placement { speed, ..Placement::default() });
        Vehicle::new(model.into(), state)
    }

    #[test]
    fn direct_torques_push_by_throttle_and_gear() {
        let torques = Powertrain::Direct([300.0, 300.0, 600.0, 600.0].into());
        for (throttle, gear, share) in [(0.5, 1, 0.5), (0.25, -1, -0.25), (1.0, 0, 0.0)] {
            let mut forces = [0.0; 4];
            let controls = Controls { throttle, gear: Some(gear), ..Controls::default() };
            rolling(torques.clone(), 0.0).drive_rolling(&controls, DT, &mut forces);
            for (found, torque) in forces.into_iter().zip([300.0, 300.0, 600.0, 600.0]) {
                // Rounding of 2000 N in f32.
                assert!((found - share * torque / 0.3).abs() < 1e-3, "{found} N at {throttle} in gear {gear}");
            }
        }
    }

    /// Checks that a closed clutch brings both sides to one speed, `p = (ω + T dt / J − r v / R) / (1 / J + r² / (2 J_w + m R²))`, and drives each
    /// of two wheels with half of `r p`.
    #[test]
    fn a_closed_clutch_drives_the_mass_of_the_car_by_its_wheels() {
        let (speed, turns, ratio) = (6.0, 300.0, 12.0f32);
        let engine = Engine {
            torque: Curve::new(vec![[100.0, 200.0], [600.0, 200.0]]).expect("valid"),
            drag: [0.0; 2],
            idle: 80.0,
            limit: 700.0,
            inertia: 0.2,
            throttle_map: None,
            stall: 0.0,
        };
        let gearbox = Gearbox {
            forward: [3.0].into(),
            reverse: 3.0,
            final_drive: 4.0,
            efficiency: 1.0,
            shift_time: 0.2,
            up_speed: 600.0,
            easy_up_speed: 300.0,
            down_speed: 120.0,
            kick_down_speed: 250.0,
            continuous: None,
        };
        let launch_device = LaunchDevice::Clutch(Clutch { capacity: 1e6, engaged_speed: 150.0 });
        let drive = EngineDrive { engine, launch_device, gearbox, shares: [0.0, 0.0, 0.5, 0.5].into() };
        let mut car = rolling(Powertrain::Engine(Box::new(drive)), speed);
        (car.state.drive.gear, car.state.drive.engine_speed) = (1, turns);
        let mut forces = [0.0; 4];
        let controls = Controls { throttle: 1.0, gear: Some(1), clutch: Some(0.0), ..Controls::default() };
        car.drive_rolling(&controls, DT, &mut forces);
        let behind = turns + 200.0 * DT / 0.2 - ratio * speed / 0.3;
        let impulse = behind / (1.0 / 0.2 + ratio * ratio / (2.0 + 1200.0 * 0.3 * 0.3));
        let expected = 0.5 * ratio * impulse / (0.3 * DT);
        for (found, expected) in forces.into_iter().zip([0.0, 0.0, expected, expected]) {
            // The contact slips by a millionth, and f32 rounding of such a stiff contact adds as much.
            assert!((found - expected).abs() <= 1e-4 * expected, "{found} instead of {expected} N");
        }
    }

    /// Checks that wheel, rotor and the mass on its contact turn as one, `(I + n² J + m R²) Δω = n T dt`, and that the gearing gets
    /// `T dt − J n Δω` for any initial impulse.
    #[test]
    fn a_motor_that_goes_on_ends_where_it_would_from_nothing() {
        let model = Model::new(crate::ModelParts { motors: vec![motor()], ..plain_car() }).expect("valid");
        let placement = Placement { speed: 6.0, ..Placement::default() };
        let mut car = {
            let state = State::at_rest(&model, &Scene::flat(), &placement);
            Vehicle::new(model.into(), state)
        };
        let gained = 9.0 * 300.0 * DT / (1.0 + 81.0 * 0.05 + 1200.0 * 0.3 * 0.3);
        let expected = 300.0 * DT - 0.05 * 9.0 * gained;
        let controls = Controls { throttle: 1.0, ..Controls::default() };
        for carried in [0.0, 250.0, expected / DT, 400.0, -300.0] {
            car.state.drive.motors[0] = carried;
            car.begin::<Many>();
            car.drive::<Many>(&controls, &DriverDemand::of(&controls, &car.model.parts().steering), DT);
            car.stick_to_road();
            car.rows[0].tyre.active = !FourMask::default();
            car.solve_shafts::<Many>();
            let found = car.shafts.constraints[0].impulse;
            // Same tolerance as for the closed clutch.
            assert!(
                (found - expected).abs() <= 1e-4 * expected,
                "{found} instead of {expected} N m s after {carried} N m"
            );
        }
    }
}
