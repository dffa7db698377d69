//! Playing a script to a host. The host is driven as the simulator drives it: packets arrive, timers fire at the moment
//! at which they were wished for, and the NIC takes a control packet that waits or else asks for data.

use tailcut_base::{HostId, Instant, MSS_BYTES};
use tailcut_host::HostContext;
use tailcut_host::transport::TransportSeat;
use tailcut_host::transport::tcp::packets;
use tailcut_model::seat::{HostCx, Transport, Unfinished, Wish};
use tailcut_model::{
    Arena, ClassId, Flags, FlowId, FlowSpec, FlowTable, Header, Kind, List, Packet, PathFacts, SackBlock,
};

use super::{Echo, End, Event, Failure, Output, Script, Step, describe};

const FLOW: FlowId = FlowId(0);
const SENDER: HostId = HostId(0);
const RECEIVER: HostId = HostId(1);

/// A host under test, with what the simulator holds for it.
struct Host<'s> {
    script: &'s Script,
    transport: TransportSeat,
    arena: Arena,
    flows: FlowTable,
    control: List,
    wishes: Vec<Wish>,
    /// When timers fire, in no order.
    timers: Vec<Instant>,
    /// When the NIC has sent what it sends.
    free_at: Instant,
    /// Every data segment and SYN that has left, by number, and when.
    sent: Vec<(Option<u64>, Instant)>,
    /// The number of every data segment that has arrived. Its timestamp is its place in this list.
    arrived: Vec<u64>,
    /// What has left since the last line of the script.
    outputs: Vec<(Instant, Output)>,
    timeouts: u64,
    /// What no host may do, whatever the script says.
    wrong: Option<String>,
}

pub(super) fn run(script: &Script) -> Result<(), Failure> {
    let mut host = Host {
        script,
        transport: HostContext::of(script.config.clone()).build().expect("the configuration was validated"),
        arena: Arena::new(),
        flows: FlowTable::new(),
        control: List::new(),
        wishes: Vec::new(),
        timers: Vec::new(),
        free_at: Instant::ZERO,
        sent: Vec::new(),
        arrived: Vec::new(),
        outputs: Vec::new(),
        timeouts: 0,
        wrong: None,
    };
    host.start();
    for step in &script.steps {
        host.play(step).map_err(|message| Failure { file: script.file.clone(), line: step.line, message })?;
    }
    Ok(())
}

