//! One step of several plain cars of one model abreast, a wheel of each in a lane: the stages of [`Vehicle::solve`] in one sweep, and
//! their bits.
//!
//! Steering, drivetrain and air are done car by car. A car that does what few do in the same step (a wheel hangs, stands or grips
//! stiffly, loads or clutch need more looks) goes on alone from there.

use std::sync::Arc;

use crate::assists::DriverDemand;
use crate::banks::One;
use crate::controls::Controls;
use crate::drivetrain::clutch::settle_clutches;
use crate::lane::{Abreast, Corners, Eight, Four, Lane};
use crate::linear::{Axes, SpatialVector, Symmetric6, Vec3Lanes};
use crate::model::Model;
use crate::state::WheelState;
use crate::step::coupling::{Coupling, StepReport, Within};
use crate::step::rows::Rows;
use crate::step::sweep::{SWEPT_ONCE, surroundings};
use crate::step::vehicle::{Vehicle, finite, response, wheel_impulses};
use crate::step::write_back::{Ended, NUMBERS, WheelEnded, settled_rate};
use crate::suspension::axle_links::{Bars, load_bars, sum_bars};
use crate::suspension::loads::{SHORTER, loads_at_once};
use crate::wheel::contact::Met;
use crate::wheel::pack::WheelPack;
use crate::world::seam::{Body, Contact, Push};
use bevy_math::{Mat3, Vec3};

/// Cars abreast.
pub(crate) const ABREAST: usize = Eight::COUNT;

/// Wheels of each.
const WHEELS: usize = 4;

/// Workspace of plain cars of one model, by wheel.
#[derive(Clone, Debug)]
pub(crate) struct CarsAbreast {
    model: Arc<Model>,
    packs: [WheelPack<Eight>; WHEELS],
    rows: [Rows<Eight>; WHEELS],
    /// Which cars go on alone in this step.
    alone: [bool; ABREAST],
    pose_lag: f32,
}

/// What the world tells of cars abreast.
struct Chassis {
    to_vehicle: Axes<Eight>,
    /// Velocities at the start of the step, and those it would end with, vehicle frame.
    moving: SpatialVector<Eight>,
    free: SpatialVector<Eight>,
}

impl CarsAbreast {
    /// Room for cars of `model`; `None` where it is not plain: two axles of two wheels, no assists, at most a clutch between the wheels.
    pub fn of(model: &Arc<Model>) -> Option<Self> {
        let parts = model.parts();
        let ties = model.axle_links_apart().is_empty();
        let shafts = parts.motors.is_empty() && parts.couplings.is_empty();
        let [pack] = model.banks() else { return None };
        if !(ties
            && shafts
            && parts.wheels.len() == WHEELS
            && model.assists().is_empty()
            && !pack.has_discs
            && !pack.has_rims
            && pack.links.is_none()
            && pack.lateral.is_none())
        {
            return None;
        }
        let packs = [0, 1, 2, 3].map(|row| pack.spread(row));
        let rows = [Rows::default(); WHEELS];
        Some(Self { model: Arc::clone(model), packs, rows, alone: [true; ABREAST], pose_lag: 0.0 })
    }

    /// Whether all of `vehicles` are of its model.
    pub fn fits(&self, vehicles: &[Vehicle]) -> bool {
        vehicles.len() == ABREAST && vehicles.iter().all(|vehicle| Arc::ptr_eq(&self.model, vehicle.model()))
    }

