//! Steady cornering beyond the linear range: tyre curves under the loads that roll moves.

use skidpad_core::tyre::Conditions;
use skidpad_core::{Model, Vec3};

use super::steady_state::{self, SteadyState};
use super::{Figures, drive_shares};

/// Lateral acceleration at which the understeer gradient with load transfer is told, m/s²: 0.4 g, where road cars
/// leave their linear range.
pub const JUDGED_AT: f64 = 3.924;

/// Largest slip angle looked at, rad.
const MOST_SLIP: f64 = 0.6;

/// Steering needed beyond the geometric angle at `lateral_acceleration` m/s² and high speed, rad: with `L / R` gone, axle
/// `i` slips by `β − sᵢ δ`, the forces across the path sum to `m a_y` and their moments to nothing. Loads are those of
/// [`steady_state::corner`], toe and camber from its travel and roll. Tyres push square to their wheels and turn the car by their aligning
/// moments. The drive holds the speed against what their side forces and rolling resistance brake, and takes its part of the friction.
///
/// `None` when the tyres cannot hold it, or have no creep.
pub fn extra_steer(model: &Model, lateral_acceleration: f64) -> Option<f64> {
    let steady = steady_state::corner(model, lateral_acceleration)?;
    let wanted = f64::from(model.mass()) * lateral_acceleration;
    let shares = drive_shares(model);
    // Force across the path and yaw moment at sideslip β and steering δ.
    let pull = |beta: f64, delta: f64| {
        let tyres: Vec<Slipping> = (0..shares.len()).map(|i| Slipping::of(model, &steady, i, [beta, delta])).collect();
        let braked: f64 = tyres.iter().map(|tyre| tyre.aside * tyre.slip.sin() + tyre.rolling).sum();
        let mut sums = [0.0; 2];
        for ((tyre, wheel), share) in tyres.iter().zip(model.wheels()).zip(&shares) {
            let [across, turning] = tyre.pull(share * braked, wheel.contact);
            sums[0] += across;
            sums[1] += turning;
        }
        sums
    };
    // For each δ the β that gives the force; then the δ that leaves no moment.
    let sideslip = |delta: f64| rising_root(|slip| pull(-slip, delta)[0] - wanted, -MOST_SLIP, MOST_SLIP);
    let moment = |delta: f64| sideslip(delta).map_or(f64::NAN, |slip| pull(-slip, delta)[1]);
    rising_root(moment, -MOST_SLIP, MOST_SLIP)
}

/// A tyre in a steady turn.
struct Slipping {
    /// Angle of its wheel to the car and to the path, rad.
    turned: f64,
    slip: f64,
    /// Side force without drive, and the most that friction holds along and across, N.
    aside: f64,
    most: [f64; 2],
    /// Rolling resistance, N, and aligning moment, N m.
    rolling: f64,
    aligning: f64,
}

impl Slipping {
    fn of(model: &Model, steady: &SteadyState, i: usize, [beta, delta]: [f64; 2]) -> Self {
        let (wheel, load) = (&model.wheels()[i], steady.loads[i] as f32);
        let axle = &model.parts().axles[wheel.axle];
        let travel = |i: usize| steady.compressions[i] as f32;
        let outwards = wheel.side.rightwards();
        let links = axle.guidance.map_or(0.0, |links| links.at(travel(i))[0]);
        let turned = f64::from(axle.steer_ratio) * delta + f64::from(outwards * (wheel.toe + links));
        let camber = outwards * model.camber(i, travel) + steady.roll as f32;
        let at = Conditions { camber, ..Conditions::upright(load, 1.0) };
        let slip = [0.0, (turned - beta).tan().clamp(-1.0, 1.0) as f32];
        Self {
            turned,
            slip: turned - beta,
            aside: model.tyre_force(i, slip, &at).force[1].into(),
            most: model.tyre(i).friction_at(load).map(|friction| f64::from(friction * load)),
            rolling: f64::from(wheel.rolling.constant * load),
            aligning: model.tyre_moments(i, slip, &at).aligning.into(),
        }
    }

    /// Force across the path and yaw moment with so much `drive`, N, at the contact point `at`.
    fn pull(&self, drive: f64, at: Vec3) -> [f64; 2] {
        let [along, across] = self.most;
        let left = across * (1.0 - (drive / along.max(f64::MIN_POSITIVE)).powi(2)).max(0.0).sqrt();
        // Friction that the drive takes is missing at the limit alone.
        let aside = if self.aside.abs() > left { left.copysign(self.aside) } else { self.aside };
        let ((sin, cos), (x, y)) = (self.turned.sin_cos(), (f64::from(at.x), f64::from(at.y)));
        let [forward, leftward] = [drive * cos - aside * sin, drive * sin + aside * cos];
        [aside * self.slip.cos() + drive * self.slip.sin(), x * leftward - y * forward + self.aligning]
    }
}

/// Understeer gradient `dδ/da_y` at `lateral_acceleration` m/s² with tyre curves and load transfer, rad/(m/s²).
pub fn understeer(model: &Model, lateral_acceleration: f64) -> Option<f64> {
    const HALF: f64 = 0.1;
    let steer = |more: f64| extra_steer(model, lateral_acceleration + more);
    Some((steer(HALF)? - steer(-HALF)?) / (2.0 * HALF))
}

