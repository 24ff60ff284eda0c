//! Answers of every backend's world to rays and rims, each case in closed form.

mod edges;
mod flat;
mod inside;
mod misses;
mod rough;
mod smooth;

use skidpad::core::{
    CarStart, Contact, DVec3, Probe, Quat, Rim, Scene, Simulation, Vec3, model::ProbeShape, state::Placement,
};

use crate::common::{Simplify, c5, on_rows};

/// Radius of the rims, m.
const RADIUS: f32 = 0.33;
/// Width of the treads, m. Rims have half of it as their half width.
const HALF_WIDTH: f32 = 0.1;

/// Shapes of the probes. The rounding of the torus has a radius of half its width.
const PROBES: [ProbeShape; 4] =
    [ProbeShape::Ray, ProbeShape::Disc, ProbeShape::Cylinder(HALF_WIDTH), ProbeShape::Torus(HALF_WIDTH)];

/// World of a backend with one car, which answers probes.
struct Asked {
    name: &'static str,
    world: Box<dyn Simulation>,
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

/// Builds the world of `scene` for every solver and mode, with a car 500 m away and 50 m up.
fn worlds(scene: &Scene) -> Vec<Asked> {
    worlds_with(scene, Placement { x: 500.0, height: 50.0, ..Placement::default() })
}

/// Builds the world of `scene` for every solver and mode, with a car at `placement`. A step updates Rapier's broad phase.
fn worlds_with(scene: &Scene, placement: Placement) -> Vec<Asked> {
    let start = CarStart { model: c5().model(), placement };
    let asked = |solver: skidpad::core::SolverInfo| {
        let mut world = (solver.build_world)(scene, std::slice::from_ref(&start), 1e-3);
        world.step(&[]);
        Asked { name: solver.name, world }
    };
    on_rows().into_iter().map(asked).collect()
}

/// Returns a probe from `start` (world, m) in the direction −z of `turn`, with forward along x of `turn`. It reaches 2 m.
/// The wheel of the probe last stood a radius above the point `stood` m down.
fn probe(shape: ProbeShape, start: DVec3, turn: Quat, stood: f32) -> Probe {
    let tread = match shape {
        ProbeShape::Ray => None,
        ProbeShape::Disc => Some((0.0, false)),
        ProbeShape::Cylinder(width) => Some((0.5 * width, false)),
        ProbeShape::Torus(width) => Some((0.5 * width, true)),
    };
    let rim = |(half_width, has_round_tread)| {
        let (forward, moves) = (turn * Vec3::X, Vec3::ZERO);
        Rim {
            forward,
            radius: RADIUS,
            half_width,
            has_round_tread,
            last_ray_length: stood,
            lookahead: 0.0,
            probe_displacement: Vec3::ZERO,
            free_displacement: moves,
            load_displacement: 0.0,
            drive_displacement: 0.0,
        }
    };
    let (offset, direction) = (Vec3::ZERO, turn * Vec3::NEG_Z);
    Probe { car: 0, position: start, offset, direction, length: 2.0, rim: tread.map(rim) }
}

/// Returns an upright probe with forward along x. Its wheel last stood a radius above the point 2 R down.
fn upright(shape: ProbeShape, start: DVec3) -> Probe {
    probe(shape, start, Quat::IDENTITY, 2.0 * RADIUS)
}

/// Returns the distance at which `probe` touches the plane with unit `normal` through `foot`, m. A circle of radius r in the
/// plane of the wheel, s left of its middle, touches the plane when its middle is `r √(1 − (n·left)²)` above it.
fn down_to_plane(probe: &Probe, normal: DVec3, foot: DVec3) -> f64 {
    let up = -probe.direction.as_dvec3();
    let height = (probe.position - foot).dot(normal);
    let Some(rim) = probe.rim else { return height / normal.dot(up) };
    let (radius, half) = (f64::from(rim.radius), f64::from(rim.half_width));
    let leans = normal.dot(up.cross(rim.forward.as_dvec3()));
    // A rounded tread has three circles: one in the middle, and one on either side where the tread leans by 60 degrees.
    let (aside, lower) = if rim.has_round_tread { (0.75f64.sqrt() * half, 0.5 * half) } else { (half, 0.0) };
    let circles = [(0.0, radius), (aside, radius - lower), (-aside, radius - lower)];
    let down =
        |(left, r): (f64, f64)| radius + (height + left * leans - r * (1.0 - leans * leans).sqrt()) / normal.dot(up);
    circles.into_iter().map(down).fold(f64::MAX, f64::min)
}
