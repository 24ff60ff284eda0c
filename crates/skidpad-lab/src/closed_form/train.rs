//! Figures of a vehicle with its trailers.
//!
//! The position of a trailer's centre of mass between coupler and axles determines the share of its weight and the
//! share of its centrifugal force that the hitch carries in a steady turn. The towing vehicle therefore turns and rolls
//! as with a point mass at its hitch, whose weight is the static load of the coupler.

use skidpad_core::Model;
use skidpad_core::model::TrailerBrakes;

use super::GRAVITY_MPS2;
use super::lists::STOPPING_SPEED_MPS;
use super::steady_state::{LoadDemand, solve_at_roll};
use super::straight::{Pedal, Resistance, braking_distance, braking_force, max_overcome_speed};
use crate::metrics::Metric;

/// Number of iterations of a stop over all vehicles. Each iteration starts from the mean of the last two results.
const STOP_ITERATIONS: usize = 200;

/// Names of the figures that hold only for the vehicle alone, because they depend on its mass, its drive or its brakes.
const SOLO_ONLY_METRICS: [&str; 6] =
    ["mass_kg", "top_speed_mps", "stop_floored_m", "stop_ideal_m", "hitch_carries_kg", "downforce_at_top_speed_n"];

/// Returns true if the figure `name` is also valid for the vehicle loaded by its trailers.
pub fn is_valid_with_trailers(name: &str) -> bool {
    !SOLO_ONLY_METRICS.contains(&name) && !name.starts_with("bump_travel_used")
}

/// Returns the model of the first vehicle of `train` (listed from the front) with the load on its hitch added as a
/// point mass at the hitch. `hitch.carried_mass` of the result is 0.
///
/// The coupler loads are computed from the last trailer forward; each trailer carries the next one on its own hitch.
/// Mass and height of the centre of mass change, the inertia does not. Wheels, hull, drag point, downforce points and
/// hitch shift relative to the new centre of mass.
///
/// `None` if the vehicle tows nothing or has no hitch, or if a model with these loads is not valid, for example because
/// a trailer would lift the vehicle off its wheels.
pub fn with_hitch_load(train: &[&Model]) -> Option<Model> {
    let (first, trailers) = train.split_first().filter(|(_, trailers)| !trailers.is_empty())?;
    // Mass that rests on the hitch ahead (kg), from the last trailer forward.
    let mut hitch_mass = 0.0;
    for trailer in trailers.iter().rev() {
        let mut parts = trailer.parts().clone();
        if let Some(hitch) = &mut parts.hitch {
            hitch.carried_mass = hitch_mass;
        }
        hitch_mass = Model::new(parts).ok()?.coupler_load() / GRAVITY_MPS2 as f32;
    }
    let mut parts = first.parts().clone();
    let mut hitch = parts.hitch?;
    let mass = parts.mass + hitch_mass;
    // Shift of the centre of mass (m).
    let centre_shift = hitch.point * (hitch_mass / mass);
    parts.wheels.iter_mut().for_each(|wheel| wheel.contact -= centre_shift);
    parts.hull.centre -= centre_shift;
    parts.aero.drag_point -= centre_shift;
    parts.aero.side_point -= centre_shift;
    parts.aero.downforce.iter_mut().for_each(|surface| surface.point -= centre_shift);
    // The carried mass is now part of the vehicle.
    (hitch.point, hitch.carried_mass) = (hitch.point - centre_shift, 0.0);
    (parts.mass, parts.centre_height, parts.hitch) = (mass, parts.centre_height + centre_shift.z, Some(hitch));
    Model::new(parts).ok()
}

/// Returns top speed (m/s) and the stopping distances from 100 km/h with full pedal and with ideal braking (m) of a
/// train. Their values are missing if there is no solution.
pub fn list(train: &[&Model]) -> Vec<Metric> {
    let stop_distance = |pedal| stopping_distance(train, STOPPING_SPEED_MPS, pedal);
    // Arguments: key, label, unit, decimal places, value.
    vec![
        Metric::new("train_top_speed_mps", "Top speed (drive force = resistance)", "m/s", 2, top_speed(train)),
        Metric::new(
            "train_stop_floored_m",
            "Stopping distance from 100 km/h, full pedal",
            "m",
            2,
            stop_distance(Pedal::FullPedal),
        ),
        Metric::new(
            "train_stop_ideal_m",
            "Stopping distance from 100 km/h, ideal brakes",
            "m",
            2,
            stop_distance(Pedal::IdealBraking),
        ),
    ]
}

