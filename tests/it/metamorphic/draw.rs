//! Random draws of a car, its ground, a manoeuvre and a solver, all from one seed.

use std::fmt;
use std::sync::Arc;

use skidpad::core::model::{
    Assists, Axle, BarForcePath, Hull, Kingpin, LateralCompliance, ProbeShape, SteeringCompliance, TorqueCoupling, Tyre,
};
use skidpad::core::tyre::Brush;
use skidpad::core::{Model, ModelParts, SolverInfo, State, Vec3, state::Placement};

use super::ground::GroundDraw;
use super::manoeuvre::{Manoeuvre, SECONDS};
use crate::assists::fitted;
use crate::common::{on_rows, shipped};
use crate::step::random::Random;
use crate::step::random_cars::random_car;

/// Complete description of a drive. Relations change parts of it and compare the results.
#[derive(Clone, Debug)]
pub struct Draw {
    pub seed: u64,
    pub vehicle: String,
    /// Car and its trailers, in order.
    pub models: Vec<Arc<Model>>,
    pub solver: SolverInfo,
    pub hz: f32,
    pub ground: GroundDraw,
    pub placement: Placement,
    /// Initial velocity (m/s) and angular velocity (rad/s) in vehicle axes, added to those of the placement.
    pub kick: [Vec3; 2],
    pub manoeuvre: Manoeuvre,
    /// Duration (s).
    pub seconds: f64,
}

const SHIPPED: [&str; 9] = [
    "bmw_320i_commonroad",
    "bmw_320i_mf",
    "bullet_reference",
    "corvette_c5",
    "corvette_c5_mf",
    "corvette_c5_tmeasy",
    "tesla_model3_awd",
    "toyota_4runner",
    "truck_6x4",
];

const RATES: [f32; 6] = [20.0, 30.0, 60.0, 120.0, 240.0, 1000.0];

impl Draw {
    pub fn of(seed: u64) -> Self {
        let random = &mut Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        // The first numbers of neighbouring seeds are similar.
        (0..8).for_each(|_| _ = random.next());
        let (vehicle, mut parts) = if random.chance(0.6) {
            let name = SHIPPED[random.below(SHIPPED.len())];
            (name.to_owned(), shipped(name))
        } else {
            ("random".to_owned(), random_car(random).parts().clone())
        };
        // Features are left out if the parts are invalid with them.
        let (bare, mut told) = (parts.clone(), features(random, &mut parts));
        told.push_str(compliant_steering(seed, &mut parts));
        let (model, told) = match Model::new(parts) {
            Ok(model) => (model, told),
            Err(_) => (Model::new(bare).expect("valid"), String::new()),
        };
        let (vehicle, parts) = (format!("{vehicle}{told}"), model.parts().clone());
        let trailers: Vec<Arc<Model>> = match (parts.hitch.is_some(), random.below(4)) {
            (true, 0) => crate::hitch::rigs::shipped(&["caravan"]),
            (true, 1) => crate::hitch::rigs::shipped(&["wagon"]),
            _ => Vec::new(),
        };
        let size = parts.wheels[0].radius / 0.33;
        let speed = if random.chance(0.25) { 0.0 } else { size.sqrt() * random.between(-4.0, 35.0) };
        let mut vector = |most: f32| Vec3::from_array([0; 3].map(|_| most * random.between(-1.0, 1.0)));
        let kick = [vector(1.0), vector(1.0)].map(|vector| vector * Vec3::new(1.0, 1.0, 0.3));
        let kick = if random.chance(0.3) { kick.map(|kick| kick * size.sqrt()) } else { [Vec3::ZERO; 2] };
        let ground = GroundDraw::draw(random);
        let manoeuvre = Manoeuvre::draw(random, &parts);
        let placement =
            Placement { speed, heading: random.between(-3.2, 3.2), gear: manoeuvre.gear, ..Placement::default() };
        let mut solvers = on_rows();
        // The friction pyramid has two places in the list of six, so that the seeds in the roadmap keep their draws.
        solvers.extend(solvers.iter().position(|solver| solver.name == "constraint-pyramid").map(|at| solvers[at]));
        solvers.sort_by_key(|solver| solver.name == "constraint-unsprung");
        let mut models = vec![Arc::new(model)];
        models.extend(trailers);
        Self {
            seed,
            vehicle,
            models,
            solver: solvers[random.below(solvers.len())],
            hz: RATES[random.below(RATES.len())],
            ground,
            placement,
            kick,
            manoeuvre,
            seconds: SECONDS,
        }
    }

    /// Returns the random numbers of a relation, which are independent of those of the draw.
    pub fn random(&self) -> Random {
        let mut random = Random(self.seed.wrapping_mul(0xD1B5_4A32_D192_ED03) | 1);
        (0..8).for_each(|_| _ = random.next());
        random
    }

