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
    /// Returns the warnings of all checks in this order: moments of inertia, steering, axles, brakes, handbrake,
    /// clutch, and for each tyre slips and nominal load.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.check_inertia();
        warnings.extend(self.check_steering());
        for i in 0..self.spec.axles.len() {
            warnings.extend(self.check_axle(i));
        }
        warnings.extend(self.check_foot_brake());
        warnings.extend(self.check_handbrake());
        warnings.extend(self.check_clutch());
        for (name, tyre) in &self.spec.tyres {
            warnings.extend(check_peak_slips(&join_key("tyres", name), tyre));
            warnings.extend(self.check_nominal_load(name, tyre));
        }
        warnings
    }

    /// Warns about each moment of inertia (roll, pitch, yaw) of the model that is outside of
    /// [`PLAUSIBLE_INERTIA_SHARES`] of the moment of a homogeneous hull (collision box) with the mass of the car. The
    /// warning is about the stated moment, or about the boxes if the inertia follows from them.
    fn check_inertia(&self) -> Vec<Warning> {
        let hull = &self.spec.chassis.hull;
        // Moments of inertia of the hull per mass, m².
        let hull_inertias_per_mass =
            skidpad_core::model::box_inertia(1.0, [hull.length_m, hull.width_m, hull.height_m]);
        let inertia_tensor = self.model.inertia();
        let axis_inertias = ["roll", "pitch", "yaw"].into_iter().zip([
            inertia_tensor.x_axis.x,
            inertia_tensor.y_axis.y,
            inertia_tensor.z_axis.z,
        ]);
        let check_moment = |((axis_name, inertia), inertia_per_mass): ((&str, f32), f64)| {
            let hull_inertia = inertia_per_mass * f64::from(self.model.mass());
            let inertia_share = f64::from(inertia) / hull_inertia;
            let path = match self.spec.chassis.inertia {
                Some(_) => format!("chassis.inertia.{axis_name}_kg_m2"),
                None => "chassis.boxes".to_owned(),
            };
            (!PLAUSIBLE_INERTIA_SHARES.contains(&inertia_share)).then(|| {
                Warning::new(path, format!(
                    "{inertia:.4} kg m² is {inertia_share:.3} times the inertia of a uniform hull with the mass of the car \
                    ({hull_inertia:.0} kg m²); typical: 0.4 to 1.5; check the unit"
                ))
            })
        };
        axis_inertias.zip(hull_inertias_per_mass).filter_map(check_moment).collect()
    }

    /// Warns if no axle is steered, except for vehicles with a coupler (trailers). Otherwise warns if the largest
    /// steering angle, lock times the largest steering ratio, is below [`MIN_PLAUSIBLE_LOCK_DEG`]: the lock is probably
    /// in rad.
    fn check_steering(&self) -> Option<Warning> {
        // Largest steering ratio of an axle.
        let max_steer_ratio = self.spec.axles.iter().map(|axle| axle.steer_ratio.abs()).fold(0.0, f64::max);
        if max_steer_ratio == 0.0 {
            if self.spec.coupler.is_some() {
                return None;
            }
            let text = "no axle is steered; set `steer_ratio = 1` on the front axle";
            return Some(Warning::new("axles", text));
        }
        let lock_deg = self.spec.steering.lock_deg;
        (lock_deg * max_steer_ratio < MIN_PLAUSIBLE_LOCK_DEG).then(|| {
            Warning::new(
                "steering.lock_deg",
                format!(
                    "{lock_deg} degrees at full lock (typical: 25 to 45); {lock_deg} rad would be {:.0} degrees",
                    lock_deg.to_degrees()
                ),
            )
        })
    }

    /// Returns the first wheel of axle `i` and its static load, N; `None` without such an axle.
    fn first_wheel(&self, i: usize) -> Option<(&Wheel, f64)> {
        let wheel_index = self.model.wheels().iter().position(|wheel| wheel.axle == i)?;
        Some((&self.model.wheels()[wheel_index], f64::from(self.model.static_load(wheel_index))))
    }

    /// Warns about the first wheel of axle `i`, in this order. Bump or droop travel above [`MAX_PLAUSIBLE_TRAVEL_M`].
    /// Droop travel of a linear spring above [`MAX_PLAUSIBLE_DROOP_RATIO`] times the deflection that unloads the spring
    /// (static load / rate), unless the first warning is about it. Equivalent mass at the rim (spin inertia / radius²)
    /// below [`MIN_PLAUSIBLE_RIM_MASS_SHARE`] of the carried mass. Returns no warnings without such an axle.
    fn check_axle(&self, i: usize) -> Vec<Warning> {
        let Some((wheel, load)) = self.first_wheel(i) else { return Vec::new() };
        let mut warnings = Vec::new();
        let key_path = |name: &str| format!("axles[{i}].{name}");
        let strut = &wheel.strut;
        for (name, travel) in [("bump", strut.bump_travel), ("droop", strut.droop_travel)] {
            if f64::from(travel) > MAX_PLAUSIBLE_TRAVEL_M {
                let text = format!("{travel:.3} m (typical: 0.05 to 0.15 m, rally cars: 0.3 m); check the unit");
                warnings.push(Warning::new(key_path(&format!("suspension.{name}_travel_m")), text));
            }
        }
        // Droop travel, and deflection of the spring under the static load, m.
        let (droop, static_deflection) = (f64::from(strut.droop_travel), load / f64::from(strut.rate));
        if strut.progressive_rate == 0.0
            && droop > MAX_PLAUSIBLE_DROOP_RATIO * static_deflection
            && droop <= MAX_PLAUSIBLE_TRAVEL_M
        {
            let text = format!(
                "{droop:.3} m, but the spring force is zero from {static_deflection:.3} m of extension on, where the wheel stops \
                     moving down; set `preload_n`, a softer spring or a shorter droop travel"
            );
            warnings.push(Warning::new(key_path("suspension.droop_travel_m"), text));
        }
        // Equivalent mass at the rim, kg.
        let rim_mass = f64::from(wheel.spin_inertia / (wheel.radius * wheel.radius));
        let rim_mass_share = rim_mass / (load / f64::from(STANDARD_GRAVITY));
        if rim_mass_share < MIN_PLAUSIBLE_RIM_MASS_SHARE {
            let text = format!(
                "{} kg m² equals a mass of {rim_mass:.3} kg at the rim, {rim_mass_share:.1e} of the carried mass; typical: 0.01 \
                     to 0.05 (0.5 to 2 kg m²)",
                wheel.spin_inertia
            );
            warnings.push(Warning::new(key_path("wheel_spin_inertia_kg_m2"), text));
        }
        warnings
    }

    /// Warns about brakes whose torque per wheel is above [`MAX_PLAUSIBLE_BRAKE_RATIO`] times the torque that the tyre
    /// transmits at its static load (nominal longitudinal friction · load · radius). Only the first wheel of an axle is
    /// judged. Returns a warning for each such axle. If `brakes` states the torque of the whole car, returns only the
    /// first warning.
    fn check_foot_brake(&self) -> Vec<Warning> {
        // Index of the axle with its brake torque over the tyre torque; `None` without wheels.
        let brake_ratio = |i: usize| {
            let wheel_index = self.model.wheels().iter().position(|wheel| wheel.axle == i)?;
            let wheel = &self.model.wheels()[wheel_index];
            // Torque at which the tyre slides, N m. `nominal_friction` returns [longitudinal, lateral].
            let tyre_torque =
                self.model.tyre(wheel_index).nominal_friction()[0] * self.model.static_load(wheel_index) * wheel.radius;
            Some((i, f64::from(wheel.brake_torque / tyre_torque)))
        };
        let excessive_ratios =
            (0..self.spec.axles.len()).filter_map(brake_ratio).filter(|(_, ratio)| *ratio > MAX_PLAUSIBLE_BRAKE_RATIO);
        let to_warning = |(i, ratio): (usize, f64)| {
            let path = match &self.spec.brakes {
                Some(_) => "brakes.total_torque_nm".to_owned(),
                None => format!("axles[{i}].brake_torque_nm"),
            };
            let axle_number = i + 1;
            Warning::new(
                path,
                format!(
                    "the brake torque of axle {axle_number} is {ratio:.0} times the tyre limit (typical: 1 to 3); light pedal input already locks the wheels"
                ),
            )
        };
        let warnings: Vec<Warning> = excessive_ratios.map(to_warning).collect();
        let has_car_brakes = self.spec.brakes.is_some();
        warnings.into_iter().take(if has_car_brakes { 1 } else { usize::MAX }).collect()
    }

    /// Warns about a handbrake that holds the car only on slopes below [`MIN_PLAUSIBLE_HANDBRAKE_SLOPE`]. The slope is
    /// the sum of torque / radius over all wheels, over the weight of the car, without the limit of the tyres. The
    /// warning is about the first axle with a handbrake. Cars without a handbrake are not checked.
    fn check_handbrake(&self) -> Option<Warning> {
        // Force at the ground, N.
        let ground_force = |wheel: &Wheel| f64::from(wheel.handbrake_torque / wheel.radius);
        let total_force: f64 = self.model.wheels().iter().map(ground_force).sum();
        let held_slope = total_force / f64::from(self.model.mass() * STANDARD_GRAVITY);
        let axle_index = self.spec.axles.iter().position(|axle| axle.handbrake_torque_nm > 0.0)?;
        (held_slope < MIN_PLAUSIBLE_HANDBRAKE_SLOPE).then(|| {
            Warning::new(
                format!("axles[{axle_index}].handbrake_torque_nm"),
                format!(
                    "holds the car only on slopes up to {:.1} % (typical: 20 %, which needs {:.0} N m in total)",
                    100.0 * held_slope,
                    // Torque that holds a slope of 20 %, N m.
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
        let peak_torque = drive.engine.torque.max_value();
        (clutch.capacity < peak_torque).then(|| {
            Warning::new("powertrain.clutch.capacity_nm", format!(
                "{} N m, but the peak engine torque is {peak_torque:.0} N m: the clutch slips (typical: 1.3 to 2 times the engine torque)",
                clutch.capacity
            ))
        })
    }

    /// Warns about a tyre if a wheel has a static load outside of [`PLAUSIBLE_LOAD_RATIOS`] times the nominal load;
    /// reports the first such wheel. The nominal load of a Magic Formula is `FNOMIN`, and the warning is then about the
    /// key `file`. Not checked: tyres without a nominal load that has an effect ([`Tyre::nominal_load`]), and tyres on
    /// no wheel.
    fn check_nominal_load(&self, tyre_name: &str, tyre: &Tyre) -> Option<Warning> {
        let formula_load = || {
            let skidpad_core::model::Tyre::MagicFormula { formula, .. } =
                self.model.tyre(self.wheels_with_tyre(tyre_name).next()?)
            else {
                return None;
            };
            Some(("file", f64::from(formula.coefficients().fnomin)))
        };
        let (key, nominal_load) = tyre.nominal_load().or_else(formula_load)?;
        let static_loads =
            self.wheels_with_tyre(tyre_name).map(|wheel_index| f64::from(self.model.static_load(wheel_index)));
        let load = static_loads.into_iter().find(|load| !PLAUSIBLE_LOAD_RATIOS.contains(&(load / nominal_load)))?;
        Some(Warning::new(
            join_key(&join_key("tyres", tyre_name), key),
            format!(
                "the nominal load is {nominal_load:.0} N, but the static wheel load is {load:.0} N; it should be within a factor of 2"
            ),
        ))
    }

    /// Returns the indices of the wheels with the tyre named `tyre_name`.
    fn wheels_with_tyre(&self, tyre_name: &str) -> impl Iterator<Item = usize> + '_ {
        let has_tyre = |i: &usize| self.spec.axles[self.model.wheels()[*i].axle].tyre == tyre_name;
        let wheels: Vec<usize> = (0..self.model.wheels().len()).filter(has_tyre).collect();
        wheels.into_iter()
    }
}

/// Warns about slips at the peak force ([`Tyre::peak_slips`]) above [`MAX_PLAUSIBLE_PEAK_SLIP`], which are probably in
/// percent (longitudinal) or degrees (lateral). `path` is the table of the tyre. Each slip has a warning of its own,
/// with the value in the other unit.
fn check_peak_slips(path: &str, tyre: &Tyre) -> Vec<Warning> {
    let to_warning = |(key, slip): (&str, f64)| {
        let is_lateral = key.starts_with("lateral");
        let (usual_range, unit_hint) = match is_lateral {
            true => ("0.1 to 0.4 rad", format!("{slip} degrees would be {:.3} rad", slip.to_radians())),
            false => ("0.05 to 0.4", format!("{slip} % would be {}", slip / 100.0)),
        };
        Warning::new(
            format!("{path}.{key}"),
            format!("the peak is at a slip of {slip} (typical: {usual_range}): {unit_hint}"),
        )
    };
    tyre.peak_slips().into_iter().filter(|(_, slip)| *slip > MAX_PLAUSIBLE_PEAK_SLIP).map(to_warning).collect()
}
