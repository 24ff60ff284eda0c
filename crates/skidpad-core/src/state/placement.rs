//! Placement of a car at the start.

/// Position, heading, speed and gear of a car at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Placement {
    /// Coordinate x in the plane of the ground, m.
    pub x: f64,
    /// Coordinate y in the plane of the ground, m.
    pub y: f64,
    /// Height of the wheels above the plane of the ground, m. The car is lifted in its pose at rest, and its wheels
    /// droop to the ground below them.
    pub height: f64,
    /// Heading: rotation to the left about the ground's normal, rad.
    pub heading: f32,
    /// Forward speed, m/s. Wheels, gear and engine turn accordingly.
    pub speed: f32,
    /// Gear at the start; `None` for the gear that the gearbox would choose.
    pub gear: Option<i8>,
}
