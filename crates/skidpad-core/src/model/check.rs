//! Checks of the parts of a model.

use crate::constants::MAX_WHEELS;
use crate::model::parts::ModelParts;
use crate::model::wheel_pack::lateral_offset;
use crate::model_error::{
    ModelError, check_finite, check_index, check_not_negative, check_positive, check_positive_or_infinite,
};
use crate::steering::parameters::Steering;
use crate::wheel::disc::BrakeDisc;
use crate::wheel::parameters::{Axle, ProbeShape, Wheel};
use bevy_math::{Mat3, Vec3};

/// Maximum height of a roll centre over half the track. On steeper links, lateral forces would lift wheels off the
/// ground, or press them down without limit.
const MAX_LINK_SLOPE: f32 = 0.8;

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
    check_steering(&parts.steering)?;
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
        check_axle(axle, parts.steering.lock)?;
    }
    for (i, wheel) in parts.wheels.iter().enumerate() {
        check_wheel(parts, i, wheel)?;
    }
    check_axle_links(parts)?;
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

/// Checks lock, rate and ratio of the steering, its share of power steering, the steering axes and the compliance of
/// the linkage.
fn check_steering(steering: &Steering) -> Result<(), ModelError> {
    check_positive("steering lock", steering.lock)?;
    check_positive("π/2 - steering lock", core::f32::consts::FRAC_PI_2 - steering.lock)?;
    check_positive_or_infinite("steering rate", steering.rate)?;
    if let Some(ratio) = steering.wheel_ratio {
        check_positive("steering ratio", ratio)?;
    }
    check_not_negative("power steering share", steering.assist_share)?;
    check_positive("1 - power steering share", 1.0 - steering.assist_share)?;
    if let Some(kingpin) = steering.kingpin {
        let lengths = Vec3::new(kingpin.trail, kingpin.scrub_radius, kingpin.pneumatic_trail);
        check_finite("trails and scrub radius", lengths)?;
        for angle in [kingpin.caster, kingpin.inclination] {
            check_positive("π/4 - angle of the kingpin", core::f32::consts::FRAC_PI_4 - angle.abs())?;
        }
    }
    if let Some(compliance) = steering.compliance {
        check_positive("stiffness of the steering linkage", compliance.stiffness)?;
        check_not_negative("time constant of the steering linkage", compliance.time_constant)?;
        if steering.kingpin.is_none() {
            return Err(ModelError::RuleViolated("a compliant steering linkage needs steering axes"));
        }
    }
    Ok(())
}

