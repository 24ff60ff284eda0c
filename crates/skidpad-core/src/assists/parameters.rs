//! Parameters of assists and tricks; a vehicle has none by default.

use crate::assist_log::Assist;
use crate::model_error::{ModelError, check_not_negative, check_positive};

/// Assists of a vehicle, each off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Assists {
    /// Anti-lock brakes.
    pub abs: Option<AntiLock>,
    /// Stability control by brakes of single wheels.
    pub stability: Option<StabilityControl>,
    /// Traction control of driven wheels.
    pub traction: Option<TractionControl>,
    /// Launch control.
    pub launch: Option<LaunchControl>,
    /// Cruise control.
    pub cruise: Option<CruiseControl>,
    /// Counter-steering into a slide.
    pub counter_steer: Option<CounterSteer>,
    /// Speed-dependent steering.
    pub speed_steering: Option<SpeedSteering>,
    /// Distance by which the model's centre of mass is below the real one, m, ≥ 0; 0 is off. The model already contains
    /// it: the value is only reported to the assist log.
    pub lowered_centre: f32,
    /// Decay rate of every rotation of the chassis, 1/s, ≥ 0; 0 is off.
    pub angular_drag: f32,
}

/// Anti-lock brakes: the foot brake of each wheel is limited to the torque that holds the wheel at a slip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AntiLock {
    /// Slip ratio of a wheel slower than the road, 0 to 1, best near the tyre's peak.
    pub slip: f32,
    /// Time constant of the slip, s, ≥ 0.
    pub time_constant: f32,
    /// Speed below which wheels may lock, so that the car can stop, m/s, ≥ 0.
    pub min_speed: f32,
    /// Axles with select-low control, one bit per axle, the lowest bit for the first axle: both wheels of such an axle
    /// have the foot brake pressure of the wheel that allows less. 0 if every wheel has a pressure of its own.
    pub select_low_axles: u32,
}

impl AntiLock {
    /// Returns whether the wheels of any axle have one pressure.
    pub fn has_select_low(&self) -> bool {
        self.select_low_axles != 0
    }
}

/// Traction control: engine and motors are limited to the torque that holds driven wheels at a slip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TractionControl {
    /// Slip ratio of a wheel faster than the road, 0 to 1, best near the tyre's peak.
    pub slip: f32,
    /// Slip speed that is always allowed, m/s, > 0, because slip ratios are undefined at a standstill.
    pub min_slip_speed: f32,
    /// Time constant of the slip, s, ≥ 0.
    pub time_constant: f32,
    /// Share of a wheel's foot brake that may brake a spinning wheel of an open differential, 0 to 1. At 0 the wheel
    /// with least grip limits the engine, else the one with most.
    pub brake_share: f32,
}

/// Launch control: with the throttle down and the car braked, the engine holds a speed with the clutch open. When the
/// brake is released, the clutch transmits the torque that the tyres can take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchControl {
    /// Speed of the engine, rad/s, > 0.
    pub engine_speed: f32,
    /// Slip ratio, see [`TractionControl::slip`].
    pub slip: f32,
    /// Slip speed that is always allowed, see [`TractionControl::min_slip_speed`].
    pub min_slip_speed: f32,
    /// Time constant of the slip, see [`TractionControl::time_constant`].
    pub time_constant: f32,
    /// Speed up to which launch control acts, m/s, > 0.
    pub max_speed: f32,
}

/// Cruise control: motors and engine hold the speed of [`crate::Controls::cruise`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CruiseControl {
    /// Time constant of the speed, s, > 0.
    pub time_constant: f32,
    /// Largest acceleration demanded, m/s², > 0.
    pub max_acceleration: f32,
    /// Whether it regenerates and brakes if a closed throttle is not enough and the driver does not press the throttle.
    pub may_brake: bool,
}

/// Stability control: brakes a single wheel and closes the throttle if the car turns too much or too little.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StabilityControl {
    /// Understeer gradient of the reference car, rad per m/s², ≥ 0.
    pub understeer_gradient: f32,
    /// Largest lateral acceleration demanded of the tyres, m/s², > 0.
    pub max_acceleration: f32,
    /// Slip angle of the rear axle above which the car is turned back, rad, > 0.
    pub max_sideslip: f32,
    /// Accepted deviation of the yaw rate, rad/s, ≥ 0.
    pub tolerance: f32,
    /// Time constant of the yaw rate correction, s, ≥ 0.
    pub time_constant: f32,
    /// Largest slip ratio that its brakes cause, slower than the road, 0 to 1.
    pub slip: f32,
    /// Speeds at which it begins to act and at which it acts fully, m/s.
    pub speed_range: [f32; 2],
}

impl Default for StabilityControl {
    /// Returns values for a passenger car.
    fn default() -> Self {
        Self {
            understeer_gradient: 0.002,
            max_acceleration: 8.0,
            max_sideslip: 0.1,
            tolerance: 0.05,
            time_constant: 0.1,
            slip: 0.15,
            speed_range: [4.2, 7.0],
        }
    }
}

/// Counter-steering: adds a gain times the mean slip angle of the wheels to the steering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CounterSteer {
    /// Steering angle per slip angle, rad/rad, ≥ 0.
    pub gain: f32,
    /// Largest angle added, rad, ≥ 0.
    pub max_angle: f32,
    /// Speeds at which it begins to act and at which it acts fully, m/s.
    pub speed_range: [f32; 2],
}

/// Speed-dependent steering, whose lock and rate fall with speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedSteering {
    /// Speeds between which both fall smoothly from full values to their shares, m/s.
    pub speed_range: [f32; 2],
    /// Shares of lock and rate that are left, each in (0, 1].
    pub factors: [f32; 2],
}

