//! Extent of the ground of a scene, and the check whether a car has left it.

use skidpad_core::{DVec3, FixedBox, Frame, Scene};

/// Depth below the lowest ground at which a car counts as fallen off (m). The value exceeds the penetration depth of
/// hulls.
const FALL_DEPTH_M: f64 = 1.0;

/// Last time and position at which a wheel of a car carried load before the car left the ground of its scene.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OffScene {
    /// Time since the start of the run (s).
    pub t_s: f64,
    /// Position along the world's x axis (m).
    pub x_m: f64,
    /// Position along the world's y axis (m).
    pub y_m: f64,
}

impl OffScene {
    /// Reads time and position from `frame`.
    pub fn from_frame(frame: &Frame) -> Self {
        Self { t_s: frame.t_s, x_m: frame.x_m, y_m: frame.y_m }
    }

    /// Formats the end of a sentence whose subject is the driven car or solver.
    pub fn text(&self) -> String {
        let Self { t_s, x_m, y_m } = self;
        format!("left the ground of the scene after {t_s:.2} s at x = {x_m:.1} m, y = {y_m:.1} m; the run ends there")
    }
}

/// Axis-aligned bounding box of all ground of a scene (world axes, m).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneBounds {
    /// Corner with the smallest coordinates.
    low: DVec3,
    /// Corner with the largest coordinates.
    high: DVec3,
}

impl SceneBounds {
    /// Computes the bounding box of the boxes, height fields and meshes of `scene`. `None` for a scene with a plane,
    /// which has no end, and for one with platforms, which can move under a falling car. Free bodies and mesh vertices
    /// without a triangle do not count. The box of a scene without any ground is inverted, so every car is outside.
    pub fn new(scene: &Scene) -> Option<Self> {
        if scene.has_plane || !scene.platforms.is_empty() {
            return None;
        }
        let mut corners: Vec<DVec3> = scene.boxes.iter().flat_map(corners_of).collect();
        for field in &scene.height_fields {
            let ([columns, rows], spacing) = (field.counts(), field.spacing().map(f64::from));
            let size = DVec3::new((columns - 1) as f64 * spacing[0], (rows - 1) as f64 * spacing[1], 0.0);
            // The lowest height at one corner of the field and the highest at the opposite corner span its box.
            let heights = || (0..rows).flat_map(|row| (0..columns).map(move |column| field.height(column, row)));
            let [lowest, highest] = [heights().fold(f32::MAX, f32::min), heights().fold(f32::MIN, f32::max)];
            corners.push(field.origin() + DVec3::Z * f64::from(lowest));
            corners.push(field.origin() + size + DVec3::Z * f64::from(highest));
        }
        for mesh in &scene.meshes {
            let used_corners = mesh.triangles().iter().flatten().map(|&corner| mesh.vertices()[corner as usize]);
            corners.extend(used_corners.map(|corner| mesh.origin() + corner.as_dvec3()));
        }
        let expand = |bounds: Self, corner: DVec3| Self { low: bounds.low.min(corner), high: bounds.high.max(corner) };
        Some(corners.into_iter().fold(Self { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY }, expand))
    }

    /// Returns true if the car of `frame` has left the ground: no wheel carries load, and the centre of mass is outside
    /// the bounding box horizontally or more than 1 m below it. Returns false for a position that is not finite.
    pub fn is_off(&self, frame: &Frame) -> bool {
        let position = DVec3::new(frame.x_m, frame.y_m, frame.z_m);
        // Per axis: inside the box horizontally, and above its bottom less the fall depth, at any height.
        let is_within_bounds =
            position.cmpge(self.low - DVec3::Z * FALL_DEPTH_M) & position.cmple(self.high.with_z(f64::INFINITY));
        // A position that is not finite is reported by the step, not here.
        position.is_finite() && !is_within_bounds.all() && !is_supported(frame)
    }
}

/// Returns whether at least one wheel carries load.
pub fn is_supported(frame: &Frame) -> bool {
    frame.wheels.iter().any(|wheel| wheel.load_n > 0.0)
}

