//! Frames of telemetry. One list of channels generates the struct, the column names, the units and the manual.

use crate::assist_log::{Assist, AssistLog, Contribution};
use crate::channel::Channel;
use crate::model::Model;
use crate::state::{State, WheelState};
use crate::step_report::StepReport;
use crate::telemetry::steering_wheel::steering_wheel_torque;
use bevy_math::{Vec2, Vec3};
use skidpad_simd::math;
use skidpad_tyre::MAX_SLIP;

// Generates a struct of `f64` fields from a list of channels (field, unit, description), the constant list of its
// channels, `values` and `set_values`. Further fields may follow the list.
macro_rules! channels {
    ($(#[$doc:meta])* $frame:ident, $list:ident { $($field:ident, $unit:literal, $about:literal;)* } $($extra:tt)*) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $frame {
            $(#[doc = $about] #[doc = concat!("\n\nUnit: ", $unit)] pub $field: f64,)*
            $($extra)*
        }
        /// Channels of this frame, in column order.
        pub const $list: &[Channel] = &[$(Channel { name: stringify!($field), unit: $unit, about: $about },)*];
        impl $frame {
            /// Returns the values in the order of the channel list.
            pub fn values(&self) -> [f64; $list.len()] {
                [$(self.$field,)*]
            }
            /// Sets the fields from `values` in the order of the channel list. Missing values become 0.
            fn set_values(&mut self, values: &mut impl Iterator<Item = f64>) {
                $(self.$field = values.next().unwrap_or_default();)*
            }
        }
    };
}

channels! {
    /// Motion of a car in the step that ended at `t_s`. Signs follow ISO 8855.
    Frame, VEHICLE_CHANNELS {
        t_s, "s", "Time of the end of the step.";
        x_m, "m", "Position of the centre of mass, world x. Measured at the point that is the centre of mass at rest.";
        y_m, "m", "Position of the centre of mass, world y.";
        z_m, "m", "Position of the centre of mass, world z, upward.";
        roll_rad, "rad", "Roll angle, positive right side down.";
        pitch_rad, "rad", "Pitch angle, positive nose down.";
        yaw_rad, "rad", "Yaw angle, positive to the left, within ±π.";
        vx_mps, "m/s", "Velocity along the vehicle's x axis.";
        vy_mps, "m/s", "Velocity along the vehicle's y axis, positive to the left.";
        vz_mps, "m/s", "Velocity along the vehicle's z axis.";
        roll_rate_radps, "rad/s", "Angular velocity about the vehicle's x axis.";
        pitch_rate_radps, "rad/s", "Angular velocity about the vehicle's y axis.";
        yaw_rate_radps, "rad/s", "Angular velocity about the vehicle's z axis, positive to the left.";
        ax_mps2, "m/s²", "Acceleration along the intermediate x axis (horizontal), without gravity.";
        ay_mps2, "m/s²", "Acceleration along the intermediate y axis (horizontal), positive to the left.";
        engine_radps, "rad/s", "Engine speed.";
        gear, "-", "Engaged gear: -1 reverse, 0 neutral.";
        steer_rad, "rad", "Mean road-wheel angle of the first steered axle as with a rigid linkage and without toe, positive for a turn to the left.";
    }
    /// Frames of the wheels, in wheel order.
    pub wheels: Vec<WheelFrame>,
    /// Frame of the hitch that tows the vehicle. Only a vehicle with a coupler has it, also while nothing tows the
    /// vehicle.
    pub hitch: Option<HitchFrame>,
    /// Torque of each shaft of the model (N m), in the order of [`Shaft::all`].
    pub shafts: Vec<(Shaft, f64)>,
    /// Contributions in the step of each assist of the model and each trick of the solver; empty for a car without any.
    pub assist_log: Vec<(Assist, Contribution)>,
}

channels! {
    /// Motion and forces of one wheel. Forces act on the car, in tyre axes.
    WheelFrame, WHEEL_CHANNELS {
        load_n, "N", "Wheel load along the contact normal, at least 0.";
        fx_n, "N", "Longitudinal tyre force, positive drives forward.";
        fy_n, "N", "Lateral tyre force, positive to the left.";
        slip_ratio, "-", "Longitudinal slip, lagged by the relaxation length; -1 is a locked wheel.";
        slip_angle_rad, "rad", "Slip angle, lagged by the relaxation length; positive gives a negative lateral force.";
        camber_rad, "rad", "Camber against the ground, positive with the top leaning right; 0 without contact.";
        steer_rad, "rad", "Road-wheel angle: steering, toe, and the deflection of a compliant linkage; positive to the left.";
        mx_nm, "N m", "Overturning moment of the tyre about its heading, positive leans the top to the right.";
        mz_nm, "N m", "Aligning moment of the tyre about the contact normal, positive turns to the left.";
        spin_radps, "rad/s", "Wheel spin rate, positive rolls forward.";
        compression_m, "m", "Suspension compression from rest, positive in jounce.";
        rolling_n, "N", "Rolling resistance at the contact, positive drives forward; 0 for a wheel that does not turn.";
        disc_k, "K", "Temperature of the brake disc above ambient; 0 without a disc model.";
        contact, "-", "1 if the wheel touches the ground, otherwise 0.";
    }
}

channels! {
    /// Forces and angles of the hitch that tows a trailer, in the axes of the vehicle ahead; all 0 while nothing tows
    /// the trailer.
    HitchFrame, HITCH_CHANNELS {
        fx_n, "N", "Mean hitch force on the towing vehicle in the step along its x axis, positive if the trailer pushes.";
        fy_n, "N", "Mean hitch force on the towing vehicle along its y axis, positive to the left.";
        fz_n, "N", "Mean hitch force on the towing vehicle along its z axis, negative if the trailer loads the hitch.";
        articulation_rad, "rad", "Articulation angle: yaw of the trailer relative to the towing vehicle, positive to the left.";
        articulation_rate_radps, "rad/s", "Rate of the articulation angle.";
        coupled, "-", "1 if the trailer is coupled, otherwise 0.";
    }
}

/// Shaft with a telemetry column for its mean torque in a step. Cars without the shaft have no such column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shaft {
    /// Input of the gearbox, from its clutch or the turbine of its torque converter; positive drives forward in a
    /// forward gear.
    Gearbox,
    /// Rotor of a motor, counted from 0; positive drives forward. Includes the torque that accelerates the rotor
    /// itself.
    Motor(usize),
    /// Coupling, counted from 0: the torque that it transmits from its second side to its first.
    Coupling(usize),
    /// Steering wheel: the torque with which the driver holds its angle, positive to the left. Only for vehicles with
    /// known steering ratio and steering axes. Inertia and friction of the steering are not included.
    SteeringWheel,
}

