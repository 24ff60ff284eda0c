//! Conversion of aerodynamics to SI units: drag, side force, surfaces and their maps.

use super::vehicle_point;
use crate::spec::{self, VehicleSpec};
use skidpad_core::model::{Aero, AeroMaps, AeroSurface, BilinearTable};
use skidpad_core::{ModelError, Vec3};

/// Builds the aerodynamics of the model: drag, side force and the downforce of surfaces (such as wings), each as a
/// force per squared speed (N s²/m²) with its point in the vehicle frame. Stated values per squared speed are used as
/// given. Otherwise the dimensionless coefficient (0 if absent) is multiplied by `½ ρ A`, half the air density times
/// the frontal area (0 if absent). Lift becomes negative downforce. Absent points are the centre of mass. Only the
/// first two surfaces are used; missing ones have no force. A vehicle without `aero` has no aerodynamic forces. Fails
/// if a map is not valid.
pub(super) fn build_aero(spec: &VehicleSpec) -> Result<Aero, ModelError> {
    let Some(aero_spec) = &spec.aero else {
        return Ok(Aero::default());
    };
    let to_vehicle_point = |point: &spec::Point| {
        vehicle_point(&spec.chassis, point.behind_front_axle_m, point.left_m, point.above_ground_m)
    };
    // ½ ρ A, N s²/m².
    let pressure_area = 0.5 * aero_spec.air_density_kg_per_m3 * aero_spec.frontal_area_m2.unwrap_or(0.0);
    let drag_from_coefficient = || aero_spec.drag_coefficient.unwrap_or(0.0) * pressure_area;
    let to_surface = |surface_spec: &spec::Surface| AeroSurface {
        coefficient: surface_spec
            .downforce_n_s2_per_m2
            .unwrap_or_else(|| -surface_spec.lift_coefficient.unwrap_or(0.0) * pressure_area)
            as f32,
        point: to_vehicle_point(&surface_spec.point),
    };
    let mut surfaces = aero_spec.surfaces.iter().map(to_surface);
    Ok(Aero {
        drag: aero_spec.drag_n_s2_per_m2.unwrap_or_else(drag_from_coefficient) as f32,
        drag_point: aero_spec.drag_point.as_ref().map_or(Vec3::ZERO, to_vehicle_point),
        side: aero_spec.side_n_s2_per_m2.unwrap_or_else(|| aero_spec.side_coefficient.unwrap_or(0.0) * pressure_area)
            as f32,
        side_point: aero_spec.side_point.as_ref().map_or(Vec3::ZERO, to_vehicle_point),
        downforce: [(); 2].map(|()| surfaces.next().unwrap_or_default()),
        maps: build_maps(aero_spec)?,
    })
}

/// Builds the maps of factors over front and rear ride height (m), and over yaw angle (rad). Each map has one table for
/// drag, then one for each of the first two surfaces. A list without factors becomes a default table, which has no
/// effect. Without a height map, the heights at rest are 1 m and have no effect. Returns `None` if the file has neither
/// map. Fails if knots and factors do not form a table.
fn build_maps(aero_spec: &spec::Aero) -> Result<Option<Box<AeroMaps>>, ModelError> {
    if aero_spec.height_map.is_none() && aero_spec.yaw_map.is_none() {
        return Ok(None);
    }
    let to_f32_list = |numbers: &[f64]| numbers.iter().map(|v| *v as f32).collect::<Vec<f32>>();
    let build_table = |knots: [Vec<f32>; 2], values: Vec<f32>| match values.is_empty() {
        true => Ok(BilinearTable::default()),
        false => BilinearTable::new(knots, values).map_err(ModelError::RuleViolated),
    };
    // Tables of drag and of two surfaces.
    let (mut height_tables, mut yaw_tables): ([BilinearTable; 3], [BilinearTable; 3]) = Default::default();
    if let Some(map) = &aero_spec.height_map {
        let factor_lists =
            std::iter::once(&map.drag).chain(aero_spec.surfaces.iter().map(|surface| &surface.height_factors));
        for (target_table, factor_rows) in height_tables.iter_mut().zip(factor_lists) {
            *target_table =
                build_table([to_f32_list(&map.front_m), to_f32_list(&map.rear_m)], to_f32_list(&factor_rows.concat()))?;
        }
    }
    if let Some(map) = &aero_spec.yaw_map {
        let angles: Vec<f64> = map.angles_deg.iter().map(|angle| angle.to_radians()).collect();
        let factor_lists =
            std::iter::once(&map.drag).chain(aero_spec.surfaces.iter().map(|surface| &surface.yaw_factors));
        for (target_table, factors) in yaw_tables.iter_mut().zip(factor_lists) {
            // A single knot of the second axis: the table depends on the yaw angle only.
            *target_table = build_table([to_f32_list(&angles), vec![0.0]], to_f32_list(factors))?;
        }
    }
    let rest_heights = aero_spec.height_map.as_ref().map_or([1.0; 2], |map| [map.front_at_rest_m, map.rear_at_rest_m]);
    Ok(Some(Box::new(AeroMaps {
        at_rest: rest_heights.map(|height| height as f32),
        heights: height_tables,
        yaw: yaw_tables,
    })))
}
