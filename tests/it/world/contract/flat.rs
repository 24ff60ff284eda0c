//! Contacts on flat ground of every kind are those on the plane.

use std::f32::consts::{FRAC_PI_2, FRAC_PI_4};

use skidpad::core::{Controls, DVec3, Probe, Quat, Scene, math, model::ProbeShape, state::Placement};

use super::{HALF_WIDTH, PROBES, RADIUS, down_to_plane, probe, worlds};
use crate::common::{Drive, Simplify, c5, on_rows};
use crate::world::terrain::flat_grounds;

/// Returns ground at z = 0 of every kind. Grid lines are 2 m apart and cross at the origin.
fn grounds() -> Vec<(&'static str, Scene)> {
    let mut all = flat_grounds(0.0, 0.0);
    all.push(("plane", Scene::flat()));
    all
}

/// Returns places on grid lines, crossings and diagonals of cells, and at the smallest distances from them that coordinates
/// resolve.
fn places() -> Vec<[f64; 2]> {
    let on = [[0.0, 0.0], [2.0, -4.0], [6.0, 0.0], [3.0, 4.0], [5.0, 5.0], [1.5, 1.5], [0.7, 3.3]];
    let beside = [0.0, 1e-7, -1e-7, 1e-4];
    on.into_iter().flat_map(|[x, y]| beside.map(|by| [x + by, y - by])).collect()
}

fn turned(heading: f32, pitch: f32, roll: f32) -> Quat {
    Quat::from_rotation_z(heading) * Quat::from_rotation_y(pitch) * Quat::from_rotation_x(roll)
}

/// Returns probes of every shape over every place, upright and tilted by up to 20°.
fn probes() -> Vec<Probe> {
    let mut all = Vec::new();
    for shape in PROBES {
        for [x, y] in places() {
            for heading in [0.0, 0.4, FRAC_PI_4, FRAC_PI_2] {
                for [pitch, roll] in [[0.0, 0.0], [0.09, 0.0], [0.0, -0.09], [-0.35, 0.1], [0.1, 0.35]] {
                    let start = DVec3::new(x, y, 0.8);
                    all.push(probe(shape, start, turned(heading, pitch, roll), 0.8));
                }
            }
        }
    }
    all
}

#[test]
fn every_kind_answers_as_the_plane() {
    for (kind, scene) in grounds() {
        for mut world in worlds(&scene) {
            for asked in probes() {
                let what = format!("{} {kind} {asked:?}", world.name);
                let met = world.met(asked, &what);
                let off = f64::from(met.distance) - down_to_plane(&asked, DVec3::Z, DVec3::ZERO);
                // Corners of the box have f32 coordinates of 200 m. Rapier repeats rays between two triangles 0.1 mm to the
                // side.
                let allowed = if world.name == "rapier" { 6e-5 } else { 1.2e-5 };
                assert!(off.abs() < allowed, "{what}: {off} m too far");
                assert!((met.normal.as_dvec3() - DVec3::Z).length() < 1e-5, "{what}: {:?}", met.normal);
                assert_eq!(met.grip, 1.0, "{what}");
                let Some(point) = met.point else { continue };
                let height = asked.position.z + f64::from(point.z);
                assert!(height.abs() < allowed, "{what}: it touches {height} m above the ground");
            }
        }
    }
}

/// Row E25: many probes in one call have the bits of single probes.
#[test]
fn e25_probes_at_once_have_the_bits_of_each() {
    for (kind, scene) in grounds() {
        for mut world in worlds(&scene) {
            let asked = probes();
            let mut together = vec![None; asked.len()];
            assert!(world.world.probe(&asked, &mut together));
            for (asked, together) in asked.into_iter().zip(together) {
                assert_eq!(world.probe(asked), together, "{} {kind} {asked:?}", world.name);
            }
        }
    }
}