impl Shaft {
    /// Channel of every shaft.
    pub const TORQUE_CHANNEL: Channel = Channel {
        name: "torque_nm",
        unit: "N m",
        about: "Mean torque of the shaft: gearbox input, rotor of a motor, coupling towards its first side, or steering wheel held by the driver, positive to the left.",
    };

    /// Returns the shafts of `model`, in column order: gearbox (only with an engine), motors, couplings, steering wheel
    /// (only with known steering ratio and steering axes).
    pub fn all(model: &Model) -> impl Iterator<Item = Self> {
        let parts = model.parts();
        let gearbox = parts.powertrain.engine().map(|_| Shaft::Gearbox);
        let motors = (0..parts.motors.len()).map(Shaft::Motor);
        let couplings = (0..parts.couplings.len()).map(Shaft::Coupling);
        let steering_wheel = parts.steering.wheel_ratio.and(parts.steering.kingpin).map(|_| Shaft::SteeringWheel);
        gearbox.into_iter().chain(motors).chain(couplings).chain(steering_wheel)
    }

    /// Returns the name used in column names: `gearbox`, `motor1`, `coupling1`, `steering_wheel`. Motors and couplings
    /// count from 1.
    pub fn name(self) -> String {
        match self {
            Shaft::Gearbox => "gearbox".into(),
            Shaft::Motor(k) => format!("motor{}", k + 1),
            Shaft::Coupling(k) => format!("coupling{}", k + 1),
            Shaft::SteeringWheel => "steering_wheel".into(),
        }
    }

