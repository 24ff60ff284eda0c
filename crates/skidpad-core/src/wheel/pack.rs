//! The constants of the wheels, four side by side: two axles, left before right.
//!
//! An axle always takes two lanes, so that sums by axle treat left and right alike; the second lane of a single wheel
//! stands empty.

use crate::constants::STANDARD_GRAVITY;
use crate::drivetrain::flow::levers;
use crate::drivetrain::parameters::Powertrain;
#[cfg(feature = "abreast")]
use crate::lane::Octet;
use crate::lane::{Corners, Four, Lane};
use crate::model::parts::ModelParts;
use crate::suspension::parameters::{AntiRollBar, BarCoupling, Strut};
use crate::tyre::curve::{CurveConstants, CurveLaw, CurveTyre};
use crate::tyre::parameters::Tyre;
use crate::tyre::tmeasy::TMeasyConstants;
use crate::vectors::{Axes, Vec3Lanes};
use crate::wheel::disc::Discs;
use crate::wheel::parameters::{PreparedRolling, ProbeShape, Wheel};

/// Where a wheel is among the banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneIndex {
    pub bank: usize,
    pub lane: usize,
}

/// Constants of up to four wheels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WheelPack<W: Corners = Four> {
    /// Wheel of each lane; an empty lane names a neighbour and is masked by `present`.
    wheels: [usize; 4],
    /// The first of four that follow each other; `None` where one is missing.
    first: Option<usize>,
    /// 1 where there is a wheel.
    present: W,
    pub contact: Vec3Lanes<W>,
    /// Of the whole car, in every lane: inverses of its mass, 1/kg, and of its inertia.
    pub inverse_mass: W,
    pub inverse_inertia: Axes<W>,
    pub radius: W,
    pub spin_inertia: W,
    pub brake_torque: W,
    pub handbrake_torque: W,
    /// Whether some wheel's brake warms.
    pub discs: Option<Discs<W>>,
    pub rolling: PreparedRolling<W>,
    /// See [`Wheel::walking`].
    pub walking: [W; 2],
    /// Mass carried at rest, kg.
    pub sprung: W,
    /// Mass, vertical rate and damping of wheels that move on their own; 0 where not known.
    pub unsprung_mass: W,
    pub tyre_rate: W,
    pub tyre_damping: W,
    rate: W,
    /// Rise of the rates; `None` where every spring is linear.
    pub progressive_rate: Option<W>,
    pub bump_damping: W,
    pub rebound_damping: W,
    /// Speed and share of the knees, bump and rebound; `None` where no wheel has one.
    pub knees: Option<[[W; 2]; 2]>,
    pub bump_travel: W,
    /// How far below its place at rest a wheel without load hangs, m.
    pub droop_travel: W,
    pub stop_rate: W,
    /// Of the bars to the opposite wheel that have one rate at every speed, N/m.
    pub bar_rate: W,
    /// Compression at which nothing gives any more, m.
    pub solid_travel: W,
    /// The tyres with simple curves; something harmless in the lanes of the others.
    pub tyre: CurveConstants<W>,
    /// Whether some lane has no other law.
    pub has_curves: bool,
    /// The tyres with other laws: those on TMeasy at once, each other one once.
    pub laws: Box<[Law<W>]>,
    /// −1 where a tyre is mounted with left and right exchanged, else 1.
    pub mirror_sign: W,
    /// Whether some wheel feels with more than a ray.
    pub has_rims: bool,
    /// How far above the contact points tyre forces act, m; `None` where all act there.
    pub force_point: Option<W>,
    /// Of wheels on solid axles; `None` where every wheel has a link of its own.
    pub beam: Option<Beam>,
    /// Of wheels whose roll centre is off the ground; `None` where no axle has one.
    pub roll_centre_links: Option<RollCentreLinks>,
    /// Of wheels that give way sideways; `None` where every axle is rigid.
    pub lateral: Option<Lateral>,
    /// Torque of a motor of its own at full throttle, N m.
    pub direct: W,
    /// On each row between spins: turns of the row per turn of the wheel, see [`levers`].
    pub levers: Box<[W]>,
}

