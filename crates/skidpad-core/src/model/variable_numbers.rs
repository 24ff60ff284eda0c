//! Numbers of a model that may differ between the cars of a block.
//!
//! Each function calls `visit` with these numbers of one part, always in the same order. Numbers of something that the
//! part does not have, such as a brake disc or a side force, are left out.

use crate::aero::parameters::Aero;
use crate::drivetrain::parameters::Powertrain;
use crate::model::parts::ModelParts;
use crate::suspension::parameters::{AntiRollBar, Strut};
use crate::wheel::parameters::{RollingCoefficients, Wheel};
use skidpad_tyre::curve::{CurveLaw, CurveTyre};
use skidpad_tyre::parameters::Tyre;
use skidpad_tyre::tmeasy::TMeasy;

/// Function that gets the numbers one by one, and may change them.
pub(crate) type VisitNumber<'a> = &'a mut dyn FnMut(&mut f32);

/// Visits mass and inertia, and the numbers of wheels, tyres, anti-roll bars, air and engine, in this order.
pub(crate) fn visit_parts(parts: &mut ModelParts, visit: VisitNumber<'_>) {
    visit(&mut parts.mass);
    let inertia = &mut parts.inertia;
    for axis in [&mut inertia.x_axis, &mut inertia.y_axis, &mut inertia.z_axis] {
        visit_all([&mut axis.x, &mut axis.y, &mut axis.z], visit);
    }
    parts.wheels.iter_mut().for_each(|wheel| visit_wheel(wheel, visit));
    parts.tyres.iter_mut().for_each(|tyre| visit_tyre(tyre, visit));
    parts.bars.iter_mut().for_each(|bar| visit_bar(bar, visit));
    visit_aero(&mut parts.aero, visit);
    visit_powertrain(&mut parts.powertrain, visit);
}

/// Returns true if `part` equals `base` in everything but the numbers that `visit_part` visits.
pub(crate) fn equals_except_numbers<P: Clone + PartialEq>(
    base: &P,
    part: &P,
    visit_part: fn(&mut P, VisitNumber<'_>),
) -> bool {
    let mut base_numbers = Vec::new();
    visit_part(&mut base.clone(), &mut |number| base_numbers.push(*number));
    // The part with the numbers of the base.
    let mut part = part.clone();
    let (mut remaining, mut count) = (base_numbers.iter(), 0);
    visit_part(&mut part, &mut |number| {
        count += 1;
        *number = *remaining.next().unwrap_or(number);
    });
    count == base_numbers.len() && part == *base
}

/// Visits radius, spin inertia, brake torques, rolling resistance, strut, brake disc and unsprung mass.
pub(crate) fn visit_wheel(wheel: &mut Wheel, visit: VisitNumber<'_>) {
    // All fields, so that a new one has to be added to one of the two lists.
    let Wheel {
        radius,
        spin_inertia,
        brake_torque,
        handbrake_torque,
        rolling,
        strut,
        disc,
        unsprung,
        axle: _,
        side: _,
        contact: _,
        tyre: _,
        mirrored: _,
        toe: _,
        camber: _,
        probe: _,
    } = wheel;
    visit_all([radius, spin_inertia, brake_torque, handbrake_torque], visit);
    let RollingCoefficients { constant, linear, quadratic, static_coefficient, static_fade_speed } = rolling;
    visit_all([constant, linear, quadratic, static_coefficient, static_fade_speed], visit);
    visit_strut(strut, visit);
    if let Some(disc) = disc {
        visit(&mut disc.heat_capacity);
        disc.cooling.iter_mut().chain(&mut disc.fade_range).for_each(&mut *visit);
        visit(&mut disc.min_torque_factor);
    }
    if let Some(unsprung) = unsprung {
        visit_all([&mut unsprung.mass, &mut unsprung.tyre_rate, &mut unsprung.tyre_damping], visit);
    }
}

/// Visits spring, damper, travels and stop; the progressive rate and the knees only if the strut has them.
fn visit_strut(strut: &mut Strut, visit: VisitNumber<'_>) {
    let has_knees = strut.knees != <[_; 2]>::default();
    let Strut {
        rate,
        progressive_rate,
        bump_damping,
        rebound_damping,
        bump_travel,
        droop_travel,
        stop_rate,
        stop_travel,
        knees,
    } = strut;
    visit_all([rate, bump_damping, rebound_damping, bump_travel, droop_travel, stop_rate, stop_travel], visit);
    if *progressive_rate != 0.0 {
        visit(progressive_rate);
    }
    if has_knees {
        for knee in knees {
            visit_all([&mut knee.speed, &mut knee.fast_ratio], visit);
        }
    }
}

/// Visits all numbers of simple curves and TMeasy tyres. Other tyre laws have no numbers that may differ.
pub(crate) fn visit_tyre(tyre: &mut Tyre, visit: VisitNumber<'_>) {
    match tyre {
        Tyre::Curve(curve) => visit_curve_tyre(curve, visit),
        Tyre::TMeasy(tyre) => visit_tmeasy_tyre(tyre, visit),
        Tyre::Brush(_) | Tyre::MagicFormula { .. } => {}
    }
}

/// Visits all numbers of a tyre with a simple curve.
fn visit_curve_tyre(tyre: &mut CurveTyre, visit: VisitNumber<'_>) {
    let CurveTyre { law, friction, load_sensitivity, nominal_load, relaxation } = tyre;
    friction.iter_mut().chain(relaxation).chain([load_sensitivity, nominal_load]).for_each(&mut *visit);
    match law {
        CurveLaw::Coulomb { deflection } => visit(deflection),
        CurveLaw::Linear { stiffness } | CurveLaw::LinearPerLoad { stiffness } => stiffness.iter_mut().for_each(visit),
        CurveLaw::SlipCurve { extremum_slip, asymptote_slip, asymptote } => {
            extremum_slip.iter_mut().chain(asymptote_slip).chain(asymptote).for_each(visit);
        }
    }
}

/// Visits all numbers of a TMeasy tyre.
fn visit_tmeasy_tyre(tyre: &mut TMeasy, visit: VisitNumber<'_>) {
    visit(&mut tyre.nominal_load);
    tyre.relaxation.iter_mut().for_each(&mut *visit);
    for curve in tyre.nominal.iter_mut().chain(&mut tyre.double) {
        visit_all(
            [
                &mut curve.slope,
                &mut curve.largest,
                &mut curve.largest_slip,
                &mut curve.sliding,
                &mut curve.sliding_slip,
            ],
            visit,
        );
    }
}

/// Visits the rate of an anti-roll bar.
pub(crate) fn visit_bar(bar: &mut AntiRollBar, visit: VisitNumber<'_>) {
    visit(&mut bar.rate);
}

/// Visits the drag, and the side and downforce coefficients that are not 0.
pub(crate) fn visit_aero(aero: &mut Aero, visit: VisitNumber<'_>) {
    visit(&mut aero.drag);
    let [front, rear] = &mut aero.downforce;
    let optional = [&mut aero.side, &mut front.coefficient, &mut rear.coefficient];
    optional.into_iter().filter(|coefficient| **coefficient != 0.0).for_each(visit);
}

/// Visits the torques of the engine's curve; nothing without an engine.
pub(crate) fn visit_powertrain(powertrain: &mut Powertrain, visit: VisitNumber<'_>) {
    if let Powertrain::Engine(drive) = powertrain {
        drive.engine.torque.values_mut().for_each(visit);
    }
}

/// Visits `numbers` in order.
fn visit_all<const N: usize>(numbers: [&mut f32; N], visit: VisitNumber<'_>) {
    numbers.into_iter().for_each(visit);
}
