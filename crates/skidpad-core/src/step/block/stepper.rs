//! Workspace and interface of the step of a block.

use crate::assembly::wheel::contact::{ProbeContacts, ProbeTextures, probe_rays};
use crate::drivetrain::constraints::{ClutchRow, Flywheel};
use crate::drivetrain::rows::Shafts;
use crate::model::Model;
use crate::model::block_model::BlockModel;
use crate::model::wheel_pack::WheelPack;
use crate::port::texture::SurfaceTexture;
use crate::port::{Contact, Ground};
use crate::state::block::DriveBlock;
use crate::step::batch::lane_exchange::{ChassisLanes, MotionLanes};
use crate::step::block::requirements::{Requirement, unmet_requirements};
use crate::vehicle::rows::WheelRows;
use bevy_math::Vec3;
use skidpad_simd::lane::BlockLanes;
use skidpad_simd::vectors::Vec3Lanes;

/// Rays of a wheel of each car, world axes.
pub struct WheelRays<W> {
    /// Start, relative to the centre of mass in the middle of the step, m.
    pub start: Vec3Lanes<W>,
    /// Length, m.
    pub length: W,
}

/// Engines and clutches of the cars of a block in a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockEngines<W> {
    /// Engine side of each clutch.
    pub flywheel: Flywheel<W>,
    /// Row of each clutch.
    pub clutch: ClutchRow<W>,
}

/// Steps blocks of cars of one model. Contains the rows of one block, so that each thread needs one stepper.
#[derive(Clone, Debug)]
pub struct BlockStepper<W: BlockLanes> {
    /// Rows, one for each wheel pack of the block. Rows of places without a wheel stay constant and have no mass.
    pub(super) rows: Box<[WheelRows<W>]>,
    /// Number of wheels of a car; the first packs and rows are theirs.
    pub(super) wheel_count: usize,
    /// Motion of the chassis at the start of the step.
    pub(super) chassis: ChassisLanes<W>,
    /// Engines and clutches.
    pub(super) engines: BlockEngines<W>,
    /// Workspace for the clutch of one car, which is solved outside the lanes.
    pub(super) shafts: Shafts,
    /// Contacts of each wheel in the middle of the step.
    pub(super) contacts: Box<[ProbeContacts<W>]>,
    /// Textures under each wheel; empty if no ground of this step has a texture.
    pub(super) textures: Vec<ProbeTextures<W>>,
    /// Steering and drivetrain at the end of the step.
    pub(super) next: NextInputs<W>,
    /// Bits of the cars that the block cannot solve in this step (bit `i`: car in lane `i`). The caller steps them
    /// alone.
    pub(super) unsolved: u32,
    /// Length of the step, s.
    pub(super) dt: f32,
    /// Time by which poses lag behind the velocities, s.
    pub(super) pose_lag: f32,
}

/// Steering and drivetrain of each car after the inputs of a step. [`BlockStepper::finish`] writes them into the
/// states.
#[derive(Clone, Debug)]
pub(super) struct NextInputs<W: BlockLanes> {
    /// Steering angle, rad.
    pub steer: W,
    /// Bits of the cars whose axle directions are those of `steer`.
    pub is_steer_applied: u32,
    /// Whether any wheel of the block was turned in this step.
    pub has_turned: bool,
    /// Road-wheel angle, axle direction, and angle to which the direction belongs, by wheel; only if `has_turned`.
    pub wheels: Box<[(W, Vec3Lanes<W>, W)]>,
    /// State of the drivetrain.
    pub drive: DriveBlock<W>,
}

impl<W: BlockLanes> BlockStepper<W> {
    /// Creates a stepper for blocks with the layout of `model`.
    ///
    /// # Errors
    /// Returns the requirements that `model` does not meet.
    pub fn new(model: &Model) -> Result<Self, Vec<Requirement>> {
        let unmet = unmet_requirements(model);
        if !unmet.is_empty() {
            return Err(unmet);
        }
        let wheel_count = model.wheels().len();
        Ok(Self {
            // Four places in each group of wheels.
            rows: (0..4 * model.wheel_packs().len()).map(|_| WheelRows::default()).collect(),
            wheel_count,
            chassis: ChassisLanes::default(),
            engines: BlockEngines::default(),
            // 0: no motors and no couplings.
            shafts: Shafts::new(0, 0),
            contacts: (0..wheel_count).map(|_| ProbeContacts::default()).collect(),
            textures: Vec::with_capacity(wheel_count),
            next: NextInputs {
                steer: W::default(),
                is_steer_applied: 0,
                has_turned: false,
                wheels: vec![(W::default(), Vec3Lanes::default(), W::default()); wheel_count].into(),
                drive: DriveBlock::default(),
            },
            unsolved: 0,
            dt: 0.0,
            pose_lag: 0.0,
        })
    }

