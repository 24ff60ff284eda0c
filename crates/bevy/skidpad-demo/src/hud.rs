//! Head-up display: speed, gear, engine speed, acceleration, used friction of each tyre, assists, distance to the
//! ghost.

use bevy::prelude::*;
use skidpad_bevy::core::{Assist, Contribution};
use skidpad_bevy::{BuiltinWorld, Car, CarGizmos, CarMotion, CarSignals, Wheel, WheelSignals};
use skidpad_core::STANDARD_GRAVITY;

use crate::garage::Garage;
use crate::ghost::Ghost;
use crate::player_input::{PRESS_BINDINGS, PlayerCar, Press};
use crate::rewind::Rewinding;

/// Text of the display, by content.
#[derive(Component, Clone, Copy, PartialEq, Eq)]
enum HudText {
    /// Speed, km/h.
    Speed,
    /// Gear, engine speed and limiter.
    Engine,
    /// Vehicle, solver, step rate, distance of the ghost and state of time.
    World,
    /// Contributions of the assists.
    Assists,
    /// Help text of the keys, hidden at first.
    Keys,
    /// Magnitude of the acceleration in the diagram, g.
    Axes,
}

/// Marker of the dot that shows the acceleration of the car in the diagram.
#[derive(Component)]
struct Dot;

/// Bar with the used friction of the wheel with this index.
#[derive(Component)]
struct Bar(usize);

/// Radius of the acceleration diagram, pixels.
const DIAGRAM_RADIUS_PX: f32 = 70.0;
/// Acceleration at the radius [`DIAGRAM_RADIUS_PX`], m/s².
const DIAGRAM_ACCELERATION_MPS2: f32 = 1.5 * STANDARD_GRAVITY;

/// Number of bars; further wheels are not displayed.
const BAR_COUNT: usize = 8;
/// Height of a full bar, pixels.
const BAR_HEIGHT_PX: f32 = 90.0;

const DOT_SIZE_PX: f32 = 10.0;
const PANEL_COLOUR: Color = Color::srgba(0.0, 0.0, 0.0, 0.55);

/// Adds the display: builds it at the start and updates it once a frame.
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, (spawn_hud, configure_force_lines)).add_systems(
        Update,
        (toggle_overlays, update_car_text, update_world_text, update_assist_text, move_dot, fill_bars),
    );
}

/// Returns a white text without content, with the font size `size` in pixels. `content` selects the content that
/// systems write into it.
fn text(content: HudText, size: f32) -> impl Bundle {
    (content, Text::new(""), TextFont { font_size: FontSize::Px(size), ..default() }, TextColor(Color::WHITE))
}

/// Returns a translucent black box with a padding of 10 pixels at the position and size of `placement`, which is
/// absolute in the window.
fn panel(placement: Node) -> impl Bundle {
    let node = Node { position_type: PositionType::Absolute, padding: UiRect::all(px(10)), ..placement };
    (node, BackgroundColor(PANEL_COLOUR))
}

/// Spawns the display: speed and engine at the bottom left, world at the top left, assists at the top right, the hidden
/// help with the texts of [`PRESS_BINDINGS`] in the middle, the bars and the acceleration diagram at the bottom right.
fn spawn_hud(mut commands: Commands) {
    let column = Node { flex_direction: FlexDirection::Column, row_gap: px(2), ..default() };
    commands.spawn(panel(Node { left: px(12), bottom: px(12), width: px(230), ..column.clone() })).with_children(
        |parent| {
            // The numbers are font sizes, pixels.
            parent.spawn(text(HudText::Speed, 40.0));
            parent.spawn(text(HudText::Engine, 20.0));
        },
    );
    commands.spawn(panel(Node { left: px(12), top: px(12), ..column.clone() })).with_children(|parent| {
        parent.spawn(text(HudText::World, 17.0));
    });
    commands.spawn(panel(Node { right: px(12), top: px(12), ..column.clone() })).with_children(|parent| {
        parent.spawn(text(HudText::Assists, 15.0));
    });
    // Help texts of the keys.
    let help_lines: Vec<&str> =
        PRESS_BINDINGS.iter().map(|(.., about)| *about).filter(|about| !about.is_empty()).collect();
    let keys = help_lines.join("\n");
    let driving = "W A S D, arrow keys  drive, brake, steer\nSpace  handbrake\nBackspace  hold to rewind\n";
    commands
        .spawn((panel(Node { left: percent(30), top: percent(22), ..default() }), HudText::Keys, Visibility::Hidden))
        .with_children(|parent| {
            parent.spawn((
                Text::new(format!("{driving}{keys}")),
                TextFont { font_size: FontSize::Px(18.0), ..default() },
            ));
        });
    spawn_bars(&mut commands);
    spawn_diagram(&mut commands);
}

