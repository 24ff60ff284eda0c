//! Ground that varies along the displacement of a step: wheels are probed at several positions, and stand on the mean
//! contact.
//!
//! A wheel that moves by more than its radius within a step would otherwise detect a bump for the whole step, or not at
//! all. The mean contact plane has the mean height of the ground along the displacement and the slope of the line
//! between its ends. The heights of consecutive steps therefore join, and a bump adds no energy to a rolling wheel (O.
//! Gonzalez, "Time integration and discrete Hamiltonian systems", 1996).

use crate::ground::scene::FLUSH_TOLERANCE_M;
use crate::model::Model;
use crate::port::{ChassisState, Contact, Ground, Probe};
use bevy_math::Vec3;

/// Maximum number of intervals into which the displacement of a step is divided.
const MAX_INTERVALS: usize = 8;

/// Smallest cosine between two normals that count as equal; it allows for rounding.
const MIN_NORMAL_COSINE: f32 = 1.0 - 1e-6;

/// Probe positions along the displacements of the wheels of one vehicle.
#[derive(Clone, Copy, Debug)]
pub struct MeanContactProbes {
    /// Intervals between the positions of a wheel, 2 to `MAX_INTERVALS`.
    intervals: usize,
    /// Length of the step, s.
    dt: f32,
}

impl MeanContactProbes {
    /// Returns the positions for a step of `dt` s of a vehicle of `model`, which moves as `body`; `None` if no wheel
    /// moves by more than its radius. The number of intervals is the longest displacement over the wheel radius,
    /// rounded up, from 2 to `MAX_INTERVALS`. The speed at a wheel is estimated by its upper bound `|v| + |ω| · arm`.
    pub fn for_step(model: &Model, body: &ChassisState, dt: f32) -> Option<Self> {
        // Displacement of a wheel in its radii; `arm` is the distance from the centre of mass, m.
        let displacement_in_radii =
            |(radius, arm): (f32, f32)| (body.velocity.length() + body.angular_velocity.length() * arm) * dt / radius;
        let wheels = model.wheels().iter().map(|wheel| (wheel.radius, wheel.contact.length()));
        let max_displacement = wheels.map(displacement_in_radii).fold(0.0, f32::max);
        // The conversion truncates; 0.999 rounds displacements of a little more than one radius up to 2 intervals.
        let intervals = (max_displacement.min(MAX_INTERVALS as f32) + 0.999) as usize;
        // One interval: no wheel moves by more than its radius.
        (intervals > 1).then_some(Self { intervals: intervals.max(2), dt })
    }

    /// Returns the number of positions per wheel.
    pub fn probes_per_wheel(&self) -> usize {
        self.intervals + 1
    }

    /// Returns the displacement of the wheel of `probe` within the step by the velocity at its start, `(v + ω × r) dt`,
    /// world axes, m.
    fn displacement(&self, body: &ChassisState, probe: &Probe) -> Vec3 {
        (body.velocity + body.angular_velocity.cross(probe.offset)) * self.dt
    }

    /// Clears `position_probes` and writes the probes at all positions, wheel by wheel, from the start to the end of
    /// the displacement. `probes` are those in the middle of the step. Each wheel has [`Self::probes_per_wheel`]
    /// probes.
    pub fn write_probes(&self, body: &ChassisState, probes: &[Probe], position_probes: &mut Vec<Probe>) {
        position_probes.clear();
        for probe in probes {
            let displacement = self.displacement(body, probe);
            position_probes
                .extend((0..=self.intervals).map(|k| probe.displaced(displacement * self.displacement_share(k))));
        }
    }

    /// Returns the position of probe `k` relative to the middle, as a share of the displacement, −1/2 to 1/2.
    fn displacement_share(&self, k: usize) -> f32 {
        k as f32 / self.intervals as f32 - 0.5
    }

    /// Replaces the `contacts` in the middle of the step by the mean contact of each wheel over its positions.
    /// `position_contacts` has the contacts at the positions, wheel by wheel, and `probes` the probes in the middle of
    /// the step of a vehicle of `model`.
    ///
    /// A wheel keeps its contact if its ground at some position belongs to a body that can move, if no position has
    /// ground above its droop stop, or if the ground is one plane. Otherwise the mean contact replaces the contact; it
    /// can be `None`.
    pub fn average_contacts(
        &self,
        model: &Model,
        body: &ChassisState,
        probes: &[Probe],
        position_contacts: &[Option<Contact>],
        contacts: &mut [Option<Contact>],
    ) {
        for (i, (probe, wheel_contacts)) in
            probes.iter().zip(position_contacts.chunks(self.probes_per_wheel())).enumerate()
        {
            let lane_index = model.lane_index(i);
            let group = &model.wheel_packs()[lane_index.group];
            // Ray length of a wheel at its droop stop, m.
            let droop_length = (group.ray_start_height() + group.droop_travel).lane_value(lane_index.lane);
            let (displacement, middle) = (self.displacement(body, probe), contacts[i]);
            // Contacts at all positions and in the middle of the step.
            let all_contacts = wheel_contacts.iter().chain([&middle]).flatten();
            let is_still = |contact: &Contact| contact.ground.is_none_or(|ground| ground.body == Ground::STATIC_BODY);
            let is_reached = all_contacts.clone().any(|contact| contact.distance < droop_length);
            if is_reached
                && all_contacts.clone().all(is_still)
                && !self.is_plane(probe, displacement, wheel_contacts, middle)
            {
                contacts[i] = self.mean_contact(probe, displacement, wheel_contacts, droop_length);
            }
        }
    }

