//! Steady roll of a car with rigidly guided wheels, and of a car whose unsprung masses move separately.

use nalgebra::{DMatrix, DVector};
use skidpad_core::Model;
use skidpad_core::model::{BarForcePath, Unsprung};

use super::{AxleCharacteristics, GRAVITY_MPS2};

/// Computes the lateral accelerations at which a rigid car tips when it turns left and right (g): the lateral
/// distance of the outer wheels from the centre of mass, averaged by axle load, over its height above the points
/// where tyre forces act. Both values are positive. `None` for a car with a single track, or if tyre forces act above
/// its centre of mass.
pub(super) fn rigid_rollover(model: &Model, axles: &[AxleCharacteristics]) -> Option<[f64; 2]> {
    let load: f64 = axles.iter().map(|a| a.load_n).sum();
    // Mean lateral distance of the outermost wheels on one side, weighted by axle load (m); `way` is 1 for the left
    // side.
    let outer = |way: f64| {
        let beside = |axle: usize| {
            let on = model.wheels().iter().filter(|wheel| wheel.axle == axle);
            on.map(|wheel| way * f64::from(wheel.contact.y)).fold(f64::MIN, f64::max)
        };
        axles.iter().enumerate().map(|(i, axle)| beside(i) * axle.load_n).sum::<f64>() / load
    };
    let both = [-1.0, 1.0].map(|way| outer(way) / model.tyre_force_lever());
    (both[0].min(both[1]) > 0.0).then_some(both)
}

/// Pose of a car with rigidly guided wheels in a steady left turn, per lateral acceleration.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TurnPose {
    /// Roll angle per lateral acceleration (rad/(m/s²)).
    pub roll: f64,
    /// Compression of each wheel per lateral acceleration (m/(m/s²)).
    pub compressions: Vec<f64>,
}

impl TurnPose {
    /// Computes the pose of `model`; `None` if its springs cannot hold it upright.
    pub fn of(model: &Model) -> Option<Self> {
        let [heave, pitch, roll] = solve_roll_pose(model, &[])?;
        let travel = |at: skidpad_core::Vec3| heave + f64::from(at.x) * pitch - f64::from(at.y) * roll;
        Some(Self { roll, compressions: model.wheels().iter().map(|wheel| travel(wheel.contact)).collect() })
    }
}

/// Figures that change if the unsprung masses move separately, between strut and tyre spring, instead of with the
/// chassis.
#[derive(Clone, Debug, PartialEq)]
pub struct UnsprungCharacteristics {
    /// Wheel hop frequency `√((k + k_t) / m_u) / 2π` of the first wheel of each axle (Hz).
    pub hop_hz: Vec<f64>,
    /// Steady-state roll angle per lateral acceleration with every tyre spring in series with strut and bar
    /// (rad/(m/s²)); `None` if the springs cannot hold the car upright. The roll moment of a solid axle's own mass
    /// loads its tyres, not the springs.
    pub roll_gradient: Option<f64>,
}

impl UnsprungCharacteristics {
    /// Computes the figures of `model`; `None` if the unsprung mass of a wheel is not given.
    pub fn of(model: &Model) -> Option<Self> {
        let own: Vec<_> = model.wheels().iter().map(|w| w.unsprung).collect::<Option<_>>()?;
        // Frequency of the first wheel of an axle (Hz).
        let hop = |axle: usize| {
            let first = (0..own.len()).find(|&i| model.wheels()[i].axle == axle)?;
            let rate = f64::from(model.wheels()[first].strut.rate + own[first].tyre_rate);
            Some((rate / f64::from(own[first].mass)).sqrt() / core::f64::consts::TAU)
        };
        let hop_hz = (0..model.parts().axles.len()).filter_map(hop).collect();
        Some(Self { hop_hz, roll_gradient: solve_roll_pose(model, &own).map(|[_, _, roll]| roll) })
    }
}

