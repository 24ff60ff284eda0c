//! Blocks of a fleet in the lanes of one type, and the threads that step them.

use core::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use skidpad_core::block::{BlockLanes, BlockModel};
use skidpad_core::simd::lane::F32x8Pair;
#[cfg(all(feature = "instruction_sets", target_arch = "x86_64"))]
use skidpad_core::simd::lane::{F32x8, F32x16};
use skidpad_core::{AssistLog, Controls, Model, RestPose, State};

use crate::FleetError;
use crate::block::Block;
use crate::environment::Environment;
use crate::lanes::Lanes;
use crate::observation::{Observation, write_observations};
use crate::worker::Worker;

/// Number of blocks of a task of a thread: few enough that threads of different speed end at the same time.
const BLOCKS_PER_TASK: usize = 8;

/// Function that writes the start state of the car with a number into the last argument. It may cache the equilibrium
/// of the model in the second argument.
pub type PlaceCar<'a> = dyn Fn(usize, &mut RestPose, &mut State) + Sync + 'a;

/// Storage of the cars of a fleet, by the number of the car. The cars live in blocks of SIMD lanes or in small worlds.
pub trait CarStorage: Send + Sync {
    /// Appends a car in `state` as car `car`, the next number.
    fn push(&mut self, car: usize, state: &State);

    /// Appends the cars with the numbers `cars`, the next ones. `place` writes the state of each car into a copy of
    /// `template`. The copy and the cached equilibrium pass from car to car.
    fn push_all(&mut self, cars: Range<usize>, template: &State, place: &PlaceCar<'_>) {
        let (mut rest_pose, mut state) = (RestPose::default(), template.clone());
        for car in cars {
            place(car, &mut rest_pose, &mut state);
            self.push(car, &state);
        }
    }

    /// Replaces the model of a car and keeps its state. Returns the parts of `model` that must equal those of the other
    /// cars but differ; nothing is changed then.
    fn set_model(&mut self, car: usize, model: &Arc<Model>) -> Result<(), Vec<&'static str>>;

    /// Returns the model of a car that differs from the model of the fleet; otherwise `None`. In small worlds, a model
    /// that was set counts as different, unless it is that of the fleet itself.
    fn own_model(&self, car: usize) -> Option<Arc<Model>>;

    /// Sets the state of a car, which becomes active, at age 0 and not failed.
    fn set_state(&mut self, car: usize, state: &State);

    /// Writes the state of a car into `state`, which must have as many wheels as the model.
    fn write_state(&self, car: usize, state: &mut State);

    /// Sets the inputs of a car.
    fn set_controls(&mut self, car: usize, controls: &Controls);

    /// Sets throttle, brake, handbrake and steering angle of all cars: four numbers per car, in this order.
    fn set_actions(&mut self, actions: &[f32]);

    /// Sets whether a car is stepped.
    fn set_active(&mut self, car: usize, is_active: bool);

    /// Returns whether a car is stepped.
    fn is_active(&self, car: usize) -> bool;

    /// Returns whether the motion of a car became infinite or NaN since its state was set.
    fn has_failed(&self, car: usize) -> bool;

    /// Returns the number of steps of a car since its state was set.
    fn age(&self, car: usize) -> u32;

    /// Returns the contributions of the assists (ABS, traction and stability control) of a car in the last step; empty
    /// for cars in lanes.
    fn assist_log(&self, _car: usize) -> AssistLog {
        AssistLog::default()
    }

    /// Returns the number of car-steps in which a car left its lane and was solved alone; 0 in small worlds.
    fn rare_steps(&self) -> u64;

    /// Advances all active cars by `steps` steps of `dt` s on the threads of the pool, then writes the `observations`
    /// of all cars into `observation_values`, car by car. Without observations `observation_values` is empty.
    fn step(&mut self, steps: u32, dt: f32, observations: &[Observation], observation_values: &mut [f32]);
}

/// Creates an empty fleet of cars of `model` in these `lanes`.
///
/// # Errors
/// The model has parts that a block does not support, or the processor does not have the lanes.
pub fn new_lane_blocks(
    model: &Arc<Model>,
    environment: Environment,
    lanes: Lanes,
) -> Result<Box<dyn CarStorage>, FleetError> {
    if !lanes.is_supported() {
        return Err(FleetError::Lanes(lanes));
    }
    Ok(match lanes {
        Lanes::Eight => Box::new(LaneBlocks::<F32x8Pair>::new(model, environment)?),
        #[cfg(all(feature = "instruction_sets", target_arch = "x86_64"))]
        Lanes::EightAvx2 => Box::new(LaneBlocks::<F32x8>::new(model, environment)?),
        #[cfg(all(feature = "instruction_sets", target_arch = "x86_64"))]
        Lanes::SixteenAvx512 => Box::new(LaneBlocks::<F32x16>::new(model, environment)?),
    })
}

