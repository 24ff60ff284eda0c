//! One row between spins: its law while it holds, its bounds, and the clutch of an engine that is dead.

use crate::drivetrain::engine::Engine;
use crate::drivetrain::motor::Motor;
use crate::drivetrain::parameters::Coupling;
use crate::lane::Lane;
use crate::step::coupling::Within;

/// Change of the clutch's impulse, as a share of its capacity, so small that no wheel can have begun or ceased to slide
/// unnoticed; the Newton step itself is exact while none does.
const SETTLED_CLUTCH: f32 = 0.02;

/// Change of any other impulse that ends the passes: a share of it, or a torque, N m.
const SETTLED_IMPULSE: [f32; 2] = [1e-3, 0.01];

/// The most that torque is of a motor, as a share of its peak.
const SETTLED_MOTOR: f32 = 1e-4;

/// A torque that does not change with speed is taken to fall by this share of it from a standstill to the speeds there are: what
/// such a row misses counts as speed, too, or a step back towards its torque looks like one that gains nothing and is taken back.
const LEAST_FALL: f32 = 1e-3;

/// One row between spins: the clutch or converter between engine and wheels, a motor on its wheels, a coupling between two sides. Its
/// impulse `p` and the speed `ω` of both ends against each other follow `per_impulse · p + per_speed · ω = target_impulse`. Impulses in
/// N m s.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DriveConstraint {
    /// Turns of the row per turn of the wheels on its levers.
    pub ratio: f32,
    /// Torque on the wheels per torque through the row, of a negative and of a positive one: losses are taken in the direction the power
    /// flows.
    pub torque_ratios: [f32; 2],
    /// Of its law while it holds: how the engine's flywheel answers its impulse, 1/(kg m²); 0 of a coupling, which has none; 1 of a motor or
    /// a converter, whose law is an impulse over speed.
    pub per_impulse: f32,
    /// 1 of a clutch or a coupling; of a motor or a converter how much its impulse falls with speed, kg m².
    pub per_speed: f32,
    /// Of a clutch the speed that the flywheel has without it, rad/s; of a motor or a converter its impulse at no speed, N m s.
    pub target_impulse: f32,
    /// Least and largest impulse that hold.
    pub bounds: [f32; 2],
    /// Impulse per speed that comes on top of a bound while it slips.
    pub viscous: f32,
    /// Change of the impulse that is none.
    pub settled: [f32; 2],
    pub impulse: f32,
    /// Whether it is a torque converter.
    pub is_converter: bool,
    /// Largest impulse of the dry friction on the engine's side; 0 of any row but the clutch of a dead engine.
    pub dry_drag: f32,
}

/// Whether a row follows its law, or slips at its lower or upper bound. While the clutch of a dead engine holds, the
/// engine either stands or is turned, backwards or forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Regime {
    Holds,
    Slips(usize),
    Stands,
    Turns(usize),
}

/// Torque on the wheels per negative and per positive torque through a row of `ratio` with losses of `efficiency`.
#[inline(always)]
pub(crate) fn torque_ratios<L: Lane>(ratio: L, efficiency: f32) -> [L; 2] {
    [ratio / L::splat(efficiency), ratio * L::splat(efficiency)]
}

/// That of them which counts, when `impulse` is what goes through the row.
#[inline(always)]
pub(crate) fn torque_ratio<L: Lane>([against, along]: [L; 2], impulse: L) -> L {
    L::select(impulse.less(L::splat(0.0)), against, along)
}

/// What `impulse` is to the wheels.
#[inline(always)]
pub(crate) fn at_wheels<L: Lane>(torque_ratios: [L; 2], impulse: L) -> L {
    torque_ratio(torque_ratios, impulse) * impulse
}

/// Impulse within its bounds of a row alone that follows its law and had `before`, at a speed of the wheels that its impulse changes by
/// `answer`, and whether there is one.
#[inline(always)]
pub(crate) fn held<L: Lane>(
    [per_impulse, per_speed, target_impulse]: [L; 3],
    [least, most]: [L; 2],
    before: L,
    [speed, answer]: [L; 2],
) -> (L, L::Mask) {
    let zero = L::splat(0.0);
    let pivot = per_speed * answer + per_impulse;
    let missing = target_impulse - per_impulse * before - per_speed * speed;
    let impulse = before + missing / pivot;
    let beyond = impulse.less(least) | most.less(impulse);
    (impulse, zero.less(per_impulse) & zero.less(pivot) & !beyond)
}

