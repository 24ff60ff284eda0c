//! Stages of a step of a block that differ from those of a single car.

use core::marker::PhantomData;

use crate::assembly::aero::{air_impulses, mapped_factors};
use crate::assists::parameters::AntiLock;
use crate::controls::clamp_lanes_or_zero;
use crate::state::block::BlockState;
use crate::step::block::controls::BlockControls;
use crate::step::block::wheels::BlockWheels;
use crate::step::loads::{LoadWheels, solve_load_rows};
use crate::step::stages::Stages;
use crate::step::step_wheels::{RowPass, Velocities};
use crate::step_report::StepReport;
use crate::suspension::rows::LoadSolution;
use crate::vehicle::wheel_impulses;
use bevy_math::Vec3;
use skidpad_simd::lane::BlockLanes;
use skidpad_simd::linear::SpatialVector;
use skidpad_simd::vectors::Vec3Lanes;
use skidpad_simd::wheel_groups::WheelGroups;

/// Step of a block of cars, whose rows are solved by the pass `P`.
pub(crate) struct BlockStep<'a, W: BlockLanes, P> {
    /// Wheels of all cars.
    pub wheels: BlockWheels<'a, W>,
    /// Inputs of the drivers.
    pub controls: &'a BlockControls<W>,
    /// Demands for throttle, foot brake and handbrake, 0 to 1.
    pub pedals: [W; 3],
    /// Cars with a wheel off the ground.
    pub has_airborne_wheel: W::Mask,
    /// Result: impulses on the chassis (N s) and angular impulses about the centre of mass (N m s), world axes.
    pub impulses: [Vec3Lanes<W>; 2],
    pass: PhantomData<P>,
}

impl<'a, W: BlockLanes, P> BlockStep<'a, W, P> {
    /// Creates the step of the cars of `wheels` with their `controls`. Pedals are clamped to 0 to 1; numbers that are
    /// not finite count as 0.
    #[inline(always)]
    pub fn new(wheels: BlockWheels<'a, W>, controls: &'a BlockControls<W>) -> Self {
        let clamp_pedal = |pedal: W| clamp_lanes_or_zero(pedal, W::splat(0.0), W::splat(1.0));
        let BlockControls { throttle, brake, handbrake, .. } = *controls;
        Self {
            wheels,
            controls,
            pedals: [clamp_pedal(throttle), clamp_pedal(brake), clamp_pedal(handbrake)],
            has_airborne_wheel: W::Mask::default(),
            impulses: [Vec3Lanes::default(); 2],
            pass: PhantomData,
        }
    }

    /// Returns the states at the start of the step.
    #[inline(always)]
    pub fn state(&self) -> &'a BlockState<W> {
        self.wheels.state
    }
}

impl<'a, B: WheelGroups, W: BlockLanes, P: RowPass> Stages<B> for BlockStep<'a, W, P> {
    type Wheels = BlockWheels<'a, W>;

