//! A world of libbullet's: the safe side of `bullet_world.cpp`, whose structs these mirror.
#![allow(unsafe_code, reason = "calls C++")]

use std::ptr::NonNull;

/// See `skidpad_peers::bullet::WheelTuning`.
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
    pub most_force: f32,
    pub friction_slip: f32,
    pub roll_influence: f32,
}

/// Mass in kg, moments of inertia about the axes of the chassis, and its box.
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
    pub angular: [f32; 3],
}

/// N, N s per step, rad.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct WheelInput {
    pub engine_force: f32,
    pub brake: f32,
    pub steering: f32,
}

/// Length of the suspension in m, its force in N, the turn of the last step in rad.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Wheel {
    pub length: f32,
    pub force: f32,
    pub turn: f32,
    pub contact: i32,
}

#[repr(C)]
struct Raw {
    opaque: [u8; 0],
}

unsafe extern "C" {
    fn libbullet_new(gravity: f32, normal: *const f32, statics_only: i32) -> NonNull<Raw>;
    fn libbullet_delete(world: NonNull<Raw>);
    fn libbullet_put(
        world: NonNull<Raw>,
        at: usize,
        tuning: *const CarTuning,
        wheels: *const WheelTuning,
        count: usize,
        motion: *const Motion,
    );
    fn libbullet_place(world: NonNull<Raw>, car: usize, motion: *const Motion);
    fn libbullet_leave(world: NonNull<Raw>, car: usize);
    fn libbullet_drive(world: NonNull<Raw>, car: usize, inputs: *const WheelInput);
    fn libbullet_step(world: NonNull<Raw>, dt: f32);
    fn libbullet_read(world: NonNull<Raw>, car: usize, motion: *mut Motion, wheels: *mut Wheel);
}

/// Cars on a plane through the origin.
pub struct World {
    raw: NonNull<Raw>,
    /// Wheels of each car: how much C++ reads and writes.
    wheels: Vec<usize>,
}

// SAFETY: the C++ world is owned by this handle alone and holds nothing of a thread; whoever changes it has it to himself (`&mut`), and
// what reads it through `&` does not write.
unsafe impl Send for World {}
// SAFETY: as above.
unsafe impl Sync for World {}

impl World {
    /// `statics_only`: wheels' rays pass by cars, also by their own.
    pub fn new(gravity: f32, normal: [f32; 3], statics_only: bool) -> Self {
        // SAFETY: C++ reads three floats.
        let raw = unsafe { libbullet_new(gravity, normal.as_ptr(), statics_only.into()) };
        Self { raw, wheels: Vec::new() }
    }

    /// Inserts a car at index `at`: replaces the car there, or appends it.
    pub fn put(&mut self, at: usize, tuning: &CarTuning, wheels: &[WheelTuning], motion: &Motion) {
        assert!(at <= self.wheels.len());
        // SAFETY: C++ copies what it is given, `wheels.len()` wheels of it.
        unsafe { libbullet_put(self.raw, at, tuning, wheels.as_ptr(), wheels.len(), motion) };
        self.wheels.resize(self.wheels.len().max(at + 1), 0);
        self.wheels[at] = wheels.len();
    }

    pub fn place(&mut self, car: usize, motion: &Motion) {
        assert!(car < self.wheels.len());
        // SAFETY: the car exists.
        unsafe { libbullet_place(self.raw, car, motion) };
    }

    pub fn leave(&mut self, car: usize) {
        assert!(car < self.wheels.len());
        // SAFETY: the car exists.
        unsafe { libbullet_leave(self.raw, car) };
    }

    pub fn drive(&mut self, car: usize, inputs: &[WheelInput]) {
        assert_eq!(inputs.len(), self.wheels[car]);
        // SAFETY: the car exists and has as many wheels.
        unsafe { libbullet_drive(self.raw, car, inputs.as_ptr()) };
    }

    pub fn step(&mut self, dt: f32) {
        // SAFETY: nothing else is borrowed from the world.
        unsafe { libbullet_step(self.raw, dt) };
    }

    pub fn read(&self, car: usize, wheels: &mut [Wheel]) -> Motion {
        assert_eq!(wheels.len(), self.wheels[car]);
        let mut motion = Motion::default();
        // SAFETY: the car exists and has as many wheels.
        unsafe { libbullet_read(self.raw, car, &mut motion, wheels.as_mut_ptr()) };
        motion
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: made by `libbullet_new`, deleted once.
        unsafe { libbullet_delete(self.raw) };
    }
}
