//! Closed forms: what a car should do, from its model alone, without a single step.
//!
//! Sources: `understeer gradient` and gains, the linear bicycle model, written for any number of axles; roll, rigid
//! struts and bars about the contact points, which is what a ray-cast car does; the rest, one-line balances.

use skidpad_core::model::{AntiRollBar, Powertrain, TyreLaw};
use skidpad_core::{Model, STANDARD_GRAVITY};

const G: f64 = STANDARD_GRAVITY as f64;

/// Figures of one axle.
#[derive(Clone, Debug, PartialEq)]
pub struct AxleFigures {
    /// Longitudinal position ahead of the centre of mass, m.
    pub x_m: f64,
    /// Distance between the contact points, m; 0 with one wheel.
    pub track_m: f64,
    /// Load of the whole axle at rest, N.
    pub load_n: f64,
    /// Compression of the springs under the static load, if they were linear from unloaded, m.
    pub sag_m: f64,
    /// Natural frequency of the carried mass on the wheel rate (rigid tyre), Hz.
    pub ride_hz: f64,
    /// Damping ratio in bump of the same oscillator.
    pub bump_damping_ratio: f64,
    /// Damping ratio in rebound.
    pub rebound_damping_ratio: f64,
    /// Cornering stiffness of the whole axle at the static load, N/rad; `None` for tyres that do not creep.
    pub cornering_stiffness_n_per_rad: Option<f64>,
}

/// Figures of the whole car.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// From the front.
    pub axles: Vec<AxleFigures>,
    /// Mass, kg.
    pub mass_kg: f64,
    /// Distance from the first to the last axle, m.
    pub wheelbase_m: f64,
    /// Height of the centre of mass over its share of half the track, `t / 2h`, in g: lateral acceleration at which a
    /// rigid car tips; `None` for a car on one track.
    pub rollover_g: Option<f64>,
    /// Steady roll per lateral acceleration, rad/(m/s²); `None` when the springs cannot hold the car upright.
    pub roll_gradient: Option<f64>,
    /// Linear bicycle model; `None` when a tyre has no cornering stiffness or nothing steers.
    pub bicycle: Option<Bicycle>,
    /// Speed at which drive and resistance balance, m/s; `None` without a motor or without resistance.
    pub top_speed_mps: Option<f64>,
}

/// Steady turning with linear tyres: `δ = ψ̇ (L + K v²) / v`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bicycle {
    /// Kinematic wheelbase `L`, m.
    pub wheelbase_m: f64,
    /// Understeer gradient `K`, rad/(m/s²), positive understeers.
    pub understeer: f64,
    /// `β/δ` is `sideslip[0] · (1 − v² · sideslip[1]) / (1 + K v²/L)`.
    sideslip: [f64; 2],
}

impl Bicycle {
    /// Yaw rate per mean road-wheel angle at `v` m/s, 1/s.
    pub fn yaw_gain(&self, v: f64) -> f64 {
        v / (self.wheelbase_m + self.understeer * v * v)
    }

    /// Sideslip angle per mean road-wheel angle at `v` m/s, –.
    pub fn sideslip_gain(&self, v: f64) -> f64 {
        let [slow, loss] = self.sideslip;
        (slow - loss * v * v) / (1.0 + self.understeer * v * v / self.wheelbase_m)
    }

    /// Characteristic speed `√(L/K)` of a car that understeers, m/s.
    pub fn characteristic_speed_mps(&self) -> Option<f64> {
        (self.understeer > 0.0).then(|| (self.wheelbase_m / self.understeer).sqrt())
    }

    /// Critical speed `√(−L/K)` of a car that oversteers, m/s: above it the straight-ahead motion is unstable.
    pub fn critical_speed_mps(&self) -> Option<f64> {
        (self.understeer < 0.0).then(|| (-self.wheelbase_m / self.understeer).sqrt())
    }

