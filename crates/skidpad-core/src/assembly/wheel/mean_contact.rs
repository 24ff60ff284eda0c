//! Ground that varies along the displacement of a step: wheels are probed at several positions, and stand on the mean contact.
//!
//! A wheel that moves by more than its radius within a step would otherwise detect a bump for the whole step, or not at all. The
//! mean contact plane has the mean height of the ground along the displacement and the slope of the line between its ends. The
//! heights of consecutive steps therefore join, and a bump adds no energy to a rolling wheel (O. Gonzalez, "Time integration and
//! discrete Hamiltonian systems", 1996).

use crate::ground::scene::FLUSH_TOLERANCE_M;
use crate::port::{ChassisState, Contact, Ground, Probe};
use crate::vehicle::Vehicle;
use bevy_math::Vec3;

/// Maximum number of intervals into which the displacement of a step is divided.
const MAX_INTERVALS: usize = 8;

/// Smallest cosine between two normals that count as equal; it allows for rounding.
const MIN_NORMAL_COSINE: f32 = 1.0 - 1e-6;

/// Probe positions along the displacements of the wheels of one vehicle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeanContactProbes {
    /// Intervals between the positions of a wheel, 2 to [`MAX_INTERVALS`].
    intervals: usize,
    /// Length of the step, s.
    dt: f32,
}

impl MeanContactProbes {
    /// Returns the positions for a step of `dt` s of `vehicle`, which moves as `body`; `None` if no wheel moves by more than its radius. The number
    /// of intervals is the longest displacement over the wheel radius, rounded up, from 2 to [`MAX_INTERVALS`]. The speed at a wheel is bounded by
    /// `|v| + |ω| · arm`.
    pub fn for_step(vehicle: &Vehicle, body: &ChassisState, dt: f32) -> Option<Self> {
        // Largest displacement in wheel radii; `arm` is the distance from the centre of mass, m.
        let longest = |(radius, arm): (f32, f32)| (body.velocity.length() + body.angular.length() * arm) * dt / radius;
        let wheels = vehicle.model().wheels().iter().map(|wheel| (wheel.radius, wheel.contact.length()));
        let most = wheels.map(longest).fold(0.0, f32::max);
        // 0.999 rounds up.
        let intervals = (most.min(MAX_INTERVALS as f32) + 0.999) as usize;
        (intervals > 1).then_some(Self { intervals: intervals.max(2), dt })
    }

    /// Returns the number of positions per wheel.
    pub fn probes_per_wheel(&self) -> usize {
        self.intervals + 1
    }

    /// Returns the displacement of the wheel of `probe` within the step by the velocity at its start, `(v + ω × r) dt`, world axes, m.
    fn displacement(&self, body: &ChassisState, probe: &Probe) -> Vec3 {
        (body.velocity + body.angular.cross(probe.offset)) * self.dt
    }

    /// Clears `asked` and writes the probes at all positions, wheel by wheel, from the start to the end of the displacement. `probes` are those in
    /// the middle of the step.
    pub fn write_probes(&self, body: &ChassisState, probes: &[Probe], asked: &mut Vec<Probe>) {
        asked.clear();
        for probe in probes {
            let way = self.displacement(body, probe);
            asked.extend((0..=self.intervals).map(|k| probe.displaced(way * self.displacement_share(k))));
        }
    }

    /// Returns the position of probe `k` relative to the middle, as a share of the displacement, −1/2 to 1/2.
    fn displacement_share(&self, k: usize) -> f32 {
        k as f32 / self.intervals as f32 - 0.5
    }

    /// Replaces the contacts `met` in the middle of the step by the mean contact of each wheel over its positions. `answered` has the contacts at the
    /// positions, wheel by wheel, `probes` the probes in the middle of the step.
    ///
    /// A wheel keeps its contact if its ground at some position moves, if it reaches no ground at any position above its droop stop, or if the ground
    /// is one plane.
    pub fn average_contacts(
        &self,
        vehicle: &Vehicle,
        body: &ChassisState,
        probes: &[Probe],
        answered: &[Option<Contact>],
        met: &mut [Option<Contact>],
    ) {
        for (i, (probe, places)) in probes.iter().zip(answered.chunks(self.probes_per_wheel())).enumerate() {
            let place = vehicle.model().lane_index(i);
            let bank = &vehicle.model().wheel_packs()[place.bank];
            // Ray length of a wheel at its droop stop, m.
            let hanging = (bank.ray_start_height() + bank.droop_travel).lane_value(place.lane);
            let (way, here) = (self.displacement(body, probe), met[i]);
            let all = places.iter().chain([&here]).flatten();
            let is_still = |contact: &Contact| contact.ground.is_none_or(|ground| ground.body == Ground::STATIC_BODY);
            let is_reached = all.clone().any(|contact| contact.distance < hanging);
            if is_reached && all.clone().all(is_still) && !self.is_plane(probe, way, places, here) {
                met[i] = self.mean_contact(probe, way, places, hanging);
            }
        }
    }

