//! Double lane changes between cones.

use skidpad_core::{Controls, Frame, Model};

use super::{IncompleteCourse, KMH_100, Manoeuvre, Setup, StartRequirements};
use crate::closed_form::Characteristics;
use crate::closed_form::cornering::grip_limit;
use crate::closed_form::steady_state::rollover;
use crate::driver::{
    CoastDriver, DriverInput, DriverModel, LaneShift, PathFollower, ReferencePath, TorqueSpeedController,
};
use crate::ground_speed;
use crate::metrics::{Metric, metrics};
use crate::towing::rearward_amplification;
use crate::trajectory::Trajectory;

/// Standard that defines the cones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneChangeCourse {
    /// ISO 3888-1, double lane change: 125 m, at constant speed.
    Double,
    /// ISO 3888-2, obstacle avoidance, known as the moose test: 61 m, with the throttle released 2 m after the entry.
    Obstacle,
}

/// Double lane change between cones. The lane widths depend on the width of the car.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneChange {
    /// Standard that defines the cones.
    pub course: LaneChangeCourse,
    /// Speed at the entry (m/s), > 0. `None`: 80 km/h (double) or 50 km/h (obstacle), reduced if the path would need
    /// more than [`LaneChangeCourse::LATERAL_LIMIT_SHARE`] of the lateral acceleration at which the car slides or rolls over.
    pub speed_mps: Option<f64>,
}

metrics! {
    /// Results between the cones. A run passes if it reaches the end and hits no cone. A run that does not reach the
    /// end reports only the cones it hit; one that was cut short has no metrics.
    LaneChangeMetrics {
        entry_speed_mps, "m/s", 3, "Speed at the entry", "When the front of the body passes the first cones.";
        exit_speed_mps, "m/s", 3, "Speed at the exit", "When the front of the body passes the last cones.";
        cones_hit, "-", 0, "Cones hit", "Of the three that stand on each side of each lane.";
        least_clearance_mm, "mm", 0, "Least clearance", "Between the body and any cone, across the lanes; negative where one is hit.";
        wheels_lifted, "-", 0, "Wheels that lifted", "How many had no load at some time.";
        least_load_percent, "%", 1, "Least wheel load", "Of any wheel at any time, of its static load.";
        peak_steer_deg, "deg", 3, "Peak road-wheel angle", "Mean road-wheel angle, by size.";
        peak_yaw_rate_degps, "deg/s", 3, "Peak yaw rate", "By size.";
        peak_lateral_acceleration_mps2, "m/s²", 3, "Peak lateral acceleration", "By size.";
        peak_sideslip_deg, "deg", 3, "Peak sideslip angle", "By size.";
        peak_roll_deg, "deg", 3, "Peak roll angle", "By size.";
    }
}

/// Length of the straight before the first cones (m), on which the car settles on its springs and in its lane.
const LEAD_IN_M: f64 = 20.0;
/// Length of the straight after the last cones (m).
const LEAD_OUT_M: f64 = 5.0;
/// Distance from the first cones at which the throttle is released (m), in [`LaneChangeCourse::Obstacle`].
const THROTTLE_RELEASE_M: f64 = 2.0;
/// Number of cones on each side of a lane: at both ends and in the middle.
const CONES_PER_SIDE: u32 = 3;

/// Lane between cones (m): `from` and `to` along x, `right` and `left` along y.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lane {
    /// Position along x at which the lane begins.
    from: f64,
    /// Position along x at which the lane ends.
    to: f64,
    /// Position of the right edge along y.
    right: f64,
    /// Position of the left edge along y.
    left: f64,
}

impl Lane {
    /// Returns the lateral position of the centre line (m, positive to the left).
    fn centre(&self) -> f64 {
        0.5 * (self.left + self.right)
    }

    /// Iterates over the pairs of cones, [x, y of the right cone, y of the left cone] (m).
    fn cones(&self) -> impl Iterator<Item = [f64; 3]> {
        let (from, length) = (self.from, self.to - self.from);
        let x = move |i: u32| from + length * f64::from(i) / f64::from(CONES_PER_SIDE - 1);
        let (right, left) = (self.right, self.left);
        (0..CONES_PER_SIDE).map(move |i| [x(i), right, left])
    }
}