/// Contacts 100 m and 10 km away are as exact as near ones in own worlds. In Rapier's world they are limited by f32
/// coordinates.
#[test]
fn far_ground_answers_as_near() {
    for (far, bits) in [(100.0, f32::EPSILON * 128.0), (10_000.0, f32::EPSILON * 16_384.0)] {
        for (kind, scene) in flat_grounds(far, -far) {
            for mut world in worlds(&scene) {
                let allowed = if world.name == "rapier" { f64::from(4.0 * bits) + 6e-5 } else { 1.2e-5 };
                for shape in PROBES {
                    for [x, y] in places() {
                        let (sin, cos) = math::sin_cos(0.05);
                        let start = DVec3::new(far + x, y - far, 0.8);
                        let asked = probe(shape, start, Quat::from_xyzw(0.0, sin, 0.0, cos), 0.8);
                        let what = format!("{} {kind} {asked:?}", world.name);
                        let off =
                            f64::from(world.met(asked, &what).distance) - down_to_plane(&asked, DVec3::Z, DVec3::ZERO);
                        assert!(off.abs() < allowed, "{what}: {off} m too far");
                    }
                }
            }
        }
    }
}

/// Probes of a car that does not exist have no contact. Rim probes of a car with ray probes have contacts.
#[test]
fn who_is_not_there_meets_nothing() {
    for mut world in worlds(&Scene::flat()) {
        for shape in PROBES {
            let asked = probe(shape, DVec3::new(0.0, 0.0, 2.0 * f64::from(RADIUS)), Quat::IDENTITY, 0.66);
            assert!(world.probe(asked).is_some(), "{}", world.name);
            assert_eq!(world.probe(Probe { car: 7, ..asked }), None, "{}", world.name);
        }
    }
}

/// Row E8: a torus rolls on its outer radius. Its model has three circles. At a lean of φ it is at most as far below a round
/// tread as circles of half width w that are 30° apart. The middle of the round tread is (R − w) cos φ + w high.
#[test]
fn e8_a_torus_rolls_on_its_outer_radius() {
    let half = f64::from(0.5 * HALF_WIDTH);
    let radius = f64::from(RADIUS);
    for (kind, scene) in grounds() {
        for mut world in worlds(&scene) {
            for degrees in [0.0f32, 2.0, 5.0, 10.0, 20.0, 30.0] {
                for heading in [0.0, 1.0, 4.0] {
                    let lean = f64::from(degrees).to_radians();
                    let turn = turned(heading, 0.0, degrees.to_radians());
                    let asked = probe(ProbeShape::Torus(HALF_WIDTH), DVec3::new(0.3, 0.7, 0.8), turn, 0.8);
                    let what = format!("{} {kind} {degrees}°", world.name);
                    let middle = 0.8 - (f64::from(world.met(asked, &what).distance) - radius) * lean.cos();
                    let below = (radius - half) * lean.cos() + half - middle;
                    // Rounding as in `every_kind_answers_as_the_plane`. 30° is half-way between two circles.
                    let allowed = half * (1.0 - lean.min(std::f64::consts::FRAC_PI_6).cos());
                    assert!(below > -2e-5 && below < allowed + 2e-5, "{what}: {below} m below the round tread");
                }
            }
        }
    }
}

/// Row E1: the compression of a strut is that of its ray, and the load that of its spring.
#[test]
fn e1_a_strut_is_as_long_as_its_ray() {
    let model = c5().model();
    for (kind, scene) in grounds() {
        // Unsprung masses reach the compression of their rays only after some time.
        for solver in on_rows().into_iter().filter(|solver| solver.name != "constraint-unsprung") {
            for lifted in [-0.02f64, 0.0, 0.01, 0.03] {
                let placement = Placement { height: lifted, gear: Some(0), ..Placement::default() };
                let frame = Drive::new(&solver, &model, &scene, placement, 1000.0).step(&Controls::coasting());
                for (i, wheel) in frame.wheels.iter().enumerate() {
                    let what = format!("{} {kind} wheel {i}, {lifted} m up", solver.name);
                    // In a millisecond a car pushed by 0.1 g moves by 1e-6 m.
                    assert!((wheel.compression_m + lifted).abs() < 2e-5, "{what}: {} m", wheel.compression_m);
                    let spring =
                        f64::from(model.static_load(i)) - f64::from(model.parts().wheels[i].strut.rate) * lifted;
                    assert!((wheel.load_n / spring - 1.0).abs() < 0.05, "{what}: {} N, not {spring} N", wheel.load_n);
                }
            }
        }
    }
}
