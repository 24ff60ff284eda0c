//! Objects of a Unity file: the tree of transforms, and the vehicle below a `Rigidbody`.

use crate::{Import, yaml};
use skidpad_core::{DQuat, DVec3};
use skidpad_spec::read::{Item, Key, Node};
use std::collections::{BTreeMap, BTreeSet};

/// Object of the file: one YAML document.
struct Object<'a> {
    /// Class of the object, for example `WheelCollider`.
    kind: String,
    /// Properties of the object.
    node: Node,
    /// Text of the file.
    text: &'a str,
}

impl Object<'_> {
    /// Returns the identifier of the object that `key` refers to. The identifier is read as text, because it has more
    /// digits than an `f64`.
    fn reference_id(&self, key: &str) -> Option<String> {
        let id = self.node.get(key)?.get("fileID")?;
        self.text.get(id.span.clone()).map(|id| id.trim().to_owned())
    }

    /// Returns the vector of `key`. Missing components have the value `default`.
    fn vector(&self, key: &str, default: f64) -> DVec3 {
        let value = |axis| self.node.get(key).and_then(|v| v.get(axis)).and_then(Node::number).unwrap_or(default);
        DVec3::new(value("x"), value("y"), value("z"))
    }

    /// Returns the local rotation as a unit quaternion. Missing components are 0, a missing `w` is 1; a quaternion of
    /// length 0 becomes the identity.
    fn rotation(&self) -> DQuat {
        let value = |axis| self.node.get("m_LocalRotation").and_then(|v| v.get(axis)).and_then(Node::number);
        let quaternion = ["x", "y", "z", "w"].map(|axis| value(axis).unwrap_or(if axis == "w" { 1.0 } else { 0.0 }));
        let rotation = DQuat::from_array(quaternion);
        if rotation.length_squared() > 0.0 { rotation.normalize() } else { DQuat::IDENTITY }
    }
}

impl LocalTransform {
    /// Reads a transform. Defaults: position 0, no rotation, scale 1.
    fn from_object(object: &Object<'_>) -> Self {
        Self {
            position: object.vector("m_LocalPosition", 0.0),
            rotation: object.rotation(),
            scale: object.vector("m_LocalScale", 1.0),
            parent: object.reference_id("m_Father"),
        }
    }
}

/// Maximum number of transforms between a component and its body.
const MAX_TRANSFORM_DEPTH: usize = 256;

/// Transform of the file, in the frame of its father.
struct LocalTransform {
    /// Position (m).
    position: DVec3,
    /// Rotation.
    rotation: DQuat,
    /// Scale.
    scale: DVec3,
    /// Identifier of the father; `None` without one.
    parent: Option<String>,
}

/// Objects of the file.
pub(super) struct Objects<'a> {
    /// Objects by identifier.
    objects: BTreeMap<String, Object<'a>>,
    /// Transforms by identifier.
    local_transforms: BTreeMap<String, LocalTransform>,
    /// Identifier of the first transform of each game object.
    transforms: BTreeMap<String, String>,
}

