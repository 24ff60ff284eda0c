//! The rows of each wheel: where it is, what its strut and its tyre ask of the chassis. Four wheels side by side.
//!
//! A row is kept as `impulse = target impulse − gain · speed`, the reciprocal form of a soft constraint (softness 1 /
//! gain): zero gain is a plain force, a large one is a rigid contact.

use super::converged::Approach;
use super::ground::GroundMotion;
use super::laws::Asked;
use super::own_wheels::Travel;
use super::strut::StrutStep;
use super::ties::Tied;
use super::{LEAST_GROUND_COSINE, Vehicle};
use crate::lane::{Four, FourMask, Lane};
use crate::linear::{SpatialVector, Vec3Lanes};
use crate::model::{Tyre, WheelPack};
use crate::state::WheelState;
use crate::tyre::Response;
use crate::{Body, Contact, Mat3, State, Vec3, math};

/// Workspace of four wheels, rebuilt every step. Lanes without a wheel touch nothing and weigh nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rows {
    // written by steer
    steered: [f32; 4],
    inclined: [f32; 4],
    /// Axle direction across the car, vehicle frame at the start of the step.
    straight_axle: [[f32; 4]; 3],
    // written by locate
    pub dt: f32,
    pub touching: FourMask,
    pub(super) footing: GroundMotion,
    pub grip: Four,
    /// Sine of the camber against the ground.
    pub lean: Four,
    /// Whether the bank has tyres with laws of their own; then those have moments.
    pub has_laws: bool,
    /// Angular impulses of the tyres about heading and contact normal, N m s: first of the last step, then of this one.
    pub(super) moments: [Four; 2],
    /// See [`Tyre::lengths`], m.
    pub(super) lengths: [Four; 2],
    /// Share of the step in which there is contact: below 1 for a wheel that meets the ground within it.
    pub(super) contact_share: Four,
    /// Compression beyond the droop stop, m, ≤ 0: the gap a wheel has yet to close.
    pub(super) beyond_droop: Four,
    pub compression: Four,
    /// Rate of the compression at the start of the step, m/s; 0 in the air.
    pub(super) jounce_rate: Four,
    /// By how much the compression runs behind the velocity, m.
    pub(super) lead: Four,
    /// Cosine between contact normal and suspension.
    pub(super) cosine: Four,
    /// Axle direction at the end of the step.
    pub axle: Vec3Lanes<Four>,
    /// Speed of the wheel over the ground along its heading at the start of the step, m/s.
    pub(super) started: Four,
    /// Load row: acts at the contact point along its normal.
    pub normal: SpatialVector<Four>,
    /// Rolling-direction row: acts at the wheel centre, or its force point; its other end is the wheel's spin.
    pub forward: SpatialVector<Four>,
    /// Lateral row: acts at the contact point, or its force point.
    pub side: SpatialVector<Four>,
    // written by load_rows
    pub(super) tied: Tied,
    pub(super) strut: StrutStep,
    pub(super) load_target: Four,
    /// Speed along the normal before the loads, m/s.
    pub(super) warm_speed: Four,
    pub(super) load_gain: Four,
    /// The load that keeps the wheel from leaving the ground before the step ends, for wheels at their droop stop.
    pub(super) droop_target: Four,
    pub(super) droop_gain: Four,
    /// Wheels that press, and those whose droop stop takes part of the spring.
    pub(super) pressing: FourMask,
    pub(super) hanging: FourMask,
    /// How the load falls with the speed at which the wheel parts from the ground, kg.
    pub(super) load_slope: Four,
    /// Load less what ties add to it, as its linearisation has it, N s.
    pub(super) told: Four,
    pub travel: Travel,
    // written by grip_rows
    pub gripping: FourMask,
    /// Friction coefficients along and across at the nominal load, surface included.
    friction: [Four; 2],
    /// Share of friction lost per N s of load impulse, and the share at none.
    sensitivity: Four,
    unloaded_share: Four,
    /// Load impulse from which friction gives no more, N s.
    most_load: Four,
    pub target_impulse: [Four; 2],
    pub gain: [Four; 2],
    /// The same of slips that go away within the step, which no force exceeds; only where `bends`.
    pub straight_target: [Four; 2],
    pub straight_gain: [Four; 2],
    /// Patches whose force grows slower than at no slip.
    pub bends: FourMask,
    /// How the deflections move with the sliding speeds at the end of the step, and along where the straight row holds.
    pub drift: [Drift; 2],
    pub straight_drift: Drift,
    /// Elastic stiffness of the patch at rest, N/m.
    pub elastic: [Four; 2],
    // written by drive
    /// Spin momentum before shafts, brake and tyre, N m s.
    pub momentum: Four,
    /// Direct motor torque's angular impulse, part of `momentum`, N m s.
    pub motor: Four,
    /// Largest angular impulse of the brake, N m s.
    pub brake: Four,
    /// Largest angular impulse of brake and rolling resistance, N m s.
    pub hold: Four,
    /// Angular impulse of the shafts, N m s.
    pub shaft: Four,
    // written by the coupling
    pub around: EffectiveMass<Four>,
    /// Of the chassis in an iteration.
    pub seen: RowVelocity,
    /// Largest tyre impulses along and across, N s.
    pub reach: [Four; 2],
    pub approach: Approach,
    /// Tyre impulses with which a sweep began; only where tyres are stiff.
    pub began: [Four; 2],
    pub load: Four,
    pub tyre: [Four; 2],
    /// Angular impulse on the wheel by everything bolted to the chassis, N m s.
    pub torque: Four,
    pub spin: Four,
    pub sliding: FourMask,
}