    /// Returns the mean torque of the shaft of a car of `model` in the last step of `state` (N m), with the sign of
    /// [`Shaft`].
    fn torque(self, model: &Model, state: &State) -> f64 {
        let drive = &state.drive;
        f64::from(match self {
            Shaft::Gearbox => drive.clutch,
            Shaft::Motor(k) => drive.motors[k],
            Shaft::Coupling(k) => drive.couplings[k],
            Shaft::SteeringWheel => steering_wheel_torque(model, state),
        })
    }
}

impl Frame {
    /// Creates the frame of `state` at `time` s, `dt` s after the previous state. `vehicle_ahead` is the state of the
    /// vehicle that tows this one, `assist_log` the contributions of the assists. Accelerations are 0 if `dt` is not
    /// the length of a step.
    pub fn new(
        model: &Model,
        state: &State,
        vehicle_ahead: Option<&State>,
        assist_log: &AssistLog,
        time: f64,
        dt: f32,
    ) -> Self {
        let mut frame = Self::default();
        frame.update(model, state, vehicle_ahead, assist_log, time, dt);
        frame
    }

    /// Overwrites this frame as [`Frame::new`] does, in the memory already allocated. Velocity and rates are in vehicle
    /// axes. Accelerations are the mean over the step, change of the world velocity over `dt`, in horizontal axes
    /// turned by the yaw angle; gravity is not subtracted. They are 0 if `dt` is not the length of a step. The steering
    /// angle is the stored angle times the steer ratio of the first steered axle. Wheel, shaft and assist columns
    /// follow `model`; a hitch frame exists only with a coupler.
    pub fn update(
        &mut self,
        model: &Model,
        state: &State,
        vehicle_ahead: Option<&State>,
        assist_log: &AssistLog,
        time: f64,
        dt: f32,
    ) {
        let to_vehicle = state.rotation.inverse();
        let velocity = (to_vehicle * state.velocity).as_dvec3();
        let rates = (to_vehicle * state.angular_velocity).as_dvec3();
        let angles = math::roll_pitch_yaw(state.rotation).as_dvec3();
        let (sin, cos) = math::sin_cos(angles.z as f32); // of the yaw angle
        let velocity_change = state.velocity - state.previous_velocity;
        let acceleration = if StepReport::for_skipped_step(dt).is_some() { Vec3::ZERO } else { velocity_change / dt };
        // Vectors of the previous frame, for their memory.
        let Self { mut wheels, mut shafts, assist_log: mut contributions, .. } = core::mem::take(self);
        wheels.clear();
        wheels.extend((0..state.wheels.len()).map(|i| WheelFrame::new(model, state, i)));
        shafts.clear();
        shafts.extend(Shaft::all(model).map(|shaft| (shaft, shaft.torque(model, state))));
        contributions.clear();
        contributions.extend(assist_log.entries(model.assists()));
        *self = Self {
            t_s: time,
            x_m: state.position.x,
            y_m: state.position.y,
            z_m: state.position.z,
            roll_rad: angles.x,
            pitch_rad: angles.y,
            yaw_rad: angles.z,
            vx_mps: velocity.x,
            vy_mps: velocity.y,
            vz_mps: velocity.z,
            roll_rate_radps: rates.x,
            pitch_rate_radps: rates.y,
            yaw_rate_radps: rates.z,
            ax_mps2: acceleration.dot(Vec3::new(cos, sin, 0.0)) as f64,
            ay_mps2: acceleration.dot(Vec3::new(-sin, cos, 0.0)) as f64,
            engine_radps: state.drive.engine_speed as f64,
            gear: state.drive.gear as f64,
            steer_rad: (state.steer * model.steer_ratio()) as f64,
            wheels,
            hitch: model.parts().coupler.map(|_| HitchFrame::new(vehicle_ahead, state)),
            shafts,
            assist_log: contributions,
        };
    }