/// Fleet whose cars live in blocks of lanes of type `W`, one car per lane.
struct LaneBlocks<W: BlockLanes> {
    environment: Environment,
    /// Constants of blocks whose cars are all of the model of the fleet.
    constants: Arc<BlockModel<W>>,
    blocks: Vec<Block<W>>,
    /// Workspaces, one for each thread. Only one thread uses each of them, so that no thread waits for another.
    workers: Vec<Mutex<Worker<W>>>,
}

impl<W: BlockLanes> LaneBlocks<W> {
    /// Creates an empty fleet with one workspace for each thread of the present rayon pool.
    fn new(model: &Arc<Model>, environment: Environment) -> Result<Self, FleetError> {
        let constants = Arc::new(BlockModel::new(model));
        // A clone would lose the capacity of the buffers, and a step would allocate.
        let new_worker = |_| Worker::new(&constants, &environment).map(Mutex::new);
        let workers = (0..rayon::current_num_threads()).map(new_worker).collect::<Result<_, _>>()?;
        Ok(Self { environment, constants, blocks: Vec::new(), workers })
    }

    /// Returns the indices of the block and of the lane of a car. Also prepares the present thread for the lanes,
    /// because the fleet may have been moved to it.
    fn place(car: usize) -> (usize, usize) {
        prepare_thread::<W>();
        (car / W::LANE_COUNT, car % W::LANE_COUNT)
    }
}

impl<W: BlockLanes> CarStorage for LaneBlocks<W> {
    /// Sets the state of the next free lane. If all blocks are full, appends a block, whose other lanes are not
    /// stepped.
    fn push(&mut self, car: usize, state: &State) {
        let (block, lane) = Self::place(car);
        if block == self.blocks.len() {
            self.blocks.push(Block::new(state));
        }
        self.blocks[block].set_state(lane, state);
    }

    /// Appends the cars: first into the free lanes of the last block, then into new blocks, which the threads of the
    /// pool build. Each thread has its own state and cached equilibrium for `place`.
    fn push_all(&mut self, cars: Range<usize>, template: &State, place: &PlaceCar<'_>) {
        let full_blocks = self.blocks.len() * W::LANE_COUNT;
        // The last block may have free lanes. They are filled first, one by one.
        let (mut rest_pose, mut state) = (RestPose::default(), template.clone());
        for car in cars.start..full_blocks.min(cars.end) {
            place(car, &mut rest_pose, &mut state);
            self.push(car, &state);
        }
        // New blocks are built in parallel, each by one thread.
        let new_blocks = self.blocks.len()..cars.end.div_ceil(W::LANE_COUNT);
        let build_block = |(rest_pose, state): &mut (RestPose, State), block: usize| {
            prepare_thread::<W>();
            let first = block * W::LANE_COUNT;
            let mut built = Block::new(template);
            for lane in 0..W::LANE_COUNT.min(cars.end - first) {
                place(first + lane, rest_pose, state);
                built.set_state(lane, state);
            }
            built
        };
        let workspace = || (RestPose::default(), template.clone());
        self.blocks.par_extend(new_blocks.into_par_iter().map_init(workspace, build_block));
    }

    fn set_state(&mut self, car: usize, state: &State) {
        let (block, lane) = Self::place(car);
        self.blocks[block].set_state(lane, state);
    }