/// The relative speed of the two tyre rows before the tyre acts, and what each unit of impulse changes in it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EffectiveMass<L> {
    /// m/s along and across, the wheel's spin not counted.
    pub speed: [L; 2],
    /// 1/kg: along, between the two, across.
    pub compliance: [L; 3],
}

/// What the rays of four wheels met; 0 where they met nothing.
struct Met {
    /// 1 where there is something.
    hit: Four,
    /// World axes.
    normal: Vec3Lanes<Four>,
    distance: Four,
    grip: Four,
}

impl Met {
    /// One pass over the contacts: they lie wheel by wheel.
    #[inline(always)]
    fn by(bank: &WheelPack, contacts: &[Option<Contact>]) -> Self {
        let mut of = [[0.0; 4]; 6];
        bank.each(|lane, wheel| {
            let Some(Some(c)) = contacts.get(wheel) else { return };
            let met = [1.0, c.normal.x, c.normal.y, c.normal.z, c.distance, c.grip];
            for (lanes, value) in of.iter_mut().zip(met) {
                lanes[lane] = value;
            }
        });
        let [hit, x, y, z, distance, grip] = of.map(Four::new);
        Self { hit, normal: Vec3Lanes::new(x, y, z), distance, grip }
    }
}

/// The deflection of a patch at the end of a step, `kept − per_speed · speed` at the sliding speed it ends with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Drift {
    /// m
    pub kept: Four,
    /// s
    pub per_speed: Four,
}

impl Drift {
    /// Of a patch with `deflection`, m, in a step of `step` s: the ground holds a share `sticking` of it, and rolling renews it `creep`
    /// times. By implicit Euler.
    #[inline(always)]
    fn of(deflection: Four, [sticking, creep]: [Four; 2], step: Four) -> Self {
        let left = Four::splat(1.0) / (sticking + creep).at_least(Four::splat(LEAST_DECAY));
        Self { kept: sticking * deflection * left, per_speed: step * left }
    }

    /// The same of one that slides at `speed`, m/s, at the start of the step, and the share that the step's end has in its mean
    /// deflection.
    ///
    /// Rolling, a carcass that sticks gives back what it took, by the implicit midpoint rule: its wheel swings on it within a few
    /// steps, and implicit Euler would damp that. What creeps forgets, and a standing patch has a damper of its own: Euler's.
    #[inline(always)]
    fn swinging(
        [deflection, speed]: [Four; 2],
        [sticking, creep]: [Four; 2],
        rolling: Four,
        step: Four,
    ) -> (Self, Four) {
        let one = Four::splat(1.0);
        let left = one / (sticking + creep).at_least(Four::splat(LEAST_DECAY));
        let early = Four::splat(0.5) * rolling * sticking * left;
        let late = one - early;
        (Self { kept: (sticking * deflection - early * step * speed) * left, per_speed: late * step * left }, late)
    }

    /// At a sliding `speed`, m/s.
    #[inline(always)]
    pub fn at(&self, speed: Four) -> Four {
        self.kept - self.per_speed * speed
    }
}

