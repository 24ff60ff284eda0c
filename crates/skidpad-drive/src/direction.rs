//! Automatic reverse: the brake pedal drives backwards from a standstill, and the accelerator then brakes.

use skidpad_core::State;

/// Direction in which the pedals drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Forward: the accelerator drives, the brake brakes.
    #[default]
    Forward,
    /// Reverse: the brake pedal drives backwards, the accelerator brakes.
    Reverse,
}

/// Pedals of the car after the exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pedals {
    /// Throttle, 0 to 1.
    pub throttle: f32,
    /// Brake, 0 to 1.
    pub brake: f32,
}

/// Automatic reverse, and brakes that hold a standing car without pedal input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutoReverse {
    /// Time for which the car must stand with its brake pressed before the direction changes, s, ≥ 0.
    pub direction_pause_s: f32,
    /// Whether the brakes hold the car while it stands and the throttle is closed. They are released as the throttle
    /// opens.
    pub holds_at_standstill: bool,
    /// Direction in which the pedals drive.
    direction: Direction,
    /// Time for which the car has stood with only the brake pedal pressed, s.
    standstill_time: f32,
    /// Brake position that holds the car, 0 to 1.
    holding_brake: f32,
}

/// Speed below which a car counts as standing, m/s.
const STATIONARY_SPEED_MPS: f32 = 0.3;

/// Pedal position below which a pedal counts as released, 0 to 1.
const PEDAL_DEADBAND: f32 = 0.05;

/// Time in which brakes that held the car are released, s: about as long as a clutch slips at a start.
const BRAKE_RELEASE_TIME_S: f32 = 0.4;

impl Default for AutoReverse {
    /// Returns a car that drives forward, changes direction after 0.15 s, and is held at a standstill.
    fn default() -> Self {
        Self {
            direction_pause_s: 0.15,
            holds_at_standstill: true,
            direction: Direction::Forward,
            standstill_time: 0.0,
            holding_brake: 0.0,
        }
    }
}

impl AutoReverse {
    /// Returns the direction in which the pedals drive.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Sets the direction to forward and releases the brakes that hold the car.
    pub fn reset(&mut self) {
        (self.direction, self.standstill_time, self.holding_brake) = (Direction::Forward, 0.0, 0.0);
    }

    /// Computes the car's pedals (0 to 1) from the player's pedals after `dt` s, and updates direction, standstill time
    /// and holding brake. `is_standing` is the result of [`is_stationary`] for the car.
    ///
    /// The standstill time grows while the car stands and only the pedal that brakes in this direction is pressed (more
    /// than 0.05); otherwise it is 0. When it exceeds [`AutoReverse::direction_pause_s`], the direction changes, which
    /// applies already to this call, and the time is 0 again. In reverse the pedals are exchanged.
    ///
    /// If [`AutoReverse::holds_at_standstill`] is set, a standing car with closed throttle is braked fully (holding
    /// brake). The holding brake is released within 0.4 s as the throttle opens, and at once if the car rolls with
    /// closed throttle. The larger of pedal brake and holding brake counts.
    pub fn pedals(&mut self, accelerator: f32, brake: f32, is_standing: bool, dt: f32) -> Pedals {
        // Pedal of the other direction (it brakes), and pedal of this direction.
        let (braking_pedal, driving_pedal) = match self.direction {
            Direction::Forward => (brake, accelerator),
            Direction::Reverse => (accelerator, brake),
        };
        self.standstill_time = if is_standing && braking_pedal > PEDAL_DEADBAND && driving_pedal <= PEDAL_DEADBAND {
            self.standstill_time + dt
        } else {
            0.0
        };
        if self.standstill_time > self.direction_pause_s {
            self.standstill_time = 0.0;
            self.direction = match self.direction {
                Direction::Forward => Direction::Reverse,
                Direction::Reverse => Direction::Forward,
            };
        }
        // Pedals after a possible change of direction.
        let (throttle, pedal_brake) = match self.direction {
            Direction::Forward => (accelerator, brake),
            Direction::Reverse => (brake, accelerator),
        };
        self.holding_brake = match (self.holds_at_standstill, throttle > PEDAL_DEADBAND) {
            // Closed throttle: hold.
            (true, false) if is_standing => 1.0,
            // Open throttle: release gradually, also while the car rolls away.
            (true, true) => (self.holding_brake - dt / BRAKE_RELEASE_TIME_S).max(0.0),
            _ => 0.0,
        };
        Pedals { throttle, brake: pedal_brake.max(self.holding_brake) }
    }
}

