//! Probes that start inside or below the ground, upside down, or inside their own car.

use skidpad::core::{Controls, DVec3, FixedBox, Quat, Scene, Vec3, state::Placement};

use super::{PROBES, probe, upright, worlds, worlds_with};
use crate::common::{Drive, Simplify, c5, on_rows};
use crate::world::terrain::flat_grounds;

fn grounds() -> Vec<(&'static str, Scene)> {
    let mut all = flat_grounds(0.0, 0.0);
    all.push(("plane", Scene::flat()));
    all
}

/// A probe from below the ground finds its surface above, or nothing, but never a face from behind.
#[test]
fn probes_from_below_find_no_face_from_behind() {
    for (kind, scene) in grounds() {
        for mut world in worlds(&scene) {
            for shape in PROBES {
                for depth in [1e-3, 0.1, 0.5, 0.9] {
                    let Some(met) = world.probe(upright(shape, DVec3::new(0.3, 0.3, -depth))) else { continue };
                    let what = format!("{} {kind} {shape:?} {depth} m deep: {met:?}", world.name);
                    assert!((f64::from(met.distance) + depth).abs() < 1e-5 && met.normal.z > 0.9999, "{what}");
                }
            }
        }
    }
}

/// Row E2: a car below the ground comes out without a jump, and stands.
#[test]
fn e2_a_car_below_the_ground_comes_out() {
    let model = c5().model();
    for solver in on_rows() {
        for (kind, scene) in grounds() {
            // Rays start 0.65 m above the contact of a wheel at rest. A mesh is a sheet, which a hull leaves downwards if
            // most of it is below. Unsprung masses so deep in their stops are thrown up, which is not solved.
            let is_sheet = kind == "mesh" || solver.name == "constraint-unsprung";
            for deep in if is_sheet { &[0.3f64][..] } else { &[0.3, 0.7] } {
                let placement = Placement { height: -deep, gear: Some(0), ..Placement::default() };
                let stands =
                    Drive::new(&solver, &model, &Scene::flat(), Placement::default(), 120.0).world.frame(0).z_m;
                let mut car = Drive::new(&solver, &model, &scene, placement, 120.0);
                let frames = car.run(6.0, |_| Controls::parked());
                let highest = frames.iter().map(|f| f.z_m).fold(f64::MIN, f64::max) - stands;
                let last = frames[frames.len() - 1].z_m - stands;
                let what = format!("{} {kind} {deep} m deep", solver.name);
                assert!(last.abs() < 1e-3 && highest < 0.25, "{what}: stands at {last} m, was {highest} m high");
            }
        }
    }
}

/// Probes of a car on its roof point upwards. They have contact only below a ceiling.
#[test]
fn probes_of_a_flipped_car_look_up() {
    let over = Quat::from_rotation_x(std::f32::consts::PI);
    let ceiling = FixedBox::axis_aligned(DVec3::new(0.0, 0.0, 2.5), Vec3::new(20.0, 20.0, 1.0));
    for (kind, scene) in grounds() {
        let below = Scene { boxes: [scene.boxes.clone(), vec![ceiling]].concat(), ..scene.clone() };
        for (has_ceiling, scene) in [(false, scene), (true, below)] {
            for mut world in worlds(&scene) {
                for shape in PROBES {
                    let found = world.probe(probe(shape, DVec3::new(0.2, 0.1, 0.8), over, 1.2));
                    let what = format!("{} {kind} {shape:?}: {found:?}", world.name);
                    assert_eq!(found.is_some(), has_ceiling, "{what}");
                    let Some(found) = found else { continue };
                    assert!((found.distance - 1.2).abs() < 5e-6 && found.normal.z < -0.9999, "{what}");
                }
            }
        }
    }
}

/// Probes pass through their own car, from above it and from inside.
#[test]
fn the_own_chassis_is_no_ground() {
    for (kind, scene) in grounds() {
        for mut world in worlds_with(&scene, Placement::default()) {
            for shape in PROBES {
                for height in [0.5, 0.7, 1.5] {
                    let what = format!("{} {kind} {shape:?} from {height} m", world.name);
                    let met = world.met(upright(shape, DVec3::new(0.3, 0.2, height)), &what);
                    assert!((f64::from(met.distance) - height).abs() < 5e-6, "{what}: {}", met.distance);
                }
            }
        }
    }
}
