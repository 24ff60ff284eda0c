//! What assists and tricks did to a car in its last step, so that nothing helps unseen.
//!
//! An assist works through pedals, brakes and steering, as a driver could; a trick pushes the chassis as nothing real
//! does. Both are off unless the vehicle asks for them, and both tell here what they added.

use core::ops::AddAssign;

use crate::{Model, Vec3};

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
}

/// What one assist added in a step, means over the step. All zero: it did nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Added {
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

impl Added {
    /// Names of [`Added::values`] with their units.
    pub const CHANNELS: [&'static str; 10] = [
        "force_x_n",
        "force_y_n",
        "force_z_n",
        "moment_x_nm",
        "moment_y_nm",
        "moment_z_nm",
        "brake_nm",
        "engine_nm",
        "throttle",
        "steer_rad",
    ];

    /// A force (N) and a moment about the centre of mass (N m), vehicle frame.
    pub fn wrench(force: Vec3, moment: Vec3) -> Self {
        Self { force, moment, ..Self::default() }
    }

    /// In the order of [`Added::CHANNELS`].
    pub fn values(&self) -> [f64; 10] {
        let Self { force, moment, brake_torque, engine_torque, throttle, steer } = *self;
        [force.x, force.y, force.z, moment.x, moment.y, moment.z, brake_torque, engine_torque, throttle, steer]
            .map(f64::from)
    }
}

impl AddAssign for Added {
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
pub struct Budget {
    added: [Added; Assist::ALL.len()],
}

impl Budget {
    /// What `assist` added.
    pub fn of(&self, assist: Assist) -> &Added {
        &self.added[assist as usize]
    }

    /// Counts `more` as added by `assist`.
    pub(crate) fn add(&mut self, assist: Assist, more: Added) {
        self.added[assist as usize] += more;
    }

    /// What the assists that `model` has added, in the order of [`Model::assists`].
    pub fn entries(&self, model: &Model) -> Vec<(Assist, Added)> {
        model.assists().iter().map(|&assist| (assist, *self.of(assist))).collect()
    }
}
