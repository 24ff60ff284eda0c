//! Figures of what a car tows, from its telemetry.

use std::sync::Arc;

use skidpad_core::{Frame, HitchFrame, Model};

use crate::metrics::Metric;
use crate::trajectory::Trajectory;

/// A vehicle unit that is towed.
#[derive(Clone, Debug, PartialEq)]
pub struct Towed {
    /// What it is.
    pub model: Arc<Model>,
    /// Whether it is the dolly of the unit behind it, with which it makes one trailer.
    pub is_dolly: bool,
}

impl From<Arc<Model>> for Towed {
    fn from(model: Arc<Model>) -> Self {
        Self { model, is_dolly: false }
    }
}

/// Which part of a trailer a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// The dolly of a full trailer.
    Dolly,
    /// What rests on that dolly.
    OnDolly,
}

/// Which unit of a train: trailers count from the front, a dolly with the trailer it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitName {
    /// Number of the trailer, from 1.
    pub trailer: usize,
    /// Which part of it.
    pub part: Part,
}

impl UnitName {
    /// Names of `towed`, from the front.
    pub fn of(towed: &[Towed]) -> Vec<Self> {
        let (mut trailer, mut on_dolly) = (1, false);
        let name = |unit: &Towed| {
            let part = match (unit.is_dolly, on_dolly) {
                (true, _) => Part::Dolly,
                (false, true) => Part::OnDolly,
                (false, false) => Part::Whole,
            };
            let name = Self { trailer, part };
            trailer += usize::from(!unit.is_dolly);
            on_dolly = unit.is_dolly;
            name
        };
        towed.iter().map(name).collect()
    }

    /// In names of columns and figures, like `trailer1` and `trailer1_dolly`.
    pub fn key(self) -> String {
        format!("trailer{}{}", self.trailer, if self.part == Part::Dolly { "_dolly" } else { "" })
    }

    /// In words, like "Trailer 1" and "Dolly of trailer 1".
    pub fn label(self) -> String {
        let number = self.trailer;
        match self.part {
            Part::Whole => format!("Trailer {number}"),
            Part::Dolly => format!("Dolly of trailer {number}"),
            Part::OnDolly => format!("Trailer {number} on its dolly"),
        }
    }

    /// What holds its coupler.
    fn hitch(self) -> &'static str {
        if self.part == Part::OnDolly { "turntable" } else { "hitch" }
    }
}

/// What the hitch of a trailer does; nothing where a frame has none.
pub fn hitch(frame: &Frame) -> HitchFrame {
    frame.hitch.clone().unwrap_or_default()
}

/// Figures of every hitch, from the front.
pub fn hitches(trajectory: &Trajectory) -> Vec<Metric> {
    let of = |(name, trailer): &(UnitName, Trajectory)| {
        let angle = trailer.largest(|f| hitch(f).articulation_rad).to_degrees();
        let force = trailer.largest(|f| {
            let HitchFrame { fx_n, fy_n, fz_n, .. } = hitch(f);
            (fx_n * fx_n + fy_n * fy_n + fz_n * fz_n).sqrt()
        });
        [
            metric(*name, "peak_articulation_deg", "peak articulation angle", "deg", 3, angle),
            metric(*name, "peak_hitch_force_n", &format!("peak force of its {}", name.hitch()), "N", 0, force),
        ]
    };
    trajectory.trailers().iter().flat_map(of).collect()
}

/// How much more each trailer is accelerated sideways than the car (ISO 14791): the ratio of their peaks, both at the centre of mass.
/// It did not happen to a car that drives straight.
pub fn rearward_amplification(trajectory: &Trajectory) -> Vec<Metric> {
    let peak = |of: &Trajectory| of.largest(|f| f.ay_mps2);
    let car = peak(trajectory);
    let of = |(name, trailer): &(UnitName, Trajectory)| {
        metric(*name, "rearward_amplification", "rearward amplification", "-", 3, peak(trailer) / car)
    };
    trajectory.trailers().iter().map(of).collect()
}

/// A figure of one unit.
fn metric(of: UnitName, name: &str, label: &str, unit: &'static str, digits: u8, value: f64) -> Metric {
    Metric::new(&format!("{}_{name}", of.key()), &format!("{}: {label}", of.label()), unit, digits, Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{model, sampled};

    const FIRST: UnitName = UnitName { trailer: 1, part: Part::Whole };

    /// A trailer swings half as far again as its car, a quarter of a period later.
    fn train() -> Trajectory {
        let car = sampled(0.01, 10.0, |t, frame| frame.ay_mps2 = 2.0 * t.sin());
        let trailer = sampled(0.01, 10.0, |t, frame| {
            frame.ay_mps2 = -3.0 * t.cos();
            let force = HitchFrame { fx_n: 300.0, fy_n: 400.0 * t.cos(), fz_n: -1200.0, ..HitchFrame::default() };
            frame.hitch = Some(HitchFrame { articulation_rad: -0.1 * t.cos(), coupled: 1.0, ..force });
        });
        car.towing([(FIRST, trailer)])
    }

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

    /// Both peaks lie between rows of a hundredth of a radian.
    #[test]
    fn amplification_is_the_ratio_of_peaks() {
        let found = rearward_amplification(&train());
        assert_eq!(found.len(), 1);
        assert!((found[0].value.expect("it happened") - 1.5).abs() < 1e-4, "{found:?}");
        let straight = sampled(0.01, 1.0, |_, _| {}).towing([(FIRST, sampled(0.01, 1.0, |_, _| {}))]);
        assert_eq!(rearward_amplification(&straight)[0].value, None);
        assert!(rearward_amplification(&sampled(0.01, 1.0, |_, _| {})).is_empty());
    }

    #[test]
    fn a_dolly_counts_with_its_trailer() {
        let unit = |is_dolly| Towed { is_dolly, ..Towed::from(Arc::new(model())) };
        let names = UnitName::of(&[unit(false), unit(true), unit(false), unit(false)]);
        let keys: Vec<String> = names.iter().map(|name| name.key()).collect();
        assert_eq!(keys, ["trailer1", "trailer2_dolly", "trailer2", "trailer3"]);
        let labels: Vec<String> = names[1..].iter().map(|name| name.label()).collect();
        assert_eq!(labels, ["Dolly of trailer 2", "Trailer 2 on its dolly", "Trailer 3"]);
    }
}
