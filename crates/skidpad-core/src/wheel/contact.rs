//! Where each wheel meets the ground: probes, contact points, row directions.

use crate::banks::Banks;
use crate::lane::{Corners, Four, Lane};
use crate::linear::SpatialVector;
use crate::math;
use crate::statics::equilibrium::load_at;
use crate::step::rows::Rows;
use crate::step::vehicle::{Vehicle, banks};
use crate::vectors::{Axes, Vec3Lanes};
use crate::wheel::envelope::{STEEPEST_GROUND_COSINE, STEEPEST_GROUND_TANGENT};
use crate::wheel::pack::WheelPack;
use crate::wheel::parameters::Wheel;
use crate::world::seam::{Body, Contact, Probe, Rim};
use bevy_math::{DVec3, Mat3, Vec3};

/// Walls that would stay farther from a rim than this are not looked for, m: what the forces of a step can still change.
const WALL_MARGIN: f32 = 0.03;

/// A wheel that hangs this little above the ground is still held to it by its row, m; else rounding decides, step by step.
pub(crate) const DROOP_SLACK: f32 = 1e-3;

/// What the rays of four wheels met; 0 where they met nothing.
pub(crate) struct Met<W: Corners> {
    /// Where there is something.
    pub hit: W::Mask,
    /// World axes.
    pub normal: Vec3Lanes<W>,
    pub distance: W,
    pub grip: W,
}

impl Met<Four> {
    /// One pass over the contacts: they lie wheel by wheel.
    #[inline(always)]
    pub(crate) fn by(bank: &WheelPack, contacts: &[Option<Contact>]) -> Self {
        let Some([Some(a), Some(b), Some(c), Some(d)]) = bank.whole(contacts) else {
            return Self::by_some(bank, contacts);
        };
        let [distance, x, y, z] = Four::transposed([numbers(a), numbers(b), numbers(c), numbers(d)]);
        let hit = Four::splat(0.0).less(Four::splat(1.0));
        Self { hit, normal: Vec3Lanes::new(x, y, z), distance, grip: Four::new([a.grip, b.grip, c.grip, d.grip]) }
    }

    /// The same where some wheel is missing, or met nothing.
    #[cold]
    #[inline(never)]
    fn by_some(bank: &WheelPack, contacts: &[Option<Contact>]) -> Self {
        let (mut met, mut hit, mut grip) = ([Four::default(); 4], [0.0; 4], [0.0; 4]);
        bank.each(|lane, wheel| {
            let Some(Some(c)) = contacts.get(wheel) else { return };
            met[lane] = numbers(c);
            (hit[lane], grip[lane]) = (1.0, c.grip);
        });
        let [distance, x, y, z] = Four::transposed(met);
        let hit = Four::splat(0.0).less(Four::new(hit));
        Self { hit, normal: Vec3Lanes::new(x, y, z), distance, grip: Four::new(grip) }
    }
}

#[inline(always)]
fn numbers(contact: &Contact) -> Four {
    Four::new([contact.distance, contact.normal.x, contact.normal.y, contact.normal.z])
}

/// How far a pose goes, m, in a step of `dt` s that begins and ends with these rates, m/s, where the world moves it by `pose_lag` s of the
/// first.
#[inline(always)]
pub(crate) fn way<W: Corners>([begins, ends]: [W; 2], pose_lag: W, dt: W) -> W {
    begins * pose_lag + ends * (dt - pose_lag)
}

