//! How bodies under wheels move, and how they answer. Everything is in the world's axes.

use skidpad_core::{Contact, Vec3};

/// Where a wheel meets the ground.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// m.
    pub point: Vec3,
    /// Unit vector out of the ground.
    pub normal: Vec3,
    /// Centre of mass of its car, m.
    pub car: Vec3,
}

/// How a body moves when a step begins; one that moves by itself, how it does throughout the step.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Motion {
    /// Centre of mass, m.
    pub centre: Vec3,
    /// Of that, m/s.
    pub linear: Vec3,
    /// rad/s.
    pub angular: Vec3,
}

impl Motion {
    /// Velocity of what is at `point`, m/s.
    pub fn at(&self, point: Vec3) -> Vec3 {
        self.linear + self.angular.cross(point - self.centre)
    }

    /// Mean velocity over the step of what is at `point` when it begins.
    fn mean_at(&self, point: Vec3, dt: f32) -> Vec3 {
        let turning = self.angular.cross(point - self.centre);
        self.linear + turning + self.angular.cross(turning) * (0.5 * dt)
    }

    /// The velocity a car has at the end of the step at its contact `point` if it goes where this body goes, which moves by itself; in the
    /// `last` step it moved so. Engines move such a body by its velocity throughout the step, but a car's pose as if its velocity acted
    /// `lead` s early: with the body's own velocity a car parked on a train that gains 5 m/s² is left behind by 30 mm in every second.
    pub fn carries(&self, [point, car]: [Vec3; 2], last: Option<Self>, dt: f32, lead: f32) -> Vec3 {
        let now = *self;
        let last = last.unwrap_or(now);
        let came_from = car - last.mean_at(car, dt) * dt;
        let mean = now.mean_at(car, dt);
        let ahead = lead / dt;
        let linear = mean + (mean - last.mean_at(came_from, dt)) * ahead;
        let angular = now.angular + (now.angular - last.angular) * ahead;
        // The rows of a car turn with it by the arms they have when the step begins.
        linear + angular.cross(point - car)
    }
}

/// A body under a wheel that can be pushed.
#[derive(Clone, Copy, Debug)]
pub struct Pushed {
    /// Its velocity at the point, m/s.
    pub now: Vec3,
    /// How it moved before the last step.
    pub last: Option<Motion>,
    /// Whether contacts bear it, and whether they hold it by friction. Engines solve those after the wheels; a wheel that took such a body
    /// for free would be far too careful with it: on crates of 20 kg a car rocks for ever.
    pub held: [bool; 2],
    /// [`give`].
    pub give: [f32; 2],
}

impl Pushed {
    /// Velocity and give that a wheel meets. What the last step did to the body, it does again if wheels push it as they did; what held it
    /// took that away.
    pub fn meets(&self, point: Vec3, normal: Vec3) -> (Vec3, [f32; 2]) {
        let Self { now, last, held: [held, holds], give: [along, across] } = *self;
        let change = last.map_or(Vec3::ZERO, |last| now - last.at(point));
        let parting = change.project_onto_normalized(normal);
        let ahead = if held { Vec3::ZERO } else { parting } + if holds { Vec3::ZERO } else { change - parting };
        (now + ahead, [if held { 0.0 } else { along }, if holds { 0.0 } else { across }])
    }
}

/// Change of velocity at `point` of a body whose centre of mass is at `centre` by an impulse there, 1/kg: along `normal`, and across it
/// in the direction that gives most. Its mass is divided by `lighter`; `turning` is what a moment turns it by.
pub fn give([centre, point]: [Vec3; 2], normal: Vec3, lighter: Vec3, turning: impl Fn(Vec3) -> Vec3) -> [f32; 2] {
    let arm = point - centre;
    skidpad_core::give(normal, |impulse| lighter * impulse + turning(arm.cross(impulse)).cross(arm))
}

/// Multiplies the give of each body by the number of wheels on it: no wheel knows what the others do. `standing` is memory.
pub fn share_give(contacts: &mut [Option<Contact>], standing: &mut Vec<u64>) {
    let gives = |contact: &Option<Contact>| contact.and_then(|c| c.ground).filter(|ground| ground.give != [0.0; 2]);
    standing.clear();
    standing.extend(contacts.iter().filter_map(gives).map(|ground| ground.body));
    standing.sort_unstable();
    for ground in contacts.iter_mut().flatten().filter_map(|contact| contact.ground.as_mut()) {
        let up_to = |most: u64| standing.partition_point(|body| *body <= most);
        let below = standing.partition_point(|body| *body < ground.body);
        let wheels = up_to(ground.body) - below;
        ground.give = ground.give.map(|give| give * wheels as f32);
    }
}
