//! Motors, couplings and converters of a batch of cars.

use crate::drivetrain::rows::MOST_CONSTRAINTS;
use crate::drivetrain::solving::{Carried, FEW, GoesOn, Going, Measured, go_on};
use crate::lane::{Four, Lane, Octet};
use crate::step::abreast::each::{ABREAST, NO_CHANGE};
use crate::step::coupling::Within;
use crate::step::rows::{Rows, Surroundings};
use crate::step::vehicle::Vehicle;
use crate::wheel::pack::WheelPack;

/// Solves the rows between spins of those of `vehicles` with an entry in `gained`: the speed gained in the last step
/// (m/s, forward). The first row of each car starts with the first impulse in `began` (N m s).
#[inline(never)]
pub(crate) fn solve_shafts_abreast<W: Octet>(
    vehicles: &mut [Vehicle; ABREAST],
    mut gained: [Option<f32>; ABREAST],
    began: &[[f32; 2]; ABREAST],
    (packs, rows): (&[WheelPack<W>], &mut [Rows<W>]),
) {
    go_on_abreast(vehicles, &mut gained, packs, rows);
    for (car, vehicle) in vehicles.iter_mut().enumerate().filter(|(car, _)| gained[*car].is_some()) {
        settle_anew(vehicle, car, began[car][0], rows);
    }
}

/// Solves the rows between spins of a vehicle from the start. The vehicle is number `car` of the batch with these
/// `wheels`; its first row starts with the impulse `began` (N m s), all others with 0.
#[cold]
#[inline(never)]
fn settle_anew<W: Octet>(vehicle: &mut Vehicle, car: usize, began: f32, wheels: &mut [Rows<W>]) {
    let Vehicle { model, rows, shafts, .. } = vehicle;
    for (own, wheels) in rows.iter_mut().zip(wheels.chunks(W::ROWS)) {
        take_wheels(own, wheels, car);
    }
    for i in 0..shafts.count {
        shafts.carry(model, rows, i, if i == 0 { began } else { 0.0 });
    }
    shafts.settle_anew(model, rows);
    for (own, wheels) in rows.iter().zip(wheels.chunks_mut(W::ROWS)) {
        for (wheel, shaft) in wheels.iter_mut().zip(own.drive.shaft.lanes()) {
            let shaft = W::of_each(|other| if other == car { shaft } else { wheel.drive.shaft.car(other) });
            wheel.drive.shaft = shaft;
        }
    }
}

/// Copies the quantities that the shaft solve needs from lane `car` of four `wheels` to the car's `own` rows.
fn take_wheels<W: Octet>(own: &mut Rows, wheels: &[Rows<W>], car: usize) {
    let of = |number: &dyn Fn(&Rows<W>) -> W| Four::new([0, 1, 2, 3].map(|k| number(&wheels[k]).lane(car)));
    let both_of = |numbers: &dyn Fn(&Rows<W>) -> [W; 2]| [0, 1].map(|i| of(&|wheel| numbers(wheel)[i]));
    let holds = |mask: fn(&Rows<W>) -> W::Mask| {
        let held = [0, 1, 2, 3].map(|k| if W::holds(mask(&wheels[k]), car) { 1.0 } else { 0.0 });
        Four::splat(0.0).less(Four::new(held))
    };
    own.drive.momentum = of(&|wheel| wheel.drive.momentum);
    own.drive.motor = of(&|wheel| wheel.drive.motor);
    own.drive.shaft = of(&|wheel| wheel.drive.shaft);
    own.tyre.active = holds(|wheel| wheel.tyre.active);
    own.tyre.bends = holds(|wheel| wheel.tyre.bends);
    own.tyre.locking_capacity = of(&|wheel| wheel.tyre.locking_capacity);
    own.tyre.target_impulse = both_of(&|wheel| wheel.tyre.target_impulse);
    own.tyre.gain = both_of(&|wheel| wheel.tyre.gain);
    own.tyre.straight_target = both_of(&|wheel| wheel.tyre.straight_target);
    own.tyre.straight_gain = both_of(&|wheel| wheel.tyre.straight_gain);
    own.coupled.friction_bound = both_of(&|wheel| wheel.coupled.friction_bound);
    own.coupled.surroundings = Surroundings {
        speed: both_of(&|wheel| wheel.coupled.surroundings.speed),
        compliance: [0, 1, 2].map(|i| of(&|wheel| wheel.coupled.surroundings.compliance[i])),
    };
}

