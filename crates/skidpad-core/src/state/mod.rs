//! What a car is doing: everything that advances in time, and nothing else. A clone is a rewind.

pub(crate) mod equilibrium;
mod refused;
pub mod saved;
mod train;

use crate::drivetrain::motor::MAX_MOTORS;
use crate::drivetrain::parameters::MAX_COUPLINGS;
use crate::lane::Lane;
use crate::math;
use crate::model::Model;
use crate::state::equilibrium::{StaticEquilibrium, Towing};
use crate::wheel::parameters::Wheel;
use crate::world::scene::Scene;
use bevy_math::{DVec3, Quat, Vec3};

/// Motion of one vehicle. Copy it, keep it, step on: the trajectory repeats bit for bit.
#[derive(Debug, PartialEq)]
pub struct State {
    /// Centre of mass of the whole car at rest, world, m.
    pub position: DVec3,
    /// Vehicle axes to world axes.
    pub rotation: Quat,
    /// Of `position`, world, m/s.
    pub velocity: Vec3,
    /// World, rad/s.
    pub angular: Vec3,
    /// Velocity one step ago, for the acceleration channels, m/s.
    pub previous_velocity: Vec3,
    /// Mean road-wheel angle the steering has reached, rad.
    pub steer: f32,
    /// Engine, clutch, gearbox.
    pub drive: DriveState,
    /// In wheel order.
    pub wheels: Box<[WheelState]>,
    /// What tows it; `None` of a vehicle on its own.
    pub tow: Option<Tow>,
}

/// What tows a trailer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tow {
    /// Number of the vehicle ahead in its world. One that cannot tow tows nothing: one that is away, has no hitch, or is towed
    /// by the trailer itself.
    pub by: u32,
    /// Mean force of the hitch on the trailer over the last step, world, N.
    pub force: Vec3,
    /// Share of the trailer's brake that its overrun device presses, 0 to 1; 0 without one.
    pub overrun: f32,
}

impl Clone for State {
    fn clone(&self) -> Self {
        Self { wheels: self.wheels.clone(), ..*self }
    }

    /// Into the memory that is there, if the cars have as many wheels: a rewind asks for none.
    fn clone_from(&mut self, other: &Self) {
        let mut wheels = core::mem::take(&mut self.wheels);
        wheels.clone_from(&other.wheels);
        *self = Self { wheels, ..*other };
    }
}

/// Motion of one wheel. A step reads and writes its numbers in fours, which lie side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct WheelState {
    /// Absolute rate about the axle, rad/s, positive rolls forward.
    pub spin: f32,
    /// Deflection of the contact patch along and across, m; over the relaxation length it is the lagged slip κ and −tan α.
    pub deflection: [f32; 2],
    /// Mean torque of brake, drive and rolling resistance on the wheel over the last step, N m; the chassis took the
    /// opposite.
    pub torque: f32,
    /// Mean tyre force over the last step, along and across, N.
    pub tyre: [f32; 2],
    /// Speed of the wheel centre along the rolling direction after the last step, m/s.
    pub rolling_speed: f32,
    /// 0 at a standstill, where the patch holds like a spring, to 1 when rolling.
    pub rolling: f32,
    /// Compression from rest, m, positive in jounce, not below full droop.
    pub compression: f32,
    /// Rate of the compression of a wheel that moves on its own, m/s; 0 of one whose mass is the chassis'.
    pub travel_rate: f32,
    /// Mean load over the last step, along the contact normal, N, ≥ 0.
    pub load: f32,
    /// Sine of the camber against the ground, positive with the top leaning right; 0 without contact.
    pub lean: f32,
    /// Mean moment of the tyre about its heading over the last step, N m, positive leans the top to the right.
    pub overturning: f32,
    /// Mean moment of the tyre about the contact normal over the last step, N m, positive turns to the left.
    pub aligning: f32,
    /// Road-wheel angle, rad.
    pub steer: f32,
    /// Temperature of the brake disc above the air's, K; 0 without one.
    pub disc: f32,
    /// How far it has given way to the left, m; 0 on a rigid axle.
    pub shift: f32,
    /// Whether the ground was within reach.
    pub contact: bool,
}

