//! MCAP files (mcap.dev) with messages in Protocol Buffers: telemetry of each run, and its pose and shape in schemas of
//! Foxglove.
//!
//! Each run has three topics: `/NAME/telemetry` with the selected columns, `/NAME/transform`
//! (`foxglove.FrameTransform`) with the pose of the car in the frame `world`, and `/NAME/scene`
//! (`foxglove.SceneUpdate`) with its hull and wheels. Field names are those of
//! <https://docs.foxglove.dev/docs/sdk/schemas>.

mod schemas;

use std::collections::BTreeMap;
use std::io::{self, Cursor};

use mcap::records::MessageHeader;
use mcap::{WriteOptions, Writer};
use prost_reflect::prost::Message as _;
use prost_reflect::{DynamicMessage, MessageDescriptor, Value};
use skidpad_core::model::Wheel;
use skidpad_core::{DQuat, Frame, Model};

use super::NamedRun;
use crate::channels::channel_of_column;
use schemas::Schemas;

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
/// Type of the messages with the pose of a car.
const FRAME_TRANSFORM: &str = "foxglove.FrameTransform";
/// Type of the messages with the shape of a car.
const SCENE_UPDATE: &str = "foxglove.SceneUpdate";

/// Returns the file of `runs`. Messages are neither compressed nor decimated.
///
/// # Errors
/// Returns an error if there are more topics than a file can have, or if two columns have the same name with `_`
/// instead of the point.
pub fn bytes(runs: &[NamedRun<'_>]) -> io::Result<Vec<u8>> {
    let options = WriteOptions::library(WriteOptions::new().compression(None), "skidpad");
    let writer = options.create(Cursor::new(Vec::new())).map_err(io::Error::other)?;
    let mut file = File { writer, schemas: Schemas::new()? };
    for (number, run) in runs.iter().enumerate() {
        file.write_run(run, HULL_COLOURS[number % HULL_COLOURS.len()])?;
    }
    file.writer.finish().map_err(io::Error::other)?;
    Ok(file.writer.into_inner().into_inner())
}

/// File that is written in memory.
struct File {
    writer: Writer<Cursor<Vec<u8>>>,
    schemas: Schemas,
}

impl File {
    /// Adds the topic `topic` with messages of the type `message` and the metadata `metadata`, and returns its number.
    fn add_topic(
        &mut self,
        topic: &str,
        message: &MessageDescriptor,
        metadata: &BTreeMap<String, String>,
    ) -> io::Result<u16> {
        let data = schemas::schema_data(message);
        let schema = self.writer.add_schema(message.full_name(), "protobuf", &data).map_err(io::Error::other)?;
        self.writer.add_channel(schema, topic, "protobuf", metadata).map_err(io::Error::other)
    }

    /// Writes the message `content` of the topic number `channel_id`. `t_s` is its time from the start (s); a negative
    /// one counts as 0. `sequence` is the number of the message in its topic.
    fn write(&mut self, channel_id: u16, sequence: usize, t_s: f64, content: &DynamicMessage) -> io::Result<()> {
        let time = nanoseconds(t_s);
        let header = MessageHeader { channel_id, sequence: sequence as u32, log_time: time, publish_time: time };
        self.writer.write_to_known_channel(&header, &content.encode_to_vec()).map_err(io::Error::other)
    }

    /// Writes the three topics of a run. The shape of the car is one message at the start, with its hull in `colour`.
    /// Telemetry and pose have a message for each selected row.
    fn write_run(&mut self, run: &NamedRun<'_>, colour: [f64; 4]) -> io::Result<()> {
        let (name, columns) = (&run.name, run.columns());
        let [transform_type, scene_type] = [FRAME_TRANSFORM, SCENE_UPDATE].map(|name| self.schemas.message_type(name));
        let row_type = self.schemas.telemetry(&columns)?;
        let fields = schemas::fields_of_columns(&row_type, &columns)?;
        let telemetry = self.add_topic(&format!("/{name}/telemetry"), &row_type, &units(&columns))?;
        let transform = self.add_topic(&format!("/{name}/transform"), &transform_type?, &BTreeMap::new())?;
        let scene = self.add_topic(&format!("/{name}/scene"), &scene_type?, &BTreeMap::new())?;
        self.write(scene, 0, 0.0, &self.schemas.scene_update(run.model, name, colour)?)?;
        for (sequence, frame) in run.rows().enumerate() {
            let mut row = DynamicMessage::new(row_type.clone());
            for (field, value) in fields.iter().zip(run.selection.pick(&frame.row())) {
                row.try_set_field(field, Value::F64(value)).map_err(io::Error::other)?;
            }
            self.write(telemetry, sequence, frame.t_s, &row)?;
            self.write(transform, sequence, frame.t_s, &self.schemas.frame_transform(&frame, name)?)?;
        }
        Ok(())
    }
}

/// Returns the unit of each of `columns` that has a known channel.
fn units(columns: &[String]) -> BTreeMap<String, String> {
    columns.iter().filter_map(|name| Some((name.clone(), channel_of_column(name)?.unit.to_owned()))).collect()
}

/// Returns the time `t_s` (s) in nanoseconds; a negative one counts as 0.
fn nanoseconds(t_s: f64) -> u64 {
    (t_s.max(0.0) * 1e9).round() as u64
}

/// Messages of Foxglove. Functions return an error if a type does not have the fields that they write.
impl Schemas {
    /// Returns a `Timestamp` of `t_s` (s).
    fn timestamp(&self, t_s: f64) -> io::Result<Value> {
        let nanoseconds = nanoseconds(t_s);
        // 10⁹ ns are one second.
        let seconds = Value::I64((nanoseconds / 1_000_000_000) as i64);
        let rest = Value::I32((nanoseconds % 1_000_000_000) as i32);
        self.message("google.protobuf.Timestamp", [("seconds", seconds), ("nanos", rest)]).map(Value::Message)
    }

    /// Returns a vector.
    fn vector(&self, [x, y, z]: [f64; 3]) -> io::Result<Value> {
        let fields = [("x", Value::F64(x)), ("y", Value::F64(y)), ("z", Value::F64(z))];
        self.message("foxglove.Vector3", fields).map(Value::Message)
    }

    /// Returns a rotation.
    fn quaternion(&self, DQuat { x, y, z, w }: DQuat) -> io::Result<Value> {
        let fields = [("x", Value::F64(x)), ("y", Value::F64(y)), ("z", Value::F64(z)), ("w", Value::F64(w))];
        self.message("foxglove.Quaternion", fields).map(Value::Message)
    }

    /// Returns a colour of red, green, blue and opacity.
    fn colour(&self, [r, g, b, a]: [f64; 4]) -> io::Result<Value> {
        let fields = [("r", Value::F64(r)), ("g", Value::F64(g)), ("b", Value::F64(b)), ("a", Value::F64(a))];
        self.message("foxglove.Color", fields).map(Value::Message)
    }

    /// Returns a place with an orientation.
    fn pose(&self, position: [f64; 3], orientation: DQuat) -> io::Result<Value> {
        let fields = [("position", self.vector(position)?), ("orientation", self.quaternion(orientation)?)];
        self.message("foxglove.Pose", fields).map(Value::Message)
    }

    /// Returns the pose of the car in `frame` as the transform of its frame `name`, whose origin is the centre of mass.
    fn frame_transform(&self, frame: &Frame, name: &str) -> io::Result<DynamicMessage> {
        let rotation = DQuat::from_rotation_z(frame.yaw_rad)
            * DQuat::from_rotation_y(frame.pitch_rad)
            * DQuat::from_rotation_x(frame.roll_rad);
        let fields = [
            ("timestamp", self.timestamp(frame.t_s)?),
            ("parent_frame_id", Value::String(WORLD_FRAME.into())),
            ("child_frame_id", Value::String(name.into())),
            ("translation", self.vector([frame.x_m, frame.y_m, frame.z_m])?),
            ("rotation", self.quaternion(rotation)?),
        ];
        self.message(FRAME_TRANSFORM, fields)
    }

    /// Returns the shape of a car of `model` in its frame `name`: the hull as a box of the colour `colour`, and the
    /// wheels as cylinders at rest.
    fn scene_update(&self, model: &Model, name: &str, colour: [f64; 4]) -> io::Result<DynamicMessage> {
        let hull = &model.parts().hull;
        let cube = [
            ("pose", self.pose(hull.centre.to_array().map(f64::from), DQuat::IDENTITY)?),
            ("size", self.vector(hull.half_extents.to_array().map(|half| 2.0 * f64::from(half)))?),
            ("color", self.colour(colour)?),
        ];
        let cube = Value::Message(self.message("foxglove.CubePrimitive", cube)?);
        let wheel = |wheel: &Wheel| self.wheel(wheel).map(Value::Message);
        let entity = [
            ("timestamp", self.timestamp(0.0)?),
            ("frame_id", Value::String(name.into())),
            ("id", Value::String(name.into())),
            // A lifetime of 0 does not expire.
            ("lifetime", Value::Message(self.message("google.protobuf.Duration", [])?)),
            // The entity moves with its frame.
            ("frame_locked", Value::Bool(true)),
            ("cubes", Value::List(vec![cube])),
            ("cylinders", Value::List(model.wheels().iter().map(wheel).collect::<io::Result<_>>()?)),
        ];
        let entity = Value::Message(self.message("foxglove.SceneEntity", entity)?);
        self.message(SCENE_UPDATE, [("entities", Value::List(vec![entity]))])
    }

    /// Returns the cylinder of a wheel at rest.
    fn wheel(&self, wheel: &Wheel) -> io::Result<DynamicMessage> {
        // The axis of a cylinder is z; that of a wheel is y.
        let axle_direction = DQuat::from_rotation_x(core::f64::consts::FRAC_PI_2);
        let radius = f64::from(wheel.radius);
        let [x, y, z] = wheel.contact.to_array().map(f64::from);
        let fields = [
            // The hub is one radius above the contact point at rest.
            ("pose", self.pose([x, y, z + radius], axle_direction)?),
            ("size", self.vector([2.0 * radius, 2.0 * radius, WHEEL_WIDTH * radius])?),
            ("bottom_scale", Value::F64(1.0)),
            ("top_scale", Value::F64(1.0)),
            ("color", self.colour(WHEEL_COLOUR)?),
        ];
        self.message("foxglove.CylinderPrimitive", fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry_files::tests::named_run;
    use crate::testing::{model, sampled};
    use ::mcap::Message;
    use prost_reflect::{DescriptorPool, ReflectMessage};

    /// Decodes the message `message` by the schema in its file.
    fn decode(message: &Message<'_>) -> DynamicMessage {
        let schema = message.channel.schema.as_ref().expect("a schema");
        assert_eq!([message.channel.message_encoding.as_str(), schema.encoding.as_str()], ["protobuf"; 2]);
        let pool = DescriptorPool::decode(&*schema.data).expect("a complete set of files");
        let descriptor = pool.get_message_by_name(&schema.name).expect("the type of the schema");
        DynamicMessage::decode(descriptor, &*message.data).expect("a message")
    }

    /// Returns the value of the field at the end of `path`, from `message`.
    fn field(message: &DynamicMessage, path: &[&str]) -> Value {
        let value = message.get_field_by_name(path[0]).expect("a known field").into_owned();
        if path.len() == 1 { value } else { field(value.as_message().expect("a message"), &path[1..]) }
    }

    /// The file reads back with its own schemas: three topics for each run, a row for each selected step, poses, the
    /// shape of the car and units. Other columns have another type; a column that is selected twice has one field.
    #[test]
    fn the_file_reads_back() {
        let run = sampled(0.1, 1.0, |t, frame| {
            (frame.x_m, frame.yaw_rad, frame.vx_mps) = (10.0 * t, core::f64::consts::FRAC_PI_2, 10.0);
            frame.wheels[0].load_n = 2500.0;
        });
        let (first, second) = (["t_s", "vx_mps", "load_n.1l"], ["vx_mps", "t_s", "vx_mps"]);
        let model = model();
        let runs = [("impulse", first), ("constraint", second), ("rapier", first)]
            .map(|(name, columns)| named_run(&format!("braking/{name}"), &model, &run, &columns));
        let bytes = bytes(&runs).expect("written");
        let messages: Vec<_> = mcap::MessageStream::new(&bytes).expect("MCAP").map(|m| m.expect("a message")).collect();
        let of_topic = |topic: &str| -> Vec<DynamicMessage> {
            messages.iter().filter(|message| message.channel.topic == topic).map(decode).collect()
        };
        let numbers = |row: &DynamicMessage| -> Vec<f64> {
            row.descriptor().fields().filter_map(|field| row.get_field(&field).as_f64()).collect()
        };
        let times = [0.0, 0.5, 1.0];
        for (run, columns, expected) in [
            ("impulse", "skidpad.Telemetry", times.map(|t| vec![t, 10.0, 2500.0])),
            ("constraint", "skidpad.Telemetry2", times.map(|t| vec![10.0, t])),
            ("rapier", "skidpad.Telemetry", times.map(|t| vec![t, 10.0, 2500.0])),
        ] {
            let rows = of_topic(&format!("/braking/{run}/telemetry"));
            assert_eq!(rows[0].descriptor().full_name(), columns);
            assert_eq!(rows.iter().map(numbers).collect::<Vec<_>>(), expected);
        }
        let poses = of_topic("/braking/constraint/transform");
        assert_eq!((poses.len(), field(&poses[2], &["translation", "x"])), (3, Value::F64(10.0)));
        let turned = field(&poses[0], &["rotation", "z"]).as_f64();
        assert!(turned.is_some_and(|z| (z - 0.5f64.sqrt()).abs() < 1e-12), "{poses:?}");
        assert_eq!(field(&poses[1], &["timestamp", "nanos"]), Value::I32(500_000_000));
        let scene = of_topic("/braking/impulse/scene");
        let entities = field(&scene[0], &["entities"]);
        let entity = entities.as_list().and_then(|list| list[0].as_message()).expect("an entity");
        assert_eq!(field(entity, &["cylinders"]).as_list().map(<[Value]>::len), Some(4));
    }

    /// The file names units: in comments of the type and in the metadata of the topic.
    #[test]
    fn units_are_readable() {
        let columns = ["load_n.1l", "vx_mps"].map(String::from);
        let message = Schemas::new().and_then(|mut schemas| schemas.telemetry(&columns)).expect("a type");
        let pool = DescriptorPool::decode(&*schemas::schema_data(&message)).expect("complete");
        let message = pool.get_message_by_name("skidpad.Telemetry").expect("the type");
        let names: Vec<_> = message.fields().map(|field| (field.number(), field.name().to_owned())).collect();
        assert_eq!(names, [(1, "load_n_1l".into()), (2, "vx_mps".into())]);
        let file = message.parent_file_descriptor_proto();
        let comments = file.source_code_info.iter().flat_map(|info| &info.location);
        let comments: Vec<_> = comments.map(|place| (place.path[3], place.leading_comments())).collect();
        assert!(comments.len() == 2 && comments[1].0 == 1 && comments[1].1.contains("Unit: m/s"), "{comments:?}");
        assert_eq!(units(&columns)["load_n.1l"], "N");
    }
}