/// Solves for heave s (m), pitch θ and roll φ (rad) of the body in a steady left turn of 1 m/s², for small angles. With
/// `own` unsprung masses, each wheel moves by u downwards on its tyre; with an empty `own`, `u = 0`. Returns `None` if
/// the springs cannot hold the car upright.
///
/// `d = s + x θ − y φ` is the downward motion of the body above a wheel, `z = d − u` the travel of its strut. Springs,
/// heave springs and bars react to z, tyres to u, external bars to d.
///
/// The tyre forces act `d_f` above the ground; their roll moment is `m (h − d_f) a_y`. The weight adds `m g h φ`, less
/// `N κ z` for links that move the contact points by κ z. Together these are `m g (h − r) φ` about a roll axis at the
/// height r.
///
/// Links act between body and wheel with their part of the side force. The side force is proportional to the static
/// load, less the share of the wheel's own mass. The own mass of a solid axle acts on its tyres instead of the body: it
/// rotates the axle by ψ about the ground with the moment `m_u R (a_y + g ψ)`.
fn solve_roll_pose(model: &Model, own: &[Unsprung]) -> Option<[f64; 3]> {
    let (parts, wheels) = (model.parts(), model.wheels());
    // Coordinates: u of each wheel, heave, pitch, roll.
    let mut balance = SpringSystem::new(own.len() + 3);
    let (roll, mass) = (balance.unit_direction(own.len() + 2), f64::from(model.mass()));
    balance.add_force(mass * model.tyre_force_lever(), &roll);
    balance.add_spring(-mass * f64::from(parts.centre_height) * GRAVITY_MPS2, &roll);
    let zero = vec![0.0; own.len()];
    // Directions of the motion d of the body above a wheel and of the travel z.
    let body = |i: usize| {
        let at = wheels[i].contact;
        [&zero[..], &[1.0, at.x.into(), (-at.y).into()]].concat()
    };
    // A minus one at coordinate `i` subtracts u; there is no such coordinate if `own` is empty.
    let strut = |i: usize| {
        let mut way = body(i);
        way[..own.len()].iter_mut().skip(i).take(1).for_each(|u| *u = -1.0);
        way
    };
    // Mass whose side force the links of a wheel carry (kg).
    let led = |i: usize| f64::from(model.carried_masses()[i]) - own.get(i).map_or(0.0, |own| f64::from(own.mass));
    for (i, wheel) in wheels.iter().enumerate() {
        balance.add_spring(wheel.strut.rate.into(), &strut(i));
        balance.add_force(model.jacking_force(i, led), &strut(i));
        // Lateral shift of contact point `i` per travel of wheel `k` (–), and the direction of its whole shift.
        let moved = |k: usize| model.link_scrub(i, |other| f64::from(u8::from(other == k)));
        let aside = (0..wheels.len()).fold(vec![0.0; own.len() + 3], |sum, k| add_scaled(&sum, &strut(k), moved(k)));
        // The term derives from a potential energy: half acts in roll, half along the travel. In a steady turn the sum
        // counts.
        balance.add_coupling(-0.5 * f64::from(model.carried_masses()[i]) * GRAVITY_MPS2, &roll, &aside);
    }
    for bar in &parts.bars {
        let ends = bar.wheels.map(|i| if bar.force_path == BarForcePath::External { body(i) } else { strut(i) });
        balance.add_spring(bar.rate.into(), &combined_direction(&ends, -1.0));
    }
    for spring in &parts.heave_springs {
        balance.add_spring(0.25 * f64::from(spring.rate), &combined_direction(&spring.wheels.map(strut), 1.0));
    }
    for (i, own) in own.iter().enumerate() {
        balance.add_spring(own.tyre_rate.into(), &balance.unit_direction(i));
    }
    move_beam_moments(model, own, &mut balance);
    balance.solve_last()?[own.len()..].try_into().ok()
}

