//! Changes of the start that a manoeuvre accepts. Any other change would alter the meaning of its metrics.

use core::f64::consts::TAU;
use core::fmt;

use skidpad_core::Model;

use super::{Overrides, Procedure, Setup};

/// Starts that a manoeuvre accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StartRequirements {
    /// Accepted initial speeds.
    pub speed: SpeedRule,
    /// Accepted positions and headings.
    pub place: PositionRule,
    /// Accepted ground.
    pub ground: GroundRule,
}

/// Accepted forward speeds at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpeedRule {
    /// Any speed, including backwards.
    Any,
    /// Speed of the manoeuvre itself only.
    Fixed,
    /// Any speed above this one (m/s).
    Above(f64),
}

/// Accepted positions and headings at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PositionRule {
    /// Any position and heading.
    Any,
    /// Origin, towards +x, where the line to follow begins.
    Origin,
}

/// Accepted ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GroundRule {
    /// Any scene and slope.
    Any,
    /// Any scene without a slope.
    Level,
    /// Ground of the manoeuvre itself only.
    Own,
}

impl StartRequirements {
    /// Any start.
    pub const ANY_START: Self = Self { speed: SpeedRule::Any, place: PositionRule::Any, ground: GroundRule::Any };
    /// Speed of the manoeuvre itself, from any place.
    pub const FIXED_SPEED: Self = Self { speed: SpeedRule::Fixed, ..Self::ANY_START };

    /// Speeds above 1 m/s, the smallest speed that [`crate::driver::PathFollower`] calculates with, from any place.
    pub const PATH_FOLLOWING: Self = Self::above(1.0);

    /// Accepts speeds above `speed_mps` (m/s), from any place.
    pub const fn above(speed_mps: f64) -> Self {
        Self { speed: SpeedRule::Above(speed_mps), ..Self::ANY_START }
    }

    /// Restricts the start to the origin, towards +x.
    pub const fn from_origin(self) -> Self {
        Self { place: PositionRule::Origin, ..self }
    }

    /// Restricts the ground to scenes without a slope.
    pub const fn on_level_ground(self) -> Self {
        Self { ground: GroundRule::Level, ..self }
    }

    /// Restricts the ground to that of the manoeuvre.
    pub const fn on_own_ground(self) -> Self {
        Self { ground: GroundRule::Own, ..self }
    }
}

/// Property of a start that can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartProperty {
    /// Initial speed, [`Overrides::initial_speed_mps`].
    Speed,
    /// Heading, [`Overrides::heading_rad`].
    Heading,
    /// Position, [`Overrides::start_m`].
    Place,
    /// Scene or slope, [`Overrides::scene`] and [`Overrides::slope_rad`].
    Ground,
}

/// Rejected change of the start.
#[derive(Clone, Debug, PartialEq)]
pub struct StartRejected {
    /// Changed property.
    pub change: StartProperty,
    /// Requested value, as text.
    pub found: String,
    /// Accepted values, as a sentence.
    pub accepts: String,
}

impl fmt::Display for StartRejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a start {} is not accepted: {}", self.found, self.accepts)
    }
}

impl core::error::Error for StartRejected {}

impl Overrides {
    /// Returns the setup of `manoeuvre` with the changes applied.
    ///
    /// # Errors
    /// Returns the first change that `manoeuvre` does not accept ([`Procedure::start_requirements`]), in the order
    /// ground, speed, heading, position. A manoeuvre that starts at the origin rejects a heading that is no whole
    /// number of turns, and any x or y that is not 0. Start heights, durations, trailers and parameters are not
    /// checked.
    pub fn setup(&self, manoeuvre: &dyn Procedure, model: &Model) -> Result<Setup, StartRejected> {
        let (setup, requirements) = (manoeuvre.setup(model), manoeuvre.start_requirements());
        let name = manoeuvre.name();
        // Arguments: changed property, requested value as text, accepted values as a sentence.
        let reject = |change, found, accepted| Err(StartRejected { change, found, accepts: accepted });
        if requirements.ground == GroundRule::Own && (self.scene.is_some() || self.slope_rad.is_some()) {
            let accepted = format!("`{name}` has its own ground");
            return reject(StartProperty::Ground, "on other ground".into(), accepted);
        }
        // The slope replaces that of the scene.
        let slope_rad = self.slope_rad.or(self.scene.as_ref().map(|scene| f64::from(scene.slope))).unwrap_or(0.0);
        if requirements.ground == GroundRule::Level && slope_rad != 0.0 {
            let found = format!("on a slope of {:.1}°", slope_rad.to_degrees());
            return reject(StartProperty::Ground, found, format!("`{name}` is defined on level ground"));
        }
        // Speed of the manoeuvre itself (m/s).
        let standard_speed = f64::from(setup.placement.speed);
        if let Some((speed, accepted)) =
            self.initial_speed_mps.zip(requirements.speed.rejection(self.initial_speed_mps, standard_speed))
        {
            return reject(StartProperty::Speed, format!("at {speed} m/s"), format!("`{name}` starts at {accepted}"));
        }
        let origin_rule = format!("`{name}` starts at the origin towards +x");
        // A heading of whole turns points along +x.
        let (must_start_at_origin, is_turned) =
            (requirements.place == PositionRule::Origin, |heading: f64| (heading / TAU).fract() != 0.0);
        if let Some(heading) = self.heading_rad.filter(|heading| must_start_at_origin && is_turned(*heading)) {
            return reject(
                StartProperty::Heading,
                format!("with a heading of {:.1}°", heading.to_degrees()),
                origin_rule,
            );
        }
        if let Some([x, y, _]) = self.start_m.filter(|[x, y, _]| must_start_at_origin && [*x, *y] != [0.0; 2]) {
            return reject(StartProperty::Place, format!("at x = {x} m, y = {y} m"), origin_rule);
        }
        Ok(self.apply(setup))
    }
}