    #[inline(always)]
    fn wheels(&mut self) -> &mut BlockWheels<'a, W> {
        &mut self.wheels
    }

    /// Copies the start states of the wheels into the rows, then steers, which rotates standing patches in these
    /// copies. Selects driving directions of cars without an engine, sets the impulses of direct drive and brakes (with
    /// fading of hot discs), and begins engines, gears and clutches.
    #[inline(always)]
    fn apply_driver_demand(&mut self) {
        let state = self.state();
        for ((pack, rows), wheel) in self.wheels.wheels::<B>().zip(&state.wheels) {
            // Field by field: copies of the whole struct would become calls of `memcpy`.
            let start = &mut rows.start;
            (start.spin, start.torque, start.rolling) = (wheel.spin, wheel.torque, wheel.rolling);
            (start.deflection, start.tyre) = (wheel.deflection, wheel.tyre);
            start.rolling_speed = wheel.rolling_speed;
            start.moments = if pack.laws.is_empty() { [W::default(); 2] } else { wheel.moments };
        }
        self.steer::<B>();
        let direction = self.select_directions();
        let ([throttle, foot_brake, handbrake], dt) = (self.pedals, self.wheels.stepper.dt);
        let signed_throttle = throttle * direction;
        for ((pack, rows), wheel) in self.wheels.wheels::<B>().zip(&state.wheels) {
            let [motor_torque, mut brake_torque] = pack.pedal_torques([signed_throttle, foot_brake, handbrake]);
            if let Some(discs) = &pack.discs {
                brake_torque = brake_torque * discs.torque_factor(wheel.disc);
            }
            rows.set_drive_impulses(pack, [motor_torque, brake_torque], dt);
        }
        self.begin_engines::<B>();
    }

    /// Sets contacts, row directions and initial tyre impulses of every wheel, and stores the cars with a wheel off the
    /// ground. The ground is at rest, and may have textures.
    ///
    /// For each wheel: sets the contact in the middle of the step, extrapolates the compression to its start, sets the
    /// motion of ground and contact, restores the tyre impulses and moments of the last step, and resets the loads.
    /// Wheels without contact are then moved to their equilibrium in droop.
    #[inline(always)]
    fn locate_contacts(&mut self) {
        let (stepper, model) = (&mut *self.wheels.stepper, self.wheels.cars.constants);
        let (chassis, dt, pose_lag) = (&stepper.chassis, stepper.dt, W::splat(stepper.pose_lag));
        let mut has_airborne_wheel = W::Mask::default();
        let wheel_count = B::wheel_count(stepper.wheel_count);
        let packs_and_rows = model.packs[..wheel_count].iter().zip(&mut stepper.rows[..wheel_count]);
        let textures = &stepper.textures;
        // Cars with a texture under any wheel.
        let has_texture = textures.iter().fold(W::Mask::default(), |any, texture| any | texture.has_texture);
        for (wheel, ((pack, rows), contacts)) in packs_and_rows.zip(&stepper.contacts).enumerate() {
            rows.set_contacts(pack, contacts, &chassis.to_vehicle);
            rows.extrapolate_to_start(pack, chassis.start_velocity, dt);
            if textures.is_empty() {
                rows.contact.ground_motion.reset();
            } else {
                let rolling_resistance = textures[wheel].rolling_resistance;
                rows.contact.ground_motion =
                    rows.textured_ground_at_rest(has_texture, rolling_resistance, &chassis.to_vehicle);
            }
            rows.set_contact_motion(chassis.start_velocity, || chassis.free_velocity, pose_lag, dt);
            rows.warm_start_moments(pack, dt);
            rows.reset();
            has_airborne_wheel = has_airborne_wheel | !rows.contact.in_contact;
        }
        self.has_airborne_wheel = has_airborne_wheel;
        if W::any(has_airborne_wheel) {
            self.set_droop_compressions::<B>(has_airborne_wheel);
        }
    }

    /// Returns the impulses of the air (N s, N m s), at the air velocity at the start of the step plus half of the
    /// change `tyre_response`, with the factors of the aerodynamic maps if the model has maps. A block has no other
    /// external forces.
    #[inline(always)]
    fn external_impulses(&mut self, tyre_response: Vec3Lanes<W>) -> SpatialVector<W> {
        let stepper = &*self.wheels.stepper;
        let air_velocity = stepper.chassis.air_velocity + tyre_response * W::splat(0.5);
        let factors = self.air_factors(air_velocity);
        let model = self.wheels.cars.constants;
        let aero = &model.layout().parts().aero;
        air_impulses(aero, (&model.car.aero, model.car.body.mass), air_velocity, factors, stepper.dt)
    }

    #[inline(always)]
    fn free_velocity(&self) -> SpatialVector<W> {
        self.wheels.stepper.chassis.free_velocity
    }

    /// Detects touchdowns of cars that have a wheel off the ground. Returns `v_warm` unchanged, because a block has
    /// neither rims nor roll-centre links.
    #[inline(always)]
    fn adapt_wheels(&mut self, _: SpatialVector<W>, v_warm: SpatialVector<W>) -> SpatialVector<W> {
        if W::any(self.has_airborne_wheel) {
            self.detect_touchdowns::<B>(v_warm);
        }
        v_warm
    }

    /// Initialises the strut rows, and sums the forces of the axle links at each strut. Axle links of a block are
    /// anti-roll bars within an axle. Where these links would lift a wheel off the ground, the end of the bar is moved
    /// to the balance of strut and bars.
    #[inline(always)]
    fn build_strut_rows(&mut self) {
        let dt = self.wheels.stepper.dt;
        for (pack, rows) in self.wheels.wheels::<B>() {
            rows.init_strut(pack, dt);
        }
        if self.wheels.cars.constants.layout().has_axle_links() {
            self.update_all_bar_forces::<B>();
            let mut lifted = W::Mask::default();
            for (pack, rows) in self.wheels.wheels::<B>() {
                lifted = lifted | rows.wheels_lifted_by_links(pack);
            }
            if W::any(lifted) {
                self.lift_bar_ends::<B>(lifted);
            }
        }
    }

    /// Solves the load rows of all cars from the velocity with the last step's tyre impulses. Marks cars that have not
    /// converged after the allowed solves as unsolved: they are stepped alone outside the block.
    #[inline(always)]
    fn solve_loads(&mut self, _: SpatialVector<W>, v_warm: SpatialVector<W>) -> LoadSolution<W> {
        let dt = self.wheels.stepper.dt;
        let (velocity, converged) = solve_load_rows::<B, _>(&mut self.wheels, v_warm, dt);
        self.wheels.mark_unsolved(!converged);
        // Loads of converged cars are those of the velocity; results of all others are not used.
        LoadSolution { velocity, matches_rows: true }
    }

    /// Linearises the tyre forces of all wheels at the chassis velocity `v_loaded`.
    #[inline(always)]
    fn build_tyre_rows(&mut self, v_loaded: SpatialVector<W>) {
        let stepper = &mut *self.wheels.stepper;
        let (count, dt) = (B::wheel_count(stepper.wheel_count), stepper.dt);
        let model = self.wheels.cars.constants;
        let tyres = &model.layout().parts().tyres;
        for (pack, rows) in model.packs[..count].iter().zip(&mut stepper.rows[..count]) {
            rows.linearise_tyre_rows(pack, tyres, v_loaded, dt);
        }
    }

    /// Applies ABS, the only assist of a block, if any driver presses the brake pedal.
    #[inline(always)]
    fn apply_assists(&mut self, v_loaded: SpatialVector<W>) {
        if let Some(anti_lock) = self.wheels.cars.constants.layout().parts().assists.abs {
            let [_, brake_pedal, _] = self.pedals;
            if W::any(W::splat(0.0).less(brake_pedal)) {
                self.limit_brake_torques::<B>(&anti_lock, brake_pedal, v_loaded);
            }
        }
    }

    /// Solves the rows of shafts and tyres by the pass `P`. Marks the cars that need more than this pass as unsolved.
    #[inline(always)]
    fn solve_coupled_rows(&mut self, velocities: &Velocities<W>) -> StepReport {
        let unsolved = P::solve_cars::<B, _>(&mut self.wheels, velocities);
        self.wheels.mark_unsolved(unsolved);
        StepReport::SINGLE_PASS
    }

    /// Sums `external_impulse`, the impulse of external links (0 in a block) and the impulses of the wheels, loads
    /// included. Rotates the sums to world axes and stores them in `impulses`. Marks cars with an impulse or spin that
    /// is not finite as unsolved, which excludes their impulses.
    #[inline(always)]
    fn write_impulses(&mut self, external_impulse: SpatialVector<W>) {
        let rows = &self.wheels.stepper.rows[..B::wheel_count(self.wheels.stepper.rows.len())];
        // true: loads included.
        let total =
            external_impulse + LoadWheels::<B>::external_link_impulse(&self.wheels) + wheel_impulses(rows, true);
        let spins = rows.iter().fold(W::default(), |sum, rows| sum + rows.solution.spin);
        let to_world = self.wheels.stepper.chassis.to_world;
        let (linear, angular) = (to_world.mul_vector(total.linear), to_world.mul_vector(total.angular));
        let impulse_sum = linear + angular;
        // This sum is finite only if every term is.
        let finite_test = (impulse_sum.x + impulse_sum.y + impulse_sum.z + spins).abs();
        self.wheels.mark_unsolved(!finite_test.less(W::splat(f32::INFINITY)));
        self.impulses = [linear, angular];
    }
}