    /// As [`Vehicle::solve`] of each of [`ABREAST`] vehicles in one sweep; `contacts` are wheel by wheel, car by car.
    pub fn solve(
        &mut self,
        vehicles: &mut [Vehicle],
        bodies: &[Body],
        contacts: &[Option<Contact>],
        controls: [&Controls; ABREAST],
        dt: f32,
        mut tell: impl FnMut(usize, Push, StepReport),
    ) {
        self.pose_lag = bodies[0].pose_lag;
        if !bodies.iter().all(|body| finite(body) && body.pose_lag == self.pose_lag) {
            self.alone = [true; ABREAST];
            for (car, met) in contacts.chunks(WHEELS).enumerate() {
                let (push, done) = vehicles[car].solve(&bodies[car], met, &[], controls[car], Coupling::OneSweep, dt);
                tell(car, push, done);
            }
            return;
        }
        let asked: [DriverDemand; ABREAST] =
            core::array::from_fn(|car| vehicles[car].apply_controls::<One>(&bodies[car], controls[car], dt));
        let carried: [f32; ABREAST] = core::array::from_fn(|car| vehicles[car].shafts.constraints[0].impulse);
        self.alone = [false; ABREAST];
        let pushes = self.solve_rows(vehicles, bodies, contacts, controls, dt);
        for (car, push) in pushes.into_iter().enumerate() {
            let (push, done) = if self.alone[car] {
                let (vehicle, met) = (&mut vehicles[car], &contacts[WHEELS * car..WHEELS * (car + 1)]);
                (vehicle.applied, vehicle.shafts.constraints[0].impulse) = (Some(asked[car]), carried[car]);
                vehicle.solve(&bodies[car], met, &[], controls[car], Coupling::OneSweep, dt)
            } else {
                // Nothing of this step is told of it.
                vehicles[car].rows[0].dt = 0.0;
                vehicles[car].rows[0].contact.ground_motion.moves = false;
                (push, SWEPT_ONCE)
            };
            tell(car, push, done);
        }
    }

    /// The stages of the step, and what they push; where a car goes on alone, that is nothing.
    fn solve_rows(
        &mut self,
        vehicles: &mut [Vehicle],
        bodies: &[Body],
        contacts: &[Option<Contact>],
        controls: [&Controls; ABREAST],
        dt: f32,
    ) -> [Push; ABREAST] {
        let chassis = Chassis::of(vehicles, bodies);
        self.locate(vehicles, contacts, &chassis, dt);
        let external = core::array::from_fn(|car| {
            let vehicle = &mut vehicles[car];
            let to_world = vehicle.to_world;
            vehicle.external(&bodies[car], &to_world, controls[car], dt)
        });
        let external = spatial(external);
        let free = chassis.free + response(&self.model, external);
        let warm = free + response(&self.model, wheel_impulses(&self.rows, false));
        self.strut_rows(vehicles, dt);
        let loaded = self.solve_loads(warm, dt);
        self.grip_rows(dt);
        self.sweep(vehicles, loaded);
        let given = external + SpatialVector::default() + wheel_impulses(&self.rows, true);
        let spins = self.rows.iter().fold(Eight::default(), |sum, rows| sum + rows.coupled.spin);
        core::array::from_fn(|car| {
            let (linear, angular) = of_car(given, car).parts();
            let to_world = vehicles[car].to_world;
            let push = Push { impulse: to_world * linear, angular_impulse: to_world * angular, ..Push::default() };
            let all = push.impulse + push.angular_impulse;
            self.alone[car] |= !(all.x + all.y + all.z + spins.car(car)).is_finite();
            push
        })
    }

    /// Contact points, row directions and last step's impulses of every wheel.
    fn locate(&mut self, vehicles: &[Vehicle], contacts: &[Option<Contact>], chassis: &Chassis, dt: f32) {
        let moves = |met: &[Option<Contact>]| met.iter().any(|contact| contact.is_some_and(|c| c.ground.is_some()));
        for (alone, met) in self.alone.iter_mut().zip(contacts.chunks(WHEELS)) {
            *alone |= moves(met);
        }
        let met = met(vehicles, contacts);
        self.take_rows(vehicles);
        let turn = chassis.moving.angular * Eight::splat(dt);
        for (k, (bank, rows)) in self.packs.iter().zip(&mut self.rows).enumerate() {
            let straight = rows.steering.straight_axle;
            rows.contact.axle = straight + turn.cross(straight);
            rows.touch(bank, &met[k], &chassis.to_vehicle);
            rows.move_over(chassis.moving, || chassis.free, Eight::splat(self.pose_lag), dt);
            rows.recall_moments(bank, dt);
            rows.begin();
            leave(&mut self.alone, !rows.contact.in_contact);
        }
    }

