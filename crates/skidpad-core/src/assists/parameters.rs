//! Helpers and tricks a vehicle may have: none unless it asks for them.

use crate::model::error::{ModelError, not_negative, positive};

/// Assists of a vehicle, each off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Assists {
    /// Brakes that do not lock.
    pub abs: Option<AntiLock>,
    /// Brakes of single wheels that keep the car where it is steered.
    pub stability: Option<StabilityControl>,
    /// Driven wheels that do not spin.
    pub traction: Option<TractionControl>,
    /// The best start.
    pub launch: Option<LaunchControl>,
    /// A speed held.
    pub cruise: Option<CruiseControl>,
    /// Steering into a slide.
    pub counter_steer: Option<CounterSteer>,
    /// Less steering at speed.
    pub speed_steering: Option<SpeedSteering>,
    /// By how much the model's centre of mass lies lower than the real one, m, ≥ 0; 0 is off. The model has it lower already:
    /// this only tells the assist log.
    pub lowered_centre: f32,
    /// Rate at which every rotation of the chassis dies away by itself, 1/s, ≥ 0; 0 is off.
    pub angular_drag: f32,
}

/// Anti-lock brakes: the foot brake of each wheel gives no more than what holds the wheel at a slip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AntiLock {
    /// Slip ratio behind the road, 0 to 1, best near the tyre's peak.
    pub slip: f32,
    /// Time constant with which slips go there, s, ≥ 0.
    pub response: f32,
    /// Speed below which wheels may lock, so that the car stops and stands, m/s, ≥ 0.
    pub off_below: f32,
}

/// Traction control: engine and motors give no more than what holds driven wheels at a slip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TractionControl {
    /// Slip ratio beyond the road, 0 to 1, best near the tyre's peak.
    pub slip: f32,
    /// Slip speed that is always allowed, m/s, > 0: slip ratios mean nothing at a standstill.
    pub least: f32,
    /// Time constant with which slips go there, s, ≥ 0.
    pub response: f32,
    /// Share of a wheel's foot brake that may hold a spinning wheel of an open differential, 0 to 1. At 0 the wheel with
    /// least grip decides for the engine, else the one with most.
    pub brakes: f32,
}

/// Launch control: with the throttle down and the car braked the engine stands at a speed, clutch open; once the brake is
/// let go, the clutch carries what the tyres take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchControl {
    /// Of the engine, rad/s, > 0.
    pub engine_speed: f32,
    /// As [`TractionControl::slip`].
    pub slip: f32,
    /// As [`TractionControl::least`].
    pub least: f32,
    /// As [`TractionControl::response`].
    pub response: f32,
    /// Speed up to which it acts, m/s, > 0.
    pub until: f32,
}

/// Cruise control: motors and engine hold the speed of [`crate::Controls::cruise`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CruiseControl {
    /// Time constant with which the speed goes there, s, > 0.
    pub response: f32,
    /// Largest acceleration it asks for, m/s², > 0.
    pub largest_acceleration: f32,
    /// Whether it regenerates and brakes where a closed throttle is not enough and the driver's foot is off the throttle.
    pub may_brake: bool,
}

/// Stability control: what the car turns too much or too little, one wheel's brake makes up for, and the throttle closes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StabilityControl {
    /// Understeer gradient of the car that is wanted, rad per m/s², ≥ 0.
    pub understeer: f32,
    /// Largest lateral acceleration that is asked of the tyres, m/s², > 0.
    pub largest_acceleration: f32,
    /// Slip angle of the rear axle beyond which the car is turned back, rad, > 0.
    pub largest_sideslip: f32,
    /// Yaw rate by which the car may be off, rad/s, ≥ 0.
    pub tolerance: f32,
    /// Time constant with which the yaw rate is brought back, s, ≥ 0.
    pub response: f32,
    /// Slip ratio behind the road that its brakes do not exceed, 0 to 1.
    pub slip: f32,
    /// It does nothing below the first speed and all it can above the second, m/s.
    pub fades_in: [f32; 2],
}

impl Default for StabilityControl {
    fn default() -> Self {
        Self {
            understeer: 0.002,
            largest_acceleration: 8.0,
            largest_sideslip: 0.1,
            tolerance: 0.05,
            response: 0.1,
            slip: 0.15,
            fades_in: [4.2, 7.0],
        }
    }
}

