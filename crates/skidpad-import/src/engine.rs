//! Conversion of engines and gearboxes of game engines to powertrains of vehicle files.

use crate::vehicle_file::round_digits;
use skidpad_spec::spec::{Clutch, CurvePoint, Differential, Engine, Gearbox, Powertrain};

/// Clutch capacity as a multiple of the largest engine torque. The clutches of the sources are viscous and have no
/// capacity.
const CLUTCH_CAPACITY_RATIO: f64 = 1.5;

/// Engine speed at which the clutch is engaged, as a multiple of the idle speed.
const ENGAGED_SPEED_RATIO: f64 = 1.5;

/// Engine and gearbox of a game engine. Speeds are in rev/min.
#[derive(Clone, Debug)]
pub(crate) struct GameEngine {
    /// Largest torque (N m).
    pub max_torque: f64,
    /// Idle speed.
    pub idle_rpm: f64,
    /// Largest speed.
    pub limit_rpm: f64,
    /// Moment of inertia (kg m²).
    pub inertia: f64,
    /// Torque curve, as pairs of shares: of the largest speed, of the largest torque.
    pub curve: Vec<[f64; 2]>,
    /// Forward ratios, first gear first.
    pub forward: Vec<f64>,
    /// Reverse ratio, as a positive number.
    pub reverse: f64,
    /// Final drive ratio.
    pub final_drive: f64,
    /// Shift time (s).
    pub shift_time: f64,
    /// Speed of up-shifts.
    pub up_shift_rpm: f64,
    /// Speed of down-shifts.
    pub down_shift_rpm: f64,
}

/// Builds the powertrain of a vehicle file: engine, clutch, gearbox and differential. `raw_shares` are the torque
/// shares of the axles from the front, with any sum above 0; they are divided by their sum.
///
/// The torque curve is scaled by the largest speed and torque. The clutch carries [`CLUTCH_CAPACITY_RATIO`] times the
/// largest torque, and is engaged at [`ENGAGED_SPEED_RATIO`] times the idle speed. Engine drag, gearbox losses and the
/// stall speed are 0, and there is no throttle map. All numbers are rounded to nine digits. Values out of range are not
/// checked here; they are faults when the vehicle file is read.
pub(crate) fn powertrain(engine: &GameEngine, raw_shares: &[f64]) -> Powertrain {
    let share_sum: f64 = raw_shares.iter().sum();
    let to_curve_point = |[speed, torque]: &[f64; 2]| CurvePoint {
        rpm: round_digits(speed * engine.limit_rpm),
        torque_nm: round_digits(torque * engine.max_torque),
    };
    let torque_split: Vec<f64> = raw_shares.iter().map(|share| round_digits(share / share_sum)).collect();
    Powertrain::Engine {
        engine: Box::new(Engine {
            torque_curve: engine.curve.iter().map(to_curve_point).collect(),
            idle_rpm: round_digits(engine.idle_rpm),
            limit_rpm: round_digits(engine.limit_rpm),
            inertia_kg_m2: round_digits(engine.inertia),
            drag_nm: 0.0,
            drag_nm_per_1000_rpm: 0.0,
            throttle_map: Vec::new(),
            stall_rpm: 0.0,
        }),
        clutch: Some(Clutch {
            capacity_nm: round_digits(CLUTCH_CAPACITY_RATIO * engine.max_torque),
            engaged_rpm: round_digits(ENGAGED_SPEED_RATIO * engine.idle_rpm),
        }),
        converter: None,
        gearbox: Box::new(Gearbox {
            forward: engine.forward.iter().copied().map(round_digits).collect(),
            reverse: round_digits(engine.reverse),
            final_drive: round_digits(engine.final_drive),
            efficiency: 1.0,
            shift_time_s: round_digits(engine.shift_time),
            up_shift_rpm: round_digits(engine.up_shift_rpm),
            down_shift_rpm: round_digits(engine.down_shift_rpm),
            light_throttle_up_shift_rpm: None,
            kick_down_rpm: None,
            continuous: None,
        }),
        differential: Differential { torque_split },
    }
}
