//! Workloads: from the `[workload]` table of a scenario to the flows of a run, in start order, one at a time.
//!
//! A workload is a list of traffics, each with a name, which is the class of its flows in the results. A traffic is
//! generated (sizes from a [`Distribution`], endpoints from a pattern, Poisson arrivals or incast events) or explicit
//! (a list in the scenario or in a file). The load is defined as Alizadeh et al. (pFabric, SIGCOMM 2013) and the
//! papers after it do, with the three denominators that they use under one name told apart: see [`LoadOf`].
//!
//! Every draw comes from a stream of its own purpose and class (`workload.arrivals`, `workload.sizes`,
//! `workload.endpoints` ...), so that changing one class never changes the flows of another, and changing a scheme
//! changes none. The class number is the entity of the stream: classes keep their flows when others are added after
//! them.
//!
//! Left out: closed-loop applications (a flow that starts when another ends), arrival rates that change over time, and
//! traffic matrices other than the patterns of [`Endpoints`].

mod arrivals;
mod builtin;
mod config;
mod deadlines;
mod demand;
mod distribution;
mod endpoints;
mod files;
mod flow_list;
mod forecast;
mod incast;
mod incast_plan;
mod load;
mod mixture;
pub mod optimal;
mod pareto;
mod plan;
mod site;
mod size_table;
mod source;
mod text;
mod workload;

pub use builtin::{BuiltIn, distribution, distributions};
pub use config::{
    Aggregators, Apart, Application, Arrivals, Config, Deadlines, Degree, DegreeDistribution, Endpoints,
    ExponentialDeadlines, ExponentialJitter, FirstAnswer, FlowFile, FlowFormat, Gaps, Group, HostSet, IconJitter,
    Incast, Interpolation, Jitter, ListedFlow, LoadBytes, LoadOf, ParetoSizes, Roles, SizeFile, SizeFormat, Sizes,
    Traffic, TrafficList, UniformDegrees, UniformJitter, UniformSizes,
};
pub use demand::{ListedBytes, Offered, Product, Stream, TrafficMatrix};
pub use distribution::Distribution;
pub use flow_list::{FlowList, HostNumbers};
pub use forecast::{ClassForecast, Forecast, QueryForecast};
pub use incast_plan::PlacedApplication;
pub use load::{HostLinks, Loads, Realised};
pub use mixture::SizeMixture;
pub use size_table::TableFormat;
pub use text::ParseError;
pub use workload::Workload;
