//! Mass and inertia of a car, or of the cars of a batch or a block.

use crate::model::Model;
use skidpad_simd::lane::Lane;
use skidpad_simd::linear::SpatialVector;
use skidpad_simd::vectors::Mat3Lanes;

/// Mass and inertia of the whole car about its centre of mass, vehicle axes.
#[derive(Clone, Copy, Debug, Default)]
pub struct BodyConstants<C> {
    /// Mass, kg.
    pub mass: C,
    /// Inverse of the mass, 1/kg.
    pub inverse_mass: C,
    /// Inertia, kg m².
    pub inertia: Mat3Lanes<C>,
    /// Inverse of the inertia, 1/(kg m²).
    pub inverse_inertia: Mat3Lanes<C>,
}

impl<C: Lane> BodyConstants<C> {
    /// Returns the constants of `model`, the same for every car.
    #[inline(always)]
    pub fn of(model: &Model) -> Self {
        Self {
            mass: C::splat(model.mass()),
            inverse_mass: C::splat(model.inverse_mass()),
            inertia: Mat3Lanes::from_mat3(model.inertia()).map(C::splat),
            inverse_inertia: Mat3Lanes::from_mat3(model.inverse_inertia()).map(C::splat),
        }
    }

    /// Returns the change of the chassis velocity (m/s, rad/s) by an impulse on the chassis (N s, and N m s about the
    /// centre of mass), vehicle frame: linear part over mass, angular part times the inverse inertia.
    #[inline(always)]
    pub fn response(&self, impulse: SpatialVector<C>) -> SpatialVector<C> {
        let SpatialVector { linear, angular } = impulse;
        SpatialVector::new(linear * self.inverse_mass, self.inverse_inertia.mul_vector(angular))
    }
}
