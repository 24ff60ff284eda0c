//! Ground of a scene: plane, boxes, platforms and terrain, queried by rays, rims and hulls.

use crate::body_lanes::{BodyLanes, pack_four_of};
use crate::terrain::{COORDINATE_ROUNDING_RATIO, Terrain};
use parry3d::query::{Ray, RayCast};
use parry3d::shape::Cuboid;
use skidpad_core::simd::instruction_set::dispatch_simd;
use skidpad_core::simd::lane::{F32x4, Lane};
use skidpad_core::simd::vectors::Vec3Lanes;
use skidpad_core::{
    CandidateTriangle, Contact, DVec3, FixedBox, Ground as GroundData, HullPoint, Platform, PlatformMotion, Probe,
    Quat, Scene, SurfaceTexture, Vec3, ground::scene::FLUSH_TOLERANCE_M,
};

/// Plane, boxes, height fields, meshes and platforms of a scene.
#[derive(Clone, Debug)]
pub struct Ground {
    /// Whether there is a plane.
    pub(crate) has_plane: bool,
    /// Normal of the plane, unit vector.
    pub(crate) normal: Vec3,
    /// Factor on the friction of tyres on the plane.
    pub(crate) grip: f32,
    /// Texture of the plane: unevenness and rolling resistance.
    pub(crate) texture: SurfaceTexture,
    /// Whether any surface has a texture.
    is_textured: bool,
    /// Fixed boxes, then the platforms.
    pub(crate) blocks: Vec<Block>,
    /// Platforms, in the order of their boxes at the end of `blocks`.
    platforms: Vec<Platform>,
    /// Height fields and meshes.
    pub(crate) terrain: Terrain,
    /// Acceleration of gravity along −z of the world, m/s².
    gravity: f32,
    /// Velocity of the air, world axes, m/s.
    wind: Vec3,
    /// Length of the current step, s.
    dt: f32,
}

/// Box of the scene, with the derived values that queries need.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Centre of the box, world axes, m.
    pub centre: DVec3,
    /// Rotation from box axes to world axes.
    pub to_world: Quat,
    /// Rotation from world axes to box axes.
    pub from_world: Quat,
    /// Half extents of the box, in its own axes, m.
    pub shape: Cuboid,
    /// Distance from the centre to a corner, m.
    pub radius: f32,
    /// Factor on the friction of tyres and hulls on the box.
    pub grip: f32,
    /// Texture of the box: unevenness and rolling resistance.
    pub texture: SurfaceTexture,
    /// Motion in the current step; `None` for a box that does not move.
    pub motion: Option<PlatformMotion>,
}

/// Smallest sine of the angle between a ray and the plane at which the ray hits the plane.
const MIN_PLANE_HIT_SINE: f32 = 1e-3;

/// Smallest positive f32, a lower bound of the difference of two unequal numbers.
const MIN_POSITIVE_F32: f32 = f32::from_bits(1);

/// Hit of a ray on the ground, with 64-bit numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Distance from the start of the ray, m, ≥ 0.
    pub distance: f64,
    /// Unit normal of the face, towards the start of the ray.
    pub normal: DVec3,
    /// Factor on the friction of a tyre, ≥ 0.
    pub grip: f32,
}

impl Block {
    /// Creates the block of a box of the scene, without motion, with the inverse rotation and the radius (half the
    /// diagonal) that queries need.
    fn new(fixed_box: &FixedBox) -> Self {
        Self {
            centre: fixed_box.centre,
            to_world: fixed_box.rotation,
            from_world: fixed_box.rotation.inverse(),
            shape: Cuboid::new(fixed_box.half_extents),
            radius: fixed_box.half_extents.length(),
            grip: fixed_box.grip,
            texture: fixed_box.texture,
            motion: None,
        }
    }

    /// Moves the block to the pose at the start of `motion`, and stores `motion` for the step.
    fn set_motion(&mut self, motion: PlatformMotion) {
        (self.centre, self.to_world, self.from_world) = (motion.centre, motion.rotation, motion.rotation.inverse());
        self.motion = Some(motion);
    }

    /// Returns the mean velocity over the step of the block's point at `point` (world, m), m/s, world axes; zero for a
    /// block without motion.
    pub fn velocity_at(&self, point: DVec3) -> Vec3 {
        self.motion.map_or(Vec3::ZERO, |motion| motion.velocity_at(point))
    }

