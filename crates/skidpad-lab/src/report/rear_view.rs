//! Rear view of a car: roll angle, wheel loads and forces of the anti-roll bars.

use std::io;

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use skidpad_core::{Frame, Model};

/// Size of the drawing (px).
const DRAWING_SIZE_PX: (u32, u32) = (760, 480);
/// Drawn range, measured laterally from the middle of the car and vertically from the ground (m).
const LATERAL_RANGE_M: core::ops::Range<f64> = -1.9..1.9;
const VERTICAL_RANGE_M: core::ops::Range<f64> = -0.5..1.9;
/// Length of the line that represents the static load (m).
const STATIC_LOAD_LINE_M: f64 = 0.35;

type Picture<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Draws `model` from behind at the time of `frame` as SVG: hull, centre of mass, a line for the load of each wheel
/// relative to its static load, and the force of each anti-roll bar at its full rate (N, positive upwards on the
/// chassis).
///
/// # Errors
/// Returns an error if plotters cannot draw.
pub fn rear_view(model: &Model, frame: &Frame, title: &str) -> io::Result<String> {
    let mut svg = String::new();
    draw(model, frame, title, &mut svg).map_err(io::Error::other)?;
    Ok(svg)
}

/// Computes the force of anti-roll bar `bar_index` of `model` at the speed of `frame`: rate times the difference of the
/// compressions, left less right (N). It is added to the force of the left wheel's strut and subtracted from that of
/// the right one.
fn bar_force(model: &Model, frame: &Frame, bar_index: usize) -> f64 {
    let bar = &model.parts().bars[bar_index];
    let [left, right] = bar.wheels.map(|wheel_index| frame.wheels[wheel_index].compression_m);
    f64::from(bar.rate_at(frame.vx_mps as f32)) * (left - right)
}

/// Draws the rear view into `svg` in this order: title, body, a vertical line at each wheel whose length is the load
/// relative to the static load, the load as text (N), and the force of each anti-roll bar as text (N). Lines and texts
/// of different axles are shifted. The view is from behind, so a wheel on the left (y > 0) is at the left of the
/// picture.
fn draw(
    model: &Model,
    frame: &Frame,
    title: &str,
    svg: &mut String,
) -> Result<(), Box<dyn core::error::Error + Send + Sync>> {
    let root = SVGBackend::with_string(svg, DRAWING_SIZE_PX).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .build_cartesian_2d(LATERAL_RANGE_M, VERTICAL_RANGE_M)?;
    draw_body(&mut chart, model, frame)?;
    for (i, wheel) in model.wheels().iter().enumerate() {
        let load = frame.wheels[i].load_n;
        // Shift by axle, so that the lines do not cover each other; x of the picture is −y of the car (m).
        let line_x = -f64::from(wheel.contact.y) + 0.12 * wheel.axle as f64 - 0.06;
        let line_end = (line_x, load / f64::from(model.static_load(i)) * STATIC_LOAD_LINE_M);
        chart.draw_series([PathElement::new([(line_x, 0.0), line_end], GREEN.stroke_width(6))])?;
        // Position of the text (m), one line per axle.
        let text_position = (line_x - 0.2, -0.08 - 0.09 * wheel.axle as f64);
        chart.draw_series([text_element(format!("{} {load:.0} N", model.wheel_name(i)), text_position, &BLACK)])?;
    }
    // One line of text per bar, from the upper left corner downwards.
    for bar_index in 0..model.parts().bars.len() {
        let force = bar_force(model, frame, bar_index);
        let text = format!("bar {}: {force:.0} N at the left wheel, {:.0} N at the right", bar_index + 1, -force);
        chart.draw_series([text_element(text, (-1.8, 1.75 - 0.11 * bar_index as f64), &RED)])?;
    }
    drop(chart);
    root.present()?;
    Ok(())
}

/// Draws hull, ground and centre of mass, in this order, with the roll angle of `frame`. The body is rotated about its
/// centre of mass at the height at rest; heave and pitch are not drawn. The label "centre of mass" is beside its point.
/// The view is from behind, so x of the picture is opposite to the vehicle's y axis.
fn draw_body(
    chart: &mut Picture<'_, '_>,
    model: &Model,
    frame: &Frame,
) -> Result<(), Box<dyn core::error::Error + Send + Sync>> {
    let (hull, (sin, cos)) = (&model.parts().hull, frame.roll_rad.sin_cos());
    let centre_height = f64::from(model.parts().centre_height);
    // Position in the picture of a point to the left of and above the centre of mass (m). A positive roll angle lowers
    // the right side.
    let picture_position = |left: f64, up: f64| (-left * cos + up * sin, centre_height + up * cos + left * sin);
    // Height of the hull's middle above the centre of mass, half width, half height (m).
    let [hull_offset, half_width, half_height] =
        [hull.centre.z, hull.half_extents.y, hull.half_extents.z].map(f64::from);
    let corners = [
        (half_width, -half_height),
        (half_width, half_height),
        (-half_width, half_height),
        (-half_width, -half_height),
    ];
    let outline = corners.map(|(left, up)| picture_position(left, hull_offset + up));
    chart.draw_series([Polygon::new(outline, BLUE.mix(0.15).filled())])?;
    // Ground.
    chart.draw_series([PathElement::new(
        [(LATERAL_RANGE_M.start, 0.0), (LATERAL_RANGE_M.end, 0.0)],
        BLACK.stroke_width(2),
    )])?;
    chart.draw_series([Circle::new(picture_position(0.0, 0.0), 6, RED.filled())])?;
    // Label to the right of the point.
    chart.draw_series([text_element("centre of mass".into(), picture_position(-0.08, 0.02), &RED)])?;
    Ok(())
}

fn text_element<'a>(text: String, position: (f64, f64), colour: &'a RGBColor) -> Text<'a, (f64, f64), String> {
    Text::new(text, position, ("sans-serif", 15).into_font().color(colour))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use skidpad_core::model::AntiRollBar;

    /// Row A20: the picture contains the load of every wheel, the force of every bar and the centre of mass.
    #[test]
    fn a20_the_view_from_behind_tells_loads_and_bars() {
        let mut parts = testing::model().parts().clone();
        parts.bars = vec![AntiRollBar { wheels: [0, 1], rate: 20e3, ..AntiRollBar::default() }];
        let model = Model::new(parts).expect("valid");
        let mut frame = testing::sampled(0.1, 0.1, |_, _| {}).first().clone();
        for (i, wheel) in frame.wheels.iter_mut().enumerate() {
            (wheel.load_n, wheel.compression_m) = (1000.0 + i as f64, if i == 0 { 0.01 } else { -0.02 });
        }
        let svg = rear_view(&model, &frame, "<a car>").expect("drawn");
        let told = ["1l 1000 N", "1r 1001 N", "2l 1002 N", "2r 1003 N", "bar 1: 600 N", "-600 N", "centre of mass"];
        for words in told.into_iter().chain(["&lt;a car&gt;"]) {
            assert!(svg.contains(words), "{words} is not in the picture");
        }
    }
}