    /// Returns true if the contacts at all `places` along the displacement `way` are on one plane with equal normal and grip, that of the contact
    /// `here` in the middle. Returns false if a contact is missing.
    fn is_plane(&self, probe: &Probe, way: Vec3, places: &[Option<Contact>], here: Option<Contact>) -> bool {
        let Some(here) = here else { return false };
        places.iter().enumerate().all(|(k, place)| {
            place.is_some_and(|place| {
                let apart = way * self.displacement_share(k) + probe.direction * (place.distance - here.distance);
                let is_level = apart.dot(here.normal).abs() < FLUSH_TOLERANCE_M;
                is_level
                    && place.normal.dot(here.normal) > MIN_NORMAL_COSINE
                    && place.grip.to_bits() == here.grip.to_bits()
            })
        })
    }

    /// Returns the mean of the contacts at the `places` along the displacement `way`, with trapezoidal weights; `None` if no place has ground.
    /// Distance, grip, contact point and lateral slope are means. The slope along the displacement is that of the line between both ends. At
    /// positions without ground, or with ground farther away than `hanging` (m from the start of the ray), the wheel counts as hanging at that
    /// distance, and they do not count for grip and point. There is no point if one of the contacts has none. Data of textured ground are those of
    /// the middle position, or of the first with ground.
    fn mean_contact(&self, probe: &Probe, way: Vec3, places: &[Option<Contact>], hanging: f32) -> Option<Contact> {
        let up = -probe.direction;
        // Part of the displacement perpendicular to the ray.
        let level = way - up * way.dot(up);
        let length = level.length();
        let ahead = level / length.max(f32::MIN_POSITIVE);
        // Weighted sums; `found` is the weight of the positions with ground.
        let (mut distance, mut slope, mut grip, mut found) = (0.0, Vec3::ZERO, 0.0, 0.0);
        let mut points = Some(Vec3::ZERO);
        for (k, place) in places.iter().enumerate() {
            let weight = if k == 0 || k == self.intervals { 0.5 } else { 1.0 } / self.intervals as f32;
            let Some(contact) = place.filter(|contact| contact.distance < hanging) else {
                distance += weight * hanging;
                continue;
            };
            distance += weight * contact.distance;
            slope += (up - contact.normal / contact.normal.dot(up)) * weight;
            grip += weight * contact.grip;
            found += weight;
            points =
                points.zip(contact.point).map(|(sum, point)| sum + (point - way * self.displacement_share(k)) * weight);
        }
        let height = |place: Option<&Option<Contact>>| {
            -place.and_then(|place| place.as_ref()).map_or(hanging, |contact| contact.distance.min(hanging))
        };
        // Rise of the ground along the displacement, m.
        let rise = height(places.last()) - height(places.first()) + way.dot(up);
        let slope = slope - ahead * slope.dot(ahead) + ahead * (rise / length.max(f32::MIN_POSITIVE));
        let middle = places.get(self.intervals / 2).and_then(|place| place.as_ref());
        // Contact whose ground data the mean contact has.
        let like = middle.or_else(|| places.iter().flatten().next())?;
        Some(Contact {
            distance,
            normal: (up - slope).normalize_or(up),
            grip: grip / found,
            point: points.map(|sum| sum / found),
            ground: like.ground,
        })
    }
}

impl Probe {
    /// Returns the probe displaced by the vector `by`, world axes, m. A rim's displacement since the start of the step grows by `by`, and the one
    /// until its end shrinks by it.
    fn displaced(&self, by: Vec3) -> Self {
        let rim = self.rim.map(|rim| crate::port::Rim {
            probe_displacement: rim.probe_displacement + by,
            free_displacement: rim.free_displacement - by,
            ..rim
        });
        Self { offset: self.offset + by, rim, ..*self }
    }
}