impl SpeedRule {
    /// Returns a description of the accepted speeds if `speed` is not accepted; `None` if it is accepted or not given.
    /// `standard_speed` is the speed of the manoeuvre. Both speeds are in m/s. A fixed speed is compared as f32; the
    /// lower limit itself is not accepted.
    fn rejection(self, speed: Option<f64>, standard_speed: f64) -> Option<String> {
        let speed = speed?;
        match self {
            Self::Fixed if speed as f32 != standard_speed as f32 => Some(format!("{standard_speed:.3} m/s only")),
            Self::Above(smallest) if speed <= smallest => Some(format!("more than {smallest:.3} m/s")),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manoeuvre::{by_name, catalogue};
    use crate::testing::model;
    use skidpad_core::Scene;

    /// Returns the rejected property and the message for the standard manoeuvre `name` with `overrides`; `None` if the
    /// start is accepted.
    #[track_caller]
    fn refused(name: &str, overrides: &Overrides) -> Option<(StartProperty, String)> {
        let manoeuvre = by_name(name).expect("known").build_standard(overrides);
        overrides.setup(manoeuvre.as_ref(), &model()).err().map(|told| (told.change, told.to_string()))
    }

    /// Initial speeds that a manoeuvre does not accept are rejected with the accepted speeds in the message; others are
    /// accepted.
    #[test]
    fn speeds_that_change_what_a_figure_means_are_refused() {
        let at = |speed: f64| Overrides { initial_speed_mps: Some(speed), ..Overrides::default() };
        for (name, speed, words) in [
            ("circle", 30.0, "7.071 m/s"),
            ("acceleration", 20.0, "0.000 m/s only"),
            ("launch", 20.0, "0.000 m/s only"),
            ("drop-settle", 3.0, "0.000 m/s only"),
            ("park-hold", -3.0, "0.000 m/s only"),
            ("braking", -20.0, "more than 0.005 m/s"),
            ("coast-down", 3.0, "more than 4.167 m/s"),
            ("coast-down", -20.0, "more than 4.167 m/s"),
            ("step-steer", 0.0, "more than 1.000 m/s"),
            ("slalom", 0.0, "more than 1.000 m/s"),
            ("lane-change", -20.0, "more than 1.000 m/s"),
            ("moose", 0.0, "more than 1.000 m/s"),
        ] {
            let (change, told) = refused(name, &at(speed)).unwrap_or_else(|| panic!("{name} took {speed} m/s"));
            assert!(change == StartProperty::Speed && told.contains(words), "{name}: {told}");
        }
        for (name, speed) in
            [("acceleration", 0.0), ("braking", 20.0), ("coast-down", 5.0), ("moose", 12.0), ("coast-scene", -9.0)]
        {
            assert_eq!(refused(name, &at(speed)), None, "{name}");
        }
    }

    /// Slopes are rejected by manoeuvres with their own ground, and by tests that are defined on level ground.
    #[test]
    fn slopes_are_refused_where_they_change_what_a_figure_means() {
        let level = ["fmvss-126", "j-turn", "fishhook", "fishhook-fixed", "road-load"];
        let own = ["tilt-table", "split-mu", "gradeability"];
        let sloping = Scene { slope: 0.1, ..Scene::flat() };
        for (slope_rad, scene) in [(Some(0.1), None), (None, Some(sloping)), (None, Some(Scene::flat()))] {
            let is_sloping = slope_rad.is_some() || scene.as_ref().is_some_and(|scene| scene.slope != 0.0);
            let overrides = Overrides { slope_rad, scene, ..Overrides::default() };
            for entry in catalogue() {
                let is_refused = own.contains(&entry.name) || (is_sloping && level.contains(&entry.name));
                let told = refused(entry.name, &overrides).map(|(change, _)| change);
                assert_eq!(told, is_refused.then_some(StartProperty::Ground), "{}", entry.name);
            }
        }
    }

    /// Manoeuvres that follow a line accept only the origin and the heading +x, because the line does not turn with the
    /// car. All other manoeuvres accept any place and heading. Whole turns and another height are accepted by all.
    #[test]
    fn lines_are_followed_from_where_they_begin() {
        let followed = [
            "circle",
            "slalom",
            "lane-change",
            "moose",
            "power-off-in-turn",
            "braking-in-turn",
            "power-off-series",
            "braking-series",
            "elk-test",
            "skid-pad",
            "split-mu",
            "ride",
            "tilt-table",
        ];
        let towards = |degrees: f64| Overrides { heading_rad: Some(degrees.to_radians()), ..Overrides::default() };
        let from = |x: f64| Overrides { start_m: Some([x, 0.0, 0.1]), ..Overrides::default() };
        for entry in catalogue() {
            let is_followed = followed.contains(&entry.name);
            let told = refused(entry.name, &towards(180.0)).map(|(change, _)| change);
            assert_eq!(told, is_followed.then_some(StartProperty::Heading), "{}", entry.name);
            let told = refused(entry.name, &from(-12.0)).map(|(change, _)| change);
            assert_eq!(told, is_followed.then_some(StartProperty::Place), "{}", entry.name);
            for same in [towards(0.0), towards(-360.0), from(0.0), Overrides::default()] {
                assert_eq!(refused(entry.name, &same), None, "{}", entry.name);
            }
        }
    }
}
