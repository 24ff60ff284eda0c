//! Engines and clutches of a batch of cars.

use crate::controls::Controls;
use crate::drivetrain::clutch::settle_clutches;
use crate::drivetrain::constraints::{ClutchRow, DriveConstraint, Flywheel, at_wheels, held, settles, torque_ratio};
use crate::drivetrain::converter::{Clutch, LaunchDevice};
use crate::drivetrain::crank::Asked;
use crate::drivetrain::drive::engaged_by;
use crate::drivetrain::parameters::EngineDrive;
use crate::lane::{Four, Octet};
use crate::model::Model;
use crate::step::abreast::each::{ABREAST, NO_CHANGE};
use crate::step::coupling::Within;
use crate::step::rows::Rows;
use crate::step::vehicle::Vehicle;
use crate::wheel::pack::WheelPack;

/// Returns the engine and the clutch of `model` if the clutch is the only link between spins; otherwise `None`.
fn clutch_of(model: &Model) -> Option<(&EngineDrive, &Clutch)> {
    let parts = model.parts();
    let drive = parts.powertrain.engine()?;
    match &drive.launch_device {
        LaunchDevice::Clutch(clutch) if parts.motors.is_empty() && parts.couplings.is_empty() => Some((drive, clutch)),
        _ => None,
    }
}

/// Inputs of the drivers of a batch.
pub(crate) struct Drivers<'a, W> {
    pub controls: &'a [&'a Controls; ABREAST],
    /// Whether the step of each car has begun.
    pub begun: &'a [bool; ABREAST],
    /// Throttle, 0 to 1.
    pub throttle: W,
}

/// Running engines of a batch of cars whose only link between spins is a clutch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Engines<W> {
    /// Whether this step uses these engines; otherwise each car has its own.
    pub are_abreast: bool,
    flywheel: Flywheel<W>,
    clutch: ClutchRow<W>,
    /// Impulse of each clutch at the start of the step (N m s).
    began: W,
}

impl<W: Octet> Engines<W> {
    /// Begins the step of `vehicles`, as [`Vehicle::begin_shafts`]. `shaft_speed` is the speed of the shafts (rad/s).
    /// Returns the initial impulses of the clutches on these shafts (N m s). Returns `None` if an engine is dead or
    /// being started, or if there are other links between spins.
    #[inline(always)]
    pub fn begin(
        &mut self,
        model: &Model,
        vehicles: &mut [Vehicle; ABREAST],
        drivers: &Drivers<'_, W>,
        shaft_speed: W,
        dt: f32,
    ) -> Option<W> {
        self.are_abreast = false;
        let (drive, clutch) = clutch_of(model)?;
        let started = W::of_each(|car| vehicles[car].state.drive.engine_speed);
        let any_started = drivers.controls.iter().fold(false, |any, controls| any | controls.starter);
        if any_started || W::any(drive.engine.is_dead(started)) {
            return None;
        }
        let (asked, speeds) = (drivers.throttle.in_lanes(), shaft_speed.in_lanes());
        let [mut throttle, mut ratio, mut capacity, mut carried] = [[0.0; ABREAST]; 4];
        let (mut pedals, mut has_pedal) = ([0.0; ABREAST], [false; ABREAST]);
        for (car, vehicle) in vehicles.iter_mut().enumerate().filter(|(car, _)| drivers.begun[*car]) {
            let (state, controls, moved) = (&mut vehicle.state, drivers.controls[car], (model, vehicle.towed_mass));
            state.change_gear(drive, moved, [asked[car], speeds[car]], controls.gear, dt);
            let state = &state.drive;
            throttle[car] = state.opened(&drive.engine, asked[car]);
            ratio[car] = drive.gearbox.ratio_at(state.gear, state.ratio);
            capacity[car] = if state.is_between_gears() { 0.0 } else { clutch.capacity };
            carried[car] = state.clutch;
            if let Some(pedal) = controls.clutch {
                (pedals[car], has_pedal[car]) = (engaged_by(pedal), true);
            }
        }
        let full_load = drive.engine.torque.at_each(started);
        let asked = Asked { throttle: W::of_lanes(throttle), full_load, starter: W::Mask::default() };
        let speed = drive.engine.turned(started, &asked, dt);
        let mut engaged = clutch.engaged_at(speed, &drive.engine, dt);
        if has_pedal.contains(&true) {
            engaged = W::of_each(|car| if has_pedal[car] { pedals[car] } else { engaged.car(car) });
        }
        let step = W::splat(dt);
        let limits = [W::of_lanes(capacity) * engaged * step, W::of_lanes(carried) * step];
        self.are_abreast = true;
        self.flywheel = Flywheel::of(&drive.engine, [started, speed], dt);
        self.clutch = ClutchRow::of(&self.flywheel, W::of_lanes(ratio), drive.gearbox.efficiency, limits);
        self.began = self.clutch.impulse;
        Some(at_wheels(self.clutch.torque_ratios, self.began))
    }

