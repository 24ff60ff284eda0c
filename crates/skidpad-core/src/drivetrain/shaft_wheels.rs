//! The wheels that rows between spins turn: how these are measured, and given what the rows carry.

use crate::lane::Corners;
use crate::model::Model;
use crate::step::coupling::Within;
use crate::step::rows::Rows;
use crate::wheel::pack::WheelPack;

/// How wheels answer the shafts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wheels {
    /// By their tyre's row along alone: what a clutch needs.
    Alone,
    /// As their blocks will: what couplings need, since wheels that slide show a torque too much as speed at once.
    AsBlocks,
}

/// The wheels that the rows between the spins of a car turn.
pub(crate) trait ShaftWheels {
    /// Measures them for so many rows.
    fn measure<const MOST: usize>(&mut self, wheels: Wheels, within: Within, count: usize) -> Measured<f32, MOST>;

    /// Gives them `change` more through row `i`, N m s.
    fn give(&mut self, i: usize, change: f32);

    /// How fast the fastest turns, rad/s.
    fn fastest(&self) -> f32;
}

/// Those of a car by itself.
pub(crate) struct OwnWheels<'a> {
    pub model: &'a Model,
    pub rows: &'a mut [Rows],
}

impl ShaftWheels for OwnWheels<'_> {
    #[inline(always)]
    fn measure<const MOST: usize>(&mut self, wheels: Wheels, within: Within, count: usize) -> Measured<f32, MOST> {
        measure(self.model.banks(), self.rows, wheels, within, count)
    }

    #[inline(always)]
    fn give(&mut self, i: usize, change: f32) {
        give(self.model.banks(), self.rows, i, change);
    }

    fn fastest(&self) -> f32 {
        let spins = self.rows.iter().flat_map(|rows| rows.coupled.spin.lanes());
        spins.fold(0.0, |most, spin| most.max(spin.abs()))
    }
}

/// How wheels turn the rows between spins, `MOST` or fewer, and how these answer each other through them, by their levers alone.
pub(crate) struct Measured<C, const MOST: usize> {
    /// rad/s
    pub speeds: [C; MOST],
    /// 1/(kg m²); of those with rows that come later, nothing.
    pub answers: [[C; MOST]; MOST],
}

/// Measures the wheels of so many rows.
#[inline(always)]
pub(crate) fn measure<W: Corners, const MOST: usize>(
    banks: &[WheelPack<W>],
    rows: &mut [Rows<W>],
    wheels: Wheels,
    within: Within,
    count: usize,
) -> Measured<W::Car, MOST> {
    let none = W::Car::default();
    let mut measured = Measured { speeds: [none; MOST], answers: [[none; MOST]; MOST] };
    for (banks, rows) in banks.chunks(W::ROWS).zip(rows.chunks_mut(W::ROWS)) {
        let turning = W::each(
            #[inline(always)]
            |k| match wheels {
                Wheels::Alone => rows[k].spin_under(&banks[k]),
                Wheels::AsBlocks => rows[k].spin_of_block(&banks[k], within),
            },
        );
        for i in 0..count {
            measured.speeds[i] += W::sum_of(
                #[inline(always)]
                |k| banks[k].levers[i] * turning[k].0,
            );
            for j in 0..i + 1 {
                measured.answers[i][j] += W::sum_of(
                    #[inline(always)]
                    |k| banks[k].levers[i] * banks[k].levers[j] * turning[k].1,
                );
            }
        }
    }
    measured
}

/// Adds what row `i` between spins gives its wheels more to the impulses of their shafts.
#[inline(always)]
pub(crate) fn give<W: Corners>(banks: &[WheelPack<W>], rows: &mut [Rows<W>], i: usize, change: W::Car) {
    for (bank, rows) in banks.iter().zip(rows) {
        rows.drive.shaft += bank.levers[i] * W::of_car(change);
    }
}

/// The same of all of them.
#[inline(always)]
pub(crate) fn turn<W: Corners, const MOST: usize>(
    banks: &[WheelPack<W>],
    rows: &mut [Rows<W>],
    changes: &[W::Car; MOST],
) {
    for (bank, rows) in banks.iter().zip(rows) {
        for (lever, change) in bank.levers.iter().zip(changes) {
            rows.drive.shaft += *lever * W::of_car(*change);
        }
    }
}

impl<W: Corners> Rows<W> {
    /// As [`Rows::spin_under`] with both tyre rows, as the block solves them.
    ///
    /// With the driven momentum `d` and the tyre's answer `T` to its speed along, `I ω = d − R x` and `x' = T R / I d'`.
    #[inline(always)]
    fn spin_of_block(&mut self, bank: &WheelPack<W>, within: Within) -> (W, W) {
        let (zero, one) = (W::splat(0.0), W::splat(1.0));
        let along = self.solve_block(bank, within).tangent().along();
        let (radius, inertia) = (bank.radius, bank.spin_inertia);
        let free = (one - radius * radius / inertia * along).at_least(zero);
        (self.coupled.spin, (free / inertia).only(zero.less(self.coupled.spin.abs())))
    }
}