/// Returns the road-wheel angle that holds `lateral_acceleration` m/s² at `v` m/s, rad: the angle of the path, and what [`extra_steer`]
/// adds with tyre curves and load transfer. Where the tyres cannot hold it, it is that of the linear bicycle.
pub fn steer_to_hold(model: &Model, lateral_acceleration: f64, v: f64) -> f64 {
    let figures = Figures::of(model);
    let wheelbase = figures.bicycle.map_or(figures.wheelbase_m, |bicycle| bicycle.wheelbase_m);
    let path = (wheelbase * lateral_acceleration / (v * v).max(1e-6)).atan();
    extra_steer(model, lateral_acceleration)
        .map_or_else(|| figures.steer_for(lateral_acceleration, v), |extra| path + extra)
}

/// Largest lateral acceleration the tyres hold in steady cornering to the side to which the car tips first, m/s²; `None` when that is beyond the
/// rollover threshold, or nothing steers.
pub fn grip_limit(model: &Model) -> Option<f64> {
    const MOST: f64 = 50.0;
    let tipping = steady_state::rollover(model)?.lateral_acceleration;
    let holds = |a: f64| extra_steer(model, a.copysign(tipping)).is_some();
    let tips = tipping.abs().min(MOST);
    if !holds(0.1) || holds(0.999 * tips) {
        return None;
    }
    let (mut low, mut high) = (0.1, tips);
    for _ in 0..24 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

/// The first root of `f`, walking up from the middle or down, where `f` rises through it.
fn rising_root(f: impl Fn(f64) -> f64, low: f64, high: f64) -> Option<f64> {
    const STEPS: usize = 60;
    let start = 0.0f64.clamp(low, high);
    let up = f(start) < 0.0;
    let end = if up { high } else { low };
    let point = |i: usize| start + (end - start) * i as f64 / STEPS as f64;
    let beyond = |x: f64| if up { f(x) >= 0.0 } else { f(x) <= 0.0 };
    let i = (1..=STEPS).find(|&i| beyond(point(i)))?;
    let (mut inner, mut outer) = (point(i - 1), point(i));
    for _ in 0..50 {
        let middle = 0.5 * (inner + outer);
        if beyond(middle) { outer = middle } else { inner = middle }
    }
    Some(outer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use skidpad_core::model::{AntiRollBar, Guidance, Tyre};
    use skidpad_core::tyre::CurveLaw;
    use skidpad_core::{Model, ModelParts};

    fn with(change: impl Fn(&mut ModelParts)) -> Model {
        let mut parts = testing::model().parts().clone();
        change(&mut parts);
        Model::new(parts).expect("valid")
    }

    #[test]
    fn the_slope_at_nothing_is_the_linear_bicycle() {
        let model = with(|parts| {
            for wheel in &mut parts.wheels {
                wheel.contact.x += 0.1;
            }
        });
        let linear = crate::Figures::of(&model).bicycle.expect("creeps").understeer;
        let found = understeer(&model, 0.2).expect("holds");
        // tan α against α at 0.01 rad: 3e-5, and f32 forces through a difference of 0.2 m/s².
        assert!((found - linear).abs() < 2e-3 * linear.abs(), "{found} {linear}");
    }

    /// Links that turn front wheels in as they travel steer the car into the turn, by the slope times half the track and the roll; at the rear
    /// they steer it out.
    #[test]
    fn toe_over_travel_steers_with_roll() {
        let roll = 500.0 / 51_345.0;
        for (axle, way) in [(0, -1.0), (1, 1.0)] {
            let model = with(|parts| parts.axles[axle].guidance = Some(Guidance { toe: [0.1, 0.0], camber: [0.0; 2] }));
            let expected = way * 0.1 * 0.75 * roll;
            let linear = crate::Figures::of(&model).bicycle.expect("creeps").understeer;
            // A slope of f32, and tracks of f32.
            assert!((linear / expected - 1.0).abs() < 1e-5, "axle {axle}: {linear} {expected}");
            let found = understeer(&model, JUDGED_AT).expect("holds");
            // f32 forces through a difference of 0.2 m/s², and tan α of 0.04 rad.
            assert!((found / expected - 1.0).abs() < 0.01, "axle {axle}: {found} {expected}");
        }
    }

    /// Row A7: with a load-sensitive tyre, a stiffer front understeers and a stiffer rear oversteers, by the same amount
    /// on a car alike at both ends.
    #[test]
    fn a7_bars_shift_the_balance() {
        let bar = |front: f32, rear: f32| {
            let model = with(|parts| {
                let Tyre::Curve(tyre) = &mut parts.tyres[0] else { unreachable!("the test car has a simple curve") };
                tyre.law =
                    CurveLaw::SlipCurve { extremum_slip: [0.1; 2], asymptote_slip: [0.5; 2], asymptote: [0.8; 2] };
                tyre.load_sensitivity = 0.2;
                let bar = |wheels, rate| AntiRollBar { wheels, rate, ..AntiRollBar::default() };
                parts.bars = vec![bar([0, 1], front), bar([2, 3], rear)];
            });
            understeer(&model, JUDGED_AT).expect("holds")
        };
        let (front, even, rear) = (bar(20e3, 0.0), bar(10e3, 10e3), bar(0.0, 20e3));
        assert!(even.abs() < 1e-6, "{even}");
        assert!(front > 1e-5 && (front + rear).abs() < 0.02 * front, "{front} {rear}");
    }

    #[test]
    fn beyond_the_grip_there_is_no_angle() {
        assert_eq!(extra_steer(&testing::model(), 9.9), None);
    }
}