impl<W: Corners> Rows<W> {
    /// Takes the contact points and row directions of the wheels from what their rays `met` in the middle of the step.
    #[inline(always)]
    pub(crate) fn touch(&mut self, bank: &WheelPack<W>, met: &Met<W>, to_vehicle: &Axes<W::Car>) {
        let normal = to_vehicle.times_at_each_wheel(met.normal);
        let axle = self.steering.axle;
        let lean = axle.dot(normal);
        let across = axle - normal * lean;
        let length = across.dot(across).sqrt();
        let is_ground = !normal.z.less(W::splat(STEEPEST_GROUND_COSINE));
        let has_heading = !length.less(W::splat(0.1));
        let faces_ground = met.hit & is_ground & has_heading;
        let up = Vec3Lanes::splat(Vec3::Z);
        let normal = Vec3Lanes::select(faces_ground, normal, up);
        let side = Vec3Lanes::select(faces_ground, across * (W::splat(1.0) / length), Vec3Lanes::splat(Vec3::Y));
        let forward = side.cross(normal);
        let reached = (bank.start_height() - met.distance).only(faces_ground);
        let point = bank.contact.raised(reached.at_least(-bank.droop_travel));
        let pushed = bank.force_point.map_or(point, |height| point.raised(height));
        let centre = pushed.raised(bank.radius);
        (self.contact.grip, self.contact.friction_factor) = (met.grip, met.grip);
        self.contact.compression = reached;
        // Rounding may make it longer than 1.
        self.contact.lean = lean.within(-W::splat(1.0), W::splat(1.0)).only(faces_ground);
        self.contact.cosine = normal.z;
        self.contact.normal = SpatialVector::new(normal, point.cross(normal));
        self.contact.forward = SpatialVector::new(forward, centre.cross(forward));
        self.contact.side = SpatialVector::new(side, pushed.cross(side));
        self.contact.in_contact = faces_ground;
    }

    /// Takes the wheels back to the start of the step, half a step of `dt` s before they were probed: along the planes that they met,
    /// with the chassis velocity `moving` at the start.
    #[inline(always)]
    pub(crate) fn take_to_start(&mut self, bank: &WheelPack<W>, moving: SpatialVector<W>, dt: f32) {
        let rate = -self.contact.normal.dot(moving) / self.contact.cosine;
        let reached = self.contact.compression - rate * W::splat(0.5 * dt);
        self.contact.compression = reached.at_least(-bank.droop_travel).only(self.contact.in_contact);
        self.contact.beyond_droop = (reached - self.contact.compression).only(self.contact.in_contact);
        self.contact.jounce_rate = rate;
    }

    /// Motion of the wheels that touch, at the chassis velocity `moving`; `free` is the one that the step would end with.
    #[inline(always)]
    pub(crate) fn move_over(
        &mut self,
        moving: SpatialVector<W>,
        free: impl FnOnce() -> SpatialVector<W>,
        pose_lag: W,
        dt: f32,
    ) {
        self.dt = dt;
        self.contact.started = self.starting_speeds(moving);
        self.contact.contact_share = self.share_of_contact(free, dt);
        self.contact.in_contact = self.contact.in_contact & W::splat(0.0).less(self.contact.contact_share);
        self.recall(dt);
        let rising = self.contact.ground_motion.begun[2] / self.contact.cosine;
        self.contact.jounce_rate = (self.contact.jounce_rate + rising).only(self.contact.in_contact);
        self.contact.lag = self.contact.jounce_rate * pose_lag * self.contact.contact_share;
    }

    /// Impulses of the last step, to start from.
    #[inline(always)]
    pub(crate) fn recall(&mut self, dt: f32) {
        let step = W::splat(dt);
        self.coupled.tyre = self.begun.tyre.map(|force| (force * step).only(self.contact.in_contact));
        self.coupled.torque = self.begun.torque * step;
    }

    /// Share of the step that is left when a wheel has closed the gap below its droop stop, falling freely.
    #[inline(always)]
    fn share_of_contact(&self, free: impl FnOnce() -> SpatialVector<W>, dt: f32) -> W {
        let one = W::splat(1.0);
        let above = self.above_ground();
        if !W::any(above) {
            return one;
        }
        W::select(above, self.share_after_fall(free(), dt), one)
    }