impl Host<'_> {
    fn start(&mut self) {
        let spec = FlowSpec {
            start: Instant::ZERO,
            src: SENDER,
            dst: RECEIVER,
            size: self.script.size,
            class: ClassId(0),
            query: None,
            connection: 0,
            deadline: None,
            measured: true,
            path: self.script.path.map_or(PathFacts::default(), |time| PathFacts::default().with_header_time(time)),
        };
        match self.script.end {
            End::Sender => self.call(Instant::ZERO, |host, cx| host.on_send(cx, FLOW, &spec)),
            End::Receiver => self.call(Instant::ZERO, |host, cx| host.on_expect(cx, FLOW, &spec)),
        }
        self.pull(Instant::ZERO);
    }

    /// Does what a line says and compares what leaves.
    fn play(&mut self, step: &Step) -> Result<(), String> {
        let (now, timeouts) = (step.at, self.timeouts);
        self.advance(now)?;
        if self.timeouts > timeouts {
            return Err(format!("before {now} the retransmission timer expired; the script says nothing of it"));
        }
        match &step.event {
            Some(Event::Timeout) => {
                self.fire(now);
                if self.timeouts != timeouts + 1 {
                    let next = self.timers.iter().min().map_or("never".to_owned(), ToString::to_string);
                    return Err(format!("at {now} the retransmission timer does not expire; the next timer: {next}"));
                }
            }
            Some(Event::Timer) => {
                if !self.timers.contains(&now) {
                    let next = self.timers.iter().min().map_or("never".to_owned(), ToString::to_string);
                    return Err(format!("at {now} no timer fires; the next timer: {next}"));
                }
                self.fire(now);
            }
            Some(event) => self.arrive(now, event)?,
            None => self.fire(now),
        }
        if self.timeouts > timeouts && !matches!(step.event, Some(Event::Timeout)) {
            return Err(format!("at {now} the retransmission timer expires; the script says nothing of it"));
        }
        if let Some(wrong) = self.wrong.take() {
            return Err(wrong);
        }
        let outputs = std::mem::take(&mut self.outputs);
        if let Some((at, output)) = outputs.iter().find(|(at, _)| *at < now) {
            return Err(format!("`{output}` left at {at}; the script says nothing of it"));
        }
        let told = step.leaves.iter().map(Some).chain(std::iter::repeat(None));
        let left: Vec<Output> = outputs.into_iter().zip(told).map(|((_, output), told)| output.told_by(told)).collect();
        if left != step.leaves {
            let (expected, got) = (describe(&step.leaves), describe(&left));
            return Err(format!("at {now} expected: {expected}; got: {got}"));
        }
        Ok(())
    }

    /// Brings the host up to `now`: timers before it, and what its NIC sends until then.
    fn advance(&mut self, now: Instant) -> Result<(), String> {
        loop {
            let timer = self.timers.iter().copied().min().filter(|&at| at < now);
            let free = (self.free_at <= now && self.has_more()).then_some(self.free_at);
            // As in the simulator, a NIC that becomes free comes before a timer of that moment.
            match (free, timer) {
                (Some(free), timer) if timer.is_none_or(|timer| free <= timer) => self.pull(free),
                (_, Some(timer)) => self.fire(timer),
                _ => return Ok(()),
            }
            if self.outputs.len() > 10_000 {
                return Err("more than 10000 packets leave of which the script says nothing".to_owned());
            }
        }
    }

    /// Timers of this moment fire.
    fn fire(&mut self, now: Instant) {
        while let Some(at) = self.timers.iter().position(|&at| at == now) {
            self.timers.swap_remove(at);
            self.call(now, |host, cx| host.on_timer(cx, FLOW));
            self.pull(now);
        }
    }

    fn arrive(&mut self, now: Instant, event: &Event) -> Result<(), String> {
        let script = self.script;
        match event {
            Event::Timeout | Event::Timer => unreachable!("it is no arrival"),
            Event::Ack { next, ece, dsack, sack, echo } => {
                let answered = echo.segment.or(sack.first().map(|block| block.1)).or(next.checked_sub(1));
                let answered = answered.ok_or("this ACK answers nothing: say whose timestamp it echoes, `echo 0`")?;
                let sent = self.sent_at(Some(answered), *echo)?;
                let mut ack = Packet::control(Kind::ACK, FLOW, RECEIVER, SENDER, script.byte(*next), sent);
                ack.flags = Flags::NONE.with(Flags::ECE, *ece);
                ack.set_sack(
                    sack.iter()
                        .map(|&(first, last)| SackBlock { start: script.byte(first), end: script.byte(last + 1) }),
                );
                if let Some((first, last)) = *dsack {
                    ack.report_duplicate(SackBlock { start: script.byte(first), end: script.byte(last + 1) });
                }
                self.deliver(now, ack);
            }
            Event::SynAck { ece, echo } => {
                let sent = self.sent_at(None, *echo)?;
                let mut answer = Packet::control(packets::SYN_ACK, FLOW, RECEIVER, SENDER, 0, sent);
                answer.flags = Flags::NONE.with(Flags::ECE, *ece);
                self.deliver(now, answer);
            }
            Event::Syn => self.deliver(now, Packet::control(packets::SYN, FLOW, SENDER, RECEIVER, 0, now)),
            Event::Data(segments) => {
                for &(number, marked) in segments {
                    if number >= script.segments() {
                        return Err(format!("the flow has no segment {number}"));
                    }
                    let (seq, end) = (script.byte(number), script.byte(number + 1));
                    let stamp = Instant::from_ps(self.arrived.len() as u64);
                    let mut data = Packet::data(FLOW, SENDER, RECEIVER, seq, (end - seq) as u16, script.size, stamp);
                    self.arrived.push(number);
                    data.flags = Flags::ECT.with(Flags::CE, marked);
                    self.deliver(now, data);
                }
            }
        }
        Ok(())
    }

    /// When a transmission of a segment, or of the SYN, left.
    fn sent_at(&self, segment: Option<u64>, echo: Echo) -> Result<Instant, String> {
        let mut copies = self.sent.iter().filter(|(number, _)| *number == segment).map(|&(_, at)| at);
        let found = match echo.copy {
            Some(copy) => copy.checked_sub(1).and_then(|before| copies.nth(before)),
            None => copies.next_back(),
        };
        found.ok_or_else(|| match segment {
            Some(number) => format!("the timestamp of segment {number} cannot be echoed: it has not left"),
            None => "the timestamp of the SYN cannot be echoed: it has not left".to_owned(),
        })
    }

    fn deliver(&mut self, now: Instant, packet: Packet) {
        let id = self.arena.insert(packet);
        self.call(now, |host, cx| host.on_packet(cx, id));
        self.arena.remove(id);
        self.pull(now);
    }

    fn call<R>(&mut self, now: Instant, call: impl FnOnce(&mut TransportSeat, &mut HostCx<'_>) -> R) -> R {
        let mut cx = HostCx {
            now,
            host: if self.script.end == End::Sender { SENDER } else { RECEIVER },
            nic: 0,
            arena: &mut self.arena,
            flows: &mut self.flows,
            control: &mut self.control,
            wishes: &mut self.wishes,
            header: &mut Header::default(),
        };
        let result = call(&mut self.transport, &mut cx);
        let mut done = false;
        for wish in std::mem::take(&mut self.wishes) {
            match wish {
                Wish::Timer { at, .. } => {
                    assert!(at >= now, "a timer is wished for the past");
                    self.timers.push(at);
                }
                Wish::Received { .. } | Wish::Acknowledged { .. } => done = true,
                Wish::Discarded { .. } => unreachable!("the usual order discards nothing"),
                Wish::Abandoned { .. } | Wish::LetGo { .. } => unreachable!("TCP never gives up"),
                Wish::Tell { .. } | Wish::Permitted { .. } => unreachable!("TCP asks no controller"),
            }
        }
        for end in self.transport.unfinished() {
            if let Unfinished::Sender(_, report) = end {
                self.timeouts = report.timeouts;
            }
        }
        if done {
            // The ACK of the last segment goes before it.
            self.pull(now);
            self.outputs.push((now, Output::Done));
        }
        result
    }

    fn has_more(&self) -> bool {
        !self.control.is_empty() || self.transport.wants_to_send(0)
    }

    /// The NIC takes packets as long as it is free.
    fn pull(&mut self, now: Instant) {
        while self.free_at <= now && self.has_more() {
            let packet = match self.control.pop_front(&mut self.arena) {
                Some(id) => {
                    let packet = self.arena.get(id).clone();
                    self.arena.remove(id);
                    packet
                }
                None => match self.call(now, |host, cx| host.poll_send(cx, 0)) {
                    Some(packet) => packet,
                    None => continue,
                },
            };
            self.free_at = now;
            if let Some(rate) = self.script.link {
                self.free_at = now + rate.tx_time(u64::from(packet.size));
            }
            let output = self.observe(now, &packet);
            self.outputs.push((now, output));
        }
    }

    /// Notes a packet that leaves. What holds of every packet, whatever the script, is checked here.
    fn observe(&mut self, now: Instant, packet: &Packet) -> Output {
        let has = |flag| packet.flags.has(flag);
        let mut must = |holds: bool, rule: &str| {
            if !holds {
                self.wrong = Some(format!("at {now} a packet leaves against the rule: {rule}"));
            }
        };
        must(!has(Flags::CE), "only a switch marks");
        if packet.kind != Kind::DATA {
            must(!has(Flags::ECT), "control packets are not ECN-capable (RFC 3168, sections 6.1.1 and 6.1.4)");
        }
        match packet.kind {
            Kind::DATA => {
                let number = packet.seq / MSS_BYTES;
                let (start, end) = (self.script.byte(number), self.script.byte(number + 1));
                must(packet.seq == start && start + u64::from(packet.payload) == end, "a segment is whole");
                must(packet.sent == now, "the timestamp is that of the transmission");
                let again = self.sent.iter().any(|&(other, _)| other == Some(number));
                must(has(Flags::RETRANSMITTED) == again, "a segment that left before is a retransmission");
                match self.script.ect {
                    Some(true) => must(has(Flags::ECT), "`data ect`"),
                    Some(false) => must(!has(Flags::ECT), "`data not-ect`"),
                    None => {}
                }
                self.sent.push((Some(number), now));
                Output::Data { number, again, cwr: has(Flags::CWR) }
            }
            Kind::ACK => {
                let numbers = |block: SackBlock| (block.start / MSS_BYTES, block.end.div_ceil(MSS_BYTES) - 1);
                Output::Ack {
                    next: packet.seq.div_ceil(MSS_BYTES),
                    ece: has(Flags::ECE),
                    dsack: packet.duplicate_sack().map(numbers),
                    sack: packet.sack_above().map(numbers).collect(),
                    echo: self.arrived.get(packet.sent.as_ps() as usize).copied(),
                }
            }
            packets::SYN => {
                self.sent.push((None, now));
                Output::Syn
            }
            packets::SYN_ACK => Output::SynAck,
            kind => unreachable!("{kind:?} is for incasts, of which a script has none"),
        }
    }
}
