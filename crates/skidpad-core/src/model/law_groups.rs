//! Tyre models (laws) of a group of wheels: which laws are evaluated, and in which lanes.

use crate::model::parts::ModelParts;
use skidpad_simd::lane::{F32x4, WheelLanes};
use skidpad_tyre::curve::{CurveLaw, CurveTyre};
use skidpad_tyre::parameters::Tyre;
use skidpad_tyre::tmeasy::TMeasyConstants;

/// Tyres with a tyre model (law) other than a simple curve, and the lanes that use it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LawGroup<W = F32x4> {
    /// Tyre constants, or the index of the tyre.
    pub tyres: LawTyres<W>,
    /// 1 in lanes whose wheel has this law, otherwise 0.
    pub has_law: W,
}

/// Tyres that one evaluation of a tyre model covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LawTyres<W> {
    /// All TMeasy tyres of the group, one per lane.
    TMeasy(TMeasyConstants<W>),
    /// Index of a single tyre in the model.
    Single(usize),
}

impl<W: WheelLanes> LawGroup<W> {
    /// Returns the lanes whose wheel has this law.
    #[inline(always)]
    pub fn lanes(&self) -> W::Mask {
        W::splat(0.0).less(self.has_law)
    }
}

#[cfg(feature = "simd_batch")]
impl LawGroup {
    /// Returns true if the wheel in `lane` has this law.
    pub(crate) fn has_lane(&self, lane: usize) -> bool {
        self.has_law.lane_value(lane) != 0.0
    }
}

#[cfg(feature = "simd_batch")]
impl<A: WheelLanes> LawGroup<A> {
    /// Applies `convert` to each constant. A tyre given by its index stays the same.
    pub(crate) fn map<B: WheelLanes>(&self, convert: impl Fn(A) -> B) -> LawGroup<B> {
        let tyres = match &self.tyres {
            LawTyres::TMeasy(tyres) => LawTyres::TMeasy(tyres.map(&convert)),
            LawTyres::Single(tyre) => LawTyres::Single(*tyre),
        };
        LawGroup { tyres, has_law: convert(self.has_law) }
    }
}

/// Collects the tyre models (laws) other than simple curves of a group: one entry for all TMeasy tyres, and one per
/// different tyre of the other models. The lanes of each entry are those of its wheels; lanes of other tyres in the
/// TMeasy entry have placeholder constants. Empty without such tyres.
pub(crate) fn group_laws(parts: &ModelParts, wheels: [usize; 4], present: F32x4) -> Box<[LawGroup]> {
    let tyres = wheels.map(|i| parts.wheels[i].tyre);
    let lane_flags =
        |condition: &dyn Fn(usize) -> bool| F32x4::new(tyres.map(|i| if condition(i) { 1.0 } else { 0.0 })) * present;
    let tmeasy_constants =
        |i: usize| if let Tyre::TMeasy(tyre) = &parts.tyres[i] { Some(tyre.constants()) } else { None };
    let mut laws = Vec::new();
    if let Some(placeholder) = tyres.into_iter().find_map(tmeasy_constants) {
        let constants_by_lane = tyres.map(|i| tmeasy_constants(i).unwrap_or(placeholder));
        let tyres = LawTyres::TMeasy(TMeasyConstants::pack_lanes(constants_by_lane.each_ref()));
        laws.push(LawGroup { tyres, has_law: lane_flags(&|i| tmeasy_constants(i).is_some()) });
    }
    let mut single_tyres: Vec<usize> = Vec::new();
    for tyre in tyres {
        if !matches!(parts.tyres[tyre], Tyre::Curve(_) | Tyre::TMeasy(_)) && !single_tyres.contains(&tyre) {
            single_tyres.push(tyre);
        }
    }
    laws.extend(
        single_tyres
            .into_iter()
            .map(|tyre| LawGroup { tyres: LawTyres::Single(tyre), has_law: lane_flags(&|i| i == tyre) }),
    );
    laws.into()
}

/// Returns the curve of a tyre, or a placeholder curve for a tyre with another tyre model, whose lane ignores it.
pub(crate) fn curve_or_placeholder(tyre: &Tyre) -> CurveTyre {
    match tyre {
        Tyre::Curve(tyre) => *tyre,
        _ => CurveTyre {
            law: CurveLaw::Linear { stiffness: [1.0; 2] },
            friction: [1.0; 2],
            load_sensitivity: 0.0,
            nominal_load: 1000.0,
            relaxation: [1.0; 2],
        },
    }
}
