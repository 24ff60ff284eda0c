//! Warnings about legal but unusual values of a vehicle file, as sentences. Warnings that need only the model are in
//! the laboratory.

use skidpad_core::Model;

use crate::plausibility::CompiledVehicle;
use crate::spec::{Box3, Powertrain, VehicleSpec};
use crate::warning::Warning;

/// Largest overlap of two boxes that is not reported, as a share of the smaller box. Rounding makes touching boxes
/// overlap.
const BOX_OVERLAP_TOLERANCE: f64 = 0.01;

/// Returns the warnings about `spec`, from which `model` was compiled: those of the description, then those that need
/// the model.
pub(crate) fn vehicle_warnings(spec: &VehicleSpec, model: &Model) -> Vec<Warning> {
    let mut warnings = description_warnings(spec);
    warnings.extend(CompiledVehicle { spec, model }.warnings());
    warnings
}

/// Returns the warnings that need the description only, in this order: overlapping boxes, an up-shift speed that does
/// not depend on the pedal, and a roll influence below 1 in `raycast_reference`.
fn description_warnings(spec: &VehicleSpec) -> Vec<Warning> {
    let mut warnings = check_box_overlaps(&spec.chassis.boxes);
    warnings.extend(check_shift_speeds(spec));
    if let Some(reference) = spec.raycast_reference.as_ref().filter(|reference| reference.roll_influence < 1.0) {
        let text = format!(
            "{}: lateral forces roll ray-cast vehicles by this fraction of the physical roll angle",
            reference.roll_influence
        );
        warnings.push(Warning::new("raycast_reference.roll_influence", text));
    }
    warnings
}

/// Warns about a stepped automatic gearbox whose up-shift speed does not depend on the pedal: at least two gears
/// without `light_throttle_up_shift_rpm`.
fn check_shift_speeds(spec: &VehicleSpec) -> Option<Warning> {
    let Powertrain::Engine { gearbox, .. } = &spec.powertrain else { return None };
    let is_stepped = gearbox.continuous.is_none() && gearbox.forward.len() > 1;
    (is_stepped && gearbox.light_throttle_up_shift_rpm.is_none()).then(|| {
        let text = format!(
            "no `light_throttle_up_shift_rpm`: the automatic gearbox shifts up at {} rev/min even at part throttle and may stay in \
                 first gear",
            gearbox.up_shift_rpm
        );
        Warning::new("powertrain.gearbox", text)
    })
}

/// Warns about each pair of boxes that share more than [`BOX_OVERLAP_TOLERANCE`] of the smaller one, because their
/// common volume counts twice. The warning is about the first box of the pair.
fn check_box_overlaps(boxes: &[Box3]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (i, a) in boxes.iter().enumerate() {
        for (j, b) in boxes.iter().enumerate().skip(i + 1) {
            let smaller_volume = box_volume(a).min(box_volume(b));
            let overlap_share = common_volume(a, b) / smaller_volume;
            if overlap_share > BOX_OVERLAP_TOLERANCE {
                let overlap_percent = 100.0 * overlap_share;
                let text = format!(
                    "overlaps `[{j}]` by {overlap_percent:.0} % of the smaller box; the overlapping mass counts twice"
                );
                warnings.push(Warning::new(format!("chassis.boxes[{i}]"), text));
            }
        }
    }
    warnings
}

/// Returns the volume of a box, m³.
fn box_volume(box_spec: &Box3) -> f64 {
    box_spec.length_m * box_spec.width_m * box_spec.height_m
}

/// Returns the common volume of two boxes that are aligned with the axes, m³: the product of their common lengths along
/// each axis; 0 if they do not overlap.
fn common_volume(a: &Box3, b: &Box3) -> f64 {
    // `extent` returns centre and length of a box along one axis, m.
    let common_length = |extent: fn(&Box3) -> (f64, f64)| {
        let ((centre_a, length_a), (centre_b, length_b)) = (extent(a), extent(b));
        let (low, high) = (
            (centre_a - 0.5 * length_a).max(centre_b - 0.5 * length_b),
            (centre_a + 0.5 * length_a).min(centre_b + 0.5 * length_b),
        );
        (high - low).max(0.0)
    };
    common_length(|part| (part.behind_front_axle_m, part.length_m))
        * common_length(|part| (part.left_m, part.width_m))
        * common_length(|part| (part.above_ground_m, part.height_m))
}

#[cfg(test)]
mod tests {
    use super::description_warnings;
    use crate::VehicleSpec;
    use crate::spec::Box3;

    /// Returns the warnings that need the description only, as texts.
    fn texts(spec: &VehicleSpec) -> Vec<String> {
        description_warnings(spec).into_iter().map(|lint| format!("`{}`: {}", lint.path, lint.text)).collect()
    }

    fn reference() -> VehicleSpec {
        let text = crate::shipped::find("bullet_reference").expect("shipped");
        VehicleSpec::read("bullet_reference", text).expect("valid")
    }

    /// Row A13: overlapping boxes are reported with their share of the smaller box (10 % of 2.1 m), touching boxes are
    /// not. Another mass or centre of mass than that of the car is a fault of the file.
    #[test]
    fn a13_overlapping_boxes_are_told() {
        let mut spec = reference();
        assert_eq!(texts(&spec), [""; 0]);
        let half = Box3 { mass_kg: 750.0, length_m: 2.1, ..spec.chassis.boxes[0].clone() };
        let [front, rear] = [0.3, 2.4].map(|behind| Box3 { behind_front_axle_m: behind, ..half.clone() });
        spec.chassis.boxes = vec![front.clone(), rear.clone()];
        assert_eq!(texts(&spec), [""; 0], "touching boxes do not overlap");
        spec.chassis.boxes[1].behind_front_axle_m -= 0.21;
        let told = texts(&spec);
        assert!(told.len() == 1 && told[0].contains("overlaps `[1]` by 10 %"), "{told:?}");
    }

    /// A shipped car has no warning. Without its `light_throttle_up_shift_rpm` the only warning names this key and the
    /// speed of up-shifts.
    #[test]
    fn a_gearbox_that_ignores_the_pedal_is_told() {
        let text = crate::shipped::find("corvette_c5").expect("shipped");
        let without: Vec<&str> = text.lines().filter(|line| !line.starts_with("light_throttle_up_shift_rpm")).collect();
        let told = |text: &str| texts(&VehicleSpec::read("c5", text).expect("valid"));
        assert_eq!(told(text), [""; 0]);
        let told = told(&without.join("\n"));
        assert!(
            told.len() == 1 && told[0].contains("light_throttle_up_shift_rpm") && told[0].contains("6000"),
            "{told:?}"
        );
    }

    /// A roll influence of 0.1 in `raycast_reference` gives a warning about this key.
    #[test]
    fn a_share_of_the_roll_is_told() {
        let mut spec = reference();
        spec.raycast_reference.as_mut().expect("stated").roll_influence = 0.1;
        assert!(texts(&spec)[0].contains("roll_influence"));
    }
}
