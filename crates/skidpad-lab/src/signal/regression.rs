//! Straight line through points by least squares.

/// Straight line `y = intercept + slope x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Slope (unit of y per unit of x).
    pub slope: f64,
    /// Value at x = 0 (unit of y).
    pub intercept: f64,
}

impl Line {
    /// Returns the value at `x`.
    pub fn at(self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// Fits a straight line to the points (x, y) by least squares of y; `None` for fewer than two different x.
pub fn fit_line(points: impl Iterator<Item = (f64, f64)> + Clone) -> Option<Line> {
    let count = points.clone().count() as f64;
    let (mean_x, mean_y) =
        points.clone().fold((0.0, 0.0), |(mean_x, mean_y), (x, y)| (mean_x + x / count, mean_y + y / count));
    // Sums of (x − mean_x)² and (x − mean_x) (y − mean_y).
    let (xx, xy) =
        points.fold((0.0, 0.0), |(xx, xy), (x, y)| (xx + (x - mean_x).powi(2), xy + (x - mean_x) * (y - mean_y)));
    let slope = xy / xx;
    (xx > 0.0).then_some(Line { slope, intercept: mean_y - slope * mean_x })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points on a line give the line. The line through (0, 0), (1, 1), (2, 0) is constant.
    #[test]
    fn lines_are_those_of_least_squares() {
        let line = fit_line((0..9).map(|k| (f64::from(k), 3.0 - 0.5 * f64::from(k)))).expect("two points");
        assert!((line.slope + 0.5).abs() < 1e-12 && (line.intercept - 3.0).abs() < 1e-12);
        assert!((line.at(4.0) - 1.0).abs() < 1e-12);
        let flat = fit_line([(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)].into_iter()).expect("two points");
        assert!(flat.slope.abs() < 1e-12 && (flat.intercept - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(fit_line([(1.0, 0.0), (1.0, 2.0)].into_iter()), None);
        assert_eq!(fit_line(std::iter::empty()), None);
    }
}
