//! Keys and sticks to pedals and a steering wheel: dead zones, curves, rates, and a lock that follows the speed.

use skidpad_core::{Model, STANDARD_GRAVITY, math};

/// What a player asks of a car, each as far as its device goes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Inputs {
    /// Ahead, 0 to 1.
    pub accelerate: f32,
    /// Brake, and from a standstill back, 0 to 1.
    pub brake: f32,
    /// −1 all to the right to 1 all to the left.
    pub steer: f32,
    /// 0 to 1.
    pub handbrake: f32,
}

/// Keys that are held down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// Ahead.
    pub accelerate: bool,
    /// Brake, and from a standstill back.
    pub brake: bool,
    /// Steer to the left.
    pub left: bool,
    /// Steer to the right.
    pub right: bool,
    /// Handbrake.
    pub handbrake: bool,
}

impl From<Keys> for Inputs {
    fn from(keys: Keys) -> Self {
        let held = |key: bool| f32::from(u8::from(key));
        Self {
            accelerate: held(keys.accelerate),
            brake: held(keys.brake),
            steer: held(keys.left) - held(keys.right),
            handbrake: held(keys.handbrake),
        }
    }
}

/// How a device becomes pedals and steering. Every number is held to its range; one that is not finite counts as 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shaping {
    /// Share of the steering's way about its middle that does nothing, 0 to 0.9. What is left is stretched, so that the
    /// whole range is kept.
    pub steer_dead_zone: f32,
    /// The same at the start of each pedal, 0 to 0.9.
    pub pedal_dead_zone: f32,
    /// Exponent of the steering over its way, 1 to 4: above 1 it is finer about the middle.
    pub steer_curve: f32,
    /// How fast a pedal goes down, 1/s, > 0; infinite: at once.
    pub press: f32,
    /// How fast it comes up, 1/s, > 0; infinite: at once.
    pub release: f32,
    /// How fast the steering turns away from the middle, shares of the lock per second, > 0; infinite: at once.
    pub turn: f32,
    /// How fast it turns back to the middle, shares of the lock per second, > 0; infinite: at once.
    pub centre: f32,
    /// Lateral acceleration, as a multiple of gravity, to which the lock falls at speed, > 0; infinite: the whole lock at any
    /// speed. See [`largest_steer`].
    pub cornering: f32,
    /// Steering beyond that for the slip of the tyres, rad, ≥ 0.
    pub slip_allowance: f32,
}

impl Shaping {
    /// For keys, which are all or nothing.
    pub const KEYS: Self = Self {
        steer_dead_zone: 0.0,
        pedal_dead_zone: 0.0,
        steer_curve: 1.0,
        press: 4.0,
        release: 8.0,
        turn: 3.0,
        centre: 6.0,
        cornering: 1.2,
        slip_allowance: 0.08,
    };
    /// For the sticks and triggers of a gamepad.
    pub const GAMEPAD: Self = Self {
        steer_dead_zone: 0.1,
        pedal_dead_zone: 0.05,
        steer_curve: 1.5,
        press: 12.0,
        release: 12.0,
        turn: 5.0,
        centre: 8.0,
        ..Self::KEYS
    };
    /// For a steering wheel and pedals: everything as it is.
    pub const WHEEL: Self = Self {
        steer_dead_zone: 0.0,
        pedal_dead_zone: 0.0,
        steer_curve: 1.0,
        press: f32::INFINITY,
        release: f32::INFINITY,
        turn: f32::INFINITY,
        centre: f32::INFINITY,
        cornering: f32::INFINITY,
        slip_allowance: 0.0,
    };
}

impl Default for Shaping {
    fn default() -> Self {
        Self::KEYS
    }
}

/// Largest mean road-wheel angle that makes sense at `speed` m/s, rad: the lock of `model`, or less where the angle of the path,
/// `L a / v²`, comes to a lateral acceleration of `cornering` times gravity. `slip_allowance` rad is added for the slip of
/// the tyres. Gillespie, Fundamentals of Vehicle Dynamics, eq. 6-14, with the understeer as an angle.
pub fn largest_steer(model: &Model, speed: f32, cornering: f32, slip_allowance: f32) -> f32 {
    let lock = model.parts().steering.lock;
    let ahead = model.parts().axles.iter().filter(|axle| axle.steer_ratio != 0.0);
    let base = ahead.map(|axle| (axle.turning_distance / axle.steer_ratio).abs()).fold(0.0, f32::max);
    let path = math::atan(base * cornering * STANDARD_GRAVITY / (speed * speed).max(f32::MIN_POSITIVE));
    let angle = path + slip_allowance;
    if angle.is_finite() { angle.clamp(0.0, lock) } else { lock }
}

/// Where pedals and steering are on their way to what is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shaper {
    now: Inputs,
}

