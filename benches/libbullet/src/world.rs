//! Safe wrapper of a libbullet world. The structs have the layout of those in `bullet_world.cpp`.
#![allow(unsafe_code, reason = "calls C++")]

use std::ptr::NonNull;

/// Parameters of a wheel; see `skidpad_peers::bullet::WheelTuning`.
#[repr(C)]
pub struct WheelTuning {
    pub hard_point: [f32; 3],
    pub direction: [f32; 3],
    pub axle: [f32; 3],
    pub rest_length: f32,
    pub radius: f32,
    pub stiffness: f32,
    pub damping_compression: f32,
    pub damping_relaxation: f32,
    pub travel: f32,
    pub max_force: f32,
    pub friction_slip: f32,
    pub roll_influence: f32,
}

/// Mass (kg) of a car, its moments of inertia about the axes of the chassis (kg m²), and the box of its hull (m).
#[repr(C)]
pub struct CarTuning {
    pub mass: f32,
    pub inertia: [f32; 3],
    pub hull_centre: [f32; 3],
    pub hull_half_extents: [f32; 3],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Motion {
    pub position: [f32; 3],
    pub rotation: [f32; 4],
    pub velocity: [f32; 3],
    pub angular_velocity: [f32; 3],
}

/// Inputs of a wheel: engine force (N), brake impulse per step (N s), steering angle (rad).
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct WheelInput {
    pub engine_force: f32,
    pub brake: f32,
    pub steering: f32,
}

/// State of a wheel: suspension length (m) and force (N), rotation in the last step (rad), contact flag.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Wheel {
    pub length: f32,
    pub force: f32,
    pub rotation_step: f32,
    pub contact: i32,
}

#[repr(C)]
struct RawWorld {
    opaque: [u8; 0],
}

unsafe extern "C" {
    fn libbullet_new(gravity: f32, normal: *const f32, statics_only: i32) -> NonNull<RawWorld>;
    fn libbullet_delete(world: NonNull<RawWorld>);
    fn libbullet_put(
        world: NonNull<RawWorld>,
        slot: usize,
        tuning: *const CarTuning,
        wheels: *const WheelTuning,
        count: usize,
        motion: *const Motion,
    );
    fn libbullet_place(world: NonNull<RawWorld>, car: usize, motion: *const Motion);
    fn libbullet_leave(world: NonNull<RawWorld>, car: usize);
    fn libbullet_drive(world: NonNull<RawWorld>, car: usize, inputs: *const WheelInput);
    fn libbullet_step(world: NonNull<RawWorld>, dt: f32);
    fn libbullet_read(world: NonNull<RawWorld>, car: usize, motion: *mut Motion, wheels: *mut Wheel);
}

/// World with cars on a plane through the origin.
pub struct World {
    raw: NonNull<RawWorld>,
    /// Number of wheels of each car, which is the length of the arrays that C++ reads and writes.
    wheels: Vec<usize>,
}

// SAFETY: this handle owns the C++ world, which has no thread-local data. Functions that modify it take `&mut self`,
// and functions that take `&self` only read it.
unsafe impl Send for World {}
// SAFETY: see the implementation of `Send`.
unsafe impl Sync for World {}

impl World {
    /// Creates an empty world. `gravity` is in m/s², `normal` is that of the plane. With `statics_only` the wheel rays
    /// ignore cars, including their own.
    pub fn new(gravity: f32, normal: [f32; 3], statics_only: bool) -> Self {
        // SAFETY: C++ reads three floats.
        let raw = unsafe { libbullet_new(gravity, normal.as_ptr(), statics_only.into()) };
        Self { raw, wheels: Vec::new() }
    }

    /// Inserts a car at index `slot`: replaces the car there, or appends the car.
    pub fn insert_car(&mut self, slot: usize, tuning: &CarTuning, wheels: &[WheelTuning], motion: &Motion) {
        assert!(slot <= self.wheels.len());
        // SAFETY: C++ copies the arguments and reads `wheels.len()` wheels.
        unsafe { libbullet_put(self.raw, slot, tuning, wheels.as_ptr(), wheels.len(), motion) };
        self.wheels.resize(self.wheels.len().max(slot + 1), 0);
        self.wheels[slot] = wheels.len();
    }

    pub fn set_motion(&mut self, car: usize, motion: &Motion) {
        assert!(car < self.wheels.len());
        // SAFETY: the car exists.
        unsafe { libbullet_place(self.raw, car, motion) };
    }

    pub fn suspend_car(&mut self, car: usize) {
        assert!(car < self.wheels.len());
        // SAFETY: the car exists.
        unsafe { libbullet_leave(self.raw, car) };
    }

    pub fn set_inputs(&mut self, car: usize, inputs: &[WheelInput]) {
        assert_eq!(inputs.len(), self.wheels[car]);
        // SAFETY: the car exists and has as many wheels.
        unsafe { libbullet_drive(self.raw, car, inputs.as_ptr()) };
    }

    pub fn step(&mut self, dt: f32) {
        // SAFETY: nothing else is borrowed from the world.
        unsafe { libbullet_step(self.raw, dt) };
    }

    pub fn read_car(&self, car: usize, wheels: &mut [Wheel]) -> Motion {
        assert_eq!(wheels.len(), self.wheels[car]);
        let mut motion = Motion::default();
        // SAFETY: the car exists and has as many wheels.
        unsafe { libbullet_read(self.raw, car, &mut motion, wheels.as_mut_ptr()) };
        motion
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: `libbullet_new` created the world, and it is deleted once.
        unsafe { libbullet_delete(self.raw) };
    }
}