impl LaneChangeCourse {
    /// Computes the three lanes for a body of width `width` (m). The first lane is centred on the x axis and begins
    /// [`LEAD_IN_M`] after the origin.
    ///
    /// Lengths, widths and distances are those of ISO 3888-1:2018 and ISO 3888-2:2011, as used by public test scripts.
    /// The lateral distance between lanes is measured from right edge to right edge in 3888-1, and from left edge to
    /// right edge in 3888-2. The last lane of 3888-2 is at least 3 m wide.
    fn lanes(self, width: f64) -> [Lane; 3] {
        let first = 1.1 * width + 0.25;
        let right = -0.5 * first;
        // Lane from and to these positions after the first cones, with its right edge and its width (m).
        let lane = |from: f64, to: f64, right: f64, wide: f64| Lane {
            from: LEAD_IN_M + from,
            to: LEAD_IN_M + to,
            right,
            left: right + wide,
        };
        match self {
            LaneChangeCourse::Double => [
                lane(0.0, 15.0, right, first),
                lane(45.0, 70.0, right + 3.5, 1.2 * width + 0.25),
                lane(95.0, 125.0, right, 1.3 * width + 0.25),
            ],
            LaneChangeCourse::Obstacle => [
                lane(0.0, 12.0, right, first),
                lane(25.5, 36.5, right + first + 1.0, width + 1.0),
                lane(49.0, 61.0, right, (1.3 * width + 0.25).max(3.0)),
            ],
        }
    }

    /// Share of the lateral acceleration limit of the car that the standard speed may use (–).
    pub const LATERAL_LIMIT_SHARE: f64 = 0.7;

    /// Returns the two lateral shifts of the path, from the centre of one lane to the centre of the next. A shift
    /// begins before the end of its lane and ends after the start of the next one. This reduces the curvature and keeps
    /// about 0.1 m clearance to every cone.
    fn shifts(self, width: f64) -> [LaneShift; 2] {
        let lanes = self.lanes(width);
        // Lengths by which each shift begins before the end of its lane and ends after the start of the next one (m).
        let overlap = match self {
            LaneChangeCourse::Double => [[6.0, 6.0]; 2],
            LaneChangeCourse::Obstacle => [[4.0, 6.0], [5.0, 6.0]],
        };
        [0, 1].map(|i| {
            let (a, b, [before, after]) = (lanes[i], lanes[i + 1], overlap[i]);
            LaneShift { left: b.centre() - a.centre(), from: a.to - before, to: b.from + after }
        })
    }

    /// Returns the largest curvature of the path for a body of width `width` (m) (1/m).
    fn max_curvature(self, width: f64) -> f64 {
        self.shifts(width).iter().fold(0.0, |most, shift| shift.max_curvature().max(most))
    }
}

/// Outline of the body seen from above (m): its centre ahead of the centre of mass, half its length and half its width.
struct BodyOutline {
    /// Distance of the centre ahead of the centre of mass.
    ahead: f64,
    half_length: f64,
    half_width: f64,
}

impl BodyOutline {
    /// Reads the outline from the hull of `model`.
    fn of(model: &Model) -> Self {
        let hull = &model.parts().hull;
        let [ahead, half_length, half_width] = [hull.centre.x, hull.half_extents.x, hull.half_extents.y].map(f64::from);
        Self { ahead, half_length, half_width }
    }

    /// Returns the distance of the front of the body ahead of the centre of mass (m).
    fn front(&self) -> f64 {
        self.ahead + self.half_length
    }

    /// Computes the range [lowest y, highest y] that the rectangular outline of the body covers on the line x = `x`
    /// (m) in the pose of `frame`; `None` if it does not reach it. Roll and pitch are neglected.
    fn y_range_at(&self, frame: &Frame, x: f64) -> Option<[f64; 2]> {
        let (sin, cos) = frame.yaw_rad.sin_cos();
        // Corner on the front (1) or rear (−1), left (1) or right (−1) side.
        let corner = |along: f64, across: f64| {
            let (u, v) = (self.ahead + along * self.half_length, across * self.half_width);
            // x relative to the line, and y.
            [frame.x_m + u * cos - v * sin - x, frame.y_m + u * sin + v * cos]
        };
        let corners = [corner(1.0, 1.0), corner(-1.0, 1.0), corner(-1.0, -1.0), corner(1.0, -1.0)];
        let mut found: Option<[f64; 2]> = None;
        for i in 0..4 {
            let ([x0, y0], [x1, y1]) = (corners[i], corners[(i + 1) % 4]);
            // An edge on one side of the line does not cross it.
            if (x0 > 0.0) == (x1 > 0.0) {
                continue;
            }
            let y = y0 + (y1 - y0) * x0 / (x0 - x1);
            found = Some(found.map_or([y, y], |[low, high]| [low.min(y), high.max(y)]));
        }
        found
    }
}

