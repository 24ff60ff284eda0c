//! Cars and trailers with closed forms: linear tyres and a centre of mass near the ground, so that roll is
//! negligible.

use std::sync::Arc;

use skidpad::core::state::Placement;
use skidpad::core::{CarStart, Model, Quat, Scene, Simulation, SolverInfo, State, Vec3, math};

/// Gravitational acceleration (m/s²).
const GRAVITY: f64 = 9.81;

/// Returns the model of a vehicle file of this text. Panics if it has faults.
pub fn model(text: &str) -> Arc<Model> {
    let vehicle =
        skidpad::spec::LoadedVehicle::read("rig.toml", text).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
    vehicle.model
}

/// Returns the text of an axle `behind` m behind the front axle, with the steering ratio `steer`, for a vehicle of
/// `mass` kg.
pub fn axle(behind: f64, steer: f64, tyre: &str, mass: f64) -> String {
    let (rate, damping, spin, torque) = (40.0 * mass, 2.5 * mass, 1e-5 * mass, 2.0 * mass);
    format!(
        "[[axles]]\nbehind_front_axle_m = {behind}\ntrack_m = 1.5\nwheel_radius_m = 0.3\nwheel_spin_inertia_kg_m2 = {spin}\n\
         tyre = \"{tyre}\"\nsteer_ratio = {steer}\nackermann = 1\nbrake_torque_nm = {torque}\nhandbrake_torque_nm = {torque}\n[axles.suspension]\n\
         rate_n_per_m = {rate}\nbump_damping_n_s_per_m = {damping}\nrebound_damping_n_s_per_m = {damping}\nbump_travel_m = 0.2\n\
         droop_travel_m = 0.2\n"
    )
}

/// Returns the text of a linear tyre with a cornering stiffness of `stiffness` (N/rad, per axle) at an axle load of
/// `load` (N).
pub fn tyre(name: &str, stiffness: f64, load: f64) -> String {
    let per_load = stiffness / load;
    format!(
        "[tyres.{name}]\nmodel = \"linear_per_load\"\nlongitudinal_friction = 5\nlateral_friction = 5\n\
         slip_stiffness_per_load = 20\ncornering_stiffness_per_rad = {per_load}\nrelaxation_length_longitudinal_m = 0.002\n\
         relaxation_length_lateral_m = 0.002\n"
    )
}

/// Height of centres of mass, hitch and coupler (m).
pub const LOW: f64 = 0.005;

/// Rig of negligible height, with the parameters of the plane model of a car with a trailer.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    /// Car: mass (kg), yaw inertia (kg m²), distances of front axle, rear axle and hitch from the centre of mass (m),
    /// cornering stiffness of the axles (N/rad).
    pub mass: f64,
    pub inertia: f64,
    pub axles: [f64; 2],
    pub hitch: f64,
    pub stiffness: [f64; 2],
    /// Trailer: mass (kg), yaw inertia (kg m²), distances of centre of mass and axle from the hitch (m), cornering
    /// stiffness of the axle (N/rad).
    pub trailer_mass: f64,
    pub trailer_inertia: f64,
    pub centre: f64,
    pub drawbar: f64,
    pub trailer_stiffness: f64,
    /// Factor on the stiffness of every tyre.
    pub firm: f64,
    /// Length of the car's hull (m).
    pub hull: f64,
}

/// Reference rig.
pub const BASE: Plane = Plane {
    mass: 1500.0,
    inertia: 2500.0,
    axles: [1.3, 1.4],
    hitch: 2.4,
    stiffness: [100e3, 110e3],
    trailer_mass: 1200.0,
    trailer_inertia: 2500.0,
    centre: 3.9,
    drawbar: 4.0,
    trailer_stiffness: 80e3,
    firm: 1.0,
    hull: 1.0,
};

impl Plane {
    /// Returns the static load of the level trailer on the hitch (N).
    pub fn hitch_load(&self) -> f64 {
        self.trailer_mass * GRAVITY * (self.drawbar - self.centre) / self.drawbar
    }

    /// Returns the static loads of the car's axles with the trailer (N).
    pub fn loads(&self) -> [f64; 2] {
        let [front, rear] = self.axles;
        let (weight, pulled, wheelbase) = (self.mass * GRAVITY, self.hitch_load(), front + rear);
        let moved = pulled * (self.hitch - rear) / wheelbase;
        [weight * rear / wheelbase - moved, weight * front / wheelbase + moved + pulled]
    }

