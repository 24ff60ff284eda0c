//! Checks of a model: mass, inertia, hull, each part by its own check, and rules between parts.

use crate::constants::MAX_WHEELS;
use crate::model::parts::ModelParts;
use crate::model::wheel_pack::lateral_offset;
use crate::model_error::{
    ModelError, check_finite, check_index, check_not_negative, check_positive, check_positive_or_infinite,
};
use bevy_math::{Mat3, Vec3};

/// Checks all `parts` of a vehicle. Returns the first violation; of a tyre, its first fault. Whether the wheels carry
/// the car is not checked here.
///
/// Order: number and order of wheels, mass and height of the centre of mass, steering, inertia, hull, reference for
/// ray-cast vehicles, axles, wheels, links between wheels, tyres, sprung inertia, hitch, coupler, assists,
/// aerodynamics, couplings, motors and powertrain.
pub(crate) fn check(parts: &ModelParts) -> Result<(), ModelError> {
    let wheel_count = parts.wheels.len();
    if !(2..=MAX_WHEELS).contains(&wheel_count) {
        return Err(ModelError::RuleViolated("a vehicle needs 2 to 32 wheels"));
    }
    if parts.wheels.windows(2).any(|pair| pair[1].axle < pair[0].axle) {
        return Err(ModelError::RuleViolated("wheels must be listed axle by axle from the front"));
    }
    check_positive("mass", parts.mass)?;
    check_positive("centre_height", parts.centre_height)?;
    parts.steering.check()?;
    check_inertia(parts)?;
    for half_extent in parts.hull.half_extents.to_array() {
        check_positive("hull half extent", half_extent)?;
    }
    check_finite("hull centre", parts.hull.centre)?;
    let raycast_reference = &parts.raycast_reference;
    check_not_negative("roll influence", raycast_reference.roll_influence)?;
    check_not_negative("1 - roll influence", 1.0 - raycast_reference.roll_influence)?;
    check_positive_or_infinite("maximum suspension force", raycast_reference.largest_suspension_force)?;
    for axle in &parts.axles {
        axle.check(parts.steering.lock)?;
    }
    for (i, wheel) in parts.wheels.iter().enumerate() {
        let value_name = |quantity: &str| format!("wheel {i}: {quantity}");
        check_index(&value_name("axle"), wheel.axle, parts.axles.len())?;
        check_index(&value_name("tyre"), wheel.tyre, parts.tyres.len())?;
        wheel.check(&parts.axles[wheel.axle], lateral_offset(parts, i), value_name)?;
    }
    for bar in &parts.bars {
        bar.check(wheel_count)?;
    }
    for spring in &parts.heave_springs {
        spring.check(wheel_count)?;
    }
    for (i, tyre) in parts.tyres.iter().enumerate() {
        if let Some(fault) = tyre.faults().into_iter().next() {
            let part = format!("tyre {i}: {}", fault.name);
            return Err(ModelError::OutOfRange { part, found: fault.found, accepts: fault.accepts });
        }
    }
    check_sprung_inertia(parts)?;
    parts.hitch.map_or(Ok(()), |hitch| hitch.check())?;
    parts.coupler.map_or(Ok(()), |coupler| coupler.check())?;
    parts.assists.check()?;
    parts.aero.check()?;
    crate::model::torque_paths::check(parts)
}

/// Checks that the inertia is positive definite (Sylvester's criterion: all leading minors are positive) and symmetric,
/// within 1e-4 of its trace.
fn check_inertia(parts: &ModelParts) -> Result<(), ModelError> {
    let [x, y, z] = [parts.inertia.x_axis, parts.inertia.y_axis, parts.inertia.z_axis];
    for minor in [x.x, x.x * y.y - x.y * x.y, parts.inertia.determinant()] {
        check_positive("a leading minor of the inertia", minor)?;
    }
    // Rotation of the matrix into other axes causes rounding errors.
    let rounding = 1e-4 * (x.x + y.y + z.z);
    for asymmetry in [x.y - y.x, x.z - z.x, y.z - z.y] {
        check_not_negative("symmetry of the inertia within rounding", rounding - asymmetry.abs())?;
    }
    Ok(())
}

/// Checks that mass and inertia without the unsprung masses are positive definite, by Schur's complement. Unsprung
/// masses follow the chassis in all directions except along their struts. The remaining matrix is `M − Σ m` along z,
/// `I − Σ m a aᵀ` about the centre of mass with `a = r × z` of each wheel, and `−Σ m a` between both.
fn check_sprung_inertia(parts: &ModelParts) -> Result<(), ModelError> {
    let (mut mass, mut inertia, mut static_moment) = (parts.mass, parts.inertia, Vec3::ZERO);
    for wheel in &parts.wheels {
        // Unsprung mass, kg, and direction `r × z` of its moment about the centre of mass, m.
        let (unsprung_mass, arm) = (wheel.unsprung.map_or(0.0, |unsprung| unsprung.mass), wheel.contact.cross(Vec3::Z));
        (mass, static_moment) = (mass - unsprung_mass, static_moment + arm * unsprung_mass);
        inertia -= outer(arm * unsprung_mass, arm);
    }
    check_positive("mass without the unsprung masses", mass)?;
    let sprung_inertia = inertia - outer(static_moment / mass, static_moment);
    let [x, y] = [sprung_inertia.x_axis, sprung_inertia.y_axis];
    for minor in [x.x, x.x * y.y - x.y * x.y, sprung_inertia.determinant()] {
        check_positive("a leading minor of the inertia without the unsprung masses", minor)?;
    }
    Ok(())
}

/// Returns the outer product `a bᵀ`.
fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::plain::plain_car;
    use crate::suspension::parameters::Unsprung;

    /// Checks the minimum pitch inertia with unsprung masses of 40 kg on both wheels of one axle, 1.25 m from the
    /// centre of mass: `m x² M / (M − m)` with the mass m of both. A hundredth more is valid, a hundredth less is not.
    /// Both are valid without unsprung masses.
    #[test]
    fn a_car_has_the_inertia_of_its_wheels_at_least() {
        let (mass, x) = (80.0, 1.25);
        let least = mass * x * x * 1200.0 / (1200.0 - mass);
        for (share, is_valid) in [(1.01, true), (0.99, false)] {
            let mut parts = plain_car();
            parts.inertia.y_axis.y = share * least;
            assert!(check(&parts).is_ok());
            for wheel in &mut parts.wheels[..2] {
                wheel.unsprung = Some(Unsprung { mass: 0.5 * mass, tyre_rate: 2e5, tyre_damping: 0.0 });
            }
            assert_eq!(check(&parts).is_ok(), is_valid, "{share} of {least} kg m²");
        }
    }
}
