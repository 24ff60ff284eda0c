//! Checks of every number of a model: a model that is accepted drives with finite states.

use skidpad::core::model::{
    Aero, AeroMaps, AeroSurface, AntiLock, AntiRollBar, Assists, Axle, BrakeDisc, Clutch, Converter, CounterSteer,
    Coupler, CruiseControl, Cvt, DamperKnee, Engine, EngineDrive, Gearbox, HeaveSpring, Hitch, Hull, Kingpin,
    LateralCompliance, LaunchControl, LaunchDevice, LockUp, Motor, Powertrain, ProbeShape, RaycastReference,
    RollingCoefficients, SpeedSteering, StabilityControl, Steering, SteeringCompliance, Strut, ToeCamberCurves,
    TorqueCoupling, TractionControl, TrailerBrakes, Tyre, Unsprung, Wheel,
};
use skidpad::core::tyre::{Brush, CurveLaw, CurveTyre, DirectionCurve, TMeasy};
use skidpad::core::{Controls, Mat3, Model, ModelParts, SolverInfo, Vec3};

use crate::common::{Drive, own_code, shipped};

/// Parts of a model that contain numbers.
trait Numbers {
    /// Calls `visit` with the name and value of each number, in a fixed order.
    fn each(&mut self, name: &str, visit: &mut dyn FnMut(&str, &mut f32));
}

impl Numbers for f32 {
    fn each(&mut self, name: &str, visit: &mut dyn FnMut(&str, &mut f32)) {
        visit(name, self);
    }
}

macro_rules! without_numbers {
    ($($type:ty)*) => { $(impl Numbers for $type {
        fn each(&mut self, _: &str, _: &mut dyn FnMut(&str, &mut f32)) {}
    })* };
}

// Constructors check curves and tables.
without_numbers! {
    usize u32 bool i8 skidpad::core::model::Side skidpad::core::model::BarForcePath skidpad::core::model::Curve
    skidpad::core::model::BilinearTable skidpad::core::ExternalForce skidpad::core::tyre::MagicFormula
}

macro_rules! lists {
    ($([$($bounds:tt)*] $type:ty;)*) => { $(impl<T: Numbers $($bounds)*> Numbers for $type {
        fn each(&mut self, name: &str, visit: &mut dyn FnMut(&str, &mut f32)) {
            self.iter_mut().enumerate().for_each(|(i, item)| item.each(&format!("{name}[{i}]"), visit));
        }
    })* };
}

lists! { [] Vec<T>; [] Box<[T]>; [] Option<T>; }

impl<T: Numbers, const N: usize> Numbers for [T; N] {
    fn each(&mut self, name: &str, visit: &mut dyn FnMut(&str, &mut f32)) {
        self.iter_mut().enumerate().for_each(|(i, item)| item.each(&format!("{name}[{i}]"), visit));
    }
}

impl<T: Numbers> Numbers for Box<T> {
    fn each(&mut self, name: &str, visit: &mut dyn FnMut(&str, &mut f32)) {
        (**self).each(name, visit);
    }
}

impl Numbers for Vec3 {
    fn each(&mut self, name: &str, visit: &mut dyn FnMut(&str, &mut f32)) {
        let mut numbers = self.to_array();
        numbers.each(name, visit);
        *self = numbers.into();
    }
}

impl Numbers for Mat3 {
    fn each(&mut self, name: &str, visit: &mut dyn FnMut(&str, &mut f32)) {
        let mut numbers = self.to_cols_array();
        numbers.each(name, visit);
        *self = Mat3::from_cols_array(&numbers);
    }
}

/// Implements `Numbers` for structs. The pattern names every field: a struct with a field that is missing here does not
/// compile.
macro_rules! fields {
    ($($type:path { $($field:ident)* })*) => { $(impl Numbers for $type {
        fn each(&mut self, name: &str, visit: &mut dyn FnMut(&str, &mut f32)) {
            let Self { $($field),* } = self;
            $($field.each(&format!("{name}.{}", stringify!($field)), visit);)*
        }
    })* };
}

