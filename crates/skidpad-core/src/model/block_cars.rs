//! Constants and models of the cars of a block during a step.

use std::sync::Arc;

use crate::model::Model;
use crate::model::block_model::BlockModel;
use crate::model::own_numbers::OwnNumbers;
use crate::model::wheel_pack::numbers::PLACES_PER_WHEEL;
use skidpad_simd::lane::BlockLanes;

/// Workspace of a thread that steps blocks of a fleet: constants and models of the cars of one block.
#[derive(Debug)]
pub struct BlockWorkspace<W: BlockLanes> {
    /// Constants of blocks whose cars are all of the model of the fleet.
    fleet: Arc<BlockModel<W>>,
    /// Constants of the present block, if cars of it have numbers of their own.
    constants: BlockModel<W>,
    /// Places at which the wheels of `constants` may differ from those of `fleet`.
    changed_places: Vec<u32>,
    /// Models of the cars.
    models: CarModels,
}

/// Models of the cars of a block that have numbers of their own, one per lane.
#[derive(Debug)]
struct CarModels {
    models: Box<[CarModel]>,
    /// Bits of the cars whose entry in `models` is that of the present block.
    written_cars: u32,
}

/// Model of one car with numbers of its own.
#[derive(Debug)]
struct CarModel {
    model: Arc<Model>,
    /// Places at which its wheels may differ from those of the model of the fleet.
    changed_places: Vec<u32>,
}

/// Cars of the block that is being stepped.
#[derive(Debug)]
pub struct BlockCars<'a, W: BlockLanes> {
    /// Constants of the cars in lanes.
    pub constants: &'a BlockModel<W>,
    /// Numbers in which cars differ from the model of the fleet; `None` if all are of this model.
    own: Option<&'a OwnNumbers<W>>,
    models: &'a mut CarModels,
}

impl<W: BlockLanes> BlockWorkspace<W> {
    /// Creates the workspace for blocks of the fleet with the constants `fleet`.
    pub fn new(fleet: &Arc<BlockModel<W>>) -> Self {
        let places = || Vec::with_capacity(PLACES_PER_WHEEL);
        let new_model = |_| CarModel { model: Arc::new(Model::clone(fleet.layout())), changed_places: places() };
        Self {
            fleet: Arc::clone(fleet),
            constants: BlockModel::clone(fleet),
            changed_places: places(),
            models: CarModels { models: (0..W::LANE_COUNT).map(new_model).collect(), written_cars: 0 },
        }
    }

    /// Prepares the workspace for a block whose cars have the numbers `own`; `None` for cars of the model of the fleet.
    /// Allocates nothing.
    pub fn begin_block(&mut self, own: Option<&OwnNumbers<W>>) {
        self.models.written_cars = 0;
        if let Some(own) = own {
            self.constants.set_numbers(own, &mut self.changed_places);
        }
    }

    /// Returns the constants of the cars of the block for which [`BlockWorkspace::begin_block`] was called last, with
    /// the same `own`.
    #[inline(always)]
    pub fn constants(&self, own: Option<&OwnNumbers<W>>) -> &BlockModel<W> {
        if own.is_some() { &self.constants } else { &self.fleet }
    }

    /// Returns the cars of the block for which [`BlockWorkspace::begin_block`] was called last, with the same `own`.
    #[inline(always)]
    pub fn cars<'a>(&'a mut self, own: Option<&'a OwnNumbers<W>>) -> BlockCars<'a, W> {
        let constants = if own.is_some() { &self.constants } else { &*self.fleet };
        BlockCars { constants, own, models: &mut self.models }
    }
}

impl<W: BlockLanes> BlockCars<'_, W> {
    /// Returns the model of `car`. Writes it at the first call for a car with numbers of its own in this block.
    /// Allocates only if the caller still has a clone of the model of this car of an earlier block.
    pub fn model(&mut self, car: usize) -> &Arc<Model> {
        let Some(own) = self.own.filter(|own| own.has_car(car)) else { return self.constants.layout() };
        let CarModels { models, written_cars } = &mut *self.models;
        let CarModel { model, changed_places } = &mut models[car];
        if *written_cars & (1 << car) == 0 {
            self.constants.write_car(own, car, Arc::make_mut(model), changed_places);
            *written_cars |= 1 << car;
        }
        model
    }
}

impl<W: BlockLanes> BlockModel<W> {
    /// Builds the model of `car` of a block with the numbers `own`; `None` if it is the model of the fleet.
    pub fn own_model(&self, own: &OwnNumbers<W>, car: usize) -> Option<Arc<Model>> {
        own.has_car(car).then(|| {
            let mut model = Model::clone(self.layout());
            self.write_car(own, car, &mut model, &mut Vec::new());
            Arc::new(model)
        })
    }
}
