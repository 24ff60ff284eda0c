//! The rows of each wheel: where it is, what its strut and its tyre ask of the chassis.
//!
//! A row is kept as `impulse = wish − admittance · speed`, the reciprocal form of a soft constraint (softness 1 /
//! admittance): zero admittance is a plain force, a large one is a rigid contact.

use super::{LEAST_GROUND_COSINE, Vehicle};
use crate::linear::{Six, Symmetric6};
use crate::model::{Strut, Wheel};
use crate::state::WheelState;
use crate::{Body, Contact, Mat3, Vec3, math};

/// Workspace of one wheel, rebuilt every step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WheelRows {
    // written by steer
    steered: f32,
    straight_axle: Vec3,
    // written by locate
    pub touching: bool,
    pub grip: f32,
    pub compression: f32,
    /// By how much the compression runs behind the velocity, m.
    lead: f32,
    /// Cosine between contact normal and suspension.
    cosine: f32,
    /// Axle direction at the end of the step.
    pub axle: Vec3,
    /// Load row: acts at the contact point along its normal.
    pub normal: Six,
    /// Rolling-direction row: acts at the wheel centre; its other end is the wheel's spin.
    pub forward: Six,
    /// Lateral row: acts at the contact point.
    pub side: Six,
    // written by load_rows
    bar_force: f32,
    bar_rate: f32,
    load_wish: f32,
    /// Speed along the normal before the loads, m/s.
    warm_speed: f32,
    load_admittance: f32,
    // written by grip_rows
    pub dt: f32,
    pub gripping: bool,
    /// Friction coefficients along and across at the nominal load, surface included.
    friction: [f32; 2],
    /// Share of friction lost per N s of load impulse, and the share at none.
    sensitivity: f32,
    unloaded_share: f32,
    pub wish: [f32; 2],
    pub admittance: [f32; 2],
    /// `1 + dt |V| / σ`: how much of the deflection rolling leaves behind.
    pub decay: [f32; 2],
    /// Elastic stiffness of the patch at rest, N/m.
    pub elastic: [f32; 2],
    // written by drive
    /// Spin momentum before shafts, brake and tyre, N m s.
    pub momentum: f32,
    /// Direct motor torque's angular impulse, part of `momentum`, N m s.
    pub motor: f32,
    /// Largest angular impulse of the brake, N m s.
    pub brake: f32,
    /// Largest angular impulse of brake and rolling resistance, N m s.
    pub hold: f32,
    /// Angular impulse of the shafts, N m s.
    pub shaft: f32,
    // written by the coupling
    pub load: f32,
    pub tyre: [f32; 2],
    /// Angular impulse on the wheel by everything bolted to the chassis, N m s.
    pub torque: f32,
    pub spin: f32,
    pub sliding: bool,
}

/// Damping of the standing patch as a fraction of critical for the wheel's share of the mass: stops the rebound after
/// a locked stop within a cycle; below 0.2 the car rocks visibly, above 0.8 the patch creeps into place.
const STANDING_DAMPING: f32 = 0.4;

/// Height of a ray's start above the resting contact point, m.
pub(super) fn start_height(wheel: &Wheel) -> f32 {
    2.0 * wheel.radius
}

/// Start of a wheel's ray, vehicle frame.
pub(super) fn ray_start(wheel: &Wheel) -> Vec3 {
    wheel.contact + Vec3::new(0.0, 0.0, start_height(wheel))
}

impl WheelRows {
    pub(super) fn turn(&mut self, angle: f32) {
        if self.steered != angle || self.straight_axle == Vec3::ZERO {
            let (sin, cos) = math::sin_cos(angle);
            self.straight_axle = Vec3::new(-sin, cos, 0.0);
            self.steered = angle;
        }
    }
}

impl Vehicle {
    /// Contact points, row directions and last step's impulses of every wheel.
    pub(super) fn locate(&mut self, body: &Body, to_world: &Mat3, contacts: &[Option<Contact>], dt: f32) {
        let to_vehicle = to_world.transpose();
        let turn = to_vehicle * body.angular * dt;
        let moving = Six::new(to_vehicle * body.velocity, to_vehicle * body.angular) * body.lead;
        let wheels = self.model.wheels().iter().zip(&self.state.wheels);
        for (((wheel, was), row), contact) in wheels.zip(&mut self.rows).zip(contacts) {
            row.axle = row.straight_axle + turn.cross(row.straight_axle);
            row.touching = false;
            row.lead = 0.0;
            row.gripping = false;
            row.load = 0.0;
            row.tyre = [0.0; 2];
            row.torque = was.torque * dt;
            if let Some(contact) = contact {
                row.touch(wheel, was, contact, to_vehicle * contact.normal, dt);
                row.lead = if row.touching { -row.normal.dot(moving) / row.cosine } else { 0.0 };
            }
        }
        self.hang();
    }