impl LaneChange {
    /// Returns the speed at the entry (m/s): that of [`Self::speed_mps`] if given, otherwise 80 km/h (double) or 50
    /// km/h (obstacle), reduced to `√(0.7 a / κ)` if this is lower. `a` is the smaller of grip limit and rollover
    /// threshold, `κ` the largest curvature of the path.
    pub fn speed(&self, model: &Model) -> f64 {
        self.speed_mps.unwrap_or_else(|| {
            let standard = match self.course {
                LaneChangeCourse::Double => 0.8 * KMH_100,
                LaneChangeCourse::Obstacle => 0.5 * KMH_100,
            };
            let allowed = [grip_limit(model, None), rollover(model).map(|s| s.lateral_acceleration.abs())];
            let least = allowed.into_iter().flatten().fold(f64::INFINITY, f64::min);
            // Largest curvature (1/m).
            let bend = self.course.max_curvature(2.0 * BodyOutline::of(model).half_width);
            standard.min((LaneChangeCourse::LATERAL_LIMIT_SHARE * least / bend).sqrt())
        })
    }

    /// Returns the end of the course along x (m), after the last lane and the straight behind it.
    fn end_m(&self) -> f64 {
        // The length does not depend on the width of the body.
        self.course.lanes(1.0)[2].to + LEAD_OUT_M
    }

    /// Computes the metrics of a run. All are `None` for a run that was cut short. The clearance at a cone is the
    /// smallest lateral distance of the body outline from it in any row in which the outline covers the x of the
    /// cone, negative if it is hit. Cones hit and least clearance of a run that did not reach the end are reported
    /// only if a cone was hit. Speeds are those at which the front of the body passes the first and the last cones.
    pub fn measure(&self, model: &Model, trajectory: &Trajectory) -> LaneChangeMetrics {
        let unfinished = self.incomplete_reason(model, trajectory);
        if unfinished.is_some_and(|run| run.cut_short) {
            return LaneChangeMetrics::default();
        }
        let outline = BodyOutline::of(model);
        let lanes = self.course.lanes(2.0 * outline.half_width);
        let clearances: Vec<f64> = lanes
            .iter()
            .flat_map(Lane::cones)
            .flat_map(|[x, right, left]| {
                let mut least = [f64::INFINITY; 2];
                for [low, high] in trajectory.rows().filter_map(|f| outline.y_range_at(&f, x)) {
                    // Clearances to the right and to the left cone.
                    least = [least[0].min(low - right), least[1].min(left - high)];
                }
                least
            })
            .filter(|clearance| clearance.is_finite())
            .collect();
        let least = clearances.iter().map(|c| 1e3 * c).min_by(f64::total_cmp);
        let finished = unfinished.is_none();
        let passes = |x: f64| trajectory.first_crossing_up(x, 0.0, |f| f.x_m + outline.front());
        let speed_at = |x: f64| passes(x).map(|t| trajectory.interpolate_at(t, ground_speed::speed_over_ground));
        let degrees = |channel: fn(&Frame) -> f64| Some(trajectory.peak_magnitude(channel).to_degrees());
        // Whether a wheel had no load in some row, the start included.
        let lifted = |i: &usize| trajectory.rows().any(|f| f.wheels[*i].load_n <= 0.0);
        LaneChangeMetrics {
            entry_speed_mps: speed_at(lanes[0].from),
            exit_speed_mps: speed_at(lanes[2].to),
            cones_hit: Some(clearances.iter().filter(|c| **c < 0.0).count() as f64)
                .filter(|hit| finished || *hit > 0.0),
            least_clearance_mm: least.filter(|least| finished || *least < 0.0),
            wheels_lifted: Some((0..model.wheels().len()).filter(lifted).count() as f64),
            least_load_percent: trajectory.min_load_percent(model),
            peak_steer_deg: degrees(|f| f.steer_rad),
            peak_yaw_rate_degps: degrees(|f| f.yaw_rate_radps),
            peak_lateral_acceleration_mps2: Some(trajectory.peak_magnitude(|f| f.ay_mps2)),
            peak_sideslip_deg: degrees(|f| f.vy_mps.atan2(f.vx_mps)),
            peak_roll_deg: degrees(|f| f.roll_rad),
        }
    }
}

