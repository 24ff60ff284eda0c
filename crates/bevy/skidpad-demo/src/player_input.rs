//! Player input from keyboard, gamepad or script.

use bevy::input::gamepad::{GamepadAxis, GamepadButton};
use bevy::prelude::*;
use skidpad_bevy::{CarDriver, CarInputs, CarSystems};
use skidpad_drive::{InputShaping, Inputs, Keys};

/// Marker of the vehicle that the player drives.
#[derive(Component, Clone, Copy, Debug)]
pub struct PlayerCar;

/// Continuous inputs of the current frame.
#[derive(Resource, Clone, Copy, Default)]
pub struct PlayerInput {
    /// Pedals, steering and handbrake.
    pub inputs: Inputs,
    /// Whether time runs backwards.
    pub rewind: bool,
    /// Whether the inputs are analogue, from a gamepad or a script. Selects the shaping for gamepads.
    pub is_analogue: bool,
}

/// Message of a command that is triggered by one press of a key or button.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Press {
    Vehicle,
    Solver,
    Ghost,
    Forces,
    Camera,
    Slow,
    Pause,
    Reset,
    Upright,
    Trailer,
    Manual,
    GearUp,
    GearDown,
    Help,
}

/// Key, gamepad button and help text of each [`Press`]. An empty text is not listed in the help.
pub const PRESS_BINDINGS: [(Press, KeyCode, Option<GamepadButton>, &str); 14] = [
    (Press::Vehicle, KeyCode::KeyV, Some(GamepadButton::DPadUp), "V  next vehicle"),
    (Press::Solver, KeyCode::KeyB, Some(GamepadButton::DPadRight), "B  next solver (keeps the current motion)"),
    (
        Press::Ghost,
        KeyCode::KeyG,
        Some(GamepadButton::DPadLeft),
        "G  ghost car: next solver from this state, same controls",
    ),
    (Press::Forces, KeyCode::KeyF, Some(GamepadButton::West), "F  forces"),
    (Press::Camera, KeyCode::KeyC, Some(GamepadButton::North), "C  camera: behind, orbit (mouse), wheel"),
    (Press::Slow, KeyCode::KeyT, None, "T  slow motion"),
    (Press::Pause, KeyCode::KeyP, Some(GamepadButton::Start), "P  pause"),
    (Press::Reset, KeyCode::KeyR, Some(GamepadButton::Select), "R  back to the start"),
    (Press::Upright, KeyCode::KeyU, Some(GamepadButton::DPadDown), "U  put the car back on its wheels"),
    (Press::Trailer, KeyCode::KeyH, None, "H  attach a trailer (vehicles with a hitch)"),
    (Press::Manual, KeyCode::KeyM, None, "M  manual gearbox: E up, Q down"),
    (Press::GearUp, KeyCode::KeyE, Some(GamepadButton::RightTrigger), ""),
    (Press::GearDown, KeyCode::KeyQ, Some(GamepadButton::LeftTrigger), ""),
    (Press::Help, KeyCode::F1, None, "F1 show or hide this help"),
];

/// Adds player input: devices are read before the frame, inputs are applied to the car before each tick.
pub fn plugin(app: &mut App) {
    app.init_resource::<PlayerInput>()
        .add_message::<Press>()
        .add_systems(
            PreUpdate,
            (read_devices, send_presses).in_set(DeviceInputSystems).after(bevy::input::InputSystems),
        )
        .add_systems(FixedUpdate, apply_inputs.before(CarSystems::Input));
}

/// System set that reads the input devices.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceInputSystems;

/// Reads keyboard and gamepads into [`PlayerInput`].
///
/// The device that was used last counts; keys take precedence over gamepads. If there are several gamepads, the first
/// with an input counts. Backspace or the right button (East) of any gamepad rewinds. Without any input the device of
/// the last frame still counts.
fn read_devices(keys: Res<ButtonInput<KeyCode>>, pads: Query<&Gamepad>, mut player_input: ResMut<PlayerInput>) {
    // Whether one of the two keys is held.
    let is_held = |codes: [KeyCode; 2]| keys.any_pressed(codes);
    let keyboard_inputs: Inputs = Keys {
        throttle: is_held([KeyCode::KeyW, KeyCode::ArrowUp]),
        brake: is_held([KeyCode::KeyS, KeyCode::ArrowDown]),
        left: is_held([KeyCode::KeyA, KeyCode::ArrowLeft]),
        right: is_held([KeyCode::KeyD, KeyCode::ArrowRight]),
        handbrake: keys.pressed(KeyCode::Space),
    }
    .into();
    // The first gamepad with an input counts.
    let pad_inputs = pads.iter().map(gamepad_inputs).find(|inputs| *inputs != Inputs::default());
    if keyboard_inputs != Inputs::default() {
        player_input.is_analogue = false;
    } else if pad_inputs.is_some() {
        player_input.is_analogue = true;
    }
    player_input.inputs = pad_inputs.filter(|_| player_input.is_analogue).unwrap_or(keyboard_inputs);
    // Whether a gamepad rewinds.
    let is_pad_rewinding = pads.iter().any(|pad| pad.pressed(GamepadButton::East));
    player_input.rewind = keys.pressed(KeyCode::Backspace) || is_pad_rewinding;
}

/// Returns the inputs of a gamepad: right trigger accelerates, left trigger brakes, left stick steers (positive to the
/// left), the lower button (South) is the handbrake. Returns no input at all if pedals and handbrake are released and
/// the stick is within 5 % of its centre.
fn gamepad_inputs(pad: &Gamepad) -> Inputs {
    // Position of a trigger, 0 to 1.
    let trigger_position = |button| pad.get(button).unwrap_or(0.0);
    let inputs = Inputs {
        throttle: trigger_position(GamepadButton::RightTrigger2),
        brake: trigger_position(GamepadButton::LeftTrigger2),
        steer: -pad.get(GamepadAxis::LeftStickX).unwrap_or(0.0),
        handbrake: f32::from(u8::from(pad.pressed(GamepadButton::South))),
    };
    // A released stick does not return exactly to its centre.
    if inputs.steer.abs() < 0.05 && inputs.throttle + inputs.brake + inputs.handbrake == 0.0 {
        return Inputs::default();
    }
    inputs
}

/// Sends a [`Press`] for every key or gamepad button of [`PRESS_BINDINGS`] that was pressed down since the last frame.
/// A key and a button pressed in one frame send one press.
fn send_presses(keys: Res<ButtonInput<KeyCode>>, pads: Query<&Gamepad>, mut presses: MessageWriter<Press>) {
    for (press, key, button, _) in PRESS_BINDINGS {
        let is_pressed_on_pad = button.is_some_and(|button| pads.iter().any(|pad| pad.just_pressed(button)));
        if keys.just_pressed(key) || is_pressed_on_pad {
            presses.write(press);
        }
    }
}

/// Copies the inputs to the driven car before a tick, and selects its input shaping: for gamepads if the inputs are
/// analogue, otherwise for keyboards.
fn apply_inputs(player_input: Res<PlayerInput>, mut cars: Query<(&mut CarInputs, &mut CarDriver), With<PlayerCar>>) {
    for (mut inputs, mut driver) in &mut cars {
        *inputs = player_input.inputs.into();
        driver.0.shaping = if player_input.is_analogue { InputShaping::GAMEPAD } else { InputShaping::KEYBOARD };
    }
}
