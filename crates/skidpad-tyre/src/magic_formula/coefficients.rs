//! Coefficients of a Magic Formula tyre. One list defines their fields, names in `.tir` files, units, defaults and
//! documentation.

/// Unit of a coefficient. All values in [`Coefficients`] are SI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// No unit: coefficients of the formula itself, with angles in rad.
    One,
    /// Length, m.
    Length,
    /// Speed, m/s.
    Speed,
    /// Force, N.
    Force,
    /// Stiffness, N/m.
    Stiffness,
    /// Pressure, N/m².
    Pressure,
    /// Angle, rad.
    Angle,
}

/// Entry of the list of coefficients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Name in `.tir` files.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: Unit,
    /// Value if a file does not state the coefficient. NaN if there is no sensible default and a file must state it.
    pub default: f32,
    /// Description of the coefficient.
    pub meaning: &'static str,
}

macro_rules! coefficients {
    ($($unit:ident { $($field:ident $name:literal $default:tt $meaning:literal)* })*) => {
        /// All coefficients, named as in `.tir` files, in SI units and the axes of this project (ISO W, as in the
        /// files).
        ///
        /// Source of the names: Pacejka, *Tire and Vehicle Dynamics*, 3rd ed. 2012, ch. 4.3, and the manual of PAC2002.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Coefficients {
            $($(
                #[doc = concat!($meaning, " (`", $name, "`, ", stringify!($unit), ").")]
                pub $field: f32,
            )*)*
        }

        impl Default for Coefficients {
            /// Returns all coefficients at their defaults. Coefficients that a file must state are NaN.
            fn default() -> Self {
                Self { $($($field: $default,)*)* }
            }
        }

        /// List of all coefficients, in the order of the fields of [`Coefficients`].
        pub const ENTRIES: &[Entry] = &[
            $($(Entry {
                name: $name,
                unit: Unit::$unit,
                default: $default,
                meaning: $meaning,
            },)*)*
        ];

        impl Coefficients {
            /// Returns the coefficient called `name` in `.tir` files (upper case); `None` if there is no such
            /// coefficient.
            pub fn get(&self, name: &str) -> Option<f32> {
                match name { $($($name => Some(self.$field),)*)* _ => None }
            }

            /// Returns the coefficient called `name` in `.tir` files (upper case) for modification; `None` if there is
            /// none.
            pub fn get_mut(&mut self, name: &str) -> Option<&mut f32> {
                match name { $($($name => Some(&mut self.$field),)*)* _ => None }
            }
        }
    };
}

/// Default of a coefficient that a file must state.
const NO_DEFAULT: f32 = f32::NAN;
/// Default range of the slip angle, rad.
const SLIP_ANGLE_RANGE_RAD: [f32; 2] = [-std::f32::consts::FRAC_PI_2, std::f32::consts::FRAC_PI_2];
/// Default range of the camber, rad.
const CAMBER_RANGE_RAD: [f32; 2] = [-0.6, 0.6];
/// Default range of the slip ratio.
const SLIP_RATIO_RANGE: [f32; 2] = [-1.5, 1.5];

