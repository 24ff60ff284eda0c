//! Mechanical energy of a car, computed outside the solvers: kinetic energy, height, and energy stored in springs, stops and
//! contact patches.

use std::sync::Arc;

use skidpad::core::model::{BarForcePath, Motor, Powertrain, Strut, Unsprung};
use skidpad::core::state::WheelState;
use skidpad::core::tyre::Conditions;
use skidpad::core::{Contact, Controls, DVec3, Ground, Mat3, Model, Probe, Scene, Simulation, SolverInfo, State, Vec3};

use crate::common::{Drive, GRAVITY};

/// Natural frequency of a metal stop with the mass that its wheel carries, rad/s.
const METAL: f64 = 70.0;
/// Largest restoring force of a metal stop per mass, m/s². It returns the mass at 1 m/s.
const METAL_RETURN: f64 = 2.0 * 0.7 * METAL;

/// Cosine of the lean angle beyond which a car lies on its side.
const LIES: f64 = 0.5;

/// Smallest cosine between the normal of a face and the travel of a wheel that stands on it.
const STANDS: f32 = 0.173_648_18;

/// Bodies below the rays of a car, and energy that springs gained without work when rays stepped up onto bodies, J.
#[derive(Default)]
pub struct StepsUp {
    stands_on: Vec<Option<u64>>,
    given: f64,
}

/// Energy audit of a car and of its drive.
pub struct Audit {
    model: Arc<Model>,
    /// Normal of the ground, a plane through the origin; `None` if wheels stand on other ground.
    ground: Option<DVec3>,
    /// Whether unsprung masses move separately.
    own_wheels: bool,
}

impl Audit {
    /// Creates the audit of the only car of `drive`, in a world of `solver` on the plane of `scene`, under standard gravity.
    pub fn of(drive: &Drive, solver: &SolverInfo, scene: &Scene) -> Self {
        Self::of_car(drive.world.model(0), solver, scene)
    }

    /// Creates the audit of a car of `model`, in any place of a world of `solver` on the plane of `scene`.
    pub fn of_car(model: &Arc<Model>, solver: &SolverInfo, scene: &Scene) -> Self {
        let model = model.clone();
        let described = model.wheels().iter().all(|wheel| wheel.unsprung.is_some());
        let own_wheels = solver.name == "constraint-unsprung" && described;
        Self { model, ground: Some(scene.plane_normal().as_dvec3()), own_wheels }
    }

    /// Creates the audit of a car of `model` on any ground. Strut compressions are those of the state.
    pub fn by_compressions(model: &Arc<Model>, solver: &SolverInfo) -> Self {
        Self { ground: None, ..Self::of_car(model, solver, &Scene::flat()) }
    }

    /// Returns the mechanical energy of `state` under gravity along −z, J.
    pub fn energy(&self, state: &State) -> f64 {
        let [moving, held] = self.moving_and_held(state);
        moving + held
    }

    /// Returns the mechanical energy without the positive energy of springs and patches, J. A ray that meets the ground
    /// compresses its spring without work, so that only what the spring returns is energy.
    pub fn given_back(&self, state: &State) -> f64 {
        let [moving, held] = self.moving_and_held(state);
        moving + held.min(0.0)
    }

