//! Hitches while hulls are stopped: what stops one vehicle of a train stops those it is hitched to.
//!
//! The vehicles' own solve holds a hitch for poses that move with the mean of their velocities, and knows no blow. Where a world
//! stops a hull of a train, all of that train move with the velocities they end with, and its hitches are held for those.

use skidpad_core::{Mat3, Vec3, math, returned_gap};

use crate::chassis::Chassis;
use crate::hull::{PASSES, SETTLED};

/// A hitch: points of two chassis that stay together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// Of the vehicles solved together.
    pub group: u32,
    /// The trailer, and what tows it.
    pub cars: [u32; 2],
    /// From each centre of mass to the point half way through the step, world axes, m.
    arms: [Vec3; 2],
    /// Velocity of the first point against the second that the step is to end with, m/s.
    target: Vec3,
    /// From a velocity of the first point against the second to the impulse, kg.
    mass: Mat3,
    /// What it has given the trailer so far, N s.
    pub impulse: Vec3,
}

impl Link {
    /// Between the trailer and the vehicle ahead, `cars`.
    pub fn new(cars: [u32; 2]) -> Self {
        Self {
            group: u32::MAX,
            cars,
            arms: [Vec3::ZERO; 2],
            target: Vec3::ZERO,
            mass: Mat3::IDENTITY,
            impulse: Vec3::ZERO,
        }
    }

    /// Where its points come in a step of `dt` s.
    fn aim(&mut self, chassis: &[Chassis], dt: f32) {
        let [trailer, ahead] = self.cars.map(|car| &chassis[car as usize]);
        let points = [(trailer, trailer.coupler), (ahead, ahead.hitch)];
        let arms = points.map(|(car, point)| car.axes * point);
        let gap = (trailer.position - ahead.position).as_vec3() + arms[0] - arms[1];
        let rates = [trailer, ahead].map(|car| car.middle_rate(dt));
        self.arms = [0, 1].map(|k| math::turned(points[k].0.rotation, rates[k], 0.5 * dt) * points[k].1);
        // Poses turn with rates that the bodies' own momentum has changed.
        let [turned, turned_ahead] = [0, 1].map(|k| (rates[k] - points[k].0.angular).cross(self.arms[k]));
        self.target = returned_gap(gap, 0.0, dt) - turned + turned_ahead;
        let column = |axis: Vec3| {
            let answer = |car: &Chassis, arm: Vec3| axis * car.inverse_mass + car.spun_by(arm.cross(axis)).cross(arm);
            answer(trailer, self.arms[0]) + answer(ahead, self.arms[1])
        };
        self.mass = Mat3::from_cols(column(Vec3::X), column(Vec3::Y), column(Vec3::Z)).inverse();
    }

    /// Changes the twists of both by what it lacks; the change of a velocity, m/s.
    fn hold(&mut self, chassis: &mut [Chassis]) -> f32 {
        let [trailer, ahead] = self.cars.map(|car| car as usize);
        let velocity = chassis[trailer].speed_at(self.arms[0]) - chassis[ahead].speed_at(self.arms[1]);
        let missing = self.target - velocity;
        let impulse = self.mass * missing;
        self.impulse += impulse;
        chassis[trailer].stop(impulse, self.arms[0].cross(impulse));
        chassis[ahead].stop(-impulse, -self.arms[1].cross(impulse));
        missing.length()
    }
}

/// Lets the vehicles of one group that `links` tie move with the velocities they end with, and holds their hitches for these.
pub(crate) fn tighten(links: &mut [Link], chassis: &mut [Chassis], dt: f32) {
    for car in links.iter().flat_map(|link| link.cars) {
        chassis[car as usize].stop(Vec3::ZERO, Vec3::ZERO);
    }
    links.iter_mut().for_each(|link| link.aim(chassis, dt));
    hold(links, chassis);
}

/// Holds the hitches of one group; one alone is held at once.
pub(crate) fn hold(links: &mut [Link], chassis: &mut [Chassis]) {
    for _ in 0..PASSES {
        let changed = links.iter_mut().map(|link| link.hold(chassis)).fold(0.0, f32::max);
        if links.len() < 2 || changed <= SETTLED {
            return;
        }
    }
}
