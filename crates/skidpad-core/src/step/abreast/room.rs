//! One step of several plain cars of one model abreast, a wheel of each in a lane: the stages of [`Vehicle::solve`] in one sweep, and
//! their bits.
//!
//! Steering, gears and engine are done car by car. A car that does what few do in the same step (a wheel hangs, stands or grips
//! stiffly, loads or clutch need more looks) goes on alone from there.

use std::sync::Arc;

use crate::aero::air::air;
use crate::assists::DriverDemand;
use crate::assists::parameters::AntiLock;
use crate::banks::{Banks, Many, One};
use crate::controls::Controls;
use crate::drivetrain::assisted::converter;
use crate::drivetrain::clutch::settle_clutches;
use crate::drivetrain::drive::turning;
use crate::drivetrain::engine::Engine;
use crate::drivetrain::rows::MOST_CONSTRAINTS;
use crate::lane::{Four, Lane, Octet};
use crate::linear::{SpatialVector, Symmetric6};
use crate::model::Model;
use crate::step::abreast::clutches::Clutches;
use crate::step::abreast::each::{self, ABREAST, Chassis, EndedByCar, Motion, met, moves};
use crate::step::abreast::shafts::go_on_abreast;
use crate::step::coupling::{Coupling, StepReport, Within};
use crate::step::rows::{Begun, Rows};
use crate::step::sweep::{SWEPT_ONCE, surroundings};
use crate::step::vehicle::{Vehicle, response, wheel_impulses};
use crate::step::{InputsAbreast, StepInputs};
use crate::suspension::axle_links::{Bars, load_bars, sum_bars};
use crate::suspension::loads::{SHORTER, loads_at_once};
use crate::telemetry::signals::WheelRows;
use crate::vectors::Vec3Lanes;
use crate::wheel::pack::WheelPack;
use crate::world::seam::{Body, Contact, Probe, Push};
use bevy_math::{Mat3, Vec3};

/// Cars that may go alone in a step: with more, all are slower abreast than one by one.
const MOST_ALONE: usize = 2;

/// Steps that cars go one by one, at most, until they try to go abreast again: one, and twice as many whenever it turns out too early.
const LONGEST_APART: u8 = 64;

/// Faster than anybody walks, m/s.
const FAST: f32 = 100.0;

/// Workspace of plain cars of one model, by wheel.
#[derive(Clone, Debug)]
pub(crate) struct Room<W: Octet> {
    pub model: Arc<Model>,
    /// One for all cars of the model; as many as its banks have lanes.
    packs: Arc<[WheelPack<W>]>,
    /// Those of lanes without a wheel stay as they are, and weigh nothing.
    rows: Box<[Rows<W>]>,
    /// So many lanes have one, the first ones.
    wheels: usize,
    /// So many rows between spins, the first ones, are asked for how they turn as a step ends: motors, and what may be a converter.
    turned: usize,
    /// At the start of the step.
    chassis: Chassis<W>,
    /// See [`Vehicle::turned_to`]: what the rows have.
    turned_to: [Option<u32>; ABREAST],
    /// What each clutch carried as the step began, and gave its shaft, N m s.
    began: [[f32; 2]; ABREAST],
    /// Which cars go on alone in this step.
    alone: [bool; ABREAST],
    /// For how many steps all of them go one by one, and how many it will be the next time.
    apart: [u8; 2],
    pose_lag: f32,
    /// What anti-lock brakes took of the brakes, N m s.
    taken: W,
}