    /// Returns the energy of `car` among bodies, J. Struts are compressed as its rays find them. The energy that springs
    /// gain when a ray steps up onto another body is subtracted, and summed in `steps`: a ray has no size, so that the body
    /// lifts the wheel at once and without work. On one body, a box, the height below a ray changes steadily, and the car
    /// does the work.
    pub fn energy_on_rays(&self, world: &mut dyn Simulation, car: usize, steps: &mut StepsUp) -> f64 {
        let met = self.met_by_rays(world, car);
        let bodies: Vec<_> = met.iter().map(|met| met.as_ref()?.ground.map(|ground| ground.body)).collect();
        steps.stands_on.resize(bodies.len(), None);
        let mut unlifted = world.state(car).clone();
        let mut found = unlifted.clone();
        for (i, wheel) in self.model.wheels().iter().enumerate() {
            let Some(contact) = met[i] else { continue };
            let reached = (2.0 * wheel.radius - contact.distance).max(-wheel.strut.droop_travel);
            let steps_up = bodies[i] != steps.stands_on[i] && bodies[i].is_some_and(|body| body != Ground::STATIC_BODY);
            let now = &mut found.wheels[i];
            match wheel.unsprung.filter(|_| self.own_wheels) {
                Some(own) if steps_up => {
                    let pressed = self.model.static_load(i) + own.tyre_rate * (reached - now.compression);
                    now.load = now.load.max(pressed);
                }
                None if steps_up => now.compression = now.compression.max(reached),
                None if now.load > 0.0 => {
                    (now.compression, unlifted.wheels[i].compression) = (reached, reached);
                }
                _ => {}
            }
        }
        steps.stands_on = bodies;
        let energy = self.energy(&found);
        steps.given += energy - self.energy(&unlifted);
        energy - steps.given
    }

    /// Returns the contacts of the rays of `car` in its current state, wheel by wheel; `None` without a face that a wheel
    /// can stand on.
    fn met_by_rays(&self, world: &mut dyn Simulation, car: usize) -> Vec<Option<Contact>> {
        let state = world.state(car);
        let (position, up) = (state.position, state.rotation * Vec3::Z);
        let rays = self.model.wheels().iter().map(|wheel| {
            let offset = state.rotation * (wheel.contact + Vec3::Z * (2.0 * wheel.radius));
            let reach = 2.0 * wheel.radius + wheel.strut.droop_travel;
            Probe { car, position, offset, direction: -up, length: reach, rim: None }
        });
        let rays: Vec<_> = rays.collect();
        let mut met = vec![None; rays.len()];
        assert!(world.probe(&rays, &mut met), "worlds of solvers answer probes");
        met.iter().map(|met: &Option<Contact>| met.filter(|contact| contact.normal.dot(up) >= STANDS)).collect()
    }

    /// Returns the kinetic energy with that of height, and the energy of springs and patches relative to rest, J.
    fn moving_and_held(&self, state: &State) -> [f64; 2] {
        let model = &*self.model;
        let mass = f64::from(model.mass());
        let spin = Mat3::from_quat(state.rotation).transpose() * state.angular_velocity;
        let moving = 0.5 * mass * state.velocity.as_dvec3().length_squared();
        let turning = 0.5 * f64::from(spin.dot(*model.inertia() * spin));
        let travel = self.travels(state);
        let chassis = moving + turning + mass * GRAVITY * state.position.z;
        let mut sums = [chassis + of_drive(model, state), of_ties(model, &travel)];
        for (i, travel) in travel.into_iter().enumerate() {
            let [moving, held] = self.of_wheel(state, i, travel);
            sums = [sums[0] + moving, sums[1] + held];
        }
        sums
    }

    /// Returns the largest energy that engine and motors can have delivered in a step of `dt` s from `before` to `after`, J.
    pub fn work(&self, [before, after]: [&State; 2], controls: &Controls, dt: f32) -> f64 {
        let parts = self.model.parts();
        let held = controls.cruise.is_some() && parts.assists.cruise.is_some();
        let throttle = if held { 1.0 } else { controls.throttle.clamp(0.0, 1.0) };
        let faster = |of: &dyn Fn(&State) -> f32| of(before).abs().max(of(after).abs());
        let engine = parts.powertrain.engine().map_or(0.0, |drive| {
            let engine = &drive.engine;
            let speed = faster(&|state| state.drive.engine_speed);
            let governed = before.drive.engine_speed < 1.1 * engine.idle_speed;
            // Below idle the governor can add as much torque.
            let pulls = f32::from(u8::from(throttle > 0.0) + u8::from(governed));
            pulls * engine.torque.max_value() * speed
        });
        let motor = |motor: &Motor| {
            let speed = faster(&|state| rotor_speed(motor, state) as f32);
            if throttle > 0.0 { motor.peak_torque.min(motor.power / speed.max(1e-3)) * speed } else { 0.0 }
        };
        let direct = match &parts.powertrain {
            Powertrain::Direct(torques) => {
                let each = torques.iter().enumerate();
                each.map(|(i, torque)| throttle * torque * faster(&|state| state.wheels[i].spin)).sum()
            }
            _ => 0.0,
        };
        f64::from(dt * (engine + direct + parts.motors.iter().map(motor).sum::<f32>()))
    }

