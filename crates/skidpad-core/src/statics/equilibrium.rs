//! Equilibrium pose of a standing car on its struts, on a plane of any slope.

use crate::ground::scene::Scene;
use crate::model::Model;
use crate::suspension::parameters::BarForcePath;
use bevy_math::{DMat3, DVec3, Quat, Vec3};
use skidpad_simd::math;

/// Number of fixed-point passes for the effect of the tilt on gravity; each gains about a digit and a half.
const TILT_PASSES: usize = 8;

/// Equilibrium of a standing car on its springs, relative to its described level pose.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StaticEquilibrium {
    /// Displacement of the centre of mass along the ground's normal (m).
    pub heave: f32,
    /// Rotation from vehicle axes to the axes of a car upright on the ground.
    pub tilt: Quat,
    /// Compression of every wheel from its position at rest on level ground (m), positive in jounce.
    pub compressions: Vec<f32>,
    /// Load of every wheel (N).
    pub loads: Vec<f32>,
    /// Force that supports a trailer at its coupler, along the ground's normal (N).
    pub coupler_load: f32,
}

/// Effect of other vehicles on a standing vehicle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Towing {
    /// Load of the trailer on the hitch, along the ground's normal (N).
    pub hitch_load: f32,
    /// Height of the coupler above its described position (m).
    pub coupler_lift: f32,
}

/// Stiffness of the support of a coupler, as a multiple of the vehicle's weight per metre: it deflects by a micrometre.
const COUPLER_STIFFNESS_PER_M: f64 = 1e6;

impl StaticEquilibrium {
    /// Computes the equilibrium of loads, gravity and the friction that holds the car, for a car that heads `heading`
    /// rad. Returns `None` if a wheel would lift or reach its stop: such a car has to settle by itself.
    ///
    /// Compressions are `z = −heave + x θ − y φ` (roll φ, pitch θ). The loads N must carry the normal part of gravity.
    /// The loads must also balance the moment of the tangential part of gravity, which acts at the centre of mass while
    /// friction acts on the ground: `Σ N = m g_n`, `Σ x N = h m g_x`, `Σ y N = h m g_y`. Friction is distributed in
    /// proportion to the static loads.
    ///
    /// Each of 8 passes turns gravity by the last tilt, linearizes springs, bars, heave springs, jacking forces and the
    /// lateral scrub of the contacts at the last pose, and solves for heave, roll and pitch. There is no convergence
    /// test. A load is the static load plus spring and link forces less the jacking force. All loads act at the
    /// scrubbed contact points. The pose is not limited within the passes; loads and stops are checked once at the end:
    /// loads above 0, compressions within the bump travel and the droop travel.
    ///
    /// The coupler of a trailer is one more support, which hardly deflects; `towing` displaces it by the height of the
    /// hitch. The load of a trailer on a hitch adds to the force and both moments that the loads balance. `rest_wrench`
    /// is the force and the two moments (about x and y levers) of all loads in the rest pose.
    pub fn solve(model: &Model, scene: &Scene, heading: f32, towing: &Towing) -> Option<Self> {
        let upright_gravity = upright_gravity(scene, heading);
        let wheels = model.wheels();
        let (mass, height) = (f64::from(model.mass()), model.tyre_force_lever()); // kg; lever of tyre forces, m
        // Levers (1, x, y) of the wheel loads, and change of each compression with heave, roll and pitch.
        let levers: Vec<DVec3> =
            wheels.iter().map(|w| DVec3::new(1.0, w.contact.x.into(), w.contact.y.into())).collect();
        let travel = |i: usize| DVec3::new(-1.0, -levers[i].z, levers[i].y);
        // Stiffness of bars and heave springs of each wheel against heave (N/m), roll and pitch (N/rad).
        let links: Vec<AxleLinkStiffness> =
            (0..wheels.len()).map(|i| AxleLinkStiffness::of_wheel(model, i, &travel)).collect();
        let mut rest_wrench =
            (0..wheels.len()).fold(DVec3::ZERO, |sum, i| sum + levers[i] * f64::from(model.static_load(i)));
        let hitch_moments =
            model.parts().hitch.map_or(DVec3::ZERO, |hitch| load_lever(hitch.point) * f64::from(towing.hitch_load));
        let [coupler_arm, coupler_travel] = model.parts().coupler.map_or([DVec3::ZERO; 2], |coupler| {
            let lever = load_lever(coupler.point);
            [lever, DVec3::new(-1.0, -lever.z, lever.y)]
        });
        let coupler_rate = COUPLER_STIFFNESS_PER_M * mass * f64::from(scene.gravity); // N/m
        let coupler_force = |pose: DVec3| {
            f64::from(model.coupler_load()) + coupler_rate * (coupler_travel.dot(pose) + f64::from(towing.coupler_lift))
        };
        rest_wrench += coupler_arm * coupler_force(DVec3::ZERO);
        // Heave, roll and pitch; and the part of the loads that links carry as the wheels hold the car (N).
        let (mut pose, mut jacking) = (DVec3::ZERO, vec![0.0; wheels.len()]);
        for _ in 0..TILT_PASSES {
            let gravity = (tilt_rotation(pose).inverse() * upright_gravity).as_dvec3() * mass;
            let target = DVec3::new(-gravity.z, height * gravity.x, height * gravity.y) + hitch_moments; // balanced
            let gain = coupler_travel * coupler_rate; // coupler force per heave, roll and pitch
            let mut stiffness = DMat3::from_cols(coupler_arm * gain.x, coupler_arm * gain.y, coupler_arm * gain.z);
            let mut offset = -rest_wrench; // force and moments at zero deflection, negative
            let lateral_force = |i: usize| -gravity.y * f64::from(model.carried_masses()[i]) / mass; // leftward, N
            jacking.iter_mut().enumerate().for_each(|(i, force)| *force = model.jacking_force(i, lateral_force));
            for (i, rest_lever) in levers.iter().enumerate() {
                let scrub = DVec3::Z * model.link_scrub(i, |k| travel(k).dot(pose));
                let lever = &(*rest_lever + scrub);
                let (strut, z) = (&wheels[i].strut, travel(i).dot(pose));
                let rate = travel(i) * strut.rate_at(z) + links[i].through_strut + links[i].external;
                stiffness += DMat3::from_cols(*lever * rate.x, *lever * rate.y, *lever * rate.z);
                // The tangent of a progressive spring, extrapolated to zero compression, does not give its force there.
                offset += *lever * (strut.rate_at(z) * z - strut.spring_force(z) + jacking[i])
                    - scrub * f64::from(model.static_load(i));
            }
            pose = stiffness.inverse() * (target + offset);
        }
        let compressions: Vec<f32> = (0..wheels.len()).map(|i| travel(i).dot(pose) as f32).collect();
        let load = |i: usize| {
            let spring_force = wheels[i].strut.spring_force(travel(i).dot(pose)) + links[i].through_strut.dot(pose);
            model.static_load(i) + (spring_force - jacking[i]) as f32
        };
        let loads: Vec<f32> = (0..wheels.len()).map(load).collect();
        let is_in_range = wheels
            .iter()
            .zip(&compressions)
            .zip(&loads)
            .all(|((wheel, &z), &load)| load > 0.0 && z < wheel.strut.bump_travel && z > -wheel.strut.droop_travel);
        let coupler_load = if model.parts().coupler.is_some() { coupler_force(pose) as f32 } else { 0.0 };
        is_in_range.then(|| Self { heave: pose.x as f32, tilt: tilt_rotation(pose), compressions, loads, coupler_load })
    }
}

