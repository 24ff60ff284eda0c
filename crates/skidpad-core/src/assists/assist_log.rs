//! What assists and tricks did to a car in its last step, so that nothing helps unseen.
//!
//! An assist works through pedals, brakes and steering, as a driver could; a trick pushes the chassis as nothing real
//! does. Both are off unless the vehicle asks for them, and both tell here what they added.

use crate::telemetry::channel::Channel;
use core::ops::AddAssign;

use bevy_math::Vec3;

macro_rules! assists {
    ($($name:ident, $text:literal, $about:literal;)*) => {
        /// Who added something.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Assist {
            $(#[doc = $about] $name,)*
        }

        impl Assist {
            /// Every one, in the order of columns.
            pub const ALL: &[Assist] = &[$(Assist::$name,)*];

            /// Name in column names.
            pub fn name(self) -> &'static str {
                match self { $(Assist::$name => $text,)* }
            }

            /// What it does.
            pub fn about(self) -> &'static str {
                match self { $(Assist::$name => $about,)* }
            }
        }
    };
}

assists! {
    AntiLock, "abs", "Brakes that do not lock.";
    StabilityControl, "stability", "Brakes of single wheels that keep the car where it is steered, and a closed throttle.";
    TractionControl, "traction", "Engine and motors held back, and brakes of single wheels, where driven wheels would spin.";
    LaunchControl, "launch", "Engine speed held, and the clutch let in as far as the tyres take it.";
    CruiseControl, "cruise", "An engine that pulls without the driver's foot.";
    CounterSteer, "counter_steer", "Steering into a slide.";
    SpeedSteering, "speed_steering", "Less steering at speed.";
    Elements, "elements", "Force elements of one's own.";
    AngularDrag, "angular_drag", "Slows every rotation of the chassis; no real force does.";
    LoweredCentre, "lowered_centre", "Lets the mass lie lower than it does, where the ground's forces roll and pitch it less.";
    ForcePoint, "force_point", "Lets tyre forces act above the ground, where they roll and pitch the car less.";
    RollInfluence, "roll_influence", "Lets side forces of a ray-cast vehicle act above the ground, where they roll the car less.";
    LargestForce, "largest_force", "Takes from the suspension force of a ray-cast vehicle what is above a bound.";
}

/// What one assist added in a step, means over the step. All zero: it did nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contribution {
    /// On the chassis from outside its tyres, N, vehicle frame.
    pub force: Vec3,
    /// On the chassis from outside its tyres, about the centre of mass, N m, vehicle frame.
    pub moment: Vec3,
    /// Brake torque of all wheels together, N m, negative where it was taken away.
    pub brake_torque: f32,
    /// Torque of engine and motors, N m at the crankshaft or at the wheels of direct drives, negative where it was taken away.
    pub engine_torque: f32,
    /// Position of the throttle, –, negative where it was closed.
    pub throttle: f32,
    /// Mean road-wheel angle of an axle with ratio 1, rad, positive to the left.
    pub steer: f32,
}

const fn channel(name: &'static str, unit: &'static str, about: &'static str) -> Channel {
    Channel { name, unit, about }
}

impl Contribution {
    /// The channels of [`Contribution::values`].
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

    /// A force (N) and a moment about the centre of mass (N m), vehicle frame.
    pub fn wrench(force: Vec3, moment: Vec3) -> Self {
        Self { force, moment, ..Self::default() }
    }

    /// In the order of [`Contribution::CHANNELS`].
    pub fn values(&self) -> [f64; 10] {
        let Self { force, moment, brake_torque, engine_torque, throttle, steer } = *self;
        [force.x, force.y, force.z, moment.x, moment.y, moment.z, brake_torque, engine_torque, throttle, steer]
            .map(f64::from)
    }

    /// What has these [`Contribution::values`].
    pub(crate) fn of_values(values: [f64; 10]) -> Self {
        let [fx, fy, fz, mx, my, mz, brake_torque, engine_torque, throttle, steer] = values.map(|value| value as f32);
        let [force, moment] = [Vec3::new(fx, fy, fz), Vec3::new(mx, my, mz)];
        Self { force, moment, brake_torque, engine_torque, throttle, steer }
    }
}

impl AddAssign for Contribution {
    fn add_assign(&mut self, more: Self) {
        self.force += more.force;
        self.moment += more.moment;
        self.brake_torque += more.brake_torque;
        self.engine_torque += more.engine_torque;
        self.throttle += more.throttle;
        self.steer += more.steer;
    }
}

/// What every assist added in the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AssistLog {
    /// `None` where nothing was counted.
    added: [Option<Contribution>; Assist::ALL.len()],
}

impl AssistLog {
    /// Nothing was added.
    pub(crate) const NOTHING: Self = Self { added: [None; Assist::ALL.len()] };

    /// Counts from nothing again.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.added.iter_mut().for_each(|added| *added = None);
    }

    /// What `assist` added.
    pub fn of(&self, assist: Assist) -> Contribution {
        self.added[assist as usize].unwrap_or_default()
    }

    /// Counts `more` as added by `assist`, which then has columns: only for what is there.
    pub fn add(&mut self, assist: Assist, more: Contribution) {
        *self.added[assist as usize].get_or_insert_default() += more;
    }

    /// What was added by each assist of the `model` and each that the solver counted, were it nothing, in the order of
    /// [`Assist::ALL`].
    pub fn entries(&self, model: &[Assist]) -> impl Iterator<Item = (Assist, Contribution)> {
        let told = |assist: &Assist| model.contains(assist) || self.added[*assist as usize].is_some();
        Assist::ALL.iter().copied().filter(told).map(|assist| (assist, self.of(assist)))
    }
}
