//! Radii of a tyre under load: free, loaded, effective. Sources ("the paper", "the book") and versions of the Magic
//! Formula are those of the parent module.

use super::{MagicFormula, SharedQuantities, Version};
use crate::{Conditions, functions};
use skidpad_simd::lane::Lane;

/// Radii of a tyre, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Radii<L> {
    /// Radius of the free tyre, with its growth by spin.
    pub free: L,
    /// Distance from the wheel centre to the ground.
    pub loaded: L,
    /// Speed over spin of a freely rolling tyre.
    pub effective: L,
}

/// Number of bisections for the loaded radius of version 6.2. The error is below a millionth of the free radius.
const RADIUS_BISECTIONS: u32 = 20;

impl MagicFormula {
    /// Computes the radii at `spin` rad/s (clamped to ±10⁴) while the tyre transmits the longitudinal and lateral
    /// `force`, N (clamped to ±10⁷).
    ///
    /// The free radius grows with the square of spin. Effective radius and vertical force follow the paper's section on
    /// radii. At the loaded radius, the vertical force equals the load of `conditions`, which is not clamped to the
    /// range of the coefficients. The loaded radius of versions 5.2 and 6.1 has a closed form. In version 6.2, where
    /// camber changes the deflection and shifts the lateral force, it is solved by bisection.
    ///
    /// If no vertical stiffness is stated, the tyre is rigid and all radii are the free radius. Otherwise loaded and
    /// effective radius are at least a tenth of the unloaded one.
    pub fn radii<L: Lane>(&self, conditions: &Conditions<L>, spin: L, force: [L; 2]) -> Radii<L> {
        let c = &self.c;
        let s = L::splat;
        let shared = self.shared(conditions);
        // Rim speed over the speed of the measurement.
        let spin_ratio = (spin.clamp_nan_to_low(s(-1e4), s(1e4)) * s(c.unloaded_radius / c.longvl)).abs();
        let free = (s(c.q_re0) + s(c.q_v1) * spin_ratio * spin_ratio) * s(c.unloaded_radius);
        let load = conditions.load.clamp_nan_to_low(s(0.0), s(1e9));
        let stiffness = c.vertical_stiffness * c.lcz;
        if stiffness <= 0.0 {
            return Radii { free, loaded: free, effective: free };
        }
        // Factor of the pressure on the vertical stiffness.
        let pressure_factor = (s(1.0) + s(c.pfz1) * shared.dpi).at_least(s(0.05));
        let nominal_deflection = s(c.fnomin / stiffness) / pressure_factor;
        let relative_load = load / s(c.fnomin);
        // Decrease of the effective radius, in deflections under the nominal load.
        let relative_decrease = s(c.dreff) * functions::atan(s(c.breff) * relative_load) + s(c.freff) * relative_load;
        let min_radius = s(0.1 * c.unloaded_radius);
        let force = force.map(|force| force.clamp_nan_to_low(s(-1e7), s(1e7)) / s(c.fnomin));
        let spring = VerticalSpring { tyre: self, shared, free, pressure_factor, relative_load, force, spin_ratio };
        let loaded = if self.version == Version::Mf62 { spring.bisect() } else { spring.solve() };
        Radii {
            free,
            loaded: loaded.at_least(min_radius),
            effective: (free - nominal_deflection * relative_decrease).at_least(min_radius),
        }
    }
}

/// Vertical spring of a tyre at one load, spin and pair of horizontal forces.
struct VerticalSpring<'a, L> {
    /// Tyre with its coefficients.
    tyre: &'a MagicFormula,
    /// Load, pressure, camber and grip.
    shared: SharedQuantities<L>,
    /// Radius of the free tyre, m.
    free: L,
    /// Factor of the pressure on the stiffness.
    pressure_factor: L,
    /// Load over nominal load.
    relative_load: L,
    /// Longitudinal and lateral forces over the nominal load.
    force: [L; 2],
    /// Rim speed over the speed of the measurement.
    spin_ratio: L,
}

