//! MCAP files (mcap.dev) with JSON messages: telemetry of each run, and its pose and shape in schemas of Foxglove.
//!
//! Each run has three topics: `/NAME/telemetry` with the selected columns, `/NAME/transform`
//! (`foxglove.FrameTransform`) with the pose of the car in the frame `world`, and `/NAME/scene`
//! (`foxglove.SceneUpdate`) with its hull and wheels. Field names are those of
//! <https://docs.foxglove.dev/docs/sdk/schemas>.

use std::collections::BTreeMap;
use std::io::{self, Cursor};

use mcap::records::MessageHeader;
use mcap::{McapError, WriteOptions, Writer};
use serde_json::{Map, Value, json};
use skidpad_core::{DQuat, Frame, Model};

use super::NamedRun;
use crate::channels::channel_of_column;

/// Name of the frame of all cars.
const WORLD_FRAME: &str = "world";
/// Width of a wheel as a share of its radius (–).
const WHEEL_WIDTH: f64 = 0.64;
/// Colours of the hulls, one for each run in turn: red, green, blue and opacity (–).
const HULL_COLOURS: [[f64; 4]; 6] = [
    [0.12, 0.44, 0.84, 0.6],
    [0.76, 0.31, 0.03, 0.6],
    [0.05, 0.43, 0.25, 0.6],
    [0.46, 0.49, 0.53, 0.6],
    [0.55, 0.25, 0.78, 0.6],
    [0.54, 0.38, 0.07, 0.6],
];
/// Colour of the wheels.
const WHEEL_COLOUR: [f64; 4] = [0.1, 0.1, 0.1, 1.0];

