//! A recorder that writes the rows of a simulation to files while it runs.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tailcut_record::{FlowColumns, QueryRow, RecordError, Recorder, RowWriter, Sink, schema};
use tailcut_sim::Scenario;
use tailcut_sim::model::Thing;

use crate::cpu::thread_ns;

const FLOWS: &str = "flows.parquet";
const QUERIES: &str = "queries.parquet";

/// A recorder whose rows go to `flows.parquet` in `folder`, and to `queries.parquet` if there can be any queries. The
/// rows of flows say what these had to wait for if they may need permissions, and where their time went if delays are
/// attributed. The files appear when the simulation is over. All writing is done on the thread that records, and its
/// CPU time in ns is added to `cpu_ns`, so that it is not counted as that of the simulation. Returns the names of the
/// files, too.
pub(crate) fn recorder(
    folder: &Path,
    scenario: &Scenario,
    cpu_ns: &Arc<AtomicU64>,
) -> Result<(Recorder, Vec<&'static str>), RecordError> {
    let classes = scenario.classes();
    let queries = scenario.forecast().classes.iter().any(|class| class.queries.is_some());
    let permissions = scenario.facts().has(Thing::Permissions).then(|| schema::PERMISSION_COLUMNS.to_vec());
    let breakdowns = scenario.config().record.attribution.then(schema::breakdown_columns);
    let optional = [permissions, breakdowns].into_iter().flatten().flatten().collect::<Vec<_>>();
    let flows = RowWriter::<FlowColumns>::create_with(&folder.join(FLOWS), classes, &optional)?;
    let recorder = Recorder::with_sink(Box::new(Timed { sink: flows, cpu_ns: Arc::clone(cpu_ns) }));
    if !queries {
        return Ok((recorder, vec![FLOWS]));
    }
    let queries = RowWriter::<Vec<QueryRow>>::create(&folder.join(QUERIES), classes)?;
    let recorder = recorder.with_query_sink(Box::new(Timed { sink: queries, cpu_ns: Arc::clone(cpu_ns) }));
    Ok((recorder, vec![FLOWS, QUERIES]))
}

/// A sink that adds the CPU time which it takes to a sum.
struct Timed<S> {
    sink: S,
    cpu_ns: Arc<AtomicU64>,
}

impl<R, S: Sink<R>> Sink<R> for Timed<S> {
    fn write(&mut self, rows: &mut R) -> Result<(), RecordError> {
        let began = thread_ns();
        let written = self.sink.write(rows);
        self.cpu_ns.fetch_add(thread_ns() - began, Ordering::Relaxed);
        written
    }

    fn finish(self: Box<Self>) -> Result<(), RecordError> {
        let began = thread_ns();
        let finished = Box::new(self.sink).finish();
        self.cpu_ns.fetch_add(thread_ns() - began, Ordering::Relaxed);
        finished
    }
}
