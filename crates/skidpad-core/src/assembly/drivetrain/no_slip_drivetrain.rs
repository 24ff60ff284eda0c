//! Drivetrain alone, with wheels that roll at the speed of the car: used for peers, the vehicles of other engines.

use crate::assists::DriverDemand;
use crate::controls::Controls;
use crate::vehicle::Vehicle;
use crate::vehicle::rows::{EffectiveMass, WheelRows};
use skidpad_simd::lane::{F32x4, Lane};
use skidpad_simd::wheel_groups::ManyGroups;

/// Stiffness of a rolling wheel's contact relative to the mass of the car. The finite value leaves a small slip.
const CONTACT_STIFFNESS_RATIO: f32 = 1e6;

impl Vehicle {
    /// Computes the force at the contact of every wheel, N, positive forward, from the pedals through engine, gearbox and motors in a step of `dt` s:
    /// the impulses of direct drive and shafts over radius and `dt`. Assists, brakes, handbrake and raw inputs are not applied; the brake pedal only
    /// regenerates. The state of the drivetrain advances; wheels and chassis do not.
    ///
    /// Wheels with shares s of a shaft each push Σ s² of the car's mass, so that the shaft accelerates all of it. Several shafts share the mass.
    /// `forces`: one entry for each wheel, overwritten.
    pub fn drive_rolling(&mut self, controls: &Controls, dt: f32, forces: &mut [f32]) {
        let Controls { throttle, brake, clutch, gear, starter, .. } = *controls;
        let pedals = Controls { throttle, brake, clutch, gear, starter, ..Controls::default() };
        self.store_start_state::<ManyGroups>();
        self.apply_pedals::<ManyGroups>(
            &pedals,
            &DriverDemand::from_controls(&pedals, &self.model.parts().steering),
            dt,
        );
        self.set_rigid_contacts();
        self.solve_rolling_shafts();
        for (group, rows) in self.model.wheel_packs().iter().zip(&self.rows) {
            let force = ((rows.drive.motor + rows.drive.shaft) / (group.radius * F32x4::splat(dt))).lanes();
            group.for_each_wheel(|k, i| forces[i] = force[k]);
        }
        self.store_shaft_results::<ManyGroups>();
    }

    /// Sets the contact of every wheel to stick to its share of the car's mass, which moves at the wheel's own rolling speed, spin times radius.
    fn set_rigid_contacts(&mut self) {
        let compliance = self.model.inverse_mass() * self.driven_wheel_count();
        for (group, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            rows.set_rigid_contact(group.radius * group.gather(|i| self.state.wheels[i].spin), compliance);
        }
    }

    /// Returns the number of wheels that engine and motors drive, as the sum of `1 / Σ s²` over their shafts, with the shares s of its wheels; at
    /// least 1. A shaft that drives n wheels alike counts n.
    fn driven_wheel_count(&self) -> f32 {
        let [_, couplings] = self.shafts.first_rows(&self.model);
        let wheel_count = |row: usize| {
            let share_square_sum: f32 = self
                .model
                .wheel_packs()
                .iter()
                .map(|group| (group.shaft_jacobian[row] * group.shaft_jacobian[row]).sum())
                .sum();
            1.0 / share_square_sum
        };
        (0..couplings).map(wheel_count).sum::<f32>().max(1.0)
    }
}

impl WheelRows {
    /// Sets up wheels without brakes that stick to a mass of 1 / `compliance` kg each, which moves at `speed` m/s: a very stiff longitudinal tyre row
    /// without friction limit, and no lateral row.
    fn set_rigid_contact(&mut self, speed: F32x4, compliance: f32) {
        let (zero, compliance) = (F32x4::default(), F32x4::splat(compliance));
        self.solution.effective_mass = EffectiveMass { speed: [speed, zero], compliance: [compliance, zero, zero] };
        self.tyre.gain = [F32x4::splat(CONTACT_STIFFNESS_RATIO) / compliance, zero];
        (self.tyre.target_impulse, self.tyre.locking_capacity) = ([zero; 2], zero);
        self.solution.friction_bound = [F32x4::splat(f32::MAX); 2];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly::drivetrain::traction_limits::tests::motor;
    use crate::drivetrain::engine::{Curve, Engine, Gearbox};
    use crate::drivetrain::launch_device::{Clutch, LaunchDevice};
    use crate::drivetrain::parameters::{EngineDrive, Powertrain};
    use crate::ground::scene::Scene;
    use crate::model::{Model, plain::plain_car};
    use crate::state::{Placement, State};
    use skidpad_simd::lane::Mask32x4;

    const DT_S: f32 = 0.01;

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
            rolling(torques.clone(), 0.0).drive_rolling(&controls, DT_S, &mut forces);
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
        let (speed, engine_speed, ratio) = (6.0, 300.0, 12.0f32);
        let engine = Engine {
            torque: Curve::new(vec![[100.0, 200.0], [600.0, 200.0]]).expect("valid"),
            drag: [0.0; 2],
            idle_speed: 80.0,
            limiter_speed: 700.0,
            inertia: 0.2,
            throttle_map: None,
            stall_speed: 0.0,
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
            cvt: None,
        };
        let launch_device = LaunchDevice::Clutch(Clutch { capacity: 1e6, engaged_speed: 150.0 });
        let drive = EngineDrive { engine, launch_device, gearbox, torque_shares: [0.0, 0.0, 0.5, 0.5].into() };
        let mut car = rolling(Powertrain::Engine(Box::new(drive)), speed);
        (car.state.drive.gear, car.state.drive.engine_speed) = (1, engine_speed);
        let mut forces = [0.0; 4];
        let controls = Controls { throttle: 1.0, gear: Some(1), clutch: Some(0.0), ..Controls::default() };
        car.drive_rolling(&controls, DT_S, &mut forces);
        let speed_difference = engine_speed + 200.0 * DT_S / 0.2 - ratio * speed / 0.3;
        let impulse = speed_difference / (1.0 / 0.2 + ratio * ratio / (2.0 + 1200.0 * 0.3 * 0.3));
        let expected = 0.5 * ratio * impulse / (0.3 * DT_S);
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
        let spin_gain = 9.0 * 300.0 * DT_S / (1.0 + 81.0 * 0.05 + 1200.0 * 0.3 * 0.3);
        let expected = 300.0 * DT_S - 0.05 * 9.0 * spin_gain;
        let controls = Controls { throttle: 1.0, ..Controls::default() };
        for last_torque in [0.0, 250.0, expected / DT_S, 400.0, -300.0] {
            car.state.drive.motors[0] = last_torque;
            car.store_start_state::<ManyGroups>();
            car.apply_pedals::<ManyGroups>(
                &controls,
                &DriverDemand::from_controls(&controls, &car.model.parts().steering),
                DT_S,
            );
            car.set_rigid_contacts();
            car.rows[0].tyre.active = !Mask32x4::default();
            car.solve_shafts::<ManyGroups>();
            let found = car.shafts.constraints[0].impulse;
            // Same tolerance as for the closed clutch.
            assert!(
                (found - expected).abs() <= 1e-4 * expected,
                "{found} instead of {expected} N m s after {last_torque} N m"
            );
        }
    }
}
