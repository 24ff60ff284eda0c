//! Statics: loads of wheels, links and couplers of a vehicle at rest, and its equilibrium pose on its springs.

pub(crate) mod equilibrium;

use crate::constants::STANDARD_GRAVITY;
use crate::model::Model;
use crate::model::wheel_pack::LaneIndex;
use crate::wheel::parameters::Wheel;

impl Model {
    /// Returns the load of wheel `i` at rest on level ground under standard gravity (N): carried mass times
    /// [`STANDARD_GRAVITY`], with what rests on the hitch.
    pub fn static_load(&self, i: usize) -> f32 {
        self.carried_masses()[i] * STANDARD_GRAVITY
    }

    /// Returns the load of the coupler of a trailer at rest on level ground (N): the weight of its mass, and of what
    /// rests on its hitch, less the loads of its wheels. Negative if it pulls up; 0 for a vehicle without a coupler.
    pub fn coupler_load(&self) -> f32 {
        let mass_on_wheels: f32 = self.carried_masses().iter().sum();
        let mass_on_hitch = self.parts().hitch.map_or(0.0, |hitch| hitch.carried_mass); // mass on its own hitch, kg
        self.parts().coupler.map_or(0.0, |_| (self.parts().mass + mass_on_hitch - mass_on_wheels) * STANDARD_GRAVITY)
    }

    /// Returns the distance of wheel `i` without load below its position at rest (m).
    pub(crate) fn droop_from_rest(&self, i: usize) -> f32 {
        let LaneIndex { group, lane } = self.lane_index(i);
        self.wheel_packs()[group].droop_travel.lanes()[lane]
    }

    /// Returns the jacking force at wheel `i`: the force by which its strut carries more than the ground, because the
    /// links push the wheel up. The force is the slope of the links ([`Model::link_slope`]) times the lateral force; on
    /// a solid axle, times the mean of both wheels' forces. `lateral_force` is the leftward tyre force on the car at
    /// each wheel; the result has the same unit.
    pub fn jacking_force(&self, i: usize, lateral_force: impl Fn(usize) -> f64) -> f64 {
        let axle = self.parts().wheels[i].axle;
        let [left, right] = self.axle_wheels()[axle];
        let axle_force = if self.parts().axles[axle].solid {
            0.5 * (lateral_force(left) + lateral_force(right))
        } else {
            lateral_force(i)
        };
        self.link_slope(i) * axle_force
    }

    /// Returns the displacement by which links move the contact point of wheel `i` to the left (m): the slope of the
    /// links times the compression; on a solid axle, the mean of both wheels' displacements. `compression` is the
    /// compression of each wheel from rest (m).
    pub fn link_scrub(&self, i: usize, compression: impl Fn(usize) -> f64) -> f64 {
        let axle = self.parts().wheels[i].axle;
        let [left, right] = self.axle_wheels()[axle];
        let displacement = |k: usize| self.link_slope(k) * compression(k);
        if self.parts().axles[axle].solid { 0.5 * (displacement(left) + displacement(right)) } else { displacement(i) }
    }

    /// Returns the height of the centre of mass above the points where tyre forces act (m): `h − Σ hᵢ mᵢ / m` over the
    /// wheels, with the carried masses mᵢ and the vehicle's mass m. This height is the lever with which tyre forces
    /// roll and pitch the car; negative if they act above the centre of mass.
    pub fn tyre_force_lever(&self) -> f64 {
        let weighted_height =
            |(wheel, mass): (&Wheel, &f32)| f64::from(self.parts().axles[wheel.axle].force_point_height * mass);
        let mean_height = self.parts().wheels.iter().zip(self.carried_masses()).map(weighted_height).sum::<f64>()
            / f64::from(self.parts().mass);
        f64::from(self.parts().centre_height) - mean_height
    }

    /// Returns the height of the roll axis above the ground at rest (m): `Σ hᵢ mᵢ / m` over the wheels, with the roll
    /// centre height hᵢ of the axle, the carried mass mᵢ and the vehicle's mass m.
    pub fn roll_axis_height(&self) -> f64 {
        let weighted_height =
            |(wheel, mass): (&Wheel, &f32)| f64::from(self.parts().axles[wheel.axle].roll_centre_height * mass);
        self.parts().wheels.iter().zip(self.carried_masses()).map(weighted_height).sum::<f64>()
            / f64::from(self.parts().mass)
    }

    /// Returns the height of the centre of mass above the roll axis (m): the lever with which tyre forces roll the body
    /// on its springs. Equals [`Model::tyre_force_lever`] if the roll centres are at the ground.
    pub fn roll_lever(&self) -> f64 {
        self.tyre_force_lever() - self.roll_axis_height()
    }
}
