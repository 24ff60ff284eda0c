//! Conversion of aerodynamics to SI units: drag, side force, surfaces and their maps.

use super::vehicle_point;
use crate::spec::{self, VehicleSpec};
use skidpad_core::model::{Aero, AeroMaps, AeroSurface, BilinearTable};
use skidpad_core::{ModelError, Vec3};

/// Builds the aerodynamics of the model: forces per squared speed (N s²/m²) and their points in the vehicle frame.
/// Dimensionless coefficients are multiplied by `½ ρ A`, half the air density times the frontal area. Lift becomes
/// negative downforce. Absent points are the centre of mass; only the first two surfaces are used. A vehicle without
/// `aero` has no aerodynamic forces. Fails if a map is not valid.
pub(super) fn aero(spec: &VehicleSpec) -> Result<Aero, ModelError> {
    let Some(given) = &spec.aero else {
        return Ok(Aero::default());
    };
    let at = |p: &spec::Point| vehicle_point(&spec.chassis, p.behind_front_axle_m, p.left_m, p.above_ground_m);
    // ½ ρ A, N s²/m².
    let pressure_area = 0.5 * given.air_density_kg_per_m3 * given.frontal_area_m2.unwrap_or(0.0);
    let by_coefficient = || given.drag_coefficient.unwrap_or(0.0) * pressure_area;
    let surface = |s: &spec::Surface| AeroSurface {
        coefficient: s.downforce_n_s2_per_m2.unwrap_or_else(|| -s.lift_coefficient.unwrap_or(0.0) * pressure_area)
            as f32,
        point: at(&s.point),
    };
    let mut surfaces = given.surfaces.iter().map(surface);
    Ok(Aero {
        drag: given.drag_n_s2_per_m2.unwrap_or_else(by_coefficient) as f32,
        drag_point: given.drag_point.as_ref().map_or(Vec3::ZERO, at),
        side: given.side_n_s2_per_m2.unwrap_or_else(|| given.side_coefficient.unwrap_or(0.0) * pressure_area) as f32,
        side_point: given.side_point.as_ref().map_or(Vec3::ZERO, at),
        downforce: [(); 2].map(|()| surfaces.next().unwrap_or_default()),
        maps: maps(given)?,
    })
}

/// Builds the maps over ride height (m) and yaw angle (rad): one for drag and one for each of two surfaces. A map without
/// factors has no effect. Without a height map the heights at rest are 1 m and have no effect. Returns `None` if the file
/// has neither map. Fails if knots and factors do not form a table.
fn maps(given: &spec::Aero) -> Result<Option<Box<AeroMaps>>, ModelError> {
    if given.height_map.is_none() && given.yaw_map.is_none() {
        return Ok(None);
    }
    let single = |list: &[f64]| list.iter().map(|v| *v as f32).collect::<Vec<f32>>();
    let table = |knots: [Vec<f32>; 2], values: Vec<f32>| match values.is_empty() {
        true => Ok(BilinearTable::default()),
        false => BilinearTable::new(knots, values).map_err(ModelError::RuleViolated),
    };
    // Tables of drag and of two surfaces.
    let (mut heights, mut yaw): ([BilinearTable; 3], [BilinearTable; 3]) = Default::default();
    if let Some(map) = &given.height_map {
        let lists = std::iter::once(&map.drag).chain(given.surfaces.iter().map(|s| &s.height_factors));
        for (to, rows) in heights.iter_mut().zip(lists) {
            *to = table([single(&map.front_m), single(&map.rear_m)], single(&rows.concat()))?;
        }
    }
    if let Some(map) = &given.yaw_map {
        let angles: Vec<f64> = map.angles_deg.iter().map(|angle| angle.to_radians()).collect();
        let lists = std::iter::once(&map.drag).chain(given.surfaces.iter().map(|s| &s.yaw_factors));
        for (to, list) in yaw.iter_mut().zip(lists) {
            // A single knot of the second axis: the table depends on the yaw angle only.
            *to = table([single(&angles), vec![0.0]], single(list))?;
        }
    }
    let at_rest = given.height_map.as_ref().map_or([1.0; 2], |map| [map.front_at_rest_m, map.rear_at_rest_m]);
    Ok(Some(Box::new(AeroMaps { at_rest: at_rest.map(|height| height as f32), heights, yaw })))
}