/// Motion of the drivetrain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DriveState {
    /// Crankshaft, rad/s; negative where the wheels turn a dead engine backwards.
    pub engine_speed: f32,
    /// Engaged gear: −1, 0, 1…
    pub gear: i8,
    /// Gear a running shift will engage.
    pub next_gear: i8,
    /// Ratio a continuous gearbox has reached, without the final drive; 0 of any other.
    pub ratio: f32,
    /// Time left of a running shift, s.
    pub shift_left: f32,
    /// Time since the last shift ended, s, up to 1000.
    pub since_shift: f32,
    /// Mean torque through the clutch over the last step, N m, positive drives forward in a forward gear.
    pub clutch: f32,
    /// Mean torque each coupling carried over the last step, N m, positive towards its first side.
    pub couplings: [f32; MAX_COUPLINGS],
    /// Mean torque of each motor's rotor over the last step, N m, positive drives forward.
    pub motors: [f32; MAX_MOTORS],
}

/// Where and how a car starts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Placement {
    /// In the plane of the ground, m.
    pub x: f64,
    /// In the plane of the ground, m.
    pub y: f64,
    /// Of the wheels above the plane of the ground, m: the car is lifted as it stands, and its wheels hang down to what is
    /// below them, plane or box.
    pub height: f64,
    /// Turned to the left about the ground's normal, rad.
    pub heading: f32,
    /// Forward speed, m/s; wheels, gear and engine turn with it.
    pub speed: f32,
    /// Gear to start in; `None`: the gear the gearbox would choose.
    pub gear: Option<i8>,
}

impl State {
    /// Standing on its wheels on the ground of `scene`, or rolling at the placement's speed; above the ground hanging free.
    ///
    /// The struts carry the car, on a slope too; its contact patches are not yet strained by what holds it there. Where
    /// a wheel would lift or meet its stop the car starts in its described pose and has to settle.
    ///
    /// A trailer stands as if something held its coupler where it was described; see [`State::train_at_rest`].
    pub fn at_rest(model: &Model, scene: &Scene, placement: &Placement) -> Self {
        let rest = StaticEquilibrium::of(model, scene, placement.heading, &Towing::default());
        Self::standing(model, scene, placement, rest)
    }

    /// Standing or rolling as [`State::at_rest`] has it, in the described pose where there is no `rest`.
    fn standing(model: &Model, scene: &Scene, placement: &Placement, rest: Option<StaticEquilibrium>) -> Self {
        let upright = scene.orientation(placement.heading);
        let velocity = upright * Vec3::X * placement.speed;
        let wheel = |(i, wheel): (usize, &Wheel)| WheelState {
            spin: placement.speed / wheel.radius,
            rolling_speed: placement.speed,
            rolling: rolling_share(wheel, placement.speed),
            contact: true,
            compression: rest.as_ref().map_or(0.0, |r| r.compressions[i]),
            load: rest.as_ref().map_or(model.static_load(i), |r| r.loads[i]),
            ..WheelState::default()
        };
        let wheels = model.wheels().iter().enumerate().map(wheel).collect();
        let height = model.parts().centre_height + rest.as_ref().map_or(0.0, |r| r.heave);
        let mut state = Self {
            position: scene.point(placement.x, placement.y, f64::from(height) + placement.height),
            rotation: rest.as_ref().map_or(upright, |r| upright * r.tilt),
            velocity,
            angular: Vec3::ZERO,
            previous_velocity: velocity,
            steer: 0.0,
            drive: DriveState::rolling(model, placement),
            wheels,
            tow: None,
        };
        if placement.height != 0.0 {
            state.reach_down(model, scene);
        }
        state
    }

    /// At rest on its wheels, whose ground is at the point `ground`, m, with the unit normal `normal`, world; turned by `heading` rad to the
    /// left about the vertical, then laid on to the ground.
    ///
    /// Its struts stand as on level ground: on a slope it settles. All else is that of a fresh car, so a teleport leaves nothing of
    /// where the car was.
    pub fn upright_at(model: &Model, ground: DVec3, normal: Vec3, heading: f32) -> Self {
        let level = Self::at_rest(model, &Scene::flat(), &Placement { heading, ..Placement::default() });
        let lay = Quat::from_rotation_arc(Vec3::Z, normal.try_normalize().unwrap_or(Vec3::Z));
        let position = ground + (lay * level.position.as_vec3()).as_dvec3();
        Self { position, rotation: (lay * level.rotation).normalize(), ..level }
    }

