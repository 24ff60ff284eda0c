//! External forces on the chassis, besides those of tyres and struts: air, custom force elements, and the tricks that
//! no real force matches (angular drag, a force point above the ground, a lowered centre of mass).

use crate::aero::parameters::{Aero, AeroCoefficients, AeroMaps, BilinearTable};
use crate::assist_log::{Assist, Contribution};
use crate::controls::Controls;
use crate::force_element::ChassisMotion;
use crate::model::Model;
use crate::port::ChassisState;
use crate::vehicle::Vehicle;
use bevy_math::{Mat3, Vec3};
use skidpad_simd::lane::{F32x4, Lane};
use skidpad_simd::linear::SpatialVector;
use skidpad_simd::math;
use skidpad_simd::vectors::Vec3Lanes;

/// Smallest longitudinal speed (m/s) that the direction of the air is computed with.
const MIN_AIR_SPEED_MPS: f32 = 0.1;

/// Returns drag, side force and downforce over a step of `dt` s as impulses about the centre of mass (N s, N m s,
/// vehicle frame), for a car or a batch of cars. Points and presence of the forces are those of `aero`, their sizes
/// those of `coefficients`; the mass is in kg. `velocity` is the velocity relative to the air (vehicle frame, m/s).
/// `drag_factor` and `surface_factors` are factors of the aerodynamic maps; the side force has none.
///
/// Drag acts against the whole velocity at its point, the side force against the lateral velocity only, and downforce
/// along −z at the point of each surface. `C v |v| / (1 + dt C |v| / m)` is the quadratic law, integrated implicitly so
/// that it is stable at any speed. Surfaces respond to air from ahead, with `max(v_x, 0)²`: a car that falls, or slides
/// sideways or backwards, has no downforce. A surface with a map over the angle of the air also counts air from the
/// side (`+ v_y²`). A negative coefficient lifts. Side force and surfaces with coefficient 0 are skipped.
#[inline(always)]
pub(crate) fn air_impulses<C: Lane>(
    aero: &Aero,
    (coefficients, mass): (&AeroCoefficients<C>, C),
    velocity: Vec3Lanes<C>,
    [drag_factor, surface_factors @ ..]: [C; 3],
    dt: f32,
) -> SpatialVector<C> {
    let (zero, one, dt_lanes) = (C::splat(0.0), C::splat(1.0), C::splat(dt));
    // Magnitude of the whole velocity, for all terms (m/s).
    let speed = velocity.dot(velocity).sqrt();
    // Force per velocity with the implicit denominator (N s/m), for drag and side force.
    let implicit_coefficient = |coefficient: C| coefficient * speed / (one + dt_lanes * coefficient * speed / mass);
    // Square of the speed from ahead (m²/s²).
    let squared_forward_speed = velocity.x.at_least(zero) * velocity.x;
    // Drag against the whole velocity.
    let mut sum =
        impulse_at_point(aero.drag_point, dt_lanes, velocity * -implicit_coefficient(coefficients.drag * drag_factor));
    // Side force against the lateral velocity.
    if aero.side != 0.0 {
        sum = sum
            + impulse_at_point(
                aero.side_point,
                dt_lanes,
                Vec3Lanes::splat(Vec3::Y) * (-implicit_coefficient(coefficients.side) * velocity.y),
            );
    }
    // Downforce of both surfaces.
    for (i, (surface, factor)) in aero.downforce.iter().zip(surface_factors).enumerate() {
        if surface.coefficient != 0.0 {
            // Whether the surface has a yaw map; map 0 belongs to drag.
            let has_yaw_map = aero.maps.as_ref().is_some_and(|maps| maps.yaw[1 + i] != BilinearTable::default());
            let squared_speed =
                if has_yaw_map { squared_forward_speed + velocity.y * velocity.y } else { squared_forward_speed };
            let coefficient = coefficients.downforce[i] * factor;
            // Denominator of the implicit integration.
            let denominator = one + dt_lanes * coefficient.abs() * speed / mass;
            sum = sum
                + impulse_at_point(
                    surface.point,
                    dt_lanes,
                    Vec3Lanes::splat(Vec3::NEG_Z) * (coefficient * squared_speed / denominator),
                );
        }
    }
    sum
}