/// Moves the roll moments of the own mass of solid axles, about the ground, from the body to the axles: per axle
/// `m_u R (a_y + g ψ)` with the roll angle ψ of the axle. Adds forces and springs to `balance`. Axles without exactly
/// two wheels are left out, as is everything with an empty `own`.
fn move_beam_moments(model: &Model, own: &[Unsprung], balance: &mut SpringSystem) {
    let roll = balance.unit_direction(own.len() + 2);
    for axle in (0..model.parts().axles.len()).filter(|&axle| model.parts().axles[axle].solid) {
        let on: Vec<usize> = (0..own.len()).filter(|&i| model.wheels()[i].axle == axle).collect();
        let [left, right] = on[..] else { continue };
        let track = f64::from(model.wheels()[left].contact.y - model.wheels()[right].contact.y);
        // Direction of the roll angle of the axle, (u_right − u_left) / track.
        let beam: Vec<f64> = combined_direction(&[right, left].map(|i| balance.unit_direction(i)), -1.0)
            .iter()
            .map(|u| u / track)
            .collect();
        let moment: f64 = on.iter().map(|&i| f64::from(own[i].mass * model.wheels()[i].radius)).sum();
        for (moment, way) in [(moment, &beam), (-moment, &roll)] {
            balance.add_force(moment, way);
            balance.add_spring(-moment * GRAVITY_MPS2, way);
        }
    }
}

/// Returns the sum of the first direction and `way` times the second: −1 for an anti-roll bar, 1 for a heave spring.
fn combined_direction([first, second]: &[Vec<f64>; 2], way: f64) -> Vec<f64> {
    add_scaled(first, second, way)
}

/// Returns `a + times b`.
fn add_scaled(a: &[f64], b: &[f64], times: f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + times * b).collect()
}

/// System of linear springs and constant forces along directions of the coordinates q: `K q = f`. A direction is the
/// row vector of the derivatives of a displacement with respect to q.
struct SpringSystem {
    /// Matrix K.
    stiffness: DMatrix<f64>,
    /// Vector f.
    forces: DVector<f64>,
}

impl SpringSystem {
    /// Share of the largest stiffness below which a coordinate counts as free (–), such as the pitch of a trailer with
    /// one axle.
    const FREE_STIFFNESS_SHARE: f64 = 1e-9;

    fn new(size: usize) -> Self {
        Self { stiffness: DMatrix::zeros(size, size), forces: DVector::zeros(size) }
    }

    /// Returns the unit vector of coordinate `k`.
    fn unit_direction(&self, k: usize) -> Vec<f64> {
        (0..self.forces.len()).map(|i| f64::from(u8::from(i == k))).collect()
    }

    /// Adds a spring of stiffness `rate` along the direction `way`: `K += rate way wayᵀ`.
    fn add_spring(&mut self, rate: f64, way: &[f64]) {
        let way = DVector::from_column_slice(way);
        self.stiffness.ger(rate, &way, &way, 1.0);
    }

    /// Adds a symmetric coupling of stiffness `rate` between two directions: `K += rate (one otherᵀ + other oneᵀ)`.
    fn add_coupling(&mut self, rate: f64, one: &[f64], other: &[f64]) {
        for way in [1.0, -1.0] {
            self.add_spring(0.5 * way * rate, &add_scaled(one, other, way));
        }
    }

    /// Adds the generalised force `force` along the direction `way`: `f += force way`.
    fn add_force(&mut self, force: f64, way: &[f64]) {
        self.forces.axpy(force, &DVector::from_column_slice(way), 1.0);
    }