fields! {
    ModelParts {
        mass inertia centre_height wheels axles tyres bars heave_springs steering powertrain motors couplings aero hull raycast_reference
        assists hitch coupler external_forces
    }
    Hitch { point roll_rate roll_damping yaw_damping yaw_friction largest_yaw largest_pitch breaking_force carried_mass }
    Coupler { point brakes }
    Wheel {
        axle side contact radius spin_inertia tyre strut mirrored toe camber brake_torque handbrake_torque disc rolling
        unsprung probe
    }
    Strut { rate progressive_rate bump_damping rebound_damping bump_travel droop_travel stop_rate stop_travel knees }
    DamperKnee { speed fast_ratio }
    BrakeDisc { heat_capacity cooling fade_range min_torque_factor }
    RollingCoefficients { constant linear quadratic static_coefficient static_fade_speed }
    Unsprung { mass tyre_rate tyre_damping }
    Axle { steer_ratio ackermann turning_distance toe_camber solid roll_centre_height lateral_compliance force_point_height }
    LateralCompliance { rate damping }
    ToeCamberCurves { toe camber }
    Steering { lock rate wheel_ratio kingpin compliance assist_share }
    SteeringCompliance { stiffness time_constant }
    Kingpin { trail scrub_radius caster inclination pneumatic_trail }
    AntiRollBar { wheels rate speed_range force_path }
    HeaveSpring { wheels rate damping }
    TorqueCoupling { sides friction bias viscous }
    EngineDrive { engine launch_device gearbox torque_shares }
    Engine { torque drag idle_speed limiter_speed inertia throttle_map stall_speed }
    Gearbox {
        forward reverse final_drive efficiency shift_time up_speed easy_up_speed down_speed kick_down_speed cvt
    }
    Cvt { engine_speeds max_ratio_rate }
    Clutch { capacity engaged_speed }
    Converter { capacity torque_ratio lock_up }
    LockUp { capacity speed lowest_gear }
    Motor {
        wheels peak_torque power max_speed reduction efficiency inertia lift_regeneration brake_regeneration
    }
    Aero { drag drag_point side side_point downforce maps }
    AeroMaps { at_rest heights yaw }
    AeroSurface { coefficient point }
    Hull { centre half_extents }
    RaycastReference { roll_influence largest_suspension_force }
    Assists { abs stability traction launch cruise counter_steer speed_steering lowered_centre angular_drag }
    AntiLock { slip time_constant min_speed select_low_axles }
    StabilityControl { understeer_gradient max_acceleration max_sideslip tolerance time_constant slip speed_range }
    TractionControl { slip min_slip_speed time_constant brake_share }
    LaunchControl { engine_speed slip min_slip_speed time_constant max_speed }
    CruiseControl { time_constant max_acceleration may_brake }
    CounterSteer { gain max_angle speed_range }
    SpeedSteering { speed_range factors }
    CurveTyre { law friction load_sensitivity nominal_load relaxation }
    Brush { bristle_stiffness half_length friction load_sensitivity nominal_load }
    TMeasy { nominal_load nominal double relaxation }
    DirectionCurve { slope largest largest_slip sliding sliding_slip }
}

impl Numbers for TrailerBrakes {
    fn each(&mut self, name: &str, visit: &mut dyn FnMut(&str, &mut f32)) {
        if let Self::Overrun(full) = self {
            full.each(name, visit);
        }
    }
}

impl Numbers for ProbeShape {
    fn each(&mut self, name: &str, visit: &mut dyn FnMut(&str, &mut f32)) {
        if let Self::Cylinder(width) | Self::Torus(width) = self {
            width.each(name, visit);
        }
    }
}

impl Numbers for CurveLaw {
    fn each(&mut self, name: &str, visit: &mut dyn FnMut(&str, &mut f32)) {
        match self {
            Self::Coulomb { deflection } => deflection.each(name, visit),
            Self::Linear { stiffness } | Self::LinearPerLoad { stiffness } => stiffness.each(name, visit),
            Self::SlipCurve { extremum_slip, asymptote_slip, asymptote } => {
                [extremum_slip, asymptote_slip, asymptote].into_iter().for_each(|numbers| numbers.each(name, visit));
            }
        }
    }
}

impl Numbers for Tyre {
    fn each(&mut self, name: &str, visit: &mut dyn FnMut(&str, &mut f32)) {
        match self {
            Self::Curve(tyre) => tyre.each(name, visit),
            Self::Brush(tyre) => tyre.each(name, visit),
            Self::TMeasy(tyre) => tyre.each(name, visit),
            Self::MagicFormula { formula: _, pressure } => pressure.each(name, visit),
        }
    }
}

impl Numbers for LaunchDevice {
    fn each(&mut self, name: &str, visit: &mut dyn FnMut(&str, &mut f32)) {
        match self {
            Self::Clutch(clutch) => clutch.each(name, visit),
            Self::Converter(converter) => converter.each(name, visit),
        }
    }
}

impl Numbers for Powertrain {
    fn each(&mut self, name: &str, visit: &mut dyn FnMut(&str, &mut f32)) {
        match self {
            Self::None => {}
            Self::Direct(torques) => torques.each(name, visit),
            Self::Engine(drive) => drive.each(name, visit),
        }
    }
}

fn count(parts: &mut ModelParts) -> usize {
    let mut numbers = 0;
    parts.each("", &mut |_, _| numbers += 1);
    numbers
}

