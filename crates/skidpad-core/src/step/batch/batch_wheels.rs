//! Wheels of a batch of cars, as load solve and solvers see them.

use crate::assembly::suspension::axle_links::{BarResponse, update_bar_impulses};
use crate::impulse_bounds::ImpulseBounds;
use crate::model::Model;
use crate::model::body::BodyConstants;
use crate::model::wheel_pack::WheelPack;
use crate::step::batch::clutches::BatchClutches;
use crate::step::batch::lane_exchange::BATCH_LANES;
use crate::step::batch::shafts::solve_batch_shafts;
use crate::step::batch::workspace::BatchWorkspace;
use crate::step::loads::{LoadWheels, SOLVES_BEFORE_CUTS, solve_load_rows};
use crate::step::step_wheels::StepWheels;
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;
use bevy_math::Vec3;
use skidpad_simd::lane::CarLanes;
use skidpad_simd::linear::{OuterProducts, SpatialVector};
use skidpad_simd::wheel_groups::WheelGroups;

/// Wheels of a batch of cars, with one car per lane.
pub(crate) struct BatchWheels<'a, W: CarLanes> {
    /// Packs and rows with one car per lane.
    pub(super) workspace: &'a mut BatchWorkspace<W>,
    /// Vehicles, in the order of the lanes.
    pub(super) vehicles: &'a mut [Vehicle; BATCH_LANES],
    /// Length of the step (s), > 0.
    pub(super) dt: f32,
}

impl<B: WheelGroups, W: CarLanes> StepWheels<B> for BatchWheels<'_, W> {
    type Lanes = W;

    #[inline(always)]
    fn model(&self) -> &Model {
        &self.workspace.model
    }

    #[inline(always)]
    fn body(&self) -> BodyConstants<W> {
        BodyConstants::of(&self.workspace.model)
    }

    #[inline(always)]
    fn packs(&mut self) -> impl Iterator<Item = (&WheelPack<W>, &mut WheelRows<W>)> {
        self.workspace.wheels::<B>()
    }

    #[inline(always)]
    fn rows(&self) -> &[WheelRows<W>] {
        self.workspace.rows::<B>()
    }

    /// Returns false: a batch has neither rims nor roll-centre links.
    #[inline(always)]
    fn has_tilted_rows(&self) -> bool {
        false
    }

    /// Solves the rows between spins (clutch, motors, converters, couplings) of all cars. Cars that have left the
    /// batch, or whose rows cannot carry an impulse, are skipped. Cars whose clutch has not converged leave the batch.
    ///
    /// If the batch has common engines (`workspace.engines`), solves all clutches in lanes. Otherwise the engines are
    /// those of the vehicles: solves cars with other rows than a lone clutch by `solve_shaft_rows`, then all lone
    /// clutches in lanes.
    #[inline(always)]
    fn solve_shafts(&mut self) {
        if self.workspace.engines.are_batched {
            let BatchWorkspace { engines, has_left_batch, packs, rows, .. } = &mut *self.workspace;
            // Number of packs, those without a wheel included.
            let pack_count = B::wheel_count(rows.len());
            let packs_and_rows = (&packs[..pack_count], &mut rows[..pack_count]);
            let (impulse, unconverged) = engines.clutches(has_left_batch).solve(self.vehicles, packs_and_rows, self.dt);
            engines.set_impulses(impulse);
            self.mark_unbatched(unconverged);
            return;
        }
        // `has_clutch`: 1 for cars with a lone clutch to solve; `has_rows`: cars with other rows.
        let (mut has_clutch, mut has_rows) = ([0.0; BATCH_LANES], [false; BATCH_LANES]);
        for (car, vehicle) in self.vehicles.iter_mut().enumerate() {
            vehicle.shafts.impulse_bounds = ImpulseBounds::ApproximateCone;
            let is_idle = vehicle.shafts.are_open() | self.workspace.has_left_batch[car];
            let is_clutch = vehicle.shafts.is_lone_clutch();
            has_rows[car] = !(is_idle | is_clutch);
            has_clutch[car] = if is_idle | !is_clutch { 0.0 } else { 1.0 };
        }
        if has_rows.contains(&true) {
            self.solve_shaft_rows(has_rows);
        }
        let clutch_cars = W::splat(0.0).less(W::from_lanes(has_clutch));
        if !W::any(clutch_cars) {
            return;
        }
        let clutches = BatchClutches::from_vehicles(self.vehicles, clutch_cars);
        let (impulse, unconverged) = clutches.solve(self.vehicles, self.workspace.packs_and_rows::<B>(), self.dt);
        for (vehicle, impulse) in self.vehicles.iter_mut().zip(impulse.to_lanes()) {
            vehicle.shafts.constraints[0].impulse = impulse;
        }
        self.mark_unbatched(unconverged);
    }

    /// Solves the loads from `v_warm`. The velocity without wheels is not needed: in a batch, unsprung masses do not
    /// move relative to the chassis.
    #[inline(always)]
    fn solve_loads(&mut self, _: SpatialVector<W>, v_warm: SpatialVector<W>) -> (SpatialVector<W>, W::Mask) {
        let dt = self.dt;
        solve_load_rows::<B, _>(self, v_warm, dt)
    }
}

