//! A step of several plain cars of one model abreast, a wheel of each in a lane: one sweep, with the bits of each alone.
//!
//! Steering, gears and engine are done car by car. A car that does what few do in the same step (a wheel hangs; loads, shafts or stiff tyres need more looks) goes on alone from there.

use crate::aero::air::air;
use crate::assists::DriverDemand;
use crate::assists::parameters::AntiLock;
use crate::banks::{Banks, Many, One};
use crate::constants::MAX_WHEELS;
use crate::controls::{Controls, all_bounded};
use crate::drivetrain::clutch::settle_clutches;
use crate::drivetrain::drive::turning;
use crate::lane::{Four, Lane, Octet, both};
use crate::linear::{OuterProducts, SpatialVector};
use crate::model::Model;
use crate::steering::steered;
use crate::step::abreast::clutches::{Clutches, Drivers};
use crate::step::abreast::each::{self, ABREAST, met, moves};
use crate::step::abreast::room::Room;
use crate::step::abreast::shafts::go_on_abreast;
use crate::step::coupling::{Coupling, StepReport, Within};
use crate::step::rows::{Begun, Rows};
use crate::step::stages::{InputsAbreast, Stages, StepInputs, Velocities, Wheels};
use crate::step::sweep::{SWEPT_ONCE, sweep_once};
use crate::step::take;
use crate::step::vehicle::{Vehicle, response, wheel_impulses};
use crate::suspension::axle_links::{Bars, load_bars, sum_bars};
use crate::suspension::loads::{SHORTER, settle};
use crate::suspension::rows::Loaded;
use crate::vectors::Vec3Lanes;
use crate::wheel::pack::WheelPack;
use crate::world::seam::{Body, Contact, Push};
use bevy_math::Vec3;

/// Cars that may go alone in a step: with more, all are slower abreast than one by one.
const MOST_ALONE: usize = 2;

/// Steps that cars go one by one, at most, until they try to go abreast again: one, and twice as many whenever it turns out too early.
const LONGEST_APART: u8 = 64;

/// Solves the step of the `vehicles` of a room.
pub(crate) fn solve<W: Octet>(
    room: &mut Room<W>,
    vehicles: &mut [Vehicle; ABREAST],
    &InputsAbreast { bodies, contacts, controls, dt }: &InputsAbreast<'_>,
    pushes: &mut [Push; ABREAST],
    reports: &mut [StepReport],
) -> StepReport {
    let (Some(bodies), Some(controls)) = (bodies.first_chunk(), controls.first_chunk()) else {
        return StepReport::default();
    };
    room.pose_lag = bodies[0].pose_lag;
    for (alone, (controls, body)) in room.alone.iter_mut().zip(controls.iter().zip(bodies)) {
        *alone |= !controls.wheels.is_empty() | (body.pose_lag != room.pose_lag);
    }
    let wheels = room.wheels;
    let (begun, pedals, asked) = ([false; ABREAST], [W::default(); 3], [None; ABREAST]);
    let mut cars = CarsInStep { room, vehicles, bodies, contacts, controls, begun, pedals, asked, pushes, dt };
    W::widest(
        #[inline(always)]
        || match wheels {
            4 => take::<One, _>(&mut cars),
            _ => take::<Many, _>(&mut cars),
        },
    );
    cars.end(reports)
}

/// Cars abreast in a step.
struct CarsInStep<'a, W: Octet> {
    room: &'a mut Room<W>,
    vehicles: &'a mut [Vehicle; ABREAST],
    bodies: &'a [Body; ABREAST],
    /// Wheel by wheel, car by car.
    contacts: &'a [Option<Contact>],
    controls: &'a [&'a Controls; ABREAST],
    /// Whose step has begun.
    begun: [bool; ABREAST],
    /// What drivers ask of the throttle, of foot brake and handbrake.
    pedals: [W; 3],
    /// All that drivers ask for, where assists look at it.
    asked: [Option<DriverDemand>; ABREAST],
    pushes: &'a mut [Push; ABREAST],
    /// s, > 0
    dt: f32,
}