/// How the patches of a bank bite.
#[derive(Clone, Copy, Debug)]
pub(super) struct TyreLinearization {
    /// Slopes of the force at zero slip, N per unit slip.
    pub stiffness: [Four; 2],
    /// See [`Tyre::lengths`], m.
    pub lengths: [Four; 2],
    /// Force at the slip the step starts with.
    pub curve: Response<Four>,
    /// Friction coefficients, surface included, at the load `unloaded_share` and `sensitivity` count from.
    pub friction: [Four; 2],
    /// Share of friction lost per N s of load impulse, and the share at none.
    pub sensitivity: Four,
    pub unloaded_share: Four,
    /// Load impulse from which friction gives no more, N s.
    pub most_load: Four,
}

/// What the patches of a bank are at the start of a step.
struct Patched {
    /// m
    deflection: [Four; 2],
    /// Sliding speed along, m/s.
    sliding: Four,
    /// 0 standing to 1 rolling.
    share: Four,
    /// With which rolling renews the patch, m/s, ≥ 0.
    speed: Four,
}

impl TyreLinearization {
    #[inline(always)]
    pub fn select(mask: FourMask, yes: Self, no: Self) -> Self {
        let both = |yes: [Four; 2], no: [Four; 2]| [0, 1].map(|i| Four::select(mask, yes[i], no[i]));
        Self {
            stiffness: both(yes.stiffness, no.stiffness),
            lengths: both(yes.lengths, no.lengths),
            curve: Response {
                force: both(yes.curve.force, no.curve.force),
                slope: both(yes.curve.slope, no.curve.slope),
            },
            friction: both(yes.friction, no.friction),
            sensitivity: Four::select(mask, yes.sensitivity, no.sensitivity),
            unloaded_share: Four::select(mask, yes.unloaded_share, no.unloaded_share),
            most_load: Four::select(mask, yes.most_load, no.most_load),
        }
    }
}

/// The velocity of the chassis against the ground as the rows see it, m/s.
///
/// An iteration adds its changes here: speeds that rows bring to nothing are then exact to the last bit of that nothing.
/// Rounded anew from the velocity of a fast car, they would throw stiff rows about by newton seconds for ever.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RowVelocity {
    pub normal: Four,
    /// Along and across.
    pub patch: [Four; 2],
    /// Momentum that the free motion of the step would give the wheel on its own less, N s.
    pub heave: Four,
}

/// Damping of the standing patch as a fraction of critical for the wheel's share of the mass: stops the rebound after
/// a locked stop within a cycle; below 0.2 the car rocks visibly, above 0.8 the patch creeps into place.
const STANDING_DAMPING: f32 = 0.4;

/// A patch that keeps more than this share of its slope at no slip counts as straight.
const STRAIGHT: f32 = 0.8;

/// A patch that slides without rolling keeps nothing of its deflection.
const LEAST_DECAY: f32 = 1e-3;

/// A wheel that hangs this little above the ground is still held to it by its row, m; else rounding decides, step by step.
pub(super) const DROOP_SLACK: f32 = 1e-3;

impl Rows {
    /// Turns the wheel of `lane` to `angle` rad, with a `camber` rad that leans its top to the right by `rightwards`.
    pub(super) fn turn(&mut self, lane: usize, angle: f32, [camber, rightwards]: [f32; 2]) {
        let [x, y, z] = &mut self.straight_axle;
        if self.steered[lane] != angle || self.inclined[lane] != camber || y[lane] == 0.0 {
            let (sin, cos) = math::sin_cos(angle);
            let (lean, level) = math::sin_cos(camber);
            (x[lane], y[lane], z[lane]) = (-sin * level, cos * level, rightwards * lean);
            (self.steered[lane], self.inclined[lane]) = (angle, camber);
        }
    }

    /// Speeds of the contact patches over the ground at chassis velocity `at`, along and across.
    #[inline(always)]
    pub(super) fn speeds(&self, at: SpatialVector<Four>) -> [Four; 2] {
        [self.forward.dot(at) - self.footing.speed[0], self.side.dot(at) - self.footing.speed[1]]
    }

    /// Speed away from the ground along the contact normal at chassis velocity `at`.
    #[inline(always)]
    pub(super) fn parting(&self, at: SpatialVector<Four>) -> Four {
        self.normal.dot(at) - self.footing.speed[2]
    }

    /// Sees the chassis move at `at`, `gained` of it beyond the free motion.
    #[inline(always)]
    pub(super) fn see(&mut self, at: SpatialVector<Four>, gained: SpatialVector<Four>) {
        self.seen = RowVelocity { normal: self.parting(at), patch: self.speeds(at), heave: self.heave_by(gained) };
    }