impl<W: Octet> Room<W> {
    pub fn wheel_rows(&self, lane: usize, wheel: usize) -> Option<WheelRows<'_, W>> {
        let (bank, rows) = (self.packs.get(wheel)?, self.rows.get(wheel)?);
        let [x, y, z] = [self.chassis.to_world.x, self.chassis.to_world.y, self.chassis.to_world.z];
        let to_world = Mat3::from_cols(x.lane(lane).into(), y.lane(lane).into(), z.lane(lane).into());
        (!self.alone[lane]).then_some(WheelRows { bank, rows, lane, to_world, through_links: Vec3::ZERO })
    }

    pub fn of(model: &Arc<Model>) -> Self {
        let rows = |bank: &WheelPack| [0, 1, 2, 3].map(|row| bank.spread(row));
        Self::on(Arc::clone(model), model.banks().iter().flat_map(rows).collect())
    }

    /// Room for others of the same model.
    pub fn another(&self) -> Self {
        Self::on(Arc::clone(&self.model), Arc::clone(&self.packs))
    }

    fn on(model: Arc<Model>, packs: Arc<[WheelPack<W>]>) -> Self {
        Self {
            wheels: model.wheels().len(),
            turned: turned(&model),
            model,
            rows: packs.iter().map(|_| Rows::default()).collect(),
            packs,
            chassis: Chassis::default(),
            turned_to: [None; ABREAST],
            began: [[0.0; 2]; ABREAST],
            alone: [true; ABREAST],
            apart: [0, 1],
            pose_lag: 0.0,
            taken: W::default(),
        }
    }

    fn has_engine(&self) -> bool {
        self.model.parts().powertrain.engine().is_some()
    }

    fn has_abs(&self) -> bool {
        self.model.parts().assists.abs.is_some()
    }

    /// Whether they go one by one in this step.
    pub fn goes_apart(&self) -> bool {
        self.apart[0] > 0
    }

    /// Counts a step in which they do.
    pub fn went_apart(&mut self) {
        self.apart[0] = self.apart[0].saturating_sub(1);
    }

    /// Whether any went alone in the last step.
    pub fn has_parted(&self) -> bool {
        self.alone.contains(&true)
    }

    /// Tells nothing more of the last step of car `lane`.
    pub fn forget(&mut self, lane: usize) {
        self.alone[lane] = true;
    }

    /// Each wheel's pack, and its rows.
    #[inline(always)]
    fn wheels<B: Banks>(&mut self) -> impl Iterator<Item = (&WheelPack<W>, &mut Rows<W>)> {
        let wheels = B::wheels(self.wheels);
        self.packs[..wheels].iter().zip(&mut self.rows[..wheels])
    }

    /// The rows of all lanes.
    #[inline(always)]
    fn rows<B: Banks>(&self) -> &[Rows<W>] {
        &self.rows[..B::wheels(self.rows.len())]
    }

    /// The pack and the rows of all lanes.
    #[inline(always)]
    fn lanes<B: Banks>(&mut self) -> (&[WheelPack<W>], &mut [Rows<W>]) {
        let lanes = B::wheels(self.rows.len());
        (&self.packs[..lanes], &mut self.rows[..lanes])
    }

    pub fn ask(&mut self, first: usize, bodies: &[Body; ABREAST], dt: f32, asked: &mut [Probe]) {
        W::widest(
            #[inline(always)]
            || {
                let are_finite;
                (self.chassis, are_finite) = Chassis::of(bodies);
                self.alone = are_finite.map(|is_finite| !is_finite);
                match self.wheels {
                    4 => self.ask_all::<One>(first, bodies, dt, asked),
                    _ => self.ask_all::<Many>(first, bodies, dt, asked),
                }
            },
        );
    }

    #[inline(always)]
    fn ask_all<B: Banks>(&self, first: usize, bodies: &[Body; ABREAST], dt: f32, asked: &mut [Probe]) {
        let wheels = B::wheels(self.wheels);
        for (k, bank) in self.packs[..wheels].iter().enumerate() {
            self.chassis.ask(bank, [k, wheels], first, bodies, dt, asked);
        }
    }

    pub fn solve(
        &mut self,
        vehicles: &mut [Vehicle; ABREAST],
        &InputsAbreast { bodies, contacts, controls, dt }: &InputsAbreast<'_>,
        pushes: &mut [Push; ABREAST],
        reports: &mut [StepReport],
    ) -> StepReport {
        let (Some(bodies), Some(controls)) = (bodies.first_chunk(), controls.first_chunk()) else {
            return StepReport::default();
        };
        let mut asked = [None; ABREAST];
        W::widest(
            #[inline(always)]
            || match self.wheels {
                4 => self.solve_rows::<One>(vehicles, bodies, contacts, controls, dt, &mut asked, pushes),
                _ => self.solve_rows::<Many>(vehicles, bodies, contacts, controls, dt, &mut asked, pushes),
            },
        );
        let too_many = self.alone.iter().filter(|alone| **alone).count() > MOST_ALONE;
        let next = self.apart[1];
        self.apart = if too_many { [next, (2 * next).min(LONGEST_APART)] } else { [0, 1] };
        reports.fill(SWEPT_ONCE);
        let mut report = if self.alone.contains(&false) { SWEPT_ONCE } else { StepReport::default() };
        for (car, (vehicle, push)) in vehicles.iter_mut().zip(pushes).enumerate() {
            if self.alone[car] {
                let (body, controls) = (&bodies[car], controls[car]);
                let contacts = &contacts[car * self.wheels..][..self.wheels];
                self.part(vehicle, car, (body, controls), asked[car], dt);
                let inputs = StepInputs { body, contacts, hull: &[], controls, coupling: Coupling::OneSweep, dt };
                reports[car] = vehicle.solve_into(push, &inputs);
                report = report.and(reports[car]);
                continue;
            }
            if self.has_abs() && asked[car].is_some_and(|asked| asked.brake > 0.0) {
                vehicle.count_anti_lock(self.taken.car(car), dt);
            }
            // Nothing of this step is told of it.
            for rows in &mut vehicle.rows {
                rows.forget_step();
                rows.contact.ground_motion.leave();
            }
        }
        report
    }

    /// Lets a vehicle go on alone whose driver has `asked`, if its step has begun.
    #[cold]
    #[inline(never)]
    fn part(
        &self,
        vehicle: &mut Vehicle,
        car: usize,
        (body, controls): (&Body, &Controls),
        asked: Option<DriverDemand>,
        dt: f32,
    ) {
        let Some(asked) = asked else { return };
        vehicle.begin_at(body);
        vehicle.begin::<Many>();
        let direction = if self.has_engine() { 0.0 } else { vehicle.shafts.pull.direction };
        vehicle.press_pedals::<Many>(controls, &asked, direction, dt);
        let [carried, shaft] = self.began[car];
        if self.has_engine() {
            for (bank, rows) in self.model.banks().iter().zip(&mut vehicle.rows) {
                rows.drive.shaft = bank.levers[0] * Four::splat(shaft);
            }
        }
        vehicle.shafts.constraints.iter_mut().for_each(|row| row.impulse = 0.0);
        vehicle.shafts.constraints[0].impulse = carried;
        vehicle.applied = Some(asked);
    }

    /// The stages of the step: what the drivers ask, and what all that pushes. Where a car goes on alone, that is nothing; it asks
    /// nothing where its step has not begun.
    #[inline(always)]
    fn solve_rows<B: Banks>(
        &mut self,
        vehicles: &mut [Vehicle; ABREAST],
        bodies: &[Body; ABREAST],
        contacts: &[Option<Contact>],
        controls: &[&Controls; ABREAST],
        dt: f32,
        asked: &mut [Option<DriverDemand>; ABREAST],
        pushes: &mut [Push; ABREAST],
    ) {
        let chassis = self.chassis;
        self.pose_lag = bodies[0].pose_lag;
        for (alone, (controls, body)) in self.alone.iter_mut().zip(controls.iter().zip(bodies)) {
            *alone |= !controls.wheels.is_empty() | (body.pose_lag != self.pose_lag);
        }
        self.drive::<B>(vehicles, controls, dt, asked);
        self.locate::<B>(contacts, &chassis, dt);
        let external = self.air(vehicles, &chassis, dt);
        let free = chassis.free + response(&self.model, external);
        let warm = free + response(&self.model, wheel_impulses(self.rows::<B>(), false));
        self.strut_rows::<B>(vehicles, dt);
        let loaded = self.solve_loads::<B>(warm, dt);
        self.grip_rows::<B>(dt);
        self.keep_from_locking::<B>(asked, loaded, dt);
        self.sweep::<B>(vehicles, loaded);
        let given = external + SpatialVector::default() + wheel_impulses(self.rows::<B>(), true);
        self.push::<B>(given, pushes);
    }

    /// What drivers have `asked` of cars whose step begins, and what that does to their wheels.
    #[inline(always)]
    fn drive<B: Banks>(
        &mut self,
        vehicles: &mut [Vehicle; ABREAST],
        controls: &[&Controls; ABREAST],
        dt: f32,
        asked: &mut [Option<DriverDemand>; ABREAST],
    ) {
        let mut pedals = [[0.0; ABREAST]; 3];
        let mut towards = [0.0; ABREAST];
        for (car, vehicle) in vehicles.iter_mut().enumerate().filter(|(car, _)| !self.alone[*car]) {
            let demand = vehicle.steer_as_asked(controls[car], dt);
            towards[car] = vehicle.direction_without_engine(controls[car]);
            pedals[0][car] = demand.throttle * towards[car];
            (pedals[1][car], pedals[2][car]) = (demand.brake, demand.handbrake);
            asked[car] = Some(demand);
        }
        self.turn_axles(vehicles);
        let pedals = [W::of_lanes(pedals[0]), W::of_lanes(pedals[1]), W::of_lanes(pedals[2])];
        for (k, (bank, rows)) in self.wheels::<B>().enumerate() {
            rows.begun = Begun::of_cars(vehicles, k, !bank.laws.is_empty());
            let [motor, mut brake] = bank.pedal_torques(pedals);
            if let Some(discs) = &bank.discs {
                brake = brake * discs.share_at(W::of_each(|car| vehicles[car].state.wheels[k].disc));
            }
            rows.begin_drive(bank, [motor, brake], dt);
        }
        let has_engine = self.has_engine();
        let (packs, rows) = self.lanes::<B>();
        let shaft = if has_engine { turning(packs, rows, 0, |rows| rows.begun.spin) } else { W::default() };
        self.began = [[0.0; 2]; ABREAST];
        let full_load = self.full_loads(vehicles);
        for (car, vehicle) in vehicles.iter_mut().enumerate() {
            if let Some(asked) = &asked[car] {
                let torque = |_: &Engine, _| full_load[car];
                let shaft = vehicle.begin_shafts(controls[car], asked, towards[car], shaft.car(car), torque, dt);
                self.began[car] = [vehicle.shafts.constraints[0].impulse, shaft];
            }
        }
        if has_engine {
            let shaft = W::of_each(|car| self.began[car][1]);
            for (bank, rows) in self.wheels::<B>() {
                rows.drive.shaft = bank.levers[0] * shaft;
            }
        }
        let first = usize::from(has_engine);
        for k in 0..self.model.parts().motors.len() {
            let reduction = self.model.parts().motors[k].reduction;
            let (packs, rows) = self.lanes::<B>();
            let speed = turning(packs, rows, first + k, |rows| rows.begun.spin) * W::splat(reduction);
            for (vehicle, speed) in vehicles.iter_mut().zip(speed.in_lanes()) {
                vehicle.shafts.turned(k, speed);
            }
        }
    }

    /// Torques that the engines of `vehicles` have at full load, N m.
    #[inline(always)]
    fn full_loads(&self, vehicles: &[Vehicle; ABREAST]) -> [f32; ABREAST] {
        let Some(drive) = self.model.parts().powertrain.engine() else { return [0.0; ABREAST] };
        drive.engine.torque.at_each(W::of_each(|car| vehicles[car].state.drive.engine_speed)).in_lanes()
    }

    /// Takes over where axles point, if any has been turned.
    #[inline(always)]
    fn turn_axles(&mut self, vehicles: &[Vehicle; ABREAST]) {
        let mut are_turned = true;
        for (turned_to, vehicle) in self.turned_to.iter_mut().zip(vehicles) {
            are_turned &= turned_to.is_some() && *turned_to == vehicle.turned_to;
            *turned_to = vehicle.turned_to;
        }
        if !are_turned {
            self.take_axles(vehicles);
        }
    }

    #[inline(never)]
    fn take_axles(&mut self, vehicles: &[Vehicle; ABREAST]) {
        let (four, _) = self.rows.as_chunks_mut::<4>();
        for (bank, four) in four.iter_mut().enumerate() {
            let axle = |car: usize| vehicles[car].rows[bank].steering.straight_axle;
            let [x, y, z] = [W::columns(|i| axle(i).x), W::columns(|i| axle(i).y), W::columns(|i| axle(i).z)];
            for (k, rows) in four.iter_mut().enumerate() {
                rows.steering.straight_axle = Vec3Lanes::new(x[k], y[k], z[k]);
            }
        }
    }

    /// Contact points, row directions and last step's impulses of every wheel.
    #[inline(always)]
    fn locate<B: Banks>(&mut self, contacts: &[Option<Contact>], chassis: &Chassis<W>, dt: f32) {
        for (alone, met) in self.alone.iter_mut().zip(contacts.chunks_exact(B::wheels(self.wheels))) {
            *alone |= moves(met);
        }
        let turn = chassis.moving.angular * W::splat(dt);
        let wheels = B::wheels(self.wheels);
        for (k, (bank, rows)) in self.packs[..wheels].iter().zip(&mut self.rows[..wheels]).enumerate() {
            let straight = rows.steering.straight_axle;
            rows.contact.axle = straight + turn.cross(straight);
            rows.touch(bank, &met(contacts, [k, wheels]), &chassis.to_vehicle);
            rows.move_over(chassis.moving, || chassis.free, W::splat(self.pose_lag), dt);
            rows.recall_moments(bank, dt);
            rows.begin();
            leave::<W>(&mut self.alone, !rows.contact.in_contact);
        }
    }

    /// What the air does to the chassis.
    #[inline(always)]
    fn air(&self, vehicles: &[Vehicle; ABREAST], chassis: &Chassis<W>, dt: f32) -> SpatialVector<W> {
        let mut factors = [W::splat(1.0); 3];
        if self.model.parts().aero.maps.is_some() {
            factors = each::air_factors(vehicles, chassis.in_air);
        }
        air(&self.model, chassis.in_air, factors, dt)
    }

    /// What the impulses `given` are in the world. Cars that end beyond numbers go on alone.
    #[inline(always)]
    fn push<B: Banks>(&mut self, given: SpatialVector<W>, pushes: &mut [Push; ABREAST]) {
        let spins = self.rows::<B>().iter().fold(W::default(), |sum, rows| sum + rows.coupled.spin);
        let to_world = self.chassis.to_world;
        let (impulse, turn) = (to_world.times(given.linear), to_world.times(given.angular));
        let all = impulse + turn;
        let size = (all.x + all.y + all.z + spins).abs();
        leave::<W>(&mut self.alone, !size.less(W::splat(f32::INFINITY)));
        let first = W::rows([impulse.x, impulse.y, impulse.z, turn.x]);
        let last = W::rows([turn.y, turn.z, turn.y, turn.z]);
        for (push, (first, last)) in pushes.iter_mut().zip(first.into_iter().zip(last)) {
            let ([x, y, z, a], [b, c, ..]) = (first.lanes(), last.lanes());
            let (impulse, angular_impulse) = (Vec3::new(x, y, z), Vec3::new(a, b, c));
            *push = Push { impulse, angular_impulse, ..Push::default() };
        }
    }

    /// Struts and the bars across their axles.
    #[inline(always)]
    fn strut_rows<B: Banks>(&mut self, vehicles: &[Vehicle; ABREAST], dt: f32) {
        for (bank, rows) in self.wheels::<B>() {
            rows.strut_step(bank, dt);
        }
        if self.model.has_axle_links() {
            let share = W::of_each(|car| vehicles[car].bar_share);
            let (packs, rows) = self.lanes::<B>();
            for (packs, rows) in packs.chunks_exact(W::ROWS).zip(rows.chunks_exact_mut(W::ROWS)) {
                sum_bars(packs, rows, share);
            }
            let wheels = B::wheels(self.wheels);
            for (bank, rows) in self.packs[..wheels].iter().zip(&self.rows[..wheels]) {
                leave::<W>(&mut self.alone, rows.lifted(bank));
            }
        }
    }

    /// As [`Vehicle::solve_loads`], as long as no step is cut.
    #[inline(always)]
    fn solve_loads<B: Banks>(&mut self, warm: SpatialVector<W>, dt: f32) -> SpatialVector<W> {
        for (bank, rows) in self.wheels::<B>() {
            rows.begin_load(bank, warm, dt);
        }
        self.load_bars::<B>();
        for (bank, rows) in self.wheels::<B>() {
            rows.evaluate_load(bank);
        }
        let (mut after, mut settled) = (warm, W::Mask::default());
        for _ in 0..SHORTER {
            let (mut products, mut wished) = loads_at_once(self.rows::<B>());
            let mut tied = SpatialVector::default();
            if self.model.has_axle_links() {
                for rows in self.rows::<B>().chunks_exact(W::ROWS) {
                    tied = tied + Bars::of(rows, warm).add_to(&mut products);
                }
            }
            wished = wished + tied;
            let system = Symmetric6::new(self.model.mass(), self.model.inertia(), &products);
            let newton = warm + system.solve(wished);
            after = select(settled, after, newton);
            for (_, rows) in self.wheels::<B>() {
                rows.set_load_velocity(after);
            }
            self.load_bars::<B>();
            let mut off = W::Mask::default();
            for (bank, rows) in self.wheels::<B>() {
                off = off | rows.settle_load(bank);
            }
            settled = settled | !off;
            if !W::any(!settled) {
                break;
            }
        }
        leave::<W>(&mut self.alone, !settled);
        after
    }

    #[inline(always)]
    fn load_bars<B: Banks>(&mut self) {
        if self.model.has_axle_links() {
            let (_, rows) = self.lanes::<B>();
            for rows in rows.chunks_exact_mut(W::ROWS) {
                load_bars(rows);
            }
        }
    }

    /// Tyre rows of wheels that roll.
    #[inline(never)]
    fn grip_rows<B: Banks>(&mut self, dt: f32) {
        W::called(
            #[inline(always)]
            || {
                let wheels = B::wheels(self.wheels);
                for (bank, rows) in self.packs[..wheels].iter().zip(&mut self.rows[..wheels]) {
                    let rolls = W::splat(1.0);
                    leave::<W>(&mut self.alone, rows.begun.rolling.less(rolls));
                    // Of those that have left nobody asks what standing patches do.
                    rows.begun.rolling = rows.begun.rolling.at_least(rolls);
                    rows.grip_row(bank, &self.model.parts().tyres, dt);
                }
            },
        )
    }

    /// As [`Vehicle::sweep_once`], where tyres are not stiff.
    #[inline(never)]
    fn sweep<B: Banks>(&mut self, vehicles: &mut [Vehicle; ABREAST], loaded: SpatialVector<W>) {
        W::called(
            #[inline(always)]
            || {
                let mut gripping = W::default();
                for rows in self.rows::<B>().chunks_exact(W::ROWS) {
                    gripping += W::sum_of(|k| W::splat(1.0).only(rows[k].tyre.active));
                }
                let wheels = B::wheels(self.wheels);
                for (bank, rows) in self.packs[..wheels].iter().zip(&mut self.rows[..wheels]) {
                    rows.coupled.friction_bound = rows.limit();
                    rows.coupled.surroundings = surroundings(bank, false, rows, loaded, gripping);
                    leave::<W>(&mut self.alone, rows.is_stiff());
                }
                self.solve_shafts::<B>(vehicles);
                for (bank, rows) in self.wheels::<B>() {
                    rows.solve_block(bank, Within::NearCone);
                }
            },
        )
    }

    /// What anti-lock brakes take where drivers have `asked` to brake.
    #[inline(always)]
    fn keep_from_locking<B: Banks>(
        &mut self,
        asked: &[Option<DriverDemand>; ABREAST],
        loaded: SpatialVector<W>,
        dt: f32,
    ) {
        if let Some(anti_lock) = self.model.parts().assists.abs {
            let pedal = W::of_each(|car| asked[car].map_or(0.0, |asked| asked.brake));
            if W::any(W::splat(0.0).less(pedal)) {
                self.keep_pressed_from_locking(&anti_lock, pedal, loaded, dt);
            }
        }
    }

    #[inline(never)]
    fn keep_pressed_from_locking(&mut self, anti_lock: &AntiLock, pedal: W, loaded: SpatialVector<W>, dt: f32) {
        W::called(
            #[inline(always)]
            || {
                self.taken = W::default();
                let (packs, _) = self.packs.as_chunks::<4>();
                let (rows, _) = self.rows.as_chunks_mut::<4>();
                for (packs, rows) in packs.iter().zip(rows) {
                    let [a, b, c, d] = [0, 1, 2, 3].map(
                        #[inline(always)]
                        |k| rows[k].keep_from_locking(&packs[k], anti_lock, pedal, loaded, dt),
                    );
                    let taken = [a, b, c, d];
                    self.taken += W::sum_of(|k| taken[k]);
                }
            },
        );
    }

    /// Solves clutches, motors, converters and couplings.
    #[inline(always)]
    fn solve_shafts<B: Banks>(&mut self, vehicles: &mut [Vehicle; ABREAST]) {
        let (mut unsettled, mut has_rows) = ([0.0; ABREAST], [false; ABREAST]);
        for (car, vehicle) in vehicles.iter_mut().enumerate() {
            vehicle.shafts.within = Within::NearCone;
            vehicle.hull.clear();
            let is_idle = vehicle.shafts.are_open() | self.alone[car];
            let is_clutch = vehicle.shafts.is_clutch();
            has_rows[car] = !(is_idle | is_clutch);
            unsettled[car] = if is_idle | !is_clutch { 0.0 } else { 1.0 };
        }
        if has_rows.contains(&true) {
            self.go_on(vehicles, has_rows);
        }
        let unsettled = W::splat(0.0).less(W::of_lanes(unsettled));
        if !W::any(unsettled) {
            return;
        }
        let mut clutches = Clutches::<W>::of(vehicles, unsettled);
        let (packs, rows) = self.lanes::<B>();
        settle_clutches(
            packs,
            rows,
            #[inline(always)]
            |measured| clutches.pass(vehicles, measured),
        );
        leave::<W>(&mut self.alone, clutches.write_back(vehicles));
    }

    /// Lets rows between spins go on of the vehicles that have any.
    #[inline(never)]
    fn go_on(&mut self, vehicles: &mut [Vehicle; ABREAST], has_rows: [bool; ABREAST]) {
        let (x, mut gained) = (self.chassis.to_world.x, [None; ABREAST]);
        for (car, vehicle) in vehicles.iter().enumerate().filter(|(car, _)| has_rows[*car]) {
            let state = &vehicle.state;
            gained[car] = Some(Vec3::from(x.lane(car)).dot(state.velocity - state.previous_velocity));
        }
        go_on_abreast(vehicles, &mut gained, &self.packs, &mut self.rows);
        for (alone, gained) in self.alone.iter_mut().zip(gained) {
            *alone |= gained.is_some();
        }
    }

    pub fn finish(
        &self,
        vehicles: &mut [Vehicle; ABREAST],
        bodies: &[Body; ABREAST],
        dt: f32,
        tell: impl FnMut(usize, StepReport),
    ) {
        W::widest(
            #[inline(always)]
            || match self.wheels {
                4 => self.finish_rows::<One>(vehicles, bodies, dt, tell),
                _ => self.finish_rows::<Many>(vehicles, bodies, dt, tell),
            },
        );
    }

    #[inline(always)]
    fn finish_rows<B: Banks>(
        &self,
        vehicles: &mut [Vehicle; ABREAST],
        bodies: &[Body; ABREAST],
        dt: f32,
        mut tell: impl FnMut(usize, StepReport),
    ) {
        let mut motion = Motion::of(bodies);
        let mut follows = motion.are_finite(bodies);
        motion.settle_rates(vehicles, dt);
        for (car, (vehicle, body)) in vehicles.iter_mut().zip(bodies).enumerate() {
            if self.alone[car] {
                follows[car] = false;
                tell(car, vehicle.finish(body, dt));
            } else if follows[car] {
                vehicle.state.follow(body);
            } else {
                tell(car, StepReport { not_finite: true, ..StepReport::default() });
            }
        }
        if !follows.contains(&true) {
            return;
        }
        let mut moving = motion.twist(&self.chassis.to_vehicle);
        if follows.contains(&false) {
            // The others are not asked; fast, they keep nobody from skipping what only standing patches need.
            let follow = W::of_each(|car| if follows[car] { 1.0 } else { 0.0 });
            moving.linear.x = W::select(W::splat(0.0).less(follow), moving.linear.x, W::splat(FAST));
        }
        let wheels = B::wheels(self.wheels);
        for (k, (bank, rows)) in self.packs[..wheels].iter().zip(&self.rows[..wheels]).enumerate() {
            let ended = EndedByCar::of(rows, &rows.ended(bank, moving, self.pose_lag, dt), dt);
            for (car, vehicle) in vehicles.iter_mut().enumerate().filter(|(car, _)| follows[*car]) {
                ended.write(car, &mut vehicle.state.wheels[k]);
            }
            if let Some(discs) = &bank.discs {
                let temperatures = W::of_each(|car| vehicles[car].state.wheels[k].disc);
                let warmed = rows.warmed(discs, temperatures, dt).in_lanes();
                for (car, vehicle) in vehicles.iter_mut().enumerate().filter(|(car, _)| follows[*car]) {
                    vehicle.state.wheels[k].disc = warmed[car];
                }
            }
        }
        let mut turns = [[0.0; ABREAST]; MOST_CONSTRAINTS];
        for (i, turns) in turns.iter_mut().enumerate().take(self.turned) {
            *turns = turning(&self.packs, &self.rows, i, |rows| rows.coupled.spin).in_lanes();
        }
        for (car, vehicle) in vehicles.iter_mut().enumerate().filter(|(car, _)| follows[*car]) {
            vehicle.shafts.write_back(&mut vehicle.state.drive, &self.model, |i| turns[i][car]);
        }
    }
}

fn turned(model: &Model) -> usize {
    let (motors, engine) = (model.parts().motors.len(), usize::from(model.parts().powertrain.engine().is_some()));
    if motors > 0 || converter(model).is_some() { engine + motors } else { 0 }
}

#[inline(always)]
fn select<W: Octet>(mask: W::Mask, yes: SpatialVector<W>, no: SpatialVector<W>) -> SpatialVector<W> {
    SpatialVector::new(Vec3Lanes::select(mask, yes.linear, no.linear), Vec3Lanes::select(mask, yes.angular, no.angular))
}

/// Lets the cars of `mask` go on alone.
#[inline(always)]
fn leave<W: Octet>(alone: &mut [bool; ABREAST], mask: W::Mask) {
    let bits = W::bits(mask);
    if bits != 0 {
        for (car, alone) in alone.iter_mut().enumerate() {
            *alone |= bits & (1 << car) != 0;
        }
    }
}