impl<L: Lane> VerticalSpring<'_, L> {
    /// Returns the coefficients `[linear, square]` of the vertical force `linear d + square d²`. The force is over the
    /// nominal load, the deflection d over the unloaded radius. Camber raises the linear coefficient. Without Q_FZ1 the
    /// linear coefficient of the upright tyre is chosen so that the tangent stiffness at the nominal load is the
    /// vertical stiffness; it is at least 0.
    fn rates(&self) -> [L; 2] {
        let c = &self.tyre.c;
        let nominal_rate = c.vertical_stiffness * c.lcz * c.unloaded_radius / c.fnomin;
        let linear =
            if c.q_fz1 > 0.0 { c.q_fz1 } else { (nominal_rate * nominal_rate - 4.0 * c.q_fz2).max(0.0).sqrt() };
        let camber = self.shared.camber;
        [L::splat(linear) + L::splat(c.q_fz3) * camber * camber, L::splat(c.q_fz2)]
    }

    /// Returns the factor of spin, horizontal forces and pressure on the vertical force, as in version 6.1 of the Magic
    /// Formula: `1 + Q_V2 Ω − (Q_FCX Fx)² − lateral_loss²`, at least 0.1, times the factor of the pressure.
    /// `lateral_loss` is the loss by the lateral force, before it is squared. Forces are over the nominal load. Ω is
    /// the spin ratio (rim speed over the speed of the measurement).
    fn stiffness_factor(&self, lateral_loss: L) -> L {
        let c = &self.tyre.c;
        let s = L::splat;
        let longitudinal_loss = s(c.q_fcx) * self.force[0];
        (s(1.0) + s(c.q_v2) * self.spin_ratio - longitudinal_loss * longitudinal_loss - lateral_loss * lateral_loss)
            .at_least(s(0.1))
            * self.pressure_factor
    }

    /// Returns the loaded radius of versions 5.2 and 6.1 of the Magic Formula, m: the free radius less the deflection.
    /// The deflection d, over the unloaded radius, is the root of `linear d + square d² = relative load / stiffness
    /// factor`.
    ///
    /// The linear coefficient is at least 0.1. A negative discriminant counts as 0. The root is written in a form that
    /// is exact without a square term. The result may be below the minimum radius, which the caller applies.
    fn solve(&self) -> L {
        let c = &self.tyre.c;
        let s = L::splat;
        let [linear, square] = self.rates();
        let relative_force = self.relative_load / self.stiffness_factor(s(c.q_fcy) * self.force[1]);
        let linear = linear.at_least(s(0.1));
        let root = (linear * linear + s(4.0) * square * relative_force).at_least(s(0.0)).sqrt();
        self.free - (relative_force + relative_force) / (linear + root) * s(c.unloaded_radius)
    }

    /// Returns the loaded radius of version 6.2 of the Magic Formula, m, by [`RADIUS_BISECTIONS`] bisections between a
    /// tenth of the free radius and the free radius, in all lanes at once. The vertical force falls as the radius
    /// rises, so that a force above the load means a larger radius. If no radius in the interval fits, the result is
    /// near the closer end.
    fn bisect(&self) -> L {
        let half = L::splat(0.5);
        let (mut low, mut high) = (self.free * L::splat(0.1), self.free);
        for _ in 0..RADIUS_BISECTIONS {
            let middle = (low + high) * half;
            let is_too_low = self.relative_load.less(self.normalised_force(middle)); // more force than load
            low = L::select(is_too_low, middle, low);
            high = L::select(is_too_low, high, middle);
        }
        (low + high) * half
    }

    /// Returns the vertical force over the nominal load at the loaded radius `radius` (m) by the equation of MF-Tyre
    /// 6.2 (its manual, as stated by published implementations). `self.free` is in m; `self.force` has the horizontal
    /// forces over the nominal load.
    ///
    /// 1. Computes the lateral force that camber adds (N): camber times a polynomial with the coefficients Q_FYS1 to
    ///    Q_FYS3 in the radius over the free radius.
    /// 2. Computes the deflection of the cambered tyre over the unloaded radius, at least 0. It is the deflection of
    ///    the upright tyre, plus that of the tread's edge (Q_CAM1, Q_CAM2), less Q_CAM3 times the upright deflection
    ///    and the magnitude of camber.
    /// 3. Computes the loss of stiffness by the lateral force less the camber force. It is proportional to Q_FCY, and
    ///    to the deflection to the power Q_FCY2.
    /// 4. Multiplies the force of the spring by the factor of spin, forces and pressure
    ///    ([`Self::stiffness_factor`]).
    fn normalised_force(&self, radius: L) -> L {
        let c = &self.tyre.c;
        let s = L::splat;
        let camber = self.shared.camber;
        let radius_ratio = radius / self.free;
        // Lateral force that camber adds, N.
        let camber_force =
            (s(c.q_fys1) + s(c.q_fys2) * radius_ratio + s(c.q_fys3) * radius_ratio * radius_ratio) * camber;
        // Deflection of the upright tyre, m.
        let upright_deflection = self.free - radius;
        // Polynomial of a radius, without unit: only its ratio to that at the free radius counts.
        let edge_polynomial = |radius: L| s(c.q_cam1) * radius + s(c.q_cam2) * radius * radius;
        // Width of the tread, m.
        let width = (1.075 - 0.5 * c.aspect_ratio) * c.width;
        let camber_tangent = functions::sin(camber) / functions::cos(camber);
        let free_edge = edge_polynomial(self.free);
        let has_no_edge = free_edge.abs().less(s(1e-6)); // coefficients that are not stated
        let edge_ratio =
            L::select(has_no_edge, s(0.0), edge_polynomial(radius) / L::select(has_no_edge, s(1.0), free_edge));
        let camber_deflection = edge_ratio * edge_ratio * s(width / 8.0) * camber_tangent.abs()
            - s(c.q_cam3) * upright_deflection * camber.abs();
        let deflection_ratio = (upright_deflection + camber_deflection).at_least(s(0.0)) / s(c.unloaded_radius);
        let lateral_loss = s(c.q_fcy) * (self.force[1] - camber_force / s(c.fnomin));
        let deflection_factor =
            if c.q_fcy2 == 0.0 { s(1.0) } else { functions::power(deflection_ratio.at_least(s(1e-6)), c.q_fcy2) };
        let [linear, square] = self.rates();
        self.stiffness_factor((lateral_loss * deflection_factor).clamp_nan_to_low(s(-1e3), s(1e3)))
            * (linear + square * deflection_ratio)
            * deflection_ratio
    }
}