/// Spawns the acceleration diagram at the bottom right: a ring at [`DIAGRAM_ACCELERATION_MPS2`] (1.5 g), a ring at two
/// thirds of it (1 g), the dot, and the magnitude as text.
fn spawn_diagram(commands: &mut Commands) {
    let diagram_panel = panel(Node {
        right: px(12),
        bottom: px(12),
        // Diagram and padding on both sides.
        width: px(2.0 * DIAGRAM_RADIUS_PX + 20.0),
        height: px(2.0 * DIAGRAM_RADIUS_PX + 20.0),
        ..default()
    });
    // `radius_ratio` is the radius of the ring as a share of the diagram. 10 pixels are the padding of the panel.
    let ring = |radius_ratio: f32| {
        let (radius, start) = (DIAGRAM_RADIUS_PX * radius_ratio, 10.0 + DIAGRAM_RADIUS_PX * (1.0 - radius_ratio));
        let node = Node {
            position_type: PositionType::Absolute,
            left: px(start),
            top: px(start),
            width: px(2.0 * radius),
            height: px(2.0 * radius),
            border: UiRect::all(px(1)),
            border_radius: BorderRadius::MAX,
            ..default()
        };
        (node, BorderColor::all(Color::srgba(1.0, 1.0, 1.0, 0.5)))
    };
    let dot = Node {
        position_type: PositionType::Absolute,
        width: px(DOT_SIZE_PX),
        height: px(DOT_SIZE_PX),
        border_radius: BorderRadius::MAX,
        ..default()
    };
    commands.spawn(diagram_panel).with_children(|parent| {
        parent.spawn(ring(1.0));
        parent.spawn(ring(2.0 / 3.0));
        parent.spawn((Dot, dot, BackgroundColor(Color::srgb(1.0, 0.85, 0.1))));
        parent.spawn(text(HudText::Axes, 13.0));
    });
}

/// Spawns the panel of the tyres beside the diagram: a caption and [`BAR_COUNT`] bars of height 0, in the order of the
/// wheels.
fn spawn_bars(commands: &mut Commands) {
    let bar_panel = Node {
        // Beside the panel of the diagram, whose padding and distances add up to 44 pixels.
        right: px(2.0 * DIAGRAM_RADIUS_PX + 44.0),
        bottom: px(12),
        // 36 pixels for padding and caption.
        height: px(BAR_HEIGHT_PX + 36.0),
        min_width: px(90),
        column_gap: px(6),
        align_items: AlignItems::End,
        ..default()
    };
    commands.spawn(panel(bar_panel)).with_children(|parent| {
        let caption_node = Node { position_type: PositionType::Absolute, left: px(8), top: px(4), ..default() };
        parent.spawn((Text::new("tyres use"), TextFont { font_size: FontSize::Px(13.0), ..default() }, caption_node));
        for i in 0..BAR_COUNT {
            parent.spawn((Bar(i), Node { width: px(14), height: px(0), ..default() }, BackgroundColor(Color::WHITE)));
        }
    });
}

/// Configures the debug lines of forces: hidden at first, 3 pixels wide, in front of the bodies.
fn configure_force_lines(mut gizmos: ResMut<GizmoConfigStore>) {
    // `.0` is the configuration of the lines, `.1` the group itself.
    let forces = gizmos.config_mut::<CarGizmos>().0;
    forces.enabled = false;
    // Draws forces in front of the body.
    forces.depth_bias = -1.0;
    forces.line.width = 3.0;
}