impl<B: Banks, W: Octet> Wheels<B> for CarsInStep<'_, W> {
    type Lanes = W;

    const LOAD_SOLVES: usize = SHORTER;

    #[inline(always)]
    fn model(&self) -> &Model {
        &self.room.model
    }

    #[inline(always)]
    fn packs(&mut self) -> impl Iterator<Item = (&WheelPack<W>, &mut Rows<W>)> {
        self.room.wheels::<B>()
    }

    #[inline(always)]
    fn rows(&self) -> &[Rows<W>] {
        self.room.rows::<B>()
    }

    #[inline(always)]
    fn load_axle_links(&mut self) {
        if self.room.model.has_axle_links() {
            let (_, rows) = self.room.lanes::<B>();
            for rows in rows.chunks_exact_mut(W::ROWS) {
                load_bars(rows);
            }
        }
    }

    #[inline(always)]
    fn add_axle_links(&self, products: &mut OuterProducts<W>, warm: SpatialVector<W>) -> SpatialVector<W> {
        let mut given = Wheels::<B>::beside(self);
        if self.room.model.has_axle_links() {
            for rows in self.room.rows::<B>().chunks_exact(W::ROWS) {
                given = given + Bars::of(rows, warm).add_to(products);
            }
        }
        given
    }

    #[inline(always)]
    fn is_slanted(&self) -> bool {
        false
    }

    #[inline(always)]
    fn solve_shafts(&mut self) {
        if self.room.engines.are_abreast {
            let Room { engines, alone, packs, rows, .. } = &mut *self.room;
            let lanes = B::wheels(rows.len());
            let wheels = (&packs[..lanes], &mut rows[..lanes]);
            let (impulse, left) = settle_abreast(engines.clutches(alone), self.vehicles, wheels, self.dt);
            engines.carry(impulse);
            self.leave(left);
            return;
        }
        let (mut unsettled, mut has_rows) = ([0.0; ABREAST], [false; ABREAST]);
        for (car, vehicle) in self.vehicles.iter_mut().enumerate() {
            vehicle.shafts.within = Within::NearCone;
            vehicle.hull.clear();
            let is_idle = vehicle.shafts.are_open() | self.room.alone[car];
            let is_clutch = vehicle.shafts.is_clutch();
            has_rows[car] = !(is_idle | is_clutch);
            unsettled[car] = if is_idle | !is_clutch { 0.0 } else { 1.0 };
        }
        if has_rows.contains(&true) {
            self.go_on(has_rows);
        }
        let unsettled = W::splat(0.0).less(W::of_lanes(unsettled));
        if !W::any(unsettled) {
            return;
        }
        let clutches = Clutches::of(self.vehicles, unsettled);
        let (impulse, left) = settle_abreast(clutches, self.vehicles, self.room.lanes::<B>(), self.dt);
        for (vehicle, impulse) in self.vehicles.iter_mut().zip(impulse.in_lanes()) {
            vehicle.shafts.constraints[0].impulse = impulse;
        }
        self.leave(left);
    }
}

