//! Columns of the telemetry of a car: their names, units and meanings.

use std::sync::Arc;

use skidpad_core::telemetry::frame::{HITCH_CHANNELS, HitchFrame, Shaft, VEHICLE_CHANNELS, WHEEL_CHANNELS};
use skidpad_core::{Assist, CarStart, Channel, Contribution, Model, Scene, SolverInfo, state::Placement};

/// Time step of the world whose columns are read (s).
const NAMING_DT_S: f32 = 0.01;

/// Returns the names of the telemetry columns of a car of `model` on `solver`, by building a world with one car. The
/// names depend on the wheels, shafts and assists of the model and on the non-physical aids of the solver.
pub fn column_names(solver: &SolverInfo, model: &Arc<Model>) -> Vec<String> {
    let start = CarStart { model: Arc::clone(model), placement: Placement::default() };
    (solver.build_world)(&Scene::flat(), &[start], NAMING_DT_S).frame(0).header(model)
}

/// Returns the channel (name, unit and meaning) of the telemetry column `name`, such as `load_n.1l`; `None` for another
/// name. A name without a point is a channel of the car. Otherwise the part behind the point selects the list: assists,
/// the hitch, or wheels. Shaft torques have one channel for all shafts.
pub fn channel_of_column(name: &str) -> Option<Channel> {
    let find = |list: &[Channel], name: &str| list.iter().find(|channel| channel.name == name).copied();
    let Some((quantity, part)) = name.split_once('.') else { return find(VEHICLE_CHANNELS, name) };
    if quantity == Shaft::TORQUE_CHANNEL.name {
        return Some(Shaft::TORQUE_CHANNEL);
    }
    if Assist::ALL.iter().any(|assist| assist.name() == part) {
        return find(&Contribution::CHANNELS, quantity);
    }
    find(if part == HitchFrame::NAME { HITCH_CHANNELS } else { WHEEL_CHANNELS }, quantity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{POINT_MASS, model};

    /// Every column of a car has a channel, and the part behind the point selects its list.
    #[test]
    fn every_column_has_its_channel() {
        let names = column_names(&POINT_MASS, &Arc::new(model()));
        assert!(names.len() > VEHICLE_CHANNELS.len() && names.iter().all(|name| channel_of_column(name).is_some()));
        let unit = |name| channel_of_column(name).map(|channel| channel.unit);
        assert_eq!([unit("vx_mps"), unit("load_n.1l"), unit("fx_n.hitch")], [Some("m/s"), Some("N"), Some("N")]);
        assert_eq!([unit("torque_nm.motor1"), unit("steer_rad.counter_steer")], [Some("N m"), Some("rad")]);
        assert_eq!([unit("vx"), unit("speed.1l"), unit("load_n.abs")], [None; 3]);
    }
}
