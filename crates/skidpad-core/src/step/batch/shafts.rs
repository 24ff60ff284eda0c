//! Motors, couplings and converters of a batch of cars.

use crate::assembly::drivetrain::shaft_solver::{
    LastStep, MAX_UNROLLED_ROWS, WarmStart, WarmStartedRows, WheelRowResponse, solve_warm_started,
};
use crate::drivetrain::rows::MAX_CONSTRAINTS;
use crate::impulse_bounds::ImpulseBounds;
use crate::model::wheel_pack::WheelPack;
use crate::step::batch::lane_exchange::{BATCH_LANES, NEUTRAL_ADDEND};
use crate::vehicle::Vehicle;
use crate::vehicle::rows::{EffectiveMass, WheelRows};
use skidpad_simd::lane::{CarLanes, F32x4, Lane};

/// Solves the rows between spins (motors, converters, couplings) of those of `vehicles` that have an entry in
/// `speed_gains`: the forward speed gained in the last step (m/s). First solves all these cars in lanes, from the
/// impulses of the last step. Cars whose impulses do not settle are then solved one by one from scratch: their first
/// row starts with the first impulse in `start_impulses` (N m s), all others with 0.
///
/// Stores the row impulses in the vehicles' shafts and the shaft impulses of the wheels in `rows`.
#[inline(never)]
pub(crate) fn solve_batch_shafts<W: CarLanes>(
    vehicles: &mut [Vehicle; BATCH_LANES],
    mut speed_gains: [Option<f32>; BATCH_LANES],
    start_impulses: &[[f32; 2]; BATCH_LANES],
    (packs, rows): (&[WheelPack<W>], &mut [WheelRows<W>]),
) {
    solve_warm_started_batch(vehicles, &mut speed_gains, packs, rows);
    for (car, vehicle) in vehicles.iter_mut().enumerate().filter(|(car, _)| speed_gains[*car].is_some()) {
        solve_from_start(vehicle, car, start_impulses[car][0], rows);
    }
}

/// Solves the rows between spins of one vehicle from scratch. The vehicle is number `car` of the batch with these
/// `wheels`. Copies the lane of the car to the vehicle's rows, sets its first row between spins to the impulse
/// `start_impulse` (N m s) and all others to 0, solves them, and writes the shaft impulses of its wheels back into its
/// lane.
#[cold]
#[inline(never)]
fn solve_from_start<W: CarLanes>(vehicle: &mut Vehicle, car: usize, start_impulse: f32, wheels: &mut [WheelRows<W>]) {
    let Vehicle { model, rows, shafts, .. } = vehicle;
    for (vehicle_rows, wheels) in rows.iter_mut().zip(wheels.chunks(W::ROWS_PER_AXLE_PAIR)) {
        copy_wheel_rows(vehicle_rows, wheels, car);
    }
    for i in 0..shafts.row_count {
        shafts.set_row_impulse(model, rows, i, if i == 0 { start_impulse } else { 0.0 });
    }
    shafts.solve_from_scratch(model, rows);
    for (vehicle_rows, wheels) in rows.iter().zip(wheels.chunks_mut(W::ROWS_PER_AXLE_PAIR)) {
        for (wheel, shaft) in wheels.iter_mut().zip(vehicle_rows.drive.shaft.lanes()) {
            // Replaces only the lane of this car.
            let shaft = W::from_fn(|other_car| if other_car == car { shaft } else { wheel.drive.shaft.car(other_car) });
            wheel.drive.shaft = shaft;
        }
    }
}

