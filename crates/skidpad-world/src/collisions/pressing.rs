//! Sequential impulses over the points of a group, and leaps where they creep.
//!
//! A light hull of mass m between a heavy one of mass M and the ground, or between two heavy ones, hands on what the heavy one still has in
//! shares of about m / M a pass. Each pass then changes all impulses by nearly the same, by a rate just below 1 of the last one, so what all
//! passes to come would change is known: the sum of a geometric series (Aitken's process). Without it a crate of 2 kg was pressed into the
//! ground and into one of 1.1 t that fell on it, which rose again as overlaps return.

use skidpad_core::Vec3;

use super::Point;
use crate::chassis::Chassis;
use crate::hull::{PASSES, SETTLED};
use crate::links::Link;

/// Where masses differ by less than this factor, [`PASSES`] leave less than a tenth of what creeps; leaps, which take impulses back and
/// forth, are not worth their roundings there, nor their time in a pile-up of cars.
const UNEVEN: f32 = 25.0;

/// Most leaps over points that passes do not settle. Some tens are typical; crates of 1 kg on each other under one of 1.4 t take 200.
const LEAPS: usize = 256;

/// Passes before each leap: what does not creep settles in them.
const BETWEEN: usize = 8;

/// Largest rate that a leap counts with: impulses of 32 bits tell no slower creep.
const SLOWEST: f32 = 0.999;

/// Share of the next leap that is taken after one that went too far, and how it grows again. Friction turns, and points let go on the way.
const SHORTER: f32 = 0.25;
const LONGER: f32 = 2.0;

/// Change of a velocity by all passes to come from which on they are not worth a leap, m/s.
const REST: f32 = 1e-4;

/// Share of what presses that no pass brings nearer: two of the last digits.
const DIGITS: f32 = 2.5e-7;

/// Sequential impulses over the `points` of a group: first what presses alone, then friction with it. Friction that held against the
/// turns which single points leave before the others answer would throw cars aside.
pub(super) fn press_group(points: &mut [Point], links: &mut [Link], chassis: &mut [Chassis]) {
    for rub in [false, true] {
        let settles = (0..PASSES).any(|_| !pass(points, links, chassis, rub));
        if !settles && is_uneven(points, chassis) {
            leap(points, links, chassis, rub);
        }
    }
}

/// One pass; whether it changes the velocity of anything.
fn pass(points: &mut [Point], links: &mut [Link], chassis: &mut [Chassis], rub: bool) -> bool {
    let mut changed = false;
    for point in points {
        changed |= point.press(chassis, links);
        changed |= rub && point.rub(chassis, links);
    }
    changed
}

/// Whether the masses of hulls with these `points` differ by much.
fn is_uneven(points: &[Point], chassis: &[Chassis]) -> bool {
    let hulls = points.iter().flat_map(|point| point.cars).filter_map(|car| chassis.get(car as usize));
    let [least, most] = hulls
        .fold([f32::INFINITY, 0.0], |[least, most], hull| [least.min(hull.inverse_mass), most.max(hull.inverse_mass)]);
    most > UNEVEN * least
}

/// Goes on in passes and leaps until nothing changes. A leap after which passes change more than before is taken back.
fn leap(points: &mut [Point], links: &mut [Link], chassis: &mut [Chassis], rub: bool) {
    let (mut least, mut share) = (f32::INFINITY, 1.0f32);
    for _ in 0..LEAPS {
        let Some([last, change]) = creep(points, links, chassis, rub) else { return };
        if change > least {
            points.iter_mut().for_each(|point| point.give(point.kept, chassis, links));
            (least, share) = (f32::INFINITY, SHORTER * share);
            continue;
        }
        let rate = (change / last).min(SLOWEST);
        let to_come = rate / (1.0 - rate);
        if !points.iter().any(|point| point.moves(chassis) * to_come > REST) {
            return;
        }
        for point in points.iter_mut() {
            point.kept = point.given();
            point.give(point.kept + (point.kept - point.before) * (share * to_come), chassis, links);
        }
        (least, share) = (change, (LONGER * share).min(1.0));
    }
    if creep(points, links, chassis, rub).is_some_and(|[_, change]| change > least) {
        points.iter_mut().for_each(|point| point.give(point.kept, chassis, links));
    }
}

/// Passes up to the next leap: by how much the last two change all impulses, N s; `None` once nothing changes.
fn creep(points: &mut [Point], links: &mut [Link], chassis: &mut [Chassis], rub: bool) -> Option<[f32; 2]> {
    let mut changes = [0.0; 2];
    for _ in 0..BETWEEN {
        points.iter_mut().for_each(|point| point.before = point.given());
        pass(points, links, chassis, rub);
        if !points.iter().any(|point| point.moves(chassis) > SETTLED) {
            return None;
        }
        let squares: f32 = points.iter().map(|point| (point.given() - point.before).length_squared()).sum();
        changes = [changes[1], squares.sqrt()];
    }
    Some(changes)
}

impl Point {
    /// What it has given so far, N s.
    fn given(&self) -> Vec3 {
        self.normal * self.pressed + self.drag
    }

    /// Lets it have given what of `impulse` (N s) pressing and friction allow.
    fn give(&mut self, impulse: Vec3, chassis: &mut [Chassis], links: &mut [Link]) {
        let (before, along) = (self.given(), impulse.dot(self.normal));
        self.pressed = along.max(0.0);
        self.drag = (impulse - self.normal * along).clamp_length_max(self.friction * self.pressed);
        self.apply(chassis, links, self.given() - before);
    }

    /// By how much the last pass changed the velocity of the lighter hull by it, m/s; nothing where that is rounding.
    fn moves(&self, chassis: &[Chassis]) -> f32 {
        let hulls = self.cars.iter().filter_map(|car| chassis.get(*car as usize));
        let lightest = hulls.map(|hull| hull.inverse_mass).fold(0.0, f32::max);
        let change = (self.given() - self.before).length();
        if change > DIGITS * self.pressed { change * lightest } else { 0.0 }
    }
}
