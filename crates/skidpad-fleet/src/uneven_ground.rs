//! Wheel contacts on ground that is not only a hard and even plane, car by car.

use skidpad_core::block::{
    BlockCars, BlockLanes, BlockModel, BlockStepper, MeanContactProbes, ProbeContacts, ProbeTextures,
};
use skidpad_core::ground::scene::FLUSH_TOLERANCE_M;
use skidpad_core::simd::vectors::Vec3Lanes;
use skidpad_core::{CandidateTriangle, ChassisState, Contact, DVec3, Model, Probe, Vec3};
use skidpad_world::Ground;

use crate::block::Block;
use crate::terrain_rays::{TerrainHits, TerrainRays};

/// Factor on the reach of a car that allows for rounding.
const ROUNDING_FACTOR: f32 = 1.001;

/// Probe whose fields are written before each use.
const EMPTY_PROBE: Probe =
    Probe { car: 0, position: DVec3::ZERO, offset: Vec3::ZERO, direction: Vec3::NEG_Z, length: 0.0, rim: None };

/// Maximum number of probes of a wheel along its displacement in a step.
const MAX_PATH_PROBES: usize = 9;

/// Workspace for wheel contacts of the cars of a block with boxes, terrain and textures.
#[derive(Clone, Debug)]
pub struct UnevenGround<W: BlockLanes> {
    /// Rays and contacts of each wheel, one lane per car.
    wheels: Box<[WheelNumbers<W>]>,
    /// Direction of the rays, world axes.
    down: [W::Array<f32>; 3],
    /// Rays of the wheels of a car.
    probes: Box<[Probe]>,
    /// Contacts of these rays.
    contacts: Box<[Option<Contact>]>,
    /// Rays along the displacements of the wheels of a car.
    path_probes: Vec<Probe>,
    /// Contacts of these rays.
    path_contacts: Vec<Option<Contact>>,
    /// Workspace for rays on terrain in lanes.
    terrain_rays: TerrainRays<W>,
    /// Buffer for the triangle that a ray hits.
    candidates: Vec<CandidateTriangle>,
}

/// Rays of one wheel of each car, and their contacts, as arrays with one number per car. Numbers of cars without a
/// contact are 0.
#[derive(Clone, Copy, Debug)]
struct WheelNumbers<W: BlockLanes> {
    /// Start of the rays relative to the centre of mass in the middle of the step, world axes, m.
    start: [W::Array<f32>; 3],
    /// Length of the rays, m.
    length: W::Array<f32>,
    /// Bits of the cars with a contact.
    hit: u32,
    /// Unit normal of the ground, world axes.
    normal: [W::Array<f32>; 3],
    /// Distance from the start of the ray, m.
    distance: W::Array<f32>,
    /// Friction factor of the surface, –.
    grip: W::Array<f32>,
    /// Bits of the cars whose ground has a texture.
    has_texture: u32,
    /// Addition to the coefficient of rolling resistance, –.
    rolling_resistance: W::Array<f32>,
}

impl<W: BlockLanes> WheelNumbers<W> {
    /// Returns rays and contacts of zeros.
    fn new() -> Self {
        let zeros = W::default().to_array();
        Self {
            start: [zeros; 3],
            length: zeros,
            hit: 0,
            normal: [zeros; 3],
            distance: zeros,
            grip: zeros,
            has_texture: 0,
            rolling_resistance: zeros,
        }
    }

    /// Sets the contacts of all cars from lanes, and clears the textures.
    fn set_all(&mut self, contacts: &ProbeContacts<W>) {
        self.hit = W::mask_bits(contacts.hit);
        self.normal = to_arrays(contacts.normal);
        self.distance = contacts.distance.to_array();
        self.grip = contacts.grip.to_array();
        (self.has_texture, self.rolling_resistance) = (0, W::default().to_array());
    }

    /// Sets contact and texture of `car`. `None` is a miss: all its numbers become 0. Ground data count as a texture.
    fn set(&mut self, car: usize, contact: Option<&Contact>) {
        let ground = contact.and_then(|contact| contact.ground);
        let set_bit = |bits: &mut u32, value: bool| *bits = (*bits & !(1 << car)) | (u32::from(value) << car);
        set_bit(&mut self.hit, contact.is_some());
        set_bit(&mut self.has_texture, ground.is_some());
        let (normal, distance, grip) =
            contact.map_or((Vec3::ZERO, 0.0, 0.0), |contact| (contact.normal, contact.distance, contact.grip));
        for (numbers, number) in self.normal.iter_mut().zip(normal.to_array()) {
            numbers.as_mut()[car] = number;
        }
        self.distance.as_mut()[car] = distance;
        self.grip.as_mut()[car] = grip;
        self.rolling_resistance.as_mut()[car] = ground.map_or(0.0, |ground| ground.texture.rolling_resistance);
    }

    /// Returns the ray of `car` in the axes of the world. `position` is its centre of mass in the middle of the step
    /// (world, m). `down` is the unit direction of the ray.
    fn ray(&self, car: usize, position: DVec3, down: Vec3) -> Probe {
        let length = self.length.as_ref()[car];
        Probe { position, offset: vector_of(&self.start, car), direction: down, length, ..EMPTY_PROBE }
    }