/// Returns the highest speed at which some gear of the first vehicle overcomes the resistance of all vehicles at their
/// static loads (m/s). `None` for an empty train, if no gear overcomes the resistance at 0.01 m/s, or if the speed
/// reaches 149.9 m/s.
fn top_speed(train: &[&Model]) -> Option<f64> {
    let resistances: Vec<(Resistance, &Model)> =
        train.iter().map(|model| (Resistance::at_rest(model), *model)).collect();
    max_overcome_speed(train.first()?, |v| {
        resistances.iter().map(|(resistance, model)| resistance.force(model, v)).sum()
    })
}

/// Forces of a vehicle on the one ahead during braking.
#[derive(Clone, Copy, Default)]
struct HitchForces {
    /// Force forward (N).
    forward_force: f64,
    /// Force downwards (N).
    downward_force: f64,
    /// Braking force of the vehicle's own wheels (N).
    braking_force: f64,
}

/// Computes the stopping distance of a train from `v` m/s on level ground with load transfer (m):
/// `s = (m / 2 k) ln(1 + k v² / F)`. Mass m, drag coefficient k and braking force F are sums over all vehicles. The
/// pedal is fully pressed. Trailers without brakes on the driver's pedal only roll, but an overrun device presses its
/// brakes by the force on the hitch ahead.
///
/// The forces of all vehicles, from the last to the first, and the deceleration `v² / 2 s` are iterated 200 times from
/// zero forces and 0.5 g. Each iteration takes the mean of the previous and the new forces. `None` if the braking force
/// is not positive, as usually without brakes, if a trailer has no coupler, or if wheels of the first vehicle would
/// lift.
pub fn stopping_distance(train: &[&Model], v: f64, pedal: Pedal) -> Option<f64> {
    let mass: f64 = train.iter().map(|model| f64::from(model.mass())).sum();
    let drag: f64 = train.iter().map(|model| f64::from(model.parts().aero.drag)).sum();
    // First estimate: 0.5 g.
    let (mut deceleration, mut distance) = (0.5 * GRAVITY_MPS2, None);
    let mut vehicle_forces = vec![HitchForces::default(); train.len()];
    for _ in 0..STOP_ITERATIONS {
        // From the last vehicle to the first, because each one needs the hitch forces of the vehicle behind.
        for k in (0..train.len()).rev() {
            let rear_forces = vehicle_forces.get(k + 1).copied().unwrap_or_default();
            let next_forces = if k == 0 {
                // The first vehicle has no hitch ahead.
                HitchForces {
                    braking_force: towing_vehicle_braking(train[0], rear_forces, deceleration, pedal)?,
                    ..HitchForces::default()
                }
            } else {
                trailer_hitch_forces(train[k], rear_forces, vehicle_forces[k], deceleration, pedal)?
            };
            // Damps the iteration, which could oscillate with overrun brakes.
            let mean = |previous: f64, next: f64| 0.5 * (previous + next);
            let previous = vehicle_forces[k];
            vehicle_forces[k] = HitchForces {
                forward_force: mean(previous.forward_force, next_forces.forward_force),
                downward_force: mean(previous.downward_force, next_forces.downward_force),
                braking_force: mean(previous.braking_force, next_forces.braking_force),
            };
        }
        let force: f64 = vehicle_forces.iter().map(|forces| forces.braking_force).sum();
        if force <= 0.0 {
            return None;
        }
        let next_distance = braking_distance(v, mass, drag, force);
        deceleration = v * v / (2.0 * next_distance);
        distance = Some(next_distance);
    }
    distance
}

