//! The end of a step: what the world realised goes back into the state.

use super::rows::Rows;
use super::{StepReport, Vehicle};
use crate::lane::{Four, Lane};
use crate::linear::SpatialVector;
use crate::model::WheelPack;
use crate::state::WheelState;
use crate::{Body, Model, Quat, Vec3};

/// Angular velocity, rad/s, of which 32 bits of a rotation keep a tenth at 1000 Hz.
const LEAST_RATE: f32 = 1e-3;

/// The small turn from a rotation to another one, rad: their difference has no rounding.
fn turned(from: Quat, to: Quat) -> Vec3 {
    let change = Quat::from_xyzw(to.x - from.x, to.y - from.y, to.z - from.z, to.w - from.w);
    (change * from.conjugate()).xyz() * 2.0
}

/// Largest slip a deflection stands for; beyond, only its direction is kept.
const LARGEST_SLIP: f32 = 10.0;

impl Vehicle {
    /// Takes over the pose and twist of `body` after the world has advanced by `dt`, and integrates the contact
    /// patches with the relative speeds that were realised.
    ///
    /// The final speed, not the row's own prediction, decides whether a car parks: with the prediction it creeps
    /// 490 mm per minute on 20°.
    ///
    /// A rate near the last digits of the rotation counts as what it did to the rotation: taken as it is, the centre of mass of a
    /// parked car would creep against a turning that never happens.
    pub fn finish(&mut self, body: &Body, dt: f32) -> StepReport {
        if let Some(nothing) = StepReport::of_no_step(dt) {
            return nothing;
        }
        let lost = body.angular.length_squared() < LEAST_RATE * LEAST_RATE;
        let angular = if lost { turned(self.state.rotation, body.rotation) / dt } else { body.angular };
        let report = self.follow(body);
        if report.not_finite {
            return report;
        }
        let to_vehicle = self.to_world.transpose();
        let at = SpatialVector::of(to_vehicle * body.velocity, to_vehicle * angular).wide();
        let state = &mut self.state;
        for (bank, rows) in self.model.banks().iter().zip(&self.rows) {
            if bank.has_discs {
                rows.warm_discs(bank, &self.model, dt, &mut state.wheels);
            }
            rows.write_back(bank, at, self.lead, dt, &mut state.wheels);
        }
        self.shafts.write_back(&mut state.drive, &self.model, &self.rows);
        report
    }

    /// Takes over the pose and twist of `body`, and leaves wheels and drive as they are.
    pub(crate) fn follow(&mut self, body: &Body) -> StepReport {
        if !super::finite(body) {
            return StepReport { not_finite: true, ..StepReport::default() };
        }
        let state = &mut self.state;
        state.previous_velocity = state.velocity;
        state.position = body.position;
        state.rotation = body.rotation;
        state.velocity = body.velocity;
        state.angular = body.angular;
        StepReport::default()
    }
}

impl Rows {
    fn write_back(&self, bank: &WheelPack, at: SpatialVector<Four>, lead: f32, dt: f32, wheels: &mut [WheelState]) {
        let step = Four::splat(dt);
        let [along, across] = self.speeds(at);
        let rolled = bank.radius * self.spin;
        let rolling_speed = Four::select(self.touching, along, rolled);
        let fastest = (along * along + across * across).at_least(rolled * rolled);
        let squared = Four::select(self.gripping, fastest, rolling_speed * rolling_speed);
        let rolling = rolling_shares(bank, squared);
        let slip_speed = [along - rolled, across];
        let left = self.drifted(slip_speed);
        let [u, v] = self.deflections(bank, left, rolling).map(|u| u.only(self.gripping).lanes());
        let [load, along, across, torque] =
            [self.load, self.tyre[0], self.tyre[1], self.torque].map(|impulse| (impulse / step).lanes());
        let [spin, rolling_speed, rolling] = [self.spin, rolling_speed, rolling].map(Four::lanes);
        let (contact, compression, travel_rate) = if self.travel.own {
            let pressing = Four::splat(0.0).less(self.load);
            (pressing.lanes(), self.next_travel(lead, dt).lanes(), self.travel.next_rate.lanes())
        } else {
            (self.touching.lanes(), self.next_compression(bank, at, lead, dt).lanes(), [0.0; 4])
        };
        let lean = self.lean.lanes();
        bank.each(|k, i| {
            wheels[i] = WheelState {
                spin: spin[k],
                deflection: [u[k], v[k]],
                compression: compression[k],
                travel_rate: travel_rate[k],
                load: load[k],
                tyre: [along[k], across[k]],
                torque: torque[k],
                rolling_speed: rolling_speed[k],
                rolling: rolling[k],
                steer: wheels[i].steer,
                lean: lean[k],
                overturning: 0.0,
                aligning: 0.0,
                disc: wheels[i].disc,
                contact: contact[k],
            };
        });
        if self.has_laws {
            let [overturning, aligning] = self.moments.map(|moment| (moment / step).lanes());
            bank.each(|k, i| (wheels[i].overturning, wheels[i].aligning) = (overturning[k], aligning[k]));
        }
    }