/// Returns the impulse (N s) and its moment about the centre of mass (N m s) of a `force` (N) over `dt` (s).
/// `point` is the point of application relative to the centre of mass, vehicle frame (m).
#[inline(always)]
fn impulse_at_point<C: Lane>(point: Vec3, dt: C, force: Vec3Lanes<C>) -> SpatialVector<C> {
    let impulse = force * dt;
    SpatialVector::new(impulse, Vec3Lanes::splat(point).cross(impulse))
}

/// Returns the factors of `maps` on drag and both surfaces, at the mean compressions of the first and last axle and at
/// the yaw angle of the air, `atan(|v_y| / |v_x|)` in 0 to π/2, with `|v_x|` at least [`MIN_AIR_SPEED_MPS`].
/// `compression(i)` is the compression of wheel `i` (m); `velocity` is relative to the air (vehicle frame, m/s).
#[inline(never)]
pub(crate) fn mapped_factors(
    maps: &AeroMaps,
    model: &Model,
    compression: impl Fn(usize) -> f32,
    velocity: Vec3,
) -> [f32; 3] {
    let mean_compression = model.mean_compression(compression);
    maps.factors(mean_compression, math::atan(velocity.y.abs() / velocity.x.abs().max(MIN_AIR_SPEED_MPS)))
}

impl Vehicle {
    /// Returns the impulses on the chassis besides those of its tyres and struts (N s, and N m s about the centre of
    /// mass, vehicle frame): air, then user-defined force elements, then angular drag. Gravity is not included.
    ///
    /// A model without assists or tricks has the air alone. Otherwise force elements act if the model has some, and
    /// angular drag if its rate is positive; both are added to the assist log. `tyre_velocity_change` is the change of
    /// the chassis velocity by the tyres (vehicle frame, m/s); only the air uses it.
    #[inline(always)]
    pub(crate) fn external_impulses(
        &mut self,
        body: &ChassisState,
        to_world: &Mat3,
        tyre_velocity_change: Vec3Lanes<f32>,
        controls: &Controls,
        dt: f32,
    ) -> SpatialVector<f32> {
        // Impulses of the air, as on a real car.
        let aero_impulses = self.air_impulses(body, to_world, tyre_velocity_change, dt);
        // Force elements and angular drag count as assists or tricks.
        if self.model.assists().is_empty() {
            return aero_impulses;
        }
        let mut total = aero_impulses;
        if !self.model.parts().external_forces.is_empty() {
            total = total + self.element_impulses(body, to_world, controls, dt);
        }
        if self.model.parts().assists.angular_drag > 0.0 {
            total = total + self.angular_drag_impulse(body, to_world, dt);
        }
        total
    }

    /// Returns the impulses of the air (N s, N m s, vehicle frame), factors of the aerodynamic maps included. The
    /// velocity is that of `body` at the start of the step relative to the wind, plus half of `tyre_velocity_change`,
    /// the change by the tyres (m/s).
    #[inline(always)]
    fn air_impulses(
        &self,
        body: &ChassisState,
        to_world: &Mat3,
        tyre_velocity_change: Vec3Lanes<f32>,
        dt: f32,
    ) -> SpatialVector<f32> {
        // Velocity in the middle of the step. The function `air_impulses` accounts for the change by drag itself.
        let start_velocity = Vec3Lanes::splat(to_world.transpose() * (body.velocity - body.wind));
        let velocity = start_velocity + tyre_velocity_change * 0.5;
        let factors = self.aero_factors(Vec3::from(velocity.to_array()));
        let aero = &self.model.parts().aero;
        air_impulses(aero, (&AeroCoefficients::of(aero), self.model.mass()), velocity, factors, dt)
    }