/// Tyres with a law of their own, and the wheels they are on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Law<W = Four> {
    pub tyres: OfOneLaw<W>,
    /// 1 where a wheel has one.
    on: W,
}

/// Tyres that are asked at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OfOneLaw<W> {
    /// All on TMeasy, side by side.
    TMeasy(TMeasyConstants<W>),
    /// One, by its index into the tyres.
    One(usize),
}

/// Wheels on the beams of solid axles; zeros in the lanes of the others. A beam follows the body sideways at its roll centre, and
/// turns about that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Beam {
    /// How far the beam turns against the body per travel of a wheel, 1/m: left wheels up lean it to the right.
    turn: Four,
    /// How far that moves it to the right at the wheels' centres, –.
    pub sway: Four,
    /// A half where a wheel is on a beam.
    half: Four,
}

impl Beam {
    fn of(parts: &ModelParts, wheels: [usize; 4], present: Four) -> Option<Self> {
        let turn = |i: usize| {
            let wheel = &parts.wheels[i];
            let on = |other: &&Wheel| other.axle == wheel.axle && other.side != wheel.side;
            let opposite = parts.wheels.iter().find(on)?;
            parts.axles[wheel.axle].solid.then(|| 1.0 / (wheel.contact.y - opposite.contact.y))
        };
        let turns = wheels.map(|i| turn(i).unwrap_or(0.0));
        let turn = Four::new(turns) * present;
        turns.iter().any(|&turn| turn != 0.0).then(|| Self {
            turn,
            sway: turn
                * Four::new(wheels.map(|i| parts.wheels[i].radius - parts.axles[parts.wheels[i].axle].roll_centre)),
            half: Four::splat(0.5).only(Four::default().less(turn.abs())),
        })
    }

    /// How far the beams turn against the body with the wheels at `travel` m, rad.
    #[inline(always)]
    pub fn turned(&self, travel: Four) -> Four {
        let turn = self.turn * travel;
        turn + turn.opposite()
    }

    /// Each wheel's half of what acts on both ends of its beam; all of what acts on a wheel without.
    #[inline(always)]
    pub fn share(&self, of: Four) -> Four {
        of + self.half * (of.opposite() - of)
    }
}

/// Wheels that links lead sideways as they travel, about a roll centre off the ground; zeros in the lanes of the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RollCentreLinks {
    /// How far a contact point moves to the left per metre of jounce, –; see [`crate::Model::link_slope`]. On a beam, half of what both
    /// wheels' travels make moves both.
    pub slope: Four,
    /// A half where two wheels are on one beam.
    pub half: Four,
    /// Of what is not on a beam.
    pub alone: Four,
}

impl RollCentreLinks {
    fn of(parts: &ModelParts, wheels: [usize; 4], present: Four) -> Option<Self> {
        let axle = |i: usize| &parts.axles[parts.wheels[i].axle];
        let slopes = wheels.map(|i| link_slope(parts, i));
        let half = Four::new(wheels.map(|i| if axle(i).solid { 0.5 } else { 0.0 }));
        let alone = Four::new(wheels.map(|i| if axle(i).solid { 0.0 } else { 1.0 }));
        slopes.iter().any(|&slope| slope != 0.0).then(|| Self { slope: Four::new(slopes) * present, half, alone })
    }

    /// What each wheel has of its own, or, on a beam, the mean of both.
    #[inline(always)]
    pub fn shared(&self, of: Four) -> Four {
        of * self.alone + (of + of.opposite()) * self.half
    }

    /// How fast contact points move to the left against the body while the wheels travel at `rate` m/s.
    #[inline(always)]
    pub fn sideways(&self, rate: Four) -> Four {
        self.shared(self.slope * rate)
    }

    /// What links push wheels up by, along the travel, where tyres push by `aside` to the left.
    #[inline(always)]
    pub fn lift(&self, aside: Four) -> Four {
        self.slope * self.shared(aside)
    }
}

/// Wheels of axles that give way sideways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lateral {
    /// 1 where a wheel does.
    pub gives: Four,
    /// N/m; 1 where it does not.
    pub rate: Four,
    /// N s/m
    pub damping: Four,
}