/// Returns true if a car in `state` stands on the ground below its wheels, even if that ground moves. A car in the air
/// stands if it is slower than 0.3 m/s relative to the world.
///
/// Every touching wheel must roll slower than 0.3 m/s, and its contact patch must stick
/// ([`skidpad_core::state::WheelState::rolling`] is 0) unless the car itself is slower than that. In a state that was
/// set by hand, these values are valid only after a step.
pub fn is_stationary(state: &State) -> bool {
    // Peers never report that contact patches stick, and wheels may spin under a car that stands.
    let is_still = state.velocity.length() < STATIONARY_SPEED_MPS;
    let mut touching_wheels = state.wheels.iter().filter(|wheel| wheel.contact).peekable();
    if touching_wheels.peek().is_none() {
        return is_still;
    }
    touching_wheels.all(|wheel| wheel.rolling_speed.abs() < STATIONARY_SPEED_MPS && (is_still || wheel.rolling == 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the brake pedal brakes while the car moves, drives backwards after 0.15 s at a standstill, that the
    /// pedals are then exchanged, and that the accelerator changes back to forward at a standstill.
    #[test]
    fn the_brake_pedal_drives_back_only_from_a_standstill() {
        let mut reverse = AutoReverse { holds_at_standstill: false, ..AutoReverse::default() };
        for _ in 0..100 {
            assert_eq!(reverse.pedals(0.0, 1.0, false, 0.01), Pedals { throttle: 0.0, brake: 1.0 });
        }
        let braked_steps = (0..100).take_while(|_| reverse.pedals(0.0, 1.0, true, 0.01).brake == 1.0).count();
        assert!((14..=16).contains(&braked_steps), "it stood for {braked_steps} hundredths of a second");
        assert_eq!(reverse.direction(), Direction::Reverse);
        assert_eq!(reverse.pedals(0.4, 0.0, false, 0.01), Pedals { throttle: 0.0, brake: 0.4 }, "pedals are exchanged");
        for _ in 0..20 {
            reverse.pedals(0.4, 0.0, true, 0.01);
        }
        assert_eq!(reverse.direction(), Direction::Forward);
    }

    /// Checks that the brake holds a standing car, does not brake a rolling one, and falls steadily to 0 within 0.45 s
    /// as the throttle opens.
    #[test]
    fn a_standing_car_is_held_until_its_throttle_has_opened() {
        let mut reverse = AutoReverse::default();
        assert_eq!(reverse.pedals(0.0, 0.0, true, 0.01).brake, 1.0);
        assert_eq!(reverse.pedals(0.0, 0.0, false, 0.01).brake, 0.0, "a rolling one is not");
        reverse.pedals(0.0, 0.0, true, 0.01);
        let held: Vec<f32> = (0..50).map(|_| reverse.pedals(1.0, 0.0, true, 0.01).brake).collect();
        assert!(held.windows(2).all(|pair| pair[1] <= pair[0]) && held[0] > 0.9 && held[45] == 0.0);
    }

    /// Checks that both pedals pressed at a standstill keep the forward direction, and that the throttle is passed on.
    #[test]
    fn both_pedals_at_once_change_nothing() {
        let mut reverse = AutoReverse::default();
        for _ in 0..100 {
            assert_eq!(reverse.pedals(1.0, 1.0, true, 0.01).throttle, 1.0);
        }
        assert_eq!(reverse.direction(), Direction::Forward);
    }
}
