//! Old names of keys, accepted for one release: the tree of a file gets the new names before it is checked.

use super::tree::{Item, Key, Node};
use crate::FaultKind;
use crate::fault_collector::{FaultCollector, join_key};
use crate::old_keys::OldKey;
use std::ops::Range;

/// Keys and values of a table.
type Entries = Vec<(Key, Node)>;

/// Renamed keys of some tables.
pub(super) struct RenamedKeys {
    /// Paths of the tables from the root, with new names. `*` matches every name. A list matches with each of its
    /// tables. The empty path is the whole file.
    tables: &'static [&'static str],
    /// Old and new path of each key, relative to the table.
    keys: &'static [(&'static str, &'static str)],
}

/// New paths of flags that are now texts, with the texts of false and true.
const FLAGS_NOW_TEXTS: [(&str, [&str; 2]); 1] = [("anti_roll_bar.acts_on", ["wheels", "chassis"])];

/// Renamed keys of vehicle files. Keys of a renamed table follow the name of the table.
pub(super) const VEHICLE_KEYS: &[RenamedKeys] = &[
    RenamedKeys {
        tables: &[""],
        keys: &[
            ("standing_resistance", "static_rolling_resistance"),
            ("peers", "raycast_reference"),
            ("assists.lowered_centre", "non_physical.lowered_centre"),
            ("assists.angular_drag", "non_physical.angular_drag"),
        ],
    },
    RenamedKeys { tables: &["raycast_reference"], keys: &[("largest_suspension_force_n", "max_suspension_force_n")] },
    RenamedKeys {
        tables: &["tyres.*"],
        keys: &[
            ("friction_along", "longitudinal_friction"),
            ("friction_across", "lateral_friction"),
            ("relaxation_along_m", "relaxation_length_longitudinal_m"),
            ("relaxation_across_m", "relaxation_length_lateral_m"),
            ("along", "longitudinal"),
            ("across", "lateral"),
            ("along_at_double_load", "longitudinal_at_double_load"),
            ("across_at_double_load", "lateral_at_double_load"),
        ],
    },
    RenamedKeys {
        tables: &[
            "tyres.*.longitudinal",
            "tyres.*.lateral",
            "tyres.*.longitudinal_at_double_load",
            "tyres.*.lateral_at_double_load",
        ],
        keys: &[("asymptote_share", "sliding_force_ratio"), ("largest_n", "peak_n"), ("largest_slip", "peak_slip")],
    },
    RenamedKeys {
        tables: &["axles", "dolly.axles"],
        keys: &[
            ("guidance", "kinematics"),
            ("force_point_above_ground_m", "force_application_height_m"),
            ("anti_roll_bar_n_per_m", "anti_roll_bar.rate_n_per_m"),
            ("anti_roll_bar_share", "anti_roll_bar.roll_stiffness_share"),
            ("anti_roll_bar_n", "anti_roll_bar.full_travel_force_n"),
            ("anti_roll_bar_external", "anti_roll_bar.acts_on"),
            ("anti_roll_bar_fades_in_mps", "anti_roll_bar.speed_range_mps"),
        ],
    },
    RenamedKeys {
        tables: &["axles.lateral_compliance", "dolly.axles.lateral_compliance"],
        keys: &[("rate_n_per_m", "lateral_stiffness_n_per_m")],
    },
    RenamedKeys {
        tables: &["axles.brake_disc", "dolly.axles.brake_disc"],
        keys: &[("least_share", "min_torque_factor")],
    },
    RenamedKeys {
        tables: &["axles.suspension", "dolly.axles.suspension"],
        keys: &[
            ("rate_rise_n_per_m2", "progressive_rate_n_per_m2"),
            ("bump_knee", "bump_blow_off"),
            ("rebound_knee", "rebound_blow_off"),
        ],
    },
    RenamedKeys {
        tables: &[
            "axles.suspension.bump_blow_off",
            "axles.suspension.rebound_blow_off",
            "dolly.axles.suspension.bump_blow_off",
            "dolly.axles.suspension.rebound_blow_off",
        ],
        keys: &[("above_mps", "speed_mps"), ("share", "slope_ratio")],
    },
    RenamedKeys { tables: &["brakes"], keys: &[("front_share", "front_bias")] },
    RenamedKeys { tables: &["powertrain.gearbox"], keys: &[("easy_up_shift_rpm", "light_throttle_up_shift_rpm")] },
    RenamedKeys { tables: &["powertrain.differential"], keys: &[("axle_shares", "torque_split")] },
    RenamedKeys {
        tables: &["couplings"],
        keys: &[("drive_bias", "torque_bias_ratio_drive"), ("coast_bias", "torque_bias_ratio_coast")],
    },
    RenamedKeys {
        tables: &["hitch", "dolly.turntable"],
        keys: &[("largest_yaw_deg", "max_yaw_deg"), ("largest_pitch_deg", "max_pitch_deg")],
    },
    RenamedKeys {
        tables: &["assists.abs", "assists.stability", "assists.traction", "assists.launch", "assists.cruise"],
        keys: &[("response_s", "time_constant_s")],
    },
    RenamedKeys { tables: &["assists.abs"], keys: &[("off_below_mps", "min_speed_mps")] },
    RenamedKeys {
        tables: &["assists.stability"],
        keys: &[
            ("largest_lateral_mps2", "max_lateral_mps2"),
            ("largest_sideslip_deg", "max_sideslip_deg"),
            ("fades_in_mps", "speed_range_mps"),
        ],
    },
    RenamedKeys { tables: &["assists.traction", "assists.launch"], keys: &[("least_slip_mps", "min_slip_mps")] },
    RenamedKeys { tables: &["assists.traction"], keys: &[("brake_share", "brake_authority")] },
    RenamedKeys { tables: &["assists.launch"], keys: &[("until_mps", "max_speed_mps")] },
    RenamedKeys { tables: &["assists.cruise"], keys: &[("largest_acceleration_mps2", "max_acceleration_mps2")] },
    RenamedKeys {
        tables: &["assists.counter_steer"],
        keys: &[("authority_deg", "max_angle_deg"), ("fades_in_mps", "speed_range_mps")],
    },
    RenamedKeys {
        tables: &["assists.speed_steering"],
        keys: &[("between_mps", "speed_range_mps"), ("lock_share", "lock_factor"), ("rate_share", "rate_factor")],
    },
];