    /// Returns the column names for a car of `model`: the vehicle's channels, those of each wheel (`load_n.1l`), those
    /// of the hitch that tows the car (`fx_n.hitch`), the torques of the shafts (`torque_nm.motor1`), and the
    /// contributions of each assist and trick in [`Frame::assist_log`] (`steer_rad.counter_steer`).
    pub fn header(&self, model: &Model) -> Vec<String> {
        let mut names: Vec<String> = VEHICLE_CHANNELS.iter().map(|channel| channel.name.to_string()).collect();
        for i in 0..model.wheels().len() {
            let wheel = model.wheel_name(i);
            names.extend(WHEEL_CHANNELS.iter().map(|channel| format!("{}.{wheel}", channel.name)));
        }
        if self.hitch.is_some() {
            names.extend(HITCH_CHANNELS.iter().map(|channel| format!("{}.{}", channel.name, HitchFrame::NAME)));
        }
        names.extend(self.shafts.iter().map(|(shaft, _)| format!("{}.{}", Shaft::TORQUE_CHANNEL.name, shaft.name())));
        for (assist, _) in &self.assist_log {
            names.extend(Contribution::CHANNELS.iter().map(|channel| format!("{}.{}", channel.name, assist.name())));
        }
        names
    }

    /// Returns the values in the order of [`Frame::header`]: vehicle, wheels, hitch, shafts, assists.
    pub fn row(&self) -> Vec<f64> {
        let mut row = self.values().to_vec();
        row.extend(self.wheels.iter().flat_map(|wheel| wheel.values()));
        row.extend(self.hitch.iter().flat_map(|hitch| hitch.values()));
        row.extend(self.shafts.iter().map(|(_, torque)| torque));
        row.extend(self.assist_log.iter().flat_map(|(_, contribution)| contribution.values()));
        row
    }

    /// Returns a frame of the same car with the values of `row`, in the order of [`Frame::header`]. Replaces missing
    /// values by 0 and ignores surplus ones. The number of wheels, shafts and assists is that of this frame.
    pub fn with_row(&self, row: &[f64]) -> Self {
        let (mut frame, mut values) = (self.clone(), row.iter().copied());
        frame.set_values(&mut values);
        for wheel in &mut frame.wheels {
            wheel.set_values(&mut values);
        }
        if let Some(hitch) = &mut frame.hitch {
            hitch.set_values(&mut values);
        }
        for (_, torque) in &mut frame.shafts {
            *torque = values.next().unwrap_or_default();
        }
        for (_, contribution) in &mut frame.assist_log {
            *contribution = Contribution::from_values(core::array::from_fn(|_| values.next().unwrap_or_default()));
        }
        frame
    }
}

/// Computes the slips κ and −tan α of wheel `i` at the end of a step, lagged by the relaxation lengths: the slips of
/// the stored deflection, corrected for the change of the forward speed in the second half of the step. The correction
/// is at most ±50 %, in proportion to the share of rolling. Returns the slips of the deflection alone for a wheel that
/// stands or has no contact.
///
/// Dry friction has no relaxation lengths: above walking pace its slips are those of the contact point's motion against
/// ground at rest, with a reference speed that limits them to [`MAX_SLIP`]; at a standstill they are shares of the
/// sliding deflection. The share of rolling blends between both.
fn slip(model: &Model, state: &State, i: usize) -> [f32; 2] {
    let wheel = &state.wheels[i];
    let lagged_slip = model.lagged_slip(i, wheel); // slips of the stored deflection
    if wheel.rolling == 0.0 || !wheel.contact {
        return lagged_slip;
    }
    let (wheel_spec, pose) = (&model.wheels()[i], state.wheel_pose(model, i));
    if model.tyre(i).has_deflection_dynamics() {
        // Deflections are renewed at the speed in the middle of the step; a slip refers to the speed at its end.
        // Gain of the forward speed in the step, m/s.
        let speed_gain = (state.velocity - state.previous_velocity).dot(pose.rotation * Vec3::X);
        // 0 without a gain, also for a wheel centre that does not move (0 / 0).
        let speed_correction =
            if speed_gain == 0.0 { 0.0 } else { (-0.5 * speed_gain / wheel.rolling_speed).clamp(-0.5, 0.5) };
        return lagged_slip.map(|slip| slip * (1.0 + wheel.rolling * speed_correction));
    }
    let to_vehicle = state.rotation.inverse();
    let arm = wheel_spec.contact + Vec3::Z * wheel.compression; // contact point from the centre of mass, m
    let velocity = to_vehicle * state.velocity + (to_vehicle * state.angular_velocity).cross(arm);
    // The contact point moves along the ground: its speed along the axle is that along the ground times the cosine of
    // the camber. The cosine counts as at least 1e-3.
    let lateral_speed =
        velocity.dot(to_vehicle * pose.rotation * Vec3::Y) / (1.0 - wheel.lean * wheel.lean).max(1e-6).sqrt();
    // Sliding speeds in the sense of κ and −tan α, m/s, and speed that they refer to.
    let sliding_speeds = [wheel_spec.radius * wheel.spin - wheel.rolling_speed, -lateral_speed];
    let reference_speed =
        wheel.rolling_speed.abs().max(Vec2::from(sliding_speeds).length() / MAX_SLIP).max(f32::MIN_POSITIVE);
    [0, 1].map(|k| lagged_slip[k] + wheel.rolling * (sliding_speeds[k] / reference_speed - lagged_slip[k]))
}

