//! What ties two wheels: anti-roll bars, part of each strut or beside them on the chassis, and heave springs.

use super::Vehicle;
use super::rows::Rows;
use crate::lane::{Four, FourMask, Lane};
use crate::linear::Six;
use crate::model::{AntiRollBar, Bank, BarCoupling, Place};
use crate::{Controls, STANDARD_GRAVITY, Vec3, controls::bounded};

/// A spring and damper through the struts of two wheels: each gets `rate (z + way z') + damping (ż + way ż')`, z' the other's.
#[derive(Clone, Copy, Debug)]
struct Tie {
    wheels: [usize; 2],
    /// N/m.
    rate: f32,
    /// N s/m.
    damping: f32,
    /// −1 for a bar, which resists what the wheels do against each other; 1 for a heave spring, which resists the rest.
    way: f32,
}

/// What ties add to the struts of four wheels.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tied {
    /// Travels that the ties see, m.
    travel: [f32; 4],
    /// At the wheel's own compression and the other's, and at the other's jounce rate, N.
    pub force: [f32; 4],
    /// How the force answers the wheel's own compression, N/m, and jounce rate, N s/m.
    pub rate: [f32; 4],
    pub damping: [f32; 4],
}

impl Vehicle {
    /// Takes over what an active bar is asked for.
    pub(super) fn set_bars(&mut self, controls: &Controls) {
        self.bar_share = controls.bars.map_or(1.0, |share| bounded(share, 0.0, 1.0));
    }

    /// Rate of `bar` in this step, N/m.
    fn bar_rate(&self, bar: &AntiRollBar) -> f32 {
        let rate = if bar.fades_in == [0.0; 2] { bar.rate } else { bar.rate_at(self.state.velocity.length()) };
        self.bar_share * rate
    }

    /// Number of bars and heave springs.
    fn ties(&self) -> usize {
        self.model.parts().bars.len() + self.model.parts().heave_springs.len()
    }

    /// Tie `k` as it is in this step; `None` for a bar beside the struts.
    fn tie(&self, k: usize) -> Option<Tie> {
        let parts = self.model.parts();
        if let Some(bar) = parts.bars.get(k) {
            let tie = Tie { wheels: bar.wheels, rate: self.bar_rate(bar), damping: 0.0, way: -1.0 };
            return (bar.coupling == BarCoupling::InLoadPath).then_some(tie);
        }
        // A quarter: half of it at each wheel, of which each wheel's travel is half of the mean.
        let spring = parts.heave_springs.get(k - parts.bars.len())?;
        Some(Tie { wheels: spring.wheels, rate: 0.25 * spring.rate, damping: 0.25 * spring.damping, way: 1.0 })
    }

    /// What ties add to each strut.
    ///
    /// A wheel that the other one lifts off the ground hangs where its spring and its ties balance: taken from the ground
    /// below it, a bar would push the other wheel with a force nothing opposes, and the car would bounce for ever.
    pub(super) fn tie_rows(&mut self) {
        for rows in &mut self.rows {
            rows.tied = Tied { travel: rows.led().lanes(), ..Tied::default() };
        }
        if self.ties() == 0 {
            return;
        }
        self.add_ties();
        if self.model.banks().iter().zip(&self.rows).any(|(bank, rows)| Four::any(rows.lifted(bank))) {
            self.lift_ends();
            for rows in &mut self.rows {
                rows.tied = Tied { travel: rows.tied.travel, ..Tied::default() };
            }
            self.add_ties();
        }
    }

    /// Adds up the ties of each strut at the travels found.
    fn add_ties(&mut self) {
        for k in 0..self.ties() {
            let Some(tie) = self.tie(k) else { continue };
            let places = tie.wheels.map(|i| self.model.place(i));
            let [first, second] = places.map(|at| self.rows[at.bank].tied.travel[at.lane]);
            for (at, travel) in places.into_iter().zip([first + tie.way * second, second + tie.way * first]) {
                let tied = &mut self.rows[at.bank].tied;
                tied.force[at.lane] += tie.rate * travel;
                tied.rate[at.lane] += tie.rate;
            }
            if tie.damping != 0.0 {
                let [first, second] = places.map(|at| self.rows[at.bank].jounce_rate.lanes()[at.lane]);
                for (at, other) in places.into_iter().zip([second, first]) {
                    let tied = &mut self.rows[at.bank].tied;
                    tied.force[at.lane] += tie.way * tie.damping * other;
                    tied.damping[at.lane] += tie.damping;
                }
            }
        }
    }

    /// Puts the ends of ties that wheels off the ground hang on where they hang.
    fn lift_ends(&mut self) {
        for (i, wheel) in self.model.wheels().iter().enumerate() {
            let place = self.model.place(i);
            if !self.rows[place.bank].travel.own {
                let hanging = self.hanging(i, Rows::led).min(wheel.strut.bump_travel);
                let travel = &mut self.rows[place.bank].tied.travel[place.lane];
                *travel = travel.max(hanging);
            }
        }
    }

    /// Compression at which the strut of wheel `i` and its ties balance with the other wheels at `travel`, m.
    pub(super) fn hanging(&self, i: usize, travel: impl Fn(&Rows) -> Four) -> f32 {
        let (mut push, mut rate) = (-self.model.static_load(i), 0.0);
        for k in 0..self.ties() {
            if let Some(tie) = self.tie(k).filter(|tie| tie.wheels.contains(&i)) {
                let other = self.model.place(if tie.wheels[0] == i { tie.wheels[1] } else { tie.wheels[0] });
                push -= tie.way * tie.rate * travel(&self.rows[other.bank]).lanes()[other.lane];
                rate += tie.rate;
            }
        }
        self.model.wheels()[i].strut.compression_under(push.into(), rate.into()) as f32
    }

    /// What bars beside the struts do to the chassis in `dt` s: a force along its vertical above each wheel that touches.
    pub(super) fn external_bars(&self, dt: f32) -> Six<f32> {
        let bars = self.model.parts().bars.iter().filter(|bar| bar.coupling == BarCoupling::External);
        bars.fold(Six::default(), |sum, bar| {
            let [a, b] = bar.wheels.map(|i| self.model.place(i));
            let force = self.bar_rate(bar) * (led(&self.rows, a) - led(&self.rows, b));
            let at = |i: usize, place: Place, force: f32| {
                let touches = self.rows[place.bank].touching.lanes()[place.lane];
                let impulse = if touches { Vec3::Z * (force * dt) } else { Vec3::ZERO };
                Six::of(impulse, self.model.wheels()[i].contact.cross(impulse))
            };
            sum + at(bar.wheels[0], a, force) + at(bar.wheels[1], b, -force)
        })
    }
}

impl Rows {
    /// Wheels that strut and ties would pull off the ground.
    #[inline(always)]
    fn lifted(&self, bank: &Bank) -> FourMask {
        if self.travel.own {
            return FourMask::default();
        }
        let (spring, _) = bank.springs(Four::new(self.tied.travel));
        let push = bank.sprung * Four::splat(STANDARD_GRAVITY) + spring + Four::new(self.tied.force);
        push.less(Four::splat(0.0)) & bank.present()
    }
}

/// Travel in step with the velocity, m.
fn led(rows: &[Rows], at: Place) -> f32 {
    rows[at.bank].led().lanes()[at.lane]
}