    /// Sees the chassis move by `change` faster.
    #[inline(always)]
    pub(super) fn see_change(&mut self, change: SpatialVector<Four>) {
        let [along, across] = self.seen.patch;
        self.seen.normal += self.normal.dot(change);
        self.seen.patch = [along + self.forward.dot(change), across + self.side.dot(change)];
        self.seen.heave += self.heave_by(change);
    }

    #[inline(always)]
    fn heave_by(&self, change: SpatialVector<Four>) -> Four {
        if self.travel.own { self.travel.heave.dot(change) } else { Four::default() }
    }

    /// What tyres and struts do to the chassis; without the loads when `with_loads` is off.
    #[inline(always)]
    pub(super) fn impulse(&self, with_loads: bool) -> SpatialVector<Four> {
        let mut sum = self.forward * self.tyre[0] + self.side * self.tyre[1];
        sum.angular = sum.angular - self.axle * self.torque;
        if self.has_laws {
            sum = sum + self.twist();
        }
        if !with_loads {
            return sum;
        }
        let sum = sum + self.normal * self.load;
        if self.travel.own { sum + self.travel_impulse() } else { sum }
    }

    fn touch(
        &mut self,
        bank: &WheelPack,
        state: &State,
        contacts: &[Option<Contact>],
        body: &Body,
        to_vehicle: &Mat3,
        moving: SpatialVector<Four>,
        dt: f32,
    ) {
        self.dt = dt;
        let met = Met::by(bank, contacts);
        let hit = Four::splat(0.0).less(met.hit);
        let normal = met.normal;
        let normal = normal.through(to_vehicle);
        let reached = bank.start_height() - met.distance;
        let lean = self.axle.dot(normal);
        let across = self.axle - normal * lean;
        let length = across.dot(across).sqrt();
        let is_ground = !normal.z.less(Four::splat(LEAST_GROUND_COSINE));
        let has_heading = !length.less(Four::splat(0.1));
        let faces_ground = hit & is_ground & has_heading;
        let up = Vec3Lanes::splat(Vec3::Z);
        let normal = Vec3Lanes::select(faces_ground, normal, up);
        let side = Vec3Lanes::select(faces_ground, across * (Four::splat(1.0) / length), Vec3Lanes::splat(Vec3::Y));
        let forward = side.cross(normal);
        self.compression = reached.at_least(-bank.droop_travel).only(faces_ground);
        let point = bank.contact.raised(self.compression);
        let pushed = bank.force_point.map_or(point, |height| point.raised(height));
        let centre = pushed.raised(bank.radius);
        self.grip = met.grip;
        // A fast turn makes the axle longer than 1.
        self.lean = lean.within(-Four::splat(1.0), Four::splat(1.0)).only(faces_ground);
        self.cosine = normal.z;
        self.normal = SpatialVector::new(normal, point.cross(normal));
        self.forward = SpatialVector::new(forward, centre.cross(forward));
        self.side = SpatialVector::new(side, pushed.cross(side));
        self.find_footing(bank, contacts, to_vehicle);
        self.started = self.forward.dot(moving) - self.footing.speed[0];
        self.beyond_droop = (reached - self.compression).only(faces_ground);
        self.contact_share = self.share_of_contact(body, to_vehicle, dt);
        self.touching = faces_ground & Four::splat(0.0).less(self.contact_share);
        self.recall(bank, state, dt);
        if self.footing.moves {
            self.footing.last_load = bank.gather(|i| state.wheels[i].load * dt);
        }
        self.recall_moments(bank, state, dt);
    }

    /// Impulses of the last step, to start from.
    #[inline(always)]
    pub(super) fn recall(&mut self, bank: &WheelPack, state: &State, dt: f32) {
        let wheels = bank.pick(&state.wheels);
        let last = |of: fn(&WheelState) -> f32| bank.read(wheels, |w| of(w) * dt);
        self.tyre = [last(|w| w.tyre[0]).only(self.touching), last(|w| w.tyre[1]).only(self.touching)];
        self.torque = last(|w| w.torque);
    }

    /// Share of the step that is left when a wheel has closed the gap below its droop stop, falling freely.
    #[inline(always)]
    fn share_of_contact(&self, body: &Body, to_vehicle: &Mat3, dt: f32) -> Four {
        let one = Four::splat(1.0);
        let apart = self.beyond_droop.less(Four::splat(-DROOP_SLACK));
        if !Four::any(apart) {
            return one;
        }
        Four::select(apart, self.share_after_fall(body, to_vehicle, dt), one)
    }

