//! Properties of every tyre law at every input.

use proptest::prelude::*;
use skidpad_core::simd::lane::{F32x4, F32x8Pair, Lane};
use skidpad_core::tyre::magic_formula::{Coefficients, ENTRIES, Radii, UseMode, Version};
use skidpad_core::tyre::{Brush, Conditions, DirectionCurve, MagicFormula, PreparedTyre, TMeasy, TyreModel};
use skidpad_spec::tir;

const BRUSH: Brush = Brush {
    bristle_stiffness: [9e6, 7e6],
    half_length: 0.06,
    friction: [1.0, 0.95],
    load_sensitivity: 0.1,
    nominal_load: 4000.0,
};

const TMEASY: TMeasy = TMeasy {
    nominal_load: 4000.0,
    nominal: [
        DirectionCurve { slope: 120e3, largest: 4400.0, largest_slip: 0.11, sliding: 4300.0, sliding_slip: 0.5 },
        DirectionCurve { slope: 90e3, largest: 4200.0, largest_slip: 0.2, sliding: 4100.0, sliding_slip: 0.8 },
    ],
    double: [
        DirectionCurve { slope: 200e3, largest: 8700.0, largest_slip: 0.12, sliding: 7500.0, sliding_slip: 0.8 },
        DirectionCurve { slope: 130e3, largest: 7500.0, largest_slip: 0.24, sliding: 7400.0, sliding_slip: 1.0 },
    ],
    relaxation: [0.1, 0.3],
};

fn opentire() -> MagicFormula {
    tir::load("opentire_235_60r16").expect("shipped").tyre
}

fn book() -> MagicFormula {
    tir::load("pacejka_book_defaults").expect("shipped").tyre
}

/// Returns the tyre of the book with the radius of version 6.2, with all its terms in use.
fn book_62() -> MagicFormula {
    let mut c = book().coefficients().clone();
    (c.q_cam1, c.q_cam2, c.q_cam3) = (85.0, 257.0, 0.5);
    (c.q_fys1, c.q_fys2, c.q_fys3) = (-20_496.0, -60_000.0, 88_211.0);
    (c.q_fcy, c.q_fcy2, c.q_fcx, c.q_fz2, c.q_v2) = (0.4, -0.4751, 0.1, 4.0, 0.04);
    MagicFormula::new(c, Version::Mf62, UseMode::Combined).expect("sound")
}

/// Inputs of one wheel: slips, conditions and spin.
#[derive(Clone, Copy, Debug)]
struct Input {
    slip: [f32; 2],
    at: Conditions<f32>,
    spin: f32,
}

fn ordinary() -> impl Strategy<Value = Input> {
    let slips = (-1.4f32..1.4, -2.0f32..2.0);
    let rest = (0f32..20e3, 0f32..1.5, -0.3f32..0.3, -80f32..80.0, 0f32..4e5, -200f32..200.0);
    (slips, rest).prop_map(|((a, b), (load, grip, camber, speed, pressure, spin))| Input {
        slip: [a, b],
        at: Conditions { load, grip, camber, speed, pressure },
        spin,
    })
}

