//! The pose in which the struts carry a standing car on a plane of any slope.

use bevy_math::{DMat3, DVec3};

use crate::{Model, Quat, Scene, Vec3, math};

/// Fixed-point passes for the tilt's own effect on gravity; each gains about a digit and a half.
const PASSES: usize = 8;

/// How a standing car hangs in its springs, relative to standing level in its described pose.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rest {
    /// Of the centre of mass, along the ground's normal, m.
    pub heave: f32,
    /// Vehicle axes to the axes of a car upright on the ground.
    pub tilt: Quat,
    /// Compression of every wheel, m.
    pub compressions: Vec<f32>,
    /// Load of every wheel, N.
    pub loads: Vec<f32>,
}

impl Rest {
    /// Equilibrium of loads, gravity and the friction that holds the car, on a car that heads `heading` rad. `None` when
    /// a wheel would lift or meet its stop: such a car has to find its own rest.
    ///
    /// With compressions `z = −heave + x θ − y φ`, the loads must carry the normal part of gravity, and balance the
    /// moment of its tangential part, which acts at the centre of mass while friction acts on the ground:
    /// `Σ N = m g_n`, `Σ x N = h m g_x`, `Σ y N = h m g_y`.
    pub fn of(model: &Model, scene: &Scene, heading: f32) -> Option<Self> {
        let down = scene.orientation(heading).inverse() * Vec3::new(0.0, 0.0, -scene.gravity);
        let (mass, height) = (f64::from(model.mass()), f64::from(model.parts().centre_height));
        let wheels = model.wheels();
        let levers: Vec<DVec3> =
            wheels.iter().map(|w| DVec3::new(1.0, w.contact.x.into(), w.contact.y.into())).collect();
        let travel = |i: usize| DVec3::new(-1.0, -levers[i].z, levers[i].y);
        let rates: Vec<DVec3> = (0..wheels.len()).map(|i| rate(model, i, &travel)).collect();
        let mut stiffness = DMat3::ZERO;
        let mut missing = DVec3::ZERO;
        for (i, (lever, rate)) in levers.iter().zip(&rates).enumerate() {
            stiffness += DMat3::from_cols(*lever * rate.x, *lever * rate.y, *lever * rate.z);
            missing -= *lever * f64::from(model.static_load(i));
        }
        let compliance = stiffness.inverse();
        // Heave, roll, pitch.
        let mut pose = DVec3::ZERO;
        for _ in 0..PASSES {
            let gravity = (tilt(pose).inverse() * down).as_dvec3() * mass;
            let wanted = DVec3::new(-gravity.z, height * gravity.x, height * gravity.y);
            pose = compliance * (wanted + missing);
        }
        let compressions: Vec<f32> = (0..wheels.len()).map(|i| travel(i).dot(pose) as f32).collect();
        let loads: Vec<f32> = (0..wheels.len()).map(|i| model.static_load(i) + rates[i].dot(pose) as f32).collect();
        let hangs = wheels
            .iter()
            .zip(&compressions)
            .zip(&loads)
            .all(|((wheel, &z), &load)| load > 0.0 && z < wheel.strut.bump_travel && z > -wheel.strut.droop_travel);
        hangs.then(|| Self { heave: pose.x as f32, tilt: tilt(pose), compressions, loads })
    }
}

/// How the load of wheel `i` answers heave, roll and pitch: its spring and its bars.
fn rate(model: &Model, i: usize, travel: &impl Fn(usize) -> DVec3) -> DVec3 {
    let parts = model.parts();
    let mut sum = travel(i) * f64::from(parts.wheels[i].strut.rate);
    for bar in parts.bars.iter().filter(|b| b.wheels.contains(&i)) {
        let other = if bar.wheels[0] == i { bar.wheels[1] } else { bar.wheels[0] };
        sum += (travel(i) - travel(other)) * f64::from(bar.rate_at(0.0));
    }
    sum
}

fn tilt(pose: DVec3) -> Quat {
    math::turned(Quat::IDENTITY, Vec3::new(pose.y as f32, pose.z as f32, 0.0), 1.0)
}