    /// Takes over what steering and drivetrain wrote of every wheel, and what it begins with.
    fn take_rows(&mut self, vehicles: &[Vehicle]) {
        macro_rules! take {
            ($($path:tt)+) => {
                let all = by_wheel(core::array::from_fn(|car| vehicles[car].rows[0].$($path)+));
                for (rows, wheel) in self.rows.iter_mut().zip(all) {
                    rows.$($path)+ = wheel;
                }
            };
        }
        take!(steering.straight_axle.x);
        take!(steering.straight_axle.y);
        take!(steering.straight_axle.z);
        take!(begun.spin);
        take!(begun.deflection[0]);
        take!(begun.deflection[1]);
        take!(begun.tyre[0]);
        take!(begun.tyre[1]);
        take!(begun.torque);
        take!(begun.rolling_speed);
        take!(begun.rolling);
        if !self.packs[0].laws.is_empty() {
            take!(begun.moments[0]);
            take!(begun.moments[1]);
        }
        take!(drive.momentum);
        take!(drive.motor);
        take!(drive.brake);
        take!(drive.shaft);
    }

    /// Struts and the bars across their axles.
    fn strut_rows(&mut self, vehicles: &[Vehicle], dt: f32) {
        for (bank, rows) in self.packs.iter().zip(&mut self.rows) {
            rows.strut_step(bank, dt);
        }
        if self.model.has_axle_links() {
            let share = Eight::of_each(|car| vehicles[car].bar_share);
            sum_bars(&self.packs, &mut self.rows, share);
            for (bank, rows) in self.packs.iter().zip(&self.rows) {
                leave(&mut self.alone, rows.lifted(bank));
            }
        }
    }

    /// As [`Vehicle::solve_loads`], as long as no step is cut.
    fn solve_loads(&mut self, warm: SpatialVector<Eight>, dt: f32) -> SpatialVector<Eight> {
        for (bank, rows) in self.packs.iter().zip(&mut self.rows) {
            rows.begin_load(bank, warm, dt);
        }
        self.load_bars();
        for (bank, rows) in self.packs.iter().zip(&mut self.rows) {
            rows.evaluate_load(bank);
        }
        let (mut after, mut settled) = (warm, <Eight as Lane>::Mask::default());
        for _ in 0..SHORTER {
            let (mut products, mut wished) = loads_at_once(&self.rows);
            let mut tied = SpatialVector::default();
            if self.model.has_axle_links() {
                tied = tied + Bars::of(&self.rows, warm).add_to(&mut products);
            }
            wished = wished + tied;
            let system = Symmetric6::new(self.model.mass(), self.model.inertia(), &products);
            let newton = warm + system.solve(wished);
            after = select(settled, after, newton);
            self.rows.iter_mut().for_each(|rows| rows.set_load_velocity(after));
            self.load_bars();
            let mut off = <Eight as Lane>::Mask::default();
            for (bank, rows) in self.packs.iter().zip(&mut self.rows) {
                off = off | rows.settle_load(bank);
            }
            settled = settled | !off;
            if !Eight::any(!settled) {
                break;
            }
        }
        leave(&mut self.alone, !settled);
        after
    }

    fn load_bars(&mut self) {
        if self.model.has_axle_links() {
            load_bars(&mut self.rows);
        }
    }

    /// Tyre rows of wheels that roll.
    fn grip_rows(&mut self, dt: f32) {
        for (bank, rows) in self.packs.iter().zip(&mut self.rows) {
            leave(&mut self.alone, rows.begun.rolling.less(Eight::splat(1.0)));
            rows.grip_row(bank, &self.model.parts().tyres, dt);
        }
    }