/// Whether an impulse is next to what it was before, by these measures.
#[inline(always)]
pub(crate) fn settles<L: Lane>([relative, absolute]: [L; 2], [before, after]: [L; 2], within: Within) -> L::Mask {
    !(L::splat(within.closeness()) * (relative * after.abs() + absolute)).less((after - before).abs())
}

/// `slope` of a `torque` over speeds up to `range` rad/s, no flatter than [`LEAST_FALL`] has it.
pub(crate) fn falling(slope: f32, torque: f32, range: f32) -> f32 {
    slope.min(-LEAST_FALL * torque.abs() / range.max(f32::MIN_POSITIVE))
}

/// The engine side of the clutch, of a car or of cars abreast.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flywheel<L = f32> {
    /// At the start of the step, rad/s.
    pub started: L,
    /// Before the clutch acts, rad/s.
    pub speed: L,
    pub inverse_inertia: L,
    /// Largest angular impulse of the dry friction of a dead engine, N m s.
    pub dry_drag: L,
    /// As `speed`, with a closed throttle and with the driver's; only of cars with assists.
    pub bounds: [L; 2],
}

/// The row of a clutch, of a car or of cars abreast: see [`DriveConstraint`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClutchRow<L> {
    pub ratio: L,
    pub torque_ratios: [L; 2],
    pub per_impulse: L,
    pub target_impulse: L,
    pub bounds: [L; 2],
    pub settled: [L; 2],
    pub impulse: L,
}

impl<L: Lane> ClutchRow<L> {
    /// A clutch that carries up to `capacity` and carried `impulse` before.
    #[inline(always)]
    pub(crate) fn of(flywheel: &Flywheel<L>, ratio: L, efficiency: f32, [capacity, impulse]: [L; 2]) -> Self {
        Self {
            ratio,
            torque_ratios: torque_ratios(ratio, efficiency),
            per_impulse: flywheel.inverse_inertia,
            target_impulse: flywheel.speed,
            bounds: [-capacity, capacity],
            settled: [L::splat(0.0), L::splat(SETTLED_CLUTCH) * capacity],
            impulse: impulse.clamped(-capacity, capacity),
        }
    }
}

impl From<ClutchRow<f32>> for DriveConstraint {
    #[inline(always)]
    fn from(row: ClutchRow<f32>) -> Self {
        let ClutchRow { ratio, torque_ratios, per_impulse, target_impulse, bounds, settled, impulse } = row;
        Self {
            ratio,
            torque_ratios,
            per_impulse,
            per_speed: 1.0,
            target_impulse,
            bounds,
            viscous: 0.0,
            settled,
            impulse,
            is_converter: false,
            dry_drag: 0.0,
        }
    }
}

impl DriveConstraint {
    /// As [`ClutchRow::of`].
    #[inline(always)]
    pub(crate) fn clutch(flywheel: &Flywheel, ratio: f32, efficiency: f32, capacity: f32, impulse: f32) -> Self {
        ClutchRow::of(flywheel, ratio, efficiency, [capacity, impulse]).into()
    }

    /// Puts a dead engine behind this clutch, which turned by `speed` rad/s and whose dry friction has up to `dry_drag`.
    ///
    /// With J the inertia and ω the speed of both while the clutch holds, `p = J (ω_f − ω) ∓ D` turning forwards and
    /// backwards, and anything between both at a standstill: as a brake on the flywheel. What turns a standing engine are the
    /// wheels.
    #[cold]
    #[inline(never)]
    pub(crate) fn slow_dead_engine(&mut self, speed: f32, efficiency: f32, dry_drag: f32, dt: f32) {
        let [against, along] = self.torque_ratios;
        if speed <= 0.0 {
            self.torque_ratios = [if speed < 0.0 { along } else { against }, self.ratio / efficiency];
        }
        let [relative, torque] = SETTLED_IMPULSE;
        (self.dry_drag, self.settled) = (dry_drag, [relative, torque * dt]);
    }

    /// A torque converter that gave `impulse` before; its law follows in every pass.
    pub(crate) fn converter(ratio: f32, efficiency: f32, impulse: f32, dt: f32) -> Self {
        let [relative, torque] = SETTLED_IMPULSE;
        Self {
            ratio,
            torque_ratios: torque_ratios(ratio, efficiency),
            per_impulse: 1.0,
            bounds: [f32::NEG_INFINITY, f32::INFINITY],
            settled: [relative, torque * dt],
            impulse,
            is_converter: true,
            ..Self::default()
        }
    }