/// Returns the corners of a box in world axes (m).
fn corners_of(fixed_box: &FixedBox) -> [DVec3; 8] {
    core::array::from_fn(|i| {
        // Bit 0 of the corner number selects the side along x, bit 1 along y, bit 2 along z.
        // Side of the corner (−1 or 1).
        let sign = |bit: usize| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
        let corner = fixed_box.half_extents.as_dvec3() * DVec3::new(sign(0), sign(1), sign(2));
        fixed_box.centre + fixed_box.rotation.as_dquat() * corner
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use skidpad_core::{HeightField, Platform, PlatformCourse, TriangleMesh, Vec3, WheelFrame};
    use std::sync::Arc;

    /// Builds a row with the centre of mass at the given position (m) and the load `load_n` (N) on each of four wheels.
    fn frame([x_m, y_m, z_m]: [f64; 3], load_n: f64) -> Frame {
        Frame { x_m, y_m, z_m, wheels: vec![WheelFrame { load_n, ..WheelFrame::default() }; 4], ..Frame::default() }
    }

    /// Builds a scene with a box from 0 to 10 m, a height field from 20 to 24 m and a mesh from 30 to 31 m. The scene
    /// has no plane. One vertex of the mesh belongs to no triangle.
    fn patches() -> Scene {
        let table = FixedBox::axis_aligned(DVec3::new(5.0, 0.0, -0.5), Vec3::new(10.0, 4.0, 1.0));
        let heights = vec![0.0, 0.2, -3.0, 0.1];
        let field = HeightField::new(DVec3::new(20.0, -2.0, 0.0), [4.0; 2], [2, 2], heights, false, 1.0);
        // The last corner belongs to no triangle.
        let corners = vec![Vec3::ZERO, Vec3::X, Vec3::new(0.0, 1.0, 0.5), Vec3::splat(500.0)];
        let mesh = TriangleMesh::new(DVec3::new(30.0, 0.0, 0.0), corners, vec![[0, 1, 2]], 0.5, 1.0);
        Scene {
            has_plane: false,
            boxes: vec![table],
            height_fields: vec![Arc::new(field.expect("a field"))],
            meshes: vec![Arc::new(mesh.expect("a mesh"))],
            ..Scene::flat()
        }
    }

    /// The bounds enclose all three shapes. A car without wheel loads is off beside them or more than 1 m below; above
    /// them, between them, at a position that is not finite or with a loaded wheel it is not.
    #[test]
    fn a_car_beside_all_ground_or_below_it_has_left_it() {
        let extent = SceneBounds::new(&patches()).expect("it ends");
        assert_eq!(extent, SceneBounds { low: DVec3::new(0.0, -2.0, -3.0), high: DVec3::new(31.0, 2.0, 0.5) });
        for (at, left) in [
            ([5.0, 0.0, 0.5], false),
            // Between two pieces of ground, and high above them.
            ([15.0, 0.0, 0.5], false),
            ([15.0, 0.0, 90.0], false),
            ([15.0, 0.0, -3.9], false),
            ([15.0, 0.0, -4.1], true),
            ([31.5, 0.0, 0.5], true),
            ([-0.5, 0.0, 0.5], true),
            ([5.0, 2.5, 90.0], true),
            ([5.0, f64::NAN, 0.5], false),
        ] {
            assert_eq!(extent.is_off(&frame(at, 0.0)), left, "{at:?}");
            assert!(!extent.is_off(&frame(at, 1.0)), "{at:?}: a wheel stands");
        }
    }

    #[test]
    fn planes_have_no_end_and_platforms_may_come() {
        assert_eq!(SceneBounds::new(&Scene { has_plane: true, ..patches() }), None);
        let box_below = FixedBox::axis_aligned(DVec3::ZERO, Vec3::ONE);
        let course = PlatformCourse::Steady { velocity: Vec3::X, rate: 0.0 };
        let platforms = vec![Platform { shape: box_below, axis: Vec3::Z, course }];
        assert_eq!(SceneBounds::new(&Scene { platforms, ..patches() }), None);
    }
}