    /// Compression of wheels without ground: strut, bar and droop stop balance.
    fn hang(&mut self) {
        let parts = self.model.parts();
        for (i, wheel) in parts.wheels.iter().enumerate() {
            if self.rows[i].touching {
                continue;
            }
            let strut = &wheel.strut;
            let (mut pull, mut rate) = (-self.model.static_load(i), strut.rate);
            for bar in parts.bars.iter().filter(|b| b.wheels.contains(&i)) {
                let other = if bar.wheels[0] == i { bar.wheels[1] } else { bar.wheels[0] };
                pull += bar.rate * self.rows[other].compression;
                rate += bar.rate;
            }
            self.rows[i].compression = (pull / rate).clamp(-strut.droop_travel, strut.bump_travel);
        }
    }

    /// Load rows: strut, stop and bar as one soft row along each contact normal, at the velocity `warm`.
    ///
    /// The damper's admittance is `c (1 + c dt / 4m)`, not below `k dt`. Semi-implicit Euler with plain `c` loses
    /// ζ² ω dt / 2 of the damping ratio (1.5 % at 1.5 Hz, ζ 0.2, 60 Hz); the correction cancels that order. The floor
    /// bounds springs of any stiffness.
    pub(super) fn load_rows(&mut self, warm: Six, dt: f32) {
        let parts = self.model.parts();
        for row in &mut self.rows {
            (row.bar_force, row.bar_rate) = (0.0, 0.0);
        }
        for bar in &parts.bars {
            let [a, b] = bar.wheels;
            let force = bar.rate * (self.rows[a].led() - self.rows[b].led());
            self.rows[a].add_bar(force, bar.rate);
            self.rows[b].add_bar(-force, bar.rate);
        }
        for ((wheel, row), &mass) in parts.wheels.iter().zip(&mut self.rows).zip(self.model.sprung()) {
            if row.touching {
                row.load_row(&wheel.strut, mass, warm, dt);
            }
        }
    }

    /// Solves all load rows together, each not below zero, from the velocity `warm`; returns the velocity after them.
    pub(super) fn solve_loads(&mut self, warm: Six) -> Six {
        let mut active = [true; crate::MAX_WHEELS];
        // Each pass drops the rows that would pull; a car cannot drop more rows than it has.
        for _ in 0..self.rows.len() {
            let mut system = Symmetric6::zero();
            system.add_mass(self.model.mass(), self.model.inertia());
            let weight = |i: usize| {
                let row = &self.rows[i];
                if row.touching && active[i] { row.load_admittance } else { 0.0 }
            };
            for &[left, right] in self.model.axle_wheels() {
                let other = if left == right { 0.0 } else { weight(right) };
                system.add_pair(weight(left), self.rows[left].normal, other, self.rows[right].normal);
            }
            let wished = super::sum_by_axle(&self.model, |i| {
                let row = &self.rows[i];
                if row.touching && active[i] {
                    row.normal * (row.load_wish - row.load_admittance * row.warm_speed)
                } else {
                    Six::default()
                }
            });
            let after = warm + system.solve(wished);
            let mut pulled = false;
            for (row, active) in self.rows.iter_mut().zip(&mut active) {
                row.load = if row.touching && *active { row.load_at(after) } else { 0.0 };
                if row.load < 0.0 {
                    (row.load, *active, pulled) = (0.0, false, true);
                }
            }
            if !pulled {
                return after;
            }
        }
        warm
    }

    /// Tyre rows: the law linearised at the deflection the step starts with, under the load just solved.
    pub(super) fn grip_rows(&mut self, dt: f32) {
        let model = &self.model;
        for (i, row) in self.rows.iter_mut().enumerate() {
            let wheel = &model.wheels()[i];
            let was = &self.state.wheels[i];
            let load = row.load / dt;
            let rolling = wheel.rolling.coefficient(was.rolling_speed.abs()) * row.load * wheel.radius;
            row.hold = row.brake + rolling;
            row.dt = dt;
            row.gripping = row.touching && load > 0.0 && row.grip > 0.0;
            if row.gripping {
                let tyre = &model.parts().tyres[wheel.tyre];
                row.grip_at(tyre, was, load, model.sprung()[i], dt);
            } else {
                (row.friction, row.wish, row.admittance, row.tyre) = Default::default();
                row.decay = [1.0; 2];
            }
        }
    }
}

fn corrected_damping(strut: &Strut, jounce_rate: f32, mass: f32, dt: f32) -> f32 {
    let damping = if jounce_rate > 0.0 { strut.bump_damping } else { strut.rebound_damping };
    damping * (1.0 + damping * dt / (4.0 * mass))
}