    /// Returns the ground data for a wheel of `probe` that touches this block at `arm` m from the centre of mass of its
    /// car. `block_index` is the index of the block, `dt` the step in s. A moving block has its velocity under the
    /// wheel, at the start and the end of the step alike, the block index as body number, and its texture without
    /// unevenness. A block without motion has only its texture, unevenness included. Returns `None` for a block without
    /// motion and texture.
    fn ground_data(&self, block_index: usize, probe: &Probe, arm: Vec3, dt: f32) -> Option<GroundData> {
        let Some(motion) = self.motion else { return self.texture.apply_to_ground(None) };
        let velocity = motion.velocity_under_wheel(probe.position, arm, dt);
        // Moving surfaces have no unevenness.
        let texture = SurfaceTexture { amplitude: 0.0, ..self.texture };
        Some(GroundData { body: block_index as u64, start_velocity: velocity, velocity, texture })
    }

    /// Returns the distance (m) to the face through which a ray enters the box, and the outward unit normal of that
    /// face, both in the axes of the box. `start` is relative to the centre and `direction` a unit vector, both in
    /// world axes; `reach` in m. First checks the bounding sphere of the box. A ray that misses is repeated with the
    /// box enlarged by the rounding error. Returns `None` for a miss, a face beyond `reach`, or a ray that starts
    /// inside.
    pub(crate) fn entry_face(&self, start: Vec3, direction: Vec3, reach: f32) -> Option<(f32, Vec3)> {
        if start.length_squared() > (self.radius + reach) * (self.radius + reach) {
            return None;
        }
        let (start, direction) = (self.from_world * start, self.from_world * direction);
        // `true`: the box is solid, so that a ray from inside has a zero normal.
        let cast_ray = |shape: &Cuboid| shape.cast_local_ray_and_get_normal(&Ray::new(start, direction), reach, true);
        // The sides are enlarged by the rounding error, so that no ray passes between two rotated boxes that abut.
        let enlarged_box =
            || Cuboid::new(self.shape.half_extents + COORDINATE_ROUNDING_RATIO * (self.radius + start.length()));
        let hit = cast_ray(&self.shape).or_else(|| cast_ray(&enlarged_box()))?;
        // A zero normal: the ray starts inside.
        (hit.normal != Vec3::ZERO).then_some((hit.time_of_impact, hit.normal))
    }

    /// Returns the distance (m) to the face through which a ray enters the box, with 64 bits, and its outward unit
    /// normal in world axes. Arguments are those of [`Block::entry_face`], which finds the face with 32 bits; its
    /// distance is recomputed from the plane of the face in 64 bits. Returns `None` for a miss, and if that distance is
    /// NaN, negative or above `reach`.
    fn entry_face_f64(&self, start: DVec3, direction: DVec3, reach: f64) -> Option<(f64, DVec3)> {
        let (_, normal) = self.entry_face(start.as_vec3(), direction.as_vec3(), reach as f32)?;
        let rotation = self.to_world.as_dquat().normalize();
        let outward = rotation * normal.as_dvec3();
        // Distance of the face from the centre, m: half extent along the normal, which is a box axis.
        let face_distance = (normal * self.shape.half_extents).abs().element_sum();
        let distance = (f64::from(face_distance) - start.dot(outward)) / direction.dot(outward);
        (0.0..=reach).contains(&distance).then_some((distance, outward))
    }
}

impl Ground {
    /// Creates the ground of `scene`: blocks of the fixed boxes, then of the platforms at their poses for time 0, and
    /// the terrain. Platforms have no motion until [`Ground::move_platforms`]. Also finds out whether any surface has a
    /// texture. The step length is 0 until then.
    pub fn new(scene: &Scene) -> Self {
        let platforms = scene.platforms.iter().map(|platform| platform.box_at(0.0));
        let blocks: Vec<Block> =
            scene.boxes.iter().copied().chain(platforms).map(|fixed_box| Block::new(&fixed_box)).collect();
        let terrain = Terrain::new(scene);
        let is_textured = !scene.texture.is_hard_and_even()
            || blocks.iter().any(|block| !block.texture.is_hard_and_even())
            || terrain.is_textured();
        Self {
            has_plane: scene.has_plane,
            normal: scene.plane_normal(),
            grip: scene.grip,
            texture: scene.texture,
            is_textured,
            blocks,
            platforms: scene.platforms.clone(),
            dt: 0.0,
            terrain,
            gravity: scene.gravity,
            wind: scene.wind,
        }
    }