    /// From axles at `x` m with stiffness `c` N/rad that turn `ratio` rad per rad of steering.
    ///
    /// Force balance and moment balance of `Fᵢ = Cᵢ (sᵢ δ − β − xᵢ ψ̇ / v)`:
    /// `L = (ΣC x² − (ΣC x)²/ΣC) / A`, `K = −m ΣC x / (ΣC A)`, `A = ΣC s x − ΣC x ΣC s / ΣC`.
    fn of(mass: f64, axles: &[[f64; 3]]) -> Option<Self> {
        let sum = |f: &dyn Fn(&[f64; 3]) -> f64| axles.iter().map(f).sum::<f64>();
        let (c0, c1, c2) = (sum(&|[_, c, _]| *c), sum(&|[x, c, _]| c * x), sum(&|[x, c, _]| c * x * x));
        let (s0, s1) = (sum(&|[_, c, s]| c * s), sum(&|[x, c, s]| c * s * x));
        let authority = s1 - c1 * s0 / c0;
        let wheelbase_m = (c2 - c1 * c1 / c0) / authority;
        let understeer = -mass * c1 / (c0 * authority);
        // β = (Cs δ − (C1/v + m v) ψ̇) / C0 with ψ̇ = v δ / (L + K v²).
        let slow = (s0 * wheelbase_m - c1) / (c0 * wheelbase_m);
        let loss = (mass - s0 * understeer) / (c0 * wheelbase_m);
        (authority > 0.0 && wheelbase_m.is_finite() && understeer.is_finite()).then_some(Self {
            wheelbase_m,
            understeer,
            sideslip: [slow, loss],
        })
    }
}

impl Figures {
    /// The figures of `model`.
    pub fn of(model: &Model) -> Self {
        let axles: Vec<AxleFigures> = (0..model.parts().axles.len()).map(|i| axle(model, i)).collect();
        let x = |i: usize| axles.get(i).map_or(0.0, |a| a.x_m);
        Self {
            mass_kg: f64::from(model.mass()),
            wheelbase_m: x(0) - x(axles.len().saturating_sub(1)),
            rollover_g: rollover(model, &axles),
            roll_gradient: roll_gradient(model),
            bicycle: bicycle(model, &axles),
            top_speed_mps: top_speed(model),
            axles,
        }
    }

    /// Mean road-wheel angle for a steady lateral acceleration (m/s²) at `v` m/s, rad, by the bicycle model, or by
    /// geometry alone when there is none or it is unstable at this speed.
    pub fn steer_for(&self, lateral_acceleration: f64, v: f64) -> f64 {
        let geometric = self.wheelbase_m;
        let needed = self.bicycle.map_or(geometric, |b| b.wheelbase_m + b.understeer * v * v);
        let needed = if needed > 0.1 * geometric { needed } else { geometric };
        lateral_acceleration * needed / (v * v).max(1e-6)
    }
}

fn axle(model: &Model, index: usize) -> AxleFigures {
    let on = || model.wheels().iter().enumerate().filter(move |(_, w)| w.axle == index);
    let count = on().count().max(1) as f64;
    let total = |f: &dyn Fn(usize) -> f64| on().map(|(i, _)| f(i)).sum::<f64>();
    let strut = |i: usize| &model.wheels()[i].strut;
    let (mass, rate) = (total(&|i| f64::from(model.sprung()[i])), total(&|i| f64::from(strut(i).rate)));
    let critical = 2.0 * (rate * mass).sqrt();
    let y = |i: usize| f64::from(model.wheels()[i].contact.y);
    let (left, right) = on().fold((f64::MIN, f64::MAX), |(l, r), (i, _)| (l.max(y(i)), r.min(y(i))));
    AxleFigures {
        x_m: total(&|i| f64::from(model.wheels()[i].contact.x)) / count,
        track_m: (left - right).max(0.0),
        load_n: mass * G,
        sag_m: mass * G / rate,
        ride_hz: (rate / mass).sqrt() / core::f64::consts::TAU,
        bump_damping_ratio: total(&|i| f64::from(strut(i).bump_damping)) / critical,
        rebound_damping_ratio: total(&|i| f64::from(strut(i).rebound_damping)) / critical,
        cornering_stiffness_n_per_rad: on().map(|(i, _)| cornering_stiffness(model, i)).sum(),
    }
}