/// Computes the braking force of the first vehicle (N) at `deceleration` (m/s²) with a fully pressed pedal.
/// `rear_forces` are the forces of the first trailer, which act at the hitch and change the wheel loads. They do not
/// count for a vehicle without a hitch. `None` if no pose provides the loads, because wheels would lift.
fn towing_vehicle_braking(model: &Model, rear_forces: HitchForces, deceleration: f64, pedal: Pedal) -> Option<f64> {
    let own_demand = LoadDemand::braking(model, deceleration);
    // Additional weight (N) and pitch moment (N m): a push above the ground loads the front axle, a load on a hitch
    // behind the centre of mass (x < 0) unloads it.
    let hitch_demand = model.parts().hitch.map_or([0.0; 2], |hitch| {
        // Height of the hitch above the ground (m).
        let hitch_height = f64::from(model.parts().centre_height + hitch.point.z);
        [
            rear_forces.downward_force,
            rear_forces.forward_force * hitch_height + rear_forces.downward_force * f64::from(hitch.point.x),
        ]
    });
    let demand = LoadDemand {
        total_load: own_demand.total_load + hitch_demand[0],
        pitch_moment: own_demand.pitch_moment + hitch_demand[1],
    };
    // 0.0: no roll; 1.0: pedal fully pressed.
    let loads = solve_at_roll(model, 0.0, demand)?.loads;
    Some((0..loads.len()).map(|i| braking_force(model, i, loads[i], deceleration, pedal, 1.0)).sum())
}

