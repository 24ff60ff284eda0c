//! Where and how a car starts.

/// Where and how a car starts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Placement {
    /// In the plane of the ground, m.
    pub x: f64,
    /// In the plane of the ground, m.
    pub y: f64,
    /// Of the wheels above the plane of the ground, m: the car is lifted as it stands, and its wheels hang down to what is
    /// below them, plane or box.
    pub height: f64,
    /// Turned to the left about the ground's normal, rad.
    pub heading: f32,
    /// Forward speed, m/s; wheels, gear and engine turn with it.
    pub speed: f32,
    /// Gear to start in; `None`: the gear the gearbox would choose.
    pub gear: Option<i8>,
}
