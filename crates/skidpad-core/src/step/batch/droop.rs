//! Wheels of a batch of cars in droop, off the ground or lifted by their anti-roll bars.

use crate::assembly::suspension::axle_links::update_bar_forces;
use crate::constants::MAX_WHEELS;
use crate::simd::lane::CarLanes;
use crate::simd::linear::SpatialVector;
use crate::simd::wheel_groups::WheelGroups;
use crate::step::batch::batch_step::BatchStep;
use crate::step::batch::lane_exchange::BATCH_LANES;
use crate::step::loads::solve_load_rows;
use crate::step::stages::Stages;
use crate::suspension::parameters::Strut;
use crate::vehicle::rows::WheelRows;

/// Value for each wheel of each car.
type PerWheel = [[f32; BATCH_LANES]; MAX_WHEELS];

impl<W: CarLanes> BatchStep<'_, W> {
    /// Returns the compression at which strut and bars of each wheel of the masked `cars` balance without ground (m,
    /// positive in jounce); 0 for other cars. The other wheels are at the compression `travel`. Results are clamped to
    /// at least `least` and at most the bump travel.
    #[inline(always)]
    fn droop_compressions(
        &self,
        cars: W::Mask,
        travel: impl Fn(&WheelRows<W>) -> W,
        least: impl Fn(&Strut) -> f32,
    ) -> PerWheel {
        let (model, rows, bits) = (&self.workspace.model, &self.workspace.rows, W::bits(cars));
        let mut hanging = [[0.0; BATCH_LANES]; MAX_WHEELS];
        for car in (0..BATCH_LANES).filter(|car| bits & (1 << car) != 0) {
            // Share of the bar rates, and speed of the car (m/s), on which the rates may depend.
            let bars = [self.controls[car].bar_rate_share(), self.vehicles[car].state.velocity.length()];
            for (k, hanging) in hanging.iter_mut().enumerate().take(self.workspace.wheel_count) {
                let (strut, balance) =
                    (&model.wheels()[k].strut, model.unloaded_compression(k, bars, |i| travel(&rows[i]).lane(car)));
                hanging[car] = balance.clamp(least(strut), strut.bump_travel);
            }
        }
        hanging
    }

    /// Moves the wheels without contact of the masked `cars` to their equilibrium in droop, as
    /// [`crate::Vehicle::set_droop_compressions`]. Moves them to full droop first; the balance of each wheel then uses
    /// its neighbour there. Limits: droop travel and bump travel. Wheels with contact stay.
    #[cold]
    #[inline(never)]
    pub(super) fn set_droop_compressions<B: WheelGroups>(&mut self, cars: W::Mask) {
        W::call_outlined(
            #[inline(always)]
            || {
                // Moves the wheels without contact to `to`.
                let put = |rows: &mut WheelRows<W>, to: W| {
                    rows.contact.compression = W::select(rows.contact.in_contact, rows.contact.compression, to);
                };
                for (bank, rows) in self.workspace.wheels::<B>() {
                    put(rows, -bank.droop_travel);
                }
                let hanging =
                    self.droop_compressions(cars, |rows| rows.contact.compression, |strut| -strut.droop_travel);
                for (hanging, (_, rows)) in hanging.into_iter().zip(self.workspace.wheels::<B>()) {
                    put(rows, W::from_lanes(hanging));
                }
            },
        );
    }

    /// Detects wheels of `hanging` cars that touch down during the step because other wheels move the chassis, as
    /// [`crate::Vehicle::detect_touchdowns`]. Only cars with both a wheel above ground and one in contact count. Builds
    /// the struts, solves the loads from the velocity `warm`, and gives wheels that land a contact. Cars whose loads
    /// did not converge leave the batch. If any wheel lands, the wheels still in the air return to droop.
    #[cold]
    #[inline(never)]
    pub(super) fn detect_touchdowns<B: WheelGroups>(&mut self, hanging: W::Mask, warm: SpatialVector<W>) {
        W::call_outlined(
            #[inline(always)]
            || {
                // Cars with a wheel above ground, and cars with a wheel in contact.
                let (mut apart, mut touching) = (W::Mask::default(), W::Mask::default());
                for (_, rows) in self.workspace.wheels::<B>() {
                    (apart, touching) = (apart | rows.airborne_wheels(), touching | rows.contact.in_contact);
                }
                let cars = hanging & apart & touching;
                if !W::any(cars) {
                    return;
                }
                Stages::<B>::build_strut_rows(self);
                let dt = self.dt;
                let (loaded, settled) = solve_load_rows::<B, _>(self, warm, dt);
                self.mark_unbatched(cars & !settled);
                let (moving, pose_lag) = (self.workspace.chassis.start_velocity, W::splat(self.workspace.pose_lag));
                let mut lands = false;
                for (bank, rows) in self.workspace.wheels::<B>() {
                    lands |= rows.detect_touchdown(bank, cars, [moving, loaded], pose_lag, dt);
                }
                if lands {
                    self.set_droop_compressions::<B>(hanging);
                }
            },
        );
    }

    /// Moves bar ends of the masked `cars` at wheels that the bars would lift to the equilibrium of strut and bars, and
    /// sums the bar forces again. A wheel is lifted if its travel is less than that equilibrium, which has no droop
    /// limit. `share` is the active share of the bars' rate, 0 to 1. Stores the bar impulse before the move, which
    /// lifted ends keep (N s).
    #[cold]
    #[inline(never)]
    pub(super) fn lift_bar_ends<B: WheelGroups>(&mut self, cars: W::Mask, share: W) {
        W::call_outlined(
            #[inline(always)]
            || {
                let hanging =
                    self.droop_compressions(cars, |rows| rows.suspension.axle_links.travel, |_| f32::NEG_INFINITY);
                let dt = W::splat(self.dt);
                for (hanging, (_, rows)) in hanging.into_iter().zip(self.workspace.wheels::<B>()) {
                    let hanging = W::from_lanes(hanging);
                    let linked = &mut rows.suspension.axle_links;
                    linked.lifted = linked.travel.less(hanging) & cars;
                    linked.travel = W::select(linked.lifted, hanging, linked.travel);
                    linked.lifted_impulse = dt * linked.force;
                }
                self.sum_bars::<B>(share);
            },
        );
    }

    /// Sums the forces of the bars at each strut (N) at the present travels, axle pair by axle pair. `share` is the
    /// active share of their rate, 0 to 1.
    #[inline(always)]
    pub(super) fn sum_bars<B: WheelGroups>(&mut self, share: W) {
        let (packs, rows) = self.workspace.packs_and_rows::<B>();
        for (packs, rows) in packs.chunks_exact(W::ROWS_PER_AXLE_PAIR).zip(rows.chunks_exact_mut(W::ROWS_PER_AXLE_PAIR))
        {
            update_bar_forces(packs, rows, share);
        }
    }
}
