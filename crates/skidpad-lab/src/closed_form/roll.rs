//! Steady roll of a car with rigidly guided wheels, and of a car whose unsprung masses move separately.

use nalgebra::{DMatrix, DVector};
use skidpad_core::Model;
use skidpad_core::model::{BarForcePath, Unsprung};

use super::{AxleCharacteristics, GRAVITY_MPS2};

/// Computes the lateral accelerations at which a rigid car tips in a left and in a right turn (g, both positive). A
/// threshold is the lateral distance of the outer wheels from the centre of mass, over the height of the centre of mass
/// above the points where tyre forces act. The distance is averaged over the axles, weighted by axle load. `None` if a
/// threshold is not positive, as for a car with a single track, or if tyre forces act above the centre of mass.
pub(super) fn rigid_rollover(model: &Model, axles: &[AxleCharacteristics]) -> Option<[f64; 2]> {
    let load: f64 = axles.iter().map(|axle| axle.load_n).sum();
    // Mean lateral distance of the outermost wheels on one side, weighted by axle load (m); `side_sign` is 1 for the
    // left side.
    let mean_outer_distance = |side_sign: f64| {
        let outer_distance = |axle: usize| {
            let axle_wheels = model.wheels().iter().filter(|wheel| wheel.axle == axle);
            axle_wheels.map(|wheel| side_sign * f64::from(wheel.contact.y)).fold(f64::MIN, f64::max)
        };
        axles.iter().enumerate().map(|(i, axle)| outer_distance(i) * axle.load_n).sum::<f64>() / load
    };
    // A left turn tips the car over its right wheels (−1), a right turn over its left wheels (1).
    let thresholds = [-1.0, 1.0].map(|side_sign| mean_outer_distance(side_sign) / model.tyre_force_lever());
    (thresholds[0].min(thresholds[1]) > 0.0).then_some(thresholds)
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
    pub fn new(model: &Model) -> Option<Self> {
        // `&[]`: no separate unsprung masses. The heave is positive downwards.
        let [heave, pitch, roll] = solve_roll_pose(model, &[])?;
        let travel = |contact: skidpad_core::Vec3| heave + f64::from(contact.x) * pitch - f64::from(contact.y) * roll;
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
    /// Computes the figures of `model`; `None` if the unsprung mass of a wheel is not given. The hop frequency of an
    /// axle includes strut and tyre spring, but no bars and heave springs.
    pub fn of(model: &Model) -> Option<Self> {
        let unsprung: Vec<_> = model.wheels().iter().map(|wheel| wheel.unsprung).collect::<Option<_>>()?;
        // Frequency of the first wheel of an axle (Hz). A valid model has one or two wheels on each axle.
        let hop_frequency = |axle: usize| {
            let wheel_index = (0..unsprung.len()).find(|&i| model.wheels()[i].axle == axle)?;
            let rate = f64::from(model.wheels()[wheel_index].strut.rate + unsprung[wheel_index].tyre_rate);
            Some((rate / f64::from(unsprung[wheel_index].mass)).sqrt() / core::f64::consts::TAU)
        };
        let hop_hz = (0..model.parts().axles.len()).filter_map(hop_frequency).collect();
        Some(Self { hop_hz, roll_gradient: solve_roll_pose(model, &unsprung).map(|[_, _, roll]| roll) })
    }
}

/// Solves for heave s (m), pitch θ and roll φ (rad) of the body in a steady left turn of 1 m/s², for small angles. With
/// the unsprung masses `unsprung`, each wheel moves by u downwards on its tyre spring. With an empty `unsprung`, tyres
/// are rigid: `u = 0`. `None` if the springs cannot hold the car upright.
///
/// `d = s + x θ − y φ` is the downward motion of the body above a wheel, `z = d − u` the travel of its strut. Struts,
/// heave springs and anti-roll bars in the load path react to z, tyre springs to u, external bars (which do not load
/// the tyres) to d.
///
/// The tyre forces act `d_f` above the ground; their roll moment is `m (h − d_f) a_y`. The weight adds the moment
/// `m g h φ`. Links that move the contact points sideways by κ z reduce it by `N κ z`. For a roll axis at the height r,
/// roll moments of weight and links are together `m g (h − r) φ`.
///
/// Links transmit the side force between body and wheel and cause a jacking force on the strut. This side force is that
/// of the static load less the share of the wheel's own mass. The own mass m_u of a solid axle acts on its tyres
/// instead of the body: it rotates the axle by ψ about the ground with the moment `m_u R (a_y + g ψ)`.
fn solve_roll_pose(model: &Model, unsprung: &[Unsprung]) -> Option<[f64; 3]> {
    let (parts, wheels) = (model.parts(), model.wheels());
    // Coordinates: u of each wheel, heave, pitch, roll.
    let mut system = SpringSystem::new(unsprung.len() + 3);
    let (roll, mass) = (system.unit_direction(unsprung.len() + 2), f64::from(model.mass()));
    // Roll moment of the tyre forces at 1 m/s², and the weight, which acts as a negative roll stiffness.
    system.add_force(mass * model.tyre_force_lever(), &roll);
    system.add_spring(-mass * f64::from(parts.centre_height) * GRAVITY_MPS2, &roll);
    let unsprung_zeros = vec![0.0; unsprung.len()];
    // Directions of the motion d of the body above a wheel and of the travel z.
    let body_direction = |i: usize| {
        let contact = wheels[i].contact;
        [&unsprung_zeros[..], &[1.0, contact.x.into(), (-contact.y).into()]].concat()
    };
    // Element `i` is −1, which subtracts u; with an empty `unsprung` the slice is empty and nothing changes.
    let strut_direction = |i: usize| {
        let mut direction = body_direction(i);
        direction[..unsprung.len()].iter_mut().skip(i).take(1).for_each(|u| *u = -1.0);
        direction
    };
    // Mass whose side force the links of a wheel carry (kg).
    let guided_mass = |i: usize| {
        f64::from(model.carried_masses()[i]) - unsprung.get(i).map_or(0.0, |unsprung| f64::from(unsprung.mass))
    };
    for (i, wheel) in wheels.iter().enumerate() {
        system.add_spring(wheel.strut.rate.into(), &strut_direction(i));
        // Jacking force of the side forces at 1 m/s², which are numerically equal to the guided masses.
        system.add_force(model.jacking_force(i, guided_mass), &strut_direction(i));
        // Lateral shift of contact point `i` per travel of wheel `k` (–): the travels are 1 at wheel `k` and 0
        // elsewhere. The direction is the sum over all wheels.
        let scrub_per_travel = |k: usize| model.link_scrub(i, |wheel_index| f64::from(u8::from(wheel_index == k)));
        let scrub_direction = (0..wheels.len())
            .fold(vec![0.0; unsprung.len() + 3], |sum, k| add_scaled(&sum, &strut_direction(k), scrub_per_travel(k)));
        // The term derives from a potential energy: half acts in roll, half along the travel. In a steady turn the sum
        // counts.
        system.add_coupling(-0.5 * f64::from(model.carried_masses()[i]) * GRAVITY_MPS2, &roll, &scrub_direction);
    }
    for bar in &parts.bars {
        let end_directions = bar
            .wheels
            .map(|i| if bar.force_path == BarForcePath::External { body_direction(i) } else { strut_direction(i) });
        // −1.0: a bar reacts to the difference of the travels.
        system.add_spring(bar.rate.into(), &combined_direction(&end_directions, -1.0));
    }
    for spring in &parts.heave_springs {
        // 1.0: a heave spring reacts to half the sum of the travels, hence a quarter of its rate.
        system.add_spring(0.25 * f64::from(spring.rate), &combined_direction(&spring.wheels.map(strut_direction), 1.0));
    }
    for (i, unsprung) in unsprung.iter().enumerate() {
        system.add_spring(unsprung.tyre_rate.into(), &system.unit_direction(i));
    }
    move_solid_axle_moments(model, unsprung, &mut system);
    // The last three coordinates: heave, pitch and roll.
    system.solve_by_condensation()?[unsprung.len()..].try_into().ok()
}

/// Moves the roll moment of the own mass of each solid axle from the body to the axle: `m_u R (a_y + g ψ)` about the
/// ground, with the roll angle ψ of the axle. Adds the forces (at 1 m/s²) and springs for this to `system`. Axles
/// without exactly two wheels are skipped; nothing is moved with an empty `unsprung`.
fn move_solid_axle_moments(model: &Model, unsprung: &[Unsprung], system: &mut SpringSystem) {
    let roll = system.unit_direction(unsprung.len() + 2);
    for axle in (0..model.parts().axles.len()).filter(|&axle| model.parts().axles[axle].solid) {
        let axle_wheels: Vec<usize> = (0..unsprung.len()).filter(|&i| model.wheels()[i].axle == axle).collect();
        let [left, right] = axle_wheels[..] else { continue };
        let track = f64::from(model.wheels()[left].contact.y - model.wheels()[right].contact.y);
        // Direction of the roll angle of the axle, (u_right − u_left) / track.
        let axle_direction: Vec<f64> = combined_direction(&[right, left].map(|i| system.unit_direction(i)), -1.0)
            .iter()
            .map(|u| u / track)
            .collect();
        // m_u R of both wheels (kg m), the roll moment per lateral acceleration.
        let mass_moment: f64 =
            axle_wheels.iter().map(|&i| f64::from(unsprung[i].mass * model.wheels()[i].radius)).sum();
        // Added to the axle and subtracted from the body.
        for (mass_moment, direction) in [(mass_moment, &axle_direction), (-mass_moment, &roll)] {
            system.add_force(mass_moment, direction);
            system.add_spring(-mass_moment * GRAVITY_MPS2, direction);
        }
    }
}

/// Returns the sum of the first direction and `factor` times the second: −1 for an anti-roll bar, 1 for a heave spring.
fn combined_direction([first, second]: &[Vec<f64>; 2], factor: f64) -> Vec<f64> {
    add_scaled(first, second, factor)
}

/// Returns `a + factor b`.
fn add_scaled(a: &[f64], b: &[f64], factor: f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + factor * b).collect()
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

    /// Creates a system of `size` coordinates without springs and forces.
    fn new(size: usize) -> Self {
        Self { stiffness: DMatrix::zeros(size, size), forces: DVector::zeros(size) }
    }

    /// Returns the unit vector of coordinate `k`.
    fn unit_direction(&self, k: usize) -> Vec<f64> {
        (0..self.forces.len()).map(|i| f64::from(u8::from(i == k))).collect()
    }

    /// Adds a spring of stiffness `rate` along `direction` d: `K += rate d dᵀ`.
    fn add_spring(&mut self, rate: f64, direction: &[f64]) {
        let direction = DVector::from_column_slice(direction);
        self.stiffness.ger(rate, &direction, &direction, 1.0);
    }

    /// Adds a symmetric coupling of stiffness `rate` between the directions `first` a and `second` b:
    /// `K += rate (a bᵀ + b aᵀ)`, as `rate/2 ((a + b)(a + b)ᵀ − (a − b)(a − b)ᵀ)`.
    fn add_coupling(&mut self, rate: f64, first: &[f64], second: &[f64]) {
        for sign in [1.0, -1.0] {
            self.add_spring(0.5 * sign * rate, &add_scaled(first, second, sign));
        }
    }

    /// Adds the generalised force `force` along `direction` d: `f += force d`.
    fn add_force(&mut self, force: f64, direction: &[f64]) {
        self.forces.axpy(force, &DVector::from_column_slice(direction), 1.0);
    }

    /// Solves `K q = f` by static condensation: a pseudo-inverse eliminates all coordinates except the last one, which
    /// is solved first. Returns all coordinates. Coordinates with a stiffness below [`Self::FREE_STIFFNESS_SHARE`] of
    /// the largest diagonal element of `K` are free and stay at 0. `None` if the stiffness that remains for the last
    /// coordinate is negative or at most this bound, so that this coordinate is unstable or free.
    fn solve_by_condensation(self) -> Option<Vec<f64>> {
        let (last_index, min_stiffness) =
            (self.forces.len() - 1, Self::FREE_STIFFNESS_SHARE * self.stiffness.diagonal().amax());
        // Pseudo-inverse of the block of the other coordinates.
        let compliance =
            self.stiffness.view((0, 0), (last_index, last_index)).into_owned().pseudo_inverse(min_stiffness).ok()?;
        let (coupling, forces) =
            (self.stiffness.view((0, last_index), (last_index, 1)), self.forces.rows(0, last_index));
        // Motion of the others per last coordinate (negative), and the condensed stiffness.
        let motion_per_last = &compliance * coupling;
        let condensed_stiffness = self.stiffness[(last_index, last_index)] - coupling.dot(&motion_per_last);
        if condensed_stiffness <= min_stiffness {
            return None;
        }
        let last_coordinate = (self.forces[last_index] - motion_per_last.dot(&forces)) / condensed_stiffness;
        let other_coordinates = compliance * (forces - coupling * last_coordinate);
        Some(other_coordinates.iter().copied().chain([last_coordinate]).collect())
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
    /// `Σ k y² − (Σ k y)² / Σ k`, the same as with the centre of mass in the middle. Compressions of the left and the
    /// right front wheel are opposite.
    #[test]
    fn a_centre_of_mass_off_the_middle_rolls_as_one_in_it() {
        let turning = TurnPose::new(&beside(0.3, |_| {})).expect("upright");
        assert!((turning.roll / (500.0 / 51_345.0) - 1.0).abs() < 1e-6, "{turning:?}");
        // The car rolls about the middle between its wheels.
        assert!((turning.compressions[0] + turning.compressions[1]).abs() < 1e-9, "{turning:?}");
        assert!((turning.compressions[1] / (0.75 * turning.roll) - 1.0).abs() < 1e-6, "{turning:?}");
    }

    /// Tyre forces at half the height of the centre of mass double the threshold `t/2h`. On its springs the car tips
    /// below this threshold.
    #[test]
    fn raised_tyre_forces_tip_a_rigid_car_later() {
        let model = beside(0.0, |parts| parts.axles.iter_mut().for_each(|axle| axle.force_point_height = 0.25));
        let figures = crate::Characteristics::new(&model);
        assert!((figures.rollover_g.expect("two tracks") - 3.0).abs() < 1e-6, "{figures:?}");
        let sprung = super::super::steady_state::rollover(&model).expect("tips").lateral_acceleration;
        assert!(sprung < 3.0 * GRAVITY_MPS2, "{sprung}");
    }

    /// The thresholds are `(t/2 ∓ y) / h`. The lower one counts, with its direction; a symmetric car has no direction.
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
        // Roll stiffness `k y²` of four wheels at 0.75 m, and of two bars, `k t²` (N m/rad).
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