    /// Wheels that hang on their droop stops above ground.
    #[inline(always)]
    fn above_ground(&self) -> W::Mask {
        self.contact.beyond_droop.less(W::splat(-DROOP_SLACK))
    }

    /// Those of them that do not come to it as they fall.
    #[inline(always)]
    pub(crate) fn apart(&self) -> W::Mask {
        self.above_ground() & !self.contact.in_contact
    }

    /// Lets those of them meet it, of the wheels `among`, which close the gap in a step of `dt` s that begins at the velocity `moving` and ends
    /// at `loaded`; whether any does.
    #[inline(always)]
    pub(crate) fn land_by(
        &mut self,
        bank: &WheelPack<W>,
        among: W::Mask,
        [moving, loaded]: [SpatialVector<W>; 2],
        pose_lag: W,
        dt: f32,
    ) -> bool {
        let rate = |at| -self.separation_velocity(at) / self.contact.cosine;
        let [begins, ends] = [rate(moving), rate(loaded)];
        let closed = way([begins, ends], pose_lag, W::splat(dt));
        let lands = self.apart() & among & (-self.contact.beyond_droop).less(closed);
        if !W::any(lands) {
            return false;
        }
        let contact = &mut self.contact;
        let share = W::splat(1.0) + contact.beyond_droop / closed;
        contact.contact_share = W::select(lands, share, contact.contact_share);
        contact.compression = W::select(lands, -bank.droop_travel, contact.compression);
        // It may rise as the step begins.
        let comes = begins.at_least(W::splat(0.0));
        contact.jounce_rate = W::select(lands, comes, contact.jounce_rate);
        contact.lag = W::select(lands, begins * pose_lag * share, contact.lag);
        contact.in_contact = contact.in_contact | lands;
        true
    }

    #[cold]
    #[inline(never)]
    fn share_after_fall(&self, free: SpatialVector<W>, dt: f32) -> W {
        W::called(
            #[inline(always)]
            || {
                let (zero, one) = (W::splat(0.0), W::splat(1.0));
                let closed = -self.separation_velocity(free) / self.contact.cosine * W::splat(dt);
                W::select(zero.less(closed), one + self.contact.beyond_droop / closed, zero)
            },
        )
    }
}

impl Rows {
    /// Moves the rows of wheels that touch with their rims to where they do, if not on their rays. The wheel's centre stays on the ray.
    #[cold]
    #[inline(never)]
    fn touch_with_rims(&mut self, bank: &WheelPack, contacts: &[Option<Contact>], to_vehicle: &Mat3) {
        let mut points = [Four::default(); 4];
        bank.each(|lane, wheel| {
            let Some(point) = contacts.get(wheel).and_then(|contact| contact.as_ref()?.point) else { return };
            points[lane] = Four::new([point.x, point.y, point.z, 1.0]);
        });
        let [x, y, z, on_rim] = Four::transposed(points);
        let on_rim = Four::splat(0.0).less(on_rim) & self.contact.in_contact;
        let below = bank.contact.raised(self.contact.compression.at_least(-bank.droop_travel));
        let point = Vec3Lanes::select(on_rim, Vec3Lanes::new(x, y, z).mul_mat(to_vehicle), below);
        let pushed = bank.force_point.map_or(point, |height| point.raised(height));
        let (normal, side) = (&mut self.contact.normal, &mut self.contact.side);
        normal.angular = point.cross(normal.linear);
        side.angular = pushed.cross(side.linear);
    }