impl<'a> Objects<'a> {
    /// Reads the documents of the file, one object each. Text before the first `---` is skipped. A document that is not
    /// valid YAML adds a fault and is skipped; a document that is no table, or an empty one, is skipped. A repeated
    /// identifier replaces the earlier object. Then indexes the transforms by identifier, and the first transform of
    /// each game object by the identifier of that object.
    pub(super) fn read(import: &mut Import<'a>) -> Self {
        let text = import.text;
        let mut objects = BTreeMap::new();
        // Byte positions of the lines that begin with `---`: the headers of the documents.
        let starts: Vec<usize> = std::iter::once(0)
            .chain(text.match_indices("\n---").map(|(offset, _)| offset + 1))
            .filter(|&offset| text[offset..].starts_with("---"))
            .collect();
        for (i, &start) in starts.iter().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(text.len());
            let content_start = text[start..end].find('\n').map_or(end, |line| start + line + 1);
            let header = &text[start..content_start];
            // A header is `--- !u!4 &123`, with the identifier behind `&`.
            let id = header.split_whitespace().find_map(|word| word.strip_prefix('&')).unwrap_or("").to_owned();
            let Some(tree) = yaml::parse_document(&text[content_start..end], content_start, import) else { continue };
            if let Item::Table(entries) = tree.item
                && let Some((key, node)) = entries.into_iter().next()
            {
                // The first key is the class of the object, its value the table of properties.
                objects.insert(id, Object { kind: key.name, node, text });
            }
        }
        // Second stage: index of the transforms, by identifier and by game object.
        let (mut local_transforms, mut transforms) = (BTreeMap::new(), BTreeMap::new());
        for (id, object) in
            objects.iter().filter(|(_, object): &(&String, &Object<'a>)| object.kind.ends_with("Transform"))
        {
            if let Some(owner) = object.reference_id("m_GameObject") {
                transforms.entry(owner).or_insert_with(|| id.clone());
            }
            local_transforms.insert(id.clone(), LocalTransform::from_object(object));
        }
        Self { objects, local_transforms, transforms }
    }

    /// Returns the objects of the class `kind`, in the order of the text.
    fn objects_of_kind(&self, kind: &str) -> Vec<&Object<'a>> {
        let mut objects: Vec<_> = self.objects.values().filter(|object| object.kind == kind).collect();
        objects.sort_by_key(|object| object.node.span.start);
        objects
    }

    /// Returns the identifier of the transform of the object a component belongs to.
    fn transform_id(&self, component: &Object<'_>) -> Option<&str> {
        self.transforms.get(&component.reference_id("m_GameObject")?).map(String::as_str)
    }