    /// Stores the numbers of the car in its block, if they differ from those of the model of the fleet.
    fn set_model(&mut self, car: usize, model: &Arc<Model>) -> Result<(), Vec<&'static str>> {
        let (block, lane) = Self::place(car);
        let block = &mut self.blocks[block];
        let mut own_numbers = block.own_numbers.take().unwrap_or_else(|| self.constants.equal_cars().into());
        let result = self.constants.set_own_model(&mut own_numbers, lane, model);
        block.own_numbers = Some(own_numbers).filter(|own_numbers| !own_numbers.is_empty());
        result
    }

    fn write_state(&self, car: usize, state: &mut State) {
        let (block, lane) = Self::place(car);
        self.blocks[block].state.write_car(lane, state);
    }

    fn set_controls(&mut self, car: usize, controls: &Controls) {
        let (block, lane) = Self::place(car);
        self.blocks[block].controls.set_car(lane, controls);
    }

    /// Sets the actions of all blocks; lanes without a car get 0. Gears and clutch pedals do not change.
    fn set_actions(&mut self, actions: &[f32]) {
        prepare_thread::<W>();
        let numbers_per_block = W::LANE_COUNT * crate::ACTION_COUNT;
        for (block, numbers) in self.blocks.iter_mut().zip(actions.chunks(numbers_per_block)) {
            // Column `k` of `actions` for the cars of this block; 0 in lanes without a car.
            let column = |k: usize| {
                W::from_array(W::array_from_fn(|lane| {
                    numbers.get(lane * crate::ACTION_COUNT + k).copied().unwrap_or(0.0)
                }))
            };
            let controls = &mut block.controls;
            (controls.throttle, controls.brake) = (column(0), column(1));
            (controls.handbrake, controls.steer) = (column(2), column(3));
        }
    }

    fn set_active(&mut self, car: usize, is_active: bool) {
        let (block, lane) = Self::place(car);
        let block = &mut self.blocks[block];
        block.active = (block.active & !(1 << lane)) | (u32::from(is_active) << lane);
    }

    fn is_active(&self, car: usize) -> bool {
        let (block, lane) = Self::place(car);
        self.blocks[block].active & (1 << lane) != 0
    }

    fn has_failed(&self, car: usize) -> bool {
        let (block, lane) = Self::place(car);
        self.blocks[block].failed & (1 << lane) != 0
    }

    fn age(&self, car: usize) -> u32 {
        let (block, lane) = Self::place(car);
        self.blocks[block].ages.as_ref()[lane]
    }

    fn own_model(&self, car: usize) -> Option<Arc<Model>> {
        let (block, lane) = Self::place(car);
        self.constants.own_model(self.blocks[block].own_numbers.as_ref()?, lane)
    }

    fn rare_steps(&self) -> u64 {
        self.workers.iter().map(|worker| lock(worker).rare_steps()).sum()
    }

    /// Advances all blocks, each by all steps, then writes its observations. Tasks of [`BLOCKS_PER_TASK`] blocks run on
    /// the threads of the pool; with one thread or few blocks, all run on this thread. Each thread computes with a
    /// workspace and the instructions of the lanes `W`.
    fn step(&mut self, steps: u32, dt: f32, observations: &[Observation], observation_values: &mut [f32]) {
        let numbers_per_block = W::LANE_COUNT * observations.len();
        let Self { environment, blocks, workers, .. } = self;
        let step_blocks = |blocks: &mut [Block<W>], observation_values: &mut [f32]| {
            prepare_thread::<W>();
            // A thread outside the pool uses the first workspace. A larger pool than that of the creation shares them.
            let thread = rayon::current_thread_index().unwrap_or(0) % workers.len();
            let mut worker = lock(&workers[thread]);
            W::dispatch_simd(
                #[inline(always)]
                || {
                    let mut block_values = observation_values.chunks_mut(numbers_per_block.max(1));
                    for block in blocks {
                        worker.step(block, environment, steps, dt);
                        if let Some(values) = block_values.next() {
                            write_observations(&block.state, observations, dt, values);
                        }
                    }
                },
            );
        };
        // Few blocks are not worth a task for another thread.
        if workers.len() == 1 || blocks.len() <= BLOCKS_PER_TASK {
            step_blocks(blocks, observation_values);
            return;
        }
        let block_tasks = blocks.par_chunks_mut(BLOCKS_PER_TASK);
        if observations.is_empty() {
            block_tasks.for_each(|blocks| step_blocks(blocks, &mut []));
        } else {
            block_tasks
                .zip(observation_values.par_chunks_mut(BLOCKS_PER_TASK * numbers_per_block))
                .for_each(|(blocks, values)| step_blocks(blocks, values));
        }
    }
}

/// Prepares the present thread for computing with the lanes `W`, which the processor must have (checked in debug
/// builds). Each thread has to query the support of the lanes before it uses them. A fleet may be used on other threads
/// than the one that created it.
fn prepare_thread<W: BlockLanes>() {
    let is_supported = W::is_supported();
    debug_assert!(is_supported, "`new_lane_blocks` refuses lanes that the processor does not have");
}

/// Locks the workspace of the present thread. A panic of a step leaves no invalid workspace, because each block writes
/// all that it reads.
fn lock<T>(worker: &Mutex<T>) -> MutexGuard<'_, T> {
    worker.lock().unwrap_or_else(PoisonError::into_inner)
}
