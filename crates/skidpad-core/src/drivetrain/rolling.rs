//! The drivetrain alone, behind wheels that roll as the car moves.

use crate::assists::DriverDemand;
use crate::banks::Many;
use crate::controls::Controls;
use crate::lane::{Four, Lane};
use crate::step::rows::{EffectiveMass, Rows};
use crate::step::vehicle::Vehicle;

/// How much stiffer than the car is heavy the contact of a rolling wheel is; the rest is what slips.
const RIGID: f32 = 1e6;

impl Vehicle {
    /// Pedals to forces at the contact of every wheel, N, positive drives forward, through engine, gearbox and motors but without
    /// assists, brakes and raw inputs, in a step of `dt` s. The drivetrain's state goes on; wheels and chassis stay.
    ///
    /// Where wheels with shares s of a shaft push one mass, each has Σ s² of it: then the shaft feels all of it. Several shafts
    /// that push it share it, too.
    pub fn drive_rolling(&mut self, controls: &Controls, dt: f32, forces: &mut [f32]) {
        let Controls { throttle, brake, clutch, gear, starter, .. } = *controls;
        let pedals = Controls { throttle, brake, clutch, gear, starter, ..Controls::default() };
        self.begin::<Many>();
        self.drive::<Many>(&pedals, &DriverDemand::of(&pedals, &self.model.parts().steering), dt);
        let compliance = self.model.inverse_mass() * self.driven_wheels();
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            rows.roll(bank.radius * bank.gather(|i| self.state.wheels[i].spin), compliance);
        }
        self.roll_shafts();
        for (bank, rows) in self.model.banks().iter().zip(&self.rows) {
            let force = ((rows.drive.motor + rows.drive.shaft) / (bank.radius * Four::splat(dt))).lanes();
            bank.each(|k, i| forces[i] = force[k]);
        }
        self.shafts.write_back(&mut self.state.drive, &self.model, &self.rows);
    }

    /// Wheels that engine and motors drive, counted by their shares of each shaft.
    fn driven_wheels(&self) -> f32 {
        let [_, couplings] = self.shafts.first_rows(&self.model);
        let counted = |row: usize| {
            let squares: f32 =
                self.model.banks().iter().map(|bank| (bank.jacobian[row] * bank.jacobian[row]).sum()).sum();
            1.0 / squares
        };
        (0..couplings).map(counted).sum::<f32>().max(1.0)
    }
}

impl Rows {
    /// Wheels that stick to a mass of 1 / `compliance` kg each, which moves at `speed`, and have no brake.
    fn roll(&mut self, speed: Four, compliance: f32) {
        let (zero, compliance) = (Four::default(), Four::splat(compliance));
        self.coupled.effective_mass = EffectiveMass { speed: [speed, zero], compliance: [compliance, zero, zero] };
        self.patch.gain = [Four::splat(RIGID) / compliance, zero];
        (self.patch.target_impulse, self.patch.locking_capacity) = ([zero; 2], zero);
        self.coupled.friction_bound = [Four::splat(f32::MAX); 2];
    }
}