impl<B: Banks, W: Octet> Stages<B> for CarsInStep<'_, W> {
    type Wheels = Self;

    #[inline(always)]
    fn wheels(&mut self) -> &mut Self {
        self
    }

    #[inline(always)]
    fn drive(&mut self) {
        let towards = self.press_pedals::<B>();
        self.drive_shafts::<B>(towards);
    }

    #[inline(always)]
    fn locate(&mut self) {
        let (wheels, chassis, dt) = (B::wheels(self.room.wheels), self.room.chassis, self.dt);
        for (alone, met) in self.room.alone.iter_mut().zip(self.contacts.chunks_exact(wheels)) {
            *alone |= moves(met);
        }
        let (turn, pose_lag) = (chassis.moving.angular * W::splat(dt), W::splat(self.room.pose_lag));
        let mut hangs = W::Mask::default();
        for (k, (bank, rows)) in self.room.wheels::<B>().enumerate() {
            let straight = rows.steering.straight_axle;
            rows.contact.axle = straight + turn.cross(straight);
            rows.touch(bank, &met(self.contacts, [k, wheels]), &chassis.to_vehicle);
            rows.move_over(chassis.moving, || chassis.free, pose_lag, dt);
            rows.recall_moments(bank, dt);
            rows.begin();
            hangs = hangs | !rows.contact.in_contact;
        }
        self.leave(hangs);
    }

    #[inline(always)]
    fn external(&mut self) -> SpatialVector<W> {
        let (model, in_air) = (&self.room.model, self.room.chassis.in_air);
        let mut factors = [W::splat(1.0); 3];
        if model.parts().aero.maps.is_some() {
            factors = each::air_factors(self.vehicles, in_air);
        }
        air(model, in_air, factors, self.dt)
    }

    #[inline(always)]
    fn free(&self) -> SpatialVector<W> {
        self.room.chassis.free
    }

    #[inline(always)]
    fn strut_rows(&mut self) {
        let dt = self.dt;
        for (bank, rows) in self.room.wheels::<B>() {
            rows.strut_step(bank, dt);
        }
        if self.room.model.has_axle_links() {
            let share = W::of_each(|car| self.controls[car].bar_share());
            let (packs, rows) = self.room.lanes::<B>();
            for (packs, rows) in packs.chunks_exact(W::ROWS).zip(rows.chunks_exact_mut(W::ROWS)) {
                sum_bars(packs, rows, share);
            }
            let mut lifted = W::Mask::default();
            for (bank, rows) in self.room.wheels::<B>() {
                lifted = lifted | rows.lifted(bank);
            }
            self.leave(lifted);
        }
    }

    #[inline(always)]
    fn load(&mut self, [_, warm]: [SpatialVector<W>; 2]) -> Loaded<W> {
        let dt = self.dt;
        let (velocity, settled) = settle::<B, _>(self, warm, dt);
        self.leave(!settled);
        Loaded { velocity, in_rows: true }
    }

    #[inline(never)]
    fn grip(&mut self) {
        W::called(
            #[inline(always)]
            || {
                let (wheels, model, dt) = (B::wheels(self.room.wheels), &self.room.model, self.dt);
                for (bank, rows) in self.room.packs[..wheels].iter().zip(&mut self.room.rows[..wheels]) {
                    rows.grip_row(bank, &model.parts().tyres, dt);
                }
            },
        );
    }

    #[inline(always)]
    fn assist(&mut self, loaded: SpatialVector<W>) {
        if let Some(anti_lock) = self.room.model.parts().assists.abs {
            let [_, pedal, _] = self.pedals;
            if W::any(W::splat(0.0).less(pedal)) {
                self.keep_from_locking(&anti_lock, pedal, loaded);
            }
        }
    }

    #[inline(never)]
    fn couple(&mut self, velocities: &Velocities<W>) -> StepReport {
        W::called(
            #[inline(always)]
            || {
                let stiff = sweep_once::<B, _>(self, velocities.loaded.velocity);
                if W::any(stiff) {
                    self.settle_stiff::<B>(stiff, velocities.free);
                }
            },
        );
        SWEPT_ONCE
    }

    /// Cars that end beyond numbers go on alone.
    #[inline(always)]
    fn push(&mut self, external: SpatialVector<W>) {
        let rows = self.room.rows::<B>();
        let given = external + Wheels::<B>::beside(self) + wheel_impulses(rows, true);
        let spins = rows.iter().fold(W::default(), |sum, rows| sum + rows.coupled.spin);
        let to_world = self.room.chassis.to_world;
        let (impulse, turn) = (to_world.times(given.linear), to_world.times(given.angular));
        let all = impulse + turn;
        let size = (all.x + all.y + all.z + spins).abs();
        self.leave(!size.less(W::splat(f32::INFINITY)));
        let first = W::rows([impulse.x, impulse.y, impulse.z, turn.x]);
        let last = W::rows([turn.y, turn.z, turn.y, turn.z]);
        for (push, (first, last)) in self.pushes.iter_mut().zip(first.into_iter().zip(last)) {
            let ([x, y, z, a], [b, c, ..]) = (first.lanes(), last.lanes());
            let (impulse, angular_impulse) = (Vec3::new(x, y, z), Vec3::new(a, b, c));
            *push = Push { impulse, angular_impulse, ..Push::default() };
        }
    }
}

