//! States of the cars of a block, one car per SIMD lane.

use crate::state::{DriveState, State, WheelState};
use bevy_math::{DVec3, Quat, Vec3};
use skidpad_simd::lane::BlockLanes;
use skidpad_simd::vectors::Vec3Lanes;

/// States of the cars of a block; fields as in [`State`]. A block has no trailers.
#[derive(Clone, Debug)]
pub struct BlockState<W: BlockLanes> {
    /// Components x, y and z of the position of the centre of mass, world, m.
    pub position: [W::Array<f64>; 3],
    /// Quaternion (x, y, z, w) from vehicle axes to world axes.
    pub rotation: [W; 4],
    /// Velocity of the position, world, m/s.
    pub velocity: Vec3Lanes<W>,
    /// Angular velocity, world, rad/s.
    pub angular_velocity: Vec3Lanes<W>,
    /// Velocity one step ago, world, m/s.
    pub previous_velocity: Vec3Lanes<W>,
    /// Mean road-wheel angle that the steering has reached, rad.
    pub steer: W,
    /// States of engine, clutch and gearbox.
    pub drive: DriveBlock<W>,
    /// States of the wheels, in wheel order.
    pub wheels: Box<[WheelBlock<W>]>,
    /// Steering angle for which the axle directions of all wheels are valid, rad.
    pub(crate) applied_steer: W,
    /// Bits of the cars for which `applied_steer` is valid.
    pub(crate) is_steer_applied: u32,
}

/// States of the drivetrains of the cars of a block; fields as in [`DriveState`]. A block has no motors and couplings.
#[derive(Clone, Copy, Debug, Default)]
pub struct DriveBlock<W: BlockLanes> {
    /// Speed of the crankshaft, rad/s.
    pub engine_speed: W,
    /// Mean torque of the clutch over the last step, N m.
    pub clutch: W,
    /// Present ratio of a continuous gearbox, without the final drive; 0 for other gearboxes.
    pub ratio: W,
    /// Remaining time of a running shift, s.
    pub shift_left: W,
    /// Time since the last shift ended, s, up to 1000.
    pub since_shift: W,
    /// Engaged gear: −1, 0, 1…
    pub gear: W,
    /// Gear that a running shift will engage.
    pub next_gear: W,
    /// Engine turns per turn of the propeller shaft in the engaged gear; NaN if it is not known.
    pub(crate) gear_ratio: W,
}

/// States of one wheel of each car of a block; fields as in [`WheelState`]. Travel rate and lateral displacement are 0,
/// because a block has no wheels with an unsprung mass and no compliant axles.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct WheelBlock<W: BlockLanes> {
    // The order differs from that of the start state in the rows: equal orders would become calls of `memcpy`.
    /// Spin rate about the axle, rad/s.
    pub spin: W,
    /// Compression from rest, m, positive in jounce.
    pub compression: W,
    /// Longitudinal and lateral deflection of the contact patch, m.
    pub deflection: [W; 2],
    /// Mean load over the last step along the contact normal, N, ≥ 0.
    pub load: W,
    /// Mean longitudinal and lateral tyre force over the last step, N.
    pub tyre: [W; 2],
    /// Mean torque of brake, drive and rolling resistance over the last step, N m.
    pub torque: W,
    /// Share of rolling, 0 to 1.
    pub rolling: W,
    /// Speed of the wheel centre along the rolling direction after the last step, m/s.
    pub rolling_speed: W,
    /// Sine of the camber angle relative to the ground.
    pub lean: W,
    /// Overturning and aligning moment of the tyre at the start of the last step, N m.
    pub moments: [W; 2],
    /// Road-wheel angle, rad.
    pub steer: W,
    /// Temperature of the brake disc above that of the air, K; 0 without a disc.
    pub disc: W,
    /// Friction factor of the ground under the patch minus 1; 0 without contact.
    pub grip_excess: W,
    /// Bits of the cars whose wheel was in contact with the ground.
    pub contact_bits: u32,
    /// Unit vector along the axle, to the left, vehicle frame.
    pub(crate) axle: Vec3Lanes<W>,
    /// Mean road-wheel angle to which `axle` belongs, rad; NaN if `axle` is not valid.
    pub(crate) axle_angle: W,
}