    /// Returns the compression of wheel `i`, m. For a wheel with load it follows from the pose: the state's compression does
    /// not include an impact of the hull in the same step.
    fn travel(&self, state: &State, i: usize) -> f64 {
        let (wheel, now) = (&self.model.wheels()[i], &state.wheels[i]);
        let ground = self.ground.filter(|_| !self.own_wheels && now.load > 0.0);
        let pressed = ground.map(|normal| self.squashed_by(normal, state, i).max(-f64::from(wheel.strut.droop_travel)));
        pressed.unwrap_or(now.compression.into())
    }

    /// Returns the compression at which wheel `i` touches the ground with this `normal`, m.
    fn squashed_by(&self, normal: DVec3, state: &State, i: usize) -> f64 {
        let up = (state.rotation * Vec3::Z).as_dvec3();
        let contact = (state.rotation * self.model.wheels()[i].contact).as_dvec3();
        -(state.position + contact).dot(normal) / up.dot(normal)
    }

    /// Returns the compressions of all wheels, m. A wheel in the air, or one pressed on the ground by its damper alone, is
    /// where its spring and bars balance. Any other wheel is on the ground. A bar that lifts a wheel carries no more than at
    /// this balance.
    fn travels(&self, state: &State) -> Vec<f64> {
        let model = &*self.model;
        let mut travel: Vec<f64> = (0..state.wheels.len()).map(|i| self.travel(state, i)).collect();
        if self.own_wheels {
            return travel;
        }
        let found = travel.clone();
        for _ in 0..50 {
            for (i, wheel) in model.wheels().iter().enumerate() {
                let ties = ties(model).filter(|tie| !tie.beside && tie.wheels.contains(&i));
                let (push, rate) = ties.fold((-f64::from(model.static_load(i)), 0.0), |(push, rate), tie| {
                    let other = if tie.wheels[0] == i { tie.wheels[1] } else { tie.wheels[0] };
                    (push - tie.way * tie.rate * travel[other], rate + tie.rate)
                });
                let hangs = wheel.strut.compression_at_force(push, rate).max(-f64::from(wheel.strut.droop_travel));
                travel[i] = hangs.max(found[i]);
            }
        }
        travel
    }

    /// Returns the energy of the spin and motion of wheel `i`, and of its springs and patch, J.
    fn of_wheel(&self, state: &State, i: usize, travel: f64) -> [f64; 2] {
        let model = &*self.model;
        let (wheel, now) = (&model.wheels()[i], &state.wheels[i]);
        let spin = 0.5 * f64::from(wheel.spin_inertia) * f64::from(now.spin).powi(2);
        let carried = f64::from(model.carried_masses()[i]);
        let own = if self.own_wheels { wheel.unsprung } else { None };
        let [moves, squashed] = own.map_or([0.0; 2], |own| self.of_own_motion(state, i, &own));
        let sways = own.map_or(0.0, |own| self.of_beam(state, i, &own));
        let lifts = carried - own.map_or(0.0, |own| f64::from(own.mass));
        let held = of_patch(model, now, i) + of_shift(model, now, i);
        [spin + moves + sways, of_strut(&wheel.strut, lifts, carried, travel) + held + squashed]
    }

