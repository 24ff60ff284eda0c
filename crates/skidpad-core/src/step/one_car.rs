//! Stages of a step of one car that differ from those of a batch.

use crate::assists::DriverDemand;
use crate::banks::Banks;
use crate::lane::Four;
use crate::linear::{OuterProducts, SpatialVector, Symmetric6};
use crate::model::Model;
use crate::step::coupling::StepReport;
use crate::step::newton::NewtonStep;
use crate::step::rows::Rows;
use crate::step::stages::{Stages, StepInputs, Velocities, Wheels};
use crate::step::vehicle::{Vehicle, banks};
use crate::suspension::loads::{LOAD_SOLVES, SHORTER};
use crate::suspension::rows::Loaded;
use crate::vectors::Vec3Lanes;
use crate::wheel::pack::WheelPack;
use crate::world::seam::Push;

impl<B: Banks> Wheels<B> for Vehicle {
    type Lanes = Four;

    const LOAD_SOLVES: usize = LOAD_SOLVES;

    #[inline(always)]
    fn model(&self) -> &Model {
        &self.model
    }

    #[inline(always)]
    fn packs(&mut self) -> impl Iterator<Item = (&WheelPack, &mut Rows)> {
        banks::<B>(&self.model, &mut self.rows)
    }

    #[inline(always)]
    fn rows(&self) -> &[Rows] {
        B::of(&self.rows)
    }

    #[inline(always)]
    fn load_axle_links(&mut self) {
        self.load_axle_links::<B>();
    }

    #[inline(always)]
    fn beside(&self) -> SpatialVector<f32> {
        self.beside
    }

    #[inline(always)]
    fn add_axle_links(&self, products: &mut OuterProducts, warm: SpatialVector<f32>) -> SpatialVector<f32> {
        self.add_axle_links::<B>(products, warm)
    }

    #[inline(always)]
    fn cut_step(
        &self,
        solve: usize,
        last: &mut Option<NewtonStep>,
        way: [SpatialVector<f32>; 3],
        system: &Symmetric6,
    ) -> Option<SpatialVector<f32>> {
        if solve < SHORTER { None } else { self.cut_long_step(last, way, system) }
    }

    #[inline(always)]
    fn is_slanted(&self) -> bool {
        self.model.has_slanted_rows()
    }

    #[inline(always)]
    fn solve_shafts(&mut self) {
        self.solve_shafts::<B>();
    }
}

/// Step of one car.
pub(crate) struct OneCar<'a> {
    pub vehicle: &'a mut Vehicle,
    pub push: &'a mut Push,
    pub inputs: &'a StepInputs<'a>,
    pub asked: Option<DriverDemand>,
    /// Whether every wheel is in contact.
    pub all_touch: bool,
    /// Whether the results of the step are finite.
    pub ends: bool,
}

impl<'a> OneCar<'a> {
    #[inline(always)]
    pub fn of(vehicle: &'a mut Vehicle, push: &'a mut Push, inputs: &'a StepInputs<'a>) -> Self {
        Self { vehicle, push, inputs, asked: None, all_touch: true, ends: true }
    }
}

impl<B: Banks> Stages<B> for OneCar<'_> {
    type Wheels = Vehicle;

    #[inline(always)]
    fn wheels(&mut self) -> &mut Vehicle {
        self.vehicle
    }

    #[inline(always)]
    fn drive(&mut self) {
        let StepInputs { body, controls, dt, .. } = *self.inputs;
        self.asked = Some(match self.vehicle.applied.take() {
            Some(asked) => asked,
            None => self.vehicle.apply_controls::<B>(body, controls, dt),
        });
    }

    #[inline(always)]
    fn locate(&mut self) {
        let StepInputs { body, contacts, coupling, dt, .. } = *self.inputs;
        let unsprung = self.vehicle.has_unsprung(coupling);
        let to_world = self.vehicle.to_world;
        self.all_touch = self.vehicle.locate::<B>(body, &to_world, contacts, unsprung, dt);
    }

    #[inline(always)]
    fn external(&mut self, by_tyres: Vec3Lanes<f32>) -> SpatialVector<f32> {
        let StepInputs { body, controls, dt, .. } = *self.inputs;
        let to_world = self.vehicle.to_world;
        self.vehicle.external(body, &to_world, by_tyres, controls, dt)
    }

    #[inline(always)]
    fn free(&self) -> SpatialVector<f32> {
        self.vehicle.free_velocity_in_body(self.inputs.body, &self.vehicle.to_world)
    }

    #[inline(always)]
    fn follow(&mut self, [free, mut warm]: [SpatialVector<f32>; 2]) -> SpatialVector<f32> {
        let (vehicle, &StepInputs { body, coupling, dt, .. }) = (&mut *self.vehicle, self.inputs);
        if vehicle.has_unsprung(coupling) {
            vehicle.begin_unsprung(body.pose_lag);
            return warm;
        }
        if vehicle.model.has_slanted_rows() {
            warm = vehicle.slant_rows(body, free, warm);
        }
        if !self.all_touch {
            vehicle.land_by_loads(body, [free, warm], dt);
        }
        vehicle.unload_beams(body, [free, warm], dt)
    }

    #[inline(always)]
    fn strut_rows(&mut self) {
        self.vehicle.axle_link_rows::<B>(self.inputs.dt);
    }

    #[inline(always)]
    fn load(&mut self, [free, warm]: [SpatialVector<f32>; 2]) -> Loaded {
        let loaded = self.vehicle.solve_any_loads::<B>(free, warm, self.inputs.dt);
        self.vehicle.jack();
        loaded
    }

    #[inline(always)]
    fn grip(&mut self, loaded: SpatialVector<f32>) {
        self.vehicle.grip_rows::<B>(loaded, self.inputs.dt);
        self.vehicle.soften();
    }

    #[inline(always)]
    fn assist(&mut self, loaded: SpatialVector<f32>) {
        if let Some(asked) = &self.asked {
            self.vehicle.assist_brakes(asked, loaded, self.inputs.dt);
        }
    }

    #[inline(always)]
    fn couple(&mut self, velocities: &Velocities) -> StepReport {
        let StepInputs { coupling, hull, dt, .. } = *self.inputs;
        let report = self.vehicle.couple::<B>(coupling, velocities, hull, dt);
        self.vehicle.jack();
        self.vehicle.record_assists(dt);
        report
    }

    #[inline(always)]
    fn push(&mut self, external: SpatialVector<f32>) {
        let (vehicle, to_world) = (&*self.vehicle, self.vehicle.to_world);
        let given = external + vehicle.beside + vehicle.wheel_impulses::<B>(true);
        let (linear, angular) = given.parts();
        let mut push = Push { impulse: to_world * linear, angular_impulse: to_world * angular, ..Push::default() };
        if !vehicle.hull.is_off() {
            let (stop, turn_stop) = vehicle.hull.impulse().parts();
            (push.stop, push.angular_stop) = (to_world * stop, to_world * turn_stop);
        }
        let all = push.impulse + push.angular_impulse + push.stop + push.angular_stop;
        let spins: f32 = B::of(&vehicle.rows).iter().map(|rows| rows.coupled.spin.sum()).sum();
        self.ends = (all.x + all.y + all.z + spins).is_finite();
        *self.push = push;
    }
}