impl Shaper {
    /// Pedals and steering after `dt` s of `asked`; steering as a share of the lock.
    pub fn shape(&mut self, shaping: &Shaping, asked: &Inputs, dt: f32) -> Inputs {
        let pedal = |now: f32, asked: f32| {
            let wanted = beyond(finite(asked).clamp(0.0, 1.0), shaping.pedal_dead_zone);
            let rate = if wanted > now { shaping.press } else { shaping.release };
            towards(now, wanted, rate, dt)
        };
        let way = finite(asked.steer).clamp(-1.0, 1.0);
        let past = beyond(way.abs(), shaping.steer_dead_zone);
        let curve = finite(shaping.steer_curve).clamp(1.0, 4.0);
        let bent = if past > 0.0 { math::exp(curve * math::ln(past)) } else { 0.0 };
        self.now = Inputs {
            accelerate: pedal(self.now.accelerate, asked.accelerate),
            brake: pedal(self.now.brake, asked.brake),
            steer: steering(self.now.steer, bent.copysign(way), shaping, dt),
            handbrake: pedal(self.now.handbrake, asked.handbrake),
        };
        self.now
    }
}

/// The steering on its way: back to the middle first where it is on the other side.
fn steering(now: f32, wanted: f32, shaping: &Shaping, dt: f32) -> f32 {
    let returns = now * wanted < 0.0 || wanted.abs() < now.abs();
    if !returns {
        return towards(now, wanted, shaping.turn, dt);
    }
    let nearest = if now * wanted < 0.0 { 0.0 } else { wanted };
    towards(now, nearest, shaping.centre, dt)
}

/// `value` past a dead zone, stretched to reach 1 where it did.
fn beyond(value: f32, dead_zone: f32) -> f32 {
    let dead = finite(dead_zone).clamp(0.0, 0.9);
    ((value - dead) / (1.0 - dead)).clamp(0.0, 1.0)
}

fn towards(now: f32, wanted: f32, rate: f32, dt: f32) -> f32 {
    let step = rate.max(0.0) * dt.max(0.0);
    if step.is_nan() { wanted } else { now + (wanted - now).clamp(-step, step) }
}

pub(crate) fn finite(value: f32) -> f32 {
    if value.is_finite() { value } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pedals_take_the_time_of_their_rate() {
        let (mut shaper, full) = (Shaper::default(), Inputs { accelerate: 1.0, ..Inputs::default() });
        let ticks = (0..100).take_while(|_| shaper.shape(&Shaping::KEYS, &full, 0.01).accelerate < 1.0 - 1e-5).count();
        assert_eq!(ticks, 24, "4 a second reach the end in the 25th hundredth");
        assert_eq!(shaper.shape(&Shaping::WHEEL, &Inputs::default(), 0.01).accelerate, 0.0);
    }

    #[test]
    fn dead_zones_keep_the_whole_range_and_curves_its_ends() {
        let shaping = Shaping { steer_dead_zone: 0.2, steer_curve: 2.0, ..Shaping::WHEEL };
        let at = |steer| Shaper::default().shape(&shaping, &Inputs { steer, ..Inputs::default() }, 0.01).steer;
        for (asked, shaped) in
            [(0.0, 0.0), (0.2, 0.0), (-0.2, 0.0), (0.6, 0.25), (-0.6, -0.25), (1.0, 1.0), (-1.0, -1.0)]
        {
            assert!((at(asked) - shaped).abs() < 1e-6, "{asked} became {}", at(asked));
        }
    }

    #[test]
    fn steering_to_the_other_side_goes_back_to_the_middle_first() {
        let mut shaper = Shaper { now: Inputs { steer: 0.5, ..Inputs::default() } };
        let right = Inputs { steer: -1.0, ..Inputs::default() };
        assert!((shaper.shape(&Shaping::KEYS, &right, 0.05).steer - 0.2).abs() < 1e-6, "6 a second to the middle");
        assert_eq!(shaper.shape(&Shaping::KEYS, &right, 0.05).steer, 0.0);
        assert!((shaper.shape(&Shaping::KEYS, &right, 0.05).steer + 0.15).abs() < 1e-6, "3 a second away from it");
    }

    #[test]
    fn what_is_not_a_number_is_nothing() {
        let bad = Inputs { accelerate: f32::NAN, brake: f32::INFINITY, steer: f32::NAN, handbrake: -3.0 };
        for shaping in [Shaping::KEYS, Shaping::GAMEPAD, Shaping::WHEEL] {
            assert_eq!(Shaper::default().shape(&shaping, &bad, 0.1), Inputs::default());
        }
        let odd = Shaping {
            press: f32::NAN,
            turn: f32::NAN,
            steer_curve: f32::NAN,
            steer_dead_zone: f32::NAN,
            ..Shaping::KEYS
        };
        let full = Inputs { accelerate: 1.0, brake: 1.0, steer: 1.0, handbrake: 1.0 };
        let shaped = Shaper::default().shape(&odd, &full, f32::NAN);
        assert!(
            [shaped.accelerate, shaped.brake, shaped.steer, shaped.handbrake].iter().all(|v| (0.0..=1.0).contains(v))
        );
    }
}