    /// A coupling that carries nothing yet.
    pub(crate) fn coupling(coupling: &Coupling, dt: f32) -> Self {
        let viscous = coupling.viscous * dt;
        let [relative, torque] = SETTLED_IMPULSE;
        Self {
            ratio: 1.0,
            torque_ratios: [1.0; 2],
            per_speed: 1.0,
            bounds: [-coupling.friction * dt, coupling.friction * dt],
            viscous,
            settled: [relative, torque * dt],
            ..Self::default()
        }
    }

    /// A motor's rotor, which turns with its wheels; its law follows in every pass. In reverse it drives with negative torques.
    pub(crate) fn motor(motor: &Motor, direction: f32, dt: f32) -> Self {
        let [relative, torque] = SETTLED_IMPULSE;
        Self {
            ratio: motor.reduction,
            torque_ratios: torque_ratios(
                motor.reduction,
                if direction < 0.0 { 1.0 / motor.efficiency } else { motor.efficiency },
            ),
            per_impulse: 1.0,
            bounds: [f32::NEG_INFINITY, f32::INFINITY],
            settled: [relative, torque.min(SETTLED_MOTOR * motor.peak_torque) * dt],
            ..Self::default()
        }
    }

    /// Torque on the wheels per torque through the row, when that is `impulse`.
    #[inline(always)]
    pub(crate) fn torque_ratio(&self, impulse: f32) -> f32 {
        torque_ratio(self.torque_ratios, impulse)
    }

    /// What it is to the wheels when it has `impulse`.
    #[inline(always)]
    pub(crate) fn at_wheels(&self, impulse: f32) -> f32 {
        at_wheels(self.torque_ratios, impulse)
    }

    /// Lets it carry `impulse`; returns what it gives its wheels more.
    #[inline(always)]
    pub(crate) fn carries(&mut self, impulse: f32) -> f32 {
        let change = self.at_wheels(impulse) - self.at_wheels(self.impulse);
        self.impulse = impulse;
        change
    }

    /// `per_impulse`, `per_speed` and `target_impulse` of the row.
    pub(crate) fn law(&self, regime: Regime) -> [f32; 3] {
        match regime {
            Regime::Holds => [self.per_impulse, self.per_speed, self.target_impulse],
            Regime::Slips(bound) => [1.0, self.viscous, self.bounds[bound]],
            Regime::Stands => [0.0, 1.0, 0.0],
            Regime::Turns(0) => {
                [self.per_impulse, self.per_speed, self.target_impulse + self.per_impulse * self.dry_drag]
            }
            Regime::Turns(_) => {
                [self.per_impulse, self.per_speed, self.target_impulse - self.per_impulse * self.dry_drag]
            }
        }
    }

    /// What its law misses at an impulse and a speed; positive asks for more.
    pub(crate) fn missing(&self, regime: Regime, impulse: f32, speed: f32) -> f32 {
        let [per_impulse, per_speed, target_impulse] = self.law(regime);
        target_impulse - per_impulse * impulse - per_speed * speed
    }

    /// Impulse of a row alone that holds, at a `speed` of the wheels that its impulse changes by `answer`; `None` where it does not.
    #[inline(always)]
    pub(crate) fn held(&self, speed: f32, answer: f32) -> Option<f32> {
        let law = [self.per_impulse, self.per_speed, self.target_impulse];
        let (impulse, holds) = held(law, self.bounds, self.impulse, [speed, answer]);
        holds.then_some(impulse)
    }

    /// Whether the impulse `after` is next to what it was `before`.
    #[inline(always)]
    pub(crate) fn has_settled(&self, [before, after]: [f32; 2], within: Within) -> bool {
        settles(self.settled, [before, after], within)
    }

    /// What the row is taken to do first.
    pub(crate) fn first(&self) -> Regime {
        if self.dry_drag > 0.0 { Regime::Stands } else { Regime::Holds }
    }

    /// How the row goes on with `impulse` at `speed`.
    pub(crate) fn next(&self, regime: Regime, impulse: f32, speed: f32) -> Regime {
        let [least, most] = self.bounds;
        match regime {
            Regime::Slips(bound) => {
                let held = match self.first() {
                    Regime::Stands => Regime::Turns(usize::from(speed >= 0.0)),
                    holds => holds,
                };
                let missing = self.missing(held, impulse, speed);
                let carries_less = if bound == 1 { missing < 0.0 } else { missing > 0.0 };
                if carries_less { held } else { regime }
            }
            _ if impulse > most => Regime::Slips(1),
            _ if impulse < least => Regime::Slips(0),
            Regime::Stands if self.missing(Regime::Turns(0), impulse, 0.0) < 0.0 => Regime::Turns(0),
            Regime::Stands if self.missing(Regime::Turns(1), impulse, 0.0) > 0.0 => Regime::Turns(1),
            Regime::Turns(0) if speed > 0.0 => Regime::Stands,
            Regime::Turns(1) if speed < 0.0 => Regime::Stands,
            same => same,
        }
    }