fn odd_number() -> impl Strategy<Value = f32> {
    let odd = [0.0, -0.0, 1e-40, 1e-20, 1e-6, -1e-6, 1.0, -1.0, 0.1, -0.1, 1e3, 4e3, 1e6, -1e6, 1e20, -1e38];
    let wild = [f32::MAX, f32::MIN, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    prop_oneof![4 => prop::sample::select([&odd[..], &wild[..]].concat()), 1 => any::<f32>()]
}

fn odd() -> impl Strategy<Value = Input> {
    let number = odd_number;
    let all = (number(), number(), number(), number(), number(), number(), number(), number());
    all.prop_map(|(a, b, load, grip, camber, speed, pressure, spin)| Input {
        slip: [a, b],
        at: Conditions { load, grip, camber, speed, pressure },
        spin,
    })
}

/// Returns every number that a law computes for an input.
fn law_numbers<M: TyreModel, L: Lane>(law: &M, slip: [L; 2], at: &Conditions<L>) -> Vec<L> {
    let point = law.prepare(at);
    let response = point.force(slip);
    [response.force, response.slope, point.stiffness(), point.limit(), point.relaxation()].concat()
}

/// Returns every number that a Magic Formula tyre computes for an input.
fn formula_numbers<L: Lane>(tyre: &MagicFormula, slip: [L; 2], at: &Conditions<L>, spin: L) -> Vec<L> {
    let mut numbers = law_numbers(tyre, slip, at);
    let force = [numbers[0], numbers[1]];
    let moments = tyre.moments(&tyre.prepare(at), slip);
    let Radii { free, loaded, effective } = tyre.radii(at, spin, force);
    numbers.extend([moments.overturning, moments.rolling, moments.aligning, free, loaded, effective]);
    numbers
}

fn every_number(input: &Input) -> Vec<Vec<f32>> {
    let mut numbers = vec![law_numbers(&BRUSH, input.slip, &input.at), law_numbers(&TMEASY, input.slip, &input.at)];
    numbers.push(vec![BRUSH.prepare(&input.at).aligning(input.slip)]);
    numbers.extend(formulas().iter().map(|tyre| formula_numbers(tyre, input.slip, &input.at, input.spin)));
    numbers
}

/// Returns every number of every law in lanes. `lanes` combines one number of each input to lanes.
fn every_number_in_lanes<L: Lane>(lanes: impl Fn(fn(&Input) -> f32) -> L) -> Vec<Vec<L>> {
    let slip = [lanes(|i| i.slip[0]), lanes(|i| i.slip[1])];
    let at = Conditions {
        load: lanes(|i| i.at.load),
        grip: lanes(|i| i.at.grip),
        camber: lanes(|i| i.at.camber),
        speed: lanes(|i| i.at.speed),
        pressure: lanes(|i| i.at.pressure),
    };
    let mut numbers = vec![law_numbers(&BRUSH, slip, &at), law_numbers(&TMEASY, slip, &at)];
    numbers.push(vec![BRUSH.prepare(&at).aligning(slip)]);
    numbers.extend(formulas().iter().map(|tyre| formula_numbers(tyre, slip, &at, lanes(|i| i.spin))));
    numbers
}

fn formulas() -> &'static [MagicFormula; 3] {
    static FORMULAS: std::sync::OnceLock<[MagicFormula; 3]> = std::sync::OnceLock::new();
    FORMULAS.get_or_init(|| [opentire(), book(), book_62()])
}

fn same_bits(inputs: &[Input; 8]) {
    let together = every_number_in_lanes(|part| F32x8Pair::new(inputs.each_ref().map(part)));
    let [first, second] =
        [0, 4].map(|k| every_number_in_lanes(|part| F32x4::new([0, 1, 2, 3].map(|i| part(&inputs[k + i])))));
    for (i, input) in inputs.iter().enumerate() {
        let halves = if i < 4 { &first } else { &second };
        for (law, alone) in every_number(input).iter().enumerate() {
            for (k, alone) in alone.iter().enumerate() {
                let lanes = [together[law][k].lanes()[i], halves[law][k].lanes()[i % 4]];
                let same = lanes.iter().all(|lane| lane.to_bits() == alone.to_bits());
                assert!(same, "law {law}, number {k}: {alone} {lanes:?} at {input:?}");
            }
        }
    }
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn lanes_have_the_bits_of_one(inputs in prop::array::uniform8(ordinary())) {
        same_bits(&inputs);
    }

    #[test]
    fn lanes_have_the_bits_of_one_at_odd_inputs(inputs in prop::array::uniform8(odd())) {
        same_bits(&inputs);
    }

    #[test]
    fn everything_is_finite(input in odd()) {
        for (law, numbers) in every_number(&input).iter().enumerate() {
            assert!(numbers.iter().all(|number| number.is_finite()), "law {law}: {numbers:?} at {input:?}");
        }
    }

    /// Checks that tyres with any valid coefficients are finite.
    #[test]
    fn any_sound_tyre_is_finite(
        six in any::<bool>(),
        changes in prop::collection::vec((0..ENTRIES.len(), change()), 1..6),
        inputs in prop::collection::vec(prop_oneof![ordinary(), odd()], 8),
    ) {
        let start = if six { book_62() } else { opentire() };
        let mut c: Coefficients = start.coefficients().clone();
        for (i, change) in changes {
            if let Some(value) = c.get_mut(ENTRIES[i].name) {
                *value = change(*value);
            }
        }
        let Ok(tyre) = MagicFormula::new(c, start.version(), UseMode::Combined) else { return Ok(()) };
        for Input { slip, at, spin } in inputs {
            let numbers = formula_numbers(&tyre, slip, &at, spin);
            assert!(numbers.iter().all(|number| number.is_finite()), "{numbers:?} at {slip:?} {at:?}");
        }
    }

    /// Checks that slopes are those of the forces: the slope of a chord is between the smallest and the largest slope on it, except for
    /// f32 noise.
    #[test]
    fn slopes_are_those_of_the_forces(input in ordinary()) {
        // The inputs leave out the ends of the slip ranges, where the force becomes constant, and the locked wheel, where slip over
        // rolling speed is limited.
        let slip = [input.slip[0].clamp(-0.9, 1.3), input.slip[1]];
        let input = Input { slip, at: Conditions { grip: input.at.grip.max(0.05), ..input.at }, ..input };
        slopes_match("brush", &BRUSH, &input);
        slopes_match("tmeasy", &TMEASY, &input);
        for tyre in formulas() {
            slopes_match("formula", tyre, &input);
        }
    }
}