/// Returns the file of `runs`. Messages are neither compressed nor decimated.
///
/// # Errors
/// Returns an error if there are more topics than a file can have.
pub fn bytes(runs: &[NamedRun<'_>]) -> io::Result<Vec<u8>> {
    let to_io_error = |error: McapError| io::Error::other(error);
    let options = WriteOptions::library(WriteOptions::new().compression(None), "skidpad");
    let mut file = File { writer: options.create(Cursor::new(Vec::new())).map_err(to_io_error)? };
    for (number, run) in runs.iter().enumerate() {
        file.write_run(run, HULL_COLOURS[number % HULL_COLOURS.len()]).map_err(to_io_error)?;
    }
    file.writer.finish().map_err(to_io_error)?;
    Ok(file.writer.into_inner().into_inner())
}

/// File that is written in memory.
struct File {
    writer: Writer<Cursor<Vec<u8>>>,
}

impl File {
    /// Adds the topic `topic` with JSON messages of the JSON schema `schema`, called `schema_name`, and returns its
    /// number.
    fn add_topic(&mut self, topic: &str, schema_name: &str, schema: &Value) -> Result<u16, McapError> {
        let schema = self.writer.add_schema(schema_name, "jsonschema", schema.to_string().as_bytes())?;
        self.writer.add_channel(schema, topic, "json", &BTreeMap::new())
    }

    /// Writes the message `content` of the topic number `channel_id`. `t_s` is its time from the start (s); a negative
    /// one counts as 0. `sequence` is the number of the message in its topic.
    fn write(&mut self, channel_id: u16, sequence: usize, t_s: f64, content: &Value) -> Result<(), McapError> {
        let time = (t_s.max(0.0) * 1e9).round() as u64;
        let header = MessageHeader { channel_id, sequence: sequence as u32, log_time: time, publish_time: time };
        self.writer.write_to_known_channel(&header, content.to_string().as_bytes())
    }

    /// Writes the three topics of a run. The shape of the car is one message at the start, with its hull in `colour`.
    /// Telemetry and pose have a message for each selected row.
    fn write_run(&mut self, run: &NamedRun<'_>, colour: [f64; 4]) -> Result<(), McapError> {
        let (name, columns) = (&run.name, run.columns());
        let schema = telemetry_schema(&columns);
        let telemetry = self.add_topic(&format!("/{name}/telemetry"), &format!("skidpad.Telemetry/{name}"), &schema)?;
        let transform =
            self.add_topic(&format!("/{name}/transform"), "foxglove.FrameTransform", &frame_transform_schema())?;
        let scene = self.add_topic(&format!("/{name}/scene"), "foxglove.SceneUpdate", &scene_update_schema())?;
        self.write(scene, 0, 0.0, &scene_update(run.model, name, colour))?;
        for (sequence, frame) in run.rows().enumerate() {
            let values = run.selection.pick(&frame.row()).into_iter().map(Value::from);
            let row: Map<String, Value> = columns.iter().cloned().zip(values).collect();
            self.write(telemetry, sequence, frame.t_s, &Value::Object(row))?;
            self.write(transform, sequence, frame.t_s, &frame_transform(&frame, name))?;
        }
        Ok(())
    }
}

/// Returns the JSON schema of an object with a number for each of `columns`. Known channels have their meaning and unit
/// as description.
fn telemetry_schema(columns: &[String]) -> Value {
    let property = |name: &String| {
        let about = channel_of_column(name).map(|channel| format!("{} Unit: {}", channel.about, channel.unit));
        (name.clone(), json!({ "type": "number", "description": about }))
    };
    json!({ "type": "object", "properties": columns.iter().map(property).collect::<Map<_, _>>() })
}

/// Returns the time `t_s` (s) as seconds and nanoseconds.
fn timestamp(t_s: f64) -> Value {
    let nanoseconds = (t_s.max(0.0) * 1e9).round() as u64;
    // 10⁹ ns are one second.
    json!({ "sec": nanoseconds / 1_000_000_000, "nsec": nanoseconds % 1_000_000_000 })
}

/// Returns a vector with the keys x, y and z.
fn vector([x, y, z]: [f64; 3]) -> Value {
    json!({ "x": x, "y": y, "z": z })
}

/// Returns a rotation with the keys x, y, z and w.
fn quaternion(rotation: DQuat) -> Value {
    json!({ "x": rotation.x, "y": rotation.y, "z": rotation.z, "w": rotation.w })
}

/// Returns the pose of the car in `frame` as the transform of its frame `name`, whose origin is the centre of mass.
fn frame_transform(frame: &Frame, name: &str) -> Value {
    let rotation = DQuat::from_rotation_z(frame.yaw_rad)
        * DQuat::from_rotation_y(frame.pitch_rad)
        * DQuat::from_rotation_x(frame.roll_rad);
    json!({
        "timestamp": timestamp(frame.t_s),
        "parent_frame_id": WORLD_FRAME,
        "child_frame_id": name,
        "translation": vector([frame.x_m, frame.y_m, frame.z_m]),
        "rotation": quaternion(rotation),
    })
}

/// Returns the shape of a car of `model` in its frame `name`: the hull as a box of the colour `colour`, and the wheels
/// as cylinders at rest.
fn scene_update(model: &Model, name: &str, colour: [f64; 4]) -> Value {
    let hull = &model.parts().hull;
    let colour_json = |[r, g, b, a]: [f64; 4]| json!({ "r": r, "g": g, "b": b, "a": a });
    let centre = hull.centre.to_array().map(f64::from);
    let cube = json!({
        "pose": { "position": vector(centre), "orientation": quaternion(DQuat::IDENTITY) },
        "size": vector(hull.half_extents.to_array().map(|half| 2.0 * f64::from(half))),
        "color": colour_json(colour),
    });
    // The axis of a cylinder is z; that of a wheel is y.
    let axle_direction = DQuat::from_rotation_x(core::f64::consts::FRAC_PI_2);
    let wheels = model.wheels().iter().map(|wheel| {
        let radius = f64::from(wheel.radius);
        let [x, y, z] = wheel.contact.to_array().map(f64::from);
        json!({
            // The hub is one radius above the contact point at rest.
            "pose": { "position": vector([x, y, z + radius]), "orientation": quaternion(axle_direction) },
            "size": vector([2.0 * radius, 2.0 * radius, WHEEL_WIDTH * radius]),
            "bottom_scale": 1.0,
            "top_scale": 1.0,
            "color": colour_json(WHEEL_COLOUR),
        })
    });
    let entity = json!({
        "timestamp": timestamp(0.0),
        "frame_id": name,
        "id": name,
        // A lifetime of 0 does not expire.
        "lifetime": { "sec": 0, "nsec": 0 },
        // The entity moves with its frame.
        "frame_locked": true,
        "metadata": [],
        "arrows": [],
        "cubes": [cube],
        "spheres": [],
        "cylinders": wheels.collect::<Vec<_>>(),
        "lines": [],
        "triangles": [],
        "texts": [],
        "models": [],
    });
    json!({ "deletions": [], "entities": [entity] })
}

/// Returns the JSON schema of an object with the properties `properties`.
fn object_schema(properties: Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

/// Returns the JSON schema of an object with a number for each of `keys`.
fn numbers_schema(keys: &[&str]) -> Value {
    object_schema(Value::Object(keys.iter().map(|key| ((*key).to_owned(), json!({ "type": "number" }))).collect()))
}

/// Returns the JSON schema of a time or duration.
fn time_schema() -> Value {
    object_schema(json!({ "sec": { "type": "integer" }, "nsec": { "type": "integer" } }))
}

/// Returns the JSON schema of `foxglove.FrameTransform`.
fn frame_transform_schema() -> Value {
    object_schema(json!({
        "timestamp": time_schema(),
        "parent_frame_id": { "type": "string" },
        "child_frame_id": { "type": "string" },
        "translation": numbers_schema(&["x", "y", "z"]),
        "rotation": numbers_schema(&["x", "y", "z", "w"]),
    }))
}

/// Returns the JSON schema of `foxglove.SceneUpdate` with boxes and cylinders.
fn scene_update_schema() -> Value {
    let list = |items: Value| json!({ "type": "array", "items": items });
    let unused = || list(json!({ "type": "object" }));
    let number = json!({ "type": "number" });
    let position = numbers_schema(&["x", "y", "z"]);
    let pose = object_schema(json!({ "position": position, "orientation": numbers_schema(&["x", "y", "z", "w"]) }));
    let (size, colour) = (numbers_schema(&["x", "y", "z"]), numbers_schema(&["r", "g", "b", "a"]));
    let cube = object_schema(json!({ "pose": pose, "size": size, "color": colour }));
    let cylinder = object_schema(
        json!({ "pose": pose, "size": size, "bottom_scale": number, "top_scale": number, "color": colour }),
    );
    let entity = object_schema(json!({
        "timestamp": time_schema(),
        "frame_id": { "type": "string" },
        "id": { "type": "string" },
        "lifetime": time_schema(),
        "frame_locked": { "type": "boolean" },
        "metadata": unused(),
        "arrows": unused(),
        "cubes": list(cube),
        "spheres": unused(),
        "cylinders": list(cylinder),
        "lines": unused(),
        "triangles": unused(),
        "texts": unused(),
        "models": unused(),
    }));
    object_schema(json!({ "deletions": unused(), "entities": list(entity) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::Selection;
    use crate::testing::{model, sampled};

    /// The file reads back: three topics for each run, a row for each selected step, poses and the shape of the car.
    #[test]
    fn the_file_reads_back() {
        let run = sampled(0.1, 1.0, |t, frame| {
            (frame.x_m, frame.yaw_rad, frame.vx_mps) = (10.0 * t, core::f64::consts::FRAC_PI_2, 10.0);
        });
        let names = ["t_s", "vx_mps"].map(String::from);
        let selection = Selection::new(run.header(), &names, 5).expect("known");
        let model = model();
        let named = |name: &str| NamedRun { name: name.into(), model: &model, trajectory: &run, selection: &selection };
        let bytes = bytes(&[named("braking/impulse"), named("braking/constraint")]).expect("written");
        let messages: Vec<_> = mcap::MessageStream::new(&bytes).expect("MCAP").map(|m| m.expect("a message")).collect();
        let of_topic = |topic: &str| -> Vec<Value> {
            let found = messages.iter().filter(|message| message.channel.topic == topic);
            found.map(|message| serde_json::from_slice(&message.data).expect("JSON")).collect()
        };
        let rows = of_topic("/braking/impulse/telemetry");
        assert_eq!(rows, [0.0, 0.5, 1.0].map(|t| json!({ "t_s": t, "vx_mps": 10.0 })));
        let poses = of_topic("/braking/constraint/transform");
        assert_eq!((poses.len(), &poses[2]["translation"]["x"]), (3, &json!(10.0)));
        assert!(poses[0]["rotation"]["z"].as_f64().is_some_and(|z| (z - 0.5f64.sqrt()).abs() < 1e-12), "{poses:?}");
        let scene = of_topic("/braking/impulse/scene");
        assert_eq!(scene[0]["entities"][0]["cylinders"].as_array().map(Vec::len), Some(4));
        let schema = messages.iter().find_map(|message| {
            let schema = message.channel.schema.as_ref()?;
            schema.name.starts_with("skidpad").then(|| String::from_utf8_lossy(&schema.data).into_owned())
        });
        assert!(schema.is_some_and(|schema| schema.contains("Unit: m/s")));
    }
}