/// Checks anti-roll bars and heave springs: wheel indices, rates and damping not negative, ranges of speed, and two
/// different wheels of a heave spring. Returns the first violation.
fn check_axle_links(parts: &ModelParts) -> Result<(), ModelError> {
    let wheel_count = parts.wheels.len();
    for bar in &parts.bars {
        for wheel in bar.wheels {
            check_index("anti-roll bar wheel", wheel, wheel_count)?;
        }
        check_not_negative("anti-roll bar rate", bar.rate)?;
        check_not_negative("minimum speed of an anti-roll bar", bar.speed_range[0])?;
        if bar.speed_range != [0.0; 2] {
            check_positive("fade-in speed range of an anti-roll bar", bar.speed_range[1] - bar.speed_range[0])?;
        }
    }
    for spring in &parts.heave_springs {
        for wheel in spring.wheels {
            check_index("heave spring wheel", wheel, wheel_count)?;
        }
        if spring.wheels[0] == spring.wheels[1] {
            return Err(ModelError::RuleViolated("a heave spring needs two wheels"));
        }
        check_not_negative("heave spring rate", spring.rate)?;
        check_not_negative("heave spring damping", spring.damping)?;
    }
    Ok(())
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

/// Checks the values of an axle. The largest steering angle at the steering `lock` (rad) is below a right angle, the
/// Ackermann share is 0 to 1, force point height and lateral damping are not negative, and turning distance, roll
/// centre height and lateral rate are finite. A force point excludes a roll centre off the ground. Returns the first
/// violation.
fn check_axle(axle: &Axle, lock: f32) -> Result<(), ModelError> {
    let max_angle = axle.steer_ratio.abs() * lock;
    check_positive("π/2 - maximum steering angle of an axle", core::f32::consts::FRAC_PI_2 - max_angle)?;
    check_not_negative("Ackermann share", axle.ackermann)?;
    check_not_negative("1 - Ackermann share", 1.0 - axle.ackermann)?;
    check_finite("distance of an axle from the turning axis", Vec3::splat(axle.turning_distance))?;
    check_not_negative("force application height of an axle", axle.force_point_height)?;
    check_finite("roll centre height of an axle", Vec3::splat(axle.roll_centre_height))?;
    if let Some(lateral) = &axle.lateral_compliance {
        check_finite("lateral stiffness of an axle", Vec3::splat(lateral.rate))?;
        check_not_negative("lateral damping of an axle", lateral.damping)?;
    }
    if axle.force_point_height > 0.0 && axle.roll_centre_height != 0.0 {
        return Err(ModelError::RuleViolated(
            "an axle with a force application height must have its roll centre at ground level",
        ));
    }
    Ok(())
}

/// Checks the values of a brake disc: heat capacity above 0, cooling and temperatures not negative, a rising range of
/// fade, and a remaining torque of 0 to 1. `value_name` builds the name of a value in an error.
fn check_disc(disc: &BrakeDisc, value_name: impl Fn(&str) -> String) -> Result<(), ModelError> {
    check_positive(&value_name("heat capacity of the brake disc"), disc.heat_capacity)?;
    check_not_negative(&value_name("cooling of the brake disc"), disc.cooling[0])?;
    check_not_negative(&value_name("speed-dependent cooling of the brake disc"), disc.cooling[1])?;
    check_not_negative(&value_name("temperature at which brake fade starts"), disc.fade_range[0])?;
    check_positive(&value_name("temperature range of brake fade"), disc.fade_range[1] - disc.fade_range[0])?;
    check_not_negative(&value_name("remaining torque share of a faded brake"), disc.min_torque_factor)?;
    check_not_negative(&value_name("1 - remaining torque share of a faded brake"), 1.0 - disc.min_torque_factor)
}

/// Checks the values of wheel number `i`. Returns the first violation, whose text contains the wheel number.
///
/// - Indices of axle and tyre exist, and the position is finite.
/// - Above 0: radius, spin inertia, wheel rate at rest and at full droop, bump, droop and stop travel, knee speeds
///   (also infinite), tread width, unsprung mass and vertical tyre rate.
/// - At least 0: progressive rate, damping, ratios of fast damping, stop rate, brake torques, coefficients of rolling
///   resistance and their fade speed, vertical tyre damping.
/// - The roll centre is above or below the ground by at most [`MAX_LINK_SLOPE`] of half the track; on the ground for a
///   single wheel.
/// - |Toe| and |camber| are below 1 rad over the whole travel.
/// - A tread is at most as wide as the wheel is high; a brake disc is valid by [`check_disc`].
fn check_wheel(parts: &ModelParts, i: usize, wheel: &Wheel) -> Result<(), ModelError> {
    let value_name = |quantity: &str| format!("wheel {i}: {quantity}");
    check_index(&value_name("axle"), wheel.axle, parts.axles.len())?;
    check_index(&value_name("tyre"), wheel.tyre, parts.tyres.len())?;
    if !wheel.contact.is_finite() {
        return Err(ModelError::RuleViolated("a wheel's position is not finite"));
    }
    check_positive(&value_name("radius"), wheel.radius)?;
    check_positive(&value_name("spin inertia"), wheel.spin_inertia)?;
    let strut = &wheel.strut;
    // Largest travel in either direction, m.
    let max_travel = strut.droop_travel.max(strut.bump_travel + strut.stop_travel);
    let axle = &parts.axles[wheel.axle];
    let max_height = MAX_LINK_SLOPE * lateral_offset(parts, i).abs();
    check_not_negative(
        &value_name("0.4 of the track - roll centre height"),
        max_height - axle.roll_centre_height.abs(),
    )?;
    let [toe, camber] = axle.toe_camber.map_or([0.0; 2], |links| links.max_changes(max_travel));
    check_positive(&value_name("1 - |camber| within the travel"), 1.0 - wheel.camber.abs() - camber)?;
    check_positive(&value_name("1 - |toe| within the travel"), 1.0 - wheel.toe.abs() - toe)?;
    check_positive(&value_name("wheel rate"), strut.rate)?;
    check_positive(&value_name("bump travel"), strut.bump_travel)?;
    check_positive(&value_name("droop travel"), strut.droop_travel)?;
    check_positive(&value_name("stop travel"), strut.stop_travel)?;
    check_positive(&value_name("wheel rate at full droop"), strut.rate_at(-f64::from(strut.droop_travel)) as f32)?;
    for knee in strut.knees {
        check_positive_or_infinite(&value_name("knee speed of a damper"), knee.speed)?;
    }
    for (quantity, value) in [
        ("progressive wheel rate", strut.progressive_rate),
        ("bump damping", strut.bump_damping),
        ("rebound damping", strut.rebound_damping),
        ("stop rate", strut.stop_rate),
        ("damping ratio beyond the bump knee", strut.knees[0].fast_ratio),
        ("damping ratio beyond the rebound knee", strut.knees[1].fast_ratio),
        ("brake torque", wheel.brake_torque),
        ("handbrake torque", wheel.handbrake_torque),
        ("constant rolling resistance", wheel.rolling.constant),
        ("linear rolling resistance", wheel.rolling.linear),
        ("quadratic rolling resistance", wheel.rolling.quadratic),
        ("static rolling resistance", wheel.rolling.static_coefficient),
        ("static-to-rolling transition speed", wheel.rolling.static_fade_speed),
    ] {
        check_not_negative(&value_name(quantity), value)?;
    }
    wheel.disc.as_ref().map_or(Ok(()), |disc| check_disc(disc, value_name))?;
    if let ProbeShape::Cylinder(width) | ProbeShape::Torus(width) = wheel.probe {
        check_positive(&value_name("tread width"), width)?;
        check_not_negative(&value_name("2 radius - tread width"), 2.0 * wheel.radius - width)?;
    }
    if let Some(unsprung) = &wheel.unsprung {
        check_positive(&value_name("unsprung mass"), unsprung.mass)?;
        check_positive(&value_name("vertical tyre rate"), unsprung.tyre_rate)?;
        check_not_negative(&value_name("vertical tyre damping"), unsprung.tyre_damping)?;
    }
    Ok(())
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