/// Counter-steer: a gain times the mean slip angle of the wheels is added to the steering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CounterSteer {
    /// Rad of steering per rad of slip, ≥ 0.
    pub gain: f32,
    /// Most it adds, rad, ≥ 0.
    pub authority: f32,
    /// It does nothing below the first speed and all it can above the second, m/s.
    pub fades_in: [f32; 2],
}

/// Steering whose lock and rate fall with speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedSteering {
    /// All of both is left below the first speed, the shares above the second, m/s; smooth between.
    pub between: [f32; 2],
    /// Shares of lock and rate that are left, each in (0, 1].
    pub shares: [f32; 2],
}

impl Assists {
    /// Whether any of them changes what the driver asks for.
    #[inline(always)]
    pub(crate) fn change_demand(&self) -> bool {
        let Self { speed_steering, counter_steer, cruise, stability, .. } = self;
        speed_steering.is_some() | counter_steer.is_some() | cruise.is_some() | stability.is_some()
    }

    /// Whether any of them changes what engine and motors give.
    #[inline(always)]
    pub(crate) fn change_drive(&self) -> bool {
        self.traction.is_some() | self.launch.is_some() | self.cruise.is_some()
    }

    /// Returns true if any assist has to change brakes or drive, with so much of the foot brake asked for, of a car that may have motors.
    #[inline(always)]
    pub(crate) fn change_torques(&self, brake: f32, has_motors: bool) -> bool {
        self.change_drive() | self.stability.is_some() | (self.abs.is_some() && (brake > 0.0 || has_motors))
    }

    pub(crate) fn check(&self) -> Result<(), ModelError> {
        if let Some(anti_lock) = &self.abs {
            share("slip of the anti-lock brakes", anti_lock.slip)?;
            not_negative("response of the anti-lock brakes", anti_lock.response)?;
            not_negative("speed below which anti-lock brakes are off", anti_lock.off_below)?;
        }
        if let Some(stability) = &self.stability {
            not_negative("understeer gradient of the stability control", stability.understeer)?;
            positive("largest acceleration of the stability control", stability.largest_acceleration)?;
            positive("largest sideslip angle of the stability control", stability.largest_sideslip)?;
            not_negative("tolerance of the stability control", stability.tolerance)?;
            not_negative("response of the stability control", stability.response)?;
            share("slip of the stability control's brakes", stability.slip)?;
            fading("stability control", stability.fades_in)?;
        }
        if let Some(traction) = &self.traction {
            share("slip of the traction control", traction.slip)?;
            positive("least slip speed of the traction control", traction.least)?;
            not_negative("response of the traction control", traction.response)?;
            not_negative("share of the brakes of the traction control", traction.brakes)?;
            not_negative("what the traction control leaves of the brakes", 1.0 - traction.brakes)?;
        }
        if let Some(launch) = &self.launch {
            positive("engine speed of the launch control", launch.engine_speed)?;
            share("slip of the launch control", launch.slip)?;
            positive("least slip speed of the launch control", launch.least)?;
            not_negative("response of the launch control", launch.response)?;
            positive("speed up to which launch control acts", launch.until)?;
        }
        if let Some(cruise) = &self.cruise {
            positive("response of the cruise control", cruise.response)?;
            positive("largest acceleration of the cruise control", cruise.largest_acceleration)?;
        }
        if let Some(counter_steer) = &self.counter_steer {
            not_negative("gain of the counter-steer assist", counter_steer.gain)?;
            not_negative("authority of the counter-steer assist", counter_steer.authority)?;
            fading("counter-steer assist", counter_steer.fades_in)?;
        }
        if let Some(speed_steering) = &self.speed_steering {
            fading("steering by speed", speed_steering.between)?;
            share("share of the lock", speed_steering.shares[0])?;
            share("share of the steering's rate", speed_steering.shares[1])?;
        }
        not_negative("distance by which the centre of mass is lowered", self.lowered_centre)?;
        not_negative("angular drag", self.angular_drag)
    }
}

fn share(part: &str, found: f32) -> Result<(), ModelError> {
    if found > 0.0 && found <= 1.0 {
        return Ok(());
    }
    Err(ModelError::OutOfRange { part: part.into(), found, accepts: "above 0 and at most 1" })
}

fn fading(assist: &str, [from, to]: [f32; 2]) -> Result<(), ModelError> {
    not_negative(&format!("speed from which the {assist} acts"), from)?;
    positive(&format!("range of speeds in which the {assist} fades in"), to - from)
}