impl<W: BlockLanes> BlockState<W> {
    /// Creates a block of equal cars in `state`. Drops the parts that a block does not have: trailers, motors,
    /// couplings, travel rates and lateral displacements. Axle directions and gear ratios are not known yet.
    pub fn new(state: &State) -> Self {
        let number = W::splat;
        let vector = |vector: Vec3| Vec3Lanes::splat(vector);
        let wheel =
            |wheel: &WheelState| WheelBlock { axle_angle: W::splat(f32::NAN), ..WheelBlock::default() }.with_all(wheel);
        let DriveState { engine_speed, gear, next_gear, ratio, shift_left, since_shift, clutch, .. } = state.drive;
        Self {
            position: state.position.to_array().map(|component| W::array_from_fn(|_| component)),
            rotation: state.rotation.to_array().map(number),
            velocity: vector(state.velocity),
            angular_velocity: vector(state.angular_velocity),
            previous_velocity: vector(state.previous_velocity),
            steer: number(state.steer),
            drive: DriveBlock {
                engine_speed: number(engine_speed),
                clutch: number(clutch),
                ratio: number(ratio),
                shift_left: number(shift_left),
                since_shift: number(since_shift),
                gear: number(f32::from(gear)),
                next_gear: number(f32::from(next_gear)),
                gear_ratio: number(f32::NAN),
            },
            wheels: state.wheels.iter().map(wheel).collect(),
            applied_steer: number(0.0),
            is_steer_applied: 0,
        }
    }

    /// Sets the state of `car`, which has the wheels of the block and is not towed. Drops torques of motors and
    /// couplings, and travel rates and lateral displacements of the wheels. The stored axle directions of the car
    /// become invalid.
    pub fn set_car(&mut self, car: usize, state: &State) {
        let set = |lanes: &mut W, number: f32| *lanes = lanes.with_number(car, number);
        let set_vector = |lanes: &mut Vec3Lanes<W>, vector: Vec3| {
            set(&mut lanes.x, vector.x);
            set(&mut lanes.y, vector.y);
            set(&mut lanes.z, vector.z);
        };
        for (lanes, component) in self.position.iter_mut().zip(state.position.to_array()) {
            lanes.as_mut()[car] = component;
        }
        for (lanes, component) in self.rotation.iter_mut().zip(state.rotation.to_array()) {
            set(lanes, component);
        }
        set_vector(&mut self.velocity, state.velocity);
        set_vector(&mut self.angular_velocity, state.angular_velocity);
        set_vector(&mut self.previous_velocity, state.previous_velocity);
        set(&mut self.steer, state.steer);
        self.drive.set_car(car, &state.drive);
        for (lanes, wheel) in self.wheels.iter_mut().zip(&state.wheels) {
            lanes.set_car(car, wheel);
        }
        self.is_steer_applied &= !(1 << car);
    }

    /// Writes the state of `car` into `state`, which has the same number of wheels. Parts that a block does not have
    /// become 0, and the vehicle is not towed.
    pub fn write_car(&self, car: usize, state: &mut State) {
        let vector = |lanes: &Vec3Lanes<W>| Vec3::new(lanes.x.number(car), lanes.y.number(car), lanes.z.number(car));
        let [x, y, z] = &self.position;
        state.position = DVec3::new(x.as_ref()[car], y.as_ref()[car], z.as_ref()[car]);
        state.rotation = Quat::from_array(self.rotation.map(|lanes| lanes.number(car)));
        state.velocity = vector(&self.velocity);
        state.angular_velocity = vector(&self.angular_velocity);
        state.previous_velocity = vector(&self.previous_velocity);
        state.steer = self.steer.number(car);
        state.drive = self.drive.car(car);
        for (lanes, wheel) in self.wheels.iter().zip(&mut state.wheels) {
            *wheel = lanes.car(car);
        }
        state.tow = None;
    }
}