    pub fn parts(&self) -> &ModelParts {
        self.models[0].parts()
    }

    /// Returns the draw with a car of other `parts`, or `None` if these are invalid.
    pub fn with_parts(&self, parts: ModelParts) -> Option<Self> {
        let mut changed = self.clone();
        changed.models[0] = Arc::new(Model::new(parts).ok()?);
        Some(changed)
    }

    /// Returns the draw with a car on which only wheels and gravity act: without air, with anti-roll bars in the load
    /// path, and with bodywork that stays off the ground. `None` if the parts are invalid.
    pub fn on_wheels_alone(&self) -> Option<Self> {
        let mut parts = self.parts().clone();
        parts.bars.iter_mut().for_each(|bar| bar.force_path = BarForcePath::InLoadPath);
        parts.aero = Default::default();
        shrink(&mut parts.hull);
        self.with_parts(parts)
    }

    /// Returns the draw with bodywork contacts that are symmetric. On waves, whose triangles have one diagonal, and
    /// in Rapier's world, which solves the corners of a hull in order, bodywork stays off the ground. `None` if the
    /// parts are invalid.
    pub fn with_symmetric_contacts(&self) -> Option<Self> {
        let mut parts = self.parts().clone();
        if self.ground.waves.is_some() || self.solver.name == "rapier" {
            shrink(&mut parts.hull);
        }
        self.with_parts(parts)
    }

    /// Returns the draw with the car alone, without trailers.
    pub fn alone(&self) -> Self {
        Self { models: vec![self.models[0].clone()], ..self.clone() }
    }

    /// Returns the draw without waves, on the plane of its slope.
    pub fn on_plane(&self) -> Self {
        Self { ground: GroundDraw { waves: None, ..self.ground }, ..self.clone() }
    }

    /// Returns twice the largest distance of a wheel contact from the centre of mass (m), as a measure of the car's
    /// length.
    pub fn length(&self) -> f64 {
        let furthest = self.models[0].wheels().iter().map(|wheel| wheel.contact.length()).fold(0.0, f32::max);
        2.0 * f64::from(furthest)
    }
}

/// Tolerance of loads while a solid axle lifts, as a share of the weight. The share of link force that vanishes with
/// the load of the inner wheel is predicted with the forces at the start of a step.
pub const OF_LIFTING_BEAMS: f64 = 0.08;

/// Returns true if a solid axle with its roll centre off the ground has a wheel without load in `state`.
pub fn is_lifting_a_beam(parts: &ModelParts, state: &State) -> bool {
    let is_unloaded = |wheel: usize| state.wheels[wheel].load == 0.0;
    let is_led = |axle: &Axle| axle.solid && axle.roll_centre_height != 0.0;
    parts.wheels.iter().enumerate().any(|(i, wheel)| is_led(&parts.axles[wheel.axle]) && is_unloaded(i))
}

/// Shrinks bodywork so that it does not touch ground on which the wheels stand.
fn shrink(hull: &mut Hull) {
    hull.half_extents *= 0.3;
    hull.centre = Vec3::ZERO;
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { vehicle, solver, hz, ground, placement, kick, manoeuvre, models, .. } = self;
        let [fast, turning] = kick.map(|kick| kick.length());
        write!(f, "{vehicle} on {} at {hz} Hz, {}, gear {:?}, ", solver.name, manoeuvre.name, manoeuvre.gear)?;
        write!(f, "{:.1} m/s, kick {fast:.1} m/s {turning:.1} rad/s, {ground:?}", placement.speed)?;
        if models.len() > 1 { write!(f, ", {} trailers", models.len() - 1) } else { Ok(()) }
    }
}