    /// Returns the contacts of all cars in lanes.
    fn contacts(&self) -> ProbeContacts<W> {
        let [x, y, z] = [W::from_array(self.normal[0]), W::from_array(self.normal[1]), W::from_array(self.normal[2])];
        ProbeContacts {
            hit: W::mask_from_bits(self.hit),
            normal: Vec3Lanes::new(x, y, z),
            distance: W::from_array(self.distance),
            grip: W::from_array(self.grip),
        }
    }

    /// Returns the textures of all cars in lanes.
    fn textures(&self) -> ProbeTextures<W> {
        ProbeTextures {
            has_texture: W::mask_from_bits(self.has_texture),
            rolling_resistance: W::from_array(self.rolling_resistance),
        }
    }
}

impl<W: BlockLanes> UnevenGround<W> {
    /// Creates the workspace for cars with `wheel_count` wheels. All buffers have their largest size, so that no step
    /// allocates.
    pub fn new(wheel_count: usize) -> Self {
        let path_capacity = wheel_count * MAX_PATH_PROBES;
        Self {
            wheels: vec![WheelNumbers::new(); wheel_count].into(),
            down: [W::default().to_array(); 3],
            probes: vec![EMPTY_PROBE; wheel_count].into(),
            contacts: vec![None; wheel_count].into(),
            path_probes: Vec::with_capacity(path_capacity),
            path_contacts: Vec::with_capacity(path_capacity),
            terrain_rays: TerrainRays::new(),
            // A ray keeps one triangle.
            candidates: Vec::with_capacity(1),
        }
    }

    /// Stores the rays of all wheels of the cars with these `constants` in this step: their direction, starts and
    /// lengths.
    #[inline(always)]
    pub fn read_rays(&mut self, stepper: &BlockStepper<W>, constants: &BlockModel<W>) {
        self.down = to_arrays(stepper.down());
        for (wheel, lanes) in self.wheels.iter_mut().enumerate() {
            let rays = stepper.rays(constants, wheel);
            (lanes.start, lanes.length) = (to_arrays(rays.start), rays.length.to_array());
        }
    }

    /// Returns the bits of the cars of which a wheel may touch a box of `ground` in the step of `dt` s; 0 without
    /// boxes. `middle` is the position in the middle of the step (world, m). Call [`UnevenGround::read_rays`] before. A
    /// car is near if a box lies within the reach of its rays plus their displacement in the step, so that cars without
    /// a contact may be included.
    pub fn cars_near_boxes(&self, block: &Block<W>, ground: &Ground, middle: &[W::Array<f64>; 3], dt: f32) -> u32 {
        let mut near = 0;
        if !ground.has_boxes() {
            return near;
        }
        for car in 0..W::LANE_COUNT {
            let number = |lanes: W| lanes.number(car);
            // Farthest point of a ray from the centre of mass, m.
            let ray_reach = self.wheels.iter().fold(0.0, |reach: f32, lanes| {
                reach.max(vector_of(&lanes.start, car).length() + lanes.length.as_ref()[car])
            });
            let state = &block.state;
            let length =
                |vector: &Vec3Lanes<W>| Vec3::new(number(vector.x), number(vector.y), number(vector.z)).length();
            // Largest displacement of a ray in the step, m.
            let displacement = dt * (length(&state.velocity) + length(&state.angular_velocity) * ray_reach);
            let is_near = ground.has_box_near(position(middle, car), ROUNDING_FACTOR * (ray_reach + displacement));
            near |= u32::from(is_near) << car;
        }
        near
    }

    /// Sets contacts and textures of all cars in `stepper`, as a world of these cars finds them in a step of `dt` s.
    /// Cars in the bits `cars` get their contacts with all of `ground`. `stepper` must have the contacts with the plane
    /// before; all other cars keep these. Cars in the bits `boxes` are near boxes. `middle` is the position in the
    /// middle of the step (world, m). Call [`UnevenGround::read_rays`] before.
    ///
    /// On terrain without textures, cars that are neither fast nor near boxes are computed in lanes. Fast cars are
    /// those of which a wheel moves by more than its radius in the step. All other cars, and those that lanes cannot
    /// answer, are computed one by one.
    #[inline(always)]
    pub fn locate_contacts(
        &mut self,
        stepper: &mut BlockStepper<W>,
        block: &Block<W>,
        mut block_cars: BlockCars<'_, W>,
        ground: &Ground,
        middle: &[W::Array<f64>; 3],
        [cars, boxes]: [u32; 2],
        dt: f32,
    ) {
        let fast_cars = if ground.is_plane_only() { 0 } else { stepper.fast_cars(block_cars.constants) };
        let lane_cars = if ground.has_terrain() && !ground.is_textured() { cars & !fast_cars & !boxes } else { 0 };
        // Bits of the cars that are computed one by one.
        let mut alone = cars & !lane_cars;
        let down = stepper.down();
        for (wheel, lanes) in self.wheels.iter_mut().enumerate() {
            let mut contacts = *stepper.probe_contacts(wheel);
            if lane_cars != 0 {
                let ray = |car| lanes.ray(car, position(middle, car), vector_of(&self.down, car));
                let hits = self.terrain_rays.cast(ground, lane_cars, ray, down, W::from_array(lanes.length));
                alone |= hits.unanswered;
                contacts = nearer_contacts(&contacts, &hits);
            }
            lanes.set_all(&contacts);
        }
        for car in (0..W::LANE_COUNT).filter(|car| alone & (1 << car) != 0) {
            // Only fast cars have a body: their contacts are means along the displacement.
            let fast_body = (fast_cars & (1 << car) != 0).then(|| (body_of(block, car), &**block_cars.model(car)));
            self.locate_car(ground, position(middle, car), fast_body, car, dt);
        }
        for (wheel, lanes) in self.wheels.iter().enumerate() {
            stepper.set_contacts(wheel, lanes.contacts());
        }
        if ground.is_textured() {
            stepper.set_textures(self.wheels.iter().map(WheelNumbers::textures));
        }
    }

