//! What a step is made of that one car does otherwise than several abreast. What they do alike is written once, for any of these.

use crate::banks::Banks;
use crate::controls::Controls;
use crate::lane::{Corners, Lane};
use crate::linear::{OuterProducts, SpatialVector, Symmetric6};
use crate::model::Model;
use crate::step::coupling::{Coupling, StepReport};
use crate::step::newton::NewtonStep;
use crate::step::rows::Rows;
use crate::suspension::rows::Loaded;
use crate::vectors::Vec3Lanes;
use crate::wheel::pack::WheelPack;
use crate::world::seam::{Body, Contact, HullPoint};

/// Numbers of a car, or of those abreast.
pub(crate) type CarOf<B, S> = <<S as Wheels<B>>::Lanes as Corners>::Car;

/// Six of them.
pub(crate) type TwistOf<B, S> = SpatialVector<CarOf<B, S>>;

/// Which of the cars.
pub(crate) type CarsOf<B, S> = <CarOf<B, S> as Lane>::Mask;

/// What a step is taken with: see [`crate::Vehicle::solve`].
#[derive(Clone, Copy)]
pub(crate) struct StepInputs<'a> {
    pub body: &'a Body,
    pub contacts: &'a [Option<Contact>],
    pub hull: &'a [HullPoint],
    pub controls: &'a Controls,
    pub coupling: Coupling,
    /// s, > 0
    pub dt: f32,
}

/// The same of cars abreast, one after the other; contacts wheel by wheel, car by car.
#[cfg_attr(not(feature = "abreast"), expect(dead_code, reason = "no car goes abreast"))]
#[derive(Clone, Copy)]
pub(crate) struct InputsAbreast<'a> {
    pub bodies: &'a [Body],
    pub contacts: &'a [Option<Contact>],
    pub controls: &'a [&'a Controls],
    /// s, > 0
    pub dt: f32,
}

/// Velocities of the chassis on the way through a step.
#[derive(Clone, Copy)]
pub(crate) struct Velocities<C = f32> {
    /// Without wheels.
    pub free: SpatialVector<C>,
    /// With the last step's tyres.
    pub warm: SpatialVector<C>,
    /// With the loads, too.
    pub loaded: Loaded<C>,
}

/// The wheels of a car with so many banks, or of cars abreast: what loads and a sweep work on.
pub(crate) trait Wheels<B: Banks> {
    /// Of their rows.
    type Lanes: Corners;

    /// Most solves of the loads.
    const LOAD_SOLVES: usize;

    fn model(&self) -> &Model;

    /// Each pack, and its rows.
    fn packs(&mut self) -> impl Iterator<Item = (&WheelPack<Self::Lanes>, &mut Rows<Self::Lanes>)>;

    /// All rows, two axles after two.
    fn rows(&self) -> &[Rows<Self::Lanes>];

    /// Takes the impulses of axle links at the speeds that the rows see.
    fn load_axle_links(&mut self);

    /// What acts on the chassis beside the rows, N s and N m s.
    #[inline(always)]
    fn beside(&self) -> TwistOf<B, Self> {
        SpatialVector::default()
    }

    /// Adds how axle links answer changes of the chassis velocity to `products`; returns what they give from the velocity `warm` on as it
    /// stays, and what acts beside the rows.
    fn add_axle_links(&self, products: &mut OuterProducts<Self::Lanes>, warm: TwistOf<B, Self>) -> TwistOf<B, Self>;

    /// Where solve number `solve` of the loads ends instead, if the `last` one went too far: see [`crate::suspension::loads::settle`].
    #[inline(always)]
    fn cut_step(
        &self,
        _solve: usize,
        _last: &mut Option<NewtonStep>,
        _way: [TwistOf<B, Self>; 3],
        _system: &Symmetric6<CarOf<B, Self>>,
    ) -> Option<TwistOf<B, Self>> {
        None
    }

    /// Whether rows of tyres may be others than unit vectors at right angles.
    fn is_slanted(&self) -> bool;

    /// Solves clutch, motors, converters and couplings.
    fn solve_shafts(&mut self);
}

/// A step of a car, or of cars abreast: stage by stage, as far as they differ.
pub(crate) trait Stages<B: Banks> {
    type Wheels: Wheels<B>;

    fn wheels(&mut self) -> &mut Self::Wheels;

    /// Takes what drivers ask for to steering, engine and brakes.
    fn drive(&mut self);

    /// Finds where wheels touch, and the directions of their rows.
    fn locate(&mut self);

    /// Returns the impulses on the chassis beside those of its wheels, where tyres change its velocity `by_tyres` m/s.
    fn external(&mut self, by_tyres: Vec3Lanes<CarOf<B, Self::Wheels>>) -> TwistOf<B, Self::Wheels>;

    /// The velocity that the step would end with without anything of the car's.
    fn free(&self) -> TwistOf<B, Self::Wheels>;

    /// Takes wheels to where the velocities `free` and `warm` move them; returns the latter with their tyres where they are then.
    #[inline(always)]
    fn follow(&mut self, [_, warm]: [TwistOf<B, Self::Wheels>; 2]) -> TwistOf<B, Self::Wheels> {
        warm
    }

    /// Struts, and what links the wheels of an axle.
    fn strut_rows(&mut self);

    /// Loads, from the velocity `warm` on, which tyres took from `free`.
    fn load(&mut self, velocities: [TwistOf<B, Self::Wheels>; 2]) -> Loaded<CarOf<B, Self::Wheels>>;

    /// Rows of tyres, where the loads lead to the velocity `loaded`.
    fn grip(&mut self, loaded: TwistOf<B, Self::Wheels>);

    /// Lets assists change brakes and drive.
    fn assist(&mut self, loaded: TwistOf<B, Self::Wheels>);

    /// Solves the rows together.
    fn couple(&mut self, velocities: &Velocities<CarOf<B, Self::Wheels>>) -> StepReport;

    /// Pushes the bodies by `external` impulses and by what the wheels do.
    fn push(&mut self, external: TwistOf<B, Self::Wheels>);
}