/// Returns `parts` with number `at` set to `value`, and a text with its name, its value and its previous value.
fn with(parts: &ModelParts, at: usize, value: f32) -> (String, ModelParts) {
    let (mut parts, mut i, mut found) = (parts.clone(), 0, String::new());
    parts.each("", &mut |name, number| {
        if i == at {
            (found, *number) = (format!("{name} = {value}, was {number}"), value);
        }
        i += 1;
    });
    (found, parts)
}

/// Returns a Corvette with every optional part of suspension and body, and with every assist.
fn with_everything() -> ModelParts {
    let mut parts = shipped("corvette_c5");
    for wheel in &mut parts.wheels {
        wheel.strut.knees = [DamperKnee { speed: 0.1, fast_ratio: 0.4 }; 2];
        wheel.disc = Some(BrakeDisc {
            heat_capacity: 5e3,
            cooling: [10.0, 3.0],
            fade_range: [300.0, 600.0],
            min_torque_factor: 0.5,
        });
        wheel.unsprung = Some(Unsprung { mass: 40.0, tyre_rate: 2.5e5, tyre_damping: 300.0 });
        wheel.rolling = RollingCoefficients { static_coefficient: 0.03, static_fade_speed: 0.2, ..wheel.rolling };
    }
    for axle in &mut parts.axles {
        axle.toe_camber = Some(ToeCamberCurves { toe: [0.1, 0.5], camber: [-0.5, -1.0] });
        axle.lateral_compliance = Some(LateralCompliance { rate: 2e5, damping: 1e4 });
    }
    parts.steering.kingpin =
        Some(Kingpin { trail: 0.03, scrub_radius: 0.01, caster: 0.1, inclination: 0.2, pneumatic_trail: 0.02 });
    parts.steering.compliance = Some(SteeringCompliance { stiffness: 2e4, time_constant: 0.01 });
    parts.heave_springs = vec![HeaveSpring { wheels: [0, 1], rate: 2e4, damping: 500.0 }];
    parts.couplings = vec![TorqueCoupling {
        friction: 30.0,
        bias: [1.5, 1.2],
        viscous: 2.0,
        ..TorqueCoupling::locked([[2].into(), [3].into()])
    }];
    parts.motors = shipped("tesla_model3_awd").motors;
    let maps = AeroMaps { at_rest: [0.1; 2], heights: Default::default(), yaw: Default::default() };
    parts.aero.maps = Some(Box::new(maps));
    parts.assists = crate::assists::fitted::all();
    parts
}

/// Returns cars that together have every kind of part.
fn cars() -> Vec<ModelParts> {
    let mut on_brushes = shipped("toyota_4runner");
    on_brushes.tyres = vec![Tyre::Brush(Brush {
        bristle_stiffness: [2e7, 1.5e7],
        half_length: 0.07,
        friction: [1.0, 0.9],
        load_sensitivity: 0.1,
        nominal_load: 5e3,
    })];
    on_brushes.wheels.iter_mut().for_each(|wheel| wheel.tyre = 0);
    vec![
        with_everything(),
        on_brushes,
        shipped("unity_default"),
        shipped("corvette_c5_tmeasy"),
        shipped("bmw_320i_mf"),
        shipped("bmw_320i_commonroad"),
    ]
}

/// Drives for 100 steps at 60 Hz. Returns the first step after which the state is not finite; `None` without such a step or
/// for an invalid model.
fn fails_at(solver: &SolverInfo, parts: &ModelParts) -> Option<usize> {
    let model = Model::new(parts.clone()).ok()?;
    let mut car = Drive::rolling(solver, &model.into(), 20.0, 60.0);
    (0..100).find(|step| {
        let brake = if step % 40 > 30 { 0.8 } else { 0.0 };
        car.step(&Controls { throttle: 0.6, brake, steer: 0.05, ..Controls::default() });
        !car.world.state(0).is_finite()
    })
}

/// A number that is not finite or has the wrong sign is an error of the model, or harmless: no panic, no NaN within a
/// hundred steps. NaN is always an error.
#[test]
fn every_number_of_a_model_is_checked() {
    let mut faults = Vec::new();
    for mut parts in cars() {
        assert!(Model::new(parts.clone()).is_ok(), "{:?}", Model::new(parts));
        for at in 0..count(&mut parts) {
            for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0] {
                let (name, broken) = with(&parts, at, value);
                assert!(!value.is_nan() || Model::new(broken.clone()).is_err(), "{name} is let in");
                let failing = own_code().into_iter().filter_map(|solver| {
                    fails_at(&solver, &broken).map(|step| format!("{}: step {step}: {name}", solver.name))
                });
                faults.extend(failing);
            }
        }
    }
    assert!(faults.is_empty(), "{}\n{}", faults.len(), faults.join("\n"));
}
