//! Roll of a car whose wheels turn with it, and of one whose wheels move on their own.

use skidpad_core::Model;
use skidpad_core::model::{AntiRollBar, BarCoupling};

use super::{AxleFigures, G};

/// Mean of the half tracks by load, over the height.
pub(super) fn rigid_rollover(model: &Model, axles: &[AxleFigures]) -> Option<f64> {
    let load: f64 = axles.iter().map(|a| a.load_n).sum();
    let half = axles.iter().map(|a| 0.5 * a.track_m * a.load_n).sum::<f64>() / load;
    (half > 0.0).then(|| half / f64::from(model.parts().centre_height))
}

/// `φ / a_y = m (h − d) / (Σ k y² + Σ k_bar t² − m g h)`, tyre forces acting d above the ground.
pub(super) fn gradient(model: &Model) -> Option<f64> {
    let struts: f64 = model.wheels().iter().map(|w| f64::from(w.strut.rate) * f64::from(w.contact.y).powi(2)).sum();
    let bars: f64 = model
        .parts()
        .bars
        .iter()
        .map(|bar| {
            let [left, right] = bar.wheels.map(|i| f64::from(model.wheels()[i].contact.y));
            f64::from(bar.rate) * (left - right).powi(2)
        })
        .sum();
    let toppling = f64::from(model.mass()) * f64::from(model.parts().centre_height);
    let stiffness = struts + bars - toppling * G;
    (stiffness > 0.0).then(|| f64::from(model.mass()) * model.tyre_lever() / stiffness)
}

/// What changes when wheels move on their own, between strut and tyre spring, instead of with the chassis.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnWheels {
    /// Hop frequency `√((k + k_t) / m_u) / 2π` of the first wheel of each axle, Hz.
    pub hop_hz: Vec<f64>,
    /// Steady roll per lateral acceleration with every tyre spring in series with strut and bar, rad/(m/s²); `None` when the
    /// springs cannot hold the car upright.
    pub roll_gradient: Option<f64>,
}

impl OwnWheels {
    /// Of `model`; `None` when it does not say for every wheel what moves with it.
    pub fn of(model: &Model) -> Option<Self> {
        let own: Vec<_> = model.wheels().iter().map(|w| w.unsprung).collect::<Option<_>>()?;
        let mut stiffness = 0.0;
        for (i, (wheel, own)) in model.wheels().iter().zip(&own).enumerate() {
            let across = f64::from(wheel.contact.y);
            let of = |coupling| {
                model.parts().bars.iter().filter(move |bar| bar.wheels.contains(&i) && bar.coupling == coupling)
            };
            // In roll, each end of a bar carries half of `rate · (y_l − y_r)²`.
            let bar = |bar: &AntiRollBar| {
                let [left, right] = bar.wheels.map(|i| f64::from(model.wheels()[i].contact.y));
                0.5 * f64::from(bar.rate) * (left - right).powi(2)
            };
            let corner =
                f64::from(wheel.strut.rate) * across * across + of(BarCoupling::InLoadPath).map(bar).sum::<f64>();
            let tyre = f64::from(own.tyre_rate) * across * across;
            // A bar beside the tyres answers the strut's share of the travel, and its tyre does not feel it.
            let beside = of(BarCoupling::External).map(bar).sum::<f64>();
            stiffness += if corner > 0.0 { (corner + beside) * tyre / (corner + tyre) } else { 0.0 };
        }
        let hop = |axle: usize| {
            let first = (0..own.len()).find(|&i| model.wheels()[i].axle == axle)?;
            let rate = f64::from(model.wheels()[first].strut.rate + own[first].tyre_rate);
            Some((rate / f64::from(own[first].mass)).sqrt() / core::f64::consts::TAU)
        };
        let toppling = f64::from(model.mass()) * f64::from(model.parts().centre_height);
        let held = stiffness - toppling * G;
        let hop_hz = (0..model.parts().axles.len()).filter_map(hop).collect();
        let rolling = f64::from(model.mass()) * model.tyre_lever();
        Some(Self { hop_hz, roll_gradient: (held > 0.0).then(|| rolling / held) })
    }
}