impl Lateral {
    fn of(parts: &ModelParts, wheels: [usize; 4], present: Four) -> Option<Self> {
        let given = wheels.map(|i| {
            let axle = parts.wheels[i].axle;
            let count = parts.wheels.iter().filter(|wheel| wheel.axle == axle).count() as f32;
            parts.axles[axle].lateral_compliance.map(|whole| [whole.rate, whole.damping].map(|of| of / count))
        });
        given.iter().any(Option::is_some).then(|| Self {
            gives: Four::new(given.map(|wheel| wheel.map_or(0.0, |_| 1.0))) * present,
            rate: Four::new(given.map(|wheel| wheel.map_or(1.0, |[rate, _]| rate))),
            damping: Four::new(given.map(|wheel| wheel.map_or(0.0, |[_, damping]| damping))),
        })
    }
}

/// Height of the roll centre of the axle of wheel `i` over half its track, positive where jounce moves the contact point to the left.
pub(crate) fn link_slope(parts: &ModelParts, i: usize) -> f32 {
    let height = parts.axles[parts.wheels[i].axle].roll_centre;
    if height == 0.0 { 0.0 } else { height / left_of_middle(parts, i) }
}

/// How far wheel `i` is to the left of the middle of its axle, m; 0 of one alone.
pub(crate) fn left_of_middle(parts: &ModelParts, i: usize) -> f32 {
    let wheel = &parts.wheels[i];
    let on = |&(k, other): &(usize, &Wheel)| k != i && other.axle == wheel.axle;
    let opposite = parts.wheels.iter().enumerate().find(on);
    opposite.map_or(0.0, |(_, other)| 0.5 * (wheel.contact.y - other.contact.y))
}

impl<W: Corners> Law<W> {
    /// Where a wheel has it.
    #[inline(always)]
    pub fn lanes(&self) -> W::Mask {
        W::splat(0.0).less(self.on)
    }
}

impl WheelPack {
    /// Its wheels of `all`, if it has four that follow each other, as banks of most cars do.
    #[inline(always)]
    pub fn whole_mut<'a, T>(&self, all: &'a mut [T]) -> Option<&'a mut [T; 4]> {
        all.get_mut(self.first?..)?.first_chunk_mut()
    }

    /// The same.
    #[inline(always)]
    pub fn whole<'a, T>(&self, all: &'a [T]) -> Option<&'a [T; 4]> {
        all.get(self.first?..)?.first_chunk()
    }

    /// Whether its lanes are two axles of two wheels, or one, in order, from wheel `first` on.
    #[cfg(feature = "abreast")]
    pub fn follows(&self, first: usize) -> bool {
        let lanes = match self.present.lanes() {
            [1.0, 1.0, 1.0, 1.0] => 4,
            [1.0, 1.0, 0.0, 0.0] => 2,
            _ => return false,
        };
        self.wheels[..lanes].iter().enumerate().all(|(lane, wheel)| *wheel == first + lane)
    }

    /// Reads one number of each wheel; 0 for an empty lane.
    #[inline(always)]
    pub fn gather(&self, of: impl Fn(usize) -> f32) -> Four {
        Four::new(self.wheels.map(of)) * self.present
    }

    /// What `all` wheels have of each of its wheels, for [`WheelPack::read`]: looked up once where much is read.
    #[inline(always)]
    pub fn pick<'a, T>(&self, all: &'a [T]) -> [&'a T; 4] {
        match self.whole(all) {
            Some(four) => four.each_ref(),
            None => self.wheels.map(|i| &all[i]),
        }
    }

    /// Reads one number of each wheel of those picked; 0 for an empty lane.
    #[inline(always)]
    pub fn read<T>(&self, picked: [&T; 4], of: impl Fn(&T) -> f32) -> Four {
        Four::new(picked.map(of)) * self.present
    }

    /// Reads four numbers of each wheel of those picked; 0 for an empty lane.
    #[inline(always)]
    pub fn read_four<T>(&self, picked: [&T; 4], of: impl Fn(&T) -> [f32; 4]) -> [Four; 4] {
        let numbers = Four::transposed(picked.map(|wheel| Four::new(of(wheel))));
        if self.first.is_some() { numbers } else { numbers.map(|numbers| numbers * self.present) }
    }

    /// Calls `to` with each lane that has a wheel, and the wheel.
    #[inline(always)]
    pub fn each(&self, mut to: impl FnMut(usize, usize)) {
        let present = self.present.lanes();
        for (lane, &wheel) in self.wheels.iter().enumerate() {
            if present[lane] != 0.0 {
                to(lane, wheel);
            }
        }
    }
}

