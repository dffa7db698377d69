//! What models say of themselves, so that one place can tell what goes together without knowing any of them.
//!
//! A model never names another one. It says what it provides, needs, uses and writes, in terms of [`Thing`]s.

use std::fmt;

/// Something that one seat provides and others need or use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Thing {
    /// A class in data packets, which ports may sort by.
    Class,
    /// A rank in data packets, which ports may order by.
    Rank,
    /// Marks: packets are marked with CE somewhere.
    Marks,
    /// ECN-capable data packets: only these can be marked.
    EcnCapable,
    /// A window for each flow.
    Window,
    /// A handshake of each flow, before its data.
    Handshake,
    /// A transport that lets a tag give its packets their priority.
    Tagged,
    /// Queries that many hosts answer at a time.
    Incast,
    /// Flows with deadlines.
    Deadlines,
    /// What was lost is sent again.
    Recovery,
    /// Memory that the ports of a switch share.
    SharedMemory,
    /// Headers that switches read and write.
    Headers,
    /// Switches that read and write headers.
    Agent,
    /// A controller.
    Controller,
    /// A controller that speaks to the hosts of the scheme of this name.
    ControllerOf(&'static str),
    /// Permission to send a flow.
    Permissions,
    /// Flows that are given ways.
    Assignments,
    /// Switches that send packets the ways that their flows were given.
    AssignedWays,
    /// Packets of one flow on several ways at a time.
    Spraying,
    /// Classes that are paused where others are dropped.
    Pauses,
    /// Senders that look into the next queue at once.
    LookAhead,
    /// Ways that the sender of a flow chooses.
    SourceRoutes,
    /// Ways back that are the ways out, reversed.
    SymmetricWays,
    /// Hosts that write and read the headers of the scheme of this name.
    HostsOf(&'static str),
    /// Switches that write and read the headers of the scheme of this name.
    SwitchesOf(&'static str),
}

impl fmt::Display for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Thing::HostsOf(scheme) => return write!(f, "hosts that speak {scheme}"),
            Thing::ControllerOf(scheme) => return write!(f, "a controller that speaks {scheme}"),
            Thing::SwitchesOf(scheme) => return write!(f, "switches that speak {scheme}"),
            Thing::Class => "a class in data packets",
            Thing::Rank => "a rank in data packets",
            Thing::Marks => "ports that mark packets",
            Thing::EcnCapable => "ECN-capable packets",
            Thing::Window => "a transport with a window",
            Thing::Handshake => "a transport whose flows begin with a handshake",
            Thing::Tagged => "a transport whose packets a tag gives their priority",
            Thing::Incast => "queries that many hosts answer",
            Thing::Deadlines => "flows with deadlines",
            Thing::Recovery => "a transport that sends again what was lost",
            Thing::SharedMemory => "memory that the ports of a switch share",
            Thing::Headers => "a transport that writes headers for switches",
            Thing::Agent => "switches that read and write headers",
            Thing::Controller => "a controller",
            Thing::Permissions => "a controller that permits flows",
            Thing::Assignments => "a controller that gives ways to flows",
            Thing::AssignedWays => "switches that send flows the ways that they were given",
            Thing::Spraying => "packets of one flow on several ways",
            Thing::Pauses => "classes that are paused rather than dropped",
            Thing::LookAhead => "an ideal PFC",
            Thing::SourceRoutes => "ways that senders choose",
            Thing::SymmetricWays => "ways back that are the ways out, reversed",
        })
    }
}

/// A statement of a model about itself.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fact {
    /// It provides this.
    Provides(Thing),
    /// It cannot be without this.
    Needs(Thing),
    /// It makes use of this.
    Uses(Thing),
    /// Without this it does nothing of its own, as the text says.
    Idle(Thing, &'static str),
    /// Everything it does is to write these into packets: one of them must be used by somebody. The text says what it
    /// writes, as in `` `pias` writes ... ``.
    Writes(&'static [Thing], &'static str),
    /// It writes the classes 0 to `count - 1`, which ports must have. The key, relative to the model, is what says how
    /// many.
    Classes {
        /// How many classes.
        count: u8,
        /// The key that decides it.
        key: &'static str,
    },
    /// It has a value for each of the first `count` classes: those of classes that nobody writes are void. The key is
    /// as in [`Fact::Classes`].
    ForClasses {
        /// For how many classes.
        count: u8,
        /// The key that has the values.
        key: &'static str,
    },
    /// It cannot be beside this, for the reason that the text says.
    Excludes(Thing, &'static str),
    /// Control packets have this class, and not the highest.
    ControlClass(u8),
    /// What it does depends on times that are rounded, drawn or no settings of it: in a network that is slower in
    /// everything, it does not do the same later.
    OwnTimes,
    /// It acts at the ticks of a clock, so that it does not do the same where everything happens later.
    OwnClock,
    /// It is a program's own, and may provide and need anything.
    Unknown,
}

/// The facts that everything in a scenario states of itself.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    entries: Vec<Entry>,
    at: Speaker,
}