    /// Returns the acceleration of gravity along −z of the world, m/s².
    pub fn gravity(&self) -> f32 {
        self.gravity
    }

    /// Returns the velocity of the air, m/s.
    pub fn wind(&self) -> Vec3 {
        self.wind
    }

    /// Sets the velocity of the air, world axes, m/s.
    pub fn set_wind(&mut self, velocity: Vec3) {
        self.wind = velocity;
    }

    /// Returns whether there are platforms.
    pub(crate) fn has_platforms(&self) -> bool {
        !self.platforms.is_empty()
    }

    /// Moves the boxes of all platforms to their poses at `time` s and sets their motion over the step of `dt` s that
    /// begins then. Also stores `dt` for the ground data of contacts.
    pub fn move_platforms(&mut self, time: f64, dt: f32) {
        self.dt = dt;
        let fixed_box_count = self.blocks.len() - self.platforms.len();
        for (platform, block) in self.platforms.iter().zip(&mut self.blocks[fixed_box_count..]) {
            block.set_motion(platform.motion(time, dt));
        }
    }

    /// Returns the ground data of block `block_index` for a wheel of `probe` with the contact `contact`; `None` for a
    /// block without motion and texture, or an index out of range.
    pub(crate) fn block_ground_data(&self, block_index: usize, probe: &Probe, contact: &Contact) -> Option<GroundData> {
        let arm = contact.point.unwrap_or(probe.offset + probe.direction * contact.distance);
        self.blocks.get(block_index)?.ground_data(block_index, probe, arm, self.dt)
    }

    /// Returns the unit normal of the plane, world axes; `None` without a plane.
    pub fn plane_normal(&self) -> Option<Vec3> {
        self.has_plane.then_some(self.normal)
    }

    /// Returns the factor of the plane on the friction of tyres.
    pub fn plane_grip(&self) -> f32 {
        self.grip
    }

    /// Returns true if there is nothing but, at most, the plane.
    pub fn is_plane_only(&self) -> bool {
        self.blocks.is_empty() && self.terrain.is_empty()
    }

    /// Returns true if there are no platforms and no surface has a texture, so that contacts need no ground data.
    /// Wheels on hulls are not considered.
    pub(crate) fn is_static_and_smooth(&self) -> bool {
        self.platforms.is_empty() && !self.is_textured
    }

    /// Changes every contact in `contacts` by the unevenness of its texture at the place of the probe. Does nothing if
    /// no surface has a texture.
    fn apply_textures(&self, probes: &[Probe], contacts: &mut [Option<Contact>]) {
        for (probe, nearest) in probes.iter().zip(contacts).filter(|_| self.is_textured) {
            *nearest = nearest.map(|contact| contact.with_unevenness(probe));
        }
    }

    /// Returns the first hit of a ray from `start` (world, m) along the unit vector `direction`, up to `reach` m away;
    /// `None` for a miss. Checks the plane, then boxes and platforms, then the terrain. A surface nearer than the hit
    /// so far replaces the hit. A surface at the same distance, or up to [`FLUSH_TOLERANCE_M`] behind it, is flush with
    /// the hit and replaces only its grip. Surfaces farther behind have no effect.
    ///
    /// The plane stops rays from both sides. Faces of boxes stop rays from outside. Distances on the terrain have 32
    /// bits. Hulls of cars and unevenness are not included.
    pub fn cast(&self, start: DVec3, direction: DVec3, reach: f64) -> Option<Hit> {
        let mut nearest = if self.has_plane { self.cast_on_plane(start, direction, reach) } else { None };
        for block in &self.blocks {
            // Flush faces count, too.
            let max_distance = nearest.map_or(reach, |hit| hit.distance + f64::from(FLUSH_TOLERANCE_M));
            if let Some((distance, normal)) = block.entry_face_f64(start - block.centre, direction, max_distance) {
                let hit = Hit { distance, normal, grip: block.grip };
                nearest = Some(match nearest {
                    Some(nearer) if nearer.distance <= distance => Hit { grip: block.grip, ..nearer },
                    _ => hit,
                });
            }
        }
        if self.terrain.is_empty() {
            return nearest;
        }
        let max_distance = nearest.map_or(reach, |hit| hit.distance + f64::from(FLUSH_TOLERANCE_M));
        let Some(Contact { distance, normal, grip, .. }) = self.terrain.cast(start, direction, max_distance) else {
            return nearest;
        };
        let hit = Hit { distance: f64::from(distance), normal: normal.as_dvec3(), grip };
        Some(match nearest {
            Some(nearer) if nearer.distance <= hit.distance => Hit { grip, ..nearer },
            _ => hit,
        })
    }