    /// Returns the energy of the motion of wheel `i` relative to the chassis with that of its height, and of its tyre
    /// spring, J.
    fn of_own_motion(&self, state: &State, i: usize, own: &Unsprung) -> [f64; 2] {
        let (wheel, now) = (&self.model.wheels()[i], &state.wheels[i]);
        let (mass, rate, travel) = (f64::from(own.mass), f64::from(now.travel_rate), f64::from(now.compression));
        let up = (state.rotation * Vec3::Z).as_dvec3();
        let contact = (state.rotation * wheel.contact).as_dvec3();
        let centre = contact + up * (travel + f64::from(wheel.radius));
        let carries = up.dot(state.velocity.as_dvec3() + state.angular_velocity.as_dvec3().cross(centre));
        let moving = mass * rate * (carries + 0.5 * rate) + mass * GRAVITY * travel * up.z;
        let (weight, stiffness) = (f64::from(self.model.static_load(i)), f64::from(own.tyre_rate));
        // If the car lies on its side, the travel axis of a wheel meets the ground at a point that does not describe the
        // tyre.
        let squash = match self.ground.filter(|normal| up.dot(*normal) > LIES) {
            Some(normal) => self.squashed_by(normal, state, i) - travel,
            None => (f64::from(now.load) - weight) / stiffness,
        };
        let squash = squash.max(-weight / stiffness);
        [moving, (weight + 0.5 * stiffness * squash) * squash]
    }

    /// Returns the share of wheel `i` in the energy of the lateral motion and height of its beam axle, J; 0 without a solid
    /// axle. Both wheels move by `−Σ σ q` along the beam. σ is the height of a wheel's centre above the roll centre over the
    /// track, negative on the right.
    fn of_beam(&self, state: &State, i: usize, own: &Unsprung) -> f64 {
        let (wheels, axle) = (self.model.wheels(), self.model.wheels()[i].axle);
        let across = |&k: &usize| k != i && wheels[k].axle == axle;
        let Some(other) = (0..wheels.len()).find(across).filter(|_| self.model.parts().axles[axle].solid) else {
            return 0.0;
        };
        let height = f64::from(wheels[i].radius - self.model.parts().axles[axle].roll_centre_height);
        let turn = 1.0 / f64::from(wheels[i].contact.y - wheels[other].contact.y);
        let against = |of: fn(&WheelState) -> f32| turn * f64::from(of(&state.wheels[i]) - of(&state.wheels[other]));
        let (leans, rate) = (against(|wheel| wheel.compression), -height * against(|wheel| wheel.travel_rate));
        let [left, up] = [Vec3::Y, Vec3::Z].map(|axis| (state.rotation * axis).as_dvec3());
        let centre = wheels[i].contact + Vec3::Z * (state.wheels[i].compression + wheels[i].radius);
        let at =
            state.velocity.as_dvec3() + state.angular_velocity.as_dvec3().cross((state.rotation * centre).as_dvec3());
        let moving = rate * ((left + up * leans).dot(at) + 0.5 * rate);
        f64::from(own.mass) * (moving - GRAVITY * height * leans * (left + up * (0.5 * leans)).z)
    }
}

/// Returns the energy of the patch of wheel `i`, J: of its carcass, strained by the force at the current deflection.
fn of_patch(model: &Model, now: &WheelState, i: usize) -> f64 {
    if now.load <= 1.0 {
        return 0.0;
    }
    let conditions = Conditions::upright(now.load, now.rolling_speed);
    let (stiffness, lengths) = (model.tyre(i).stiffness_at(now.load), model.patch_lengths(i, &conditions));
    let limit = model.tyre(i).friction_at(now.load).map(|mu| mu * now.load);
    let slip = [0, 1].map(|k| now.deflection[k] / lengths[k]);
    let curve = model.tyre_force(i, slip, &conditions).force;
    let patch = |k: usize| {
        let held = (stiffness[k] * slip[k]).clamp(-limit[k], limit[k]);
        let force = held * (1.0 - now.rolling) + curve[k] * now.rolling;
        0.5 * f64::from(force).powi(2) * f64::from(lengths[k] / stiffness[k])
    };
    patch(0) + patch(1)
}

