//! What the world of every backend answers to rays and rims, each case in closed form.

mod edges;
mod flat;
mod inside;
mod misses;
mod rough;
mod smooth;

use skidpad::core::{
    Backend, CarStart, Contact, DVec3, Probe, Quat, Rim, Scene, Vec3, model::ProbeShape, state::Placement,
};

use crate::common::{Simplify, c5, on_rows};

/// Radius and half width of the rims asked for, m.
const RADIUS: f32 = 0.33;
const HALF_WIDTH: f32 = 0.1;

/// What feels for the ground; of a rounded tread the radius is half the width.
const PROBES: [ProbeShape; 4] =
    [ProbeShape::Ray, ProbeShape::Disc, ProbeShape::Cylinder(HALF_WIDTH), ProbeShape::Torus(HALF_WIDTH)];

/// The world of a backend with one car in it, to be asked.
struct Asked {
    name: &'static str,
    world: Box<dyn Backend>,
}

impl Asked {
    fn probe(&mut self, probe: Probe) -> Option<Contact> {
        let mut answer = [None];
        assert!(self.world.probe(&[probe], &mut answer), "{} answers", self.name);
        answer[0]
    }

    #[track_caller]
    fn met(&mut self, probe: Probe, what: &str) -> Contact {
        self.probe(probe).unwrap_or_else(|| panic!("{} {what}: nothing is met", self.name))
    }
}

/// Every solver's and mode's world of `scene`, with a car far away at `height` m.
fn worlds(scene: &Scene) -> Vec<Asked> {
    worlds_with(scene, Placement { x: 500.0, height: 50.0, ..Placement::default() })
}

/// The same with a car where `placement` says; its world has taken a step, so that Rapier's broad phase knows what is there.
fn worlds_with(scene: &Scene, placement: Placement) -> Vec<Asked> {
    let start = CarStart { model: c5().model(), placement };
    let asked = |solver: skidpad::core::BackendInfo| {
        let mut world = (solver.build)(scene, std::slice::from_ref(&start), 1e-3);
        world.step(&[]);
        Asked { name: solver.name, world }
    };
    on_rows().into_iter().map(asked).collect()
}

/// A probe from `start` (world, m) downwards, turned by `turn`: forward and down are x and −z of it. It reaches 2 m, and its wheel
/// stood a radius above the end of `stood` m.
fn probe(shape: ProbeShape, start: DVec3, turn: Quat, stood: f32) -> Probe {
    let tread = match shape {
        ProbeShape::Ray => None,
        ProbeShape::Disc => Some((0.0, false)),
        ProbeShape::Cylinder(width) => Some((0.5 * width, false)),
        ProbeShape::Torus(width) => Some((0.5 * width, true)),
    };
    let rim = |(half_width, rounded)| {
        let (forward, moves) = (turn * Vec3::X, Vec3::ZERO);
        Rim {
            forward,
            radius: RADIUS,
            half_width,
            rounded,
            stood,
            ahead: 0.0,
            came: Vec3::ZERO,
            moves,
            give: 0.0,
            driven: 0.0,
        }
    };
    let (offset, direction) = (Vec3::ZERO, turn * Vec3::NEG_Z);
    Probe { car: 0, position: start, offset, direction, reach: 2.0, rim: tread.map(rim) }
}

/// One upright, that heads along x and whose wheel stood a radius above the end of 2 R.
fn upright(shape: ProbeShape, start: DVec3) -> Probe {
    probe(shape, start, Quat::IDENTITY, 2.0 * RADIUS)
}

/// How far down its way a `probe` comes on a plane of unit `normal` through `foot`, m. A circle of radius r in a plane of the wheel, s left
/// of its middle, touches the plane when its middle is `r √(1 − (n·left)²)` above it.
fn down_to_plane(probe: &Probe, normal: DVec3, foot: DVec3) -> f64 {
    let up = -probe.direction.as_dvec3();
    let height = (probe.position - foot).dot(normal);
    let Some(rim) = probe.rim else { return height / normal.dot(up) };
    let (radius, half) = (f64::from(rim.radius), f64::from(rim.half_width));
    let leans = normal.dot(up.cross(rim.forward.as_dvec3()));
    // A rounded tread is three circles: its middle, and where it leans by 60 degrees.
    let (aside, lower) = if rim.rounded { (0.75f64.sqrt() * half, 0.5 * half) } else { (half, 0.0) };
    let circles = [(0.0, radius), (aside, radius - lower), (-aside, radius - lower)];
    let down =
        |(left, r): (f64, f64)| radius + (height + left * leans - r * (1.0 - leans * leans).sqrt()) / normal.dot(up);
    circles.into_iter().map(down).fold(f64::MAX, f64::min)
}