/// Renamed keys of scene files.
pub(super) const SCENE_KEYS: &[RenamedKeys] = &[
    RenamedKeys { tables: &[""], keys: &[("body", "dynamic_box")] },
    RenamedKeys { tables: &["dynamic_box"], keys: &[("angular_velocity_dps", "angular_velocity_deg_per_s")] },
    RenamedKeys { tables: &["box"], keys: &[("motion", "kinematic")] },
    RenamedKeys {
        tables: &["box.kinematic"],
        keys: &[("turn_rate_dps", "turn_rate_deg_per_s"), ("repeats", "loop"), ("blend_s", "blend_time_s")],
    },
    RenamedKeys { tables: &["mesh"], keys: &[("crease_deg", "smoothing_angle_deg")] },
    RenamedKeys {
        tables: &["", "box", "height_field", "road", "crg", "mesh", "mesh.surface"],
        keys: &[("texture", "roughness")],
    },
    RenamedKeys {
        tables: &[
            "roughness",
            "box.roughness",
            "height_field.roughness",
            "road.roughness",
            "crg.roughness",
            "mesh.roughness",
            "mesh.surface.roughness",
        ],
        keys: &[("roughness_m", "peak_to_peak_m")],
    },
];

/// Replaces old names of keys by new names in `tree` and in the placeholder paths of `collector` (paths of values that
/// are already reported, such as broken statements). Applies the entries of `renamed` in order, so that patterns of
/// later entries match tables with new names. Adds each old key to `collector.old_keys`, which is sorted by place in
/// the text. A key with both its old and its new name is a fault, and its old value is dropped.
pub(super) fn rename_old_keys(tree: &mut Node, renamed: &[RenamedKeys], collector: &mut FaultCollector) {
    for RenamedKeys { tables, keys } in renamed {
        for table_path in *tables {
            // Empty for the whole file.
            // Names of the path, from the root.
            let pattern: Vec<&str> = table_path.split('.').filter(|name| !name.is_empty()).collect();
            visit_tables(tree, &pattern, "", &mut |entries, path| {
                for &(old, new) in *keys {
                    rename_key(entries, path, (old, new), collector);
                }
            });
            let placeholder_paths = std::mem::take(&mut collector.placeholder_paths).into_iter();
            collector.placeholder_paths = placeholder_paths.map(|path| renamed_path(path, &pattern, keys)).collect();
        }
    }
    collector.old_keys.sort_by_key(|(_, span)| span.start);
}