    /// Returns the clutches to solve, without those of the cars that are stepped `alone`.
    #[inline(always)]
    pub fn clutches(&self, alone: &[bool; ABREAST]) -> Clutches<'_, W> {
        let mut unsettled = W::splat(0.0).less(self.clutch.bounds[1]);
        if alone.contains(&true) {
            unsettled = unsettled & W::of_each(|car| if alone[car] { 1.0 } else { 0.0 }).less(W::splat(1.0));
        }
        Clutches { row: self.clutch, engines: Some(self), unsettled }
    }

    /// Stores the `impulse` of each clutch (N m s).
    #[inline(always)]
    pub fn carry(&mut self, impulse: W) {
        self.clutch.impulse = impulse;
    }

    /// Returns the speeds of the engines at the end of the step (rad/s) and the torques of the clutches (N m).
    #[inline(always)]
    pub fn ended(&self, dt: f32) -> [[f32; ABREAST]; 2] {
        let (flywheel, impulse) = (&self.flywheel, self.clutch.impulse);
        let speed = flywheel.dragged(flywheel.speed - impulse * flywheel.inverse_inertia);
        [speed.in_lanes(), (impulse / W::splat(dt)).in_lanes()]
    }

    /// Returns the flywheel of car `car`; `None` if each car has its own engine.
    pub fn flywheel(&self, car: usize) -> Option<Flywheel> {
        let Flywheel { started, speed, inverse_inertia, dry_drag, bounds } = self.flywheel;
        self.are_abreast.then(|| Flywheel {
            started: started.car(car),
            speed: speed.car(car),
            inverse_inertia: inverse_inertia.car(car),
            dry_drag: dry_drag.car(car),
            bounds: bounds.map(|bound| bound.car(car)),
        })
    }

    /// Copies engine and clutch of car `car`, as at the start of the step, into `vehicle`, which is stepped alone.
    /// Returns the initial impulse of the clutch on the shaft (N m s).
    pub fn hand_over(&self, vehicle: &mut Vehicle, car: usize, dt: f32) -> f32 {
        self.put(vehicle, car, self.began.car(car), dt);
        let clutch = &vehicle.shafts.constraints[0];
        clutch.at_wheels(clutch.impulse)
    }

    /// Copies engine and clutch of car `car` into `vehicle`, with the clutch `impulse` (N m s).
    fn put(&self, vehicle: &mut Vehicle, car: usize, impulse: f32, dt: f32) {
        let Some(flywheel) = self.flywheel(car) else { return };
        let ClutchRow { ratio, torque_ratios, per_impulse, target_impulse, bounds, settled, .. } = self.clutch;
        let one = |of: [W; 2]| of.map(|of| of.car(car));
        let row = ClutchRow {
            ratio: ratio.car(car),
            torque_ratios: one(torque_ratios),
            per_impulse: per_impulse.car(car),
            target_impulse: target_impulse.car(car),
            bounds: one(bounds),
            settled: one(settled),
            impulse,
        };
        vehicle.shafts.begin(Default::default(), &vehicle.model, dt);
        vehicle.shafts.engage(flywheel, row.into());
    }
}

