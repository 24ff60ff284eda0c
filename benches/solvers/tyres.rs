//! Benches of the tyre laws for eight tyres, in scalar code and in SIMD lanes. Compare within one group.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use skidpad::core::simd::lane::{F32x8Pair, Lane};
use skidpad::core::tyre::{
    Brush, Conditions, CurveLaw, CurveTyre, DirectionCurve, MagicFormula, PreparedTyre, TMeasy, TyreForces, TyreModel,
};

/// Slip ratios κ of eight tyres, from rolling to full sliding.
const SLIP_RATIOS: [f32; 8] = [0.0, 0.01, -0.02, 0.05, -0.1, 0.2, -0.5, -1.0];
/// Lateral slips −tan α of eight tyres.
const LATERAL_SLIPS: [f32; 8] = [0.01, -0.02, 0.05, -0.1, 0.2, 0.0, 0.03, -0.07];
/// Normal loads of eight tyres, N.
const NORMAL_LOADS_N: [f32; 8] = [3000.0, 3500.0, 4000.0, 4500.0, 2000.0, 5000.0, 2500.0, 6000.0];

/// Measures forces and slopes of eight tyres with each law.
pub fn laws(criterion: &mut Criterion) {
    // For a law that holds at rest (dry friction) slips are deflections relative to the sliding deflection; it slides
    // at 1.
    let curves = [
        ("coulomb", CurveLaw::Coulomb { deflection: 0.005 }),
        ("linear", CurveLaw::Linear { stiffness: [100e3, 80e3] }),
        ("linear_per_load", CurveLaw::LinearPerLoad { stiffness: [22.3, 21.9] }),
        (
            "slip_curve",
            CurveLaw::SlipCurve { extremum_slip: [0.1, 0.12], asymptote_slip: [0.5, 0.6], asymptote: [0.8, 0.8] },
        ),
    ];
    for (name, law) in curves {
        let friction = [1.0, 1.0];
        let tyre = CurveTyre { law, friction, load_sensitivity: 0.1, nominal_load: 4000.0, relaxation: [0.1, 0.3] };
        compare(criterion, name, &tyre, if tyre.is_dry_friction() { 10.0 } else { 1.0 });
    }
    let load_tyre = |name| skidpad::spec::tir::load(name).expect("a shipped tyre loads").tyre;
    compare::<MagicFormula>(criterion, "pac2002", &load_tyre("opentire_235_60r16"), 1.0);
    compare::<MagicFormula>(criterion, "mf61", &load_tyre("pacejka_book_defaults"), 1.0);
    let brush = Brush {
        bristle_stiffness: [9e6, 7e6],
        half_length: 0.06,
        friction: [1.0; 2],
        load_sensitivity: 0.1,
        nominal_load: 4000.0,
    };
    compare(criterion, "brush", &brush, 1.0);
    let direction =
        DirectionCurve { slope: 90e3, largest: 4000.0, largest_slip: 0.12, sliding: 3600.0, sliding_slip: 0.5 };
    let double =
        DirectionCurve { slope: 160e3, largest: 7500.0, largest_slip: 0.14, sliding: 6800.0, sliding_slip: 0.6 };
    let tmeasy = TMeasy { nominal_load: 4000.0, nominal: [direction; 2], double: [double; 2], relaxation: [0.1, 0.3] };
    compare(criterion, "tmeasy", &tmeasy, 1.0);
}

#[inline(never)]
fn force<M: TyreModel, L: Lane>(law: &M, slip: [L; 2], load: L) -> TyreForces<L> {
    law.prepare(&Conditions::upright(load, L::splat(20.0))).force(slip)
}

/// Measures `law` at the slips of this bench times `scale`.
fn compare<M: TyreModel>(criterion: &mut Criterion, name: &str, law: &M, scale: f32) {
    let [slip_ratios, lateral_slips] = [SLIP_RATIOS, LATERAL_SLIPS].map(|slips| slips.map(|slip| slip * scale));
    let mut group = criterion.benchmark_group(format!("eight_tyres_{name}"));
    group.throughput(Throughput::Elements(8));
    group.bench_function("scalar", |bencher| {
        bencher.iter(|| {
            let (slip_ratios, lateral_slips, loads) =
                (black_box(slip_ratios), black_box(lateral_slips), black_box(NORMAL_LOADS_N));
            std::array::from_fn::<_, 8, _>(|i| force(law, [slip_ratios[i], lateral_slips[i]], loads[i]))
        });
    });
    group.bench_function("lanes", |bencher| {
        bencher.iter(|| {
            let slip = [F32x8Pair::new(black_box(slip_ratios)), F32x8Pair::new(black_box(lateral_slips))];
            force(law, slip, F32x8Pair::new(black_box(NORMAL_LOADS_N)))
        });
    });
    group.finish();
}
