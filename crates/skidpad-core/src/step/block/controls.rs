//! Driver inputs of the cars of a block.

use crate::assembly::drivetrain::controls_to_torque::clutch_engagement;
use crate::controls::{Controls, clamp_or_zero};
use skidpad_simd::lane::BlockLanes;

/// Number in the place of a gear that stands for an automatic gearbox; no gear has it.
pub(crate) const AUTOMATIC_GEAR: f32 = 1000.0;

/// Driver inputs of the cars of a block; fields as in [`Controls`]. Values outside their range are clamped by the step;
/// values that are not finite count as 0. Raw inputs of wheels and cruise control are not supported.
#[derive(Clone, Copy, Debug)]
pub struct BlockControls<W: BlockLanes> {
    /// Accelerator, 0 to 1.
    pub throttle: W,
    /// Foot brake, 0 to 1.
    pub brake: W,
    /// Handbrake, 0 to 1.
    pub handbrake: W,
    /// Mean road-wheel angle of a steered axle with ratio 1, rad, positive to the left.
    pub steer: W,
    /// Requested gear, or [`AUTOMATIC_GEAR`].
    pub(crate) gear: W,
    /// Engagement of a clutch with a pedal, 0 (pressed) to 1.
    pub(crate) engagement: W,
    /// Bits of the cars with a clutch pedal.
    pub(crate) has_pedal: u32,
    /// Bits of the cars whose starter turns the engine.
    pub(crate) starter: u32,
    /// Share of the rate of active anti-roll bars, 0 to 1.
    pub(crate) bar_share: W,
}

impl<W: BlockLanes> Default for BlockControls<W> {
    /// Returns the default of [`Controls`] for every car: no pedal pressed, automatic gears, no clutch pedal, starter
    /// off, anti-roll bars at their full rate.
    fn default() -> Self {
        Self {
            throttle: W::default(),
            brake: W::default(),
            handbrake: W::default(),
            steer: W::default(),
            gear: W::splat(AUTOMATIC_GEAR),
            engagement: W::default(),
            has_pedal: 0,
            starter: 0,
            bar_share: W::splat(1.0),
        }
    }
}

impl<W: BlockLanes> BlockControls<W> {
    /// Returns the requested gear of `car`; `None`: automatic.
    pub fn requested_gear(&self, car: usize) -> Option<i8> {
        let gear = self.gear.number(car);
        // Gears are whole numbers of 8 bits.
        (gear != AUTOMATIC_GEAR).then_some(gear as i8)
    }

    /// Copies the inputs of `car` from `controls`. Pedals and steering are stored as they are and clamped by the step.
    /// No gear becomes `AUTOMATIC_GEAR`, the clutch pedal becomes an engagement, and the share of active bars is
    /// clamped (1 without a demand). Raw inputs of wheels and the speed of cruise control are ignored.
    pub fn set_car(&mut self, car: usize, controls: &Controls) {
        let set = |lanes: &mut W, number: f32| *lanes = lanes.with_number(car, number);
        let set_bit = |bits: &mut u32, value: bool| *bits = (*bits & !(1 << car)) | (u32::from(value) << car);
        set(&mut self.throttle, controls.throttle);
        set(&mut self.brake, controls.brake);
        set(&mut self.handbrake, controls.handbrake);
        set(&mut self.steer, controls.steer);
        set(&mut self.gear, controls.gear.map_or(AUTOMATIC_GEAR, f32::from));
        set(&mut self.engagement, controls.clutch.map_or(0.0, clutch_engagement));
        set_bit(&mut self.has_pedal, controls.clutch.is_some());
        set_bit(&mut self.starter, controls.starter);
        set(&mut self.bar_share, controls.bars.map_or(1.0, |share| clamp_or_zero(share, 0.0, 1.0)));
    }

    /// Writes the inputs of `car` into `controls`, with the meaning of [`BlockControls::set_car`]. The clutch pedal is
    /// `1 − engagement`, cruise control is off, and raw inputs of wheels in `controls` stay as they are.
    pub fn write_car(&self, car: usize, controls: &mut Controls) {
        let has_bit = |bits: u32| bits & (1 << car) != 0;
        controls.throttle = self.throttle.number(car);
        controls.brake = self.brake.number(car);
        controls.handbrake = self.handbrake.number(car);
        controls.steer = self.steer.number(car);
        controls.gear = self.requested_gear(car);
        controls.clutch = has_bit(self.has_pedal).then(|| 1.0 - self.engagement.number(car));
        controls.starter = has_bit(self.starter);
        controls.bars = Some(self.bar_share.number(car));
        controls.cruise = None;
    }
}