    /// Lets every wheel down from where it is to the ground of `scene`, as far as its strut pushes it.
    fn reach_down(&mut self, model: &Model, scene: &Scene) {
        let up = self.rotation * Vec3::Z;
        for (i, (wheel, described)) in self.wheels.iter_mut().zip(model.wheels()).enumerate() {
            // From where the solvers' rays start: ground above a wheel pushes it in.
            let above = Vec3::Z * (2.0 * described.radius);
            let start = self.position + (self.rotation * (described.contact + above)).as_dvec3();
            let below = scene.distance_to_ground(start, -up.as_dvec3());
            let reached = below.map_or(f32::NEG_INFINITY, |distance| (f64::from(above.z) - distance) as f32);
            let hanging = -model.hangs_below(i);
            wheel.contact = reached > hanging;
            wheel.compression = reached.max(hanging);
        }
        let compressions: Vec<f32> = self.wheels.iter().map(|wheel| wheel.compression).collect();
        for (i, wheel) in self.wheels.iter_mut().enumerate() {
            wheel.load = if wheel.contact { equilibrium::load_at(model, |k| compressions[k], i) } else { 0.0 };
        }
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        // Patterns name every field, so that one that is added does not compile until it is looked at.
        let Self { position, rotation, velocity, angular, previous_velocity, steer, drive, wheels, tow } = self;
        position.is_finite()
            && rotation.is_finite()
            && [velocity, angular, previous_velocity].into_iter().all(|vector| vector.is_finite())
            && steer.is_finite()
            && drive.is_finite()
            && wheels.iter().all(WheelState::is_finite)
            && tow.is_none_or(|tow| tow.force.is_finite() && tow.overrun.is_finite())
    }
}

/// 0 below a crawl of `wheel`, 1 above its walking pace, at `speed` m/s (either sign).
fn rolling_share(wheel: &Wheel, speed: f32) -> f32 {
    let [crawl, walk] = wheel.walking();
    speed.abs().smoothstep(crawl, walk)
}

fn all_finite(numbers: &[f32]) -> bool {
    numbers.iter().all(|number| number.is_finite())
}

impl WheelState {
    /// Steers the wheel to `angle` rad about a patch that stands where it is: its deflection stays on the ground, so it turns
    /// in the wheel's axes. A patch that rolls is of the wheel's making.
    pub(crate) fn steer_to(&mut self, angle: f32) {
        let turned = (angle - self.steer) * (1.0 - self.rolling);
        self.steer = angle;
        if turned == 0.0 {
            return;
        }
        let (sin, cos) = math::sin_cos(turned);
        for [along, across] in [&mut self.deflection, &mut self.tyre] {
            (*along, *across) = (cos * *along + sin * *across, cos * *across - sin * *along);
        }
    }

    fn is_finite(&self) -> bool {
        #[rustfmt::skip]
        let Self {
            spin, deflection, compression, travel_rate, load, tyre, torque, rolling_speed, rolling, steer, lean, overturning,
            aligning, disc, shift, contact: _,
        } = *self;
        all_finite(&[spin, compression, travel_rate, load, torque, rolling_speed, rolling, steer])
            && all_finite(&[lean, overturning, aligning, disc, shift])
            && all_finite(&deflection)
            && all_finite(&tyre)
    }
}

impl DriveState {
    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        let Self { engine_speed, gear: _, next_gear: _, ratio, shift_left, since_shift, clutch, couplings, motors } =
            self;
        all_finite(&[*engine_speed, *ratio, *shift_left, *since_shift, *clutch])
            && all_finite(couplings)
            && all_finite(motors)
    }

    fn rolling(model: &Model, placement: &Placement) -> Self {
        let Some(drive) = model.parts().powertrain.engine() else {
            let gear = placement.gear.unwrap_or(1);
            return Self { gear, next_gear: gear, ..Self::default() };
        };
        let shaft = model
            .wheels()
            .iter()
            .zip(&drive.shares)
            .map(|(wheel, share)| share * placement.speed / wheel.radius)
            .sum::<f32>();
        let gearbox = &drive.gearbox;
        let automatic = || match placement.speed {
            s if s.abs() < 0.1 => 1.min(gearbox.nearest(i8::MAX)),
            s if s < 0.0 => -1,
            _ => gearbox.rolling_gear(shaft),
        };
        let gear = gearbox.nearest(placement.gear.unwrap_or_else(automatic));
        let ratio = gearbox.continuous.map_or(0.0, |own| gearbox.wanted(&own, shaft, 0.0));
        let turning = shaft * gearbox.ratio_at(gear, ratio);
        Self {
            ratio,
            engine_speed: turning.clamp(drive.engine.idle, drive.engine.limit),
            gear,
            next_gear: gear,
            since_shift: 1000.0,
            ..Self::default()
        }
    }
}