    /// Finds the contacts of the wheels of `car` with `ground` and stores them. `middle` is its centre of mass in the
    /// middle of the step of `dt` s (world, m). `fast_body` has body and model of a fast car, and is `None` for others.
    /// If uneven ground is near the path of a fast car, its contacts are means over several rays along the displacement
    /// of each wheel; otherwise one ray in the middle of the step counts.
    #[inline(never)]
    fn locate_car(
        &mut self,
        ground: &Ground,
        middle: DVec3,
        fast_body: Option<(ChassisState, &Model)>,
        car: usize,
        dt: f32,
    ) {
        let down = vector_of(&self.down, car);
        for (probe, lanes) in self.probes.iter_mut().zip(&self.wheels) {
            *probe = lanes.ray(car, middle, down);
        }
        ground.answer_rays(&self.probes, &mut self.contacts, &mut self.candidates);
        if let Some((body, model)) = fast_body
            && let Some(path) = MeanContactProbes::for_step(model, &body, dt)
        {
            path.write_probes(&body, &self.probes, &mut self.path_probes);
            if self.path_probes.iter().any(|probe| ground.is_uneven_near(probe)) {
                self.path_contacts.clear();
                self.path_contacts.resize(self.path_probes.len(), None);
                ground.answer_rays(&self.path_probes, &mut self.path_contacts, &mut self.candidates);
                path.average_contacts(model, &body, &self.probes, &self.path_contacts, &mut self.contacts);
            }
        }
        for (lanes, contact) in self.wheels.iter_mut().zip(&self.contacts) {
            lanes.set(car, contact.as_ref());
        }
    }
}

/// Returns the body of `car` at the start of a step with its position and velocities. All other fields are those of
/// [`ChassisState::AT_ORIGIN`].
fn body_of<W: BlockLanes>(block: &Block<W>, car: usize) -> ChassisState {
    let number = |lanes: W| lanes.number(car);
    let vector = |lanes: &Vec3Lanes<W>| Vec3::new(number(lanes.x), number(lanes.y), number(lanes.z));
    let state = &block.state;
    ChassisState {
        position: position(&state.position, car),
        velocity: vector(&state.velocity),
        angular_velocity: vector(&state.angular_velocity),
        ..ChassisState::AT_ORIGIN
    }
}

/// Returns the nearer of two contacts of each ray: that with the `plane`, or that with `terrain`; the plane counts at
/// equal distances. If terrain is at the distance of the plane or behind it by at most [`FLUSH_TOLERANCE_M`], distance
/// and normal are those of the plane, and the grip is that of the terrain.
#[inline(always)]
fn nearer_contacts<W: BlockLanes>(plane: &ProbeContacts<W>, terrain: &TerrainHits<W>) -> ProbeContacts<W> {
    let is_nearer = terrain.hit & (!plane.hit | terrain.distance.less(plane.distance));
    let is_flush = terrain.hit & !(plane.distance + W::splat(FLUSH_TOLERANCE_M)).less(terrain.distance);
    ProbeContacts {
        hit: plane.hit | terrain.hit,
        normal: Vec3Lanes::select(is_nearer, terrain.normal, plane.normal),
        distance: W::select(is_nearer, terrain.distance, plane.distance),
        grip: W::select(is_nearer | is_flush, terrain.grip, plane.grip),
    }
}

/// Returns the vector of `car`.
fn vector_of<A: AsRef<[f32]>>([x, y, z]: &[A; 3], car: usize) -> Vec3 {
    Vec3::new(x.as_ref()[car], y.as_ref()[car], z.as_ref()[car])
}

/// Returns the components of vectors as arrays of the cars.
#[inline(always)]
fn to_arrays<W: BlockLanes>(vector: Vec3Lanes<W>) -> [W::Array<f32>; 3] {
    [vector.x.to_array(), vector.y.to_array(), vector.z.to_array()]
}

/// Returns the position of `car`.
pub fn position<A: AsRef<[f64]>>([x, y, z]: &[A; 3], car: usize) -> DVec3 {
    DVec3::new(x.as_ref()[car], y.as_ref()[car], z.as_ref()[car])
}