    #[cold]
    #[inline(never)]
    fn share_after_fall(&self, body: &Body, to_vehicle: &Mat3, dt: f32) -> Four {
        let (zero, one) = (Four::splat(0.0), Four::splat(1.0));
        let free = SpatialVector::of(*to_vehicle * body.free_velocity, *to_vehicle * body.free_angular).wide();
        let closed = -self.parting(free) / self.cosine * Four::splat(dt);
        Four::select(zero.less(closed), one + self.beyond_droop / closed, zero)
    }
}

impl Vehicle {
    /// Contact points, row directions and last step's impulses of every wheel.
    pub(super) fn locate(&mut self, body: &Body, to_world: &Mat3, contacts: &[Option<Contact>], dt: f32) {
        let to_vehicle = to_world.transpose();
        let angular = to_vehicle * body.angular;
        let turn = Vec3Lanes::splat(angular * dt);
        let moving = SpatialVector::of(to_vehicle * body.velocity, angular).wide();
        let lead = Four::splat(body.lead);
        let mut all_touch = true;
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            let [x, y, z] = rows.straight_axle.map(Four::new);
            let straight = Vec3Lanes::new(x, y, z);
            rows.axle = straight + turn.cross(straight);
            rows.touch(bank, &self.state, contacts, body, &to_vehicle, moving, dt);
            rows.jounce_rate = (-rows.parting(moving) / rows.cosine).only(rows.touching);
            rows.lead = rows.jounce_rate * lead * rows.contact_share;
            rows.gripping = FourMask::default();
            rows.load = Four::default();
            rows.travel.own = false;
            all_touch &= !Four::any(bank.present() & !rows.touching);
        }
        if !all_touch {
            self.hang();
        }
    }

    /// Tyre rows: the law linearised at the deflection the step starts with, under the load just solved.
    pub(super) fn grip_rows(&mut self, dt: f32) {
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            rows.grip_row(bank, &self.model.parts().tyres, &self.state, dt);
        }
    }
}

impl Rows {
    /// Target impulse and gain of tyre row `i`.
    #[cfg(test)]
    pub fn tyre_terms(&self, i: usize) -> (Four, Four) {
        (self.target_impulse[i], self.gain[i])
    }

    /// Below walking pace the patch is a spring on a friction cone (it parks, and gives back what it holds when the
    /// brake is released); above, the tyre's curve at the lagged slip. Both have the same slope at zero.
    ///
    /// The carcass is a spring of constant rate between rim and contact; its force is the curve's. So the length in which slip
    /// builds up falls with the curve's slope, and what slides past the peak leaves no memory (Pacejka, *Tire and Vehicle
    /// Dynamics*, ch. 7.2, eq. 7.21 to 7.26).
    fn grip_row(&mut self, bank: &WheelPack, tyres: &[Tyre], state: &State, dt: f32) {
        let (zero, one, step) = (Four::splat(0.0), Four::splat(1.0), Four::splat(dt));
        let wheels = bank.pick(&state.wheels);
        let was = |of: fn(&WheelState) -> f32| bank.read(wheels, of);
        let rolling_speed = was(|w| w.rolling_speed).abs();
        let deflection = [was(|w| w.deflection[0]), was(|w| w.deflection[1])];
        let [constant, linear, quadratic] = bank.rolling;
        let mut coefficient = constant + (linear + quadratic * rolling_speed) * rolling_speed;
        let [added, below] = bank.standing;
        if Four::any(zero.less(added)) {
            coefficient += added * (one - rolling_speed.smoothstep(zero, below));
        }
        let rolling = coefficient * self.load * bank.radius;
        self.hold = self.brake + rolling;
        self.gripping = self.touching & zero.less(self.load) & zero.less(self.grip);
        let load = Four::select(self.gripping, self.load / step, bank.tyre.nominal_load);
        let grip = Four::select(self.gripping, self.grip, one);
        let tyre = &bank.tyre;
        let share = was(|w| w.rolling).only(tyre.relaxes());
        let speed = rolling_speed.only(tyre.relaxes());
        let point = tyre.at(load, grip);
        let curve = if Four::any(zero.less(share)) {
            tyre.force(&point, [0, 1].map(|i| deflection[i] / point.lengths[i]))
        } else {
            Default::default()
        };
        let mut bite = TyreLinearization {
            stiffness: point.stiffness,
            lengths: point.lengths,
            curve,
            friction: [tyre.friction[0] * grip, tyre.friction[1] * grip],
            sensitivity: tyre.load_sensitivity / (tyre.nominal_load * step),
            unloaded_share: one + tyre.load_sensitivity,
            most_load: tyre.most_load * step,
        };
        if self.has_laws {
            self.bite_of_laws(&mut bite, bank, tyres, state, &Asked { deflection, load, grip, share });
        }
        self.lengths = bite.lengths;
        let rim = bank.radius * was(|w| w.spin);
        let now = Patched {
            deflection,
            sliding: self.started - rim,
            share,
            // A standing patch is renewed where its wheel turns, not where the carcass of a held wheel gives.
            speed: Four::select(zero.less(share), speed, rim.abs().only(tyre.relaxes())),
        };
        self.linearise(bank, &bite, &now);
        if self.footing.moves {
            self.yield_tyres();
        }
        self.sensitivity = bite.sensitivity;
        self.unloaded_share = bite.unloaded_share;
        self.most_load = bite.most_load;
    }

