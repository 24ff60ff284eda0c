//! Clutches of cars abreast.

use crate::drivetrain::constraints::{DriveConstraint, at_wheels, held, settles, torque_ratio};
use crate::lane::{Four, Octet};
use crate::step::abreast::each::{ABREAST, NO_CHANGE};
use crate::step::coupling::Within;
use crate::step::vehicle::Vehicle;

/// Clutches of cars abreast: see [`DriveConstraint`].
pub(crate) struct Clutches<W: Octet> {
    ratio: W,
    torque_ratios: [W; 2],
    per_impulse: W,
    target_impulse: W,
    bounds: [W; 2],
    settled: [W; 2],
    impulse: W,
    /// Those that have yet to settle.
    unsettled: W::Mask,
}

impl<W: Octet> Clutches<W> {
    /// Those of `vehicles` that are to settle.
    #[inline(always)]
    pub fn of(vehicles: &[Vehicle; ABREAST], unsettled: W::Mask) -> Self {
        let row = |car: usize| &vehicles[car].shafts.constraints[0];
        let [ratio, against, along, per_impulse] = W::columns(|car| {
            let DriveConstraint { ratio, torque_ratios: [against, along], per_impulse, .. } = *row(car);
            Four::new([ratio, against, along, per_impulse])
        });
        let [target_impulse, least, most, impulse] = W::columns(|car| {
            let DriveConstraint { target_impulse, bounds: [least, most], impulse, .. } = *row(car);
            Four::new([target_impulse, least, most, impulse])
        });
        let settled = [W::of_each(|car| row(car).settled[0]), W::of_each(|car| row(car).settled[1])];
        Self {
            ratio,
            torque_ratios: [against, along],
            per_impulse,
            target_impulse,
            bounds: [least, most],
            settled,
            impulse,
            unsettled,
        }
    }

    /// As [`crate::drivetrain::rows::Shafts::clutch_pass`] of each.
    #[inline(always)]
    pub fn pass(&mut self, vehicles: &mut [Vehicle; ABREAST], [shaft_speed, answer]: [W; 2]) -> (W, bool) {
        let before = self.impulse;
        let speed = shaft_speed * self.ratio;
        let answer = answer * (self.ratio * torque_ratio(self.torque_ratios, before));
        let law = [self.per_impulse, W::splat(1.0), self.target_impulse];
        let (mut after, holds) = held(law, self.bounds, before, [speed, answer]);
        let slips = self.unsettled & !holds;
        if W::any(slips) {
            after = slipping(vehicles, slips, [after, before, speed, answer]);
        }
        let change = at_wheels(self.torque_ratios, after) - at_wheels(self.torque_ratios, before);
        let change = W::select(self.unsettled, change, W::splat(NO_CHANGE));
        self.impulse = W::select(self.unsettled, after, before);
        self.unsettled = self.unsettled & !settles(self.settled, [before, after], Within::NearCone);
        (change, !W::any(self.unsettled))
    }

    /// Tells `vehicles` what their clutches carry; returns those that have not settled.
    #[inline(always)]
    pub fn write_back(&self, vehicles: &mut [Vehicle; ABREAST]) -> W::Mask {
        for (vehicle, impulse) in vehicles.iter_mut().zip(self.impulse.in_lanes()) {
            vehicle.shafts.constraints[0].impulse = impulse;
        }
        self.unsettled
    }
}

/// Impulses of clutches of which some begin or cease to slip.
#[cold]
#[inline(never)]
fn slipping<W: Octet>(vehicles: &mut [Vehicle; ABREAST], slips: W::Mask, [after, before, speed, answer]: [W; 4]) -> W {
    let bits = W::bits(slips);
    let mut impulses = after.in_lanes();
    for (car, (vehicle, impulse)) in vehicles.iter_mut().zip(&mut impulses).enumerate() {
        if bits & (1 << car) != 0 {
            vehicle.shafts.constraints[0].impulse = before.car(car);
            *impulse = vehicle.shafts.slipping(speed.car(car), answer.car(car));
        }
    }
    W::of_lanes(impulses)
}