/// Solves the rows starting from the impulses of the last step. Sets `gained` to `None` for the cars that have settled.
#[inline(always)]
fn go_on_abreast<W: Octet>(
    vehicles: &mut [Vehicle; ABREAST],
    gained: &mut [Option<f32>; ABREAST],
    banks: &[WheelPack<W>],
    rows: &mut [Rows<W>],
) {
    W::called(
        #[inline(always)]
        || match banks[0].levers.len() {
            1 => go_on_rows::<W, 1>(vehicles, gained, banks, rows),
            2 => go_on_rows::<W, 2>(vehicles, gained, banks, rows),
            3 => go_on_rows::<W, 3>(vehicles, gained, banks, rows),
            FEW => go_on_rows::<W, FEW>(vehicles, gained, banks, rows),
            _ => go_on_rows::<W, MOST_CONSTRAINTS>(vehicles, gained, banks, rows),
        },
    );
}

#[inline(always)]
fn go_on_rows<W: Octet, const MOST: usize>(
    vehicles: &mut [Vehicle; ABREAST],
    gained: &mut [Option<f32>; ABREAST],
    banks: &[WheelPack<W>],
    rows: &mut [Rows<W>],
) {
    let mut cars = [const { None }; ABREAST];
    for ((car, vehicle), gained) in cars.iter_mut().zip(vehicles).zip(&*gained) {
        let Vehicle { shafts, model, state, .. } = vehicle;
        *car = gained.map(|gained| Going::<MOST>::of(shafts, model, Carried { drive: &state.drive, gained }));
    }
    let mut shafts = ShaftsAbreast { cars };
    go_on(banks, rows, (banks[0].levers.len(), Within::NearCone), &mut shafts);
    for (gained, car) in gained.iter_mut().zip(&shafts.cars) {
        *gained = gained.filter(|_| car.is_some());
    }
}

/// Shafts of the cars that have not settled.
struct ShaftsAbreast<'a, const MOST: usize> {
    cars: [Option<Going<'a, MOST>>; ABREAST],
}

impl<const MOST: usize> ShaftsAbreast<'_, MOST> {
    /// Collects the changes that `of` returns for the rows of each car. Cars for which it returns `None` change
    /// nothing.
    #[inline(always)]
    fn each<W: Octet>(
        &mut self,
        mut of: impl FnMut(usize, &mut Option<Going<'_, MOST>>) -> Option<[f32; MOST]>,
    ) -> [W; MOST] {
        let mut changes = [[NO_CHANGE; ABREAST]; MOST];
        for (car, going) in self.cars.iter_mut().enumerate() {
            if let Some(own) = of(car, going) {
                changes.iter_mut().zip(own).for_each(|(all, own)| all[car] = own);
            }
        }
        let mut lanes = [W::default(); MOST];
        lanes.iter_mut().zip(changes).for_each(|(lanes, all)| *lanes = W::of_lanes(all));
        lanes
    }
}

impl<W: Octet, const MOST: usize> GoesOn<W, MOST> for ShaftsAbreast<'_, MOST> {
    #[inline(always)]
    fn begin(&mut self) -> [W; MOST] {
        self.each(
            #[inline(always)]
            |_, going| going.as_mut().map(Going::begin),
        )
    }

    #[inline(always)]
    fn bound(&mut self) -> Option<[W; MOST]> {
        let mut any = false;
        let changes = self.each(
            #[inline(always)]
            |_, going| {
                let changes = going.as_mut()?.bound();
                any |= changes.is_some();
                changes
            },
        );
        any.then_some(changes)
    }

    #[inline(always)]
    fn step(&mut self, measured: &Measured<W, MOST>) -> ([W; MOST], bool) {
        let (mut speeds, mut answers) = ([[0.0; ABREAST]; MOST], [[[0.0; ABREAST]; MOST]; MOST]);
        for i in 0..MOST {
            speeds[i] = measured.speeds[i].in_lanes();
            for (lanes, answer) in answers[i].iter_mut().zip(measured.answers[i]).take(i + 1) {
                *lanes = answer.in_lanes();
            }
        }
        let mut all = true;
        let changes = self.each(
            #[inline(always)]
            |car, going| {
                let one = going.as_mut()?;
                let mut own = Measured { speeds: [0.0; MOST], answers: [[0.0; MOST]; MOST] };
                for i in 0..MOST {
                    own.speeds[i] = speeds[i][car];
                    for (own, lanes) in own.answers[i].iter_mut().zip(&answers[i]).take(i + 1) {
                        *own = lanes[car];
                    }
                }
                let (changes, settled) = one.step(&own);
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
