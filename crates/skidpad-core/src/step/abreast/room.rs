//! Workspace of a batch of plain cars of one model: rows with one car per lane. Begins and ends a step; its stages are
//! in [`crate::step::abreast::in_step`].

use std::sync::Arc;

use crate::banks::{Banks, Many, One};
use crate::drivetrain::assisted::converter;
use crate::drivetrain::drive::turning;
use crate::drivetrain::rows::MOST_CONSTRAINTS;
use crate::lane::Octet;
use crate::model::Model;
use crate::step::abreast::clutches::Engines;
use crate::step::abreast::each::{ABREAST, Chassis, EndedByCar, Motion};
use crate::step::coupling::StepReport;
use crate::step::rows::Rows;
use crate::step::vehicle::Vehicle;
use crate::telemetry::signals::WheelRows;
use crate::wheel::pack::WheelPack;
use crate::world::seam::{Body, Probe};
use bevy_math::{Mat3, Vec3};

/// Speed far above walking pace (m/s).
const FAST: f32 = 100.0;

/// Workspace of a batch of plain cars of one model, by wheel.
#[derive(Clone, Debug)]
pub(crate) struct Room<W: Octet> {
    pub model: Arc<Model>,
    /// Wheel packs, shared by all batches of the model: one for each lane of its banks.
    pub packs: Arc<[WheelPack<W>]>,
    /// Rows, one for each pack. Rows of lanes without a wheel stay constant and have no mass.
    pub rows: Box<[Rows<W>]>,
    /// Number of wheels of a car; the first packs and rows are theirs.
    pub wheels: usize,
    /// Number of rows between spins, from the first, whose speed is needed at the end of a step: motors, and a possible
    /// converter.
    turned: usize,
    /// Motion of the chassis at the start of the step.
    pub chassis: Chassis<W>,
    /// Steering angles of the axle directions in the rows; see [`Vehicle::turned_to`].
    pub turned_to: [Option<u32>; ABREAST],
    pub engines: Engines<W>,
    /// Impulse of each clutch at the start of the step, and its impulse on the shaft (N m s), if each car has its own
    /// engine.
    pub began: [[f32; 2]; ABREAST],
    /// Whether each car has left the batch in this step.
    pub alone: [bool; ABREAST],
    /// Number of remaining steps in which all cars are stepped one by one, and the number for the next time.
    pub apart: [u8; 2],
    pub pose_lag: f32,
    /// Angular impulse that ABS has removed from the brakes (N m s).
    pub taken: W,
}

impl<W: Octet> Room<W> {
    /// Returns the rows of wheel `wheel` of car `lane`; `None` if the car was stepped alone or has no such wheel.
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

    /// Creates the workspace of another batch of the model.
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
            engines: Engines::default(),
            began: [[0.0; 2]; ABREAST],
            alone: [true; ABREAST],
            apart: [0, 1],
            pose_lag: 0.0,
            taken: W::default(),
        }
    }

    pub fn has_engine(&self) -> bool {
        self.model.parts().powertrain.engine().is_some()
    }

    pub fn has_abs(&self) -> bool {
        self.model.parts().assists.abs.is_some()
    }

    /// Returns true if the cars are stepped one by one in this step.
    pub fn goes_apart(&self) -> bool {
        self.apart[0] > 0
    }

    /// Counts a step in which the cars are stepped one by one.
    pub fn went_apart(&mut self) {
        self.apart[0] = self.apart[0].saturating_sub(1);
    }

    /// Returns true if any car was stepped alone in the last step.
    pub fn has_parted(&self) -> bool {
        self.alone.contains(&true)
    }

    /// Discards the signals of the last step of car `lane`.
    pub fn forget(&mut self, lane: usize) {
        self.alone[lane] = true;
    }

    /// Returns the pack and the rows of each wheel.
    #[inline(always)]
    pub fn wheels<B: Banks>(&mut self) -> impl Iterator<Item = (&WheelPack<W>, &mut Rows<W>)> {
        let wheels = B::wheels(self.wheels);
        self.packs[..wheels].iter().zip(&mut self.rows[..wheels])
    }

    /// Returns the rows of all lanes of the banks, including those without a wheel.
    #[inline(always)]
    pub fn rows<B: Banks>(&self) -> &[Rows<W>] {
        &self.rows[..B::wheels(self.rows.len())]
    }

    /// Returns the packs and the rows of all lanes of the banks, including those without a wheel.
    #[inline(always)]
    pub fn lanes<B: Banks>(&mut self) -> (&[WheelPack<W>], &mut [Rows<W>]) {
        let lanes = B::wheels(self.rows.len());
        (&self.packs[..lanes], &mut self.rows[..lanes])
    }

    pub fn ask(&mut self, first: usize, bodies: &[Body; ABREAST], dt: f32, asked: &mut [Probe]) {
        W::widest(
            #[inline(always)]
            || {
                let are_finite;
                (self.chassis, are_finite) = Chassis::of(bodies, dt);
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
            // Other cars get a high speed, so that they do not trigger the special treatment of standing patches.
            let follow = W::of_each(|car| if follows[car] { 1.0 } else { 0.0 });
            moving.linear.x = W::select(W::splat(0.0).less(follow), moving.linear.x, W::splat(FAST));
        }
        let wheels = B::wheels(self.wheels);
        for (k, (bank, rows)) in self.packs[..wheels].iter().zip(&self.rows[..wheels]).enumerate() {
            let ended = EndedByCar::of(rows, &rows.ended(bank, moving, self.pose_lag, dt));
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
        if self.engines.are_abreast {
            let [speed, torque] = self.engines.ended(dt);
            for (car, vehicle) in vehicles.iter_mut().enumerate().filter(|(car, _)| follows[*car]) {
                let drive = &mut vehicle.state.drive;
                (drive.engine_speed, drive.clutch) = (speed[car], torque[car]);
            }
            return;
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

/// Computes [`Room::turned`] of `model`.
fn turned(model: &Model) -> usize {
    let (motors, engine) = (model.parts().motors.len(), usize::from(model.parts().powertrain.engine().is_some()));
    if motors > 0 || converter(model).is_some() { engine + motors } else { 0 }
}
