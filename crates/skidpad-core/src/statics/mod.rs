//! Statics: what wheels, links and couplers carry of a vehicle at rest, and the pose in which it then hangs in its springs.

pub(crate) mod equilibrium;
pub(crate) mod shares;

use crate::constants::STANDARD_GRAVITY;
use crate::model::Model;
use crate::wheel::pack::LaneIndex;
use crate::wheel::parameters::Wheel;

impl Model {
    /// Load of wheel `i` at rest on level ground, N.
    pub fn static_load(&self, i: usize) -> f32 {
        self.sprung()[i] * STANDARD_GRAVITY
    }

    /// Load of the coupler of a trailer at rest on level ground, N, negative where it pulls up; 0 of any other vehicle.
    pub fn coupler_load(&self) -> f32 {
        let carried: f32 = self.sprung().iter().sum();
        let rests = self.parts().hitch.map_or(0.0, |hitch| hitch.carried_mass);
        self.parts().coupler.map_or(0.0, |_| (self.parts().mass + rests - carried) * STANDARD_GRAVITY)
    }

    /// How far below its place at rest wheel `i` hangs without load, m.
    pub(crate) fn hangs_below(&self, i: usize) -> f32 {
        let LaneIndex { bank, lane } = self.place(i);
        self.banks()[bank].droop_travel.lanes()[lane]
    }

    /// What links push wheel `i` up by, its strut carrying so much more than the ground, where tyres push the car to the left by what
    /// `aside` says (any force).
    pub fn lifted_by_links(&self, i: usize, aside: impl Fn(usize) -> f64) -> f64 {
        let axle = self.parts().wheels[i].axle;
        let [left, right] = self.axle_wheels()[axle];
        let pushed = if self.parts().axles[axle].solid { 0.5 * (aside(left) + aside(right)) } else { aside(i) };
        self.link_slope(i) * pushed
    }

    /// Returns the displacement by which links move the contact point of wheel `i` to the left, m, with every wheel compressed from rest by what `compression` says, m.
    pub fn moved_by_links(&self, i: usize, compression: impl Fn(usize) -> f64) -> f64 {
        let axle = self.parts().wheels[i].axle;
        let [left, right] = self.axle_wheels()[axle];
        let led = |k: usize| self.link_slope(k) * compression(k);
        if self.parts().axles[axle].solid { 0.5 * (led(left) + led(right)) } else { led(i) }
    }

    /// Height of the centre of mass above the points at which tyre forces act, their mean by static load, m: the lever on
    /// which they roll and pitch the car; negative where they act above it.
    pub fn tyre_lever(&self) -> f64 {
        let point = |(wheel, carried): (&Wheel, &f32)| f64::from(self.parts().axles[wheel.axle].force_point * carried);
        let raised =
            self.parts().wheels.iter().zip(self.sprung()).map(point).sum::<f64>() / f64::from(self.parts().mass);
        f64::from(self.parts().centre_height) - raised
    }

    /// Height of the roll axis above the ground at rest, the mean of the axles' roll centres by static load, m.
    pub fn roll_axis_height(&self) -> f64 {
        let centre = |(wheel, carried): (&Wheel, &f32)| f64::from(self.parts().axles[wheel.axle].roll_centre * carried);
        self.parts().wheels.iter().zip(self.sprung()).map(centre).sum::<f64>() / f64::from(self.parts().mass)
    }

    /// Height of the centre of mass above the roll axis, m: the lever on which tyre forces roll the body on its springs.
    /// [`Model::tyre_lever`] where roll centres are at the ground.
    pub fn roll_lever(&self) -> f64 {
        self.tyre_lever() - self.roll_axis_height()
    }
}
