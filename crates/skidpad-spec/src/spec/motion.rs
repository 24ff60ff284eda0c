//! What a scene file says of boxes that move by themselves.

use serde::{Deserialize, Serialize};
use skidpad_core::{Course, DVec3, Path, PathFault, Vec3, WayPoint};

/// How a box moves: with a velocity and a turn rate for ever, or along way points. Nothing that stands on it or hits it holds it up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MotionSpec {
    /// Velocity of its middle: x, y and z in the world, m/s.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -200, max = 200))))]
    pub velocity_mps: [f64; 3],
    /// Turn rate about its axis, degrees per second, by the right-hand rule: positive to the left about an axis that points up.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -3600, max = 3600)))]
    pub turn_rate_dps: f64,
    /// Axis through its middle about which it turns, x, y and z in the world, of any length. Absent: the vertical.
    #[serde(default = "vertical")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -1, max = 1))))]
    pub axis: [f64; 3],
    /// Places it passes, in place of a velocity and a turn rate; straight lines at constant speed between them.
    #[serde(default, rename = "way_point", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 10000)))]
    pub way_points: Vec<WayPointSpec>,
    /// Whether it goes round for ever, from the last way point on as from the first; both are at one place. Else it stops at the last.
    #[serde(default)]
    pub repeats: bool,
    /// Time over which the velocity changes evenly at each way point, half of it before and half after, s; at 0 it jumps.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10000)))]
    pub blend_s: f64,
}

/// A place that a box passes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WayPointSpec {
    /// When, s since the start.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1e6)))]
    pub time_s: f64,
    /// How far it is from where the box is described: x, y and z in the world, m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -1e6, max = 1e6))))]
    pub displacement_m: [f64; 3],
    /// How far it has turned about its axis, degrees; counts on beyond a full turn.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -1e6, max = 1e6)))]
    pub angle_deg: f64,
}

fn vertical() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}

impl MotionSpec {
    /// The axis, of length 1; `None` if it has no length.
    pub(crate) fn unit_axis(&self) -> Option<Vec3> {
        DVec3::from_array(self.axis).try_normalize().map(|axis| axis.as_vec3())
    }

    /// Whether it says with what velocity or turn rate it moves.
    pub(crate) fn is_steady(&self) -> bool {
        self.velocity_mps != [0.0; 3] || self.turn_rate_dps != 0.0
    }

    /// The course, SI units.
    pub(crate) fn course(&self) -> Result<Course, PathFault> {
        if self.way_points.is_empty() {
            let velocity = Vec3::from_array(self.velocity_mps.map(|v| v as f32));
            return Ok(Course::Steady { velocity, rate: self.turn_rate_dps.to_radians() as f32 });
        }
        let point = |of: &WayPointSpec| WayPoint {
            time: of.time_s,
            displacement: DVec3::from_array(of.displacement_m),
            angle: of.angle_deg.to_radians(),
        };
        Path::new(self.way_points.iter().map(point).collect(), self.repeats, self.blend_s).map(Course::Path)
    }
}