    /// Returns the hit of a ray on the plane, from either side, with the grip of the plane. The normal leads towards
    /// the start of the ray; for a ray that starts in the plane, it is the plane's own. Returns `None` for a hit beyond
    /// `reach` m or behind the start, and for a ray in the plane. Arguments are those of [`Ground::cast`].
    fn cast_on_plane(&self, start: DVec3, direction: DVec3, reach: f64) -> Option<Hit> {
        let normal = self.normal.as_dvec3().normalize();
        // Height above the plane, m, and cosine between the ray and the direction into the plane.
        let (height, cosine) = (start.dot(normal), -direction.dot(normal));
        let distance = height / cosine;
        let facing_normal = if height < 0.0 { -normal } else { normal };
        (0.0..=reach).contains(&distance).then_some(Hit { distance, normal: facing_normal, grip: self.grip })
    }

    /// Returns whether the ground near `probe` may be anything but the plane: there is terrain anywhere, or the
    /// bounding sphere of a box reaches the probe.
    pub fn is_uneven_near(&self, probe: &Probe) -> bool {
        let start = probe.position + probe.offset.as_dvec3();
        !self.terrain.is_empty() || self.blocks.iter().any(|block| block.is_near(start, probe))
    }

    /// Returns whether there are height fields or meshes.
    pub fn has_terrain(&self) -> bool {
        !self.terrain.is_empty()
    }