/// Copies the quantities that the shaft solve needs (drive impulses, tyre rows, friction limits, effective masses) from
/// lane `car` of four `wheels` to the car's `vehicle_rows` rows. All other rows stay.
fn copy_wheel_rows<W: CarLanes>(vehicle_rows: &mut WheelRows, wheels: &[WheelRows<W>], car: usize) {
    // Number of each of the four wheels.
    let gather = |quantity: &dyn Fn(&WheelRows<W>) -> W| {
        F32x4::new([0, 1, 2, 3].map(|wheel_index| quantity(&wheels[wheel_index]).lane(car)))
    };
    let gather_pair =
        |quantities: &dyn Fn(&WheelRows<W>) -> [W; 2]| [0, 1].map(|i| gather(&|wheel| quantities(wheel)[i]));
    // Mask of the four wheels.
    let gather_mask = |mask: fn(&WheelRows<W>) -> W::Mask| {
        let flags = [0, 1, 2, 3].map(|wheel_index| if W::mask_at(mask(&wheels[wheel_index]), car) { 1.0 } else { 0.0 });
        F32x4::splat(0.0).less(F32x4::new(flags))
    };
    vehicle_rows.drive.momentum = gather(&|wheel| wheel.drive.momentum);
    vehicle_rows.drive.motor = gather(&|wheel| wheel.drive.motor);
    vehicle_rows.drive.shaft = gather(&|wheel| wheel.drive.shaft);
    vehicle_rows.tyre.active = gather_mask(|wheel| wheel.tyre.active);
    vehicle_rows.tyre.degressive = gather_mask(|wheel| wheel.tyre.degressive);
    vehicle_rows.tyre.locking_capacity = gather(&|wheel| wheel.tyre.locking_capacity);
    vehicle_rows.tyre.target_impulse = gather_pair(&|wheel| wheel.tyre.target_impulse);
    vehicle_rows.tyre.gain = gather_pair(&|wheel| wheel.tyre.gain);
    vehicle_rows.tyre.straight_target = gather_pair(&|wheel| wheel.tyre.straight_target);
    vehicle_rows.tyre.straight_gain = gather_pair(&|wheel| wheel.tyre.straight_gain);
    vehicle_rows.solution.friction_bound = gather_pair(&|wheel| wheel.solution.friction_bound);
    vehicle_rows.solution.effective_mass = EffectiveMass {
        speed: gather_pair(&|wheel| wheel.solution.effective_mass.speed),
        compliance: [0, 1, 2].map(|i| gather(&|wheel| wheel.solution.effective_mass.compliance[i])),
    };
}

/// Solves the rows between spins in lanes, starting from the impulses of the last step. Sets `speed_gains` to `None`
/// for the cars that have settled. The number of rows is a constant of the loops, if it is small.
#[inline(always)]
fn solve_warm_started_batch<W: CarLanes>(
    vehicles: &mut [Vehicle; BATCH_LANES],
    speed_gains: &mut [Option<f32>; BATCH_LANES],
    packs: &[WheelPack<W>],
    rows: &mut [WheelRows<W>],
) {
    W::call_outlined(
        #[inline(always)]
        || match packs[0].shaft_jacobian.len() {
            1 => solve_warm_rows::<W, 1>(vehicles, speed_gains, packs, rows),
            2 => solve_warm_rows::<W, 2>(vehicles, speed_gains, packs, rows),
            3 => solve_warm_rows::<W, 3>(vehicles, speed_gains, packs, rows),
            MAX_UNROLLED_ROWS => solve_warm_rows::<W, MAX_UNROLLED_ROWS>(vehicles, speed_gains, packs, rows),
            _ => solve_warm_rows::<W, MAX_CONSTRAINTS>(vehicles, speed_gains, packs, rows),
        },
    );
}

/// Solves at most `MAX_ROWS` rows between spins per car in lanes, starting from the impulses of the last step. Cars
/// without an entry in `speed_gains` take no part. Sets `speed_gains` to `None` for the cars that have settled.
#[inline(always)]
fn solve_warm_rows<W: CarLanes, const MAX_ROWS: usize>(
    vehicles: &mut [Vehicle; BATCH_LANES],
    speed_gains: &mut [Option<f32>; BATCH_LANES],
    packs: &[WheelPack<W>],
    rows: &mut [WheelRows<W>],
) {
    let mut cars = [const { None }; BATCH_LANES];
    for ((car, vehicle), speed_gain) in cars.iter_mut().zip(vehicles).zip(&*speed_gains) {
        let Vehicle { shafts, model, state, .. } = vehicle;
        *car = speed_gain
            .map(|speed_gain| WarmStart::<MAX_ROWS>::new(shafts, model, LastStep { drive: &state.drive, speed_gain }));
    }
    let mut shafts = BatchShafts { cars };
    solve_warm_started(packs, rows, (packs[0].shaft_jacobian.len(), ImpulseBounds::ApproximateCone), &mut shafts);
    for (speed_gain, car) in speed_gains.iter_mut().zip(&shafts.cars) {
        *speed_gain = speed_gain.filter(|_| car.is_some());
    }
}

