//! Descriptors of the messages in Protocol Buffers: those of Foxglove, and one for each list of telemetry columns.

use std::io;

use prost_reflect::prost::Message as _;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::source_code_info::Location;
use prost_reflect::prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet, SourceCodeInfo,
};
use prost_reflect::{DescriptorPool, DynamicMessage, FieldDescriptor, FileDescriptor, MessageDescriptor, Value};

use skidpad_core::Channel;

use crate::channels::channel_of_column;

/// Type of the field of a message.
#[derive(Clone, Copy)]
enum Kind {
    /// Number.
    Double,
    /// Truth value.
    Bool,
    /// Text.
    Text,
    /// Message of the named type.
    One(&'static str),
    /// List of messages of the named type.
    Many(&'static str),
}

use Kind::{Bool, Double, Many, One, Text};

/// Name, number and type of a field.
type Field = (&'static str, i32, Kind);

/// Names and fields of the messages of Foxglove, each behind those that it contains. Fields that no file of this
/// program has are left out.
const FOXGLOVE_MESSAGES: [(&str, &[Field]); 9] = [
    ("Vector3", &[("x", 1, Double), ("y", 2, Double), ("z", 3, Double)]),
    ("Quaternion", &[("x", 1, Double), ("y", 2, Double), ("z", 3, Double), ("w", 4, Double)]),
    ("Color", &[("r", 1, Double), ("g", 2, Double), ("b", 3, Double), ("a", 4, Double)]),
    ("Pose", &[("position", 1, One("foxglove.Vector3")), ("orientation", 2, One("foxglove.Quaternion"))]),
    (
        "CubePrimitive",
        &[("pose", 1, One("foxglove.Pose")), ("size", 2, One("foxglove.Vector3")), ("color", 3, One("foxglove.Color"))],
    ),
    (
        "CylinderPrimitive",
        &[
            ("pose", 1, One("foxglove.Pose")),
            ("size", 2, One("foxglove.Vector3")),
            ("bottom_scale", 3, Double),
            ("top_scale", 4, Double),
            ("color", 5, One("foxglove.Color")),
        ],
    ),
    (
        "SceneEntity",
        &[
            ("timestamp", 1, One("google.protobuf.Timestamp")),
            ("frame_id", 2, Text),
            ("id", 3, Text),
            ("lifetime", 4, One("google.protobuf.Duration")),
            ("frame_locked", 5, Bool),
            ("cubes", 8, Many("foxglove.CubePrimitive")),
            ("cylinders", 10, Many("foxglove.CylinderPrimitive")),
        ],
    ),
    ("SceneUpdate", &[("entities", 2, Many("foxglove.SceneEntity"))]),
    (
        "FrameTransform",
        &[
            ("timestamp", 1, One("google.protobuf.Timestamp")),
            ("parent_frame_id", 2, Text),
            ("child_frame_id", 3, Text),
            ("translation", 4, One("foxglove.Vector3")),
            ("rotation", 5, One("foxglove.Quaternion")),
        ],
    ),
];

/// Message types of a file.
pub struct Schemas {
    pool: DescriptorPool,
    /// Lists of columns that have a type, in the order of their types.
    telemetry_columns: Vec<Vec<String>>,
}

impl Schemas {
    /// Returns the types of Foxglove.
    ///
    /// # Errors
    /// Returns an error if a descriptor is refused.
    pub fn new() -> io::Result<Self> {
        let mut schemas = Self { pool: DescriptorPool::global(), telemetry_columns: Vec::new() };
        for (name, fields) in FOXGLOVE_MESSAGES {
            let field = |&(name, number, kind): &Field| field_descriptor(name, number, kind);
            schemas.add("foxglove", name, fields.iter().map(field).collect(), None)?;
        }
        Ok(schemas)
    }

    /// Adds the file of the package `package` with one type, called `name`, with `fields` and comments on them.
    fn add(
        &mut self,
        package: &str,
        name: &str,
        fields: Vec<FieldDescriptorProto>,
        comments: Option<SourceCodeInfo>,
    ) -> io::Result<()> {
        let types = fields.iter().filter_map(|field| self.pool.get_message_by_name(field.type_name().get(1..)?));
        let mut dependency: Vec<String> = types.map(|found| found.parent_file().name().to_owned()).collect();
        dependency.sort();
        dependency.dedup();
        let message_type = vec![DescriptorProto { name: Some(name.into()), field: fields, ..Default::default() }];
        let file = FileDescriptorProto {
            name: Some(format!("{package}/{name}.proto")),
            package: Some(package.into()),
            dependency,
            message_type,
            source_code_info: comments,
            syntax: Some("proto3".into()),
            ..Default::default()
        };
        self.pool.add_file_descriptor_proto(file).map_err(io::Error::other)
    }

    /// Returns the type with a number for each of `columns`, and adds it if it is new: `skidpad.Telemetry`, then
    /// `skidpad.Telemetry2` for other columns. The name of a field has `_` instead of the point of its column, its JSON
    /// name is the column. Known channels have their meaning and unit as comment.
    ///
    /// # Errors
    /// Returns an error if the descriptor is refused.
    pub fn telemetry(&mut self, columns: &[String]) -> io::Result<MessageDescriptor> {
        let known = self.telemetry_columns.iter().position(|known| known == columns);
        let number = known.unwrap_or(self.telemetry_columns.len()) + 1;
        let name = if number == 1 { "Telemetry".into() } else { format!("Telemetry{number}") };
        if known.is_none() {
            // A column can be selected twice.
            let mut distinct: Vec<&String> = Vec::new();
            for column in columns {
                if !distinct.contains(&column) {
                    distinct.push(column);
                }
            }
            let field = |(column, number): (&&String, i32)| FieldDescriptorProto {
                json_name: Some((*column).clone()),
                ..field_descriptor(&column.replace('.', "_"), number, Double)
            };
            let fields = distinct.iter().zip(1..).map(field).collect();
            let location = distinct.iter().zip(0..).filter_map(|(column, index)| comment(column, index)).collect();
            self.add("skidpad", &name, fields, Some(SourceCodeInfo { location }))?;
            self.telemetry_columns.push(columns.to_vec());
        }
        self.message_type(&format!("skidpad.{name}"))
    }

    /// Returns the type with the full name `name`.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn message_type(&self, name: &str) -> io::Result<MessageDescriptor> {
        self.pool.get_message_by_name(name).ok_or_else(|| io::Error::other(format!("no message type {name}")))
    }

    /// Returns a message of the type with the full name `name`, with values of some of its fields.
    ///
    /// # Errors
    /// Returns an error if the type does not have such fields.
    pub fn message<const N: usize>(&self, name: &str, fields: [(&str, Value); N]) -> io::Result<DynamicMessage> {
        let mut message = DynamicMessage::new(self.message_type(name)?);
        for (field, value) in fields {
            message.try_set_field_by_name(field, value).map_err(io::Error::other)?;
        }
        Ok(message)
    }
}

/// Returns the field of each of `columns` in their type `message`.
///
/// # Errors
/// Returns an error if the type does not have one of them.
pub fn fields_of_columns(message: &MessageDescriptor, columns: &[String]) -> io::Result<Vec<FieldDescriptor>> {
    let field = |column: &String| {
        // The JSON name of a field is its column.
        let found = message.get_field_by_json_name(column);
        found.ok_or_else(|| io::Error::other(format!("no field for the column {column}")))
    };
    columns.iter().map(field).collect()
}

/// Returns the descriptor of a field.
fn field_descriptor(name: &str, number: i32, kind: Kind) -> FieldDescriptorProto {
    let (label, scalar, message) = match kind {
        Double => (Label::Optional, Type::Double, None),
        Bool => (Label::Optional, Type::Bool, None),
        Text => (Label::Optional, Type::String, None),
        One(message) => (Label::Optional, Type::Message, Some(message)),
        Many(message) => (Label::Repeated, Type::Message, Some(message)),
    };
    FieldDescriptorProto {
        name: Some(name.into()),
        number: Some(number),
        label: Some(label.into()),
        r#type: Some(scalar.into()),
        // The point in front marks a full name.
        type_name: message.map(|message| format!(".{message}")),
        ..Default::default()
    }
}

/// Returns the comment on the field number `index`, from 0, of the only message of a file: the meaning and unit of
/// `column`, or `None` if it has no known channel.
fn comment(column: &str, index: i32) -> Option<Location> {
    let Channel { about, unit, .. } = channel_of_column(column)?;
    Some(Location {
        // Fields 4 (messages) of the file and 2 (fields) of its message 0.
        path: vec![4, 0, 2, index],
        // Line and columns: there is no text, but readers refuse a place without three numbers.
        span: vec![index, 0, 0],
        leading_comments: Some(format!(" {about} Unit: {unit}\n")),
        ..Default::default()
    })
}

/// Returns the schema of the type `message` in a file: a binary `FileDescriptorSet` with the file of the type and all
/// files that it imports, each behind its own imports.
pub fn schema_data(message: &MessageDescriptor) -> Vec<u8> {
    /// Adds `file` and its imports to `files`.
    fn collect(file: &FileDescriptor, files: &mut Vec<FileDescriptorProto>) {
        if files.iter().any(|known| known.name() == file.name()) {
            return;
        }
        file.dependencies().for_each(|dependency| collect(&dependency, files));
        files.push(file.file_descriptor_proto().clone());
    }
    let mut files = Vec::new();
    collect(&message.parent_file(), &mut files);
    FileDescriptorSet { file: files }.encode_to_vec()
}