/// Natural frequency of the path controller (rad/s); high, because the whole course takes only about four seconds.
const PATH_FREQUENCY_RADPS: f64 = 4.0;

/// Driver that follows the path between the cones at a constant speed. It coasts after the throttle release of
/// [`LaneChangeCourse::Obstacle`].
struct LaneChangeDriver {
    run: LaneChange,
    /// Speed to hold (m/s).
    speed_mps: f64,
    /// Front of the body ahead of the centre of mass (m).
    front: f64,
    figures: Characteristics,
    cruise: TorqueSpeedController,
    path: PathFollower,
}

impl DriverModel for LaneChangeDriver {
    /// Steers along the path and holds the speed by torques at the driven wheels. In [`LaneChangeCourse::Obstacle`]
    /// the car coasts once its front is 2 m behind the first cones.
    fn drive(&mut self, now: &DriverInput<'_>) -> Controls {
        let steer = self.path.steer(now, &self.figures) as f32;
        // Position of the front after the first cones (m).
        let entered = now.frame.x_m + self.front - LEAD_IN_M;
        if self.run.course == LaneChangeCourse::Obstacle && entered > THROTTLE_RELEASE_M {
            return Controls { steer, ..CoastDriver.drive(now) };
        }
        Controls { steer, ..self.cruise.controls(now, self.speed_mps) }
    }
    fn finished(&self, now: &DriverInput<'_>) -> bool {
        now.frame.x_m > self.run.end_m()
    }
}

