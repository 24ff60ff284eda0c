//! Conversion of tables over jounce: toe angle, camber angle and height of the tyre forces.

use crate::Import;
use crate::car::{Corner, ForcePoint, JounceCurve, SourcedNumber, ToeCamberTables, sourced};
use crate::vehicle_file::round_digits;
use skidpad_spec::spec::Kinematics;

/// Difference of angles above which a note is added (rad).
const NOTED_ANGLE_RAD: f64 = 1e-4;

/// Difference of heights above which a note is added (m).
const NOTED_HEIGHT_M: f64 = 1e-4;

/// Position of the wheels of an axle in their travel at rest (m).
#[derive(Clone, Copy, Debug)]
pub(crate) struct RestPosition {
    /// Height of the contact points at rest, in the frame of the source.
    pub height: f64,
    /// Travel from rest to full bump and to full droop, each > 0.
    pub travel: [f64; 2],
}

/// Returns the height above the ground at which the tyre forces of an axle act at rest (m), the mean over the wheels. A
/// wheel without a force point counts as 0. A point of the body counts with its height at rest. Returns `None` if no
/// wheel has a force point. Adds a note if a wheel differs from the mean by more than [`NOTED_HEIGHT_M`].
///
/// If the first force point is a constant height, the mean is returned with its origin. If it is a point of the body,
/// the mean is limited to at least 0 and a note is added, because in the vehicle file its height above the ground is
/// constant.
pub(crate) fn force_point(group: &[&Corner], rest: RestPosition, import: &mut Import<'_>) -> Option<SourcedNumber> {
    let first_force_point = group.iter().find_map(|wheel| wheel.force_point.as_ref())?;
    let height = |wheel: &Corner| match &wheel.force_point {
        None => 0.0,
        Some(ForcePoint::AboveGround(number)) => number.value,
        // At rest the compression from full droop is the droop travel, `travel[1]`.
        Some(ForcePoint::OnBody(heights)) => heights.evaluate_at(rest.travel[1]) - rest.height,
    };
    let mean_height = group.iter().map(|wheel| height(wheel)).sum::<f64>() / group.len() as f64;
    if group.iter().any(|wheel| (height(wheel) - mean_height).abs() > NOTED_HEIGHT_M) {
        import.add_note(&group[0].path, "left and right tyre forces act at different heights: the mean is used");
    }
    if let ForcePoint::AboveGround(number) = first_force_point {
        return Some(SourcedNumber { value: mean_height, ..number.clone() });
    }
    // From here on the height is that of a point of the body.
    let position_text = if mean_height < 0.0 {
        "below the ground: set to ground level"
    } else {
        "above the ground at rest: a non-physical aid, kept"
    };
    import.add_note(
        &group[0].path,
        format!(
            "tyre forces act at a point of the body, {:.3} m {position_text}; in the vehicle file this height is constant",
            mean_height.abs()
        ),
    );
    Some(sourced(mean_height.max(0.0), "at rest, by tireForceAppPoint and suspensionAttachment"))
}

/// Returns toe and camber at rest (degrees, positive for toe-in and for the top outwards) and their change over the
/// travel as parabolas (degrees/m, degrees/m²). The change is `None` if both angles are constant. Without tables all
/// angles are 0. Tables of a single wheel are left out with a note.
pub(crate) fn toe_and_camber(
    group: &[&Corner],
    rest: RestPosition,
    import: &mut Import<'_>,
) -> ([f64; 2], Option<Kinematics>) {
    if group.iter().all(|wheel| wheel.toe_camber.is_none()) {
        return ([0.0; 2], None);
    }
    if group.len() == 1 {
        import.add_note(&group[0].path, "toe and camber over jounce of a single wheel on an axle: not imported");
        return ([0.0; 2], None);
    }
    let toe = Parabola::fit(group, rest, |tables| &tables.toe, "toe", import);
    let camber = Parabola::fit(group, rest, |tables| &tables.camber, "camber", import);
    // Only an angle that changes over the travel needs coefficients.
    let is_variable = [toe, camber].iter().any(|parabola| parabola.linear != 0.0 || parabola.quadratic != 0.0);
    let kinematics = Kinematics {
        toe_deg_per_m: round_digits(toe.linear.to_degrees()),
        toe_deg_per_m2: round_digits(toe.quadratic.to_degrees()),
        camber_deg_per_m: round_digits(camber.linear.to_degrees()),
        camber_deg_per_m2: round_digits(camber.quadratic.to_degrees()),
    };
    ([toe, camber].map(|parabola| round_digits(parabola.at_rest.to_degrees())), is_variable.then_some(kinematics))
}