/// Calls `visit` with the entries and the path of each table at or below `node` that matches `pattern`, a list of names
/// in which `*` matches every name. An empty pattern matches `node` itself. `path` is that of `node`. A list stands for
/// each of its tables, whose paths have its index (`axles[1]`). Other values are skipped.
fn visit_tables(node: &mut Node, pattern: &[&str], path: &str, visit: &mut dyn FnMut(&mut Entries, &str)) {
    match (&mut node.item, pattern) {
        (Item::List(list), _) => {
            for (i, entry) in list.iter_mut().enumerate().filter(|(_, entry)| matches!(entry.item, Item::Table(_))) {
                visit_tables(entry, pattern, &format!("{path}[{i}]"), visit);
            }
        }
        (Item::Table(entries), []) => visit(entries, path),
        (Item::Table(entries), [name, inner_pattern @ ..]) => {
            for (key, entry) in entries.iter_mut().filter(|(key, _)| *name == "*" || key.name == *name) {
                visit_tables(entry, inner_pattern, &join_key(path, &key.name), visit);
            }
        }
        _ => {}
    }
}

/// Renames the key `old` of the table `entries` to `new`; does nothing if the table lacks `old`. Both are paths
/// relative to the table, whose own path is `path`. Steps: remove the entry; replace a flag that is now a text
/// ([`FLAGS_NOW_TEXTS`]); insert the entry under its new name, or report a contradiction if that name exists; add the
/// key to `collector.old_keys` in either case.
fn rename_key(
    entries: &mut Entries,
    path: &str,
    (old, new): (&'static str, &'static str),
    collector: &mut FaultCollector,
) {
    let Some((key, mut node)) = take_entry(entries, old) else { return };
    let texts = FLAGS_NOW_TEXTS.iter().find(|(flag, _)| *flag == new).map(|(_, texts)| texts);
    if let (Some(texts), Item::Flag(flag)) = (texts, &node.item) {
        node.item = Item::Text(texts[usize::from(*flag)].to_owned());
    }
    let span = key.span.clone();
    if let Err(new_span) = insert_entry(entries, new, key, node) {
        let old_path = old.split('.').fold(path.to_owned(), |path, name| join_key(&path, name));
        let found = format!("given as well as its new name `{new}`");
        let help = Some(format!("remove `{old}`"));
        let accepts = format!("the only one of `{old}` and `{new}`");
        collector.add_fault(FaultKind::Contradiction, old_path, span.clone(), found, accepts, help);
        if let Some(fault) = collector.last_fault() {
            fault.contradicted_span = Some(new_span);
        }
    }
    // `take_old_keys` sets the line.
    collector.old_keys.push((OldKey { line: 0, old, new }, span));
}

/// Removes the entry at `path` (names separated by dots) from the table `entries` and returns it; `None` if there is
/// none or if an outer name of the path is no table. An inner table is removed with its last entry.
fn take_entry(entries: &mut Entries, path: &str) -> Option<(Key, Node)> {
    // First name of the path, and the rest if there is one.
    let (name, inner_path) = path.split_once('.').map_or((path, None), |(name, inner_path)| (name, Some(inner_path)));
    // Each entry is a key and its node.
    let index = entries.iter().position(|(key, _)| key.name == name)?;
    let Some(inner_path) = inner_path else { return Some(entries.remove(index)) };
    let Item::Table(inner_entries) = &mut entries[index].1.item else { return None };
    let entry = take_entry(inner_entries, inner_path)?;
    if inner_entries.is_empty() {
        entries.remove(index);
    }
    Some(entry)
}