fn change() -> impl Strategy<Value = fn(f32) -> f32> {
    let changes: [fn(f32) -> f32; 9] =
        [|_| 0.0, |v| -v, |v| 10.0 * v, |v| -100.0 * v, |_| 1e5, |_| -1e5, |_| 1.0, |v| v + 3.0, |_| 0.011];
    prop::sample::select(changes.to_vec())
}

fn slopes_match<M: TyreModel>(name: &str, law: &M, input: &Input) {
    const STEP: f32 = 1e-3;
    let point = law.prepare(&input.at);
    let [stiffness, limit] = [point.stiffness(), point.limit()];
    for i in 0..2 {
        let there = |by: f32| {
            let mut slip = input.slip;
            slip[i] += by;
            (slip[i], point.force(slip))
        };
        let [(low, before), (_, here), (high, after)] = [-STEP, 0.0, STEP].map(there);
        let chord = (after.force[i] - before.force[i]) / (high - low);
        let slopes = [before.slope[i], here.slope[i], after.slope[i]];
        let (least, most) =
            (slopes.iter().copied().fold(f32::MAX, f32::min), slopes.iter().copied().fold(f32::MIN, f32::max));
        // The tolerance covers rounding of the forces over the length of the chord, and the curvature of the slope between samples.
        let slack = 4e-7 * limit[i].max(stiffness[i] * 0.1) / STEP + 0.05 * (most - least) + 2e-3 * stiffness[i];
        let fits = chord >= least - slack && chord <= most + slack;
        assert!(fits, "{name} {i}: chord {chord}, slopes {slopes:?}, slack {slack} at {input:?}");
    }
}

/// Checks that a tyre without shifts has equal forces in driving and braking, and to the left and right.
#[test]
fn symmetric_coefficients_give_odd_forces() {
    let tyre = book();
    for load in [1000.0f32, 4000.0, 7000.0] {
        let point = tyre.prepare(&Conditions::upright(load, 20.0));
        for i in 0..100 {
            let [k, s] = [0.013 * i as f32, 0.017 * i as f32];
            let [ahead, back, right] = [[k, s], [-k, s], [k, -s]].map(|slip| point.force(slip));
            assert_eq!(ahead.force[0], -back.force[0]);
            assert_eq!(ahead.force[1], -right.force[1]);
            assert_eq!((ahead.force[1], ahead.force[0]), (back.force[1], right.force[0]));
            assert_eq!(ahead.slope, right.slope);
        }
    }
}

/// Checks that a tyre has reflected forces and moments on the other side of the car.
#[test]
fn a_mirrored_tyre_reflects() {
    let (tyre, mirrored) = (opentire(), opentire().mirrored());
    for i in 0..400 {
        let part = |k: i32, n: i32| (i * k % n) as f32 / n as f32 - 0.5;
        let camber = 0.2 * part(7, 31);
        let at = Conditions { camber, ..Conditions::upright(4000.0 + 6000.0 * part(3, 17), 20.0) };
        let reflected = Conditions { camber: -camber, ..at };
        let [slip, other] = [1.0, -1.0].map(|side: f32| [0.4 * part(11, 37), side * part(13, 41)]);
        let (a, b) = (tyre.prepare(&at).force(slip), mirrored.prepare(&reflected).force(other));
        assert_eq!((a.force, a.slope), ([b.force[0], -b.force[1]], b.slope), "{i}");
        let (a, b) = (tyre.moments(&tyre.prepare(&at), slip), mirrored.moments(&mirrored.prepare(&reflected), other));
        // The moments differ in the last bits, because terms with and without reflection are added in one order.
        let close = |a: f32, b: f32| (a - b).abs() < 1e-3;
        assert!(close(a.overturning, -b.overturning) && close(a.rolling, b.rolling), "{a:?} {b:?}");
        assert!(close(a.aligning, -b.aligning), "{a:?} {b:?}");
    }
}