    /// As [`Vehicle::sweep_once`], where tyres are not stiff.
    fn sweep(&mut self, vehicles: &mut [Vehicle], loaded: SpatialVector<Eight>) {
        let [gripping, ..] = Eight::sums(|k| [Eight::splat(1.0).only(self.rows[k].patch.tyre_active); 4]);
        for (bank, rows) in self.packs.iter().zip(&mut self.rows) {
            rows.coupled.friction_bound = rows.limit();
            rows.coupled.effective_mass = surroundings(bank, false, rows, loaded, gripping);
            leave(&mut self.alone, rows.is_stiff());
        }
        self.solve_clutches(vehicles);
        for (bank, rows) in self.packs.iter().zip(&mut self.rows) {
            rows.solve_block(bank, Within::NearCone);
        }
    }

    fn solve_clutches(&mut self, vehicles: &mut [Vehicle]) {
        let alone = &mut self.alone;
        let mut open = [false; ABREAST];
        for (car, vehicle) in vehicles.iter_mut().enumerate() {
            vehicle.shafts.within = Within::NearCone;
            vehicle.hull.clear();
            open[car] = vehicle.shafts.are_open();
            alone[car] |= !open[car] && !vehicle.shafts.is_clutch();
        }
        if !open.contains(&false) {
            return;
        }
        let mut settled = open;
        let mut pass = |car: usize, measured: [f32; 2]| {
            if settled[car] || alone[car] {
                // What is added to any number, zeros included, and changes no bit of it.
                return (-0.0, true);
            }
            let (change, done) = vehicles[car].shafts.clutch_pass(measured);
            settled[car] = done;
            (change, done)
        };
        settle_clutches(&self.packs, &mut self.rows, &mut pass);
        for (alone, settled) in alone.iter_mut().zip(settled) {
            *alone |= !settled;
        }
    }

    /// As [`Vehicle::finish`] of each.
    pub fn finish(&self, vehicles: &mut [Vehicle], bodies: &[Body], dt: f32, mut tell: impl FnMut(usize, StepReport)) {
        let mut at = [SpatialVector::<f32>::default(); ABREAST];
        let mut follows = [false; ABREAST];
        for (car, (vehicle, body)) in vehicles.iter_mut().zip(bodies).enumerate() {
            if self.alone[car] {
                tell(car, vehicle.finish(body, dt));
                continue;
            }
            let angular = settled_rate(&vehicle.state, body, dt);
            let report = vehicle.follow(body);
            let to_vehicle = vehicle.to_world.transpose();
            at[car] = SpatialVector::of(to_vehicle * body.velocity, to_vehicle * angular);
            follows[car] = !report.not_finite;
            tell(car, report);
        }
        if !follows.contains(&true) {
            return;
        }
        let at = spatial(at);
        let ended: [_; WHEELS] = core::array::from_fn(|k| {
            EndedByCar::of(&self.rows[k], &self.rows[k].ended(&self.packs[k], at, self.pose_lag, dt), dt)
        });
        for (car, vehicle) in vehicles.iter_mut().enumerate().filter(|(car, _)| follows[*car]) {
            for (wheel, ended) in vehicle.state.wheels.iter_mut().zip(&ended) {
                ended.write(car, wheel);
            }
            vehicle.shafts.write_back(&mut vehicle.state.drive, &self.model, &vehicle.rows);
        }
    }
}

impl Chassis {
    fn of(vehicles: &[Vehicle], bodies: &[Body]) -> Self {
        let to_vehicle: [Mat3; ABREAST] = core::array::from_fn(|car| vehicles[car].to_world.transpose());
        let axis = |of: fn(&Mat3) -> Vec3| vector(core::array::from_fn(|car| of(&to_vehicle[car])));
        let axes = Axes { x: axis(|m| m.x_axis), y: axis(|m| m.y_axis), z: axis(|m| m.z_axis) };
        let of = |part: fn(&Body) -> Vec3| vector(core::array::from_fn(|car| part(&bodies[car]))).turned(&axes);
        Self {
            to_vehicle: axes,
            moving: SpatialVector::new(of(|b| b.velocity), of(|b| b.angular)),
            free: SpatialVector::new(of(|b| b.free_velocity), of(|b| b.free_angular)),
        }
    }
}