/// Clutches of a batch of cars during their solve.
pub(crate) struct Clutches<'a, W: Octet> {
    row: ClutchRow<W>,
    /// Engines of the clutches; `None` if each car has its own.
    engines: Option<&'a Engines<W>>,
    /// Mask of the clutches that have not settled.
    unsettled: W::Mask,
}

impl<W: Octet> Clutches<'_, W> {
    /// Collects the clutches of `vehicles`; `unsettled` is the mask of those to solve.
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
        let (torque_ratios, bounds) = ([against, along], [least, most]);
        let row = ClutchRow { ratio, torque_ratios, per_impulse, target_impulse, bounds, settled, impulse };
        Self { row, engines: None, unsettled }
    }

    /// Solves the clutches in a step of `dt` s. Returns their impulses (N m s), and the mask of those that have not
    /// settled.
    #[inline(always)]
    pub fn settle(
        mut self,
        vehicles: &mut [Vehicle; ABREAST],
        (packs, rows): (&[WheelPack<W>], &mut [Rows<W>]),
        dt: f32,
    ) -> (W, W::Mask) {
        if W::any(self.unsettled) {
            settle_clutches(
                packs,
                rows,
                #[inline(always)]
                |measured| self.pass(vehicles, measured, dt),
            );
        }
        (self.row.impulse, self.unsettled)
    }

    /// Performs one pass on all clutches in a step of `dt` s, as [`crate::drivetrain::rows::Shafts::clutch_pass`].
    /// Returns the change of the impulses on the wheels' shafts (N m s), and whether all clutches have settled.
    #[inline(always)]
    fn pass(&mut self, vehicles: &mut [Vehicle; ABREAST], [shaft_speed, answer]: [W; 2], dt: f32) -> (W, bool) {
        let row = &mut self.row;
        let before = row.impulse;
        let speed = shaft_speed * row.ratio;
        let answer = answer * (row.ratio * torque_ratio(row.torque_ratios, before));
        let law = [row.per_impulse, W::splat(1.0), row.target_impulse];
        let (mut after, holds) = held(law, row.bounds, before, [speed, answer]);
        let slips = self.unsettled & !holds;
        if W::any(slips) {
            after = slipping(vehicles, self.engines, slips, [after, before, speed, answer], dt);
        }
        let change = at_wheels(row.torque_ratios, after) - at_wheels(row.torque_ratios, before);
        let change = W::select(self.unsettled, change, W::splat(NO_CHANGE));
        row.impulse = W::select(self.unsettled, after, before);
        self.unsettled = self.unsettled & !settles(row.settled, [before, after], Within::NearCone);
        (change, !W::any(self.unsettled))
    }
}

/// Returns the impulses of clutches, of which those in `slips` begin or cease to slip.
#[cold]
#[inline(never)]
fn slipping<W: Octet>(
    vehicles: &mut [Vehicle; ABREAST],
    engines: Option<&Engines<W>>,
    slips: W::Mask,
    [after, before, speed, answer]: [W; 4],
    dt: f32,
) -> W {
    let bits = W::bits(slips);
    let mut impulses = after.in_lanes();
    for (car, (vehicle, impulse)) in vehicles.iter_mut().zip(&mut impulses).enumerate() {
        if bits & (1 << car) != 0 {
            match engines {
                Some(engines) => engines.put(vehicle, car, before.car(car), dt),
                None => vehicle.shafts.constraints[0].impulse = before.car(car),
            }
            vehicle.shafts.within = Within::NearCone;
            *impulse = vehicle.shafts.slipping(speed.car(car), answer.car(car));
        }
    }
    W::of_lanes(impulses)
}