/// Parabola over the compression from rest (m) through the values of a table at full droop, at rest and at full bump
/// (rad).
#[derive(Clone, Copy, Debug)]
struct Parabola {
    /// Angle at rest (rad).
    at_rest: f64,
    /// Linear coefficient (rad/m).
    linear: f64,
    /// Quadratic coefficient (rad/m²).
    quadratic: f64,
}

impl Parabola {
    /// Fits the parabola to the mean of the tables of left and right wheel, the first and second wheel of `group`.
    /// `select_table` returns the table of one angle, which notes call `angle_name`. The parabola passes through the
    /// mean at full droop, at rest and at full bump. If the mean slopes between these points differ by at most 1e-9
    /// rad/m, the parabola is a line. Adds a note if left and right differ at these points by more than
    /// [`NOTED_ANGLE_RAD`], and a note if the parabola deviates by more than [`NOTED_ANGLE_RAD`] from a point of the
    /// tables. A wheel without tables counts as 0.
    fn fit(
        group: &[&Corner],
        rest: RestPosition,
        select_table: fn(&ToeCamberTables) -> &JounceCurve,
        angle_name: &str,
        import: &mut Import<'_>,
    ) -> Self {
        let [bump, droop] = rest.travel;
        // Toe-in and outward camber have opposite signs in the source on the left and the right wheel.
        let sign = |i: usize| if i == 0 { -1.0 } else { 1.0 };
        // Angle of wheel `i` at the compression `jounce` from full droop, rad.
        let angle = |i: usize, jounce: f64| {
            group[i].toe_camber.as_ref().map_or(0.0, |tables| sign(i) * select_table(tables).evaluate_at(jounce))
        };
        let mean = |jounce: f64| 0.5 * (angle(0, jounce) + angle(1, jounce));
        // Compressions from full droop: at full droop, at rest, at full bump (m).
        let fit_points = [0.0, droop, droop + bump];
        if fit_points.iter().any(|&jounce| (angle(0, jounce) - angle(1, jounce)).abs() > NOTED_ANGLE_RAD) {
            import
                .add_note(&group[0].path, format!("left and right {angle_name} over jounce differ: the mean is used"));
        }
        let [at_droop, at_rest, at_bump] = fit_points.map(mean);
        // Mean slopes from rest to bump and from droop to rest, rad/m.
        let (bump_slope, droop_slope) = ((at_bump - at_rest) / bump, (at_rest - at_droop) / droop);
        // In a straight table the difference of the slopes is only rounding.
        let curvature = (bump_slope - droop_slope) / (bump + droop);
        let quadratic = if (bump_slope - droop_slope).abs() > 1e-9 { curvature } else { 0.0 };
        // The linear coefficient is the slope at rest.
        let parabola = Self { at_rest, linear: bump_slope - quadratic * bump, quadratic };
        let table_points =
            group.iter().filter_map(|wheel| wheel.toe_camber.as_ref()).flat_map(|tables| &select_table(tables).0);
        let max_deviation = table_points
            .map(|point| (mean(point[0]) - parabola.evaluate_at(point[0] - droop)).abs())
            .fold(0.0, f64::max);
        if max_deviation > NOTED_ANGLE_RAD {
            let degrees = max_deviation.to_degrees();
            import.add_note(
                &group[0].path,
                format!("{angle_name} becomes a parabola through droop, rest and bump, up to {degrees:.2} degrees from the table"),
            );
        }
        parabola
    }

    /// Returns the angle (rad) at a `compression` from rest (m).
    fn evaluate_at(&self, compression: f64) -> f64 {
        self.at_rest + (self.linear + self.quadratic * compression) * compression
    }
}
