//! Double lane changes between cones.

use skidpad_core::{Controls, Frame, Model};

use super::{IncompleteCourse, KMH_100, Manoeuvre, Procedure, RUN_START_S, Setup, StartRequirements};
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
    /// more than [`LaneChangeCourse::LATERAL_LIMIT_SHARE`] of the lateral acceleration at which the car slides or rolls
    /// over.
    pub speed_mps: Option<f64>,
}

metrics! {
    /// Results between the cones. A run passes if it reaches the end and hits no cone. A run that does not reach the
    /// end reports only the cones it hit; one that was cut short has no metrics.
    LaneChangeMetrics {
        entry_speed_mps, "m/s", 3, "Speed at the entry", "When the front of the body passes the first cones.";
        exit_speed_mps, "m/s", 3, "Speed at the exit", "When the front of the body passes the last cones.";
        cones_hit, "-", 0, "Cones hit", "Each lane has three cones per side.";
        least_clearance_mm, "mm", 0, "Minimum clearance", "Lateral distance between body and nearest cone; negative if a cone is hit.";
        wheels_lifted, "-", 0, "Number of lifted wheels", "Wheels without load at any time.";
        least_load_percent, "%", 1, "Minimum wheel load", "Smallest load of any wheel, relative to its static load.";
        peak_steer_deg, "deg", 3, "Peak road-wheel angle", "Largest absolute mean road-wheel angle.";
        peak_yaw_rate_degps, "deg/s", 3, "Peak yaw rate", "Largest absolute value.";
        peak_lateral_acceleration_mps2, "m/s²", 3, "Peak lateral acceleration", "Largest absolute value.";
        peak_sideslip_deg, "deg", 3, "Peak sideslip angle", "Largest absolute value.";
        peak_roll_deg, "deg", 3, "Peak roll angle", "Largest absolute value.";
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

/// Lane between cones (m): from `start_x` to `end_x` along x, from `right_y` to `left_y` along y.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lane {
    /// Position along x at which the lane begins.
    start_x: f64,
    /// Position along x at which the lane ends.
    end_x: f64,
    /// Position of the right edge along y.
    right_y: f64,
    /// Position of the left edge along y.
    left_y: f64,
}

impl Lane {
    /// Returns the lateral position of the centre line (m, positive to the left).
    fn centre_y(&self) -> f64 {
        0.5 * (self.left_y + self.right_y)
    }

    /// Iterates over the pairs of cones, [x, y of the right cone, y of the left cone] (m).
    fn cones(&self) -> impl Iterator<Item = [f64; 3]> {
        let (start_x, length) = (self.start_x, self.end_x - self.start_x);
        let cone_x = move |i: u32| start_x + length * f64::from(i) / f64::from(CONES_PER_SIDE - 1);
        let (right_y, left_y) = (self.right_y, self.left_y);
        (0..CONES_PER_SIDE).map(move |i| [cone_x(i), right_y, left_y])
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
        let first_width = 1.1 * width + 0.25;
        let right_y = -0.5 * first_width;
        // Lane from `start` to `end` along x, measured from the first cones, with its right edge along y and its width
        // (m).
        let lane = |start: f64, end: f64, right_y: f64, lane_width: f64| Lane {
            start_x: LEAD_IN_M + start,
            end_x: LEAD_IN_M + end,
            right_y,
            left_y: right_y + lane_width,
        };
        match self {
            LaneChangeCourse::Double => [
                lane(0.0, 15.0, right_y, first_width),
                lane(45.0, 70.0, right_y + 3.5, 1.2 * width + 0.25),
                lane(95.0, 125.0, right_y, 1.3 * width + 0.25),
            ],
            LaneChangeCourse::Obstacle => [
                lane(0.0, 12.0, right_y, first_width),
                lane(25.5, 36.5, right_y + first_width + 1.0, width + 1.0),
                lane(49.0, 61.0, right_y, (1.3 * width + 0.25).max(3.0)),
            ],
        }
    }

    /// Share of the lateral acceleration limit of the car that the standard speed may use (–).
    pub const LATERAL_LIMIT_SHARE: f64 = 0.7;

    /// Returns the two lateral shifts of the path, from the centre of one lane to the centre of the next. A shift
    /// begins before the end of its lane and ends after the start of the next one. This reduces the curvature and keeps
    /// about 0.1 m clearance to every cone. `width` is the width of the body (m).
    fn shifts(self, width: f64) -> [LaneShift; 2] {
        let lanes = self.lanes(width);
        // Lengths by which each shift begins before the end of its lane and ends after the start of the next one (m).
        let overlaps = match self {
            LaneChangeCourse::Double => [[6.0, 6.0]; 2],
            LaneChangeCourse::Obstacle => [[4.0, 6.0], [5.0, 6.0]],
        };
        [0, 1].map(|i| {
            let (lane, next_lane, [lead, lag]) = (lanes[i], lanes[i + 1], overlaps[i]);
            LaneShift {
                lateral_shift_m: next_lane.centre_y() - lane.centre_y(),
                start_x_m: lane.end_x - lead,
                end_x_m: next_lane.start_x + lag,
            }
        })
    }

    /// Returns the largest curvature of the path for a body of width `width` (m) (1/m).
    fn max_curvature(self, width: f64) -> f64 {
        self.shifts(width).iter().fold(0.0, |largest, shift| shift.max_curvature().max(largest))
    }
}

/// Outline of the body seen from above (m): its centre ahead of the centre of mass, half its length and half its width.
struct BodyOutline {
    /// Distance of the centre ahead of the centre of mass.
    centre_offset: f64,
    half_length: f64,
    half_width: f64,
}

impl BodyOutline {
    /// Reads the outline from the hull of `model`.
    fn new(model: &Model) -> Self {
        let hull = &model.parts().hull;
        let [centre_offset, half_length, half_width] =
            [hull.centre.x, hull.half_extents.x, hull.half_extents.y].map(f64::from);
        Self { centre_offset, half_length, half_width }
    }

    /// Returns the distance of the front of the body ahead of the centre of mass (m).
    fn front_offset(&self) -> f64 {
        self.centre_offset + self.half_length
    }

    /// Computes the range of y, lowest and highest (m), that the rectangular outline of the body covers on the line x =
    /// `x` (m) in the pose of `frame`. `None` if the outline does not reach the line. Roll and pitch are neglected.
    fn y_range_at(&self, frame: &Frame, x: f64) -> Option<[f64; 2]> {
        let (sin, cos) = frame.yaw_rad.sin_cos();
        // Corner on the front (1) or rear (−1), left (1) or right (−1) side.
        let corner = |longitudinal_sign: f64, lateral_sign: f64| {
            // Position of the corner ahead of and to the left of the centre of mass (m).
            let (ahead, left) =
                (self.centre_offset + longitudinal_sign * self.half_length, lateral_sign * self.half_width);
            // x relative to the line, and y.
            [frame.x_m + ahead * cos - left * sin - x, frame.y_m + ahead * sin + left * cos]
        };
        // In order around the outline.
        let corners = [corner(1.0, 1.0), corner(-1.0, 1.0), corner(-1.0, -1.0), corner(1.0, -1.0)];
        let mut y_range: Option<[f64; 2]> = None;
        for i in 0..4 {
            let ([x0, y0], [x1, y1]) = (corners[i], corners[(i + 1) % 4]);
            // An edge on one side of the line does not cross it.
            if (x0 > 0.0) == (x1 > 0.0) {
                continue;
            }
            // Intersection of the edge with the line, where the relative x is 0.
            let y = y0 + (y1 - y0) * x0 / (x0 - x1);
            y_range = Some(y_range.map_or([y, y], |[low, high]| [low.min(y), high.max(y)]));
        }
        y_range
    }
}

impl LaneChange {
    /// Returns the speed at the entry (m/s): that of [`Self::speed_mps`] if given, otherwise 80 km/h (double) or 50
    /// km/h (obstacle), reduced to `√(0.7 a / κ)` if this is lower. `a` is the smaller of grip limit and rollover
    /// threshold (m/s²), `κ` the largest curvature of the path (1/m). A missing limit does not count; without both the
    /// speed is not reduced.
    pub fn speed(&self, model: &Model) -> f64 {
        self.speed_mps.unwrap_or_else(|| {
            let standard_speed = match self.course {
                LaneChangeCourse::Double => 0.8 * KMH_100,
                LaneChangeCourse::Obstacle => 0.5 * KMH_100,
            };
            // `None`: no aerodynamic forces.
            let acceleration_limits =
                [grip_limit(model, None), rollover(model).map(|threshold| threshold.lateral_acceleration.abs())];
            let acceleration_limit = acceleration_limits.into_iter().flatten().fold(f64::INFINITY, f64::min);
            // Largest curvature of the path (1/m).
            let curvature = self.course.max_curvature(2.0 * BodyOutline::new(model).half_width);
            standard_speed.min((LaneChangeCourse::LATERAL_LIMIT_SHARE * acceleration_limit / curvature).sqrt())
        })
    }

    /// Returns the end of the course along x (m), after the last lane and the straight behind it.
    fn course_end_m(&self) -> f64 {
        // The length does not depend on the width of the body.
        self.course.lanes(1.0)[2].end_x + LEAD_OUT_M
    }

    /// Computes the metrics of a run. All are `None` for a run that was cut short, that is, ended before its planned
    /// duration and before the end of the course.
    ///
    /// The clearance at a cone is the smallest lateral distance of the body outline from the cone, in all telemetry
    /// rows in which the outline covers the x of the cone. It is negative if the cone is hit. Cones that the car never
    /// passes are left out. A run that did not reach the end reports the number of cones hit and the least clearance
    /// only if a cone was hit.
    ///
    /// Speeds are those over the ground when the front of the body passes the first and the last cones. Lifted wheels
    /// had no load in some row. Peaks are largest magnitudes over the whole run.
    pub fn measure(&self, model: &Model, trajectory: &Trajectory) -> LaneChangeMetrics {
        let incomplete_course = self.incomplete_reason(model, trajectory);
        if incomplete_course.is_some_and(|run| run.cut_short) {
            return LaneChangeMetrics::default();
        }
        let outline = BodyOutline::new(model);
        let lanes = self.course.lanes(2.0 * outline.half_width);
        // Two clearances per pair of cones (m), in the order right, left.
        let clearances: Vec<f64> = lanes
            .iter()
            .flat_map(Lane::cones)
            .flat_map(|[x, right_y, left_y]| {
                // Infinite while the body has not reached the cones.
                let mut smallest = [f64::INFINITY; 2];
                for [low, high] in trajectory.rows().filter_map(|f| outline.y_range_at(&f, x)) {
                    // Clearances to the right and to the left cone.
                    smallest = [smallest[0].min(low - right_y), smallest[1].min(left_y - high)];
                }
                smallest
            })
            .filter(|clearance| clearance.is_finite())
            .collect();
        let least_clearance = clearances.iter().map(|c| 1e3 * c).min_by(f64::total_cmp);
        let is_finished = incomplete_course.is_none();
        // Time at which the front of the body reaches `x` (m).
        let passing_time = |x: f64| trajectory.first_crossing_up(x, RUN_START_S, |f| f.x_m + outline.front_offset());
        let speed_at_passing =
            |x: f64| passing_time(x).map(|t| trajectory.interpolate_at(t, ground_speed::speed_over_ground));
        let peak_degrees = |channel: fn(&Frame) -> f64| Some(trajectory.peak_magnitude(channel).to_degrees());
        // Whether a wheel had no load in some row, the start included.
        let has_lifted = |i: &usize| trajectory.rows().any(|f| f.wheels[*i].load_n <= 0.0);
        LaneChangeMetrics {
            entry_speed_mps: speed_at_passing(lanes[0].start_x),
            exit_speed_mps: speed_at_passing(lanes[2].end_x),
            cones_hit: Some(clearances.iter().filter(|c| **c < 0.0).count() as f64)
                .filter(|cones_hit| is_finished || *cones_hit > 0.0),
            least_clearance_mm: least_clearance.filter(|clearance| is_finished || *clearance < 0.0),
            wheels_lifted: Some((0..model.wheels().len()).filter(has_lifted).count() as f64),
            least_load_percent: trajectory.min_load_percent(model),
            peak_steer_deg: peak_degrees(|f| f.steer_rad),
            peak_yaw_rate_degps: peak_degrees(|f| f.yaw_rate_radps),
            peak_lateral_acceleration_mps2: Some(trajectory.peak_magnitude(|f| f.ay_mps2)),
            peak_sideslip_deg: peak_degrees(|f| f.vy_mps.atan2(f.vx_mps)),
            peak_roll_deg: peak_degrees(|f| f.roll_rad),
        }
    }
}

/// Natural frequency of the path controller (rad/s); high, because the whole course takes only about four seconds.
const PATH_FREQUENCY_RADPS: f64 = 4.0;

/// Driver that follows the path between the cones at a constant speed. It coasts after the throttle release of
/// [`LaneChangeCourse::Obstacle`].
struct LaneChangeDriver {
    lane_change: LaneChange,
    /// Speed to hold (m/s).
    speed_mps: f64,
    /// Front of the body ahead of the centre of mass (m).
    front_offset: f64,
    characteristics: Characteristics,
    speed_controller: TorqueSpeedController,
    path_follower: PathFollower,
}

impl DriverModel for LaneChangeDriver {
    /// Steers along the path and holds the speed by torques at the driven wheels. In [`LaneChangeCourse::Obstacle`]
    /// the car coasts once its front is 2 m behind the first cones.
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        let steer = self.path_follower.steer(input, &self.characteristics) as f32;
        // Position of the front after the first cones (m).
        let distance_after_entry = input.frame.x_m + self.front_offset - LEAD_IN_M;
        if self.lane_change.course == LaneChangeCourse::Obstacle && distance_after_entry > THROTTLE_RELEASE_M {
            return Controls { steer, ..CoastDriver.drive(input) };
        }
        Controls { steer, ..self.speed_controller.controls(input, self.speed_mps) }
    }
    fn finished(&self, input: &DriverInput<'_>) -> bool {
        input.frame.x_m > self.lane_change.course_end_m()
    }
}

