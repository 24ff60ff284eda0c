//! Invariants of the reader of vehicle files for any text, for the mutation tests and the fuzz targets.

use skidpad_spec::{FaultKind, Faults, LoadedVehicle};

/// Reads `text` as a vehicle file and checks the result.
///
/// A vehicle must compile to the same model again, with finite parts. Every fault must have a path or be a syntax fault, must have a place
/// in the text, and must be reported once.
///
/// # Errors
/// The faults of the text.
pub fn read_checked(text: &str) -> Result<LoadedVehicle, Faults> {
    let read = LoadedVehicle::read("input.toml", text);
    match &read {
        Ok(loaded) => {
            let again = loaded.spec.compile().unwrap_or_else(|faults| panic!("{}", faults.render()));
            assert_eq!(again, *loaded.model);
            for model in loaded.vehicle_units() {
                let parts = model.parts();
                assert!(parts.aero.drag.is_finite() && parts.aero.drag_point.is_finite());
                assert!(parts.aero.downforce.iter().all(|s| s.coefficient.is_finite() && s.point.is_finite()));
                assert!(parts.steering.rate > 0.0 && parts.hull.centre.is_finite());
                assert!(parts.axles.iter().all(|a| a.turning_distance.is_finite()));
            }
        }
        Err(faults) => {
            assert!(!faults.list().is_empty());
            for fault in faults.list() {
                // A fault without a place means that a rule is missing, or that the schema and the types differ.
                let has_place = !fault.path.is_empty() || fault.kind == FaultKind::Syntax;
                assert!(has_place, "{}\n{text}", faults.render());
                assert!(fault.span.end <= text.len() && fault.line > 0 && fault.column > 0);
            }
            let mut keys: Vec<_> =
                faults.list().iter().map(|f| (&f.path, f.span.start, f.kind.code(), &f.accepts)).collect();
            keys.dedup();
            assert_eq!(keys.len(), faults.list().len(), "a fault is reported twice: {}", faults.render());
        }
    }
    read
}
