//! Wheels of a batch of cars in droop, off the ground or lifted by their anti-roll bars.

use crate::banks::Banks;
use crate::constants::MAX_WHEELS;
use crate::lane::Octet;
use crate::linear::SpatialVector;
use crate::step::abreast::each::ABREAST;
use crate::step::abreast::in_step::CarsInStep;
use crate::step::rows::Rows;
use crate::step::stages::Stages;
use crate::suspension::axle_links::sum_bars;
use crate::suspension::loads::settle;
use crate::suspension::parameters::Strut;

/// Value for each wheel of each car.
type OfWheels = [[f32; ABREAST]; MAX_WHEELS];

impl<W: Octet> CarsInStep<'_, W> {
    /// Returns the compressions at which strut and bars of each wheel of the masked `cars` balance (m). The other
    /// wheels are at the compression `travel`. Results are limited to at least `least` and at most the bump travel.
    #[inline(always)]
    fn hanging(&self, cars: W::Mask, travel: impl Fn(&Rows<W>) -> W, least: impl Fn(&Strut) -> f32) -> OfWheels {
        let (model, rows, bits) = (&self.room.model, &self.room.rows, W::bits(cars));
        let mut hanging = [[0.0; ABREAST]; MAX_WHEELS];
        for car in (0..ABREAST).filter(|car| bits & (1 << car) != 0) {
            let bars = [self.controls[car].bar_share(), self.vehicles[car].state.velocity.length()];
            for (k, hanging) in hanging.iter_mut().enumerate().take(self.room.wheels) {
                let (strut, balance) =
                    (&model.wheels()[k].strut, model.hanging(k, bars, |i| travel(&rows[i]).lane(car)));
                hanging[car] = balance.clamp(least(strut), strut.bump_travel);
            }
        }
        hanging
    }

    /// Moves the hanging wheels of the masked `cars` to their equilibrium in droop, as [`crate::Vehicle::hang`].
    #[cold]
    #[inline(never)]
    pub(super) fn hang<B: Banks>(&mut self, cars: W::Mask) {
        W::called(
            #[inline(always)]
            || {
                let put = |rows: &mut Rows<W>, to: W| {
                    rows.contact.compression = W::select(rows.contact.in_contact, rows.contact.compression, to);
                };
                for (bank, rows) in self.room.wheels::<B>() {
                    put(rows, -bank.droop_travel);
                }
                let hanging = self.hanging(cars, |rows| rows.contact.compression, |strut| -strut.droop_travel);
                for (hanging, (_, rows)) in hanging.into_iter().zip(self.room.wheels::<B>()) {
                    put(rows, W::of_lanes(hanging));
                }
            },
        );
    }

    /// Detects wheels of `hanging` cars that touch down during the step, as [`crate::Vehicle::land_by_loads`].
    #[cold]
    #[inline(never)]
    pub(super) fn land_by_loads<B: Banks>(&mut self, hanging: W::Mask, warm: SpatialVector<W>) {
        W::called(
            #[inline(always)]
            || {
                let (mut apart, mut touching) = (W::Mask::default(), W::Mask::default());
                for (_, rows) in self.room.wheels::<B>() {
                    (apart, touching) = (apart | rows.apart(), touching | rows.contact.in_contact);
                }
                let cars = hanging & apart & touching;
                if !W::any(cars) {
                    return;
                }
                Stages::<B>::strut_rows(self);
                let dt = self.dt;
                let (loaded, settled) = settle::<B, _>(self, warm, dt);
                self.leave(cars & !settled);
                let (moving, pose_lag) = (self.room.chassis.moving, W::splat(self.room.pose_lag));
                let mut lands = false;
                for (bank, rows) in self.room.wheels::<B>() {
                    lands |= rows.land_by(bank, cars, [moving, loaded], pose_lag, dt);
                }
                if lands {
                    self.hang::<B>(hanging);
                }
            },
        );
    }

    /// Moves bar ends at lifted wheels of the masked `cars` to the equilibrium of strut and bars, and sums the bars
    /// again. `share` is the share of the bars' rate that is active.
    #[cold]
    #[inline(never)]
    pub(super) fn lift_bar_ends<B: Banks>(&mut self, cars: W::Mask, share: W) {
        W::called(
            #[inline(always)]
            || {
                let hanging = self.hanging(cars, |rows| rows.suspension.axle_links.travel, |_| f32::NEG_INFINITY);
                let dt = W::splat(self.dt);
                for (hanging, (_, rows)) in hanging.into_iter().zip(self.room.wheels::<B>()) {
                    let hanging = W::of_lanes(hanging);
                    let linked = &mut rows.suspension.axle_links;
                    linked.lifted = linked.travel.less(hanging) & cars;
                    linked.travel = W::select(linked.lifted, hanging, linked.travel);
                    linked.lifting = dt * linked.force;
                }
                self.sum_bars::<B>(share);
            },
        );
    }

    /// Sums the forces of the bars at each strut at the present travels. `share` is the share of their rate that is
    /// active.
    #[inline(always)]
    pub(super) fn sum_bars<B: Banks>(&mut self, share: W) {
        let (packs, rows) = self.room.lanes::<B>();
        for (packs, rows) in packs.chunks_exact(W::ROWS).zip(rows.chunks_exact_mut(W::ROWS)) {
            sum_bars(packs, rows, share);
        }
    }
}
