//! Motion of boxes in a scene file.

use serde::{Deserialize, Serialize};
use skidpad_core::{DVec3, PlatformCourse, PlatformPath, PlatformPathFault, Vec3, WayPoint};

/// Motion of a box: constant velocity and turn rate, or a path along way points. Loads and collisions do not affect
/// it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KinematicSpec {
    /// Velocity of the centre: x, y and z in the world, m/s.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -200, max = 200))))]
    pub velocity_mps: [f64; 3],
    /// Turn rate about `axis`, degrees per second, by the right-hand rule: positive to the left about an axis that
    /// points up.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -3600, max = 3600)))]
    pub turn_rate_deg_per_s: f64,
    /// Axis of rotation through the centre: x, y and z in the world, of any length above 0. Absent: the vertical.
    #[serde(default = "vertical_axis")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -1, max = 1))))]
    pub axis: [f64; 3],
    /// Way points, in place of a velocity and a turn rate. Between them the box moves along straight lines at
    /// constant speed.
    #[serde(default, rename = "way_point", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 10000)))]
    pub way_points: Vec<WayPointSpec>,
    /// Whether the path repeats for ever; its last way point must then be at the place of the first. Otherwise the
    /// box stops at the last way point.
    #[serde(default, rename = "loop")]
    pub is_loop: bool,
    /// Duration of the linear change of velocity at each way point, half of it before the point and half after, s. At
    /// 0 the velocity jumps.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10000)))]
    pub blend_time_s: f64,
}

/// Way point of the path of a box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WayPointSpec {
    /// Time since the start, s.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1e6)))]
    pub time_s: f64,
    /// Displacement from the described position of the box: x, y and z in the world, m.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -1e6, max = 1e6))))]
    pub displacement_m: [f64; 3],
    /// Rotation about the axis from the described pose, degrees; may exceed a full turn.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -1e6, max = 1e6)))]
    pub angle_deg: f64,
}

/// Returns the default axis of the rotation: upwards.
fn vertical_axis() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}

impl KinematicSpec {
    /// Returns the axis as a unit vector; `None` if its length is 0.
    pub(crate) fn unit_axis(&self) -> Option<Vec3> {
        DVec3::from_array(self.axis).try_normalize().map(|axis| axis.as_vec3())
    }

    /// Returns whether the velocity or the turn rate is not 0.
    pub(crate) fn has_velocity(&self) -> bool {
        self.velocity_mps != [0.0; 3] || self.turn_rate_deg_per_s != 0.0
    }

    /// Returns the course, SI units: the path through the way points (with its loop flag and blend time, s) if there
    /// are any, otherwise the constant velocity (m/s) and turn rate (rad/s). Angles become rad.
    ///
    /// # Errors
    /// Returns the fault of the way points if they are not a valid path.
    pub(crate) fn course(&self) -> Result<PlatformCourse, PlatformPathFault> {
        if self.way_points.is_empty() {
            let velocity = Vec3::from_array(self.velocity_mps.map(|v| v as f32));
            return Ok(PlatformCourse::Steady { velocity, rate: self.turn_rate_deg_per_s.to_radians() as f32 });
        }
        let to_way_point = |way_point: &WayPointSpec| WayPoint {
            time: way_point.time_s,
            displacement: DVec3::from_array(way_point.displacement_m),
            angle: way_point.angle_deg.to_radians(),
        };
        PlatformPath::new(self.way_points.iter().map(to_way_point).collect(), self.is_loop, self.blend_time_s)
            .map(PlatformCourse::Path)
    }
}