    /// Begins a step of `dt` s (> 0) with the `motion` of the chassis and the velocity `wind` of the air (world axes,
    /// m/s). `pose_lag` is the time by which poses lag behind the velocities, s; see [`crate::ChassisState::pose_lag`].
    #[inline(always)]
    pub fn begin(&mut self, motion: &MotionLanes<W>, wind: Vec3Lanes<W>, pose_lag: f32, dt: f32) {
        self.chassis = ChassisLanes::new(motion, wind, dt);
        (self.dt, self.pose_lag, self.unsolved) = (dt, pose_lag, 0);
        self.textures.clear();
    }

    /// Returns the rays of wheel `wheel` of the cars of `model` in this step. Their direction is
    /// [`BlockStepper::down`].
    #[inline(always)]
    pub fn rays(&self, model: &BlockModel<W>, wheel: usize) -> WheelRays<W> {
        let ChassisLanes { to_world, free_world_velocity, angular_velocity, .. } = &self.chassis;
        let (start, length) =
            probe_rays(&model.packs[wheel], to_world, *free_world_velocity, *angular_velocity, self.dt);
        WheelRays { start, length }
    }

    /// Returns the direction of the rays: down in vehicle axes, as unit vectors in world axes.
    #[inline(always)]
    pub fn down(&self) -> Vec3Lanes<W> {
        self.chassis.to_world.z * W::splat(-1.0)
    }

    /// Returns the bits of the cars of which a wheel may move by more than its radius within the step, so that it may
    /// need [`crate::block::MeanContactProbes`]. The distance is estimated from speed and turn rate at the start of the
    /// step; the bound is 0.1 % below the radius, so that cars of `model` that are nearly as fast are included.
    #[inline(always)]
    pub fn fast_cars(&self, model: &BlockModel<W>) -> u32 {
        let length = |vector: Vec3Lanes<W>| vector.dot(vector).sqrt();
        let (speed, turn_rate) = (length(self.chassis.start_velocity.linear), length(self.chassis.angular_velocity));
        let is_fast = |pack: &WheelPack<W>| {
            let displacement = (speed + turn_rate * length(pack.contact)) * W::splat(self.dt);
            // 0.999: rounding of the bound, and of that of a single car.
            (pack.radius * W::splat(0.999)).less(displacement)
        };
        let packs = model.packs[..self.wheel_count].iter();
        W::mask_bits(packs.fold(W::Mask::default(), |any, pack| any | is_fast(pack)))
    }

    /// Returns the contacts of the rays of wheel `wheel` that were set last.
    #[inline(always)]
    pub fn probe_contacts(&self, wheel: usize) -> &ProbeContacts<W> {
        &self.contacts[wheel]
    }

    /// Sets the contacts of the rays of wheel `wheel`. The ground is at rest.
    #[inline(always)]
    pub fn set_contacts(&mut self, wheel: usize, contacts: ProbeContacts<W>) {
        self.contacts[wheel] = contacts;
    }

    /// Sets the textures under all wheels, wheel by wheel, for ground that has textures. Without this call, all ground
    /// of the step is hard and even.
    pub fn set_textures(&mut self, textures: impl Iterator<Item = ProbeTextures<W>>) {
        self.textures.clear();
        self.textures.extend(textures.take(self.wheel_count));
        self.textures.resize(self.wheel_count, ProbeTextures::default());
    }

    /// Returns the contact of wheel `wheel` of `car`; `None` without ground. Its texture has no unevenness, because the
    /// contact already includes it.
    pub fn contact(&self, wheel: usize, car: usize) -> Option<Contact> {
        let ProbeContacts { hit, normal, distance, grip } = self.contacts[wheel];
        let number = |lanes: W| lanes.number(car);
        let normal = Vec3::new(number(normal.x), number(normal.y), number(normal.z));
        (W::mask_bits(hit) & (1 << car) != 0).then(|| Contact {
            distance: number(distance),
            normal,
            grip: number(grip),
            point: None,
            ground: self.texture(wheel, car),
        })
    }

    /// Returns the ground at rest with the texture under wheel `wheel` of `car`; `None` on hard and even ground.
    fn texture(&self, wheel: usize, car: usize) -> Option<Ground> {
        let ProbeTextures { has_texture, rolling_resistance } = *self.textures.get(wheel)?;
        let texture =
            SurfaceTexture { rolling_resistance: rolling_resistance.number(car), ..SurfaceTexture::default() };
        let ground = Ground { body: Ground::STATIC_BODY, start_velocity: Vec3::ZERO, velocity: Vec3::ZERO, texture };
        (W::mask_bits(has_texture) & (1 << car) != 0).then_some(ground)
    }
}