/// Shafts of the cars that have not settled.
struct BatchShafts<'a, const MAX_ROWS: usize> {
    /// Solver of each car; `None` if the car takes no part or has settled.
    cars: [Option<WarmStart<'a, MAX_ROWS>>; BATCH_LANES],
}

impl<const MAX_ROWS: usize> BatchShafts<'_, MAX_ROWS> {
    /// Returns the changes of the row impulses in lanes (N m s). `car_changes` is called with the number and the solver
    /// of each car, and returns the changes of its rows. Cars for which it returns `None` change nothing: their lanes
    /// add −0, which keeps every bit.
    #[inline(always)]
    fn collect_changes<W: CarLanes>(
        &mut self,
        mut car_changes: impl FnMut(usize, &mut Option<WarmStart<'_, MAX_ROWS>>) -> Option<[f32; MAX_ROWS]>,
    ) -> [W; MAX_ROWS] {
        let mut changes = [[NEUTRAL_ADDEND; BATCH_LANES]; MAX_ROWS];
        for (car, solver) in self.cars.iter_mut().enumerate() {
            if let Some(row_changes) = car_changes(car, solver) {
                changes.iter_mut().zip(row_changes).for_each(|(change_by_car, change)| change_by_car[car] = change);
            }
        }
        let mut lanes = [W::default(); MAX_ROWS];
        lanes.iter_mut().zip(changes).for_each(|(lane, change_by_car)| *lane = W::from_lanes(change_by_car));
        lanes
    }
}

impl<W: CarLanes, const MAX_ROWS: usize> WarmStartedRows<W, MAX_ROWS> for BatchShafts<'_, MAX_ROWS> {
    /// Applies the impulses of the last step to each car, and returns the changes on the wheels.
    #[inline(always)]
    fn apply_last_impulses(&mut self) -> [W; MAX_ROWS] {
        self.collect_changes(
            #[inline(always)]
            |_, solver| solver.as_mut().map(WarmStart::apply_last_impulses),
        )
    }

    /// Updates the bounds of couplings car by car; returns `None` if no car has changed.
    #[inline(always)]
    fn update_bounds(&mut self) -> Option<[W; MAX_ROWS]> {
        let mut has_changed = false;
        let changes = self.collect_changes(
            #[inline(always)]
            |_, solver| {
                let changes = solver.as_mut()?.update_bounds();
                has_changed |= changes.is_some();
                changes
            },
        );
        has_changed.then_some(changes)
    }

    /// Performs a Newton step car by car at the speeds and responses of `wheel_response`. Returns the changes, and
    /// whether all cars have settled; a settled car leaves the solve.
    #[inline(always)]
    fn newton_step(&mut self, wheel_response: &WheelRowResponse<W, MAX_ROWS>) -> ([W; MAX_ROWS], bool) {
        // Speeds (rad/s) and responses (1/(kg m²)) as numbers of each car.
        let (mut speeds, mut responses) = ([[0.0; BATCH_LANES]; MAX_ROWS], [[[0.0; BATCH_LANES]; MAX_ROWS]; MAX_ROWS]);
        for i in 0..MAX_ROWS {
            speeds[i] = wheel_response.speeds[i].to_lanes();
            for (response_by_car, response) in responses[i].iter_mut().zip(wheel_response.responses[i]).take(i + 1) {
                *response_by_car = response.to_lanes();
            }
        }
        let mut are_all_settled = true;
        let changes = self.collect_changes(
            #[inline(always)]
            |car, solver| {
                let car_solver = solver.as_mut()?;
                let mut car_response =
                    WheelRowResponse { speeds: [0.0; MAX_ROWS], responses: [[0.0; MAX_ROWS]; MAX_ROWS] };
                for i in 0..MAX_ROWS {
                    car_response.speeds[i] = speeds[i][car];
                    for (response, response_by_car) in
                        car_response.responses[i].iter_mut().zip(&responses[i]).take(i + 1)
                    {
                        *response = response_by_car[car];
                    }
                }
                let (changes, is_settled) = car_solver.newton_step(&car_response);
                if is_settled {
                    *solver = None;
                }
                are_all_settled &= is_settled;
                Some(changes)
            },
        );
        (changes, are_all_settled)
    }
}