    /// Returns whether there are boxes or platforms.
    pub fn has_boxes(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// Returns whether any surface has a texture.
    pub fn is_textured(&self) -> bool {
        self.is_textured
    }

    /// Returns whether the plane exists and has a texture.
    pub fn is_plane_textured(&self) -> bool {
        self.has_plane && !self.texture.is_hard_and_even()
    }

    /// Returns whether the bounding sphere of any box is at most `distance` m from `position` (world, m).
    pub fn has_box_near(&self, position: DVec3, distance: f32) -> bool {
        self.blocks.iter().any(|block| {
            let reach = block.radius + distance;
            (position - block.centre).as_vec3().length_squared() <= reach * reach
        })
    }

    /// Answers the rays of wheels within a step on plane, boxes and terrain into `contacts`, in order, with textures; a
    /// miss is `None`. The results are those of a world without other hulls. `candidates` is a buffer.
    pub fn answer_rays(
        &self,
        rays: &[Probe],
        contacts: &mut [Option<Contact>],
        candidates: &mut Vec<CandidateTriangle>,
    ) {
        // No rims, therefore no contact points that stop them.
        self.answer_probes(rays, contacts, false, candidates, &mut Vec::new());
    }

    /// Answers every probe (ray or rim disc of a wheel) with its contact on plane, boxes and terrain, in order; a miss
    /// is `None`. Queries the plane, then boxes, then triangles for rims and terrain, and applies the unevenness of
    /// textures last. Hulls of cars and free bodies are not included.
    ///
    /// `has_rims`: whether any probe has a rim. If so, or if there is terrain, `rim_contacts` is replaced by the
    /// contact points with walls that stop rims, each with the index of its car; otherwise it is not touched. Ground
    /// data are set only if the ground has platforms or textures. `candidates` is a buffer.
    pub(crate) fn answer_probes(
        &self,
        probes: &[Probe],
        contacts: &mut [Option<Contact>],
        has_rims: bool,
        candidates: &mut Vec<CandidateTriangle>,
        rim_contacts: &mut Vec<(usize, HullPoint)>,
    ) {
        let has_no_ground_data = self.is_static_and_smooth();
        self.probe_plane(probes, contacts);
        if !has_no_ground_data {
            self.set_plane_texture(contacts);
        }
        if !self.blocks.is_empty() {
            self.probe_blocks(probes, contacts);
        }
        if has_rims || !self.terrain.is_empty() {
            self.probe_triangles(probes, contacts, candidates, rim_contacts);
        }
        if !has_no_ground_data {
            self.apply_textures(probes, contacts);
        }
    }

    /// Answers every probe from the plane alone, with the normal and grip of the plane and without ground data; a miss
    /// is `None`. Rims are treated as rays.
    pub(crate) fn probe_plane(&self, probes: &[Probe], contacts: &mut [Option<Contact>]) {
        dispatch_simd(
            #[inline(always)]
            || self.probe_plane_simd(probes, contacts),
        );
    }

    /// Computes [`Ground::probe_plane`] for four probes at once, then for the remaining ones. The height of a body is
    /// computed once for consecutive probes of a car. Without a plane, all contacts become `None`. Otherwise contacts
    /// beyond the number of probes stay unchanged.
    #[inline(always)]
    fn probe_plane_simd(&self, probes: &[Probe], contacts: &mut [Option<Contact>]) {
        if !self.has_plane {
            contacts.fill(None);
            return;
        }
        let normal = self.normal.as_dvec3();
        // Car of the last probe and the height of its centre of mass above the plane, m.
        let mut last_car_height = (usize::MAX, 0.0f32);
        // The origin lies on the plane. The height of the body is one 64-bit product; all other terms are relative to
        // it.
        let mut body_height = |probe: &Probe| {
            if probe.car != last_car_height.0 {
                last_car_height = (probe.car, probe.position.dot(normal) as f32);
            }
            last_car_height.1
        };
        let count = probes.len().min(contacts.len());
        let (quads, remainder) = probes[..count].as_chunks::<4>();
        let (contact_quads, contact_remainder) = contacts[..count].as_chunks_mut::<4>();
        for (quad, quad_contacts) in quads.iter().zip(contact_quads) {
            let [a, b, c, d] = quad;
            let heights = [body_height(a), body_height(b), body_height(c), body_height(d)];
            self.probe_plane_lanes::<F32x4, 4>([a, b, c, d], heights, quad_contacts);
        }
        for (probe, contact) in remainder.iter().zip(contact_remainder) {
            self.probe_plane_lanes::<f32, 1>([probe], [body_height(probe)], core::array::from_mut(contact));
        }
    }

    /// Returns the distances (m) at which rays hit the plane, and whether they do. A ray starts at `start` (world axes,
    /// m) from the centre of mass of its body, which is at `height` above the plane (m), and has the unit vector
    /// `direction` and the length `reach` (m). The distance is (height of the start) / (cosine to the direction into
    /// the plane). A hit needs a sine above `MIN_PLANE_HIT_SINE` between ray and plane, a ray that points into the
    /// plane, and a distance of at most `reach`; negative distances (a start below the plane) count. NaN is no hit.
    #[inline(always)]
    pub fn plane_distance<L: Lane>(
        &self,
        height: L,
        start: Vec3Lanes<L>,
        direction: Vec3Lanes<L>,
        reach: L,
    ) -> (L, L::Mask) {
        let normal = Vec3Lanes::<L>::splat(self.normal);
        let cosine = -direction.dot(normal);
        let distance = (height + start.dot(normal)) / cosine;
        // Means `distance <= reach`, and false for NaN: lanes have no "at most", and unequal numbers differ by at least
        // that constant.
        let is_within_reach = (distance - reach).less(L::splat(MIN_POSITIVE_F32));
        (distance, L::splat(MIN_PLANE_HIT_SINE).less(cosine) & is_within_reach)
    }

    /// Computes the contacts of the plane with the rays of `probes`, one per lane; `None` for a miss, as in
    /// [`Ground::plane_distance`]. `heights` are the heights of the centres of mass of their bodies above the plane, m.
    /// Contacts have the normal and grip of the plane and no ground data.
    #[inline(always)]
    fn probe_plane_lanes<L: BodyLanes<N>, const N: usize>(
        &self,
        probes: [&Probe; N],
        heights: [f32; N],
        contacts: &mut [Option<Contact>; N],
    ) {
        let normal = Vec3Lanes::<L>::splat(self.normal);
        let [x, y, z, reach] =
            pack_four_of(probes, |probe| [probe.offset.x, probe.offset.y, probe.offset.z, probe.length]);
        // The fourth number is unused.
        let [direction_x, direction_y, direction_z, _] =
            pack_four_of::<L, N, _>(probes, |probe| [probe.direction.x, probe.direction.y, probe.direction.z, 0.0]);
        let direction = Vec3Lanes::new(direction_x, direction_y, direction_z);
        let (distance, is_hit) = self.plane_distance(L::pack_one(heights), Vec3Lanes::new(x, y, z), direction, reach);
        let is_hit = L::unpack_mask(is_hit);
        let contact_values = L::unpack_four([distance, normal.x, normal.y, normal.z]);
        for (lane, contact) in contacts.iter_mut().enumerate() {
            let [distance, x, y, z] = contact_values[lane];
            let (normal, grip) = (Vec3::new(x, y, z), self.grip);
            *contact = is_hit[lane].then_some(Contact { distance, normal, grip, point: None, ground: None });
        }
    }

    /// Sets the texture of the plane as the ground data of all contacts in `contacts`. Does nothing if no surface has a
    /// texture.
    fn set_plane_texture(&self, contacts: &mut [Option<Contact>]) {
        for contact in contacts.iter_mut().flatten().filter(|_| self.is_textured) {
            contact.ground = self.texture.apply_to_ground(None);
        }
    }

    /// Replaces contacts by those of boxes and platforms that are nearer. Rims are treated as rays. A box at the
    /// distance of the contact so far, or up to [`FLUSH_TOLERANCE_M`] behind it, replaces only grip and ground data of
    /// the contact. New contacts have the normal of the entry face in world axes and the ground data of the block
    /// ([`Block::ground_data`]).
    pub(crate) fn probe_blocks(&self, probes: &[Probe], contacts: &mut [Option<Contact>]) {
        for (probe, nearest) in probes.iter().zip(contacts) {
            for (block_index, block) in self.blocks.iter().enumerate() {
                let reach = nearest.map_or(probe.length, |contact| contact.distance + FLUSH_TOLERANCE_M);
                // Start of the ray relative to the centre of the block, m.
                let start = (probe.position - block.centre).as_vec3() + probe.offset;
                if let Some((distance, normal)) = block.entry_face(start, probe.direction, reach) {
                    let arm = probe.offset + probe.direction * distance;
                    let block_contact = Contact {
                        distance,
                        normal: block.to_world * normal,
                        grip: block.grip,
                        point: None,
                        ground: block.ground_data(block_index, probe, arm, self.dt),
                    };
                    *nearest = Some(match *nearest {
                        Some(nearer) if nearer.distance <= distance => {
                            Contact { grip: block.grip, ground: block_contact.ground, ..nearer }
                        }
                        _ => block_contact,
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skidpad_core::{WorldPort, math};

    use crate::World;

    /// Returns a flat scene with `boxes` and a plane of grip 0.8.
    fn scene_with(boxes: Vec<FixedBox>) -> Scene {
        Scene { boxes, grip: 0.8, ..Scene::flat() }
    }

    /// Returns a downward ray of car 0 from `position` (world, m), `reach` m long.
    fn down(position: DVec3, reach: f32) -> Probe {
        Probe { car: 0, position, offset: Vec3::ZERO, direction: Vec3::NEG_Z, length: reach, rim: None }
    }

    /// Returns the contact of `probe` in a new world of `scene`.
    fn ask(scene: Scene, probe: Probe) -> Option<Contact> {
        let mut answer = [None];
        World::new(scene).probe(&[probe], &mut answer);
        answer[0]
    }

    /// A ray above a box hits its top with the grip of the box. A ray beside the box, or above a box that is below the
    /// plane, hits the plane with its grip.
    #[test]
    fn the_nearer_of_plane_and_box_answers() {
        let step = FixedBox { grip: 0.3, ..FixedBox::axis_aligned(DVec3::ZERO, Vec3::new(4.0, 4.0, 0.5)) };
        let on = ask(scene_with(vec![step]), down(DVec3::new(1.0, 1.0, 1.0), 2.0)).expect("the box is below");
        assert_eq!((on.distance, on.normal, on.grip), (0.75, Vec3::Z, 0.3));
        let beside = ask(scene_with(vec![step]), down(DVec3::new(3.0, 1.0, 1.0), 2.0)).expect("the plane is below");
        assert_eq!((beside.distance, beside.grip), (1.0, 0.8));
        let sunk = FixedBox::axis_aligned(DVec3::new(0.0, 0.0, -1.0), Vec3::ONE);
        let above = ask(scene_with(vec![sunk]), down(DVec3::Z, 3.0)).expect("the plane covers the box");
        assert_eq!((above.distance, above.grip), (1.0, 0.8));
    }

    /// A ray that starts inside a box hits nothing within its length, neither as a probe nor with [`Ground::cast`].
    #[test]
    fn a_ray_from_inside_a_box_does_not_meet_it() {
        let block = FixedBox::axis_aligned(DVec3::new(0.0, 0.0, 1.0), Vec3::splat(2.0));
        let from_inside = ask(scene_with(vec![block]), down(DVec3::new(0.0, 0.0, 1.5), 1.0));
        assert_eq!(from_inside, None);
        let ground = Ground::new(&scene_with(vec![block]));
        assert_eq!(ground.cast(DVec3::new(0.0, 0.0, 1.5), DVec3::NEG_Z, 1.0), None);
    }

    /// A ray from above hits the top of a box with yaw and pitch at the right distance, with the normal of the tilted
    /// face.
    #[test]
    fn a_turned_box_has_turned_faces() {
        let tilt = 0.3f32;
        let ramp = FixedBox::axis_aligned(DVec3::ZERO, Vec3::new(10.0, 10.0, 2.0)).rotated(0.7, -tilt, 0.0);
        let met = ask(scene_with(vec![ramp]), down(DVec3::new(0.0, 0.0, 5.0), 9.0)).expect("above the ramp");
        let (sin, cos) = math::sin_cos(tilt);
        let (sin_yaw, cos_yaw) = math::sin_cos(0.7);
        // Nose up by the tilt: the normal leans back against the heading.
        let expected = Vec3::new(-sin * cos_yaw, -sin * sin_yaw, cos);
        assert!((met.normal - expected).length() < 1e-6, "{:?}", met.normal);
        assert!((met.distance - (5.0 - 1.0 / cos)).abs() < 1e-5, "{}", met.distance);
    }

    /// Boxes keep the precision of the body's 64-bit position: contacts are identical a thousand kilometres away. Probe
    /// and [`Ground::cast`] agree within 1 µm.
    #[test]
    fn boxes_are_as_precise_far_away_as_at_the_origin() {
        let at = |middle: DVec3| {
            let block = FixedBox::axis_aligned(middle, Vec3::new(30.0, 8.0, 1.3)).rotated(0.4, 0.02, 0.0);
            let start = middle + DVec3::new(3.0, 1.0, 1.2);
            let answer = ask(scene_with(vec![block]), down(start, 2.0)).expect("above the box");
            let hit = Ground::new(&scene_with(vec![block])).cast(start, DVec3::NEG_Z, 2.0).expect("above the box");
            // Half a unit in the last place of f32 at a few metres.
            assert!((hit.distance - f64::from(answer.distance)).abs() < 1e-6);
            answer.distance
        };
        assert_eq!(at(DVec3::new(1_048_576.0, -524_288.0, 3.0)), at(DVec3::new(0.0, 0.0, 3.0)));
    }

    /// [`Ground::cast`] hits the plane from above and from below, with the normal towards the start of the ray. A ray
    /// that leads away from the plane misses it.
    #[test]
    fn the_plane_stops_wide_rays_from_both_sides() {
        let ground = Ground::new(&Scene::flat());
        let above = ground.cast(DVec3::new(0.0, 0.0, 0.5), DVec3::NEG_Z, 1.0).expect("met");
        assert_eq!((above.distance, above.normal), (0.5, DVec3::Z));
        let below = ground.cast(DVec3::new(0.0, 0.0, -0.5), DVec3::Z, 1.0).expect("met");
        assert_eq!((below.distance, below.normal), (0.5, DVec3::NEG_Z));
        assert_eq!(ground.cast(DVec3::new(0.0, 0.0, -0.5), DVec3::NEG_Z, 1.0), None);
    }
}
