//! Metrics of the towed units, computed from telemetry.

use skidpad_core::{Frame, HitchFrame};

use crate::metrics::Metric;
use crate::trajectory::Trajectory;
use crate::units::UnitName;

/// Returns the hitch telemetry of a towed unit (trailer or dolly); all zeros if the frame has none.
pub fn hitch(frame: &Frame) -> HitchFrame {
    frame.hitch.clone().unwrap_or_default()
}

/// Computes two metrics of every hitch, from the front: peak magnitude of the articulation angle (°) and of the force
/// vector (N), each over the whole run. Names begin with the key of the towed unit (trailer or dolly), such as
/// `trailer1`. Empty for a car that tows nothing.
pub fn hitches(trajectory: &Trajectory) -> Vec<Metric> {
    // Arguments of `unit_metric`: unit, key, label, unit of measure, decimal places, value.
    let hitch_metrics = |(name, trailer): &(UnitName, Trajectory)| {
        let angle = trailer.peak_magnitude(|f| hitch(f).articulation_rad).to_degrees();
        let force = trailer.peak_magnitude(|f| {
            let HitchFrame { fx_n, fy_n, fz_n, .. } = hitch(f);
            (fx_n * fx_n + fy_n * fy_n + fz_n * fz_n).sqrt()
        });
        [
            unit_metric(*name, "peak_articulation_deg", "peak articulation angle", "deg", 3, angle),
            unit_metric(*name, "peak_hitch_force_n", &format!("peak force of its {}", name.hitch()), "N", 0, force),
        ]
    };
    trajectory.trailers().iter().flat_map(hitch_metrics).collect()
}

/// Computes the rearward amplification (ISO 14791, –) of each towed unit (trailer or dolly): the peak magnitude of its
/// lateral acceleration over that of the car, both at the centre of mass and over the whole run. There is no value if
/// the lateral acceleration of the car is always 0.
pub fn rearward_amplification(trajectory: &Trajectory) -> Vec<Metric> {
    let peak_acceleration = |unit: &Trajectory| unit.peak_magnitude(|f| f.ay_mps2);
    let car_peak = peak_acceleration(trajectory);
    let amplification = |(name, trailer): &(UnitName, Trajectory)| {
        unit_metric(
            *name,
            "rearward_amplification",
            "rearward amplification",
            "-",
            3,
            peak_acceleration(trailer) / car_peak,
        )
    };
    trajectory.trailers().iter().map(amplification).collect()
}

/// Creates a metric of the unit `unit_name`; its key and label are prepended to `name` and `label`.
fn unit_metric(unit_name: UnitName, name: &str, label: &str, unit: &'static str, digits: u8, value: f64) -> Metric {
    Metric::new(
        &format!("{}_{name}", unit_name.key()),
        &format!("{}: {label}", unit_name.label()),
        unit,
        digits,
        Some(value),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sampled;
    use crate::units::TrailerPart;

    const FIRST_TRAILER: UnitName = UnitName { trailer: 1, part: TrailerPart::Whole };

    /// Builds a run in which the trailer swings with 1.5 times the lateral acceleration of the car, a quarter period
    /// later.
    fn train() -> Trajectory {
        let car = sampled(0.01, 10.0, |t, frame| frame.ay_mps2 = 2.0 * t.sin());
        let trailer = sampled(0.01, 10.0, |t, frame| {
            frame.ay_mps2 = -3.0 * t.cos();
            let force = HitchFrame { fx_n: 300.0, fy_n: 400.0 * t.cos(), fz_n: -1200.0, ..HitchFrame::default() };
            frame.hitch = Some(HitchFrame { articulation_rad: -0.1 * t.cos(), coupled: 1.0, ..force });
        });
        car.with_trailers([(FIRST_TRAILER, trailer)])
    }

    /// Names and values of the peak articulation angle and of the peak hitch force are those of the swing.
    #[test]
    fn peaks_of_a_known_swing() {
        let found: Vec<(String, f64)> =
            hitches(&train()).into_iter().map(|m| (m.name, m.value.expect("it happened"))).collect();
        let known = [("trailer1_peak_articulation_deg", 0.1f64.to_degrees()), ("trailer1_peak_hitch_force_n", 1300.0)];
        for ((name, value), (known_name, known)) in found.iter().zip(known) {
            assert!(name == known_name && (value - known).abs() < 1e-9 * known, "{name} {value}, {known}");
        }
        assert_eq!(found.len(), known.len());
    }

    /// Both peaks lie between two rows, which are 0.01 s apart. There is no value for a car that drives straight, and
    /// no metric for one without a trailer.
    #[test]
    fn amplification_is_the_ratio_of_peaks() {
        let found = rearward_amplification(&train());
        assert_eq!(found.len(), 1);
        assert!((found[0].value.expect("it happened") - 1.5).abs() < 1e-4, "{found:?}");
        let straight = sampled(0.01, 1.0, |_, _| {}).with_trailers([(FIRST_TRAILER, sampled(0.01, 1.0, |_, _| {}))]);
        assert_eq!(rearward_amplification(&straight)[0].value, None);
        assert!(rearward_amplification(&sampled(0.01, 1.0, |_, _| {})).is_empty());
    }
}
