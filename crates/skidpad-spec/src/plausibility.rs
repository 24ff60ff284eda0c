//! Warnings about legal values that are so far from those of real cars that a unit or a digit is probably wrong.

use skidpad_core::model::Wheel;
use skidpad_core::{Model, STANDARD_GRAVITY};

use crate::fault_collector::join_key;
use crate::spec::{Tyre, VehicleSpec};
use crate::warning::Warning;

/// Description of a vehicle, and the model compiled from it.
pub(crate) struct CompiledVehicle<'a> {
    /// Description of the vehicle.
    pub spec: &'a VehicleSpec,
    /// Model compiled from it.
    pub model: &'a Model,
}

/// Plausible moments of inertia, as shares of the inertia of the hull filled evenly with the car's mass. Usual shares
/// are 0.4 to 1.5.
const PLAUSIBLE_INERTIA_SHARES: std::ops::RangeInclusive<f64> = 0.1..=10.0;

/// Steering lock below which the value is probably in radians, degrees.
const MIN_PLAUSIBLE_LOCK_DEG: f64 = 3.0;

/// Largest plausible ratio of brake torque to the torque that the tyre transmits at its static load. Usual ratios are 1
/// to 3.
const MAX_PLAUSIBLE_BRAKE_RATIO: f64 = 10.0;

/// Suspension travel above which the unit is probably wrong, m.
const MAX_PLAUSIBLE_TRAVEL_M: f64 = 0.8;

/// Smallest plausible equivalent mass of a wheel at its rim, as a share of the mass that it carries. Usual shares are
/// 0.01 to 0.05. Cars from engines whose wheels have no inertia are described with 2.4e-4.
const MIN_PLAUSIBLE_RIM_MASS_SHARE: f64 = 2e-4;

/// Largest plausible slip at the peak of a tyre curve (– or rad).
const MAX_PLAUSIBLE_PEAK_SLIP: f64 = 1.0;

/// Largest plausible droop travel, as a multiple of the extension that unloads the spring.
const MAX_PLAUSIBLE_DROOP_RATIO: f64 = 3.0;

/// Smallest plausible slope that the handbrake holds, as a share of the weight.
const MIN_PLAUSIBLE_HANDBRAKE_SLOPE: f64 = 0.08;

/// Plausible ratios of static wheel load to nominal load of the tyre.
const PLAUSIBLE_LOAD_RATIOS: std::ops::RangeInclusive<f64> = 0.2..=5.0;