/// Returns the rolling resistance of wheel `i` (N), positive forward: the coefficient at the rolling speed times the
/// load, against the spin; 0 if the wheel does not turn. Texture is not included.
fn rolling_resistance(model: &Model, wheel: &WheelState, i: usize) -> f64 {
    let force = model.wheels()[i].rolling.coefficient(wheel.rolling_speed.abs()) * wheel.load;
    if wheel.spin == 0.0 { 0.0 } else { -(force * wheel.spin.signum()) as f64 }
}

impl HitchFrame {
    /// Name used in column names.
    pub const NAME: &str = "hitch";

    /// Creates the frame of a trailer in `state` behind a vehicle in the state `vehicle_ahead`: minus the mean hitch
    /// force on the trailer, yaw angle and yaw rate of the trailer relative to the vehicle ahead, all in axes of the
    /// vehicle ahead. All values are 0 while nothing tows the trailer.
    fn new(vehicle_ahead: Option<&State>, state: &State) -> Self {
        let (Some(vehicle_ahead), Some(tow)) = (vehicle_ahead, state.tow) else { return Self::default() };
        let to_axes_ahead = vehicle_ahead.rotation.inverse();
        let force = (to_axes_ahead * -tow.force).as_dvec3();
        Self {
            fx_n: force.x,
            fy_n: force.y,
            fz_n: force.z,
            articulation_rad: math::roll_pitch_yaw(to_axes_ahead * state.rotation).z as f64,
            articulation_rate_radps: (to_axes_ahead * (state.angular_velocity - vehicle_ahead.angular_velocity)).z
                as f64,
            coupled: 1.0,
        }
    }
}

impl WheelFrame {
    /// Creates the frame of wheel `i` from the last step of `state`: forces, moments, road-wheel angle, spin, compression
    /// and disc temperature as stored; slips by [`slip`]; the slip angle is −atan of the lateral slip, and the camber asin of
    /// the lean.
    fn new(model: &Model, state: &State, i: usize) -> Self {
        let wheel = &state.wheels[i];
        let [longitudinal_slip, lateral_slip] = slip(model, state, i);
        Self {
            load_n: wheel.load as f64,
            fx_n: wheel.tyre[0] as f64,
            fy_n: wheel.tyre[1] as f64,
            slip_ratio: longitudinal_slip as f64,
            slip_angle_rad: -math::atan(lateral_slip) as f64,
            camber_rad: math::asin(wheel.lean) as f64,
            steer_rad: wheel.steer as f64,
            mx_nm: wheel.overturning as f64,
            mz_nm: wheel.aligning as f64,
            spin_radps: wheel.spin as f64,
            compression_m: wheel.compression as f64,
            rolling_n: rolling_resistance(model, wheel, i),
            disc_k: wheel.disc as f64,
            contact: f64::from(u8::from(wheel.contact)),
        }
    }
}