impl<B: WheelGroups, W: CarLanes> LoadWheels<B> for BatchWheels<'_, W> {
    const MAX_LOAD_SOLVES: usize = SOLVES_BEFORE_CUTS;

    /// Computes the impulses of the anti-roll bars between the wheels of an axle; a batch has no other axle links.
    #[inline(always)]
    fn update_link_impulses(&mut self) {
        if self.workspace.model.has_axle_links() {
            let (_, rows) = self.workspace.packs_and_rows::<B>();
            for rows in rows.chunks_exact_mut(W::ROWS_PER_AXLE_PAIR) {
                update_bar_impulses(rows);
            }
        }
    }

    /// Adds the derivative of the anti-roll bar impulses with respect to the chassis velocity to `products`. Returns
    /// the change of these impulses from the velocities in the rows to `v_warm`. The external impulses are 0 in a
    /// batch.
    #[inline(always)]
    fn add_axle_links(&self, products: &mut OuterProducts<W>, v_warm: SpatialVector<W>) -> SpatialVector<W> {
        let mut link_impulse = LoadWheels::<B>::external_link_impulse(self);
        if self.workspace.model.has_axle_links() {
            for rows in self.workspace.rows::<B>().chunks_exact(W::ROWS_PER_AXLE_PAIR) {
                link_impulse = link_impulse + BarResponse::new(rows, v_warm).add_to(products);
            }
        }
        link_impulse
    }
}

impl<W: CarLanes> BatchWheels<'_, W> {
    /// Marks the cars of `mask` as leaving the batch: they are solved alone at the end of the step. Earlier marks stay.
    #[inline(always)]
    pub(super) fn mark_unbatched(&mut self, mask: W::Mask) {
        let bits = W::bits(mask);
        if bits != 0 {
            for (car, has_left_batch) in self.workspace.has_left_batch.iter_mut().enumerate() {
                *has_left_batch |= bits & (1 << car) != 0;
            }
        }
    }

    /// Solves the rows between spins (motors, converters, couplings) of the cars in `has_rows`, starting from the last
    /// step. The start needs the speed that each car gained forward in the last step (m/s).
    #[inline(never)]
    fn solve_shaft_rows(&mut self, has_rows: [bool; BATCH_LANES]) {
        let (forward_axis, mut speed_gains) = (self.workspace.chassis.to_world.x, [None; BATCH_LANES]);
        for (car, vehicle) in self.vehicles.iter().enumerate().filter(|(car, _)| has_rows[*car]) {
            let state = &vehicle.state;
            speed_gains[car] = Some(Vec3::from(forward_axis.lane(car)).dot(state.velocity - state.previous_velocity));
        }
        let BatchWorkspace { packs, rows, start_impulses, .. } = &mut *self.workspace;
        solve_batch_shafts(self.vehicles, speed_gains, start_impulses, (packs, rows));
    }
}