impl CompiledVehicle<'_> {
    /// Returns the warnings of all checks in this order: moments of inertia, steering, axles, brakes, handbrake, clutch,
    /// and for each tyre slips and nominal load.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut found = self.check_inertia();
        found.extend(self.check_steering());
        for i in 0..self.spec.axles.len() {
            found.extend(self.check_axle(i));
        }
        found.extend(self.check_foot_brake());
        found.extend(self.check_handbrake());
        found.extend(self.check_clutch());
        for (name, tyre) in &self.spec.tyres {
            found.extend(check_peak_slips(&join_key("tyres", name), tyre));
            found.extend(self.check_nominal_load(name, tyre));
        }
        found
    }

    /// Warns about each moment of inertia (roll, pitch, yaw) outside of [`PLAUSIBLE_INERTIA_SHARES`] of that of the hull
    /// filled evenly with the car's mass. The warning is about the stated moment, or about the boxes.
    fn check_inertia(&self) -> Vec<Warning> {
        let hull = &self.spec.chassis.hull;
        // Moments of inertia of the hull per mass, m².
        let of_hull = skidpad_core::model::box_inertia(1.0, [hull.length_m, hull.width_m, hull.height_m]);
        let own = self.model.inertia();
        let stated = ["roll", "pitch", "yaw"].into_iter().zip([own.x_axis.x, own.y_axis.y, own.z_axis.z]);
        let judge = |((name, inertia), even): ((&str, f32), f64)| {
            let even = even * f64::from(self.model.mass());
            let share = f64::from(inertia) / even;
            let path = match self.spec.chassis.inertia {
                Some(_) => format!("chassis.inertia.{name}_kg_m2"),
                None => "chassis.boxes".to_owned(),
            };
            (!PLAUSIBLE_INERTIA_SHARES.contains(&share)).then(|| {
                Warning::new(path, format!(
                    "{inertia:.4} kg m² is {share:.3} of the hull's, filled evenly with the car's mass ({even:.0} kg m²); cars have \
                     0.4 to 1.5 of it: check the unit"
                ))
            })
        };
        stated.zip(of_hull).filter_map(judge).collect()
    }

    /// Warns if no axle is steered, except for trailers, and if the largest steering angle is below
    /// [`MIN_PLAUSIBLE_LOCK_DEG`], because the lock is probably in rad.
    fn check_steering(&self) -> Option<Warning> {
        // Largest steering ratio of an axle.
        let steered = self.spec.axles.iter().map(|axle| axle.steer_ratio.abs()).fold(0.0, f64::max);
        if steered == 0.0 {
            if self.spec.coupler.is_some() {
                return None;
            }
            let text = "no axle is steered: give the front one `steer_ratio = 1`";
            return Some(Warning::new("axles", text));
        }
        let lock = self.spec.steering.lock_deg;
        (lock * steered < MIN_PLAUSIBLE_LOCK_DEG).then(|| {
            Warning::new(
                "steering.lock_deg",
                format!(
                    "{lock} degrees at full lock; cars have 25 to 45: {lock} rad would be {:.0} degrees",
                    lock.to_degrees()
                ),
            )
        })
    }

    /// Returns the first wheel of axle `i` and its static load, N; `None` without such an axle.
    fn first_wheel(&self, i: usize) -> Option<(&Wheel, f64)> {
        let at = self.model.wheels().iter().position(|wheel| wheel.axle == i)?;
        Some((&self.model.wheels()[at], f64::from(self.model.static_load(at))))
    }

    /// Warns about the first wheel of axle `i`: bump or droop travel above [`MAX_PLAUSIBLE_TRAVEL_M`]; droop travel of a
    /// linear spring above [`MAX_PLAUSIBLE_DROOP_RATIO`] times the deflection that unloads it; equivalent mass at the rim
    /// below [`MIN_PLAUSIBLE_RIM_MASS_SHARE`] of the carried mass.
    fn check_axle(&self, i: usize) -> Vec<Warning> {
        let Some((wheel, load)) = self.first_wheel(i) else { return Vec::new() };
        let mut found = Vec::new();
        let key = |name: &str| format!("axles[{i}].{name}");
        let strut = &wheel.strut;
        for (name, travel) in [("bump", strut.bump_travel), ("droop", strut.droop_travel)] {
            if f64::from(travel) > MAX_PLAUSIBLE_TRAVEL_M {
                let text = format!(
                    "{travel:.3} m; wheels of cars travel 0.05 to 0.15 m either way, of rally cars 0.3: check the unit"
                );
                found.push(Warning::new(key(&format!("suspension.{name}_travel_m")), text));
            }
        }
        // Droop travel, and deflection of the spring under the static load.
        let (droop, sag) = (f64::from(strut.droop_travel), load / f64::from(strut.rate));
        if strut.progressive_rate == 0.0 && droop > MAX_PLAUSIBLE_DROOP_RATIO * sag && droop <= MAX_PLAUSIBLE_TRAVEL_M {
            let text = format!(
                "{droop:.3} m, but the spring carries nothing from {sag:.3} m of extension on: a wheel hangs there; give `preload_n` \
                 or a softer spring, or end the droop there"
            );
            found.push(Warning::new(key("suspension.droop_travel_m"), text));
        }
        // Equivalent mass at the rim, kg.
        let light = f64::from(wheel.spin_inertia / (wheel.radius * wheel.radius));
        let share = light / (load / f64::from(STANDARD_GRAVITY));
        if share < MIN_PLAUSIBLE_RIM_MASS_SHARE {
            let text = format!(
                "{} kg m² is {light:.3} kg at the rim, {share:.1e} of what the wheel carries; wheels of cars have 0.01 to 0.05 of \
                 it (0.5 to 2 kg m²)",
                wheel.spin_inertia
            );
            found.push(Warning::new(key("wheel_spin_inertia_kg_m2"), text));
        }
        found
    }

    /// Warns about brakes with a torque above [`MAX_PLAUSIBLE_BRAKE_RATIO`] times the largest tyre torque at the static
    /// load. Only the first wheel of an axle is judged. Warns at most once if the brake torque is that of the whole car,
    /// else for each axle.
    fn check_foot_brake(&self) -> Vec<Warning> {
        let strength = |i: usize| {
            let at = self.model.wheels().iter().position(|wheel| wheel.axle == i)?;
            let wheel = &self.model.wheels()[at];
            // Torque at which the tyre slides, N m.
            let holds = self.model.tyre(at).nominal_friction()[0] * self.model.static_load(at) * wheel.radius;
            Some((i, f64::from(wheel.brake_torque / holds)))
        };
        let strong =
            (0..self.spec.axles.len()).filter_map(strength).filter(|(_, times)| *times > MAX_PLAUSIBLE_BRAKE_RATIO);
        let lint = |(i, times): (usize, f64)| {
            let path = match &self.spec.brakes {
                Some(_) => "brakes.total_torque_nm".to_owned(),
                None => format!("axles[{i}].brake_torque_nm"),
            };
            let number = i + 1;
            Warning::new(
                path,
                format!(
                    "the brakes of axle {number} hold {times:.0} times what its tyres do; cars have 1 to 3 times: the pedal only locks"
                ),
            )
        };
        let strong: Vec<Warning> = strong.map(lint).collect();
        let whole_car = self.spec.brakes.is_some();
        strong.into_iter().take(if whole_car { 1 } else { usize::MAX }).collect()
    }

    /// Warns about a handbrake that holds less than a slope of [`MIN_PLAUSIBLE_HANDBRAKE_SLOPE`] (force at the ground
    /// over weight, without the limit of the tyres). Cars without a handbrake are not checked.
    fn check_handbrake(&self) -> Option<Warning> {
        // Force at the ground, N.
        let at_road = |wheel: &Wheel| f64::from(wheel.handbrake_torque / wheel.radius);
        let force: f64 = self.model.wheels().iter().map(at_road).sum();
        let share = force / f64::from(self.model.mass() * STANDARD_GRAVITY);
        let axle = self.spec.axles.iter().position(|axle| axle.handbrake_torque_nm > 0.0)?;
        (share < MIN_PLAUSIBLE_HANDBRAKE_SLOPE).then(|| {
            Warning::new(
                format!("axles[{axle}].handbrake_torque_nm"),
                format!(
                    "holds the car on slopes of up to {:.1} % only; handbrakes of cars hold on 20 %, {:.0} N m in all",
                    100.0 * share,
                    0.2 * f64::from(self.model.mass() * STANDARD_GRAVITY) * f64::from(self.model.wheels()[0].radius)
                ),
            )
        })
    }

    /// Warns about a clutch with a capacity below the peak torque of the engine. Cars without an engine or with a
    /// converter are not checked.
    fn check_clutch(&self) -> Option<Warning> {
        let drive = self.model.parts().powertrain.engine()?;
        let skidpad_core::model::LaunchDevice::Clutch(clutch) = &drive.launch_device else { return None };
        let peak = drive.engine.torque.max_value();
        (clutch.capacity < peak).then(|| {
            Warning::new("powertrain.clutch.capacity_nm", format!(
                "{} N m, but the engine gives up to {peak:.0} N m: it slips; clutches of cars carry 1.3 to 2 times the engine's",
                clutch.capacity
            ))
        })
    }

    /// Warns about a tyre for which the static load of one of its wheels over its nominal load is outside of
    /// [`PLAUSIBLE_LOAD_RATIOS`]. The nominal load of a Magic Formula is `FNOMIN`. Simple tyres without load sensitivity
    /// or nominal load, and tyres on no wheel, are not checked.
    fn check_nominal_load(&self, name: &str, tyre: &Tyre) -> Option<Warning> {
        let (key, nominal) = match tyre {
            Tyre::Coulomb { friction, .. }
            | Tyre::Linear { friction, .. }
            | Tyre::LinearPerLoad { friction, .. }
            | Tyre::SlipCurve { friction, .. } => {
                if friction.load_sensitivity == 0.0 {
                    return None;
                }
                ("nominal_load_n", friction.nominal_load_n?)
            }
            Tyre::Brush { friction, .. } => ("nominal_load_n", friction.nominal_load_n?),
            Tyre::TMeasy { nominal_load_n, .. } => ("nominal_load_n", *nominal_load_n),
            Tyre::MagicFormula { .. } => {
                let on = self.wheels_with_tyre(name).next()?;
                let skidpad_core::model::Tyre::MagicFormula { formula, .. } = self.model.tyre(on) else { return None };
                ("file", f64::from(formula.coefficients().fnomin))
            }
        };
        let far = self.wheels_with_tyre(name).map(|at| f64::from(self.model.static_load(at)));
        let load = far.into_iter().find(|load| !PLAUSIBLE_LOAD_RATIOS.contains(&(load / nominal)))?;
        Some(Warning::new(
            join_key(&join_key("tyres", name), key),
            format!(
                "its numbers hold at {nominal:.0} N, but a wheel carries {load:.0} N at rest; within a factor of 2 is usual"
            ),
        ))
    }

    /// Returns the indices of the wheels with the tyre named `tyre`.
    fn wheels_with_tyre(&self, tyre: &str) -> impl Iterator<Item = usize> + '_ {
        let on = |i: &usize| self.spec.axles[self.model.wheels()[*i].axle].tyre == tyre;
        let wheels: Vec<usize> = (0..self.model.wheels().len()).filter(on).collect();
        wheels.into_iter()
    }
}