#[test]
fn a_symmetric_tyre_rests() {
    let tyre = opentire().symmetric();
    let at = Conditions::upright(4000.0f32, 20.0);
    let point = tyre.prepare(&at);
    assert_eq!(point.force([0.0; 2]).force, [0.0; 2]);
    let moments = tyre.moments(&point, [0.0; 2]);
    assert_eq!((moments.overturning, moments.aligning), (0.0, 0.0));
    assert_eq!(point.force([0.0, 0.08]).force[1], -point.force([0.0, -0.08]).force[1]);
    // Stiffness and relaxation are unchanged.
    let full = opentire().prepare(&at);
    assert_eq!((point.stiffness()[1], point.relaxation()), (full.stiffness()[1], full.relaxation()));
}

/// Checks that trail and rolling resistance change sign if the wheel rolls backwards. A locked wheel has no rolling resistance.
#[test]
fn rolling_backwards_reverses_the_trail() {
    let tyre = book();
    let moments =
        |speed: f32, ratio: f32| tyre.moments(&tyre.prepare(&Conditions::upright(4000.0, speed)), [ratio, 0.05]);
    let [ahead, back] = [20.0, -20.0].map(|speed| moments(speed, 0.0));
    assert!(ahead.aligning < 0.0 && ahead.aligning == -back.aligning, "{ahead:?} {back:?}");
    assert!(ahead.rolling < 0.0 && ahead.rolling == -back.rolling, "{ahead:?} {back:?}");
    assert_eq!((moments(20.0, -1.0).rolling, moments(0.0, 0.0).rolling), (0.0, 0.0));
}

/// Checks that slip, camber and pressure are clamped to the ranges of the file, and that forces outside the range of the load are
/// proportional to the load.
#[test]
fn ranges_hold() {
    let tyre = book();
    let force = |slip: [f32; 2], at: Conditions<f32>| tyre.prepare(&at).force(slip);
    let upright = Conditions::upright(4000.0f32, 20.0);
    let (far, end) = (force([9.0, 0.0], upright), force([1.5, 0.0], upright));
    assert_eq!((far.force, far.slope[0]), (end.force, 0.0));
    let leaning = |camber: f32| force([0.0, 0.05], Conditions { camber, ..upright }).force;
    assert_eq!(leaning(1.0), leaning(0.175));
    let inflated = |pressure: f32| force([0.0, 0.05], Conditions { pressure, ..upright }).force;
    assert_eq!((inflated(5e6), inflated(0.0)), (inflated(1e6), inflated(220e3)));
    let across = |load: f32| force([0.0, 0.05], Conditions::upright(load, 20.0)).force[1];
    assert!((across(30e3) / across(10e3) - 3.0).abs() < 1e-6);
    assert!((across(20.0) / across(100.0) - 0.2).abs() < 1e-6);
}

/// Checks row E21: with E = 0 the peak is D, at B x = tan(π / 2C). D grows with load and friction.
#[test]
fn e21_the_peak_is_where_the_formula_has_it() {
    let tyre = book();
    let c = tyre.coefficients();
    for (load, grip) in [(2000.0f32, 1.0f32), (4000.0, 1.0), (4000.0, 0.6), (6500.0, 1.2)] {
        let point = tyre.prepare(&Conditions { grip, ..Conditions::upright(load, 20.0) });
        let dfz = (load - c.fnomin) / c.fnomin;
        for (i, shape, friction) in [(0, c.pcx1, c.pdx1 + c.pdx2 * dfz), (1, c.pcy1, c.pdy1 + c.pdy2 * dfz)] {
            let peak = friction * load * grip;
            let factor = point.stiffness()[i] / (shape * peak);
            let at_peak = (std::f32::consts::FRAC_PI_2 / shape).tan() / factor;
            let slip = if i == 0 { [at_peak, 0.0] } else { [0.0, at_peak.tan()] };
            let found = point.force(slip);
            assert!((found.force[i] / peak - 1.0).abs() < 1e-6, "{found:?} for {peak}");
            assert!((point.limit()[i] / peak - 1.0).abs() < 1e-6);
            assert!(found.slope[i].abs() < 1e-3 * point.stiffness()[i], "flat at the peak: {found:?}");
        }
    }
}