    /// Turns the rows of tyres that stand on rims into what a wheel without mass does that only its strut holds along the travel.
    ///
    /// Such a wheel follows the ground, so that its speed along a tangent t is that of the chassis along `t − n t_z / n_z`, n being the
    /// normal; by virtual work its force acts on the chassis along that direction too, and the strut's load presses on the ground with
    /// `F t_z / n_z` less. On ground across the strut that is nothing, at the edge of a kerb it is what a wheel climbs by. `moving` is
    /// the chassis velocity, `load` the last one, N, `friction` that of the tyre under it.
    fn hold_by_struts(&mut self, moving: SpatialVector<Four>, load: Four, friction: impl Fn() -> Four) {
        let (zero, one) = (Four::splat(0.0), Four::splat(1.0));
        let contact = &mut self.contact;
        let [rise, aside] = [contact.forward, contact.side].map(|row| row.linear.z / contact.normal.linear.z);
        contact.forward = contact.forward + contact.normal * -rise;
        contact.side = contact.side + contact.normal * -aside;
        self.contact.started = self.starting_speeds(moving);
        let relieved = self.begun.tyre[0] * rise + self.begun.tyre[1] * aside;
        let steep = Four::splat(STEEP_SLOPE).less(rise.abs() + aside.abs());
        let mut share = one - relieved / load;
        if Four::any(steep) {
            share = Four::select(steep, self.pressed_at_limit(relieved, friction()), share);
        }
        let share = share.within(zero, Four::splat(MOST_PRESSED));
        self.contact.friction_factor = self.contact.grip * Four::select(zero.less(load), share, one);
    }

    /// Share of the load that presses on what a wheel stands on if its tyre uses all of its friction in the direction of the last step's
    /// force, which `relieved` that along the strut, N. By the size of that force a wheel that slips now and then would be pressed too
    /// much in those steps, and climb what it cannot hold on to.
    fn pressed_at_limit(&self, relieved: Four, friction: Four) -> Four {
        let one = Four::splat(1.0);
        let [along, across] = self.begun.tyre;
        let force = (along * along + across * across).sqrt().at_least(Four::splat(f32::MIN_POSITIVE));
        one / (one + friction * self.contact.grip * (relieved / force)).at_least(Four::splat(1.0 / MOST_PRESSED))
    }
}

/// How much more than its strut's load an edge presses on a wheel, at most.
const MOST_PRESSED: f32 = 4.0;

/// Slope of what a wheel stands on, against its strut, from which on its tyre's force changes by much what presses, and so its own limit.
const STEEP_SLOPE: f32 = 0.3;

/// Rays of wheels of a car, or of several abreast, whose bodies are `falling` (m/s) and turning (rad/s, world axes): where they start,
/// relative to the position in the middle of the step, and how far they reach, m.
///
/// A ray starts one wheel diameter above the resting contact point, inside the chassis, so that ground the bump
/// stop has given way to is still below its start. It reaches to the droop stop and as much further as the wheel sinks
/// within `dt` s, so that a landing wheel meets the ground in time.
#[inline(always)]
pub(crate) fn rays<W: Corners>(
    bank: &WheelPack<W>,
    to_world: &Axes<W::Car>,
    falling: Vec3Lanes<W::Car>,
    angular: Vec3Lanes<W::Car>,
    dt: f32,
) -> (Vec3Lanes<W>, W) {
    let start = to_world.times_at_each_wheel(bank.contact.raised(bank.start_height()));
    let closing = W::Car::splat(STEEPEST_GROUND_TANGENT) * falling.dot(falling).sqrt() - falling.dot(to_world.z);
    let (roll, pitch) = (W::of_car(angular.dot(to_world.x)), W::of_car(angular.dot(to_world.y)));
    let sinking = W::of_car(closing) - roll * bank.contact.y + pitch * bank.contact.x;
    let ahead = (sinking * W::splat(dt)).at_least(W::splat(DROOP_SLACK));
    (start, bank.start_height() + bank.droop_travel + ahead)
}

impl Probe {
    /// Of the ray of a wheel of `car`, which has no rim, at `position`.
    #[inline(always)]
    pub(crate) fn cast(&mut self, car: usize, position: DVec3, direction: Vec3, end: Four) {
        let [x, y, z, reach] = end.lanes();
        (self.car, self.position, self.offset) = (car, position, Vec3::new(x, y, z));
        (self.direction, self.reach, self.rim) = (direction, reach, None);
    }
}