impl Manoeuvre for LaneChange {
    fn name(&self) -> &'static str {
        match self.course {
            LaneChangeCourse::Double => "lane-change",
            LaneChangeCourse::Obstacle => "moose",
        }
    }
    fn about(&self) -> String {
        let (standard, pedal) = match self.course {
            LaneChangeCourse::Double => ("3888-1", "speed held"),
            LaneChangeCourse::Obstacle => ("3888-2", "rolling out from 2 m after the first cones"),
        };
        match self.speed_mps {
            Some(speed) => format!("between the cones of ISO {standard} at {speed:.1} m/s, {pedal}"),
            None => format!("between the cones of ISO {standard}, {pedal}"),
        }
    }
    /// Returns level ground and twice the time that the course needs at the entry speed.
    fn setup(&self, model: &Model) -> Setup {
        let speed = self.speed(model);
        Setup { duration_s: 2.0 * self.end_m() / speed.max(0.1), ..Setup::flat(speed) }
    }
    fn cones(&self, model: &Model) -> Vec<(f64, f64)> {
        let lanes = self.course.lanes(2.0 * BodyOutline::of(model).half_width);
        lanes.iter().flat_map(Lane::cones).flat_map(|[x, right, left]| [(x, right), (x, left)]).collect()
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::PATH_FOLLOWING.from_origin()
    }
    fn incomplete_reason(&self, model: &Model, trajectory: &Trajectory) -> Option<IncompleteCourse> {
        IncompleteCourse::check(self, model, trajectory, self.end_m())
    }
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        let outline = BodyOutline::of(model);
        Box::new(LaneChangeDriver {
            run: *self,
            speed_mps: self.speed(model),
            front: outline.front(),
            figures: Characteristics::new(model),
            cruise: TorqueSpeedController::default(),
            // The last argument, 0.0, is the integral gain.
            path: PathFollower::new(
                ReferencePath::Lanes(self.course.shifts(2.0 * outline.half_width)),
                PATH_FREQUENCY_RADPS,
                0.0,
            ),
        })
    }
    /// Computes the metrics of [`LaneChange::measure`], followed by the rearward amplification of each trailer,
    /// without values for a run that was cut short.
    fn metrics(&self, model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        let cut_short = self.incomplete_reason(model, trajectory).is_some_and(|run| run.cut_short);
        let amplification = rearward_amplification(trajectory).into_iter();
        let mut metrics = self.measure(model, trajectory).list();
        metrics.extend(amplification.map(|metric| if cut_short { metric.with_value(None) } else { metric }));
        metrics
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, sampled};

    /// A car 1.80 m wide has lanes 2.23, 2.80 and 3.00 m wide; the second is 3.515 m to the left.
    #[test]
    fn the_lanes_of_a_known_car() {
        let lanes = LaneChangeCourse::Obstacle.lanes(1.8);
        let widths = lanes.map(|l| l.left - l.right);
        for (found, expected) in widths.iter().zip([2.23, 2.80, 3.00]) {
            assert!((found - expected).abs() < 1e-9, "{widths:?}");
        }
        assert!((lanes[1].centre() - lanes[0].centre() - 3.515).abs() < 1e-9);
        // A path file for 3888-1 of another program shifts by 3.586 m and ends at 0.172 m for a width of 1.72 m.
        let lanes = LaneChangeCourse::Double.lanes(1.72).map(|l| l.centre());
        assert!((lanes[1] - lanes[0] - 3.586).abs() < 1e-9 && (lanes[2] - lanes[0] - 0.172).abs() < 1e-9);
    }

    /// A car 0.5 m beside the centre of its lane hits the cones on that side and no others.
    #[test]
    fn cones_are_hit_on_the_side_the_car_is_on() {
        let model = testing::model();
        let run = LaneChange { course: LaneChangeCourse::Obstacle, speed_mps: Some(20.0) };
        let [first, second, third] = run.course.lanes(2.0 * BodyOutline::of(&model).half_width);
        for (off, hit) in [(0.0, 0.0), (0.5, 3.0), (-0.5, 3.0)] {
            let driven = sampled(0.01, 5.0, |t, frame| {
                frame.x_m = 20.0 * t;
                frame.vx_mps = 20.0;
                let between = |a: &Lane, b: &Lane| frame.x_m < 0.5 * (a.to + b.from);
                let lane = if between(&first, &second) {
                    &first
                } else if between(&second, &third) {
                    &second
                } else {
                    &third
                };
                frame.y_m = lane.centre() + if lane == &first { off } else { 0.0 };
            });
            let found = run.measure(&model, &driven);
            assert_eq!((found.cones_hit, found.entry_speed_mps), (Some(hit), Some(20.0)), "{off}");
            assert_eq!(found.least_clearance_mm.is_some_and(|c| c > 0.0), hit == 0.0);
        }
    }

    /// A run that was cut short, and a car that stays on the course, do not report zero cones hit. Cones hit before the
    /// car stays are reported.
    #[test]
    fn a_course_that_is_not_finished_is_not_passed() {
        let (model, run) = (testing::model(), LaneChange { course: LaneChangeCourse::Obstacle, speed_mps: Some(20.0) });
        let told = |duration: f64, aside: f64| {
            let driven = sampled(0.01, duration, |t, frame| {
                frame.x_m = (20.0 * t).min(30.0);
                frame.y_m = aside;
                frame.roll_rad = 0.1;
            });
            let (found, left) = (run.measure(&model, &driven), run.incomplete_reason(&model, &driven));
            assert!((left.expect("30 of 86 m").reached_m - 30.0).abs() < 1e-9);
            (found.cones_hit, found.least_clearance_mm.is_some(), found.peak_roll_deg.is_some())
        };
        assert_eq!(told(2.0, 0.0), (None, false, false));
        assert_eq!(told(8.6, 0.0), (None, false, true));
        assert_eq!(told(8.6, 0.5), (Some(2.0), true, true));
    }

    #[test]
    fn a_turned_body_is_wider() {
        let outline = BodyOutline { ahead: 0.0, half_length: 2.0, half_width: 1.0 };
        let frame = Frame { x_m: 10.0, yaw_rad: 0.3, ..Frame::default() };
        let [low, high] = outline.y_range_at(&frame, 10.0).expect("under it");
        assert!((high - 1.0 / 0.3f64.cos()).abs() < 1e-12 && (low + high).abs() < 1e-12);
        assert_eq!(outline.y_range_at(&frame, 12.3), None);
    }
}