    /// Returns the models of car and trailer. The tyre stiffness of the car applies at the axle loads with the
    /// trailer.
    pub fn models(&self) -> [Arc<Model>; 2] {
        let ([front, rear], loads) = (self.axles, self.loads());
        let wheelbase = front + rear;
        let car = format!(
            "name = \"car\"\n[chassis]\nmass_kg = {}\ncentre_behind_front_axle_m = {front}\ncentre_above_ground_m = {LOW}\n{}{}{}{}{}\
             [steering]\nlock_deg = 40\n[powertrain]\nmodel = \"none\"\n[hitch]\nbehind_front_axle_m = {}\nabove_ground_m = {LOW}\n",
            self.mass,
            chassis(self.mass, self.inertia, front, self.hull),
            axle(0.0, 1.0, "front", self.mass),
            axle(wheelbase, 0.0, "rear", self.mass),
            tyre("front", self.firm * self.stiffness[0], loads[0]),
            tyre("rear", self.firm * self.stiffness[1], loads[1]),
            front + self.hitch,
        );
        let centre = self.centre - self.drawbar;
        let carried = self.trailer_mass * GRAVITY - self.hitch_load();
        let trailer = format!(
            "name = \"trailer\"\n[chassis]\nmass_kg = {}\ncentre_behind_front_axle_m = {centre}\n\
             centre_above_ground_m = {LOW}\n{}{}{}[powertrain]\nmodel = \"none\"\n[coupler]\nbehind_front_axle_m = {}\n\
             above_ground_m = {LOW}\n",
            self.trailer_mass,
            chassis(self.trailer_mass, self.trailer_inertia, centre, 1.0),
            axle(0.0, 0.0, "axle", self.trailer_mass),
            tyre("axle", self.firm * self.trailer_stiffness, carried),
            -self.drawbar,
        );
        [model(&car), model(&trailer)]
    }
}

/// Returns the text of the inertia and the hull of a vehicle of `mass` kg. The hull, `hull` m long, is well above the
/// ground.
pub fn chassis(mass: f64, yaw: f64, centre: f64, hull: f64) -> String {
    format!(
        "[chassis.inertia]\nroll_kg_m2 = {}\npitch_kg_m2 = {yaw}\nyaw_kg_m2 = {yaw}\n[chassis.hull]\nlength_m = {hull}\n\
         width_m = 1.9\nheight_m = 0.2\nbehind_front_axle_m = {centre}\nabove_ground_m = 0.4\n",
        0.3 * mass
    )
}

/// Builds a world with a train of `models` on `scene` that moves at `speed` (m/s), with a tick rate of `hz`.
pub fn train(solver: &SolverInfo, models: &[Arc<Model>], scene: &Scene, speed: f32, hz: f32) -> Box<dyn Simulation> {
    train_from(solver, models, scene, &Placement { speed, ..Placement::default() }, hz)
}

/// Builds a world as [`train`] does, with the train at `placement`.
pub fn train_from(
    solver: &SolverInfo,
    models: &[Arc<Model>],
    scene: &Scene,
    placement: &Placement,
    hz: f32,
) -> Box<dyn Simulation> {
    let start = |model: &Arc<Model>| CarStart { model: Arc::clone(model), placement: *placement };
    let starts: Vec<CarStart> = models.iter().map(start).collect();
    let mut world = (solver.build_world)(scene, &starts, 1.0 / hz);
    let models: Vec<&Model> = models.iter().map(AsRef::as_ref).collect();
    for (car, state) in State::train_at_rest(&models, 0, scene, placement).iter().enumerate() {
        world.set_state(car, state).expect("it fits");
    }
    world
}

/// Returns the yaw angle of the trailer `car` relative to the vehicle ahead (rad).
pub fn articulation(world: &dyn Simulation, car: usize) -> f32 {
    math::roll_pitch_yaw(world.state(car - 1).rotation.inverse() * world.state(car).rotation).z
}

/// Returns the models of shipped vehicles in order. A full trailer is two vehicles.
pub fn shipped(names: &[&str]) -> Vec<Arc<Model>> {
    let units = |name: &&str| {
        let loaded = skidpad::spec::load(name).unwrap_or_else(|error| panic!("{error}"));
        loaded.vehicle_units().cloned().collect::<Vec<_>>()
    };
    names.iter().flat_map(units).collect()
}

/// Rotates the last vehicle of a train by `angle` (rad) about its hitch. Its axle, `drawbar` m behind, rolls without
/// sideslip.
pub fn fold(world: &mut dyn Simulation, angle: f32, drawbar: f32) {
    let car = world.slot_count() - 1;
    let hitch = world.model(car - 1).parts().hitch.expect("it tows").point;
    let coupler = world.model(car).parts().coupler.expect("it is towed").point;
    let ahead = world.state(car - 1).clone();
    let mut state = world.state(car).clone();
    state.rotation = Quat::from_rotation_z(angle) * state.rotation;
    state.position = ahead.position + (ahead.rotation * hitch - state.rotation * coupler).as_dvec3();
    state.angular_velocity = Vec3::Z * (-ahead.velocity.length() * ahead.velocity.x.signum() * angle.sin() / drawbar);
    state.velocity = ahead.velocity - state.angular_velocity.cross(state.rotation * coupler);
    let rolling = ahead.velocity.x * angle.cos();
    for wheel in &mut state.wheels {
        wheel.spin = rolling / 0.3;
        wheel.rolling_speed = rolling;
    }
    world.set_state(car, &state).expect("it fits");
}

/// Returns the distance of hitch and coupler of the trailer `car` (m).
pub fn gap(world: &dyn Simulation, car: usize) -> f64 {
    let hitch = world.model(car - 1).parts().hitch.expect("it tows").point;
    let coupler = world.model(car).parts().coupler.expect("it is towed").point;
    let point = |car: usize, point: Vec3| world.state(car).position + (world.state(car).rotation * point).as_dvec3();
    (point(car, coupler) - point(car - 1, hitch)).length()
}