/// Returns the energy of the lateral compliance of wheel `i`, J.
fn of_shift(model: &Model, now: &WheelState, i: usize) -> f64 {
    let axle = model.wheels()[i].axle;
    let count = model.wheels().iter().filter(|wheel| wheel.axle == axle).count() as f64;
    let given = model.parts().axles[axle].lateral_compliance;
    given.map_or(0.0, |given| 0.5 * f64::from(given.rate) / count * f64::from(now.shift).powi(2))
}

/// Returns the kinetic energy of the engine and of the rotors of motors, J.
fn of_drive(model: &Model, state: &State) -> f64 {
    let parts = model.parts();
    let turning = |inertia: f32, speed: f64| 0.5 * f64::from(inertia) * speed * speed;
    let engine = parts.powertrain.engine();
    engine.map_or(0.0, |drive| turning(drive.engine.inertia, state.drive.engine_speed.into()))
        + parts.motors.iter().map(|motor| turning(motor.inertia, rotor_speed(motor, state))).sum::<f64>()
}

/// Returns the speed of a motor's rotor, rad/s.
fn rotor_speed(motor: &Motor, state: &State) -> f64 {
    let sum: f32 = motor.wheels.iter().map(|&i| state.wheels[i].spin).sum();
    f64::from(motor.reduction * sum / motor.wheels.len() as f32)
}

struct AxleLink {
    wheels: [usize; 2],
    rate: f64,
    way: f64,
    /// Whether the link pushes the chassis instead of the wheels.
    beside: bool,
}

/// Returns the anti-roll bars and heave springs as links between two wheels.
fn ties(model: &Model) -> impl Iterator<Item = AxleLink> {
    let parts = model.parts();
    let bars = parts.bars.iter().map(|bar| {
        let beside = bar.force_path == BarForcePath::External;
        AxleLink { wheels: bar.wheels, rate: bar.rate.into(), way: -1.0, beside }
    });
    let heave = parts.heave_springs.iter().map(|spring| {
        let rate = 0.25 * f64::from(spring.rate);
        AxleLink { wheels: spring.wheels, rate, way: 1.0, beside: false }
    });
    bars.chain(heave)
}

/// Returns the energy of spring, rubber stop and metal stop at the compression `travel`, relative to rest, J. At rest the
/// spring carries `lifts` kg; the wheel carries `carried` kg.
fn of_strut(strut: &Strut, lifts: f64, carried: f64, travel: f64) -> f64 {
    let [rate, rise] = [strut.rate, strut.progressive_rate].map(f64::from);
    let [bump, solid] = [strut.bump_travel, strut.bump_travel + strut.stop_travel].map(f64::from);
    let free = travel.min(solid);
    let spring = lifts * GRAVITY * travel + 0.5 * rate * free * free + rise * free.powi(3) / 6.0;
    let force = rate * free + 0.5 * rise * free * free;
    let rubber = (free - bump).max(0.0);
    let metal = (travel - solid).max(0.0);
    // The metal stop is a spring up to the force that returns the mass at 1 m/s. Beyond, the force is constant.
    let (stiff, most) = (carried * METAL * METAL, carried * METAL_RETURN);
    let knee = metal.min(most / stiff);
    let held = 0.5 * stiff * knee * knee + most * (metal - knee);
    spring + 0.5 * f64::from(strut.stop_rate) * (rubber * rubber + 2.0 * rubber * metal) + force * metal + held
}

/// Returns the energy of anti-roll bars and heave springs, J. On metal stops they are not strained further, and their force
/// is constant.
fn of_ties(model: &Model, travel: &[f64]) -> f64 {
    let held = |tie: AxleLink| {
        let [first, second] = tie.wheels.map(|i| {
            let strut = &model.wheels()[i].strut;
            let strained = travel[i].min(f64::from(strut.bump_travel + strut.stop_travel));
            [strained, travel[i] - strained]
        });
        let strain = first[0] + tie.way * second[0];
        tie.rate * strain * (0.5 * strain + first[1] + tie.way * second[1])
    };
    ties(model).map(held).sum()
}
