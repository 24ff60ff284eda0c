//! External forces on the chassis, besides those of tyres and struts: air, custom force elements, and the tricks that
//! no real force matches (angular drag, a force point above the ground, a lowered centre of mass).

use crate::aero::parameters::{AeroMaps, BilinearTable};
use crate::assists::assist_log::{Assist, Contribution};
use crate::controls::Controls;
use crate::force_element::ChassisMotion;
use crate::lane::{F32x4, Lane};
use crate::linear::SpatialVector;
use crate::math;
use crate::model::Model;
use crate::step::vehicle::Vehicle;
use crate::vectors::Vec3Lanes;
use crate::world::port::ChassisState;
use bevy_math::{Mat3, Vec3};

/// Smallest longitudinal speed (m/s) that the direction of the air is computed with.
const MIN_AIR_SPEED_MPS: f32 = 0.1;

/// Computes drag, side force and downforce as impulses about the centre of mass, for a car or a batch of cars.
/// `velocity` is the velocity relative to the air (vehicle frame, m/s). The factors of the maps apply to drag and to
/// each surface.
///
/// `C v |v| / (1 + dt C |v| / m)` is the quadratic law, integrated implicitly so that it is stable at any speed.
/// Surfaces respond to air from ahead: a car that falls, or slides sideways or backwards, has no downforce. With a map
/// over the angle of the air, air from the side counts, too.
#[inline(always)]
pub(crate) fn air_impulses<C: Lane>(
    model: &Model,
    velocity: Vec3Lanes<C>,
    [drag, factors @ ..]: [C; 3],
    dt: f32,
) -> SpatialVector<C> {
    let aero = &model.parts().aero;
    let (zero, one, step, mass) = (C::splat(0.0), C::splat(1.0), C::splat(dt), C::splat(model.mass()));
    let speed = velocity.dot(velocity).sqrt();
    let fading = |coefficient: C| coefficient * speed / (one + step * coefficient * speed / mass);
    let from_ahead = velocity.x.at_least(zero) * velocity.x;
    let mut sum = impulse_at_point(aero.drag_point, step, velocity * -fading(C::splat(aero.drag) * drag));
    if aero.side != 0.0 {
        sum = sum
            + impulse_at_point(
                aero.side_point,
                step,
                Vec3Lanes::splat(Vec3::Y) * (-fading(C::splat(aero.side)) * velocity.y),
            );
    }
    for (i, (surface, factor)) in aero.downforce.iter().zip(factors).enumerate() {
        if surface.coefficient != 0.0 {
            let by_angle = aero.maps.as_ref().is_some_and(|maps| maps.yaw[1 + i] != BilinearTable::default());
            let squared = if by_angle { from_ahead + velocity.y * velocity.y } else { from_ahead };
            let coefficient = C::splat(surface.coefficient) * factor;
            let implicit = one + step * coefficient.abs() * speed / mass;
            sum = sum
                + impulse_at_point(
                    surface.point,
                    step,
                    Vec3Lanes::splat(Vec3::NEG_Z) * (coefficient * squared / implicit),
                );
        }
    }
    sum
}

/// Returns the impulse of a `force` (N) over a `step` (s) at a point relative to the centre of mass.
#[inline(always)]
fn impulse_at_point<C: Lane>(point: Vec3, step: C, force: Vec3Lanes<C>) -> SpatialVector<C> {
    let impulse = force * step;
    SpatialVector::new(impulse, Vec3Lanes::splat(point).cross(impulse))
}

impl Vehicle {
    /// Returns the impulses on the chassis besides those of its tyres and struts, about the centre of mass. `by_tyres`
    /// is the change of its velocity by the tyres (vehicle frame, m/s).
    #[inline(always)]
    pub(crate) fn external_impulses(
        &mut self,
        body: &ChassisState,
        to_world: &Mat3,
        by_tyres: Vec3Lanes<f32>,
        controls: &Controls,
        dt: f32,
    ) -> SpatialVector<f32> {
        let real = self.air_impulses(body, to_world, by_tyres, dt);
        if self.model.assists().is_empty() {
            return real;
        }
        let mut all = real;
        if !self.model.parts().external_forces.is_empty() {
            all = all + self.element_impulses(body, to_world, controls, dt);
        }
        if self.model.parts().assists.angular_drag > 0.0 {
            all = all + self.angular_drag_impulse(body, to_world, dt);
        }
        all
    }