fn cornering_stiffness(model: &Model, wheel: usize) -> Option<f64> {
    let tyre = &model.parts().tyres[model.wheels()[wheel].tyre];
    let load = model.static_load(wheel);
    let stiffness = match tyre.law {
        TyreLaw::Coulomb { .. } => return None,
        TyreLaw::Linear { stiffness } => stiffness[1],
        TyreLaw::LinearPerLoad { stiffness } => stiffness[1] * load,
        TyreLaw::SlipCurve { extremum_slip, .. } => 2.0 * tyre.friction_at(load)[1] * load / extremum_slip[1],
    };
    Some(f64::from(stiffness))
}

fn bicycle(model: &Model, axles: &[AxleFigures]) -> Option<Bicycle> {
    let rows: Option<Vec<[f64; 3]>> = axles
        .iter()
        .zip(&model.parts().axles)
        .map(|(figures, axle)| Some([figures.x_m, figures.cornering_stiffness_n_per_rad?, f64::from(axle.steer_ratio)]))
        .collect();
    Bicycle::of(f64::from(model.mass()), &rows?)
}

/// Mean of the half tracks by load, over the height.
fn rollover(model: &Model, axles: &[AxleFigures]) -> Option<f64> {
    let load: f64 = axles.iter().map(|a| a.load_n).sum();
    let half = axles.iter().map(|a| 0.5 * a.track_m * a.load_n).sum::<f64>() / load;
    (half > 0.0).then(|| half / f64::from(model.parts().centre_height))
}

/// `φ / a_y = m h / (Σ k y² + Σ k_bar t² − m g h)` about the contact points.
fn roll_gradient(model: &Model) -> Option<f64> {
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
    (stiffness > 0.0).then(|| toppling / stiffness)
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
            let bars = model.parts().bars.iter().filter(|bar| bar.wheels.contains(&i));
            // In roll, each end of a bar carries half of `rate · (y_l − y_r)²`.
            let bar = |bar: &AntiRollBar| {
                let [left, right] = bar.wheels.map(|i| f64::from(model.wheels()[i].contact.y));
                0.5 * f64::from(bar.rate) * (left - right).powi(2)
            };
            let corner = f64::from(wheel.strut.rate) * across * across + bars.map(bar).sum::<f64>();
            let tyre = f64::from(own.tyre_rate) * across * across;
            stiffness += if corner > 0.0 { corner * tyre / (corner + tyre) } else { 0.0 };
        }
        let hop = |axle: usize| {
            let first = (0..own.len()).find(|&i| model.wheels()[i].axle == axle)?;
            let rate = f64::from(model.wheels()[first].strut.rate + own[first].tyre_rate);
            Some((rate / f64::from(own[first].mass)).sqrt() / core::f64::consts::TAU)
        };
        let toppling = f64::from(model.mass()) * f64::from(model.parts().centre_height);
        let held = stiffness - toppling * G;
        let hop_hz = (0..model.parts().axles.len()).filter_map(hop).collect();
        Some(Self { hop_hz, roll_gradient: (held > 0.0).then(|| toppling / held) })
    }
}

/// Longitudinal slip at which the tyre of wheel `i` pulls most at its static load, –; `None` for a tyre without creep.
pub fn peak_slip(model: &Model, i: usize) -> Option<f64> {
    let (tyre, load) = (&model.parts().tyres[model.wheels()[i].tyre], model.static_load(i));
    let limit = tyre.friction_at(load)[0] * load;
    let slip = match tyre.law {
        TyreLaw::Coulomb { .. } => return None,
        TyreLaw::Linear { stiffness } => limit / stiffness[0],
        TyreLaw::LinearPerLoad { stiffness } => limit / (stiffness[0] * load),
        TyreLaw::SlipCurve { extremum_slip, .. } => extremum_slip[0],
    };
    Some(f64::from(slip))
}

