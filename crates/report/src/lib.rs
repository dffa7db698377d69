//! Plots, and the page of a run.
//!
//! [`write_results`] turns the finished points of a run into everything that its folder shows. [`Figure`] and
//! [`Diagram`] are pictures, drawn as SVG and PNG; [`html`] is what pages share.
//!
//! This crate draws numbers and names. It does not know the simulator, so that a change of a model does not rebuild it.

mod annotations;
mod canvas;
mod delays;
mod diagram;
mod error;
mod figure;
mod forest;
mod heat;
pub mod html;
mod memories;
mod network_picture;
mod page;
mod picture;
mod plot;
mod recorded;
mod run_figures;
mod stacks;
mod strip;
mod style;
mod ticks;
mod words;
mod write;

pub use annotations::{Annotations, RatiosToBaseline, SchemeRatio};
pub use delays::{DelayBar, DelayPicture, component_words, draw_delays};
pub use diagram::{Diagram, NetworkNode};
pub use error::ReportError;
pub use figure::{AxisScale, Figure, FigureKind, PlotPoint, Series, Shade};
pub use forest::{Forest, ForestMark, ForestPanel};
pub use network_picture::{NetworkPicture, PictureLink, PictureNode};
pub use page::SCRIPTS;
pub use plot::{draw_figures, draw_side_by_side};
pub use write::{WrittenResults, page_of, remove_results, write_results};