/// Toggles the debug lines for every press of the forces key, and the help text for every press of the help key.
fn toggle_overlays(
    mut presses: MessageReader<Press>,
    mut gizmos: ResMut<GizmoConfigStore>,
    mut texts: Query<(&HudText, &mut Visibility)>,
) {
    for press in presses.read() {
        match press {
            Press::Forces => {
                let forces = &mut gizmos.config_mut::<CarGizmos>().0.enabled;
                *forces = !*forces;
            }
            Press::Help => {
                for (_, mut visibility) in texts.iter_mut().filter(|(content, _)| **content == HudText::Keys) {
                    visibility.toggle_visible_hidden();
                }
            }
            _ => {}
        }
    }
}

/// Writes `value` into every text whose content is `content`. An unchanged text is not marked as changed.
fn set_text(texts: &mut Query<(&HudText, &mut Text)>, content: HudText, value: String) {
    for (_, mut text) in texts.iter_mut().filter(|(text_content, _)| **text_content == content) {
        text.set_if_neq(Text(value.clone()));
    }
}

/// Writes the speed (km/h, without sign), gear (`R`, `N` or a number), engine speed, whether the limiter acts, and the
/// magnitude of lateral and longitudinal acceleration (g) of the driven car.
fn update_car_text(cars: Query<&CarSignals, With<PlayerCar>>, mut texts: Query<(&HudText, &mut Text)>) {
    let Ok(signals) = cars.single() else { return };
    let gear = match signals.gear {
        -1 => "R".to_owned(),
        0 => "N".to_owned(),
        gear => gear.to_string(),
    };
    // Signals of the limiter: share of the torque that it cuts.
    let limiter_text = if signals.limited > 0.0 { "  limiter" } else { "" };
    set_text(&mut texts, HudText::Speed, format!("{:.0} km/h", signals.speed.abs() * 3.6));
    set_text(&mut texts, HudText::Engine, format!("gear {gear}   {:.0} rpm{limiter_text}", signals.rpm));
    let [lateral, longitudinal] = signals.acceleration.map(|component| component / STANDARD_GRAVITY);
    set_text(&mut texts, HudText::Axes, format!("{:.2} g", lateral.hypot(longitudinal)));
}

/// Writes the vehicle, the solver and its step rate, the distance between the ghost and the driven car (m) if there is
/// a ghost, and the state of time: backwards, paused or slow.
fn update_world_text(
    (garage, fixed_time, time, rewinding): (Res<Garage>, Res<Time<Fixed>>, Res<Time<Virtual>>, Res<Rewinding>),
    cars: Query<&CarMotion, With<PlayerCar>>,
    ghosts: Query<&Ghost>,
    mut texts: Query<(&HudText, &mut Text)>,
) {
    let hz = 1.0 / fixed_time.timestep().as_secs_f32();
    let mut world_text = format!("{}\nsolver {} at {hz:.0} Hz", garage.vehicle(), garage.solver().name);
    if let (Ok(ghost), Ok(car)) = (ghosts.single(), cars.single()) {
        let distance = (ghost.state().position - car.state().position).length();
        world_text += &format!("\nghost {}: {distance:.3} m away", ghost.solver());
    }
    // Backwards takes precedence over paused, paused over slow motion.
    world_text += match (rewinding.is_active, time.is_paused(), time.relative_speed() < 1.0) {
        (true, ..) => "\nrewinding",
        (_, true, _) => "\npaused",
        (.., true) => "\nslow motion",
        _ => "",
    };
    set_text(&mut texts, HudText::World, world_text + "\nF1 keys");
}

