//! A figure: the numbers of a picture. [`crate::draw_figures`] draws it.

/// The scale of an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum AxisScale {
    /// Proportional to the value.
    Linear,
    /// Proportional to the logarithm of the value.
    Log,
    /// Names, at 0, 1, 2 ...
    Names(Vec<String>),
}

/// One point of a series, with its interval if it has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlotPoint {
    /// Value on the x axis.
    pub x: f64,
    /// Value on the y axis.
    pub y: f64,
    /// Ends of the interval of `y`.
    pub interval: Option<(f64, f64)>,
    /// Whether `y` cannot be read without its note: it is only a bound, or its run was overloaded.
    pub is_noted: bool,
}

impl PlotPoint {
    /// A point that needs no note.
    pub fn new(x: f64, y: f64, interval: Option<(f64, f64)>) -> PlotPoint {
        PlotPoint { x, y, interval, is_noted: false }
    }
}

/// The points of one scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Index of the scheme, which gives the colour and the marker.
    pub style: usize,
    /// The points in the order of `x`.
    pub points: Vec<PlotPoint>,
}

/// A part of the x axis that is shaded, with a few words above it.
#[derive(Clone, Debug, PartialEq)]
pub struct Shade {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// What it is.
    pub words: String,
}

/// How the points of a series are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureKind {
    /// Markers with intervals, joined by lines where the axis has numbers.
    Points,
    /// A cumulative distribution: steps, without intervals.
    Steps,
    /// A course of many points: a line with a few markers, without intervals.
    Line,
}

/// One picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// File name without ending.
    pub name: String,
    /// What stands above it on the left.
    pub title: String,
    /// What stands above it on the right: the values of the other axes. May be empty.
    pub subtitle: String,
    /// Words below the x axis.
    pub x_label: String,
    /// Scale of the x axis.
    pub x: AxisScale,
    /// Words beside the y axis.
    pub y_label: String,
    /// Scale of the y axis.
    pub y: AxisScale,
    /// Whether the y axis begins at zero.
    pub from_zero: bool,
    /// A value of y at which a line stands for comparison, such as 1 for ratios; it is always in the picture.
    pub reference: Option<f64>,
    /// Parts of the x axis that are set apart, such as the warm-up.
    pub shades: Vec<Shade>,
    /// How the points are drawn.
    pub kind: FigureKind,
    /// What is drawn.
    pub series: Vec<Series>,
}

impl Figure {
    /// The points of all series.
    pub(crate) fn points(&self) -> impl Iterator<Item = &PlotPoint> {
        self.series.iter().flat_map(|series| &series.points)
    }
}