impl Assists {
    /// Returns true if these parameters turn `assist` on: it has parameters, or a value above 0. Returns false for
    /// assists that do not depend on these parameters.
    pub(crate) fn has(&self, assist: Assist) -> bool {
        match assist {
            Assist::AntiLock => self.abs.is_some(),
            Assist::StabilityControl => self.stability.is_some(),
            Assist::TractionControl => self.traction.is_some(),
            Assist::LaunchControl => self.launch.is_some(),
            Assist::CruiseControl => self.cruise.is_some(),
            Assist::CounterSteer => self.counter_steer.is_some(),
            Assist::SpeedSteering => self.speed_steering.is_some(),
            Assist::AngularDrag => self.angular_drag > 0.0,
            Assist::LoweredCentre => self.lowered_centre > 0.0,
            // Properties of other parts, or of ray-cast solvers.
            Assist::Elements | Assist::ForcePoint | Assist::RollInfluence | Assist::LargestForce => false,
        }
    }

    /// Returns whether any assist changes the driver's demand.
    #[inline(always)]
    pub(crate) fn has_demand_changes(&self) -> bool {
        let Self { speed_steering, counter_steer, cruise, stability, .. } = self;
        speed_steering.is_some() | counter_steer.is_some() | cruise.is_some() | stability.is_some()
    }

    /// Returns whether any assist changes the torque of engine and motors.
    #[inline(always)]
    pub(crate) fn has_drive_changes(&self) -> bool {
        self.traction.is_some() | self.launch.is_some() | self.cruise.is_some()
    }

    /// Returns whether any assist may have to change brakes or drive at a foot brake of `brake` (0 to 1), in a car with
    /// or without motors (`has_motors`). Anti-lock brakes count only with the brake pressed, or with motors, whose
    /// regeneration may lock wheels.
    #[inline(always)]
    pub(crate) fn has_torque_changes(&self, brake: f32, has_motors: bool) -> bool {
        self.has_drive_changes() | self.stability.is_some() | (self.abs.is_some() && (brake > 0.0 || has_motors))
    }

    /// Checks the values of every assist that is on, and of the two tricks. Returns the first violation.
    ///
    /// Slips, and factors of the speed-dependent steering, are above 0 and at most 1; the brake share is 0 to 1. Ranges
    /// of speed begin at 0 or above and rise. Above 0: minimum slip speeds, engine and maximum speed of launch control,
    /// maximum acceleration and sideslip of stability control, both values of cruise control. All other values are not
    /// negative.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        if let Some(anti_lock) = &self.abs {
            check_share("target slip of the anti-lock brakes", anti_lock.slip)?;
            check_not_negative("time constant of the anti-lock brakes", anti_lock.time_constant)?;
            check_not_negative("minimum speed of the anti-lock brakes", anti_lock.min_speed)?;
        }
        if let Some(stability) = &self.stability {
            check_not_negative("understeer gradient of the stability control", stability.understeer_gradient)?;
            check_positive("maximum acceleration of the stability control", stability.max_acceleration)?;
            check_positive("maximum sideslip angle of the stability control", stability.max_sideslip)?;
            check_not_negative("tolerance of the stability control", stability.tolerance)?;
            check_not_negative("time constant of the stability control", stability.time_constant)?;
            check_share("brake slip of the stability control", stability.slip)?;
            check_speed_range("stability control", stability.speed_range)?;
        }
        if let Some(traction) = &self.traction {
            check_share("target slip of the traction control", traction.slip)?;
            check_positive("minimum slip speed of the traction control", traction.min_slip_speed)?;
            check_not_negative("time constant of the traction control", traction.time_constant)?;
            check_not_negative("brake share of the traction control", traction.brake_share)?;
            check_not_negative("1 - brake share of the traction control", 1.0 - traction.brake_share)?;
        }
        if let Some(launch) = &self.launch {
            check_positive("engine speed of the launch control", launch.engine_speed)?;
            check_share("target slip of the launch control", launch.slip)?;
            check_positive("minimum slip speed of the launch control", launch.min_slip_speed)?;
            check_not_negative("time constant of the launch control", launch.time_constant)?;
            check_positive("maximum speed of the launch control", launch.max_speed)?;
        }
        if let Some(cruise) = &self.cruise {
            check_positive("time constant of the cruise control", cruise.time_constant)?;
            check_positive("maximum acceleration of the cruise control", cruise.max_acceleration)?;
        }
        if let Some(counter_steer) = &self.counter_steer {
            check_not_negative("gain of the counter-steer assist", counter_steer.gain)?;
            check_not_negative("maximum angle of the counter-steer assist", counter_steer.max_angle)?;
            check_speed_range("counter-steer assist", counter_steer.speed_range)?;
        }
        if let Some(speed_steering) = &self.speed_steering {
            check_speed_range("speed-dependent steering", speed_steering.speed_range)?;
            check_share("steering lock factor", speed_steering.factors[0])?;
            check_share("steering rate factor", speed_steering.factors[1])?;
        }
        check_not_negative("distance by which the centre of mass is lowered", self.lowered_centre)?;
        check_not_negative("angular drag", self.angular_drag)
    }
}

/// Checks that `found` is above 0 and at most 1. `part`: name of the value in the error.
fn check_share(part: &str, found: f32) -> Result<(), ModelError> {
    if found > 0.0 && found <= 1.0 {
        return Ok(());
    }
    Err(ModelError::OutOfRange { part: part.into(), found, accepts: "above 0 and at most 1" })
}

/// Checks that a range of speeds begins at 0 or above and has a positive width.
fn check_speed_range(assist: &str, [start, end]: [f32; 2]) -> Result<(), ModelError> {
    check_not_negative(&format!("minimum speed of the {assist}"), start)?;
    check_positive(&format!("fade-in speed range of the {assist}"), end - start)
}