/// The key or model that states a fact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Speaker {
    /// The dotted path of the key.
    pub path: String,
    /// The name of the model there; empty if it is no seat.
    pub model: String,
    /// Whether it has its default value: the scenario does not ask for it.
    pub is_default: bool,
}

impl fmt::Display for Speaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.model.is_empty() {
            write!(f, "`{}`", self.path)
        } else {
            write!(f, "`{} = \"{}\"`", self.path, self.model)
        }
    }
}

/// One fact, and who states it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Who states it.
    pub by: Speaker,
    /// The fact.
    pub fact: Fact,
}

impl Facts {
    /// No facts yet.
    pub fn new() -> Facts {
        Facts::default()
    }

    /// Facts from now on are stated by `by`.
    pub fn speaker(&mut self, by: Speaker) {
        self.at = by;
    }

    fn say(&mut self, fact: Fact) {
        self.entries.push(Entry { by: self.at.clone(), fact });
    }

    /// The model provides `thing`.
    pub fn provides(&mut self, thing: Thing) {
        self.say(Fact::Provides(thing));
    }

    /// The model cannot be without `thing`.
    pub fn needs(&mut self, thing: Thing) {
        self.say(Fact::Needs(thing));
    }

    /// No model of this seat can be without `thing`. Where nobody chose the model, its seat is idle instead.
    pub fn seat_needs(&mut self, thing: Thing) {
        if !self.at.is_default {
            self.needs(thing);
        }
    }

    /// The model makes use of `thing`.
    pub fn uses(&mut self, thing: Thing) {
        self.say(Fact::Uses(thing));
    }

    /// The model makes use of `thing`, and without it does nothing of its own: `otherwise` says what happens then, as
    /// in "it behaves as NewReno".
    pub fn idle_without(&mut self, thing: Thing, otherwise: &'static str) {
        self.uses(thing);
        self.say(Fact::Idle(thing, otherwise));
    }

    /// Everything that the model does is to write `things` into packets, one of which somebody must use; `what` says
    /// what it writes.
    pub fn writes(&mut self, things: &'static [Thing], what: &'static str) {
        things.iter().for_each(|&thing| self.provides(thing));
        self.say(Fact::Writes(things, what));
    }

    /// The model writes the classes 0 to `count - 1` into packets; `key`, relative to the model, says how many.
    pub fn classes(&mut self, count: usize, key: &'static str) {
        self.say(Fact::Classes { count: u8::try_from(count).unwrap_or(u8::MAX), key });
    }

    /// The model has a value for each of the first `count` classes in `key`, relative to the model.
    pub fn for_classes(&mut self, count: usize, key: &'static str) {
        self.say(Fact::ForClasses { count: u8::try_from(count).unwrap_or(u8::MAX), key });
    }

    /// The model cannot be beside `thing`: `why` says what it does instead, as in "it evicts what waits".
    pub fn excludes(&mut self, thing: Thing, why: &'static str) {
        self.say(Fact::Excludes(thing, why));
    }

    /// Control packets have `class`, and not the highest one.
    pub fn control_class(&mut self, class: u8) {
        self.say(Fact::ControlClass(class));
    }

    /// What the model does depends on times that are rounded, drawn or no settings of it.
    pub fn own_times(&mut self) {
        self.say(Fact::OwnTimes);
    }

    /// Whether any model depends on such times, or may.
    pub fn have_own_times(&self) -> bool {
        self.entries.iter().any(|entry| [Fact::OwnTimes, Fact::Unknown].contains(&entry.fact))
    }

    /// The model acts at the ticks of a clock.
    pub fn own_clock(&mut self) {
        self.say(Fact::OwnClock);
    }

    /// Whether any model acts at the ticks of a clock, or may.
    pub fn have_own_clock(&self) -> bool {
        self.entries.iter().any(|entry| [Fact::OwnClock, Fact::Unknown].contains(&entry.fact))
    }

    /// Nothing is known of the model.
    pub fn unknown(&mut self) {
        self.say(Fact::Unknown);
    }

    /// All facts.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The class of control packets.
    pub fn class_of_control(&self) -> u8 {
        let class = |entry: &Entry| match entry.fact {
            Fact::ControlClass(class) => Some(class),
            _ => None,
        };
        self.entries.iter().find_map(class).unwrap_or(0)
    }

    /// Whether somebody says that it provides, needs or uses `thing`.
    pub fn has_said(&self, thing: Thing) -> bool {
        let of = [Fact::Provides(thing), Fact::Needs(thing), Fact::Uses(thing)];
        self.entries.iter().any(|entry| of.contains(&entry.fact))
    }

    /// Whether anybody provides `thing`, or may.
    pub fn has(&self, thing: Thing) -> bool {
        self.entries.iter().any(|entry| entry.fact == Fact::Provides(thing) || entry.fact == Fact::Unknown)
    }

    /// Whether anybody uses or needs `thing`, or may.
    pub fn is_used(&self, thing: Thing) -> bool {
        let uses = |fact| [Fact::Uses(thing), Fact::Needs(thing), Fact::Unknown].contains(&fact);
        self.entries.iter().any(|entry| uses(entry.fact))
    }
}