/// Warns about slips at the peak force above [`MAX_PLAUSIBLE_PEAK_SLIP`], which are probably in percent (longitudinal) or
/// degrees (lateral). `path` is the table of the tyre. Only slip curve and TMeasy tyres state such slips.
fn check_peak_slips(path: &str, tyre: &Tyre) -> Vec<Warning> {
    let peaks = match tyre {
        Tyre::SlipCurve { along, across, .. } => {
            vec![("along.extremum_slip", along.extremum_slip), ("across.extremum_slip", across.extremum_slip)]
        }
        Tyre::TMeasy { along, across, along_at_double_load, across_at_double_load, .. } => vec![
            ("along.largest_slip", along.largest_slip),
            ("across.largest_slip", across.largest_slip),
            ("along_at_double_load.largest_slip", along_at_double_load.largest_slip),
            ("across_at_double_load.largest_slip", across_at_double_load.largest_slip),
        ],
        _ => Vec::new(),
    };
    let lint = |(key, slip): (&str, f64)| {
        let across = key.starts_with("across");
        let (usual, meant) = match across {
            true => ("0.1 to 0.4 rad", format!("{slip} degrees would be {:.3} rad", slip.to_radians())),
            false => ("0.05 to 0.4", format!("{slip} % would be {}", slip / 100.0)),
        };
        Warning::new(format!("{path}.{key}"), format!("a peak at a slip of {slip}; tyres have it at {usual}: {meant}"))
    };
    peaks.into_iter().filter(|(_, slip)| *slip > MAX_PLAUSIBLE_PEAK_SLIP).map(lint).collect()
}