impl<W: BlockLanes, P> BlockStep<'_, W, P> {
    /// Returns the factors of the aerodynamic maps on drag and on both surfaces, for the `velocity` relative to the air
    /// (vehicle frame, m/s); 1 for a model without maps.
    #[inline(always)]
    fn air_factors(&self, velocity: Vec3Lanes<W>) -> [W; 3] {
        let model = self.wheels.cars.constants.layout();
        let mut factors = [W::splat(1.0); 3];
        let Some(maps) = &model.parts().aero.maps else { return factors };
        for car in 0..W::LANE_COUNT {
            let compression = |i: usize| self.state().wheels[i].compression.number(car);
            let velocity = Vec3::new(velocity.x.number(car), velocity.y.number(car), velocity.z.number(car));
            for (factor, car_factor) in factors.iter_mut().zip(mapped_factors(maps, model, compression, velocity)) {
                *factor = factor.with_number(car, car_factor);
            }
        }
        factors
    }

    /// Removes the part of the brake impulses that would lock wheels (ABS), with the chassis velocity `v_loaded` as
    /// prediction of the end of the step. `brake_pedal` is the position of the brake pedal, 0 to 1.
    #[inline(always)]
    fn limit_brake_torques<B: WheelGroups>(
        &mut self,
        anti_lock: &AntiLock,
        brake_pedal: W,
        v_loaded: SpatialVector<W>,
    ) {
        let dt = self.wheels.stepper.dt;
        for (pack, rows) in self.wheels.wheels::<B>() {
            rows.limit_brake_slip(pack, anti_lock, brake_pedal, v_loaded, dt);
        }
    }
}