coefficients! {
    Length {
        unloaded_radius "UNLOADED_RADIUS" NO_DEFAULT "Radius of the free tyre"
        width "WIDTH" 0.2 "Section width, for the deflection by camber"
    }
    Speed {
        longvl "LONGVL" 16.7 "Measurement speed, reference of speed effects"
        vxlow "VXLOW" 1.0 "Speed below which the rolling resistance moment fades out"
    }
    Pressure {
        nompres "NOMPRES" 0.0 "Inflation pressure of the measurement; 0 if pressure has no effect"
        inflpres "INFLPRES" 0.0 "Inflation pressure in use; 0 for the pressure of the measurement"
        presmin "PRESMIN" 0.0 "Minimum valid pressure"
        presmax "PRESMAX" 1e9 "Maximum valid pressure"
    }
    Force {
        fnomin "FNOMIN" NO_DEFAULT "Nominal load"
        fzmin "FZMIN" 0.0 "Minimum valid load"
        fzmax "FZMAX" 1e9 "Maximum valid load"
    }
    Stiffness {
        vertical_stiffness "VERTICAL_STIFFNESS" 0.0 "Vertical stiffness at the nominal load; 0 if not stated"
        longitudinal_stiffness "LONGITUDINAL_STIFFNESS" 0.0 "Longitudinal stiffness of the stationary tyre; 0 if not stated"
        lateral_stiffness "LATERAL_STIFFNESS" 0.0 "Lateral stiffness of the stationary tyre; 0 if not stated"
    }
    Angle {
        alpmin "ALPMIN" (SLIP_ANGLE_RANGE_RAD[0]) "Minimum valid slip angle"
        alpmax "ALPMAX" (SLIP_ANGLE_RANGE_RAD[1]) "Maximum valid slip angle"
        cammin "CAMMIN" (CAMBER_RANGE_RAD[0]) "Minimum valid camber"
        cammax "CAMMAX" (CAMBER_RANGE_RAD[1]) "Maximum valid camber"
    }
    One {
        aspect_ratio "ASPECT_RATIO" 0.6 "Height over width of the section, for the deflection by camber"
        kpumin "KPUMIN" (SLIP_RATIO_RANGE[0]) "Minimum valid slip ratio"
        kpumax "KPUMAX" (SLIP_RATIO_RANGE[1]) "Maximum valid slip ratio"
        // Radius and vertical force.
        breff "BREFF" 8.0 "Effective radius: stiffness at low load"
        dreff "DREFF" 0.24 "Effective radius: size of the change with load"
        freff "FREFF" 0.01 "Effective radius: stiffness at high load"
        q_re0 "Q_RE0" 1.0 "Radius of the free tyre over its nominal one"
        q_v1 "Q_V1" 0.0 "Growth of the radius with the square of spin"
        q_v2 "Q_V2" 0.0 "Growth of the vertical stiffness with spin"
        q_fz1 "Q_FZ1" 0.0 "Vertical force: linear in deflection; 0 to follow from the stiffness"
        q_fz2 "Q_FZ2" 0.0 "Vertical force: quadratic in deflection"
        q_fz3 "Q_FZ3" 0.0 "Vertical force: linear in deflection, times camber squared"
        q_fcx "Q_FCX" 0.0 "Vertical force: loss by the longitudinal force"
        q_fcy "Q_FCY" 0.0 "Vertical force: loss by the lateral force"
        q_fcy2 "Q_FCY2" 0.0 "Vertical force: exponent of deflection in the loss by the lateral force (6.2)"
        q_cam1 "Q_CAM1" 0.0 "Vertical deflection by camber, linear in radius (6.2)"
        q_cam2 "Q_CAM2" 0.0 "Vertical deflection by camber, quadratic in radius (6.2)"
        q_cam3 "Q_CAM3" 0.0 "Vertical deflection lost by camber (6.2)"
        q_fys1 "Q_FYS1" 0.0 "Lateral force shift by camber (6.2)"
        q_fys2 "Q_FYS2" 0.0 "Lateral force shift by camber, linear in radius (6.2)"
        q_fys3 "Q_FYS3" 0.0 "Lateral force shift by camber, quadratic in radius (6.2)"
        pfz1 "PFZ1" 0.0 "Vertical stiffness: change with pressure"
        // Stiffness of the standing tyre.
        pcfx1 "PCFX1" 0.0 "Longitudinal stiffness: change with load"
        pcfx2 "PCFX2" 0.0 "Longitudinal stiffness: change with load squared"
        pcfx3 "PCFX3" 0.0 "Longitudinal stiffness: change with pressure"
        pcfy1 "PCFY1" 0.0 "Lateral stiffness: change with load"
        pcfy2 "PCFY2" 0.0 "Lateral stiffness: change with load squared"
        pcfy3 "PCFY3" 0.0 "Lateral stiffness: change with pressure"
        // Scaling factors.
        lfzo "LFZO" 1.0 "Scale of the nominal load"
        lcz "LCZ" 1.0 "Scale of the vertical stiffness (PAC2002)"
        lcx "LCX" 1.0 "Scale of the shape factor of Fx"
        lmux "LMUX" 1.0 "Scale of the longitudinal friction"
        lex "LEX" 1.0 "Scale of the curvature of Fx"
        lkx "LKX" 1.0 "Scale of the slip stiffness"
        lhx "LHX" 1.0 "Scale of the horizontal shift of Fx"
        lvx "LVX" 1.0 "Scale of the vertical shift of Fx"
        lgax "LGAX" 1.0 "Scale of camber in Fx (PAC2002)"
        lcy "LCY" 1.0 "Scale of the shape factor of Fy"
        lmuy "LMUY" 1.0 "Scale of the lateral friction"
        ley "LEY" 1.0 "Scale of the curvature of Fy"
        lky "LKY" 1.0 "Scale of the cornering stiffness"
        lhy "LHY" 1.0 "Scale of the horizontal shift of Fy"
        lvy "LVY" 1.0 "Scale of the vertical shift of Fy"
        lgay "LGAY" 1.0 "Scale of camber in Fy (PAC2002)"
        lkyc "LKYC" 1.0 "Scale of the camber stiffness of Fy"
        ltr "LTR" 1.0 "Scale of the pneumatic trail"
        lres "LRES" 1.0 "Scale of the residual moment"
        lgaz "LGAZ" 1.0 "Scale of camber in Mz (PAC2002)"
        lkzc "LKZC" 1.0 "Scale of the camber stiffness of Mz"
        lxal "LXAL" 1.0 "Scale of slip angle in the loss of Fx"
        lyka "LYKA" 1.0 "Scale of slip ratio in the loss of Fy"
        lvyka "LVYKA" 1.0 "Scale of the Fy induced by slip ratio"
        ls "LS" 1.0 "Scale of the lever of Fx about the vertical axis"
        lmx "LMX" 1.0 "Scale of Mx"
        lvmx "LVMX" 1.0 "Scale of the shift of Mx"
        lmy "LMY" 1.0 "Scale of My"
        lsgkp "LSGKP" 1.0 "Scale of the longitudinal relaxation length"
        lsgal "LSGAL" 1.0 "Scale of the lateral relaxation length"
        // Fx.
        pcx1 "PCX1" NO_DEFAULT "Fx: shape factor C"
        pdx1 "PDX1" NO_DEFAULT "Fx: friction at the nominal load"
        pdx2 "PDX2" 0.0 "Fx: change of friction with load"
        pdx3 "PDX3" 0.0 "Fx: loss of friction with camber squared"
        pex1 "PEX1" 0.0 "Fx: curvature E at the nominal load"
        pex2 "PEX2" 0.0 "Fx: change of curvature with load"
        pex3 "PEX3" 0.0 "Fx: change of curvature with load squared"
        pex4 "PEX4" 0.0 "Fx: difference of curvature between driving and braking"
        pkx1 "PKX1" NO_DEFAULT "Fx: slip stiffness per load at the nominal load"
        pkx2 "PKX2" 0.0 "Fx: change of slip stiffness with load"
        pkx3 "PKX3" 0.0 "Fx: exponent of slip stiffness with load"
        phx1 "PHX1" 0.0 "Fx: horizontal shift at the nominal load"
        phx2 "PHX2" 0.0 "Fx: change of the horizontal shift with load"
        pvx1 "PVX1" 0.0 "Fx: vertical shift per load at the nominal load"
        pvx2 "PVX2" 0.0 "Fx: change of the vertical shift with load"
        ppx1 "PPX1" 0.0 "Fx: change of slip stiffness with pressure"
        ppx2 "PPX2" 0.0 "Fx: change of slip stiffness with pressure squared"
        ppx3 "PPX3" 0.0 "Fx: change of friction with pressure"
        ppx4 "PPX4" 0.0 "Fx: change of friction with pressure squared"
        rbx1 "RBX1" 0.0 "Loss of Fx by slip angle: stiffness"
        rbx2 "RBX2" 0.0 "Loss of Fx by slip angle: change of stiffness with slip ratio"
        rbx3 "RBX3" 0.0 "Loss of Fx by slip angle: change of stiffness with camber squared"
        rcx1 "RCX1" 1.0 "Loss of Fx by slip angle: shape factor"
        rex1 "REX1" 0.0 "Loss of Fx by slip angle: curvature"
        rex2 "REX2" 0.0 "Loss of Fx by slip angle: change of curvature with load"
        rhx1 "RHX1" 0.0 "Loss of Fx by slip angle: shift"
        ptx1 "PTX1" 0.0 "Longitudinal relaxation length at the nominal load (PAC2002)"
        ptx2 "PTX2" 0.0 "Longitudinal relaxation length: change with load (PAC2002)"
        ptx3 "PTX3" 0.0 "Longitudinal relaxation length: exponent with load (PAC2002)"
        // Fy.
        pcy1 "PCY1" NO_DEFAULT "Fy: shape factor C"
        pdy1 "PDY1" NO_DEFAULT "Fy: friction at the nominal load"
        pdy2 "PDY2" 0.0 "Fy: change of friction with load"
        pdy3 "PDY3" 0.0 "Fy: loss of friction with camber squared"
        pey1 "PEY1" 0.0 "Fy: curvature E at the nominal load"
        pey2 "PEY2" 0.0 "Fy: change of curvature with load"
        pey3 "PEY3" 0.0 "Fy: difference of curvature between left and right"
        pey4 "PEY4" 0.0 "Fy: that difference with camber"
        pey5 "PEY5" 0.0 "Fy: change of curvature with camber squared"
        pky1 "PKY1" NO_DEFAULT "Fy: maximum cornering stiffness per nominal load, negative"
        pky2 "PKY2" NO_DEFAULT "Fy: load of the maximum cornering stiffness over the nominal load"
        pky3 "PKY3" 0.0 "Fy: loss of cornering stiffness with camber"
        pky4 "PKY4" 2.0 "Fy: curvature of cornering stiffness over load"
        pky5 "PKY5" 0.0 "Fy: change of the load of largest stiffness with camber squared"
        pky6 "PKY6" 0.0 "Fy: camber stiffness per load (6.1)"
        pky7 "PKY7" 0.0 "Fy: change of camber stiffness with load (6.1)"
        phy1 "PHY1" 0.0 "Fy: horizontal shift at the nominal load"
        phy2 "PHY2" 0.0 "Fy: change of the horizontal shift with load"
        phy3 "PHY3" 0.0 "Fy: horizontal shift with camber (PAC2002)"
        pvy1 "PVY1" 0.0 "Fy: vertical shift per load at the nominal load"
        pvy2 "PVY2" 0.0 "Fy: change of the vertical shift with load"
        pvy3 "PVY3" 0.0 "Fy: vertical shift with camber"
        pvy4 "PVY4" 0.0 "Fy: vertical shift with camber and load"
        ppy1 "PPY1" 0.0 "Fy: change of cornering stiffness with pressure"
        ppy2 "PPY2" 0.0 "Fy: change of the load of largest stiffness with pressure"
        ppy3 "PPY3" 0.0 "Fy: change of friction with pressure"
        ppy4 "PPY4" 0.0 "Fy: change of friction with pressure squared"
        ppy5 "PPY5" 0.0 "Fy: change of camber stiffness with pressure"
        rby1 "RBY1" 0.0 "Loss of Fy by slip ratio: stiffness"
        rby2 "RBY2" 0.0 "Loss of Fy by slip ratio: change of stiffness with slip angle"
        rby3 "RBY3" 0.0 "Loss of Fy by slip ratio: shift of slip angle in that change"
        rby4 "RBY4" 0.0 "Loss of Fy by slip ratio: change of stiffness with camber squared"
        rcy1 "RCY1" 1.0 "Loss of Fy by slip ratio: shape factor"
        rey1 "REY1" 0.0 "Loss of Fy by slip ratio: curvature"
        rey2 "REY2" 0.0 "Loss of Fy by slip ratio: change of curvature with load"
        rhy1 "RHY1" 0.0 "Loss of Fy by slip ratio: shift"
        rhy2 "RHY2" 0.0 "Loss of Fy by slip ratio: change of shift with load"
        rvy1 "RVY1" 0.0 "Fy induced by slip ratio, per friction"
        rvy2 "RVY2" 0.0 "Fy induced by slip ratio: change with load"
        rvy3 "RVY3" 0.0 "Fy induced by slip ratio: change with camber"
        rvy4 "RVY4" 0.0 "Fy induced by slip ratio: loss with slip angle"
        rvy5 "RVY5" 0.0 "Fy induced by slip ratio: shape"
        rvy6 "RVY6" 0.0 "Fy induced by slip ratio: stiffness"
        pty1 "PTY1" 0.0 "Lateral relaxation length: maximum (PAC2002)"
        pty2 "PTY2" 0.0 "Lateral relaxation length: load of the maximum over the nominal load (PAC2002)"
        // Mx.
        qsx1 "QSX1" 0.0 "Mx: shift"
        qsx2 "QSX2" 0.0 "Mx: by camber"
        qsx3 "QSX3" 0.0 "Mx: by Fy"
        qsx4 "QSX4" 0.0 "Mx: by load, Fy and camber together (6.1)"
        qsx5 "QSX5" 0.0 "Mx: change of that with load (6.1)"
        qsx6 "QSX6" 0.0 "Mx: stiffness of that with load (6.1)"
        qsx7 "QSX7" 0.0 "Mx: camber in that (6.1)"
        qsx8 "QSX8" 0.0 "Mx: Fy in that (6.1)"
        qsx9 "QSX9" 0.0 "Mx: stiffness of Fy in that (6.1)"
        qsx10 "QSX10" 0.0 "Mx: by camber and load (6.1)"
        qsx11 "QSX11" 0.0 "Mx: stiffness of load in that (6.1)"
        qsx12 "QSX12" 0.0 "Mx: by camber squared (6.1)"
        qsx13 "QSX13" 0.0 "Mx: lever of Fy over the radius (6.1)"
        qsx14 "QSX14" 0.0 "Mx: that lever by camber (6.1)"
        ppmx1 "PPMX1" 0.0 "Mx: change of the camber term with pressure (6.1)"
        // My.
        qsy1 "QSY1" 0.0 "My: rolling resistance"
        qsy2 "QSY2" 0.0 "My: by Fx"
        qsy3 "QSY3" 0.0 "My: by speed"
        qsy4 "QSY4" 0.0 "My: by speed to the fourth"
        qsy5 "QSY5" 0.0 "My: by camber squared (6.1)"
        qsy6 "QSY6" 0.0 "My: by load and camber squared (6.1)"
        qsy7 "QSY7" 1.0 "My: exponent of load (6.1)"
        qsy8 "QSY8" 0.0 "My: exponent of pressure (6.1)"
        // Mz.
        qbz1 "QBZ1" 0.0 "Trail: stiffness at the nominal load"
        qbz2 "QBZ2" 0.0 "Trail: change of stiffness with load"
        qbz3 "QBZ3" 0.0 "Trail: change of stiffness with load squared"
        qbz4 "QBZ4" 0.0 "Trail: change of stiffness with camber"
        qbz5 "QBZ5" 0.0 "Trail: change of stiffness with the size of camber"
        qbz9 "QBZ9" 0.0 "Residual moment: stiffness"
        qbz10 "QBZ10" 0.0 "Residual moment: stiffness by that of Fy"
        qcz1 "QCZ1" 1.0 "Trail: shape factor"
        qdz1 "QDZ1" 0.0 "Trail: size at the nominal load"
        qdz2 "QDZ2" 0.0 "Trail: change of size with load"
        qdz3 "QDZ3" 0.0 "Trail: change of size with camber"
        qdz4 "QDZ4" 0.0 "Trail: change of size with camber squared"
        qdz6 "QDZ6" 0.0 "Residual moment: size"
        qdz7 "QDZ7" 0.0 "Residual moment: change with load"
        qdz8 "QDZ8" 0.0 "Residual moment: by camber"
        qdz9 "QDZ9" 0.0 "Residual moment: by camber and load"
        qdz10 "QDZ10" 0.0 "Residual moment: by camber squared (6.1)"
        qdz11 "QDZ11" 0.0 "Residual moment: by camber squared and load (6.1)"
        qez1 "QEZ1" 0.0 "Trail: curvature at the nominal load"
        qez2 "QEZ2" 0.0 "Trail: change of curvature with load"
        qez3 "QEZ3" 0.0 "Trail: change of curvature with load squared"
        qez4 "QEZ4" 0.0 "Trail: difference of curvature between left and right"
        qez5 "QEZ5" 0.0 "Trail: that difference with camber"
        qhz1 "QHZ1" 0.0 "Trail: horizontal shift at the nominal load"
        qhz2 "QHZ2" 0.0 "Trail: change of the shift with load"
        qhz3 "QHZ3" 0.0 "Trail: shift with camber"
        qhz4 "QHZ4" 0.0 "Trail: shift with camber and load"
        ppz1 "PPZ1" 0.0 "Trail: loss with pressure (6.1)"
        ppz2 "PPZ2" 0.0 "Residual moment: loss of the camber term with pressure (6.1)"
        ssz1 "SSZ1" 0.0 "Lever of Fx over the radius"
        ssz2 "SSZ2" 0.0 "Lever of Fx: by Fy"
        ssz3 "SSZ3" 0.0 "Lever of Fx: by camber"
        ssz4 "SSZ4" 0.0 "Lever of Fx: by camber and load"
    }
}