/// Appends `node` to the table `entries` at `path` (names separated by dots). Missing inner tables are created. `key`
/// is the key with its old name: only its span is used, for every key that is created. If `path` exists already, adds
/// nothing and returns the span of the existing key as the error. If an outer name of `path` holds a value that is no
/// table, `node` is dropped without an error, because the check of the schema reports that value.
fn insert_entry(entries: &mut Entries, path: &str, key: Key, node: Node) -> Result<(), Range<usize>> {
    // First name of the path, and the rest if there is one.
    let (name, inner_path) = path.split_once('.').map_or((path, None), |(name, inner_path)| (name, Some(inner_path)));
    let new_key = Key { name: name.to_owned(), span: key.span.clone() };
    let existing_entry = entries.iter_mut().find(|(key, _)| key.name == name);
    match (existing_entry, inner_path) {
        (Some((existing_key, _)), None) => Err(existing_key.span.clone()),
        (None, None) => {
            entries.push((new_key, node));
            Ok(())
        }
        (Some((_, inner)), Some(inner_path)) => match &mut inner.item {
            Item::Table(inner_entries) => insert_entry(inner_entries, inner_path, key, node),
            _ => Ok(()),
        },
        (None, Some(inner_path)) => {
            let mut inner_entries = Vec::new();
            let (span, inserted) = (key.span.clone(), insert_entry(&mut inner_entries, inner_path, key, node));
            entries.push((new_key, Node::table(span, inner_entries)));
            inserted
        }
    }
}

/// Returns `path` with the new name of a key, if it is at or below an old key of `keys` in a table that matches
/// `pattern` (a list of names, `*` for any name). Otherwise returns `path` itself. The match ignores list indices
/// (`axles[1]` matches `axles`). Indices stay in the result, except within an old key of several names, of which only
/// the index after the last name stays.
fn renamed_path(path: String, pattern: &[&str], keys: &[(&str, &str)]) -> String {
    let parts: Vec<&str> = path.split('.').collect();
    // Parts without their list indices.
    let names: Vec<&str> = parts.iter().map(|part| part.split('[').next().unwrap_or(part)).collect();
    let is_in_table = names.len() > pattern.len()
        && pattern.iter().zip(&names).all(|(pattern_name, name)| *pattern_name == "*" || pattern_name == name);
    // Path within the table.
    let inner_names = &names[pattern.len().min(names.len())..];
    // Old key that is the whole path within the table, or its beginning up to a dot.
    let renamed_key = keys.iter().find(|(old, _)| {
        inner_names
            .join(".")
            .split_at_checked(old.len())
            .is_some_and(|(start, rest)| start == *old && (rest.is_empty() || rest.starts_with('.')))
    });
    let Some((old, new)) = renamed_key.filter(|_| is_in_table) else { return path };
    // Index of the last part of the old key in `parts`.
    let last_old_index = pattern.len() + old.split('.').count() - 1;
    let list_index = &parts[last_old_index][names[last_old_index].len()..];
    let new_part = format!("{new}{list_index}");
    let (table_parts, rest) = (&parts[..pattern.len()], &parts[last_old_index + 1..]);
    [table_parts, &[new_part.as_str()], rest].concat().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last name of every new path is a property somewhere in the schema of its kind of file.
    #[test]
    fn new_keys_are_in_the_schemas() {
        let vehicle_schema = include_str!("../schema/vehicle.toml");
        let scene_schema = include_str!("../schema/scene.toml");
        for (schema, renamed) in [(vehicle_schema, VEHICLE_KEYS), (scene_schema, SCENE_KEYS)] {
            for (_, new) in renamed.iter().flat_map(|renamed| renamed.keys) {
                let name = new.rsplit('.').next().unwrap_or(new);
                assert!(schema.contains(&format!("properties.{name}]")), "{new}");
            }
        }
    }

    /// Paths at and below old keys get the new name, with list indices. Paths that only begin like an old key, and
    /// paths in other tables, stay.
    #[test]
    fn paths_get_their_new_names() {
        let tyres = ["tyres", "*"];
        let keys = [("along", "longitudinal"), ("body", "dynamic_box"), ("a.b", "c.d")];
        for (path, pattern, expected) in [
            ("tyres.front.along", &tyres[..], "tyres.front.longitudinal"),
            ("tyres.front.along.slope_n", &tyres, "tyres.front.longitudinal.slope_n"),
            ("tyres.front.along_at_double_load", &tyres, "tyres.front.along_at_double_load"),
            ("tyres", &tyres, "tyres"),
            ("body[1].mass_kg", &[], "dynamic_box[1].mass_kg"),
            ("axles[2].a.b[1].e", &["axles"], "axles[2].c.d[1].e"),
            ("axles[2].a", &["axles"], "axles[2].a"),
        ] {
            assert_eq!(renamed_path(path.to_owned(), pattern, &keys), expected);
        }
    }
}
