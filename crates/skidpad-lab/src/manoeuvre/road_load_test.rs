//! Coast-down for the road load (SAE J1263, SAE J2263).

use skidpad_core::Model;

use super::coast_down::CoastDown;
use super::{Manoeuvre, Setup, StartRequirements};
use crate::driver::DriverModel;
use crate::metrics::{Metric, metrics};
use crate::road_load::RoadLoad;
use crate::trajectory::Trajectory;

/// Coast-down whose metrics are the coefficients of the road load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoadLoadTest {
    /// Coast-down that is driven.
    pub coast_down: CoastDown,
}

metrics! {
    /// Road load `F = a + b v + c v²` and `F = f0 + f2 v²`, fitted to all rows of the coast-down.
    RoadLoadMetrics {
        road_load_a_n, "N", 1, "Road load, constant part a", "Of `a + b v + c v²`, fitted to all rows. Not with trailers.";
        road_load_b_n_s_per_m, "N s/m", 3, "Road load, linear part b", "Of `a + b v + c v²`.";
        road_load_c_n_s2_per_m2, "N s²/m²", 3, "Road load, quadratic part c", "Of `a + b v + c v²`.";
        road_load_f0_n, "N", 1, "Road load of two terms, constant part f0", "Of `f0 + f2 v²` (SAE J1263).";
        road_load_f2_n_s2_per_m2, "N s²/m²", 3, "Road load of two terms, quadratic part f2", "Of `f0 + f2 v²` (SAE J1263).";
        road_load_at_80_kmh_n, "N", 1, "Road load at 80 km/h", "`a + b v + c v²` at 22.22 m/s.";
    }
}

/// Speed of 80 km/h (m/s).
const KMH_80: f64 = 80.0 / 3.6;

impl RoadLoadTest {
    /// Computes the metrics of a run with the fits of [`RoadLoad`], for the mass that includes the spin of the wheels.
    /// All are `None` for a car with trailers, because the hitch transmits their forces to the car. The values of a fit
    /// are `None` if the run does not determine its coefficients.
    pub fn measure(&self, model: &Model, trajectory: &Trajectory) -> RoadLoadMetrics {
        if !trajectory.trailers().is_empty() {
            return RoadLoadMetrics::default();
        }
        let mass = f64::from(model.rolling_mass());
        let three_terms = RoadLoad::fit_three_terms(trajectory, mass);
        let two_terms = RoadLoad::fit_two_terms(trajectory, mass);
        RoadLoadMetrics {
            road_load_a_n: three_terms.map(|load| load.constant_n),
            road_load_b_n_s_per_m: three_terms.map(|load| load.linear_n_s_per_m),
            road_load_c_n_s2_per_m2: three_terms.map(|load| load.quadratic_n_s2_per_m2),
            road_load_f0_n: two_terms.map(|load| load.constant_n),
            road_load_f2_n_s2_per_m2: two_terms.map(|load| load.quadratic_n_s2_per_m2),
            road_load_at_80_kmh_n: three_terms.map(|load| load.force(KMH_80)),
        }
    }
}

impl Manoeuvre for RoadLoadTest {
    fn name(&self) -> &'static str {
        "road-load"
    }
    fn about(&self) -> String {
        format!("road load by {}", Manoeuvre::about(&self.coast_down))
    }
    fn setup(&self, model: &Model) -> Setup {
        Manoeuvre::setup(&self.coast_down, model)
    }
    fn start_requirements(&self) -> StartRequirements {
        Manoeuvre::start_requirements(&self.coast_down).on_level_ground()
    }
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        self.coast_down.driver(model)
    }
    fn metrics(&self, model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(model, trajectory).list()
    }
}