impl<W: Octet> CarsInStep<'_, W> {
    /// Lets the cars of `mask` go on alone.
    #[inline(always)]
    fn leave(&mut self, mask: W::Mask) {
        let bits = W::bits(mask);
        if bits != 0 {
            for (car, alone) in self.room.alone.iter_mut().enumerate() {
                *alone |= bits & (1 << car) != 0;
            }
        }
    }

    /// What drivers ask of steering and pedals, and what that does to wheels; returns which way cars without an engine drive.
    #[inline(always)]
    fn press_pedals<B: Banks>(&mut self) -> [f32; ABREAST] {
        self.begun = self.room.alone.map(|alone| !alone);
        if self.room.model.parts().assists.change_demand() {
            self.steer_one_by_one();
        } else {
            self.steer();
        }
        self.turn_axles();
        let ([throttle, foot, hand], mut towards, dt) = (self.pedals, [0.0; ABREAST], self.dt);
        if !self.room.has_engine() {
            for (car, vehicle) in self.vehicles.iter_mut().enumerate().filter(|(car, _)| self.begun[*car]) {
                towards[car] = vehicle.direction_without_engine(self.controls[car]);
            }
        }
        let pull = throttle * W::of_lanes(towards);
        for (k, (bank, rows)) in self.room.wheels::<B>().enumerate() {
            rows.begun = Begun::of_cars(self.vehicles, k, !bank.laws.is_empty());
            let [motor, mut brake] = bank.pedal_torques([pull, foot, hand]);
            if let Some(discs) = &bank.discs {
                brake = brake * discs.share_at(W::of_each(|car| self.vehicles[car].state.wheels[k].disc));
            }
            rows.begin_drive(bank, [motor, brake], dt);
        }
        towards
    }

    /// Lets drivers steer.
    #[inline(always)]
    fn steer(&mut self) {
        let steering = &self.room.model.parts().steering;
        let [throttle, brake, handbrake, steer] = W::columns(|car| {
            let Controls { throttle, brake, handbrake, steer, .. } = *self.controls[car];
            Four::new([throttle, brake, handbrake, steer])
        });
        let pressed = |pedal: W| all_bounded(pedal, W::splat(0.0), W::splat(1.0));
        self.pedals = [pressed(throttle), pressed(brake), pressed(handbrake)];
        let (lock, from) = (W::splat(steering.lock), W::of_each(|car| self.vehicles[car].state.steer));
        let reached = steered(from, all_bounded(steer, -lock, lock), steering.rate * self.dt).in_lanes();
        let has_log = !self.room.model.assists().is_empty();
        for (car, vehicle) in self.vehicles.iter_mut().enumerate().filter(|(car, _)| self.begun[*car]) {
            vehicle.state.steer = reached[car];
            vehicle.turn_as_steered(self.controls[car]);
            if has_log {
                vehicle.clear_assist_log();
            }
        }
    }

    /// The same where assists look at what each asks for.
    #[inline(never)]
    fn steer_one_by_one(&mut self) {
        let mut pedals = [[0.0; ABREAST]; 3];
        for (car, vehicle) in self.vehicles.iter_mut().enumerate().filter(|(car, _)| self.begun[*car]) {
            let demand = vehicle.steer_as_asked(self.controls[car], self.dt);
            (pedals[0][car], pedals[1][car], pedals[2][car]) = (demand.throttle, demand.brake, demand.handbrake);
            self.asked[car] = Some(demand);
        }
        self.pedals = [W::of_lanes(pedals[0]), W::of_lanes(pedals[1]), W::of_lanes(pedals[2])];
    }

    /// What the driver of car `car` asks for.
    #[inline(always)]
    fn asked(&self, car: usize) -> DriverDemand {
        self.asked[car].unwrap_or_else(|| DriverDemand::of(self.controls[car], &self.room.model.parts().steering))
    }

    /// Engines, gears, and the rows between spins.
    #[inline(always)]
    fn drive_shafts<B: Banks>(&mut self, towards: [f32; ABREAST]) {
        let (has_engine, dt) = (self.room.has_engine(), self.dt);
        let (packs, rows) = self.room.lanes::<B>();
        let shaft = if has_engine { turning(packs, rows, 0, |rows| rows.begun.spin) } else { W::default() };
        let Room { engines, model, .. } = &mut *self.room;
        let drivers = Drivers { controls: self.controls, begun: &self.begun, throttle: self.pedals[0] };
        let begun = engines.begin(model, self.vehicles, &drivers, shaft, dt);
        let begun = begun.unwrap_or_else(|| self.begin_one_by_one(towards, shaft));
        if has_engine {
            for (bank, rows) in self.room.wheels::<B>() {
                rows.drive.shaft = bank.levers[0] * begun;
            }
        }
        let first = usize::from(has_engine);
        for k in 0..self.room.model.parts().motors.len() {
            let reduction = self.room.model.parts().motors[k].reduction;
            let (packs, rows) = self.room.lanes::<B>();
            let speed = turning(packs, rows, first + k, |rows| rows.begun.spin) * W::splat(reduction);
            for (vehicle, speed) in self.vehicles.iter_mut().zip(speed.in_lanes()) {
                vehicle.shafts.turned(k, speed);
            }
        }
    }

    /// Rows between spins of each car by itself, whose shafts turn with these speeds; what clutches and converters give them, N m s.
    #[inline(always)]
    fn begin_one_by_one(&mut self, towards: [f32; ABREAST], shaft_speed: W) -> W {
        let dt = self.dt;
        self.room.began = [[0.0; 2]; ABREAST];
        let full_load = self.full_loads();
        for car in 0..ABREAST {
            if self.begun[car] {
                let (asked, turned) = (self.asked(car), [shaft_speed.car(car), full_load[car]]);
                let vehicle = &mut self.vehicles[car];
                let shaft = vehicle.begin_shafts(self.controls[car], &asked, towards[car], turned, dt);
                self.room.began[car] = [vehicle.shafts.constraints[0].impulse, shaft];
            }
        }
        W::of_each(|car| self.room.began[car][1])
    }

    /// Torques that the engines have at full load, N m.
    #[inline(always)]
    fn full_loads(&self) -> [f32; ABREAST] {
        let Some(drive) = self.room.model.parts().powertrain.engine() else { return [0.0; ABREAST] };
        drive.engine.torque.at_each(W::of_each(|car| self.vehicles[car].state.drive.engine_speed)).in_lanes()
    }

    /// Takes over where axles point, if any has been turned.
    #[inline(always)]
    fn turn_axles(&mut self) {
        let mut are_turned = true;
        for (turned_to, vehicle) in self.room.turned_to.iter_mut().zip(&*self.vehicles) {
            are_turned &= turned_to.is_some() && *turned_to == vehicle.turned_to;
            *turned_to = vehicle.turned_to;
        }
        if !are_turned {
            self.take_axles();
        }
    }

    #[inline(never)]
    fn take_axles(&mut self) {
        let (four, _) = self.room.rows.as_chunks_mut::<4>();
        for (bank, four) in four.iter_mut().enumerate() {
            let axle = |car: usize| self.vehicles[car].rows[bank].steering.straight_axle;
            let [x, y, z] = [W::columns(|i| axle(i).x), W::columns(|i| axle(i).y), W::columns(|i| axle(i).z)];
            for (k, rows) in four.iter_mut().enumerate() {
                rows.steering.straight_axle = Vec3Lanes::new(x[k], y[k], z[k]);
            }
        }
    }

    /// Takes from brakes, which are pressed by the `pedal`, what would lock wheels.
    #[inline(never)]
    fn keep_from_locking(&mut self, anti_lock: &AntiLock, pedal: W, loaded: SpatialVector<W>) {
        W::called(
            #[inline(always)]
            || {
                let dt = self.dt;
                self.room.taken = W::default();
                let (packs, _) = self.room.packs.as_chunks::<4>();
                let (rows, _) = self.room.rows.as_chunks_mut::<4>();
                for (packs, rows) in packs.iter().zip(rows) {
                    let mut taken = [W::default(); 4];
                    for ((taken, rows), bank) in taken.iter_mut().zip(rows).zip(packs) {
                        *taken = rows.keep_from_locking(bank, anti_lock, pedal, loaded, dt);
                    }
                    self.room.taken += W::sum_of(|k| taken[k]);
                }
            },
        );
    }

    /// Looks whether `stiff` tyres agree with the loads, and with themselves, from the velocity `free` on: cars whose do not go on alone, as
    /// they iterate.
    #[cold]
    #[inline(never)]
    fn settle_stiff<B: Banks>(&mut self, stiff: W::Mask, free: SpatialVector<W>) {
        W::called(
            #[inline(always)]
            || {
                let mut before = [W::default(); MAX_WHEELS];
                let rows = self.room.rows::<B>();
                before.iter_mut().zip(rows).for_each(|(before, rows)| *before = rows.suspension.load);
                let warm = free + response(&self.room.model, wheel_impulses(rows, false));
                let dt = self.dt;
                let (_, settled) = settle::<B, _>(self, warm, dt);
                let mut moved = !settled;
                for (before, (_, rows)) in before.into_iter().zip(self.room.wheels::<B>()) {
                    moved = moved | rows.has_moved(before);
                    rows.suspension.load = W::select(stiff, rows.suspension.load, before);
                    let swept = rows.coupled.tyre;
                    rows.hold_to_limit(Within::Cone);
                    rows.coupled.tyre = both(|i| W::select(stiff, rows.coupled.tyre[i], swept[i]));
                }
                self.leave(stiff & moved);
            },
        );
    }

    /// Lets rows between spins go on of the cars that have any.
    #[inline(never)]
    fn go_on(&mut self, has_rows: [bool; ABREAST]) {
        let (x, mut gained) = (self.room.chassis.to_world.x, [None; ABREAST]);
        for (car, vehicle) in self.vehicles.iter().enumerate().filter(|(car, _)| has_rows[*car]) {
            let state = &vehicle.state;
            gained[car] = Some(Vec3::from(x.lane(car)).dot(state.velocity - state.previous_velocity));
        }
        go_on_abreast(self.vehicles, &mut gained, &self.room.packs, &mut self.room.rows);
        for (alone, gained) in self.room.alone.iter_mut().zip(gained) {
            *alone |= gained.is_some();
        }
    }

    /// Ends the step: whoever has left goes alone.
    #[inline(always)]
    fn end(self, reports: &mut [StepReport]) -> StepReport {
        let [_, brake, _] = self.pedals;
        let Self { room, vehicles, bodies, contacts, controls, begun, asked, pushes, dt, .. } = self;
        let too_many = room.alone.iter().filter(|alone| **alone).count() > MOST_ALONE;
        let next = room.apart[1];
        room.apart = if too_many { [next, (2 * next).min(LONGEST_APART)] } else { [0, 1] };
        reports.fill(SWEPT_ONCE);
        let mut report = if room.alone.contains(&false) { SWEPT_ONCE } else { StepReport::default() };
        for (car, (vehicle, push)) in vehicles.iter_mut().zip(pushes).enumerate() {
            if room.alone[car] {
                let (body, controls) = (&bodies[car], controls[car]);
                let contacts = &contacts[car * room.wheels..][..room.wheels];
                let inputs = StepInputs { body, contacts, hull: &[], controls, coupling: Coupling::OneSweep, dt };
                if begun[car] {
                    part(room, vehicle, car, &inputs, asked[car]);
                }
                reports[car] = vehicle.solve_into(push, &inputs);
                report = report.and(reports[car]);
                continue;
            }
            if room.has_abs() && brake.car(car) > 0.0 {
                vehicle.count_anti_lock(room.taken.car(car), dt);
            }
            // Nothing of this step is told of it.
            for rows in &mut vehicle.rows {
                rows.forget_step();
                rows.contact.ground_motion.leave();
            }
        }
        report
    }
}