    /// Turns what brakes did to wheels that still have the spin they began the step with into heat.
    fn warm_discs(&self, bank: &WheelPack, model: &Model, dt: f32, wheels: &mut [WheelState]) {
        let (brake, spin) = (self.brake.lanes(), self.spin.lanes());
        bank.each(|k, i| {
            let Some(disc) = &model.wheels()[i].disc else { return };
            let wheel = &mut wheels[i];
            let turned = 0.5 * (wheel.spin.abs() + spin[k].abs());
            wheel.disc = disc.warmed(wheel.disc, brake[k] * turned, wheel.rolling_speed, dt);
        });
    }

    /// Compression after a step of `dt` s, as the pose moved; that of a wheel in the air stays.
    #[inline(always)]
    fn next_compression(&self, bank: &WheelPack, at: SpatialVector<Four>, lead: f32, dt: f32) -> Four {
        let rate = (-self.parting(at) / self.cosine).only(self.touching);
        let moved = self.jounce_rate * Four::splat(lead) + rate * Four::splat(dt - lead);
        (self.compression + self.beyond_droop + moved).at_least(-bank.droop_travel)
    }

    /// Deflections that sticking and creeping leave at the sliding speeds at the end of the step.
    #[inline(always)]
    fn drifted(&self, sliding: [Four; 2]) -> [Four; 2] {
        let [along, across] = [0, 1].map(|i| self.drift[i].at(sliding[i]));
        if !Four::any(self.bends) {
            return [along, across];
        }
        // The row of less force is the one of more slip.
        let (straight, target_impulse) = (self.straight_drift.at(sliding[0]), self.target_impulse[0]);
        [Four::select((along * target_impulse).less(straight * target_impulse) & self.bends, straight, along), across]
    }

    /// Deflections after the step: of a standing patch, of a rolling one, or in between.
    #[inline(always)]
    fn deflections(&self, bank: &WheelPack, left: [Four; 2], rolling: Four) -> [Four; 2] {
        let one = Four::splat(1.0);
        let share = rolling.only(bank.tyre.relaxes());
        let turning = within_largest_slip(left, self.lengths);
        if !Four::any(share.less(one) & bank.present()) {
            return turning;
        }
        self.half_standing(left, turning, share)
    }

    /// The same of patches of which some stand to a part.
    #[cold]
    #[inline(never)]
    fn half_standing(&self, left: [Four; 2], turning: [Four; 2], share: Four) -> [Four; 2] {
        let (zero, one) = (Four::splat(0.0), Four::splat(1.0));
        let standing = self.standing(left);
        // As far as a patch stands, it is a spring: what friction does not hold would be memory of a slide.
        let most = self.held_by_friction().map(|u| u / (one - share).at_least(Four::splat(f32::MIN_POSITIVE)));
        let turned = [0, 1].map(|i| turning[i].within(-most[i], most[i]));
        let mixed = [0, 1].map(|i| standing[i] * (one - share) + turned[i] * share);
        let (rolls, stands) = (!share.less(one), !zero.less(share));
        [0, 1].map(|i| Four::select(rolls, turning[i], Four::select(stands, standing[i], mixed[i])))
    }

    /// Largest deflections that friction holds, m.
    fn held_by_friction(&self) -> [Four; 2] {
        let (limit, step) = (self.limit(), Four::splat(self.dt));
        [0, 1].map(|i| limit[i] / (self.elastic[i] * step).at_least(Four::splat(f32::MIN_POSITIVE)))
    }

    /// Deflection of a patch that is a spring on a friction cone: while it slides, what its force says.
    fn standing(&self, rolled: [Four; 2]) -> [Four; 2] {
        let (limit, step) = (self.limit(), Four::splat(self.dt));
        let scale = self.elastic.map(|k| k * step);
        let impulse = [rolled[0] * scale[0], rolled[1] * scale[1]];
        let used = [impulse[0] / limit[0], impulse[1] / limit[1]];
        let reach = (used[0] * used[0] + used[1] * used[1]).sqrt();
        let holds = !Four::splat(1.0).less(reach);
        let slid = [0, 1].map(|i| self.tyre[i] / scale[i]);
        // A damper's share of the force strains nothing.
        let squared = |u: [Four; 2]| u[0] * u[0] + u[1] * u[1];
        let slides = self.sliding & !squared(rolled).less(squared(slid));
        [0, 1].map(|i| {
            let held = Four::select(holds, rolled[i], impulse[i] / reach / scale[i]);
            Four::select(slides, slid[i], held)
        })
    }
}

/// Shares of rolling at the speeds whose squares are given.
#[inline(always)]
fn rolling_shares(bank: &WheelPack, squared: Four) -> Four {
    let [crawl, walk] = bank.walking;
    if !Four::any(squared.less(walk * walk)) {
        return Four::splat(1.0);
    }
    squared.sqrt().smoothstep(crawl, walk)
}

#[inline(always)]
fn within_largest_slip(deflection: [Four; 2], lengths: [Four; 2]) -> [Four; 2] {
    let slip = [deflection[0] / lengths[0], deflection[1] / lengths[1]];
    let squared = slip[0] * slip[0] + slip[1] * slip[1];
    let largest = Four::splat(LARGEST_SLIP);
    let over = (largest * largest).less(squared);
    if !Four::any(over) {
        return deflection;
    }
    let share = largest / squared.sqrt();
    deflection.map(|u| Four::select(over, u * share, u))
}