/// What wheels end with, car by car in each number.
struct EndedByCar {
    numbers: [[f32; ABREAST]; NUMBERS],
    moments: [[f32; ABREAST]; 2],
    contact: [bool; ABREAST],
}

impl EndedByCar {
    fn of(rows: &Rows<Eight>, ended: &Ended<Eight>, dt: f32) -> Self {
        let moment = |i: usize| (rows.patch.moments[i] / Eight::splat(dt)).lanes();
        Self {
            numbers: ended.numbers().map(Eight::lanes),
            moments: if rows.patch.has_laws { [0, 1].map(moment) } else { Default::default() },
            contact: ended.contact.lanes(),
        }
    }

    fn write(&self, car: usize, wheel: &mut WheelState) {
        let numbers = core::array::from_fn(|n| Four::new(core::array::from_fn(|k| self.numbers[4 * n + k][car])));
        WheelEnded { numbers, contact: self.contact[car] }.write(wheel);
        [wheel.overturning, wheel.aligning] = self.moments.map(|of| of[car]);
    }
}

/// Numbers of four wheels of each car, as those of each car's for every wheel.
fn by_wheel(cars: [Four; ABREAST]) -> [Eight; WHEELS] {
    let [a, b, c, d, e, f, g, h] = cars;
    let (first, last) = (Four::transposed([a, b, c, d]), Four::transposed([e, f, g, h]));
    core::array::from_fn(|wheel| Eight::of_halves([first[wheel], last[wheel]]))
}

fn vector(cars: [Vec3; ABREAST]) -> Vec3Lanes<Eight> {
    let of = |part: fn(Vec3) -> f32| Eight::of_each(|car| part(cars[car]));
    Vec3Lanes::new(of(|v| v.x), of(|v| v.y), of(|v| v.z))
}

fn spatial(cars: [SpatialVector<f32>; ABREAST]) -> SpatialVector<Eight> {
    SpatialVector::new(vector(cars.map(|car| car.parts().0)), vector(cars.map(|car| car.parts().1)))
}

fn of_car(all: SpatialVector<Eight>, car: usize) -> SpatialVector<f32> {
    let of = |v: Vec3Lanes<Eight>| Vec3::new(v.x.car(car), v.y.car(car), v.z.car(car));
    SpatialVector::of(of(all.linear), of(all.angular))
}

fn select(mask: <Eight as Lane>::Mask, yes: SpatialVector<Eight>, no: SpatialVector<Eight>) -> SpatialVector<Eight> {
    SpatialVector::new(Vec3Lanes::select(mask, yes.linear, no.linear), Vec3Lanes::select(mask, yes.angular, no.angular))
}

/// Lets the cars of `mask` go on alone.
fn leave(alone: &mut [bool; ABREAST], mask: <Eight as Lane>::Mask) {
    if Eight::any(mask) {
        for (alone, leaves) in alone.iter_mut().zip(mask.lanes()) {
            *alone |= leaves;
        }
    }
}

fn met(vehicles: &[Vehicle], contacts: &[Option<Contact>]) -> [Met<Eight>; WHEELS] {
    let cars: [Met<Four>; ABREAST] = core::array::from_fn(|car| {
        Met::by(&vehicles[car].model.banks()[0], &contacts[WHEELS * car..WHEELS * (car + 1)])
    });
    let of = |part: &dyn Fn(&Met<Four>) -> Four| by_wheel(core::array::from_fn(|car| part(&cars[car])));
    let [x, y, z] = [of(&|m| m.normal.x), of(&|m| m.normal.y), of(&|m| m.normal.z)];
    let hit = of(&|m| Four::splat(1.0).only(m.hit));
    let (distance, grip) = (of(&|m| m.distance), of(&|m| m.grip));
    core::array::from_fn(|k| Met {
        hit: Eight::splat(0.0).less(hit[k]),
        normal: Vec3Lanes::new(x[k], y[k], z[k]),
        distance: distance[k],
        grip: grip[k],
    })
}
