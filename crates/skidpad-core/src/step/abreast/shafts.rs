//! Motors, couplings and converters of cars abreast.

use crate::drivetrain::rows::MOST_CONSTRAINTS;
use crate::drivetrain::shaft_wheels::{Measured, ShaftWheels, Wheels, give, measure};
use crate::drivetrain::solving::{Carried, FEW, GoesOn, Going, go_on};
use crate::lane::Octet;
use crate::step::abreast::each::{ABREAST, NO_CHANGE};
use crate::step::coupling::Within;
use crate::step::rows::Rows;
use crate::step::vehicle::Vehicle;
use crate::wheel::pack::WheelPack;

/// Solves the rows between spins of those of `vehicles` that have `gained` a speed in the last step, m/s forward; the first row of each
/// `began` the step with that impulse, N m s.
#[inline(never)]
pub(crate) fn solve_shafts_abreast<W: Octet>(
    vehicles: &mut [Vehicle; ABREAST],
    mut gained: [Option<f32>; ABREAST],
    began: &[[f32; 2]; ABREAST],
    (packs, rows): (&[WheelPack<W>], &mut [Rows<W>]),
) {
    go_on_abreast(vehicles, &mut gained, packs, rows);
    for (car, vehicle) in vehicles.iter_mut().enumerate().filter(|(car, _)| gained[*car].is_some()) {
        let (shafts, on) = (&mut vehicle.shafts, &mut LaneWheels { packs, rows, car });
        for i in 0..shafts.count {
            shafts.carry(on, i, if i == 0 { began[car][0] } else { 0.0 });
        }
        shafts.settle_anew(&vehicle.model, on);
    }
}

/// The wheels of one of the cars abreast.
struct LaneWheels<'a, W: Octet> {
    packs: &'a [WheelPack<W>],
    rows: &'a mut [Rows<W>],
    car: usize,
}

impl<W: Octet> ShaftWheels for LaneWheels<'_, W> {
    fn measure<const MOST: usize>(&mut self, wheels: Wheels, within: Within, count: usize) -> Measured<f32, MOST> {
        W::called(
            #[inline(always)]
            || {
                let all: Measured<W, MOST> = measure(self.packs, self.rows, wheels, within, count);
                let mut own = Measured { speeds: [0.0; MOST], answers: [[0.0; MOST]; MOST] };
                for i in 0..count {
                    own.speeds[i] = all.speeds[i].car(self.car);
                    for j in 0..i + 1 {
                        own.answers[i][j] = all.answers[i][j].car(self.car);
                    }
                }
                own
            },
        )
    }

    fn give(&mut self, i: usize, change: f32) {
        W::called(
            #[inline(always)]
            || {
                let mut changes = [NO_CHANGE; ABREAST];
                changes[self.car] = change;
                give(self.packs, self.rows, i, W::of_lanes(changes));
            },
        );
    }

    fn fastest(&self) -> f32 {
        self.rows.iter().fold(0.0, |most, rows| most.max(rows.coupled.spin.lane(self.car).abs()))
    }
}

/// Lets them go on from what they carried; takes the speed from those that have settled.
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

/// Those of cars that have not settled.
struct ShaftsAbreast<'a, const MOST: usize> {
    cars: [Option<Going<'a, MOST>>; ABREAST],
}

impl<const MOST: usize> ShaftsAbreast<'_, MOST> {
    /// What each does, row by row; those that are not to do anything change nothing.
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
