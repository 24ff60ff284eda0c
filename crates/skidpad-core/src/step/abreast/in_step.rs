//! Step of a batch of plain cars of one model, one car per lane: one sweep, with the same bits as separate steps.
//!
//! A car leaves the batch if it is on moving ground, or needs a rare path (loads whose step is cut, stiff tyres that
//! are iterated). Such a car is solved alone at the end of the step.

use crate::aero::air::air;
use crate::assists::DriverDemand;
use crate::assists::parameters::AntiLock;
use crate::banks::{Banks, Many, One};
use crate::constants::MAX_WHEELS;
use crate::controls::Controls;
use crate::lane::{Four, Lane, Octet, both};
use crate::linear::{OuterProducts, SpatialVector};
use crate::model::Model;
use crate::step::abreast::clutches::Clutches;
use crate::step::abreast::each::{self, ABREAST, met, moves, tells, textures};
use crate::step::abreast::room::Room;
use crate::step::abreast::shafts::solve_shafts_abreast;
use crate::step::coupling::{Coupling, StepReport, Within};
use crate::step::rows::Rows;
use crate::step::stages::{InputsAbreast, Stages, StepInputs, Velocities, Wheels};
use crate::step::sweep::{SWEPT_ONCE, sweep_once};
use crate::step::take;
use crate::step::vehicle::{Vehicle, response, wheel_impulses};
use crate::suspension::axle_links::{Bars, load_bars};
use crate::suspension::loads::{SHORTER, settle};
use crate::suspension::rows::Loaded;
use crate::vectors::{Axes, Vec3Lanes};
use crate::wheel::pack::WheelPack;
use crate::wheel::rows::GroundMotion;
use crate::world::seam::{Body, Contact, Push};
use bevy_math::Vec3;

/// Maximum number of cars that may leave the batch in a step. With more, a batch is slower than separate steps.
const MOST_ALONE: usize = 2;

/// Maximum number of separate steps before the cars are batched again. The number starts at one and doubles with each
/// failed attempt.
const LONGEST_APART: u8 = 64;

/// Solves the step of the `vehicles` of a room. Writes `pushes` and `reports`, and returns the combined report.
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
    let mut cars = CarsInStep {
        room,
        vehicles,
        bodies,
        contacts,
        controls,
        begun,
        pedals,
        asked,
        pushes,
        dt,
        hangs: W::Mask::default(),
    };
    W::widest(
        #[inline(always)]
        || match wheels {
            4 => take::<One, _>(&mut cars),
            _ => take::<Many, _>(&mut cars),
        },
    );
    cars.end(reports)
}