/// Adds random tyres, probes, assists and couplings to a car. Returns their names.
fn features(random: &mut Random, parts: &mut ModelParts) -> String {
    let mut told = String::new();
    if random.chance(0.25) {
        told.push_str(change_tyres(random, parts));
    }
    if random.chance(0.2) {
        let width = 0.6 * parts.wheels[0].radius;
        let probe = [ProbeShape::Disc, ProbeShape::Cylinder(width), ProbeShape::Torus(width)][random.below(3)];
        parts.wheels.iter_mut().for_each(|wheel| wheel.probe = probe);
        told.push_str(&format!(" +{probe:?}"));
    }
    if random.chance(0.4) {
        let all = fitted::all();
        let (name, assists) = match random.below(7) {
            0 => ("abs", Assists { abs: all.abs, ..Assists::default() }),
            1 => ("stability", Assists { stability: all.stability, ..Assists::default() }),
            2 => ("traction", Assists { traction: all.traction, ..Assists::default() }),
            3 => ("launch", Assists { launch: all.launch, ..Assists::default() }),
            4 => ("cruise", Assists { cruise: all.cruise, ..Assists::default() }),
            5 => ("counter-steer", Assists { counter_steer: all.counter_steer, ..Assists::default() }),
            _ => ("all assists", Assists { lowered_centre: 0.0, ..all }),
        };
        parts.assists = assists;
        told.push_str(&format!(" +{name}"));
    }
    if random.chance(0.15) && parts.couplings.len() < 3 && parts.axles.len() == 2 && parts.wheels.len() == 4 {
        let first = 2 * random.below(2);
        parts.couplings.push(TorqueCoupling::locked([Box::from([first]), Box::from([first + 1])]));
        told.push_str(" +locked axle");
    }
    if random.chance(0.1) {
        let rate = parts.mass * 9.81 * random.scaled(10.0, 100.0);
        let damping = rate * random.between(0.0, 0.1);
        parts.axles.iter_mut().for_each(|axle| axle.lateral_compliance = Some(LateralCompliance { rate, damping }));
        told.push_str(" +lateral compliance");
    }
    if random.chance(0.1) {
        let height = 0.3 * parts.wheels[0].contact.y.abs() * random.between(-0.3, 1.0);
        let paired = |axle: usize| parts.wheels.iter().filter(|wheel| wheel.axle == axle).count() == 2;
        let axles: Vec<bool> = (0..parts.axles.len()).map(paired).collect();
        for (axle, _) in
            parts.axles.iter_mut().zip(axles).filter(|(axle, paired)| *paired && axle.force_point_height == 0.0)
        {
            axle.roll_centre_height = height;
        }
        told.push_str(" +roll centres");
    }
    told
}

/// Adds steering axes and a compliant linkage to a tenth of the cars, but not with dry friction, whose wheels would
/// hunt. The random numbers of this feature are independent of those of other features, so that the seeds in the
/// roadmap keep the other features. Returns the name of the feature, or an empty text.
fn compliant_steering(seed: u64, parts: &mut ModelParts) -> &'static str {
    use skidpad::core::tyre::{CurveLaw, CurveTyre};
    let random = &mut Random(seed.wrapping_mul(0xA24B_AED4_963E_E407) | 1);
    (0..8).for_each(|_| _ = random.next());
    let is_dry = |tyre: &Tyre| matches!(tyre, Tyre::Curve(CurveTyre { law: CurveLaw::Coulomb { .. }, .. }));
    if !random.chance(0.1) || parts.tyres.iter().any(is_dry) {
        return "";
    }
    let (radius, load) = (parts.wheels[0].radius, parts.mass * 9.81 / parts.wheels.len() as f32);
    let kingpin = Kingpin {
        trail: radius * random.between(0.0, 0.15),
        scrub_radius: radius * random.between(-0.1, 0.2),
        caster: random.between(0.0, 0.15),
        inclination: random.between(0.0, 0.25),
        pneumatic_trail: radius * random.between(0.0, 0.1),
    };
    parts.steering.kingpin = Some(kingpin);
    // A side force equal to the load at a lever of a tenth of the radius turns the wheel by 0.3 to 3 degrees.
    let stiffness = 0.1 * radius * load / random.scaled(0.005, 0.05);
    // Time constants scale with the root of the length.
    let time_constant = random.between(0.0, 0.1) * radius.sqrt();
    parts.steering.compliance = Some(SteeringCompliance { stiffness, time_constant });
    " +compliant steering"
}

fn change_tyres(random: &mut Random, parts: &mut ModelParts) -> &'static str {
    use skidpad::core::tyre::{CurveLaw, CurveTyre};
    let carried = parts.mass * 9.81 / parts.wheels.len() as f32;
    let length = parts.wheels[0].radius;
    let curve = |law| {
        let relaxation = [0.3 * length, 0.9 * length];
        Tyre::Curve(CurveTyre { law, friction: [1.0, 0.9], load_sensitivity: 0.1, nominal_load: carried, relaxation })
    };
    let half = 0.2 * length;
    let stiffness = 15.0 * carried / (2.0 * half * half);
    let (name, tyre) = match random.below(4) {
        0 => (" +coulomb", curve(CurveLaw::Coulomb { deflection: 0.015 * length })),
        1 => (" +linear", curve(CurveLaw::LinearPerLoad { stiffness: [20.0, 14.0] })),
        2 => {
            let law = CurveLaw::SlipCurve { extremum_slip: [0.1; 2], asymptote_slip: [0.5; 2], asymptote: [0.7; 2] };
            (" +slip curve", curve(law))
        }
        _ => {
            let bristle_stiffness = [stiffness, 0.8 * stiffness];
            let (half_length, friction) = (half, [1.0, 0.95]);
            (
                " +brush",
                Tyre::Brush(Brush {
                    bristle_stiffness,
                    half_length,
                    friction,
                    load_sensitivity: 0.1,
                    nominal_load: carried,
                }),
            )
        }
    };
    parts.tyres.iter_mut().for_each(|each| *each = tyre.clone());
    name
}