/// Computes the forces of a trailer on the vehicle ahead, and its braking force, at `deceleration` (m/s²).
/// `rear_forces` are the forces of the next trailer on its own hitch. `previous_forces` are those of this trailer in
/// the last iteration; their braking force gives the force forward on the hitch ahead.
///
/// The moment balance about the centre of mass gives the vertical hitch force and the load of the axles (≥ 0), which is
/// divided like the static loads. A pedal brake is fully pressed, brakes with their own controls are not pressed. The
/// position of an overrun brake is the hitch force over the force for full pressure, from 0 to 1. `None` without a
/// coupler.
fn trailer_hitch_forces(
    model: &Model,
    rear_forces: HitchForces,
    previous_forces: HitchForces,
    deceleration: f64,
    pedal: Pedal,
) -> Option<HitchForces> {
    let (parts, coupler) = (model.parts(), model.parts().coupler?);
    let (mass, height) = (f64::from(model.mass()), f64::from(parts.centre_height));
    let static_loads: Vec<f64> = (0..parts.wheels.len()).map(|i| model.static_load(i).into()).collect();
    let total_load: f64 = static_loads.iter().sum();
    // Position of the resultant axle load ahead of the centre of mass (m).
    let axle_x =
        parts.wheels.iter().zip(&static_loads).map(|(wheel, load)| f64::from(wheel.contact.x) * load).sum::<f64>()
            / total_load;
    // Position of its own hitch, [x, z] from the centre of mass (m); the forces behind are 0 without a hitch.
    let hitch_position = parts.hitch.map_or([0.0; 2], |hitch| [hitch.point.x, hitch.point.z].map(f64::from));
    // Force forward on the hitch ahead (N).
    let forward_force = mass * deceleration + rear_forces.forward_force - previous_forces.braking_force;
    // Moments about the centre of mass: of the brakes, of the vehicle behind, and of the hitch ahead.
    let moment = height * previous_forces.braking_force
        + hitch_position[1] * rear_forces.forward_force
        + hitch_position[0] * rear_forces.downward_force
        - f64::from(coupler.point.z) * forward_force;
    let weight = mass * GRAVITY_MPS2 + rear_forces.downward_force;
    // Force downwards on the hitch ahead (N).
    let downward_force = (moment - axle_x * weight) / (f64::from(coupler.point.x) - axle_x);
    let pedal_position = match coupler.brakes {
        TrailerBrakes::OwnControls => 0.0,
        TrailerBrakes::Pedal => 1.0,
        TrailerBrakes::Overrun(full_force) => (forward_force / f64::from(full_force)).clamp(0.0, 1.0),
    };
    // Axle load relative to that at rest (–).
    let load_share = ((weight - downward_force) / total_load).max(0.0);
    let braking_of_wheel =
        |i: usize| braking_force(model, i, static_loads[i] * load_share, deceleration, pedal, pedal_position);
    Some(HitchForces {
        forward_force,
        downward_force,
        braking_force: (0..static_loads.len()).map(braking_of_wheel).sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use skidpad_core::Vec3;
    use skidpad_core::model::{Coupler, Hitch};

    /// Builds the test car with a hitch at ground level 2 m behind its centre of mass, and a trailer of 1000 kg with
    /// `brakes`. The trailer's axle is 4 m behind its coupler and 0.4 m behind its centre of mass, so a tenth of its
    /// mass rests on the coupler. Neither vehicle has drag. The trailer has one unsteered axle and no drive.
    fn train(brakes: TrailerBrakes) -> [Model; 2] {
        let mut parts = testing::model().parts().clone();
        parts.aero.drag = 0.0;
        parts.hitch = Some(Hitch { point: Vec3::new(-2.0, 0.0, -0.5), ..Hitch::default() });
        let mut trailer = parts.clone();
        let coupler = Vec3::new(3.6, 0.0, -0.5);
        // The trailer is the car without its rear axle, hitch and drive, and with an unsteered axle and a coupler.
        (trailer.hitch, trailer.coupler) = (None, Some(Coupler { point: coupler, brakes }));
        trailer.wheels.truncate(2);
        trailer.axles.truncate(1);
        (trailer.axles[0].steer_ratio, trailer.powertrain) = (0.0, Default::default());
        trailer.wheels.iter_mut().for_each(|wheel| wheel.contact.x = -0.4);
        [parts, trailer].map(|parts| Model::new(parts).expect("valid"))
    }

    /// 100 kg on the hitch, 0.75 m behind the rear axle, unload the front axle by 30 kg. The height of the centre of
    /// mass falls by the mass at ground level.
    #[test]
    fn a_trailer_loads_the_hitch() {
        let [car, trailer] = train(TrailerBrakes::OwnControls);
        let loaded = with_hitch_load(&[&car, &trailer]).expect("tows");
        let axle = |i: usize| f64::from(loaded.static_load(2 * i) + loaded.static_load(2 * i + 1)) / GRAVITY_MPS2;
        assert!((axle(0) - 470.0).abs() < 0.01 && (axle(1) - 630.0).abs() < 0.01, "{} {}", axle(0), axle(1));
        assert!((f64::from(loaded.parts().centre_height) - 0.5 * 1000.0 / 1100.0).abs() < 1e-6);
        // Points of the body keep their places in the car, also those where air acts.
        let shift = car.parts().hull.centre - loaded.parts().hull.centre;
        let [drag, side] =
            [|model: &Model| model.parts().aero.drag_point, |model: &Model| model.parts().aero.side_point]
                .map(|point: fn(&Model) -> _| point(&car) - point(&loaded));
        assert!((drag - shift).length() < 1e-6 && (side - shift).length() < 1e-6, "{drag} {side} {shift}");
    }

    /// Wheels that all lock at 1 g stop each vehicle by itself. An unbraked trailer pushes the car, whose brakes then
    /// stop twice the mass, assisted by the trailer's rolling resistance and by the load of its push on the car.
    /// Overrun brakes stop the train within a distance between both.
    #[test]
    fn a_train_stops_by_the_brakes_it_has() {
        let length = |brakes| {
            let [car, trailer] = train(brakes);
            stopping_distance(&[&car, &trailer], 20.0, Pedal::FullPedal).expect("brakes")
        };
        let alone = 400.0 / (2.0 * GRAVITY_MPS2);
        assert!((length(TrailerBrakes::Pedal) / alone - 1.0).abs() < 1e-4, "{}", length(TrailerBrakes::Pedal));
        let unbraked = length(TrailerBrakes::OwnControls);
        // Σ F = 1 g (1000 + V) + 0.01 g (1000 − V) less the force from the spin of the trailer's wheels. V is the load
        // on the hitch: 100 kg plus the load transfer of 2000 kg at half of 1 g.
        let wheel = train(TrailerBrakes::OwnControls)[1].wheels()[0];
        let spin = 2.0 * f64::from(wheel.spin_inertia / (wheel.radius * wheel.radius));
        let moved = |a: f64| 100.0 + 1000.0 * a / GRAVITY_MPS2 * 0.5 / 4.0;
        let slows = |a: f64| (GRAVITY_MPS2 * (1000.0 + moved(a) + 0.01 * (1000.0 - moved(a))) - spin * a) / 2000.0;
        let a = (0..100).fold(5.0, |a, _| slows(a));
        assert!((unbraked / (400.0 / (2.0 * a)) - 1.0).abs() < 1e-3, "{unbraked} {}", 400.0 / (2.0 * a));
        let overrun = length(TrailerBrakes::Overrun(10_000.0));
        assert!(alone < overrun && overrun < unbraked, "{overrun} {unbraked}");
    }
}