/// Solves `clutches`; returns what they carry, N m s, and which of them have not settled.
#[inline(always)]
fn settle_abreast<W: Octet>(
    mut clutches: Clutches<'_, W>,
    vehicles: &mut [Vehicle; ABREAST],
    (packs, rows): (&[WheelPack<W>], &mut [Rows<W>]),
    dt: f32,
) -> (W, W::Mask) {
    if W::any(clutches.unsettled) {
        settle_clutches(
            packs,
            rows,
            #[inline(always)]
            |measured| clutches.pass(vehicles, measured, dt),
        );
    }
    (clutches.impulse(), clutches.unsettled)
}

/// Lets a vehicle go on alone whose step has begun, with what its driver has `asked` for, if that was looked at.
#[cold]
#[inline(never)]
fn part<W: Octet>(
    room: &Room<W>,
    vehicle: &mut Vehicle,
    car: usize,
    inputs: &StepInputs<'_>,
    asked: Option<DriverDemand>,
) {
    let asked = asked.unwrap_or_else(|| DriverDemand::of(inputs.controls, &room.model.parts().steering));
    vehicle.begin_at(inputs.body);
    vehicle.set_bars(inputs.controls);
    vehicle.begin::<Many>();
    let direction = if room.has_engine() { 0.0 } else { vehicle.shafts.pull.direction };
    vehicle.press_pedals::<Many>(inputs.controls, &asked, direction, inputs.dt);
    let shaft = if room.engines.are_abreast {
        room.engines.hand_over(vehicle, car, inputs.dt)
    } else {
        let [carried, shaft] = room.began[car];
        vehicle.shafts.constraints.iter_mut().for_each(|row| row.impulse = 0.0);
        vehicle.shafts.constraints[0].impulse = carried;
        shaft
    };
    if room.has_engine() {
        for (bank, rows) in room.model.banks().iter().zip(&mut vehicle.rows) {
            rows.drive.shaft = bank.levers[0] * Four::splat(shaft);
        }
    }
    vehicle.applied = Some(asked);
}