    /// Returns true if all `contacts` along the `displacement` of a wheel have the plane, normal and grip of `middle`,
    /// the contact in the middle. Returns false if a contact is missing. Tolerances: [`FLUSH_TOLERANCE_M`] from the
    /// plane, [`MIN_NORMAL_COSINE`] between the normals; grips are equal to the bit.
    fn is_plane(
        &self,
        probe: &Probe,
        displacement: Vec3,
        contacts: &[Option<Contact>],
        middle: Option<Contact>,
    ) -> bool {
        let Some(middle) = middle else { return false };
        contacts.iter().enumerate().all(|(k, contact)| {
            contact.is_some_and(|contact| {
                // From the middle contact point to that of position k.
                let offset =
                    displacement * self.displacement_share(k) + probe.direction * (contact.distance - middle.distance);
                let is_in_plane = offset.dot(middle.normal).abs() < FLUSH_TOLERANCE_M;
                is_in_plane
                    && contact.normal.dot(middle.normal) > MIN_NORMAL_COSINE
                    && contact.grip.to_bits() == middle.grip.to_bits()
            })
        })
    }

    /// Returns the mean of the `contacts` along the `displacement` of a wheel, with trapezoidal weights; `None` if no
    /// position has ground nearer than `droop_length` (m from the start of the ray). Distance, grip, contact point and
    /// lateral slope are means. The slope along the displacement is that of the line between both ends.
    ///
    /// At positions without ground nearer than `droop_length`, the wheel counts as hanging at that distance; these
    /// positions do not count for grip and point. There is no point if one of the contacts has none. The ground data
    /// are those of the middle position, or of the first position with ground.
    fn mean_contact(
        &self,
        probe: &Probe,
        displacement: Vec3,
        contacts: &[Option<Contact>],
        droop_length: f32,
    ) -> Option<Contact> {
        let up = -probe.direction;
        // Part of the displacement perpendicular to the ray.
        let transverse = displacement - up * displacement.dot(up);
        let length = transverse.length();
        let heading = transverse / length.max(f32::MIN_POSITIVE);
        // Weighted sums; `ground_weight` is the weight of the positions with ground.
        let (mut distance, mut slope, mut grip, mut ground_weight) = (0.0, Vec3::ZERO, 0.0, 0.0);
        let mut points = Some(Vec3::ZERO);
        for (k, contact) in contacts.iter().enumerate() {
            let weight = if k == 0 || k == self.intervals { 0.5 } else { 1.0 } / self.intervals as f32;
            let Some(contact) = contact.filter(|contact| contact.distance < droop_length) else {
                distance += weight * droop_length;
                continue;
            };
            distance += weight * contact.distance;
            // The gradient of the ground plane, as a vector perpendicular to the ray.
            slope += (up - contact.normal / contact.normal.dot(up)) * weight;
            grip += weight * contact.grip;
            ground_weight += weight;
            // Points are moved back by the displacement to the middle of the step.
            points = points
                .zip(contact.point)
                .map(|(sum, point)| sum + (point - displacement * self.displacement_share(k)) * weight);
        }
        // With an odd number of intervals the middle of the step is no position: it alone may have ground.
        if ground_weight == 0.0 {
            return None;
        }
        let height = |contact: Option<&Option<Contact>>| {
            -contact
                .and_then(|contact| contact.as_ref())
                .map_or(droop_length, |contact| contact.distance.min(droop_length))
        };
        // Rise of the ground along the displacement, m.
        let rise = height(contacts.last()) - height(contacts.first()) + displacement.dot(up);
        // The mean slope remains across the displacement; along it, the line between both ends counts.
        let slope = slope - heading * slope.dot(heading) + heading * (rise / length.max(f32::MIN_POSITIVE));
        let middle = contacts.get(self.intervals / 2).and_then(|contact| contact.as_ref());
        // Contact whose ground data the mean contact has.
        let source = middle.or_else(|| contacts.iter().flatten().next())?;
        Some(Contact {
            distance,
            normal: (up - slope).normalize_or(up),
            grip: grip / ground_weight,
            point: points.map(|sum| sum / ground_weight),
            ground: source.ground,
        })
    }
}

impl Probe {
    /// Returns the probe displaced by the vector `displacement`, world axes, m. A rim's displacement since the start of
    /// the step grows by `displacement`, and the one until its end shrinks by it. The `offset` moves by the whole
    /// displacement.
    fn displaced(&self, displacement: Vec3) -> Self {
        let rim = self.rim.map(|rim| crate::port::Rim {
            probe_displacement: rim.probe_displacement + displacement,
            free_displacement: rim.free_displacement - displacement,
            ..rim
        });
        Self { offset: self.offset + displacement, rim, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::DVec3;

    /// Checks that positions without ground, or with ground below the droop stop, have no mean contact, and that a mean
    /// contact takes the grip of the positions with ground alone.
    #[test]
    fn positions_below_the_droop_stop_do_not_count() {
        let path = MeanContactProbes { intervals: 3, dt: 0.02 };
        let down = Vec3::NEG_Z;
        let probe =
            Probe { car: 0, position: DVec3::ZERO, offset: Vec3::ZERO, direction: down, length: 1.0, rim: None };
        let at = |distance: f32| Some(Contact { distance, normal: Vec3::Z, grip: 0.5, point: None, ground: None });
        let mean = |contacts: [Option<Contact>; 4]| path.mean_contact(&probe, 0.6 * Vec3::X, &contacts, 0.7);
        assert!(mean([None, at(0.8), at(0.9), None]).is_none());
        let contact = mean([None, at(0.5), at(0.5), at(0.5)]).expect("three positions have ground");
        assert_eq!(contact.grip, 0.5);
    }
}