#[cfg(feature = "abreast")]
impl WheelPack {
    /// Wheel `row`, alike in several cars.
    pub fn spread<W: Octet>(&self, row: usize) -> WheelPack<W> {
        let one = |of: Four| W::splat(of.at(row));
        let both = |of: [Four; 2]| of.map(one);
        let law = |law: &Law| {
            let tyres = match &law.tyres {
                OfOneLaw::TMeasy(tyres) => OfOneLaw::TMeasy(tyres.map(one)),
                OfOneLaw::One(tyre) => OfOneLaw::One(*tyre),
            };
            Law { tyres, on: one(law.on) }
        };
        WheelPack {
            wheels: self.wheels,
            first: self.first,
            present: one(self.present),
            inverse_mass: one(self.inverse_mass),
            inverse_inertia: self.inverse_inertia.map(one),
            contact: Vec3Lanes::new(one(self.contact.x), one(self.contact.y), one(self.contact.z)),
            radius: one(self.radius),
            spin_inertia: one(self.spin_inertia),
            brake_torque: one(self.brake_torque),
            handbrake_torque: one(self.handbrake_torque),
            discs: self.discs.map(|discs| discs.map(one)),
            rolling: PreparedRolling {
                by_speed: self.rolling.by_speed.map(one),
                standing: both(self.rolling.standing),
            },
            walking: both(self.walking),
            sprung: one(self.sprung),
            unsprung_mass: one(self.unsprung_mass),
            tyre_rate: one(self.tyre_rate),
            tyre_damping: one(self.tyre_damping),
            rate: one(self.rate),
            progressive_rate: self.progressive_rate.map(one),
            bump_damping: one(self.bump_damping),
            rebound_damping: one(self.rebound_damping),
            knees: self.knees.map(|knees| knees.map(both)),
            bump_travel: one(self.bump_travel),
            droop_travel: one(self.droop_travel),
            stop_rate: one(self.stop_rate),
            bar_rate: one(self.bar_rate),
            solid_travel: one(self.solid_travel),
            tyre: self.tyre.map(one),
            has_curves: self.laws.iter().all(|law| law.on.at(row) == 0.0),
            laws: self.laws.iter().filter(|law| law.on.at(row) != 0.0).map(law).collect(),
            mirror_sign: one(self.mirror_sign),
            has_rims: self.has_rims,
            force_point: self.force_point.map(one),
            beam: None,
            roll_centre_links: None,
            lateral: None,
            direct: one(self.direct),
            levers: self.levers.iter().map(|&of| one(of)).collect(),
        }
    }
}

impl<W: Corners> WheelPack<W> {
    /// Where there is a wheel.
    #[inline(always)]
    pub fn present(&self) -> W::Mask {
        W::splat(0.0).less(self.present)
    }

    /// What the springs push beyond their force at rest at `travel`, N, and their rates there, N/m.
    #[inline(always)]
    pub fn springs(&self, travel: W) -> (W, W) {
        let Some(rise) = self.progressive_rate else { return (self.rate * travel, self.rate) };
        let risen = rise * travel;
        ((self.rate + W::splat(0.5) * risen) * travel, self.rate + risen)
    }

    /// Height of a ray's start above the resting contact point, m.
    #[inline(always)]
    pub fn start_height(&self) -> W {
        self.radius * W::splat(2.0)
    }

    /// By how much tyres of wheels on their own are squashed at rest, m.
    #[inline(always)]
    pub fn squash_at_rest(&self) -> W {
        self.sprung * W::splat(STANDARD_GRAVITY) / self.tyre_rate
    }
}

