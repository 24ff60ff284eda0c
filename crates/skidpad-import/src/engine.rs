//! Engines of games as engines of vehicle files.

use crate::text::rounded;
use skidpad_spec::spec::{Clutch, CurvePoint, Differential, Engine, Gearbox, Powertrain};

/// Torque a clutch carries, in largest engine torques: games' clutches are viscous and have no limit.
const CLUTCH: f64 = 1.5;

/// Speed at which it is engaged, in idle speeds.
const ENGAGED: f64 = 1.5;

/// What games say of an engine and its gears. Speeds in rev/min.
#[derive(Clone, Debug)]
pub(crate) struct GameEngine {
    pub largest_torque: f64,
    pub idle: f64,
    pub limit: f64,
    pub inertia: f64,
    /// Share of the largest speed and of the largest torque.
    pub curve: Vec<[f64; 2]>,
    pub forward: Vec<f64>,
    /// As a positive number.
    pub reverse: f64,
    pub final_drive: f64,
    pub shift_time: f64,
    pub up: f64,
    pub down: f64,
}

/// The powertrain with `shares` of each axle, from the front, of any sum above 0; what is out of a vehicle file's range is found when that is read.
pub(crate) fn powertrain(engine: &GameEngine, shares: &[f64]) -> Powertrain {
    let sum: f64 = shares.iter().sum();
    let point = |[speed, torque]: &[f64; 2]| CurvePoint {
        rpm: rounded(speed * engine.limit),
        torque_nm: rounded(torque * engine.largest_torque),
    };
    let shares: Vec<f64> = shares.iter().map(|share| rounded(share / sum)).collect();
    Powertrain::Engine {
        engine: Box::new(Engine {
            torque_curve: engine.curve.iter().map(point).collect(),
            idle_rpm: rounded(engine.idle),
            limit_rpm: rounded(engine.limit),
            inertia_kg_m2: rounded(engine.inertia),
            drag_nm: 0.0,
            drag_nm_per_1000_rpm: 0.0,
            throttle_map: Vec::new(),
            stall_rpm: 0.0,
        }),
        clutch: Some(Clutch {
            capacity_nm: rounded(CLUTCH * engine.largest_torque),
            engaged_rpm: rounded(ENGAGED * engine.idle),
        }),
        converter: None,
        gearbox: Box::new(Gearbox {
            forward: engine.forward.iter().copied().map(rounded).collect(),
            reverse: rounded(engine.reverse),
            final_drive: rounded(engine.final_drive),
            efficiency: 1.0,
            shift_time_s: rounded(engine.shift_time),
            up_shift_rpm: rounded(engine.up),
            down_shift_rpm: rounded(engine.down),
            easy_up_shift_rpm: None,
            kick_down_rpm: None,
            continuous: None,
        }),
        differential: Differential { axle_shares: shares },
    }
}
