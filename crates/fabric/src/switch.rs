//! A switch: what its ports have in common.

use tailcut_base::{BitRate, Seeds, SwitchId};
use tailcut_model::{Invalid, table};

use crate::agent::{self, AgentConfig};
use crate::memory::{self, MemoryConfig};

table! {
    /// The `[switch]` table: what the ports of a switch have in common.
    pub struct SwitchConfig {
        values {}
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
}

impl SwitchConfig {
    /// Checks what the types do not, in a switch of these ports; paths are relative to the `[switch]` table.
    ///
    /// # Errors
    /// If a value is out of range.
    pub fn validate(&self, context: &SwitchContext) -> Result<(), Invalid> {
        self.memory.build(context).map_err(|e| e.within("memory"))?;
        self.agent.build(context).map_err(|e| e.within("agent"))?;
        Ok(())
    }
}