    /// Returns the factors of the maps on drag and on each surface, for the `velocity` relative to the air (vehicle
    /// frame, m/s) and the present strut compressions; 1 for a model without maps.
    #[inline(always)]
    pub(crate) fn aero_factors(&self, velocity: Vec3) -> [f32; 3] {
        let compression = |i: usize| self.state.wheels[i].compression;
        self.model
            .parts()
            .aero
            .maps
            .as_ref()
            .map_or([1.0; 3], |maps| mapped_factors(maps, &self.model, compression, velocity))
    }

    /// Returns the impulse of all force elements of the model on the chassis (N s, N m s, vehicle frame), and adds
    /// their force and moment to the assist log. The elements are evaluated in order, at the motion of `body` at the
    /// start of the step. The damping of an element reduces its force.
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
            let (element_force, element_moment) =
                action.wrench(to_world, model.inverse_mass(), model.inverse_inertia(), dt);
            (force, moment) = (force + element_force, moment + element_moment);
        }
        self.log_contribution(Assist::Elements, Contribution::wrench(force, moment));
        SpatialVector::from_vec3s(force * dt, moment * dt)
    }

    /// Adds to the assist log the moments (N m) by which two tricks change those of the tyre forces: `height ẑ × force`
    /// for tyre forces that act above the ground at a force point, and for all contact forces, loads included, if the
    /// centre of mass is lowered. Groups without such a trick are skipped. The forces are the solved impulses over `dt`
    /// s. Moments about the vertical axis are 0.
    pub(crate) fn log_moved_forces(&mut self, dt: f32) {
        let lowered_distance = self.model.parts().assists.lowered_centre;
        let assist_log = self.assist_log.get_or_insert_default();
        for (group, rows) in self.model.wheel_packs().iter().zip(&self.rows) {
            if group.force_point.is_none() && lowered_distance == 0.0 {
                continue;
            }
            // Tyre impulses without loads (N s).
            let tyre_impulse = rows.contact.forward.linear * rows.solution.tyre_impulse[0]
                + rows.contact.side.linear * rows.solution.tyre_impulse[1];
            // Moments `height ẑ × force` = (−height F_y, height F_x, 0), left + right first.
            let moment_contribution = |height: F32x4, force: Vec3Lanes<F32x4>| {
                // Roll and pitch moment, positive about the x and y axes.
                let [x, y] = [-(height * force.y), height * force.x].map(|moment| moment.sum() / dt);
                Contribution::wrench(Vec3::ZERO, Vec3::new(x, y, 0.0))
            };
            if let Some(height) = group.force_point {
                assist_log.add(Assist::ForcePoint, moment_contribution(height, tyre_impulse));
            }
            if lowered_distance > 0.0 {
                // All contact impulses (N s).
                let contact_impulse = tyre_impulse + rows.contact.normal.linear * rows.suspension.load;
                assist_log
                    .add(Assist::LoweredCentre, moment_contribution(F32x4::splat(lowered_distance), contact_impulse));
            }
        }
    }

    /// Returns the angular impulse (N m s, vehicle frame) of a moment that slows every rotation at the rate k =
    /// `assists.angular_drag` (1/s), and adds the moment to the assist log. No real force does this. ω is the angular
    /// velocity of `body` at the start of the step.
    ///
    /// `−I ω k dt / (1 + k dt)` is the linear law, integrated implicitly so that it is stable at any rate.
    fn angular_drag_impulse(&mut self, body: &ChassisState, to_world: &Mat3, dt: f32) -> SpatialVector<f32> {
        // `k dt`, the share of the rotation that an explicit step would remove.
        let rate = self.model.parts().assists.angular_drag * dt;
        // Angular momentum at the start of the step, vehicle frame (N m s).
        let momentum = *self.model.inertia() * (to_world.transpose() * body.angular_velocity);
        let impulse = momentum * (-rate / (1.0 + rate));
        self.log_contribution(Assist::AngularDrag, Contribution::wrench(Vec3::ZERO, impulse / dt));
        SpatialVector::from_vec3s(Vec3::ZERO, impulse)
    }
}