/// Drag and rolling resistance of the whole car on level ground at `v` m/s, N.
pub fn resistance(model: &Model, v: f64) -> f64 {
    let rolling: f64 = (0..model.wheels().len())
        .map(|i| f64::from(model.wheels()[i].rolling.coefficient(v as f32)) * f64::from(model.static_load(i)))
        .sum();
    f64::from(model.parts().aero.drag) * v * v + rolling
}

/// Share of the drive that reaches each wheel, in wheel order, summing to 1; equal shares for a car without a motor.
pub fn drive_shares(model: &Model) -> Vec<f64> {
    let shares: Vec<f64> = match &model.parts().powertrain {
        Powertrain::None => Vec::new(),
        Powertrain::Direct(torques) => torques.iter().map(|&t| f64::from(t)).collect(),
        Powertrain::Engine(drive) => drive.differential.shares.iter().map(|&s| f64::from(s)).collect(),
    };
    let (sum, count) = (shares.iter().sum::<f64>(), model.wheels().len());
    if sum > 0.0 { shares.iter().map(|s| s / sum).collect() } else { vec![1.0 / count as f64; count] }
}

/// Full-throttle force at the road at `v` m/s in forward gear `gear` (ignored without a gearbox), N, clutch closed.
pub fn drive_force(model: &Model, v: f64, gear: i8) -> f64 {
    let wheels = model.wheels();
    match &model.parts().powertrain {
        Powertrain::None => 0.0,
        Powertrain::Direct(torques) => {
            torques.iter().zip(wheels).map(|(&t, w)| f64::from(t) / f64::from(w.radius)).sum()
        }
        Powertrain::Engine(drive) => {
            let per_radius: f64 = drive_shares(model).iter().zip(wheels).map(|(s, w)| s / f64::from(w.radius)).sum();
            let ratio = f64::from(drive.gearbox.ratio(gear));
            let speed = v * per_radius * ratio;
            if speed > f64::from(drive.engine.limit) {
                return 0.0;
            }
            let torque = f64::from(drive.engine.torque.at(speed as f32));
            torque * ratio * f64::from(drive.gearbox.efficiency) * per_radius
        }
    }
}

/// Highest speed at which some gear still overcomes the resistance, found in steps of 0.01 m/s up to 150 m/s.
fn top_speed(model: &Model) -> Option<f64> {
    let gears = model.parts().powertrain.engine().map_or(1, |drive| drive.gearbox.forward.len() as i8);
    let pulls = |v: f64| (1..=gears).any(|gear| drive_force(model, v, gear) >= resistance(model, v));
    let speeds = || (1..=15_000).map(|i| f64::from(i) * 0.01);
    let top = speeds().take_while(|&v| pulls(v)).last()?;
    (top < 149.9).then_some(top)
}