pub(crate) fn places(parts: &ModelParts, axle_wheels: &[[usize; 2]]) -> Box<[LaneIndex]> {
    let place = |i: usize| {
        let axle = parts.wheels[i].axle;
        let second = usize::from(axle_wheels[axle][0] != i);
        LaneIndex { bank: axle / 2, lane: axle % 2 * 2 + second }
    };
    (0..parts.wheels.len()).map(place).collect()
}

pub(crate) fn banks(parts: &ModelParts, sprung: &[f32], axle_wheels: &[[usize; 2]]) -> Box<[WheelPack]> {
    axle_wheels
        .chunks(2)
        .map(|axles| {
            let last = axles[axles.len() - 1];
            let second = if axles.len() == 2 { last } else { [last[0], last[0]] };
            let wheels = [axles[0][0], axles[0][1], second[0], second[1]];
            let rear = if axles.len() == 2 { 1.0 } else { 0.0 };
            let pair = |pair: [usize; 2]| if pair[0] == pair[1] { 0.0 } else { 1.0 };
            bank(parts, sprung, wheels, Four::new([1.0, pair(axles[0]), rear, rear * pair(second)]))
        })
        .collect()
}

fn bank(parts: &ModelParts, sprung: &[f32], wheels: [usize; 4], present: Four) -> WheelPack {
    let of = |f: &dyn Fn(&Wheel) -> f32| Four::new(wheels.map(|i| f(&parts.wheels[i])));
    let any = |f: &dyn Fn(&Wheel) -> bool| wheels.iter().any(|&i| f(&parts.wheels[i]));
    let only = |f: &dyn Fn(usize) -> f32| Four::new(wheels.map(f)) * present;
    let follow = (0..4).all(|k| wheels[k] == wheels[0] + k);
    let laws = laws(parts, wheels, present);
    WheelPack {
        wheels,
        first: follow.then_some(wheels[0]),
        present,
        inverse_mass: Four::splat(1.0 / parts.mass),
        inverse_inertia: Axes::of(&parts.inertia.inverse()).map(Four::splat),
        contact: Vec3Lanes::new(of(&|w| w.contact.x), of(&|w| w.contact.y), of(&|w| w.contact.z)),
        radius: of(&|w| w.radius),
        spin_inertia: of(&|w| w.spin_inertia),
        brake_torque: of(&|w| w.brake_torque) * present,
        handbrake_torque: of(&|w| w.handbrake_torque) * present,
        discs: Discs::of(wheels.map(|i| parts.wheels[i].disc)),
        rolling: PreparedRolling {
            by_speed: [0, 1, 2].map(|k| of(&|w| w.rolling.prepare().by_speed[k])),
            standing: [0, 1].map(|k| of(&|w| w.rolling.prepare().standing[k])),
        },
        walking: [0, 1].map(|k| of(&|w| w.walking()[k])),
        sprung: Four::new(wheels.map(|i| sprung[i])),
        unsprung_mass: of(&|w| w.unsprung.map_or(0.0, |own| own.mass)),
        tyre_rate: of(&|w| w.unsprung.map_or(0.0, |own| own.tyre_rate)),
        tyre_damping: of(&|w| w.unsprung.map_or(0.0, |own| own.tyre_damping)),
        rate: of(&|w| w.strut.rate),
        progressive_rate: any(&|w| w.strut.progressive_rate != 0.0).then(|| of(&|w| w.strut.progressive_rate)),
        bump_damping: of(&|w| w.strut.bump_damping),
        rebound_damping: of(&|w| w.strut.rebound_damping),
        knees: any(&|w| w.strut.knees != <[_; 2]>::default())
            .then(|| [0, 1].map(|way| [of(&|w| w.strut.knees[way].above), of(&|w| w.strut.knees[way].share)])),
        bump_travel: of(&|w| w.strut.bump_travel),
        droop_travel: Four::new(wheels.map(|i| reached_in_droop(&parts.wheels[i].strut, sprung[i]))),
        stop_rate: of(&|w| w.strut.stop_rate),
        bar_rate: only(&|i| {
            let bars = parts.bars.iter().filter(|bar| bar.wheels.contains(&i) && counts_in_bar_rate(parts, bar));
            bars.fold(0.0, |sum, bar| sum + bar.rate)
        }),
        solid_travel: of(&|w| w.strut.bump_travel + w.strut.stop_travel),
        tyre: CurveConstants::side_by_side(wheels.map(|i| curve(&parts.tyres[parts.wheels[i].tyre]).constants())),
        has_curves: laws.iter().fold(Four::default(), |on, law| on + law.on) != Four::splat(1.0),
        laws,
        mirror_sign: of(&|w| if w.mirrored { -1.0 } else { 1.0 }),
        has_rims: any(&|w| w.probe != ProbeShape::Ray),
        force_point: any(&|w| parts.axles[w.axle].force_point != 0.0).then(|| of(&|w| parts.axles[w.axle].force_point)),
        beam: Beam::of(parts, wheels, present),
        roll_centre_links: RollCentreLinks::of(parts, wheels, present),
        lateral: Lateral::of(parts, wheels, present),
        direct: only(&|i| if let Powertrain::Direct(torques) = &parts.powertrain { torques[i] } else { 0.0 }),
        levers: levers(parts).map(|of| only(&|i| of[i])).collect(),
    }
}