    /// By how much its `speed` is above what its law has at an `impulse`, rad/s; 0 where the law leaves it open.
    pub(crate) fn excess(&self, impulse: f32, speed: f32) -> f32 {
        let [least, most] = self.bounds;
        let beyond = impulse - impulse.max(least).min(most);
        if beyond != 0.0 {
            return if self.viscous > 0.0 { speed + beyond / self.viscous } else { 0.0 };
        }
        let (free, drag) = (self.target_impulse - self.per_impulse * impulse, self.per_impulse * self.dry_drag);
        if self.per_speed > 0.0 { speed - (free - free.clamp(-drag, drag)) / self.per_speed } else { 0.0 }
    }

    /// `impulse` without its rounding at a bound.
    pub(crate) fn bounded(&self, regime: Regime, impulse: f32) -> f32 {
        match regime {
            Regime::Slips(bound) if self.viscous == 0.0 => self.bounds[bound],
            Regime::Slips(_) => impulse,
            _ => impulse.max(self.bounds[0]).min(self.bounds[1]),
        }
    }
}

impl<L: Lane> Flywheel<L> {
    /// That of an `engine` which starts with this speed and would come to that one in `dt` s.
    #[inline(always)]
    pub(crate) fn of(engine: &Engine, [started, speed]: [L; 2], dt: f32) -> Self {
        let inverse_inertia = L::splat(1.0 / engine.inertia_over(dt));
        Self { started, speed, inverse_inertia, dry_drag: L::splat(0.0), bounds: [speed; 2] }
    }

    /// What is left of its `speed` when its dry friction has acted, rad/s.
    #[inline(always)]
    pub(crate) fn dragged(&self, speed: L) -> L {
        let lost = self.dry_drag * self.inverse_inertia;
        speed - speed.clamped(-lost, lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clutch, of 50 N m s, of a dead engine of 0.5 kg m² with 4 N m s of dry friction, which stood.
    fn of_a_dead_engine() -> DriveConstraint {
        let flywheel = Flywheel { inverse_inertia: 2.0, ..Flywheel::default() };
        let mut row = DriveConstraint::clutch(&flywheel, 3.0, 1.0, 50.0, 0.0);
        row.slow_dead_engine(0.0, 1.0, 4.0, 0.01);
        row
    }

    /// It stands under less than its dry friction, and beyond that turns the way it is pushed: the wheels push by what the clutch takes
    /// from them.
    #[test]
    fn a_dead_engine_stands_until_more_than_its_dry_friction_turns_it() {
        let row = of_a_dead_engine();
        for (impulse, next) in [
            (0.0, Regime::Stands),
            (3.9, Regime::Stands),
            (-3.9, Regime::Stands),
            (4.1, Regime::Turns(0)),
            (-4.1, Regime::Turns(1)),
            (51.0, Regime::Slips(1)),
            (-51.0, Regime::Slips(0)),
        ] {
            assert_eq!(row.next(Regime::Stands, impulse, 0.0), next, "{impulse} N m s");
        }
        assert_eq!(row.next(Regime::Turns(0), 5.0, 1.0), Regime::Stands, "turned backwards no more");
        assert_eq!(row.next(Regime::Turns(1), -5.0, -1.0), Regime::Stands, "turned forwards no more");
    }

    /// By a share of what is carried, and a constant.
    #[test]
    fn a_row_has_settled_when_it_changes_by_less_than_its_measure() {
        let row = DriveConstraint { settled: [0.01, 0.5], ..DriveConstraint::default() };
        let settled = |change: f32| row.has_settled([100.0 + change, 100.0], Within::NearCone);
        assert_eq!([0.0, 1.4, -1.4, 1.6, -1.6].map(settled), [true, true, true, false, false]);
    }

    /// Passes of a coupling end at a thousandth of what it carries, and a hundredth of a newton metre.
    #[test]
    fn a_coupling_settles_by_its_own_measure() {
        let row =
            DriveConstraint::coupling(&Coupling { friction: 100.0, ..Coupling::locked(Default::default()) }, 0.01);
        assert_eq!((row.bounds, row.settled), ([-1.0, 1.0], [1e-3, 1e-4]));
    }
}
