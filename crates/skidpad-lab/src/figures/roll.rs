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

/// `φ / a_y = m (h − d) / (Σ k y² + Σ k_bar t² − m g h)`, tyre forces acting on the body d above the ground: at force points, or at roll
/// centres.
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
    (stiffness > 0.0).then(|| f64::from(model.mass()) * model.roll_lever() / stiffness)
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

/// Small angles, wheels square to the body but on solid axles, which turn by ψ about the ground, under the moment
/// `m_u R (a_y + g ψ)` of their own mass. Links hand the side force of an axle less what its own mass takes, `L a_y`, to the body at
/// its roll centre, r above the ground, with `L = r (F_y / a_y − m_u)`; those of other axles do the same, where R counts as 0:
///
/// ```text
/// K_t ψ = K_s (φ − ψ) + m_u R (a_y + g ψ) + L a_y
/// Σ K_s (φ − ψ) = (m h − Σ m_u R) (a_y + g φ) − Σ L a_y
/// ```
fn own_gradient(model: &Model, own: &[Unsprung]) -> Option<f64> {
    let mass = f64::from(model.mass());
    let mut toppling = mass * f64::from(model.parts().centre_height);
    let mut sum = Held { stiffness: 0.0, rolling: mass * model.tyre_lever() };
    for (axle, parts) in model.parts().axles.iter().enumerate() {
        let on: Vec<usize> = (0..own.len()).filter(|&i| model.wheels()[i].axle == axle).collect();
        let add = |of: &dyn Fn(usize) -> f64| on.iter().map(|&i| of(i)).sum::<f64>();
        let handed = f64::from(parts.roll_centre) * add(&|i| f64::from(model.sprung()[i] - own[i].mass));
        let [through, beside] = [0, 1].map(|k| add(&|i| corner(model, i)[k]));
        let (held, tyres) = (through + beside, add(&|i| tyre(model, &own[i], i)));
        if !parts.solid {
            sum.stiffness += add(&|i| in_series(corner(model, i), tyre(model, &own[i], i)));
            sum.rolling -= handed * (1.0 - held / (through + tyres));
            continue;
        }
        let moment = add(&|i| f64::from(own[i].mass * model.wheels()[i].radius));
        let yields = through + tyres - moment * G;
        sum.stiffness += held * (1.0 - through / yields);
        sum.rolling -= (moment + handed) * (1.0 - held / yields);
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
