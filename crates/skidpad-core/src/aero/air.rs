//! What acts on the chassis beside its tyres and struts: the air, force elements of one's own, and what nothing real does:
//! the tricks of angular drag and of a point of force above the ground.

use crate::aero::parameters::{AeroMaps, Table};
use crate::assists::assist_log::{Assist, Contribution};
use crate::controls::Controls;
use crate::element::Motion;
use crate::lane::{Four, Lane};
use crate::linear::SpatialVector;
use crate::math;
use crate::model::Model;
use crate::step::vehicle::Vehicle;
use crate::vectors::Vec3Lanes;
use crate::world::seam::Body;
use bevy_math::{Mat3, Vec3};

/// Speed along the vehicle, m/s, below which the air's direction is not told from it.
const LEAST_AIR_SPEED: f32 = 0.1;

/// Drag, side force and downforce as impulses about the centre of mass, of the air that meets a car, or several abreast, at `velocity`
/// (vehicle frame, m/s), with the `factors` of its maps.
///
/// `C v |v| / (1 + dt C |v| / m)`: the quadratic law, taken implicitly so that no speed makes it unstable. Surfaces work in
/// the air that comes from ahead: a falling car, or one that slides sideways or backwards, is not pressed down. With a map
/// over the air's angle, that tells what air from the side does.
#[inline(always)]
pub(crate) fn air<C: Lane>(
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
    let mut sum = acting_at(aero.drag_point, step, velocity * -fading(C::splat(aero.drag) * drag));
    if aero.side != 0.0 {
        sum = sum
            + acting_at(aero.side_point, step, Vec3Lanes::splat(Vec3::Y) * (-fading(C::splat(aero.side)) * velocity.y));
    }
    for (i, (surface, factor)) in aero.downforce.iter().zip(factors).enumerate() {
        if surface.coefficient != 0.0 {
            let by_angle = aero.maps.as_ref().is_some_and(|maps| maps.yaw[1 + i] != Table::default());
            let squared = if by_angle { from_ahead + velocity.y * velocity.y } else { from_ahead };
            let coefficient = C::splat(surface.coefficient) * factor;
            let implicit = one + step * coefficient.abs() * speed / mass;
            sum = sum
                + acting_at(surface.point, step, Vec3Lanes::splat(Vec3::NEG_Z) * (coefficient * squared / implicit));
        }
    }
    sum
}

/// A `force` for a `step` of so many s, at a point from the centre of mass.
#[inline(always)]
fn acting_at<C: Lane>(point: Vec3, step: C, force: Vec3Lanes<C>) -> SpatialVector<C> {
    let impulse = force * step;
    SpatialVector::new(impulse, Vec3Lanes::splat(point).cross(impulse))
}

impl Vehicle {
    /// Returns the impulses on the chassis beside those of its tyres and struts, about the centre of mass, where tyres change its velocity
    /// `by_tyres` m/s (vehicle frame).
    #[inline(always)]
    pub(crate) fn external(
        &mut self,
        body: &Body,
        to_world: &Mat3,
        by_tyres: Vec3Lanes<f32>,
        controls: &Controls,
        dt: f32,
    ) -> SpatialVector<f32> {
        let real = self.air(body, to_world, by_tyres, dt);
        if self.model.assists().is_empty() {
            return real;
        }
        let mut all = real;
        if !self.model.parts().elements.is_empty() {
            all = all + self.elements(body, to_world, controls, dt);
        }
        if self.model.parts().assists.angular_drag > 0.0 {
            all = all + self.angular_drag(body, to_world, dt);
        }
        all
    }

    #[inline(always)]
    fn air(&self, body: &Body, to_world: &Mat3, by_tyres: Vec3Lanes<f32>, dt: f32) -> SpatialVector<f32> {
        // In the middle of the step; what drag itself takes of it, `air` counts.
        let begun = Vec3Lanes::splat(to_world.transpose() * (body.velocity - body.wind));
        let velocity = begun + by_tyres * 0.5;
        let factors = self.aero_factors(Vec3::from(velocity.to_array()));
        air(&self.model, velocity, factors, dt)
    }

    /// What maps make of drag and surfaces in air that comes at `velocity` (vehicle frame, m/s).
    #[inline(always)]
    pub(crate) fn aero_factors(&self, velocity: Vec3) -> [f32; 3] {
        self.model.parts().aero.maps.as_ref().map_or([1.0; 3], |maps| self.mapped_factors(maps, velocity))
    }

    #[inline(never)]
    fn mapped_factors(&self, maps: &AeroMaps, velocity: Vec3) -> [f32; 3] {
        let mean_compression = self.model.mean_compression(|i| self.state.wheels[i].compression);
        maps.factors(mean_compression, math::atan(velocity.y.abs() / velocity.x.abs().max(LEAST_AIR_SPEED)))
    }

    /// What force elements do to the chassis, as an impulse; counts it.
    #[inline(never)]
    fn elements(&mut self, body: &Body, to_world: &Mat3, controls: &Controls, dt: f32) -> SpatialVector<f32> {
        let (model, motion) = (&self.model, Motion::of(body, dt));
        let (mut force, mut moment) = (Vec3::ZERO, Vec3::ZERO);
        for element in &model.parts().elements {
            let action = element.0.act(&motion, controls);
            let (own, turning) = action.wrench(to_world, model.inverse_mass(), model.inverse_inertia(), dt);
            (force, moment) = (force + own, moment + turning);
        }
        self.count(Assist::Elements, Contribution::wrench(force, moment));
        SpatialVector::of(force * dt, moment * dt)
    }

    /// Counts the moments that forces have less for acting above the ground, and for a mass that lies lower than it does.
    pub(crate) fn count_moved_forces(&mut self, dt: f32) {
        let lowered = self.model.parts().assists.lowered_centre;
        let assist_log = self.assist_log.get_or_insert_default();
        for (bank, rows) in self.model.banks().iter().zip(&self.rows) {
            if bank.force_point.is_none() && lowered == 0.0 {
                continue;
            }
            let tyre =
                rows.contact.forward.linear * rows.coupled.tyre[0] + rows.contact.side.linear * rows.coupled.tyre[1];
            // Moments of `height ẑ × force`, left + right first.
            let moved = |height: Four, force: Vec3Lanes<Four>| {
                let [x, y] = [-(height * force.y), height * force.x].map(|moment| moment.sum() / dt);
                Contribution::wrench(Vec3::ZERO, Vec3::new(x, y, 0.0))
            };
            if let Some(height) = bank.force_point {
                assist_log.add(Assist::ForcePoint, moved(height, tyre));
            }
            if lowered > 0.0 {
                let ground = tyre + rows.contact.normal.linear * rows.suspension.load;
                assist_log.add(Assist::LoweredCentre, moved(Four::splat(lowered), ground));
            }
        }
    }

    /// Moment that slows every rotation at the model's rate, as an impulse; no real force does this.
    ///
    /// `−I ω k dt / (1 + k dt)`: the linear law, taken implicitly so that no rate makes it unstable.
    fn angular_drag(&mut self, body: &Body, to_world: &Mat3, dt: f32) -> SpatialVector<f32> {
        let rate = self.model.parts().assists.angular_drag * dt;
        let momentum = *self.model.inertia() * (to_world.transpose() * body.angular);
        let impulse = momentum * (-rate / (1.0 + rate));
        self.count(Assist::AngularDrag, Contribution::wrench(Vec3::ZERO, impulse / dt));
        SpatialVector::of(Vec3::ZERO, impulse)
    }
}