/// Writes one line for each assist of the driven car, with its contributions in the last step. Does nothing without
/// exactly one driven car.
fn update_assist_text(
    world: Res<BuiltinWorld>,
    cars: Query<(Entity, &Car), With<PlayerCar>>,
    mut texts: Query<(&HudText, &mut Text)>,
) {
    let Ok((entity, car)) = cars.single() else { return };
    // Contributions in the last step; `None` for a car in no world.
    let assist_log = world.number(entity).map(|number| world.world().assist_log(number));
    let assist_lines: Vec<String> =
        assist_log.iter().flat_map(|assist_log| assist_log.entries(car.0.assists())).map(contribution_text).collect();
    let title = if assist_lines.is_empty() { "no assists" } else { "assists contribute" };
    set_text(&mut texts, HudText::Assists, format!("{title}\n{}", assist_lines.join("\n")).trim_end().to_owned());
}

/// Formats one line with the name of an assist and its contributions with units. Force and moment are magnitudes
/// without sign. Contributions below 0.5 of their unit are omitted; without any, the line shows `-`.
fn contribution_text((assist, contribution): (Assist, Contribution)) -> String {
    let Contribution { force, moment, brake_torque, engine_torque, throttle, steer } = contribution;
    let values = [
        (force.length(), "N"),
        (moment.length(), "N m"),
        (brake_torque, "N m brake"),
        (engine_torque, "N m engine"),
        (100.0 * throttle, "% throttle"),
        (steer.to_degrees(), "deg steer"),
    ];
    let value_texts: Vec<String> = values
        .iter()
        .filter(|(value, _)| value.abs() >= 0.5)
        .map(|(value, unit)| format!("{value:+.0} {unit}"))
        .collect();
    format!("{:<15} {}", assist.name(), if value_texts.is_empty() { "-".to_owned() } else { value_texts.join(", ") })
}

/// Moves the dot of the diagram in the direction of the acceleration of the driven car, as seen from above: upwards
/// when it accelerates forwards, to the left when it accelerates to the left. Beyond the outer ring the dot stays on
/// the ring.
fn move_dot(cars: Query<&CarSignals, With<PlayerCar>>, mut dots: Query<&mut Node, With<Dot>>) {
    let (Ok(signals), Ok(mut dot)) = (cars.single(), dots.single_mut()) else { return };
    let [lateral, longitudinal] = signals.acceleration;
    // Screen axes: x to the right, y downwards.
    let dot_offset = (Vec2::new(-lateral, -longitudinal) / DIAGRAM_ACCELERATION_MPS2).clamp_length_max(1.0);
    // Position of the dot at no acceleration, pixels, with the padding of 10 pixels.
    let rest_position = 10.0 + DIAGRAM_RADIUS_PX - 0.5 * DOT_SIZE_PX;
    (dot.left, dot.top) =
        (px(rest_position + DIAGRAM_RADIUS_PX * dot_offset.x), px(rest_position + DIAGRAM_RADIUS_PX * dot_offset.y));
}

/// Sets the height and colour of each bar to the friction utilisation of the wheel with its index, 0 to 1, from green
/// to red. A wheel in the air counts as 0. Bars without a wheel are hidden. Every bar is at least 2 pixels high.
fn fill_bars(
    cars: Query<Entity, With<PlayerCar>>,
    wheels: Query<(&Wheel, &ChildOf, &WheelSignals)>,
    mut bars: Query<(&Bar, &mut Node, &mut BackgroundColor)>,
) {
    let Ok(car) = cars.single() else { return };
    for (bar, mut node, mut colour) in &mut bars {
        // Friction utilisation; `None` without a wheel of this index.
        let utilisation = wheels
            .iter()
            .find(|(wheel, child_of, _)| wheel.index == bar.0 && child_of.parent() == car)
            .map(|(.., signals)| if signals.in_contact { signals.friction_utilisation.min(1.0) } else { 0.0 });
        node.display = if utilisation.is_some() { Display::Flex } else { Display::None };
        let utilisation = utilisation.unwrap_or(0.0);
        node.height = px((BAR_HEIGHT_PX * utilisation).max(2.0));
        colour.0 = Color::srgb(utilisation, 0.9 - 0.6 * utilisation, 0.25);
    }
}