impl Manoeuvre for LaneChange {
    fn name(&self) -> &'static str {
        match self.course {
            LaneChangeCourse::Double => "lane-change",
            LaneChangeCourse::Obstacle => "moose",
        }
    }
    /// Names the standard of the course and whether the speed is held or the car coasts. The speed is part of the text
    /// only if it is given; a standard speed depends on the car.
    fn about(&self) -> String {
        let (standard, speed_text) = match self.course {
            LaneChangeCourse::Double => ("3888-1", "constant speed"),
            LaneChangeCourse::Obstacle => ("3888-2", "coasting from 2 m after the first cones"),
        };
        match self.speed_mps {
            Some(speed) => format!("course of ISO {standard} between cones at {speed:.1} m/s, {speed_text}"),
            None => format!("course of ISO {standard} between cones, {speed_text}"),
        }
    }
    /// Returns level ground and twice the time that the course needs at the entry speed.
    fn setup(&self, model: &Model) -> Setup {
        let speed = self.speed(model);
        Setup { duration_s: 2.0 * self.course_end_m() / speed.max(0.1), ..Setup::flat(speed) }
    }
    /// Returns the lane change with the entry speed of `model`, because the grip limit takes longer to compute than a
    /// second of driving. `None` if the entry speed is given.
    fn resolve_parameters(&self, model: &Model) -> Option<Box<dyn Procedure>> {
        let is_open = self.speed_mps.is_none();
        is_open.then(|| -> Box<dyn Procedure> { Box::new(Self { speed_mps: Some(self.speed(model)), ..*self }) })
    }
    /// Returns the cones of all three lanes, in pairs of right and left cone. The lane widths depend on the body of
    /// `model`.
    fn cones(&self, model: &Model) -> Vec<(f64, f64)> {
        let lanes = self.course.lanes(2.0 * BodyOutline::new(model).half_width);
        lanes.iter().flat_map(Lane::cones).flat_map(|[x, right_y, left_y]| [(x, right_y), (x, left_y)]).collect()
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::PATH_FOLLOWING.from_origin()
    }
    fn incomplete_reason(&self, model: &Model, trajectory: &Trajectory) -> Option<IncompleteCourse> {
        IncompleteCourse::check(self, model, trajectory, self.course_end_m())
    }
    /// Creates a driver that follows the shifts between the lanes at the entry speed, without integral gain.
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        let outline = BodyOutline::new(model);
        Box::new(LaneChangeDriver {
            lane_change: *self,
            speed_mps: self.speed(model),
            front_offset: outline.front_offset(),
            characteristics: Characteristics::new(model),
            speed_controller: TorqueSpeedController::default(),
            // Arguments: path, natural frequency, integral gain (0.0: none).
            path_follower: PathFollower::new(
                ReferencePath::Lanes(self.course.shifts(2.0 * outline.half_width)),
                PATH_FREQUENCY_RADPS,
                0.0,
            ),
        })
    }
    /// Computes the metrics of [`LaneChange::measure`], followed by the rearward amplification of each trailer,
    /// without values for a run that was cut short.
    fn metrics(&self, model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        let is_cut_short = self.incomplete_reason(model, trajectory).is_some_and(|run| run.cut_short);
        let amplification = rearward_amplification(trajectory).into_iter();
        let mut metrics = self.measure(model, trajectory).list();
        metrics.extend(amplification.map(|metric| if is_cut_short { metric.with_value(None) } else { metric }));
        metrics
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, sampled};

    /// A car 1.80 m wide has lanes 2.23, 2.80 and 3.00 m wide; the second is 3.515 m to the left. The centres of the
    /// lanes of ISO 3888-1 agree with a path file of another program.
    #[test]
    fn the_lanes_of_a_known_car() {
        let lanes = LaneChangeCourse::Obstacle.lanes(1.8);
        let widths = lanes.map(|l| l.left_y - l.right_y);
        for (found, expected) in widths.iter().zip([2.23, 2.80, 3.00]) {
            assert!((found - expected).abs() < 1e-9, "{widths:?}");
        }
        assert!((lanes[1].centre_y() - lanes[0].centre_y() - 3.515).abs() < 1e-9);
        // A path file for 3888-1 of another program shifts by 3.586 m and ends at 0.172 m for a width of 1.72 m.
        let lanes = LaneChangeCourse::Double.lanes(1.72).map(|l| l.centre_y());
        assert!((lanes[1] - lanes[0] - 3.586).abs() < 1e-9 && (lanes[2] - lanes[0] - 0.172).abs() < 1e-9);
    }

    /// A car 0.5 m beside the centre of its lane hits the cones on that side and no others. The entry speed is that of
    /// the run. The least clearance is positive only without a hit.
    #[test]
    fn cones_are_hit_on_the_side_the_car_is_on() {
        let model = testing::model();
        let run = LaneChange { course: LaneChangeCourse::Obstacle, speed_mps: Some(20.0) };
        let [first, second, third] = run.course.lanes(2.0 * BodyOutline::new(&model).half_width);
        for (off, hit) in [(0.0, 0.0), (0.5, 3.0), (-0.5, 3.0)] {
            let driven = sampled(0.01, 5.0, |t, frame| {
                frame.x_m = 20.0 * t;
                frame.vx_mps = 20.0;
                let between = |a: &Lane, b: &Lane| frame.x_m < 0.5 * (a.end_x + b.start_x);
                let lane = if between(&first, &second) {
                    &first
                } else if between(&second, &third) {
                    &second
                } else {
                    &third
                };
                frame.y_m = lane.centre_y() + if lane == &first { off } else { 0.0 };
            });
            let found = run.measure(&model, &driven);
            assert_eq!((found.cones_hit, found.entry_speed_mps), (Some(hit), Some(20.0)), "{off}");
            assert_eq!(found.least_clearance_mm.is_some_and(|c| c > 0.0), hit == 0.0);
        }
    }

    /// A run that was cut short, and a car that stays on the course, do not report zero cones hit. Cones hit before the
    /// car stays are reported. Peaks are missing only for the run that was cut short.
    #[test]
    fn a_course_that_is_not_finished_is_not_passed() {
        let (model, run) = (testing::model(), LaneChange { course: LaneChangeCourse::Obstacle, speed_mps: Some(20.0) });
        // A car that drives straight at y = `aside` (m) and stays at x = 30 m.
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

    /// A turned body covers `width / cos(yaw)` on a line through its middle, and nothing on a line beyond its corners.
    #[test]
    fn a_turned_body_is_wider() {
        let outline = BodyOutline { centre_offset: 0.0, half_length: 2.0, half_width: 1.0 };
        let frame = Frame { x_m: 10.0, yaw_rad: 0.3, ..Frame::default() };
        let [low, high] = outline.y_range_at(&frame, 10.0).expect("under it");
        assert!((high - 1.0 / 0.3f64.cos()).abs() < 1e-12 && (low + high).abs() < 1e-12);
        assert_eq!(outline.y_range_at(&frame, 12.3), None);
    }
}
