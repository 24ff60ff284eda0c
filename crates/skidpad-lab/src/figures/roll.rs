//! Roll of a car whose wheels turn with it, and of one whose wheels move on their own.

use skidpad_core::Model;
use skidpad_core::model::{AntiRollBar, BarCoupling, Unsprung};

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
    /// springs cannot hold the car upright. Solid axles load their tyres with their own roll moment, not the springs.
    pub roll_gradient: Option<f64>,
}

impl OwnWheels {
    /// Of `model`; `None` when it does not say for every wheel what moves with it.
    pub fn of(model: &Model) -> Option<Self> {
        let own: Vec<_> = model.wheels().iter().map(|w| w.unsprung).collect::<Option<_>>()?;
        let hop = |axle: usize| {
            let first = (0..own.len()).find(|&i| model.wheels()[i].axle == axle)?;
            let rate = f64::from(model.wheels()[first].strut.rate + own[first].tyre_rate);
            Some((rate / f64::from(own[first].mass)).sqrt() / core::f64::consts::TAU)
        };
        let hop_hz = (0..model.parts().axles.len()).filter_map(hop).collect();
        Some(Self { hop_hz, roll_gradient: own_gradient(model, &own) })
    }
}

/// What holds the body against roll, N m/rad, and what rolls it per lateral acceleration, kg m.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    stiffness: f64,
    rolling: f64,
}

/// Small angles, wheels square to the body but on solid axles, which turn by ψ about their roll centre at the ground, under the
/// moment `m_u R (a_y + g ψ)` of their own mass:
///
/// ```text
/// K_t ψ = K_s (φ − ψ) + m_u R (a_y + g ψ)
/// Σ K_s (φ − ψ) = (m h − Σ m_u R) (a_y + g φ)
/// ```
fn own_gradient(model: &Model, own: &[Unsprung]) -> Option<f64> {
    let mass = f64::from(model.mass());
    let mut toppling = mass * f64::from(model.parts().centre_height);
    let mut sum = Held { stiffness: 0.0, rolling: mass * model.tyre_lever() };
    for (axle, parts) in model.parts().axles.iter().enumerate() {
        let on: Vec<usize> = (0..own.len()).filter(|&i| model.wheels()[i].axle == axle).collect();
        let add = |of: &dyn Fn(usize) -> f64| on.iter().map(|&i| of(i)).sum::<f64>();
        if !parts.solid {
            sum.stiffness += add(&|i| in_series(corner(model, i), tyre(model, &own[i], i)));
            continue;
        }
        let moment = add(&|i| f64::from(own[i].mass * model.wheels()[i].radius));
        let [through, beside] = [0, 1].map(|k| add(&|i| corner(model, i)[k]));
        let yields = through + add(&|i| tyre(model, &own[i], i)) - moment * G;
        let held = through + beside;
        sum.stiffness += held * (1.0 - through / yields);
        sum.rolling += held * moment / yields - moment;
        toppling -= moment;
    }
    let held = sum.stiffness - toppling * G;
    (held > 0.0).then(|| sum.rolling / held)
}

/// Stiffness in roll of the strut of wheel `i` with its ends of bars: through the tyre, and beside it, N m/rad.
fn corner(model: &Model, i: usize) -> [f64; 2] {
    let wheel = &model.wheels()[i];
    let of = |coupling| {
        // In roll, each end of a bar carries half of `rate · (y_l − y_r)²`.
        let bars = model.parts().bars.iter().filter(|bar| bar.wheels.contains(&i) && bar.coupling == coupling);
        bars.map(|bar: &AntiRollBar| {
            let [left, right] = bar.wheels.map(|i| f64::from(model.wheels()[i].contact.y));
            0.5 * f64::from(bar.rate) * (left - right).powi(2)
        })
        .sum::<f64>()
    };
    let across = f64::from(wheel.contact.y);
    let strut = f64::from(wheel.strut.rate) * across * across;
    [strut + of(BarCoupling::InLoadPath), of(BarCoupling::External)]
}

/// Stiffness in roll of the tyre of wheel `i`, N m/rad.
fn tyre(model: &Model, own: &Unsprung, i: usize) -> f64 {
    f64::from(own.tyre_rate) * f64::from(model.wheels()[i].contact.y).powi(2)
}

/// A bar beside the tyres answers the strut's share of the travel, and its tyre does not feel it.
fn in_series([through, beside]: [f64; 2], tyre: f64) -> f64 {
    if through > 0.0 { (through + beside) * tyre / (through + tyre) } else { 0.0 }
}
