//! Anti-roll bars: part of each strut, or beside them on the chassis.

use super::Vehicle;
use super::rows::Rows;
use crate::linear::Six;
use crate::model::{AntiRollBar, BarCoupling, Place};
use crate::{Controls, Vec3, controls::bounded};

impl Vehicle {
    /// Takes over what an active bar is asked for.
    pub(super) fn set_bars(&mut self, controls: &Controls) {
        self.bar_share = controls.bars.map_or(1.0, |share| bounded(share, 0.0, 1.0));
    }

    /// Rate of `bar` in this step, N/m.
    pub(super) fn bar_rate(&self, bar: &AntiRollBar) -> f32 {
        let rate = if bar.fades_in == [0.0; 2] { bar.rate } else { bar.rate_at(self.state.velocity.length()) };
        self.bar_share * rate
    }

    /// What the anti-roll bars add to each strut.
    pub(super) fn bar_rows(&mut self) {
        for rows in &mut self.rows {
            (rows.bar_force, rows.bar_rate) = Default::default();
        }
        for i in 0..self.model.parts().bars.len() {
            let bar = self.model.parts().bars[i];
            if bar.coupling == BarCoupling::External {
                continue;
            }
            let rate = self.bar_rate(&bar);
            let [left, right] = self.bar_travels(&bar, rate);
            let force = rate * (left - right);
            for (i, force) in bar.wheels.into_iter().zip([force, -force]) {
                let at = self.model.place(i);
                let rows = &mut self.rows[at.bank];
                rows.bar_force[at.lane] += force;
                rows.bar_rate[at.lane] += rate;
            }
        }
    }

    /// Travels of the two ends of a bar of `rate` N/m, m. A wheel that the other one lifts off the ground hangs where its
    /// spring and the bar balance: taken from the ground below it, the bar would push the other wheel with a force nothing
    /// opposes, and the car would bounce for ever.
    fn bar_travels(&self, bar: &AntiRollBar, rate: f32) -> [f32; 2] {
        let [left, right] = bar.wheels.map(|i| led(&self.rows, self.model.place(i)));
        let lifted = |i: usize, found: f32, other: f32| {
            if self.rows[self.model.place(i).bank].travel.own {
                return found;
            }
            let strut = &self.model.wheels()[i].strut;
            let hanging = (rate * other - self.model.static_load(i)) / (strut.rate + rate);
            found.max(hanging.min(strut.bump_travel))
        };
        [lifted(bar.wheels[0], left, right), lifted(bar.wheels[1], right, left)]
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

/// Travel in step with the velocity, m.
fn led(rows: &[Rows], at: Place) -> f32 {
    rows[at.bank].led().lanes()[at.lane]
}