/// Checks row E21: if the other slip is 0, combined forces are those of pure slip.
#[test]
fn e21_combined_reduces_to_pure() {
    for tyre in [opentire(), book()] {
        let alone = MagicFormula::new(tyre.coefficients().clone(), tyre.version(), UseMode::Uncombined).expect("sound");
        let at = Conditions { camber: 0.03, ..Conditions::upright(3500.0, 20.0) };
        let [combined, alone] = [tyre.prepare(&at), alone.prepare(&at)];
        for i in -50..=50 {
            let slip = 0.02 * i as f32;
            assert_eq!(combined.force([slip, 0.0]).force[0], alone.force([slip, 0.7]).force[0]);
            assert_eq!(combined.force([0.0, slip]).force[1], alone.force([0.7, slip]).force[1]);
        }
    }
}

/// Checks a tyre without coefficients of combined slip. Its forces stay within the ellipse of its limits, the forces of pure slip are
/// unchanged, and slopes are those of the forces. Independent forces would reach 1.41 of the ellipse.
#[test]
fn without_coefficients_of_combined_slip_forces_share_the_ellipse() {
    let sound = book().coefficients().clone();
    let c = Coefficients { rcx1: 0.0, rcy1: 0.0, rvy1: 0.0, rvy2: 0.0, rvy3: 0.0, ..sound };
    let tyre = MagicFormula::new(c.clone(), Version::Mf61, UseMode::Combined).expect("sound");
    assert!(tyre.combines_by_ellipse() && !book().combines_by_ellipse());
    let alone = MagicFormula::new(c, Version::Mf61, UseMode::Uncombined).expect("sound");
    let at = Conditions::upright(4000.0, 20.0);
    let (tyre, alone) = (tyre.prepare(&at), alone.prepare(&at));
    let limit = tyre.limit();
    let used = |force: [f32; 2]| (force[0] / limit[0]).hypot(force[1] / limit[1]);
    let mut most = 0f32;
    for i in -40..=40 {
        for j in -40..=40 {
            let slip = [0.025 * i as f32, 0.025 * j as f32];
            let found = tyre.force(slip);
            most = most.max(used(alone.force(slip).force));
            // The tolerance covers forces at zero slip, which are not at the centre of the ellipse.
            assert!(used(found.force) < 1.005, "{slip:?}: {}", used(found.force));
            for k in [0, 1] {
                let mut single = [0.0; 2];
                single[k] = slip[k];
                assert_eq!(tyre.force(single).force[k], alone.force(single).force[k]);
                let step = 1e-3;
                let [more, less] = [step, -step].map(|by| {
                    let mut slip = slip;
                    slip[k] += by;
                    tyre.force(slip).force[k]
                });
                let difference = (more - less) / (2.0 * step);
                let close = (found.slope[k] - difference).abs() < 0.03 * tyre.stiffness()[k];
                assert!(close, "{slip:?} {k}: slope {} for {difference}", found.slope[k]);
            }
        }
    }
    assert!(most > 1.35, "{most}");
    // The force of a locked wheel opposes its sliding velocity. The tolerance of one half covers its longitudinal force, which has
    // fallen from the peak.
    let locked = tyre.force([-1.0, 0.2]).force;
    assert!((locked[1] / -locked[0] - 0.2).abs() < 0.1, "{locked:?}");
}

/// Checks that slip ratio weakens the force at the pneumatic trail by the factor of Fy, also under camber. With a constant trail and no
/// other terms, the moment is proportional to the force. The factor of the upright tyre would give an error of 2 %.
#[test]
fn the_trailing_force_falls_as_the_leaning_tyres_does() {
    let nothing =
        Coefficients { rby4: 30.0, rvy1: 0.0, rvy2: 0.0, rvy3: 0.0, rvy5: 0.0, ..book().coefficients().clone() };
    let no_residual = Coefficients { qdz6: 0.0, qdz7: 0.0, qdz8: 0.0, qdz9: 0.0, qdz10: 0.0, qdz11: 0.0, ..nothing };
    let no_lever = Coefficients { ssz1: 0.0, ssz2: 0.0, ssz3: 0.0, ssz4: 0.0, ..no_residual };
    let c = Coefficients { qbz1: 0.0, qbz2: 0.0, qbz3: 0.0, ..no_lever };
    let tyre = MagicFormula::new(c, Version::Mf61, UseMode::Combined).expect("sound");
    for camber in [-0.2f32, 0.0, 0.1] {
        let at = Conditions { camber, ..Conditions::upright(4000.0, 20.0) };
        let point = tyre.prepare(&at);
        for ratio in [-0.3f32, -0.05, 0.1] {
            let [free, slipping] = [[0.0, 0.08], [ratio, 0.08]];
            let moment = tyre.moments(&point, slipping).aligning / tyre.moments(&point, free).aligning;
            let force = point.force(slipping).force[1] / point.force(free).force[1];
            assert!(
                (moment / force - 1.0).abs() < 1e-4,
                "{camber} {ratio}: {moment} of the moment, {force} of the force"
            );
        }
    }
}