/// Returns gravity in the axes of a car upright on the plane of `scene` that heads `heading` rad, m/s². On a level
/// plane no heading changes a bit.
fn upright_gravity(scene: &Scene, heading: f32) -> Vec3 {
    let world_gravity = Vec3::new(0.0, 0.0, -scene.gravity);
    if scene.slope == 0.0 { world_gravity } else { scene.upright_orientation(heading).inverse() * world_gravity }
}

/// Returns the lever of a vertical load at `point` (vehicle axes, m) on heave, roll and pitch: (1, x, y).
fn load_lever(point: Vec3) -> DVec3 {
    DVec3::new(1.0, point.x.into(), point.y.into())
}

/// Returns the force along the strut of wheel `i` of a car at rest, N, ≥ 0: static load, spring, and bars and heave
/// springs that act through the strut. `compression` returns the compression of each wheel from rest (m). Damping,
/// jacking forces and bars beside the strut are not included. A sum below 0 counts as 0.
pub(crate) fn strut_load(model: &Model, compression: impl Fn(usize) -> f32, i: usize) -> f32 {
    // Compressions in x, so that the result has the force in x.
    let travel = |k: usize| DVec3::X * f64::from(compression(k));
    let link_force = AxleLinkStiffness::of_wheel(model, i, &travel).through_strut.x;
    let spring_force = model.wheels()[i].strut.spring_force(compression(i).into()) + link_force;
    (model.static_load(i) + spring_force as f32).max(0.0)
}

/// Stiffness of the axle links of a wheel against heave, roll and pitch: through its strut, and beside the strut, where
/// the tyre does not feel them.
#[derive(Clone, Copy, Debug, Default)]
struct AxleLinkStiffness {
    /// Part through the strut.
    through_strut: DVec3,
    /// Part beside the strut.
    external: DVec3,
}

impl AxleLinkStiffness {
    /// Returns the stiffness of the anti-roll bars and heave springs of wheel `i` of `model`. `travel` returns the
    /// change of each wheel's compression with heave, roll and pitch; if it returns compressions in x, the result is
    /// the force in x (N). A bar adds `rate (z_own − z_other)`, through or beside the strut by its force path; a heave
    /// spring adds `rate (z_own + z_other) / 4` through the strut.
    fn of_wheel(model: &Model, i: usize, travel: &impl Fn(usize) -> DVec3) -> Self {
        let parts = model.parts();
        let mut stiffness = Self::default();
        // Travel of the other wheel of a pair.
        let other_travel = |wheels: [usize; 2]| travel(if wheels[0] == i { wheels[1] } else { wheels[0] });
        for bar in parts.bars.iter().filter(|bar| bar.wheels.contains(&i)) {
            let rate = (travel(i) - other_travel(bar.wheels)) * f64::from(bar.rate_at(0.0)); // 0.0: speed
            match bar.force_path {
                BarForcePath::InLoadPath => stiffness.through_strut += rate,
                BarForcePath::External => stiffness.external += rate,
            }
        }
        for spring in parts.heave_springs.iter().filter(|spring| spring.wheels.contains(&i)) {
            stiffness.through_strut += (travel(i) + other_travel(spring.wheels)) * (0.25 * f64::from(spring.rate));
        }
        stiffness
    }
}

/// Returns the rotation by roll (y component) and pitch (z component) of a pose (heave, roll, pitch), rad, as one
/// rotation vector.
fn tilt_rotation(pose: DVec3) -> Quat {
    math::integrate_rotation(Quat::IDENTITY, Vec3::new(pose.y as f32, pose.z as f32, 0.0), 1.0)
}
