//! Motors, couplings and converters of a batch of cars.

use crate::assembly::drivetrain::shaft_solver::{
    LastStep, MAX_UNROLLED_ROWS, WarmStart, WarmStartedRows, WheelMeasurement, solve_warm_started,
};
use crate::drivetrain::rows::MAX_CONSTRAINTS;
use crate::model::wheel_pack::WheelPack;
use crate::simd::lane::{CarLanes, F32x4, Lane};
use crate::solver_mode::ImpulseBounds;
use crate::step::batch::lane_exchange::{BATCH_LANES, NEUTRAL_ADDEND};
use crate::vehicle::Vehicle;
use crate::vehicle::rows::{EffectiveMass, WheelRows};

/// Solves the rows between spins (motors, converters, couplings) of those of `vehicles` with an entry in `gained`: the
/// forward speed gained in the last step (m/s). First tries all cars in lanes, from the impulses of the last step. Cars
/// that do not settle are solved one by one from the start; their first row starts with the first impulse in `began` (N
/// m s). Changes the impulses of the vehicles' shafts and the shaft impulses of the wheel `rows`.
#[inline(never)]
pub(crate) fn solve_batch_shafts<W: CarLanes>(
    vehicles: &mut [Vehicle; BATCH_LANES],
    mut gained: [Option<f32>; BATCH_LANES],
    began: &[[f32; 2]; BATCH_LANES],
    (packs, rows): (&[WheelPack<W>], &mut [WheelRows<W>]),
) {
    solve_warm_started_batch(vehicles, &mut gained, packs, rows);
    for (car, vehicle) in vehicles.iter_mut().enumerate().filter(|(car, _)| gained[*car].is_some()) {
        solve_from_start(vehicle, car, began[car][0], rows);
    }
}

/// Solves the rows between spins of one vehicle from the start. The vehicle is number `car` of the batch with these
/// `wheels`. Copies the wheels to the vehicle's rows, sets its first row to the impulse `began` (N m s) and all others
/// to 0, solves them, and writes the shaft impulses of its wheels back into its lane.
#[cold]
#[inline(never)]
fn solve_from_start<W: CarLanes>(vehicle: &mut Vehicle, car: usize, began: f32, wheels: &mut [WheelRows<W>]) {
    let Vehicle { model, rows, shafts, .. } = vehicle;
    for (own, wheels) in rows.iter_mut().zip(wheels.chunks(W::ROWS_PER_AXLE_PAIR)) {
        copy_wheel_rows(own, wheels, car);
    }
    for i in 0..shafts.row_count {
        shafts.set_row_impulse(model, rows, i, if i == 0 { began } else { 0.0 });
    }
    shafts.solve_from_scratch(model, rows);
    for (own, wheels) in rows.iter().zip(wheels.chunks_mut(W::ROWS_PER_AXLE_PAIR)) {
        for (wheel, shaft) in wheels.iter_mut().zip(own.drive.shaft.lanes()) {
            let shaft = W::from_fn(|other| if other == car { shaft } else { wheel.drive.shaft.car(other) });
            wheel.drive.shaft = shaft;
        }
    }
}

/// Copies the quantities that the shaft solve needs (drive impulses, tyre rows, friction limits, effective masses) from
/// lane `car` of four `wheels` to the car's `own` rows. All other rows stay.
fn copy_wheel_rows<W: CarLanes>(own: &mut WheelRows, wheels: &[WheelRows<W>], car: usize) {
    // Number of each of the four wheels.
    let of = |number: &dyn Fn(&WheelRows<W>) -> W| F32x4::new([0, 1, 2, 3].map(|k| number(&wheels[k]).lane(car)));
    let both_of = |numbers: &dyn Fn(&WheelRows<W>) -> [W; 2]| [0, 1].map(|i| of(&|wheel| numbers(wheel)[i]));
    // Mask of the four wheels.
    let holds = |mask: fn(&WheelRows<W>) -> W::Mask| {
        let held = [0, 1, 2, 3].map(|k| if W::mask_at(mask(&wheels[k]), car) { 1.0 } else { 0.0 });
        F32x4::splat(0.0).less(F32x4::new(held))
    };
    own.drive.momentum = of(&|wheel| wheel.drive.momentum);
    own.drive.motor = of(&|wheel| wheel.drive.motor);
    own.drive.shaft = of(&|wheel| wheel.drive.shaft);
    own.tyre.active = holds(|wheel| wheel.tyre.active);
    own.tyre.degressive = holds(|wheel| wheel.tyre.degressive);
    own.tyre.locking_capacity = of(&|wheel| wheel.tyre.locking_capacity);
    own.tyre.target_impulse = both_of(&|wheel| wheel.tyre.target_impulse);
    own.tyre.gain = both_of(&|wheel| wheel.tyre.gain);
    own.tyre.straight_target = both_of(&|wheel| wheel.tyre.straight_target);
    own.tyre.straight_gain = both_of(&|wheel| wheel.tyre.straight_gain);
    own.solution.friction_bound = both_of(&|wheel| wheel.solution.friction_bound);
    own.solution.effective_mass = EffectiveMass {
        speed: both_of(&|wheel| wheel.solution.effective_mass.speed),
        compliance: [0, 1, 2].map(|i| of(&|wheel| wheel.solution.effective_mass.compliance[i])),
    };
}