/// Checks Mx over the load, `R₀ F_z cos(atan((QSX6 F_z / F_z0)²)) sin γ` if all other terms are 0.
#[test]
fn the_square_of_qsx6_is_inside_the_arc_tangent() {
    let own = Coefficients {
        qsx1: 0.0,
        qsx2: 0.0,
        qsx3: 0.0,
        qsx4: 1.0,
        qsx5: 1.0,
        qsx6: 0.8,
        ..book().coefficients().clone()
    };
    let c = Coefficients { qsx7: 1.0, qsx8: 0.0, qsx10: 0.0, qsx12: 0.0, qsx13: 0.0, qsx14: 0.0, ..own };
    let tyre = MagicFormula::new(c.clone(), Version::Mf61, UseMode::Combined).expect("sound");
    for load in [2000.0f32, 4000.0, 7000.0] {
        let at = Conditions { camber: 0.05, ..Conditions::upright(load, 20.0) };
        let found = tyre.moments(&tyre.prepare(&at), [0.0; 2]).overturning;
        let scaled = 0.8 * load / c.fnomin;
        let expected = c.unloaded_radius * load / (1.0 + scaled.powi(4)).sqrt() * 0.05f32.sin();
        assert!((found / expected - 1.0).abs() < 1e-4, "{load}: {found} for {expected}");
    }
}

/// Checks that a tyre that is used for one force only has no other force, and needs no coefficients for it.
#[test]
fn unused_forces_are_none() {
    let sound = book().coefficients().clone();
    let no_along = Coefficients { pcx1: f32::NAN, pdx1: f32::NAN, pkx1: f32::NAN, ..sound.clone() };
    let tyre = MagicFormula::new(no_along, Version::Mf61, UseMode::Lateral).expect("sound");
    let point = tyre.prepare(&Conditions::upright(4000.0, 20.0));
    let force = point.force([0.1, 0.05]).force;
    assert!(force[0] == 0.0 && force[1] > 1000.0, "{force:?}");
    assert_eq!(point.limit()[0], 0.0);
    let wrong = Coefficients { pcy1: 0.0, fnomin: f32::INFINITY, ..sound };
    let names: Vec<_> = MagicFormula::new(wrong, Version::Mf61, UseMode::Combined)
        .expect_err("faults")
        .iter()
        .map(|f| f.name)
        .collect();
    assert_eq!(names, ["FNOMIN", "PCY1"]);
}

/// Checks that the vertical force at the loaded radius is the load, in 6.1 and, without the additional terms, in 6.2.
#[test]
fn radii_follow_load() {
    let six_one = book();
    let six_two = MagicFormula::new(six_one.coefficients().clone(), Version::Mf62, UseMode::Combined).expect("sound");
    let c = six_one.coefficients();
    for load in [0.0f32, 1000.0, 4000.0, 8000.0] {
        let at = Conditions::upright(load, 20.0);
        let [one, two] = [&six_one, &six_two].map(|tyre| tyre.radii(&at, 60.0, [0.0; 2]));
        // This tyre is a linear spring.
        let expected = c.unloaded_radius - load / c.vertical_stiffness;
        assert!((one.loaded - expected).abs() < 1e-6, "{one:?}");
        // The solver uses twenty bisections of a radius of 0.3 m.
        assert!((two.loaded - expected).abs() < 1e-6, "{two:?}");
        assert!(one.effective <= one.free && one.effective > 0.9 * one.free, "{one:?}");
    }
    let leaning = Conditions { camber: 0.1, ..Conditions::upright(4000.0, 20.0) };
    let [upright, leaned] =
        [Conditions::upright(4000.0, 20.0), leaning].map(|at| book_62().radii(&at, 60.0, [0.0; 2]).loaded);
    assert!((leaned - upright).abs() > 1e-4, "camber changes the radius of 6.2: {upright} {leaned}");
}
