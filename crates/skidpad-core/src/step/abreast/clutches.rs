//! Engines and clutches of cars abreast.

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

/// Of cars of `model`, if all that there is between their spins is the clutch of an engine.
fn clutch_of(model: &Model) -> Option<(&EngineDrive, &Clutch)> {
    let parts = model.parts();
    let drive = parts.powertrain.engine()?;
    match &drive.launch_device {
        LaunchDevice::Clutch(clutch) if parts.motors.is_empty() && parts.couplings.is_empty() => Some((drive, clutch)),
        _ => None,
    }
}

/// Those who drive cars abreast.
pub(crate) struct Drivers<'a, W> {
    pub controls: &'a [&'a Controls; ABREAST],
    /// Of which cars the step has begun.
    pub begun: &'a [bool; ABREAST],
    /// 0 to 1.
    pub throttle: W,
}

/// Running engines of cars abreast with nothing but clutches behind them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Engines<W> {
    /// Whether the engines of this step are these; else each car has its own.
    pub are_abreast: bool,
    flywheel: Flywheel<W>,
    clutch: ClutchRow<W>,
    /// What each clutch carried as the step began, N m s.
    began: W,
}

impl<W: Octet> Engines<W> {
    /// Begins the step of `vehicles`, as [`Vehicle::begin_shafts`] does; returns what their clutches begin to give shafts that turn with
    /// `shaft_speed` rad/s, N m s. `None` where one is dead or started, or there is something else between spins.
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

    /// Clutches that are to be solved, but for those of cars that go `alone`.
    #[inline(always)]
    pub fn clutches(&self, alone: &[bool; ABREAST]) -> Clutches<'_, W> {
        let mut unsettled = W::splat(0.0).less(self.clutch.bounds[1]);
        if alone.contains(&true) {
            unsettled = unsettled & W::of_each(|car| if alone[car] { 1.0 } else { 0.0 }).less(W::splat(1.0));
        }
        Clutches { row: self.clutch, engines: Some(self), unsettled }
    }

    /// Takes over what they carry.
    #[inline(always)]
    pub fn carry(&mut self, impulse: W) {
        self.clutch.impulse = impulse;
    }

    /// Speeds that engines end with, rad/s, and what clutches have carried, N m.
    #[inline(always)]
    pub fn ended(&self, dt: f32) -> [[f32; ABREAST]; 2] {
        let (flywheel, impulse) = (&self.flywheel, self.clutch.impulse);
        let speed = flywheel.dragged(flywheel.speed - impulse * flywheel.inverse_inertia);
        [speed.in_lanes(), (impulse / W::splat(dt)).in_lanes()]
    }

    /// The flywheel of car `car`; `None` where that has its own.
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

    /// Hands its engine over to car `car`, which goes alone, as the step began; returns what its clutch gave the shaft then, N m s.
    pub fn hand_over(&self, vehicle: &mut Vehicle, car: usize, dt: f32) -> f32 {
        self.put(vehicle, car, self.began.car(car), dt);
        let clutch = &vehicle.shafts.constraints[0];
        clutch.at_wheels(clutch.impulse)
    }

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

/// Clutches of cars abreast while they are solved.
pub(crate) struct Clutches<'a, W: Octet> {
    row: ClutchRow<W>,
    /// What they are of, unless each car has its own.
    engines: Option<&'a Engines<W>>,
    /// Those that have yet to settle.
    unsettled: W::Mask,
}

impl<W: Octet> Clutches<'_, W> {
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
        let (torque_ratios, bounds) = ([against, along], [least, most]);
        let row = ClutchRow { ratio, torque_ratios, per_impulse, target_impulse, bounds, settled, impulse };
        Self { row, engines: None, unsettled }
    }

    /// Solves them; returns what they carry, N m s, and which have not settled.
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

    /// As [`crate::drivetrain::rows::Shafts::clutch_pass`] of each, in a step of `dt` s.
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

/// Impulses of clutches of which some begin or cease to slip.
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