/// Batch of cars during a step.
pub(super) struct CarsInStep<'a, W: Octet> {
    pub(super) room: &'a mut Room<W>,
    pub(super) vehicles: &'a mut [Vehicle; ABREAST],
    pub(super) bodies: &'a [Body; ABREAST],
    /// Contacts, ordered car by car, wheel by wheel.
    pub(super) contacts: &'a [Option<Contact>],
    pub(super) controls: &'a [&'a Controls; ABREAST],
    /// Whether the step of each car has begun.
    pub(super) begun: [bool; ABREAST],
    /// Demands for throttle, foot brake and handbrake, 0 to 1.
    pub(super) pedals: [W; 3],
    /// Complete demand of each driver, for models whose assists change it.
    pub(super) asked: [Option<DriverDemand>; ABREAST],
    pub(super) pushes: &'a mut [Push; ABREAST],
    /// Length of the step (s), > 0.
    pub(super) dt: f32,
    /// Mask of the cars with a wheel off the ground.
    pub(super) hangs: W::Mask,
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
            let (impulse, left) = engines.clutches(alone).settle(self.vehicles, wheels, self.dt);
            engines.carry(impulse);
            self.leave(left);
            return;
        }
        let (mut unsettled, mut has_rows) = ([0.0; ABREAST], [false; ABREAST]);
        for (car, vehicle) in self.vehicles.iter_mut().enumerate() {
            vehicle.shafts.within = Within::NearCone;
            let is_idle = vehicle.shafts.are_open() | self.room.alone[car];
            let is_clutch = vehicle.shafts.is_clutch();
            has_rows[car] = !(is_idle | is_clutch);
            unsettled[car] = if is_idle | !is_clutch { 0.0 } else { 1.0 };
        }
        if has_rows.contains(&true) {
            self.solve_rows(has_rows);
        }
        let unsettled = W::splat(0.0).less(W::of_lanes(unsettled));
        if !W::any(unsettled) {
            return;
        }
        let clutches = Clutches::of(self.vehicles, unsettled);
        let (impulse, left) = clutches.settle(self.vehicles, self.room.lanes::<B>(), self.dt);
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
        let all_met = self.contacts.chunks_exact(wheels);
        let is_told = all_met.clone().take(ABREAST).fold(false, |any, met| any | tells(met));
        if is_told {
            self.room.alone.iter_mut().zip(all_met).for_each(|(alone, met)| *alone |= moves(met));
        }
        let pose_lag = W::splat(self.room.pose_lag);
        let mut hangs = W::Mask::default();
        let contacts = self.contacts;
        for (k, (bank, rows)) in self.room.wheels::<B>().enumerate() {
            rows.touch(bank, &met(contacts, [k, wheels]), &chassis.to_vehicle);
            rows.take_to_start(bank, chassis.moving, dt);
            if is_told {
                rows.contact.ground_motion = on_texture(rows, contacts, [k, wheels], chassis.to_vehicle);
            } else {
                rows.contact.ground_motion.leave();
            }
            rows.move_over(chassis.moving, || chassis.free, pose_lag, dt);
            rows.recall_moments(bank, dt);
            rows.begin();
            hangs = hangs | !rows.contact.in_contact;
        }
        self.hangs = hangs;
        if W::any(hangs) {
            self.hang::<B>(hangs);
        }
    }

    #[inline(always)]
    fn external(&mut self, by_tyres: Vec3Lanes<W>) -> SpatialVector<W> {
        let (model, in_air) = (&self.room.model, self.room.chassis.in_air + by_tyres * W::splat(0.5));
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
    fn follow(&mut self, [_, warm]: [SpatialVector<W>; 2]) -> SpatialVector<W> {
        if W::any(self.hangs) {
            self.land_by_loads::<B>(self.hangs, warm);
        }
        warm
    }

    #[inline(always)]
    fn strut_rows(&mut self) {
        let dt = self.dt;
        for (bank, rows) in self.room.wheels::<B>() {
            rows.strut_step(bank, dt);
        }
        if self.room.model.has_axle_links() {
            let share = W::of_each(|car| self.controls[car].bar_share());
            self.sum_bars::<B>(share);
            let mut lifted = W::Mask::default();
            for (bank, rows) in self.room.wheels::<B>() {
                lifted = lifted | rows.lifted(bank);
            }
            if W::any(lifted) {
                self.lift_bar_ends::<B>(lifted, share);
            }
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
    fn grip(&mut self, loaded: SpatialVector<W>) {
        W::called(
            #[inline(always)]
            || {
                let (wheels, model, dt) = (B::wheels(self.room.wheels), &self.room.model, self.dt);
                for (bank, rows) in self.room.packs[..wheels].iter().zip(&mut self.room.rows[..wheels]) {
                    rows.grip_row(bank, &model.parts().tyres, loaded, dt);
                }
            },
        );
    }

    #[inline(always)]
    fn assist(&mut self, loaded: SpatialVector<W>) {
        if let Some(anti_lock) = self.room.model.parts().assists.abs {
            let [_, pedal, _] = self.pedals;
            if !self.room.model.parts().motors.is_empty() {
                self.leave(self.slips_behind(&anti_lock));
            }
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

    /// Writes the pushes. Cars with results that are not finite leave the batch.
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
    /// Marks the cars of `mask` as leaving the batch.
    #[inline(always)]
    pub(super) fn leave(&mut self, mask: W::Mask) {
        let bits = W::bits(mask);
        if bits != 0 {
            for (car, alone) in self.room.alone.iter_mut().enumerate() {
                *alone |= bits & (1 << car) != 0;
            }
        }
    }

    /// Returns the mask of cars with wheels so much slower than the road that their motors may have to be limited.
    #[inline(never)]
    fn slips_behind(&self, anti_lock: &AntiLock) -> W::Mask {
        let wheels = self.room.packs.iter().zip(&self.room.rows).take(self.room.wheels);
        let slips =
            |(bank, rows): (&WheelPack<W>, &Rows<W>)| rows.slips_behind(bank, anti_lock.slip, anti_lock.off_below);
        wheels.map(slips).fold(W::Mask::default(), |any, one| any | one)
    }

    /// Removes the part of the brake torques that would lock wheels (ABS). `pedal` is the position of the brake pedal,
    /// 0 to 1.
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

    /// Checks whether the impulses of `stiff` tyres are consistent with the loads and with each other. `free` is the
    /// velocity without wheels. Cars with inconsistent tyres leave the batch, because they have to iterate.
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

    /// Solves the rows between spins of the cars that have any.
    #[inline(never)]
    fn solve_rows(&mut self, has_rows: [bool; ABREAST]) {
        let (x, mut gained) = (self.room.chassis.to_world.x, [None; ABREAST]);
        for (car, vehicle) in self.vehicles.iter().enumerate().filter(|(car, _)| has_rows[*car]) {
            let state = &vehicle.state;
            gained[car] = Some(Vec3::from(x.lane(car)).dot(state.velocity - state.previous_velocity));
        }
        let Room { packs, rows, began, .. } = &mut *self.room;
        solve_shafts_abreast(self.vehicles, gained, began, (packs, rows));
    }

    /// Ends the step: solves the cars that have left the batch, one by one. Returns the combined report.
    #[inline(always)]
    fn end(&mut self, reports: &mut [StepReport]) -> StepReport {
        let [_, brake, _] = self.pedals;
        let Self { room, vehicles, bodies, contacts, controls, begun, asked, pushes, dt, .. } = self;
        let dt = *dt;
        let too_many = room.alone.iter().filter(|alone| **alone).count() > MOST_ALONE;
        let next = room.apart[1];
        room.apart = if too_many { [next, (2 * next).min(LONGEST_APART)] } else { [0, 1] };
        reports.fill(SWEPT_ONCE);
        let mut report = if room.alone.contains(&false) { SWEPT_ONCE } else { StepReport::default() };
        for (car, (vehicle, push)) in vehicles.iter_mut().zip(pushes.iter_mut()).enumerate() {
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
            // The rows of the vehicle do not contain this step.
            for rows in &mut vehicle.rows {
                rows.forget_step();
                rows.contact.ground_motion.leave();
            }
        }
        report
    }
}

/// Returns the ground motion of wheel `k` of each car where the ground has a texture. `wheel` is `k` and the number of
/// wheels.
#[cold]
#[inline(never)]
fn on_texture<W: Octet>(
    rows: &Rows<W>,
    contacts: &[Option<Contact>],
    wheel: [usize; 2],
    to_vehicle: Axes<W>,
) -> GroundMotion<W> {
    W::called(
        #[inline(always)]
        || {
            let (told, rolling) = textures(contacts, wheel);
            let still = to_vehicle.times(Vec3Lanes::default());
            let mut motion = rows.on_ground_with([still; 2], rolling);
            for speed in motion.begun.iter_mut().chain(&mut motion.speed) {
                *speed = speed.only(told);
            }
            motion
        },
    )
}

/// Prepares a vehicle whose step has begun in the batch to be solved alone. `asked` is the demand of its driver; `None`
/// reads the controls.
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
    vehicle.begin_at(inputs.body, inputs.dt);
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