/// Whether a bar ties the wheels of one axle through their struts, at one rate.
fn counts_in_bar_rate(parts: &ModelParts, bar: &AntiRollBar) -> bool {
    let [left, right] = bar.wheels.map(|i| parts.wheels[i].axle);
    left == right && bar.coupling == BarCoupling::InLoadPath && bar.fades_in == [0.0; 2]
}

/// Numbers of the bars, and of the heave springs after them, that are not in [`WheelPack::bar_rate`].
pub(crate) fn axle_links_apart(parts: &ModelParts) -> Box<[usize]> {
    let bars = parts.bars.iter().enumerate().filter(|(_, bar)| !counts_in_bar_rate(parts, bar)).map(|(k, _)| k);
    bars.chain((0..parts.heave_springs.len()).map(|k| parts.bars.len() + k)).collect()
}

/// Where the droop stop holds a wheel, or where its spring is slack before that: a wheel that would have to be pulled down to
/// the ground does not touch it.
fn reached_in_droop(strut: &Strut, carried: f32) -> f32 {
    let slack = -strut.compression_under((-carried * STANDARD_GRAVITY).into(), 0.0) as f32;
    strut.droop_travel.min(slack)
}

fn curve(tyre: &Tyre) -> CurveTyre {
    match tyre {
        Tyre::Curve(tyre) => *tyre,
        _ => CurveTyre {
            law: CurveLaw::Linear { stiffness: [1.0; 2] },
            friction: [1.0; 2],
            load_sensitivity: 0.0,
            nominal_load: 1000.0,
            relaxation: [1.0; 2],
        },
    }
}

fn laws(parts: &ModelParts, wheels: [usize; 4], present: Four) -> Box<[Law]> {
    let tyres = wheels.map(|i| parts.wheels[i].tyre);
    let on = |has: &dyn Fn(usize) -> bool| Four::new(tyres.map(|i| if has(i) { 1.0 } else { 0.0 })) * present;
    let constants = |i: usize| if let Tyre::TMeasy(tyre) = &parts.tyres[i] { Some(tyre.constants()) } else { None };
    let mut laws = Vec::new();
    if let Some(any) = tyres.into_iter().find_map(constants) {
        let each = tyres.map(|i| constants(i).unwrap_or(any));
        let tyres = OfOneLaw::TMeasy(TMeasyConstants::side_by_side(each.each_ref()));
        laws.push(Law { tyres, on: on(&|i| constants(i).is_some()) });
    }
    let mut ones: Vec<usize> = Vec::new();
    for tyre in tyres {
        if matches!(parts.tyres[tyre], Tyre::Brush(_) | Tyre::MagicFormula { .. }) && !ones.contains(&tyre) {
            ones.push(tyre);
        }
    }
    laws.extend(ones.into_iter().map(|tyre| Law { tyres: OfOneLaw::One(tyre), on: on(&|i| i == tyre) }));
    laws.into()
}