    /// Returns the transforms from the one of a component up to the root of the file, with their identifiers; at most
    /// [`MAX_TRANSFORM_DEPTH`]. Empty if the component has no transform.
    fn ancestors<'s>(&'s self, component: &Object<'_>) -> impl Iterator<Item = (&'s str, &'s LocalTransform)> {
        let first_transform = self.transform_id(component).and_then(|id| Some((id, self.local_transforms.get(id)?)));
        let parent_of = |&(_, transform): &(&'s str, &'s LocalTransform)| {
            let (id, transform) = self.local_transforms.get_key_value(transform.parent.as_deref()?)?;
            Some((id.as_str(), transform))
        };
        // The limit also ends cycles of fathers.
        std::iter::successors(first_transform, parent_of).take(MAX_TRANSFORM_DEPTH)
    }

    /// Returns position, rotation and scale of the object of `component` in the frame of the transform `root`. Follows
    /// the parents up to `root` and applies scale, rotation and position of each; of `root` itself only the scale.
    /// Scales are multiplied component by component, and rotations do not turn them. Returns `None` if the component is
    /// not below `root`.
    fn place_in_root(&self, component: &Object<'_>, root: &str) -> Option<LocalTransform> {
        let (mut position, mut rotation, mut scale) = (DVec3::ZERO, DQuat::IDENTITY, DVec3::ONE);
        for (id, transform) in self.ancestors(component) {
            // The scale of a transform acts before its rotation.
            (position, scale) = (transform.scale * position, transform.scale * scale);
            if id == root {
                return Some(LocalTransform { position, rotation, scale, parent: None });
            }
            // Into the frame of the parent of this transform.
            position = transform.rotation * position + transform.position;
            rotation = transform.rotation * rotation;
        }
        None
    }

    /// Returns one tree with three entries. `body` is the first `Rigidbody` in the text that has a `WheelCollider` at
    /// or below it, with its name. `wheels` and `boxes` are the `WheelCollider`s and `BoxCollider`s at or below this
    /// body, in the order of the text; each has additional entries `position`, `scale` and `turned_deg`, its angle of
    /// rotation against the body. Adds a fault and returns `None` without such a body. Adds a note if there are
    /// several.
    pub(super) fn build_tree(&self, import: &mut Import<'_>) -> Option<Node> {
        let bodies = self.objects_of_kind("Rigidbody");
        let wheels = self.objects_of_kind("WheelCollider");
        // All transforms at or above a wheel.
        let wheel_ancestors: BTreeSet<&str> =
            wheels.iter().flat_map(|wheel| self.ancestors(wheel)).map(|(id, _)| id).collect();
        let has_wheels =
            |body: &&&Object<'a>| self.transform_id(body).is_some_and(|root| wheel_ancestors.contains(root));
        let mut vehicle_bodies = bodies.iter().filter(has_wheels);
        let Some(body) = vehicle_bodies.next() else {
            let help = "nested prefabs are not supported: unpack them first";
            import.add_fault("", "no Rigidbody with WheelColliders below it", "a vehicle", help);
            return None;
        };
        let root = self.transform_id(body)?;
        let name_node = body
            .reference_id("m_GameObject")
            .and_then(|id| self.objects.get(&id))
            .and_then(|object| object.node.get("m_Name"));
        let name = name_node.and_then(Node::text).unwrap_or("Unity vehicle").to_owned();
        if vehicle_bodies.next().is_some() {
            import.add_note("", format!("several vehicles: the first one, `{name}`, is imported"));
        }
        let placed_nodes = |kind: &str| -> Vec<Node> {
            let place_node = |object: &&Object<'a>| {
                let place = self.place_in_root(object, root)?;
                let entries = [
                    ("position", vector(place.position)),
                    ("scale", vector(place.scale)),
                    ("turned_deg", number(rotation_angle(place.rotation).to_degrees())),
                ];
                Some(with_entries(&object.node, &entries))
            };
            self.objects_of_kind(kind).iter().filter_map(place_node).collect()
        };
        let (wheels, boxes) = (placed_nodes("WheelCollider"), placed_nodes("BoxCollider"));
        let body = with_entries(&body.node, &[("name", Item::Text(name))]);
        let list_entries = [("wheels", Item::List(wheels)), ("boxes", Item::List(boxes))];
        let span = body.span.clone();
        let tree = Node::table(span.clone(), vec![(Key { name: "body".into(), span }, body)]);
        Some(with_entries(&tree, &list_entries))
    }
}

/// Returns a vector as a list of numbers.
fn vector(v: DVec3) -> Item {
    let to_node = |value: f64| Node { item: number(value), span: 0..0 };
    Item::List(v.to_array().map(to_node).into())
}

/// Returns a number without noise.
fn number(value: f64) -> Item {
    Item::Number { value: round_noise(value), whole: false }
}

/// Returns the angle of a rotation, from 0 to π (rad). Exact also near 0.
fn rotation_angle(rotation: DQuat) -> f64 {
    2.0 * rotation.xyz().length().atan2(rotation.w.abs())
}

/// Returns 0 for absolute values below 1e-7, which are noise of rotations in single precision, and other values
/// unchanged.
fn round_noise(value: f64) -> f64 {
    if value.abs() < 1e-7 { 0.0 } else { value }
}

/// Returns the table `node` with additional entries after its own. New entries have the place of the table in the text;
/// their keys have an empty span. A node that is no table counts as an empty table.
fn with_entries(node: &Node, new_entries: &[(&str, Item)]) -> Node {
    let span = node.span.clone();
    let to_entry = |(name, item): &(&str, Item)| {
        let key = Key { name: (*name).to_owned(), span: span.start..span.start };
        (key, Node { item: item.clone(), span: span.clone() })
    };
    let existing_entries = match &node.item {
        Item::Table(entries) => entries.clone(),
        _ => Vec::new(),
    };
    Node::table(span.clone(), existing_entries.into_iter().chain(new_entries.iter().map(to_entry)).collect())
}