/// Solves the rows between spins in lanes, starting from the impulses of the last step. Sets `gained` to `None` for the
/// cars that have settled. The number of rows is a constant of the loops, if it is small.
#[inline(always)]
fn solve_warm_started_batch<W: CarLanes>(
    vehicles: &mut [Vehicle; BATCH_LANES],
    gained: &mut [Option<f32>; BATCH_LANES],
    banks: &[WheelPack<W>],
    rows: &mut [WheelRows<W>],
) {
    W::call_outlined(
        #[inline(always)]
        || match banks[0].shaft_jacobian.len() {
            1 => solve_warm_rows::<W, 1>(vehicles, gained, banks, rows),
            2 => solve_warm_rows::<W, 2>(vehicles, gained, banks, rows),
            3 => solve_warm_rows::<W, 3>(vehicles, gained, banks, rows),
            MAX_UNROLLED_ROWS => solve_warm_rows::<W, MAX_UNROLLED_ROWS>(vehicles, gained, banks, rows),
            _ => solve_warm_rows::<W, MAX_CONSTRAINTS>(vehicles, gained, banks, rows),
        },
    );
}

/// Solves at most `MOST` rows between spins per car in lanes, starting from the impulses of the last step. Cars without
/// an entry in `gained` take no part. Sets `gained` to `None` for the cars that have settled.
#[inline(always)]
fn solve_warm_rows<W: CarLanes, const MOST: usize>(
    vehicles: &mut [Vehicle; BATCH_LANES],
    gained: &mut [Option<f32>; BATCH_LANES],
    banks: &[WheelPack<W>],
    rows: &mut [WheelRows<W>],
) {
    let mut cars = [const { None }; BATCH_LANES];
    for ((car, vehicle), gained) in cars.iter_mut().zip(vehicles).zip(&*gained) {
        let Vehicle { shafts, model, state, .. } = vehicle;
        *car = gained
            .map(|gained| WarmStart::<MOST>::new(shafts, model, LastStep { drive: &state.drive, speed_gain: gained }));
    }
    let mut shafts = BatchShafts { cars };
    solve_warm_started(banks, rows, (banks[0].shaft_jacobian.len(), ImpulseBounds::ApproximateCone), &mut shafts);
    for (gained, car) in gained.iter_mut().zip(&shafts.cars) {
        *gained = gained.filter(|_| car.is_some());
    }
}

/// Shafts of the cars that have not settled.
struct BatchShafts<'a, const MOST: usize> {
    /// Solver of each car; `None` if the car takes no part or has settled.
    cars: [Option<WarmStart<'a, MOST>>; BATCH_LANES],
}

impl<const MOST: usize> BatchShafts<'_, MOST> {
    /// Returns the changes of the row impulses in lanes (N m s). `of` is called with the number and the solver of each
    /// car, and returns the changes of its rows. Cars for which it returns `None` change nothing: their lanes add −0,
    /// which keeps every bit.
    #[inline(always)]
    fn collect_changes<W: CarLanes>(
        &mut self,
        mut of: impl FnMut(usize, &mut Option<WarmStart<'_, MOST>>) -> Option<[f32; MOST]>,
    ) -> [W; MOST] {
        let mut changes = [[NEUTRAL_ADDEND; BATCH_LANES]; MOST];
        for (car, going) in self.cars.iter_mut().enumerate() {
            if let Some(own) = of(car, going) {
                changes.iter_mut().zip(own).for_each(|(all, own)| all[car] = own);
            }
        }
        let mut lanes = [W::default(); MOST];
        lanes.iter_mut().zip(changes).for_each(|(lanes, all)| *lanes = W::from_lanes(all));
        lanes
    }
}

impl<W: CarLanes, const MOST: usize> WarmStartedRows<W, MOST> for BatchShafts<'_, MOST> {
    /// Applies the impulses of the last step to each car, and returns the changes on the wheels.
    #[inline(always)]
    fn apply_last_impulses(&mut self) -> [W; MOST] {
        self.collect_changes(
            #[inline(always)]
            |_, going| going.as_mut().map(WarmStart::apply_last_impulses),
        )
    }

    /// Updates the bounds of couplings car by car; returns `None` if no car has changed.
    #[inline(always)]
    fn update_bounds(&mut self) -> Option<[W; MOST]> {
        let mut any = false;
        let changes = self.collect_changes(
            #[inline(always)]
            |_, going| {
                let changes = going.as_mut()?.update_bounds();
                any |= changes.is_some();
                changes
            },
        );
        any.then_some(changes)
    }

    /// Performs a Newton step car by car at the `measured` speeds and responses. Returns the changes, and whether all
    /// cars have settled; a settled car leaves the solve.
    #[inline(always)]
    fn newton_step(&mut self, measured: &WheelMeasurement<W, MOST>) -> ([W; MOST], bool) {
        // Speeds (rad/s) and responses (1/(kg m²)) as numbers of each car.
        let (mut speeds, mut answers) = ([[0.0; BATCH_LANES]; MOST], [[[0.0; BATCH_LANES]; MOST]; MOST]);
        for i in 0..MOST {
            speeds[i] = measured.speeds[i].to_lanes();
            for (lanes, answer) in answers[i].iter_mut().zip(measured.responses[i]).take(i + 1) {
                *lanes = answer.to_lanes();
            }
        }
        let mut all = true;
        let changes = self.collect_changes(
            #[inline(always)]
            |car, going| {
                let one = going.as_mut()?;
                let mut own = WheelMeasurement { speeds: [0.0; MOST], responses: [[0.0; MOST]; MOST] };
                for i in 0..MOST {
                    own.speeds[i] = speeds[i][car];
                    for (own, lanes) in own.responses[i].iter_mut().zip(&answers[i]).take(i + 1) {
                        *own = lanes[car];
                    }
                }
                let (changes, settled) = one.newton_step(&own);
                if settled {
                    *going = None;
                }
                all &= settled;
                Some(changes)
            },
        );
        (changes, all)
    }
}