impl Vehicle {
    /// Rows of the wheels that stand on rims, where wheels do not move on their own.
    pub(crate) fn hold_rims_by_struts(&mut self, moving: SpatialVector<f32>) {
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            if bank.has_rims {
                let load = |i: usize| self.state.wheels[i].load;
                let friction = |i: usize| self.model.tyre(i).friction_at(load(i))[0];
                rows.hold_by_struts(moving.at_each_wheel(), bank.gather(load), || bank.gather(friction));
            }
        }
    }

    /// Writes the rays to cast, one for each wheel, into `asked`: from where `body` is in the middle of the step.
    #[inline(always)]
    pub fn probes(&self, car: usize, body: &Body, dt: f32, asked: &mut [Probe]) {
        let (position, to_world) = (body.position_halfway(dt), body.axes_halfway(dt));
        let (axes, direction) = (Axes::of(&to_world), -to_world.z_axis);
        let [falling, angular] = [body.free_velocity, body.angular].map(Vec3Lanes::splat);
        for bank in self.model.banks() {
            let (start, reach) = rays(bank, &axes, falling, angular, dt);
            let ends = Four::transposed([start.x, start.y, start.z, reach]);
            let ask = |probe: &mut Probe, end: Four| probe.cast(car, position, direction, end);
            match bank.whole_mut(asked) {
                Some(four) => four.iter_mut().zip(ends).for_each(|(probe, end)| ask(probe, end)),
                None => bank.each(|lane, wheel| {
                    if let Some(probe) = asked.get_mut(wheel) {
                        ask(probe, ends[lane]);
                    }
                }),
            }
        }
        if self.model.has_rims() {
            self.add_rims(body, &to_world, dt, asked);
        }
    }

    /// Adds the rims of the wheels that feel with one.
    #[cold]
    #[inline(never)]
    fn add_rims(&self, body: &Body, to_world: &Mat3, dt: f32, asked: &mut [Probe]) {
        for (wheel, probe) in asked.iter_mut().enumerate().take(self.model.wheels().len()) {
            probe.rim = self.rim(wheel, body, to_world, dt);
        }
    }

    fn rim(&self, wheel: usize, body: &Body, to_world: &Mat3, dt: f32) -> Option<Rim> {
        let of = &self.model.wheels()[wheel];
        let (half_width, rounded) = of.probe.tread()?;
        let (sin, cos) = math::sin_cos(self.state.wheels[wheel].steer);
        let place = self.model.place(wheel);
        let bank = &self.model.banks()[place.bank];
        let stood = bank.start_height().at(place.lane) - self.state.wheels[wheel].compression;
        let forward = to_world.x_axis * cos + to_world.y_axis * sin;
        let ahead = (body.free_velocity.length() + body.angular.length() * of.contact.length()) * dt + WALL_MARGIN;
        let arm = *to_world * of.contact;
        let came = (body.velocity + body.angular.cross(arm)) * (0.5 * dt);
        let moves = (body.free_velocity + body.free_angular.cross(arm)) * dt - came;
        let by_force = dt * dt * self.give_along_road(of, sin, cos);
        let compression = |wheel: usize| self.state.wheels[wheel].compression;
        let give = load_at(&self.model, compression, wheel) * by_force;
        let driven = self.state.wheels[wheel].tyre[0] * by_force;
        Some(Rim { forward, radius: of.radius, half_width, rounded, stood, ahead, came, moves, give, driven })
    }

    /// By how much an impulse along the heading at the contact of a wheel changes its speed there, 1/kg, times the number of wheels, as
    /// all may do the same at once.
    fn give_along_road(&self, wheel: &Wheel, sin: f32, cos: f32) -> f32 {
        let forward = Vec3::new(cos, sin, 0.0);
        let row = SpatialVector::of(forward, wheel.contact.cross(forward));
        let alone = self.response(row);
        (row.linear.dot(alone.linear) + row.angular.dot(alone.angular)) * self.model.wheels().len() as f32
    }

    /// Contact points, row directions and last step's impulses of every wheel; whether all touch.
    #[inline(always)]
    pub(crate) fn locate<B: Banks>(
        &mut self,
        body: &Body,
        to_world: &Mat3,
        contacts: &[Option<Contact>],
        unsprung: bool,
        dt: f32,
    ) -> bool {
        let to_vehicle = to_world.transpose();
        let angular = to_vehicle * body.angular;
        let moving = SpatialVector::of(to_vehicle * body.velocity, angular).at_each_wheel();
        let free =
            || SpatialVector::of(to_vehicle * body.free_velocity, to_vehicle * body.free_angular).at_each_wheel();
        let axes = Axes::of(&to_vehicle);
        let mut all_touch = true;
        for (bank, rows) in banks::<B>(&self.model, &mut self.rows) {
            rows.touch(bank, &Met::by(bank, contacts), &axes);
            if bank.has_rims {
                rows.touch_with_rims(bank, contacts, &to_vehicle);
            }
            rows.take_to_start(bank, moving, dt);
            rows.find_ground_motion(bank, contacts, &to_vehicle);
            if unsprung {
                rows.meet_with_tyres(bank);
            }
            rows.move_over(moving, free, Four::splat(body.pose_lag), dt);
            rows.recall_moments(bank, dt);
            rows.begin();
            all_touch &= !Four::any(bank.present() & !rows.contact.in_contact);
        }
        if !all_touch {
            self.hang();
        }
        all_touch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, ProbeShape, plain::plain_car};
    use crate::state::{Placement, State};
    use crate::step::vehicle::CHASSIS_AT_ORIGIN;
    use crate::world::scene::Scene;

    /// Of the way that it falls by in the step, what is beyond the gap; none of one that rises.
    #[test]
    fn a_wheel_has_contact_for_the_share_of_its_fall_behind_the_gap() {
        let mut rows = Rows::<Four>::default();
        rows.contact.normal = SpatialVector::new(Vec3Lanes::splat(Vec3::Z), Vec3Lanes::splat(Vec3::ZERO));
        rows.contact.cosine = Four::splat(1.0);
        rows.contact.beyond_droop = Four::splat(-0.005);
        let share = |speed: f32| {
            let falling = SpatialVector::of(Vec3::new(9.0, 0.0, -speed), Vec3::ZERO).at_each_wheel();
            rows.share_after_fall(falling, 0.01).at(0)
        };
        // 0.02 m in the step.
        assert!((share(2.0) - 0.75).abs() < 1e-6, "{}: 32 bits", share(2.0));
        assert_eq!(share(-2.0), 0.0);
    }

    /// `(v + ω × r) dt`, were nothing to act but what acts on the body.
    #[test]
    fn a_rim_moves_as_its_contact_point_does_with_the_chassis() {
        let mut parts = plain_car();
        parts.wheels[0].probe = ProbeShape::Disc;
        let model = Model::new(parts).expect("valid");
        let state = State::at_rest(&model, &Scene::flat(), &Placement::default());
        let car = Vehicle::new(model.into(), state);
        let (velocity, angular) = (Vec3::new(20.0, 1.0, -0.5), Vec3::new(0.0, 0.5, 1.0));
        let body = Body { free_velocity: velocity, free_angular: angular, ..CHASSIS_AT_ORIGIN };
        let moves = car.rim(0, &body, &Mat3::IDENTITY, 0.01).expect("a disc").moves;
        let expected = (velocity + angular.cross(Vec3::new(1.25, 0.75, -0.5))) * 0.01;
        assert!((moves - expected).length() < 1e-7, "{moves} instead of {expected}: 32 bits");
        assert_eq!(car.rim(1, &body, &Mat3::IDENTITY, 0.01), None, "a ray has no rim");
    }
}
