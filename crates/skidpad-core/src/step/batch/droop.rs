//! Wheels of a batch of cars in droop, off the ground or lifted by their anti-roll bars.

use crate::assembly::suspension::axle_links::update_bar_forces;
use crate::constants::MAX_WHEELS;
use crate::step::batch::batch_step::BatchStep;
use crate::step::batch::lane_exchange::BATCH_LANES;
use crate::step::loads::solve_load_rows;
use crate::step::stages::Stages;
use crate::suspension::parameters::Strut;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::CarLanes;
use skidpad_simd::linear::SpatialVector;
use skidpad_simd::wheel_groups::WheelGroups;

/// Value for each wheel of each car.
type PerWheel = [[f32; BATCH_LANES]; MAX_WHEELS];

impl<W: CarLanes> BatchStep<'_, W> {
    /// Returns the compression of each wheel of the masked `cars` at which strut spring and bars balance without ground
    /// load (m, positive in jounce); 0 for other cars. `travel` returns the compression of the opposite wheels from
    /// their rows. Results are at least `lower_limit` (m, by strut) and at most the bump travel.
    #[inline(always)]
    fn unloaded_compressions(
        &self,
        cars: W::Mask,
        travel: impl Fn(&WheelRows<W>) -> W,
        lower_limit: impl Fn(&Strut) -> f32,
    ) -> PerWheel {
        let (model, rows, bits) = (&self.wheels.workspace.model, &self.wheels.workspace.rows, W::bits(cars));
        let mut compressions = [[0.0; BATCH_LANES]; MAX_WHEELS];
        for car in (0..BATCH_LANES).filter(|car| bits & (1 << car) != 0) {
            // Share of the bar rates, and speed of the car (m/s), on which the rates may depend.
            let bar_inputs = [self.controls[car].bar_rate_share(), self.wheels.vehicles[car].state.velocity.length()];
            for (wheel_index, wheel_compressions) in
                compressions.iter_mut().enumerate().take(self.wheels.workspace.wheel_count)
            {
                let (strut, balance) = (
                    &model.wheels()[wheel_index].strut,
                    model.unloaded_compression(wheel_index, bar_inputs, |other_index| {
                        travel(&rows[other_index]).lane(car)
                    }),
                );
                wheel_compressions[car] = balance.clamp(lower_limit(strut), strut.bump_travel);
            }
        }
        compressions
    }

    /// Moves the wheels without contact of the masked `cars` to the compression at which strut and bars balance in
    /// droop, within droop and bump travel. The balance of each wheel uses other wheels without contact at full droop.
    /// Wheels with contact are unchanged. `cars` must contain every car that has a wheel without contact.
    #[cold]
    #[inline(never)]
    pub(super) fn set_droop_compressions<B: WheelGroups>(&mut self, cars: W::Mask) {
        W::call_outlined(
            #[inline(always)]
            || {
                // Moves the wheels without contact to `compression`.
                let set_airborne_compression = |rows: &mut WheelRows<W>, compression: W| {
                    rows.contact.compression =
                        W::select(rows.contact.in_contact, rows.contact.compression, compression);
                };
                for (pack, rows) in self.wheels.workspace.wheels::<B>() {
                    set_airborne_compression(rows, -pack.droop_travel);
                }
                let compressions =
                    self.unloaded_compressions(cars, |rows| rows.contact.compression, |strut| -strut.droop_travel);
                for (compression, (_, rows)) in compressions.into_iter().zip(self.wheels.workspace.wheels::<B>()) {
                    set_airborne_compression(rows, W::from_lanes(compression));
                }
            },
        );
    }

    /// Detects wheels of `airborne_cars` that touch down during the step because the loads of other wheels move the
    /// chassis, and gives these wheels a contact for the rest of the step. Only cars with both a wheel above ground and
    /// one in contact count; without such a car nothing happens.
    ///
    /// Builds the strut rows and solves the loads from `v_warm`, the chassis velocity with the last step's tyre
    /// impulses. If any wheel lands, the wheels that remain in the air are moved to their equilibrium in droop again.
    /// Cars whose loads have not converged leave the batch.
    #[cold]
    #[inline(never)]
    pub(super) fn detect_touchdowns<B: WheelGroups>(&mut self, airborne_cars: W::Mask, v_warm: SpatialVector<W>) {
        W::call_outlined(
            #[inline(always)]
            || {
                // Cars with a wheel above ground, and cars with a wheel in contact.
                let (mut has_wheel_above, mut has_contact) = (W::Mask::default(), W::Mask::default());
                for (_, rows) in self.wheels.workspace.wheels::<B>() {
                    (has_wheel_above, has_contact) =
                        (has_wheel_above | rows.airborne_wheels(), has_contact | rows.contact.in_contact);
                }
                let cars = airborne_cars & has_wheel_above & has_contact;
                if !W::any(cars) {
                    return;
                }
                Stages::<B>::build_strut_rows(self);
                let dt = self.wheels.dt;
                let (v_loaded, converged) = solve_load_rows::<B, _>(&mut self.wheels, v_warm, dt);
                self.wheels.mark_unbatched(cars & !converged);
                let (v_start, pose_lag) =
                    (self.wheels.workspace.chassis.start_velocity, W::splat(self.wheels.workspace.pose_lag));
                let mut has_touchdown = false;
                for (pack, rows) in self.wheels.workspace.wheels::<B>() {
                    has_touchdown |= rows.detect_touchdown(pack, cars, [v_start, v_loaded], pose_lag, dt);
                }
                if has_touchdown {
                    self.set_droop_compressions::<B>(airborne_cars);
                }
            },
        );
    }

    /// Moves the bar ends of lifted wheels of the masked `cars` to the balance of strut and bars, and updates
    /// the bar forces. A wheel is lifted by its bars if its travel is below this balance, which has no droop limit.
    /// `rate_share` is the active share of the bars' rate, 0 to 1. Stores the lifted wheels, and for each wheel the bar
    /// force before the move times the step (N s), which only lifted wheels use.
    #[cold]
    #[inline(never)]
    pub(super) fn lift_bar_ends<B: WheelGroups>(&mut self, cars: W::Mask, rate_share: W) {
        W::call_outlined(
            #[inline(always)]
            || {
                let balances =
                    self.unloaded_compressions(cars, |rows| rows.suspension.axle_links.travel, |_| f32::NEG_INFINITY);
                let dt = W::splat(self.wheels.dt);
                for (balance_by_car, (_, rows)) in balances.into_iter().zip(self.wheels.workspace.wheels::<B>()) {
                    let balance = W::from_lanes(balance_by_car);
                    let axle_links = &mut rows.suspension.axle_links;
                    axle_links.lifted = axle_links.travel.less(balance) & cars;
                    axle_links.travel = W::select(axle_links.lifted, balance, axle_links.travel);
                    axle_links.lifted_impulse = dt * axle_links.force;
                }
                self.update_all_bar_forces::<B>(rate_share);
            },
        );
    }

    /// Updates the force of the bars at each strut (N) to the present travels, axle pair by axle pair. `rate_share` is
    /// the active share of their rate, 0 to 1.
    #[inline(always)]
    pub(super) fn update_all_bar_forces<B: WheelGroups>(&mut self, rate_share: W) {
        let (packs, rows) = self.wheels.workspace.packs_and_rows::<B>();
        for (packs, rows) in packs.chunks_exact(W::ROWS_PER_AXLE_PAIR).zip(rows.chunks_exact_mut(W::ROWS_PER_AXLE_PAIR))
        {
            update_bar_forces(packs, rows, rate_share);
        }
    }
}