impl WheelRows {
    fn add_bar(&mut self, force: f32, rate: f32) {
        self.bar_force += force;
        self.bar_rate += rate;
    }

    /// Compression in step with the velocity.
    fn led(&self) -> f32 {
        self.compression + self.lead
    }

    fn load_row(&mut self, strut: &Strut, mass: f32, warm: Six, dt: f32) {
        let mut force = mass * crate::STANDARD_GRAVITY + strut.rate * self.led() + self.bar_force;
        let mut rate = strut.rate + self.bar_rate;
        self.warm_speed = self.normal.dot(warm);
        let jounce_rate = -self.warm_speed / self.cosine;
        let beyond_stop = self.led() - strut.bump_travel;
        if beyond_stop + dt * jounce_rate > 0.0 {
            force += strut.stop_rate * beyond_stop;
            rate += strut.stop_rate;
        }
        let damping = corrected_damping(strut, jounce_rate, mass, dt).max(rate * dt);
        self.load_wish = dt * force / self.cosine;
        self.load_admittance = dt * damping / (self.cosine * self.cosine);
    }

    fn touch(&mut self, wheel: &Wheel, was: &WheelState, contact: &Contact, normal: Vec3, dt: f32) {
        let compression = start_height(wheel) - contact.distance;
        let across = self.axle - normal * self.axle.dot(normal);
        let length = across.length();
        if compression < -wheel.strut.droop_travel || normal.z < LEAST_GROUND_COSINE || length < 0.1 {
            return;
        }
        let side = across / length;
        let forward = side.cross(normal);
        let point = wheel.contact + Vec3::new(0.0, 0.0, compression);
        let centre = point + Vec3::new(0.0, 0.0, wheel.radius);
        self.touching = true;
        self.grip = contact.grip;
        self.compression = compression;
        self.cosine = normal.z;
        self.normal = Six::new(normal, point.cross(normal));
        self.forward = Six::new(forward, centre.cross(forward));
        self.side = Six::new(side, point.cross(side));
        self.tyre = [was.tyre[0] * dt, was.tyre[1] * dt];
    }

    /// Impulse of the load row at chassis velocity `at`, not bounded.
    #[inline]
    fn load_at(&self, at: Six) -> f32 {
        self.load_wish - self.load_admittance * self.normal.dot(at)
    }

    /// Impulse of the load row at chassis velocity `at`, not below zero, and its admittance there.
    #[inline]
    pub fn bounded_load(&self, at: Six) -> (f32, f32) {
        let load = self.load_at(at);
        if self.touching && load > 0.0 { (load, self.load_admittance) } else { (0.0, 0.0) }
    }

    /// Below walking pace the patch is a spring on a friction cone (it parks, and gives back what it holds when the
    /// brake is released); above, the tyre's curve at the lagged slip. Both have the same slope at zero.
    fn grip_at(&mut self, tyre: &crate::model::Tyre, was: &WheelState, load: f32, mass: f32, dt: f32) {
        let point = tyre.at(load, self.grip);
        let lengths = tyre.lengths();
        let share = if tyre.relaxes() { was.rolling } else { 0.0 };
        let curve = match share {
            0.0 => Default::default(),
            _ => point.force([was.deflection[0] / lengths[0], was.deflection[1] / lengths[1]]),
        };
        let speed = if tyre.relaxes() { was.rolling_speed.abs() } else { 0.0 };
        for (i, length) in lengths.into_iter().enumerate() {
            let elastic = point.stiffness[i] / length;
            let u = was.deflection[i];
            let decay = 1.0 + dt * speed / length;
            let force = elastic * u * (1.0 - share) + curve.force[i] * share;
            let slope = elastic * (1.0 - share) + curve.slope[i] / length * share;
            let damping =
                if share < 1.0 { 2.0 * STANDING_DAMPING * (elastic * mass).sqrt() * (1.0 - share) } else { 0.0 };
            self.elastic[i] = elastic;
            self.decay[i] = decay;
            self.wish[i] = dt * (force + slope * (u / decay - u));
            self.admittance[i] = dt * (dt * slope / decay + damping);
        }
        self.friction = tyre.friction.map(|mu| mu * self.grip);
        self.sensitivity = tyre.load_sensitivity / (tyre.nominal_load * dt);
        self.unloaded_share = 1.0 + tyre.load_sensitivity;
    }

    /// Largest tyre impulses under the load impulse realised so far, N s.
    #[inline]
    pub fn limit(&self) -> [f32; 2] {
        let share = (self.unloaded_share - self.sensitivity * self.load).max(crate::model::LEAST_FRICTION_SHARE);
        [self.friction[0] * share * self.load, self.friction[1] * share * self.load]
    }
}
