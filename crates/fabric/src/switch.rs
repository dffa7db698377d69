//! A switch: what its ports have in common.

use tailcut_base::{BitRate, Bytes, MTU_BYTES, Seeds, Span, SwitchId};
use tailcut_model::seat::Memory;
use tailcut_model::{Invalid, table};

use crate::agent::{self, AgentConfig};
use crate::memory::{self, MemoryConfig};

table! {
    /// The `[switch]` table: what the ports of a switch have in common.
    pub struct SwitchConfig {
        values {
            /// Bytes of the memory that are set apart for each port, beside what the ports share. A packet that the
            /// memory refuses is let in here as long as there is room, and departures free this room first. In real
            /// switches it takes in what still arrives after PFC has paused the senders; here it causes no pause, and
            /// classes with `port.pfc` do not use it. None if not given.
            #[serde(skip_serializing_if = "is_none")]
            headroom: Bytes = Bytes(0),
        }
        seats {
            /// How the ports share the memory of the switch.
            memory: MemoryConfig = MemoryConfig::Private(memory::private::Config {}),
            /// What the switch reads and writes in the headers of packets.
            agent: AgentConfig = AgentConfig::Off(agent::off::Config {}),
        }
    }
}

/// What the models of a switch know of it when they are made.
#[derive(Clone, Debug)]
pub struct SwitchContext {
    /// The switch.
    pub switch: SwitchId,
    /// The root of all draws of the run.
    pub seeds: Seeds,
    /// Rates of the links of its ports.
    pub ports: Vec<BitRate>,
    /// Most classes that a port of it has.
    pub classes: u8,
    /// For how long flows start, as forecast.
    pub arrivals: Span,
}

fn is_none(headroom: &Bytes) -> bool {
    headroom.0 == 0
}

impl SwitchConfig {
    /// Checks what the types do not, in a switch of these ports; paths are relative to the `[switch]` table.
    ///
    /// # Errors
    /// If a value is out of range.
    pub fn validate(&self, context: &SwitchContext) -> Result<(), Invalid> {
        let memory = self.memory.build(context).map_err(|e| e.within("memory"))?;
        self.check_headroom(memory.size(), context.ports.len() as u64)?;
        self.agent.build(context).map_err(|e| e.within("agent"))?;
        Ok(())
    }

    /// Refuses headrooms that leave nothing to share.
    fn check_headroom(&self, memory: Option<u64>, ports: u64) -> Result<(), Invalid> {
        if is_none(&self.headroom) {
            return Ok(());
        }
        let refuse = |message: String, help: &str| Err(Invalid::new("headroom", message).help(help));
        let Some(size) = memory else {
            let message = "there is no memory of the switch of which it would be a part";
            return refuse(message.to_owned(), "expected a `switch.memory` with a `size`, such as `dt`");
        };
        let all = self.headroom.0.saturating_mul(ports);
        if size.saturating_sub(all) < MTU_BYTES {
            let message =
                format!("{} for each of {ports} ports leave nothing of {} to share", self.headroom, Bytes(size));
            return refuse(message, "expected 1500 B less than the memory for all ports together, or less");
        }
        Ok(())
    }
}