    /// Target impulse and gain of the tyre rows from what the patches give at the slip the step starts with.
    #[inline(always)]
    fn linearise(&mut self, bank: &WheelPack, bite: &TyreLinearization, now: &Patched) {
        let (zero, one, step) = (Four::splat(0.0), Four::splat(1.0), Four::splat(self.dt));
        let standing = one - now.share;
        let stands = Four::any(zero.less(standing));
        let (mut damping, mut held) = ([zero; 2], zero);
        self.bends = FourMask::default();
        for i in [0, 1] {
            let elastic = bite.stiffness[i] / bite.lengths[i];
            let force = elastic * now.deflection[i] * standing + bite.curve.force[i] * now.share;
            let slope = elastic * standing + bite.curve.slope[i] / bite.lengths[i] * now.share;
            let sticking = (slope / elastic.at_least(Four::splat(f32::MIN_POSITIVE))).within(zero, one);
            let creep = step * now.speed / bite.lengths[i];
            let (drift, late) = if i == 0 {
                held = force;
                Drift::swinging([now.deflection[0], now.sliding], [sticking, creep], now.share, step)
            } else {
                (Drift::of(now.deflection[i], [sticking, creep], step), one)
            };
            if stands {
                damping[i] = Four::splat(2.0 * STANDING_DAMPING) * (elastic * bank.sprung).sqrt() * standing;
            }
            let target_impulse = step * (force + slope * late * (drift.kept - now.deflection[i]));
            self.elastic[i] = elastic;
            self.drift[i] = drift;
            self.target_impulse[i] = target_impulse.only(self.gripping);
            self.gain[i] = (step * (slope * late * drift.per_speed + damping[i])).only(self.gripping);
            self.bends = self.bends | (sticking.less(Four::splat(STRAIGHT)) & self.gripping);
            self.friction[i] = bite.friction[i].only(self.gripping);
            self.tyre[i] = self.tyre[i].only(self.gripping);
        }
        if Four::any(self.bends) {
            self.straighten(held, bite.lengths[0], damping, now);
        }
    }

    /// The rows of patches whose slip goes away within the step: along, the carcass alone takes the force `held` at its start back
    /// to nothing; across, the slope at no slip answers the slip that is left.
    #[inline(always)]
    fn straighten(&mut self, held: Four, length: Four, damping: [Four; 2], now: &Patched) {
        let (one, step) = (Four::splat(1.0), Four::splat(self.dt));
        // Among large slips across, the force along may be more than its own deflection holds.
        let most = now.deflection[0].abs();
        let carcass = (held / self.elastic[0].at_least(Four::splat(f32::MIN_POSITIVE))).within(-most, most);
        let creep = step * now.speed / length;
        let (along, late) = Drift::swinging([carcass, now.sliding], [one, creep], now.share, step);
        self.straight_drift = along;
        let rows = [(along, late, held - self.elastic[0] * late * carcass), (self.drift[1], one, Four::default())];
        for (i, (drift, late, start)) in rows.into_iter().enumerate() {
            let slope = step * self.elastic[i] * late;
            self.straight_target[i] = (step * start + slope * drift.kept).only(self.gripping);
            self.straight_gain[i] = (slope * drift.per_speed + step * damping[i]).only(self.gripping);
        }
    }

    /// Largest tyre impulses under the load impulse realised so far, N s.
    #[inline(always)]
    pub fn limit(&self) -> [Four; 2] {
        let load = self.load.at_least(Four::default()).at_most(self.most_load);
        let share = self.unloaded_share - self.sensitivity * load;
        [self.friction[0] * share * load, self.friction[1] * share * load]
    }
}