impl<W: BlockLanes> DriveBlock<W> {
    /// Returns the state of the drivetrain of `car`.
    pub fn car(&self, car: usize) -> DriveState {
        DriveState {
            engine_speed: self.engine_speed.number(car),
            // Gears are whole numbers of 8 bits.
            gear: self.gear.number(car) as i8,
            next_gear: self.next_gear.number(car) as i8,
            ratio: self.ratio.number(car),
            shift_left: self.shift_left.number(car),
            since_shift: self.since_shift.number(car),
            clutch: self.clutch.number(car),
            ..DriveState::default()
        }
    }

    /// Sets the state of the drivetrain of `car`, without motors and couplings. Its overall gear ratio becomes unknown
    /// (NaN).
    pub fn set_car(&mut self, car: usize, state: &DriveState) {
        let set = |lanes: &mut W, number: f32| *lanes = lanes.with_number(car, number);
        set(&mut self.engine_speed, state.engine_speed);
        set(&mut self.clutch, state.clutch);
        set(&mut self.ratio, state.ratio);
        set(&mut self.shift_left, state.shift_left);
        set(&mut self.since_shift, state.since_shift);
        set(&mut self.gear, f32::from(state.gear));
        set(&mut self.next_gear, f32::from(state.next_gear));
        set(&mut self.gear_ratio, f32::NAN);
    }
}

impl<W: BlockLanes> WheelBlock<W> {
    /// Returns the wheels with the state of `wheel` for every car.
    fn with_all(mut self, wheel: &WheelState) -> Self {
        for car in 0..W::LANE_COUNT {
            self.set_car(car, wheel);
        }
        self
    }

    /// Returns the state of the wheel of `car`. Travel rate, lateral displacement (`shift`) and deflection of the
    /// steering linkage are 0, because a block has no wheels with an unsprung mass, no compliant axles and no compliant
    /// linkage.
    pub fn car(&self, car: usize) -> WheelState {
        let number = |lanes: W| lanes.number(car);
        let [overturning, aligning] = self.moments.map(number);
        WheelState {
            spin: number(self.spin),
            deflection: self.deflection.map(number),
            torque: number(self.torque),
            tyre: self.tyre.map(number),
            rolling_speed: number(self.rolling_speed),
            rolling: number(self.rolling),
            compression: number(self.compression),
            travel_rate: 0.0,
            load: number(self.load),
            lean: number(self.lean),
            overturning,
            aligning,
            steer: number(self.steer),
            disc: number(self.disc),
            shift: 0.0,
            grip_excess: number(self.grip_excess),
            steer_deflection: 0.0,
            contact: self.contact_bits & (1 << car) != 0,
        }
    }

    /// Sets the state of the wheel of `car`, without travel rate, lateral displacement and deflection of the linkage. Its axle direction becomes
    /// invalid.
    pub fn set_car(&mut self, car: usize, wheel: &WheelState) {
        let set = |lanes: &mut W, number: f32| *lanes = lanes.with_number(car, number);
        set(&mut self.spin, wheel.spin);
        set(&mut self.torque, wheel.torque);
        for k in 0..2 {
            set(&mut self.deflection[k], wheel.deflection[k]);
            set(&mut self.tyre[k], wheel.tyre[k]);
        }
        set(&mut self.rolling_speed, wheel.rolling_speed);
        set(&mut self.rolling, wheel.rolling);
        set(&mut self.compression, wheel.compression);
        set(&mut self.load, wheel.load);
        set(&mut self.lean, wheel.lean);
        set(&mut self.moments[0], wheel.overturning);
        set(&mut self.moments[1], wheel.aligning);
        set(&mut self.steer, wheel.steer);
        set(&mut self.disc, wheel.disc);
        set(&mut self.grip_excess, wheel.grip_excess);
        self.contact_bits = (self.contact_bits & !(1 << car)) | (u32::from(wheel.contact) << car);
        set(&mut self.axle_angle, f32::NAN);
    }
}
