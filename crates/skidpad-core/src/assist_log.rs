//! Log of the contributions of assists and tricks to a car's last step, so that no help is hidden.
//!
//! An assist acts through pedals, brakes and steering, as a driver could. A trick applies forces to the chassis that
//! have no real counterpart. Both are off unless the vehicle enables them, and both log their contribution here.

use crate::channel::Channel;
use core::ops::AddAssign;

use bevy_math::Vec3;

macro_rules! assists {
    ($($name:ident, $text:literal, $is_batchable:literal, $about:literal;)*) => {
        /// Assist or trick that contributes to a step.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Assist {
            $(#[doc = $about] $name,)*
        }

        impl Assist {
            /// All assists, in the order of columns.
            pub const ALL: &[Assist] = &[$(Assist::$name,)*];

            /// Returns the name used in column names.
            pub fn name(self) -> &'static str {
                match self { $(Assist::$name => $text,)* }
            }

            /// Returns a description of the assist.
            pub fn about(self) -> &'static str {
                match self { $(Assist::$name => $about,)* }
            }

            /// Returns true if batches of cars support the assist.
            #[cfg(feature = "simd_batch")]
            pub(crate) fn is_batchable(self) -> bool {
                match self { $(Assist::$name => $is_batchable,)* }
            }
        }
    };
}

// Columns: variant, name in columns, whether batches of cars support the assist, description.
assists! {
    AntiLock, "abs", true, "Limits the brake slip to prevent wheel lock.";
    StabilityControl, "stability", false, "Brakes single wheels and closes the throttle to follow the steered course.";
    TractionControl, "traction", false, "Reduces drive torque and brakes single wheels to limit wheel spin.";
    LaunchControl, "launch", false, "Keeps the engine speed and closes the clutch up to the traction limit.";
    CruiseControl, "cruise", false, "Keeps the set speed by the throttle.";
    CounterSteer, "counter_steer", true, "Steers into a slide.";
    SpeedSteering, "speed_steering", true, "Reduces the steering angle at high speed.";
    Elements, "elements", false, "User-defined force elements.";
    AngularDrag, "angular_drag", false, "Damps all rotation of the chassis (non-physical).";
    LoweredCentre, "lowered_centre", false, "Lowers the centre of mass to reduce roll and pitch (non-physical).";
    ForcePoint, "force_point", false, "Applies tyre forces above the ground to reduce roll and pitch (non-physical).";
    RollInfluence, "roll_influence", false, "Applies lateral forces of a ray-cast vehicle above the ground to reduce roll (non-physical).";
    LargestForce, "largest_force", false, "Limits the suspension force of a ray-cast vehicle (non-physical).";
}

/// Contribution of an assist in a step, as means over the step. All values are 0 if it did nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contribution {
    /// Force on the chassis that does not act through its tyres, N, vehicle frame.
    pub force: Vec3,
    /// Moment on the chassis that does not act through its tyres, about the centre of mass, N m, vehicle frame.
    pub moment: Vec3,
    /// Brake torque of all wheels together, N m; negative if torque was removed.
    pub brake_torque: f32,
    /// Torque of engine and motors, N m at the crankshaft or at the wheels of direct drives; negative if torque was
    /// removed.
    pub engine_torque: f32,
    /// Change of the throttle position, –; negative if the throttle was closed.
    pub throttle: f32,
    /// Mean road-wheel angle of an axle with ratio 1, rad, positive to the left.
    pub steer: f32,
}

/// Builds a channel with this name, unit and description.
const fn channel(name: &'static str, unit: &'static str, about: &'static str) -> Channel {
    Channel { name, unit, about }
}

impl Contribution {
    /// Channels of [`Contribution::values`].
    pub const CHANNELS: [Channel; 10] = [
        channel("force_x_n", "N", "Force forward."),
        channel("force_y_n", "N", "Force to the left."),
        channel("force_z_n", "N", "Force upward."),
        channel("moment_x_nm", "N m", "Roll moment, positive right side down."),
        channel("moment_y_nm", "N m", "Pitch moment, positive nose down."),
        channel("moment_z_nm", "N m", "Yaw moment, positive to the left."),
        channel("brake_nm", "N m", "Torque of all brakes."),
        channel("engine_nm", "N m", "Torque of engine and motors."),
        channel("throttle", "-", "Throttle."),
        channel("steer_rad", "rad", "Steering, positive to the left."),
    ];

    /// Builds a contribution of a force (N) and a moment about the centre of mass (N m), vehicle frame.
    pub fn wrench(force: Vec3, moment: Vec3) -> Self {
        Self { force, moment, ..Self::default() }
    }

    /// Returns all values in the order of [`Contribution::CHANNELS`].
    pub fn values(&self) -> [f64; 10] {
        let Self { force, moment, brake_torque, engine_torque, throttle, steer } = *self;
        [force.x, force.y, force.z, moment.x, moment.y, moment.z, brake_torque, engine_torque, throttle, steer]
            .map(f64::from)
    }

    /// Builds the contribution with these [`Contribution::values`].
    pub(crate) fn from_values(values: [f64; 10]) -> Self {
        let [fx, fy, fz, mx, my, mz, brake_torque, engine_torque, throttle, steer] = values.map(|value| value as f32);
        let [force, moment] = [Vec3::new(fx, fy, fz), Vec3::new(mx, my, mz)];
        Self { force, moment, brake_torque, engine_torque, throttle, steer }
    }
}

impl AddAssign for Contribution {
    /// Adds each value of `other`.
    fn add_assign(&mut self, other: Self) {
        self.force += other.force;
        self.moment += other.moment;
        self.brake_torque += other.brake_torque;
        self.engine_torque += other.engine_torque;
        self.throttle += other.throttle;
        self.steer += other.steer;
    }
}

/// Contributions of all assists to the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AssistLog {
    /// Contribution by assist; `None` if nothing was logged.
    contributions: [Option<Contribution>; Assist::ALL.len()],
}

impl AssistLog {
    /// Empty log.
    pub(crate) const EMPTY_LOG: Self = Self { contributions: [None; Assist::ALL.len()] };

    /// Removes all contributions.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.contributions.iter_mut().for_each(|contribution| *contribution = None);
    }

    /// Returns the contribution of `assist`; all values are 0 if nothing was logged.
    pub fn contribution(&self, assist: Assist) -> Contribution {
        self.contributions[assist as usize].unwrap_or_default()
    }

    /// Adds `contribution` to that of `assist`, even if all its values are 0; the assist then has columns in
    /// [`AssistLog::entries`]. Call it only for assists that the car has.
    pub fn add(&mut self, assist: Assist, contribution: Contribution) {
        *self.contributions[assist as usize].get_or_insert_default() += contribution;
    }

    /// Returns the contributions of all assists of the `model` and of all logged assists, zero contributions included,
    /// in the order of [`Assist::ALL`].
    pub fn entries(&self, model: &[Assist]) -> impl Iterator<Item = (Assist, Contribution)> {
        let is_listed = |assist: &Assist| model.contains(assist) || self.contributions[*assist as usize].is_some();
        Assist::ALL.iter().copied().filter(is_listed).map(|assist| (assist, self.contribution(assist)))
    }
}