/// What is legal but seldom meant, as sentences.
pub fn lints(model: &Model) -> Vec<String> {
    let figures = Figures::of(model);
    let mut found = Vec::new();
    for (i, axle) in figures.axles.iter().enumerate() {
        let number = i + 1;
        if !(0.7..=6.0).contains(&axle.ride_hz) {
            found.push(format!(
                "axle {number} rides at {:.2} Hz; road cars have 1 to 2, race cars up to 5",
                axle.ride_hz
            ));
        }
        let mean = 0.5 * (axle.bump_damping_ratio + axle.rebound_damping_ratio);
        if !(0.1..=1.2).contains(&mean) {
            found.push(format!("axle {number} has a mean damping ratio of {mean:.2}; cars have 0.2 to 0.7"));
        }
    }
    if let Some(speed) = figures.bicycle.and_then(|b| b.critical_speed_mps()).filter(|v| *v < 100.0) {
        found.push(format!("it oversteers: straight driving is unstable above {speed:.1} m/s"));
    }
    if figures.roll_gradient.is_none() {
        found.push("springs and bars are too soft to hold the car upright".into());
    }
    let grip = model.parts().tyres.iter().map(|t| f64::from(t.friction[1])).fold(0.0, f64::max);
    if let Some(g) = figures.rollover_g.filter(|g| *g < grip) {
        found.push(format!("it tips at {g:.2} g, before its tyres slide at {grip:.2} g"));
    }
    let lazy = |i: usize| {
        let (wheel, load) = (&model.wheels()[i], model.static_load(i));
        wheel.brake_torque > 0.0
            && wheel.brake_torque < model.parts().tyres[wheel.tyre].friction[0] * load * wheel.radius
    };
    let weak: Vec<String> = (0..model.wheels().len()).filter(|&i| lazy(i)).map(|i| model.wheel_name(i)).collect();
    if !weak.is_empty() {
        found.push(format!("the brake cannot lock wheel {} at its static load", weak.join(", ")));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn bicycle_of_two_axles_is_the_textbook_formula() {
        // The C5 of the reference tables with C_f 150, C_r 190 kN/rad (vehicles_and_standards 5.14).
        let (mass, a, b, front, rear) = (1545.0, 1.300, 1.354, 150e3, 190e3);
        let bicycle = Bicycle::of(mass, &[[a, front, 1.0], [-b, rear, 0.0]]).expect("steers");
        let wheelbase = a + b;
        assert!((bicycle.wheelbase_m - wheelbase).abs() < 1e-9);
        let understeer = mass / wheelbase * (b / front - a / rear);
        assert!((bicycle.understeer - understeer).abs() < 1e-12, "{bicycle:?}");
        // The table's figures are computed from distances with more digits.
        assert!((bicycle.understeer - 1.269e-3).abs() < 4e-6);
        let v = 100.0 / 3.6;
        let sideslip = (b - a * mass * v * v / (wheelbase * rear)) / (wheelbase + understeer * v * v);
        assert!((bicycle.sideslip_gain(v) - sideslip).abs() < 1e-12);
        assert!((bicycle.yaw_gain(v) - 7.65).abs() < 0.02 && (sideslip + 0.474).abs() < 2e-3);
        assert!((bicycle.characteristic_speed_mps().expect("understeers") - 45.7).abs() < 0.05);
    }

    #[test]
    fn figures_of_the_test_car() {
        let figures = Figures::of(&testing::model());
        let axle = &figures.axles[0];
        assert!((axle.load_n - 500.0 * G).abs() < 1e-2, "{axle:?}");
        assert!((axle.sag_m - 250.0 * G / 25e3).abs() < 1e-6);
        assert!((axle.ride_hz - 10.0 / core::f64::consts::TAU).abs() < 1e-6);
        assert!((axle.bump_damping_ratio - 1500.0 / (2.0 * (25e3f64 * 250.0).sqrt())).abs() < 1e-6);
        assert_eq!(figures.rollover_g.map(|g| (g * 1e4).round()), Some(15000.0));
        // 4 · 25e3 · 0.75² − 1000 · 9.81 · 0.5 = 51345 N m/rad.
        let gradient = figures.roll_gradient.expect("upright");
        assert!((gradient - 500.0 / 51_345.0).abs() < 1e-8, "{gradient}");
        let neutral = figures.bicycle.expect("linear tyres");
        assert!(neutral.understeer.abs() < 1e-9 && (neutral.wheelbase_m - 2.5).abs() < 1e-6);
        assert!((figures.steer_for(4.0, 20.0) - 4.0 * 2.5 / 400.0).abs() < 1e-6);
    }

    #[test]
    fn top_speed_balances_drive_and_drag() {
        let model = testing::model();
        // 800 N m on 0.3 m against 0.4 v² + 0.01 m g.
        let expected = ((800.0 / 0.3 - 98.1) / 0.4f64).sqrt();
        let found = Figures::of(&model).top_speed_mps.expect("a motor and drag");
        assert!((found - expected).abs() < 0.02, "{found} {expected}");
    }
}