    #[inline(always)]
    fn air_impulses(
        &self,
        body: &ChassisState,
        to_world: &Mat3,
        by_tyres: Vec3Lanes<f32>,
        dt: f32,
    ) -> SpatialVector<f32> {
        // Velocity in the middle of the step. The function `air_impulses` accounts for the change by drag itself.
        let begun = Vec3Lanes::splat(to_world.transpose() * (body.velocity - body.wind));
        let velocity = begun + by_tyres * 0.5;
        let factors = self.aero_factors(Vec3::from(velocity.to_array()));
        air_impulses(&self.model, velocity, factors, dt)
    }

    /// Returns the factors of the maps on drag and on each surface, for the `velocity` relative to the air (vehicle
    /// frame, m/s).
    #[inline(always)]
    pub(crate) fn aero_factors(&self, velocity: Vec3) -> [f32; 3] {
        self.model.parts().aero.maps.as_ref().map_or([1.0; 3], |maps| self.mapped_factors(maps, velocity))
    }

    #[inline(never)]
    fn mapped_factors(&self, maps: &AeroMaps, velocity: Vec3) -> [f32; 3] {
        let mean_compression = self.model.mean_compression(|i| self.state.wheels[i].compression);
        maps.factors(mean_compression, math::atan(velocity.y.abs() / velocity.x.abs().max(MIN_AIR_SPEED_MPS)))
    }

    /// Returns the impulse of the force elements on the chassis, and adds it to the assist log.
    #[inline(never)]
    fn element_impulses(
        &mut self,
        body: &ChassisState,
        to_world: &Mat3,
        controls: &Controls,
        dt: f32,
    ) -> SpatialVector<f32> {
        let (model, motion) = (&self.model, ChassisMotion::new(body, dt));
        let (mut force, mut moment) = (Vec3::ZERO, Vec3::ZERO);
        for element in &model.parts().external_forces {
            let action = element.0.evaluate(&motion, controls);
            let (own, turning) = action.wrench(to_world, model.inverse_mass(), model.inverse_inertia(), dt);
            (force, moment) = (force + own, moment + turning);
        }
        self.log_contribution(Assist::Elements, Contribution::wrench(force, moment));
        SpatialVector::from_vec3s(force * dt, moment * dt)
    }

    /// Adds to the assist log the moments that forces lose by acting above the ground, and by a lowered centre of mass.
    pub(crate) fn log_moved_forces(&mut self, dt: f32) {
        let lowered = self.model.parts().assists.lowered_centre;
        let assist_log = self.assist_log.get_or_insert_default();
        for (bank, rows) in self.model.wheel_packs().iter().zip(&self.rows) {
            if bank.force_point.is_none() && lowered == 0.0 {
                continue;
            }
            let tyre = rows.contact.forward.linear * rows.solution.tyre_impulse[0]
                + rows.contact.side.linear * rows.solution.tyre_impulse[1];
            // Moments of `height ẑ × force`, left + right first.
            let moved = |height: F32x4, force: Vec3Lanes<F32x4>| {
                let [x, y] = [-(height * force.y), height * force.x].map(|moment| moment.sum() / dt);
                Contribution::wrench(Vec3::ZERO, Vec3::new(x, y, 0.0))
            };
            if let Some(height) = bank.force_point {
                assist_log.add(Assist::ForcePoint, moved(height, tyre));
            }
            if lowered > 0.0 {
                let ground = tyre + rows.contact.normal.linear * rows.suspension.load;
                assist_log.add(Assist::LoweredCentre, moved(F32x4::splat(lowered), ground));
            }
        }
    }

    /// Returns the impulse of a moment that slows every rotation at the model's rate, and adds it to the assist log. No
    /// real force does this.
    ///
    /// `−I ω k dt / (1 + k dt)` is the linear law, integrated implicitly so that it is stable at any rate.
    fn angular_drag_impulse(&mut self, body: &ChassisState, to_world: &Mat3, dt: f32) -> SpatialVector<f32> {
        let rate = self.model.parts().assists.angular_drag * dt;
        let momentum = *self.model.inertia() * (to_world.transpose() * body.angular);
        let impulse = momentum * (-rate / (1.0 + rate));
        self.log_contribution(Assist::AngularDrag, Contribution::wrench(Vec3::ZERO, impulse / dt));
        SpatialVector::from_vec3s(Vec3::ZERO, impulse)
    }
}