    /// Solves `K q = f` by static condensation to the last coordinate, with a pseudo-inverse for the others. Free
    /// coordinates (see [`Self::FREE_STIFFNESS_SHARE`]) stay at 0. `None` if the stiffness that remains for the last
    /// coordinate is zero or negative, so that it is free or unstable.
    fn solve_last(self) -> Option<Vec<f64>> {
        let (others, least) = (self.forces.len() - 1, Self::FREE_STIFFNESS_SHARE * self.stiffness.diagonal().amax());
        let gives = self.stiffness.view((0, 0), (others, others)).into_owned().pseudo_inverse(least).ok()?;
        let (coupling, forces) = (self.stiffness.view((0, others), (others, 1)), self.forces.rows(0, others));
        // Motion of the others per last coordinate (negative), and the condensed stiffness.
        let given = &gives * coupling;
        let held = self.stiffness[(others, others)] - coupling.dot(&given);
        if held <= least {
            return None;
        }
        let last = (self.forces[others] - given.dot(&forces)) / held;
        let first = gives * (forces - coupling * last);
        Some(first.iter().copied().chain([last]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use skidpad_core::ModelParts;
    use skidpad_core::model::AntiRollBar;

    /// Builds the test car with its wheels moved `aside` m to the right of its centre of mass, and with a further
    /// change.
    fn beside(aside: f32, change: impl Fn(&mut ModelParts)) -> Model {
        let mut parts = testing::model().parts().clone();
        parts.wheels.iter_mut().for_each(|wheel| wheel.contact.y -= aside);
        change(&mut parts);
        Model::new(parts).expect("valid")
    }

    /// A car that rolls about a point beside its centre of mass also rises there. The roll stiffness is
    /// `Σ k y² − (Σ k y)² / Σ k`, the same as with the centre of mass in the middle.
    #[test]
    fn a_centre_of_mass_off_the_middle_rolls_as_one_in_it() {
        let turning = TurnPose::of(&beside(0.3, |_| {})).expect("upright");
        assert!((turning.roll / (500.0 / 51_345.0) - 1.0).abs() < 1e-6, "{turning:?}");
        // The car rolls about the middle between its wheels.
        assert!((turning.compressions[0] + turning.compressions[1]).abs() < 1e-9, "{turning:?}");
        assert!((turning.compressions[1] / (0.75 * turning.roll) - 1.0).abs() < 1e-6, "{turning:?}");
    }

    /// Tyre forces at half the height of the centre of mass double the threshold `t/2h`.
    #[test]
    fn raised_tyre_forces_tip_a_rigid_car_later() {
        let model = beside(0.0, |parts| parts.axles.iter_mut().for_each(|axle| axle.force_point_height = 0.25));
        let figures = crate::Characteristics::new(&model);
        assert!((figures.rollover_g.expect("two tracks") - 3.0).abs() < 1e-6, "{figures:?}");
        let sprung = super::super::steady_state::rollover(&model).expect("tips").lateral_acceleration;
        assert!(sprung < 3.0 * GRAVITY_MPS2, "{sprung}");
    }

    /// The thresholds are `(t/2 ∓ y) / h`.
    #[test]
    fn a_rigid_car_tips_first_over_the_wheels_its_mass_is_nearer_to() {
        let figures = crate::Characteristics::new(&beside(0.3, |_| {}));
        assert!((figures.rollover_g.expect("two tracks") - 0.9).abs() < 1e-6, "{figures:?}");
        assert_eq!(figures.tip_direction, Some(skidpad_core::model::Side::Right));
        assert_eq!(crate::Characteristics::new(&testing::model()).tip_direction, None);
    }

    /// `K_s`, `K_t` and `K_b` are the roll stiffnesses of struts, tyres and bars. Bars in the load path give
    /// `(K_s + K_b)` in series with `K_t`. External bars give `K_b` parallel to the series of `K_s` and `K_t`.
    #[test]
    fn tyres_are_in_series_with_what_presses_them() {
        let (struts, tyres, bars) = (4.0 * 25e3 * 0.5625, 4.0 * 200e3 * 0.5625, 2.0 * 10e3 * 2.25);
        let series = |a: f64, b: f64| a * b / (a + b);
        let told = [
            (BarForcePath::InLoadPath, series(struts + bars, tyres)),
            (BarForcePath::External, series(struts, tyres) + bars),
        ];
        for (coupling, held) in told {
            let model = beside(0.3, |parts| {
                let own = Unsprung { mass: 40.0, tyre_rate: 200e3, tyre_damping: 0.0 };
                parts.wheels.iter_mut().for_each(|wheel| wheel.unsprung = Some(own));
                parts.bars = [[0, 1], [2, 3]]
                    .map(|wheels| AntiRollBar { wheels, rate: 10e3, force_path: coupling, ..AntiRollBar::default() })
                    .into();
            });
            let found = UnsprungCharacteristics::of(&model).and_then(|own| own.roll_gradient).expect("upright");
            // The positions of the wheels are f32.
            assert!((found / (500.0 / (held - 500.0 * GRAVITY_MPS2)) - 1.0).abs() < 1e-6, "{coupling:?}: {found}");
        }
    }
}
