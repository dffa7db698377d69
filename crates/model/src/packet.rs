//! Packets, the arena that owns them, and the lists that queue them.
//!
//! A packet is one cache line and lives in the arena from the moment its NIC transmits it until it is delivered or
//! dropped; everything else holds its 32-bit id. The links of a list stand in a table of their own beside the packets,
//! so that queueing a packet does not touch the packet in front of it.

use std::num::NonZeroU8;

use tailcut_base::{HEADER_BYTES, HostId, Instant, prefer_large_pages, prefetch};

use crate::{FlowId, Header};

/// The place of a packet in its [`Arena`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PacketId(u32);

impl PacketId {
    /// No packet: the end of a list.
    pub const NONE: PacketId = PacketId(u32::MAX);

    /// Position in the arena, for tables that run beside it.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a packet is for: [`Kind::DATA`] and [`Kind::ACK`] are everybody's, all others belong to one transport.
///
/// The number of a kind is part of every digest.
// One more than the number of the kind: a byte that is never zero, so that an `Option<Packet>` is as large as a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind(NonZeroU8);

impl Kind {
    /// Bytes of a flow.
    pub const DATA: Kind = Kind::numbered(0);
    /// An acknowledgement without data.
    pub const ACK: Kind = Kind::numbered(1);

    /// A kind of packet that belongs to a transport, which gives it a number of its own.
    pub const fn own(number: u8) -> Kind {
        Kind::numbered(2 + number)
    }

    /// The number of the kind among all kinds.
    #[inline]
    pub const fn number(self) -> u8 {
        self.0.get() - 1
    }

    const fn numbered(number: u8) -> Kind {
        Kind(NonZeroU8::MIN.saturating_add(number))
    }
}

/// One-bit facts in a packet's header.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Flags(u8);

impl Flags {
    /// No flag.
    pub const NONE: Flags = Flags(0);
    /// ECN-capable transport: a switch may mark the packet instead of nothing at all.
    pub const ECT: Flags = Flags(1);
    /// Congestion experienced: a switch has marked the packet.
    pub const CE: Flags = Flags(2);
    /// ECN echo, on an ACK: the receiver saw CE.
    pub const ECE: Flags = Flags(4);
    /// Congestion window reduced, on data.
    pub const CWR: Flags = Flags(8);
    /// These bytes were sent before. Knowledge of the simulator: no switch may act on it.
    pub const RETRANSMITTED: Flags = Flags(16);
    /// This transmission is listed in `failures.packets`. Knowledge of the simulator: no switch may act on it.
    pub const LISTED_LOSS: Flags = Flags(64);
    /// On an ACK: the first SACK block reports a duplicate (RFC 2883). The option itself has no such bit: a receiver
    /// tells by the position of the block.
    pub const DSACK: Flags = Flags(32);

    /// Whether every flag of `flags` is set.
    #[inline]
    pub const fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Sets every flag of `flags`.
    #[inline]
    pub fn set(&mut self, flags: Flags) {
        self.0 |= flags.0;
    }

    /// `self` with `flags` set if `on`.
    #[inline]
    #[must_use]
    pub const fn with(self, flags: Flags, on: bool) -> Flags {
        if on { Flags(self.0 | flags.0) } else { self }
    }
}

/// A contiguous block of received bytes above the cumulative acknowledgement: `start..end`, in bytes of the flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SackBlock {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

/// How many SACK blocks an ACK carries at most (RFC 2018: three beside a timestamp).
pub const SACK_BLOCKS: usize = 3;

/// Where an ACK without SACK blocks says what it answers: the block before is empty, so that nobody takes it for one.
const ANSWERED: usize = 4;

/// What a link carries.
// Aligned, so that it lies in one cache line and not across two.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Packet {
    /// The flow that the packet belongs to, in either direction.
    pub flow: FlowId,
    /// The host that sent it.
    pub src: HostId,
    /// The host that it goes to.
    pub dst: HostId,
    /// Bytes on the wire, header included.
    pub size: u16,
    /// Data: bytes of the flow that it carries. Others: what their transport says.
    pub payload: u16,
    /// Data: offset of its first byte in the flow. ACK: the next byte that the receiver expects. Others: what their
    /// transport says.
    pub seq: u64,
    /// Data: when its NIC began to transmit it. ACK: the same moment of the packet that caused it, echoed.
    pub sent: Instant,
    /// What it is for.
    pub kind: Kind,
    /// Priority that the sender gave it; 0 is served first.
    pub class: u8,
    /// One-bit facts.
    pub flags: Flags,
    /// Stands for the ports of the connection, as path choices hash them: the same for all packets of a flow, in both
    /// directions.
    pub connection: u32,
    /// How many switches would have marked it: a counter of the simulator, for opportunity studies.
    pub marks: u8,
    /// Depends on the kind; see [`Packet::sack`], [`Packet::rank`], [`Packet::flow_bytes`] and [`Packet::word`].
    aux: [u32; 2 * SACK_BLOCKS],
}

const _: () = assert!(size_of::<Packet>() <= 64, "a packet is one cache line; rare headers live in side tables");
const _: () = assert!(size_of::<Option<Packet>>() == size_of::<Packet>(), "and so is one that may be none");

impl Packet {
    /// A packet of `kind` with a header and no payload.
    pub fn control(kind: Kind, flow: FlowId, src: HostId, dst: HostId, seq: u64, sent: Instant) -> Packet {
        Packet {
            flow,
            src,
            dst,
            size: HEADER_BYTES as u16,
            payload: 0,
            seq,
            sent,
            kind,
            class: 0,
            flags: Flags::NONE,
            connection: 0,
            marks: 0,
            aux: [0; 2 * SACK_BLOCKS],
        }
    }

    /// What `self` is answered by: a control packet back to its sender that echoes its timestamp.
    pub fn answer(&self, kind: Kind, seq: u64) -> Packet {
        let mut answer = Packet::control(kind, self.flow, self.dst, self.src, seq, self.sent);
        answer.connection = self.connection;
        answer
    }

    /// `payload` bytes of a flow of `flow_bytes`, from the byte at `seq`.
    pub fn data(
        flow: FlowId,
        src: HostId,
        dst: HostId,
        seq: u64,
        payload: u16,
        flow_bytes: u64,
        sent: Instant,
    ) -> Packet {
        let mut packet = Packet::control(Kind::DATA, flow, src, dst, seq, sent);
        packet.payload = payload;
        packet.size += payload;
        packet.aux[2] = flow_bytes as u32;
        packet.aux[3] = (flow_bytes >> 32) as u32;
        packet
    }

    /// Whether it acknowledges and carries nothing else.
    #[inline]
    pub fn is_pure_ack(&self) -> bool {
        self.kind == Kind::ACK
    }

    /// Data: size of the whole flow in bytes, so that the receiver knows the end.
    #[inline]
    pub fn flow_bytes(&self) -> u64 {
        debug_assert_eq!(self.kind, Kind::DATA);
        u64::from(self.aux[2]) | u64::from(self.aux[3]) << 32
    }

    /// The value by which ranked schedulers order packets; smaller is served first. Data carries what its sender's tag
    /// wrote, everything else is 0.
    #[inline]
    pub fn rank(&self) -> u64 {
        match self.kind {
            Kind::DATA => u64::from(self.aux[0]) | u64::from(self.aux[1]) << 32,
            _ => 0,
        }
    }

    /// Sets the rank of a data packet.
    #[inline]
    pub fn set_rank(&mut self, rank: u64) {
        debug_assert_eq!(self.kind, Kind::DATA);
        self.aux[0] = rank as u32;
        self.aux[1] = (rank >> 32) as u32;
    }

    /// The offset of the data packet that an ACK answers, from a transport whose ACKs have no SACK blocks and say it;
    /// `None` if it answers another kind of packet.
    #[inline]
    pub fn answered(&self) -> Option<u64> {
        debug_assert_eq!(self.kind, Kind::ACK);
        (u64::from(self.aux[ANSWERED]) | u64::from(self.aux[ANSWERED + 1]) << 32).checked_sub(1)
    }

    /// Writes into an ACK without SACK blocks the offset of the data packet that it answers.
    #[inline]
    pub fn set_answered(&mut self, offset: u64) {
        debug_assert!(self.kind == Kind::ACK && !self.has_sack());
        self.aux[ANSWERED] = (offset + 1) as u32;
        self.aux[ANSWERED + 1] = ((offset + 1) >> 32) as u32;
    }

    /// A field of a kind that belongs to a transport, which says what it means.
    pub fn word(&self, at: usize) -> u32 {
        debug_assert!(self.kind.number() >= Kind::own(0).number(), "the fields of data and ACKs have names");
        self.aux[at]
    }

    /// Sets a field of a kind that belongs to a transport.
    pub fn set_word(&mut self, at: usize, value: u32) {
        debug_assert!(self.kind.number() >= Kind::own(0).number(), "the fields of data and ACKs have names");
        self.aux[at] = value;
    }

    /// The SACK blocks of an ACK, most recent first.
    pub fn sack(&self) -> impl Iterator<Item = SackBlock> {
        debug_assert_ne!(self.kind, Kind::DATA);
        let (base, aux) = (self.seq, self.aux);
        (0..SACK_BLOCKS)
            .map(move |i| (aux[2 * i], aux[2 * i + 1]))
            .take_while(|&(_, end)| end != 0)
            .map(move |(start, end)| SackBlock { start: base + u64::from(start), end: base + u64::from(end) })
    }

    /// The block that reports a duplicate, if an ACK has one (RFC 2883).
    pub fn duplicate_sack(&self) -> Option<SackBlock> {
        let is_there = self.kind == Kind::ACK && self.flags.has(Flags::DSACK);
        // It may lie below the acknowledgement: its distance from there is signed, and its length stands beside it.
        let start = self.seq.wrapping_add_signed(i64::from(self.aux[0] as i32));
        is_there.then_some(SackBlock { start, end: start.wrapping_add(u64::from(self.aux[1])) })
    }

    /// The SACK blocks of an ACK without the one that reports a duplicate.
    pub fn sack_above(&self) -> impl Iterator<Item = SackBlock> {
        self.sack().skip(usize::from(self.flags.has(Flags::DSACK)))
    }

    /// Puts a block that reports a duplicate before the SACK blocks of an ACK, of which the last one gives way. It must
    /// be less than 2 GB from the acknowledgement, and not empty; otherwise it is left out.
    pub fn report_duplicate(&mut self, block: SackBlock) {
        debug_assert!(self.kind == Kind::ACK && !self.flags.has(Flags::DSACK));
        let distance = i32::try_from(block.start as i64 - self.seq as i64);
        let length = u32::try_from(block.end - block.start);
        if let (Ok(distance), Ok(length)) = (distance, length)
            && length > 0
        {
            self.aux.copy_within(0..2 * (SACK_BLOCKS - 1), 2);
            (self.aux[0], self.aux[1]) = (distance as u32, length);
            self.flags.set(Flags::DSACK);
        }
    }

    /// Whether an ACK carries any SACK block.
    #[inline]
    pub fn has_sack(&self) -> bool {
        self.kind == Kind::ACK && self.aux[1] != 0
    }

    /// Writes up to [`SACK_BLOCKS`] blocks, which lie above `seq`. A block more than 4 GB above it is left out.
    pub fn set_sack(&mut self, blocks: impl IntoIterator<Item = SackBlock>) {
        debug_assert_eq!(self.kind, Kind::ACK);
        self.aux = [0; 2 * SACK_BLOCKS];
        let mut at = 0;
        for block in blocks {
            let (Ok(start), Ok(end)) = (u32::try_from(block.start - self.seq), u32::try_from(block.end - self.seq))
            else {
                continue;
            };
            self.aux[at] = start;
            self.aux[at + 1] = end;
            at += 2;
            if at == self.aux.len() {
                break;
            }
        }
    }
}

/// Neighbours of a packet in the one list that holds it.
#[derive(Clone, Copy, Debug)]
struct Link {
    next: PacketId,
    previous: PacketId,
    /// When the packet reaches, or reached, the node at the far end of the link that it was last put on.
    arrival: Instant,
}

/// Owns every packet of a part of the network.
#[derive(Debug, Default)]
pub struct Arena {
    packets: Vec<Packet>,
    links: Vec<Link>,
    free: Vec<PacketId>,
    made: u64,
    /// The headers of packets by their ids, if packets have any.
    headers: Option<Vec<Header>>,
}

impl Arena {
    /// An empty arena.
    pub fn new() -> Arena {
        Arena::default()
    }

    /// An empty arena whose packets have headers that switches read and write.
    pub fn with_headers() -> Arena {
        Arena { headers: Some(Vec::new()), ..Arena::default() }
    }

    /// Whether packets have headers that switches read and write.
    #[inline]
    pub fn has_headers(&self) -> bool {
        self.headers.is_some()
    }

    /// The header of a packet; a packet that was never given one has none that says anything.
    ///
    /// # Panics
    /// If packets have no headers.
    #[inline]
    pub fn header(&self, id: PacketId) -> &Header {
        &self.headers.as_ref().expect("packets have headers")[id.index()]
    }

    /// The header of a packet, if packets have any.
    #[inline]
    pub fn header_if_any(&self, id: PacketId) -> Option<&Header> {
        self.headers.as_ref().map(|headers| &headers[id.index()])
    }

    /// The packet and its header, to change both.
    ///
    /// # Panics
    /// If packets have no headers.
    #[inline]
    pub fn get_with_header(&mut self, id: PacketId) -> (&mut Packet, &mut Header) {
        let header = &mut self.headers.as_mut().expect("packets have headers")[id.index()];
        (&mut self.packets[id.index()], header)
    }

    /// Gives a packet its header.
    ///
    /// # Panics
    /// If packets have no headers.
    #[inline]
    pub fn set_header(&mut self, id: PacketId, header: Header) {
        self.headers.as_mut().expect("packets have headers")[id.index()] = header;
    }

    /// Takes in a packet.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        self.made += 1;
        let id = match self.free.pop() {
            Some(id) => id,
            None => self.grow(),
        };
        self.packets[id.index()] = packet;
        if let Some(headers) = &mut self.headers {
            headers[id.index()] = Header::default();
        }
        id
    }

    /// A new place. The caller writes the packet there, so that one which was just made is copied once.
    #[inline(never)]
    fn grow(&mut self) -> PacketId {
        let id = PacketId(u32::try_from(self.packets.len()).expect("fewer than 2^32 packets at a time"));
        let room = self.packets.capacity();
        self.packets.push(Packet::control(Kind::DATA, FlowId(0), HostId(0), HostId(0), 0, Instant::ZERO));
        self.links.push(Link { next: PacketId::NONE, previous: PacketId::NONE, arrival: Instant::ZERO });
        if let Some(headers) = &mut self.headers {
            headers.push(Header::default());
        }
        if self.packets.capacity() > room {
            prefer_large_pages(&self.packets);
            prefer_large_pages(&self.links);
        }
        id
    }

    /// Lets go of a packet that was delivered or dropped and is in no list.
    #[inline]
    pub fn remove(&mut self, id: PacketId) {
        self.free.push(id);
    }

    /// The packet.
    #[inline]
    pub fn get(&self, id: PacketId) -> &Packet {
        &self.packets[id.index()]
    }

    /// The packet, to change it.
    #[inline]
    pub fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id.index()]
    }

    /// Calls a packet into the cache.
    #[inline]
    pub fn prefetch(&self, id: PacketId) {
        prefetch(&self.packets[id.index()]);
        prefetch(&self.links[id.index()]);
    }

    /// Calls the header of a packet into the cache.
    #[inline]
    pub fn prefetch_header(&self, id: PacketId) {
        if let Some(header) = self.headers.as_ref().and_then(|headers| headers.get(id.index())) {
            prefetch(header);
        }
    }

    /// Calls the packet behind this one in its list into the cache.
    #[inline]
    pub fn prefetch_behind(&self, id: PacketId) {
        let next = self.links[id.index()].next;
        if next != PacketId::NONE {
            self.prefetch(next);
        }
    }

    /// Calls into the cache when the packet behind this one in its list arrives.
    #[inline]
    pub fn prefetch_next(&self, id: PacketId) {
        if let Some(next) = self.links.get(self.links[id.index()].next.index()) {
            prefetch(next);
        }
    }

    /// When the packet reaches the node at the far end of its link.
    #[inline]
    pub fn arrival(&self, id: PacketId) -> Instant {
        self.links[id.index()].arrival
    }

    /// Notes when the packet will reach the node at the far end of its link.
    #[inline]
    pub fn set_arrival(&mut self, id: PacketId, at: Instant) {
        self.links[id.index()].arrival = at;
    }

    /// Packets taken in since the start.
    pub fn made(&self) -> u64 {
        self.made
    }

    /// Packets held now.
    pub fn len(&self) -> usize {
        self.packets.len() - self.free.len()
    }

    /// Most packets that were held at a time.
    pub fn peak(&self) -> usize {
        self.packets.len()
    }

    /// Whether no packet is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that the arena holds on to; it never gives any back, so this is its peak.
    pub fn heap_bytes(&self) -> usize {
        self.packets.capacity() * (size_of::<Packet>() + size_of::<Link>())
            + self.free.capacity() * size_of::<PacketId>()
            + self.headers.as_ref().map_or(0, |headers| headers.capacity() * size_of::<Header>())
    }
}

/// A first-in first-out list of packets, strung through their arena. A packet is in one list at most.
#[derive(Clone, Copy, Debug)]
pub struct List {
    head: PacketId,
    tail: PacketId,
}

impl Default for List {
    fn default() -> List {
        List::new()
    }
}

impl List {
    /// An empty list.
    pub const fn new() -> List {
        List { head: PacketId::NONE, tail: PacketId::NONE }
    }

    /// Whether it holds nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == PacketId::NONE
    }

    /// Whether it holds one packet.
    #[inline]
    pub fn has_one(&self) -> bool {
        self.head == self.tail && !self.is_empty()
    }

    /// The packet that came last, if any.
    pub fn back(&self) -> Option<PacketId> {
        (!self.is_empty()).then_some(self.tail)
    }

    /// The packets behind this one, which is in the list; all of them without one.
    pub fn after<'a>(&self, arena: &'a Arena, packet: Option<PacketId>) -> impl Iterator<Item = PacketId> + use<'a> {
        let mut next = packet.map_or(self.head, |packet| arena.links[packet.index()].next);
        std::iter::from_fn(move || {
            let id = (next != PacketId::NONE).then_some(next)?;
            next = arena.links[id.index()].next;
            Some(id)
        })
    }

    /// The packet that came first, if any.
    #[inline]
    pub fn front(&self) -> Option<PacketId> {
        (self.head != PacketId::NONE).then_some(self.head)
    }

    /// When the packet that came first reaches the node at the far end of its link.
    #[inline]
    pub fn front_arrival(&self, arena: &Arena) -> Option<Instant> {
        // As in `pop_front`, the check of the index is that of an empty list.
        arena.links.get(self.head.index()).map(|link| link.arrival)
    }

    /// Adds a packet at the end.
    #[inline]
    pub fn push_back(&mut self, arena: &mut Arena, id: PacketId) {
        let link = &mut arena.links[id.index()];
        link.next = PacketId::NONE;
        link.previous = self.tail;
        if self.head == PacketId::NONE {
            self.head = id;
        } else {
            arena.links[self.tail.index()].next = id;
        }
        self.tail = id;
    }

    /// Takes out the packet that came first.
    #[inline]
    pub fn pop_front(&mut self, arena: &mut Arena) -> Option<PacketId> {
        // An empty list has no such link, so that one check is enough.
        let id = self.head;
        let next = arena.links.get(id.index())?.next;
        // Whether it was the last one can hardly be guessed, so nothing here depends on it: `tail` means nothing in an
        // empty list, and neither does `previous` of the packet in front.
        self.head = next;
        Some(id)
    }

    /// Takes out the packet that came last.
    pub fn pop_back(&mut self, arena: &mut Arena) -> Option<PacketId> {
        if self.is_empty() {
            return None;
        }
        let id = self.tail;
        if id == self.head {
            self.head = PacketId::NONE;
        } else {
            self.tail = arena.links[id.index()].previous;
            arena.links[self.tail.index()].next = PacketId::NONE;
        }
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    fn ack(seq: u64) -> Packet {
        Packet::control(Kind::ACK, FlowId(1), HostId(0), HostId(1), seq, Instant::ZERO)
    }

    #[test]
    fn sack_blocks_survive_the_header() {
        let mut packet = ack(5_000_000_000);
        assert!(!packet.has_sack());
        let block = |start: u64, end: u64| SackBlock { start: 5_000_000_000 + start, end: 5_000_000_000 + end };
        let blocks = [block(1460, 2920), block(1_000_000, 2_000_000), block(7, 9), block(10, 11)];
        packet.set_sack(blocks);
        assert!(packet.has_sack());
        assert_eq!(packet.sack().collect::<Vec<_>>(), blocks[..SACK_BLOCKS]);
    }

    #[test]
    fn an_ack_says_which_packet_it_answers_and_nobody_takes_that_for_a_sack_block() {
        assert_eq!(ack(0).answered(), None);
        for offset in [0, 1460, u64::from(u32::MAX) - 1, u64::from(u32::MAX), 5_000_000_000] {
            let mut packet = ack(5_000_000_000);
            packet.set_answered(offset);
            assert_eq!((packet.answered(), packet.has_sack(), packet.sack().count()), (Some(offset), false, 0));
        }
    }

    #[test]
    fn a_data_packet_carries_rank_and_flow_size_side_by_side() {
        let mut packet = Packet::data(FlowId(1), HostId(0), HostId(1), 0, 1460, 1 << 40, Instant::ZERO);
        packet.set_rank(u64::MAX - 5);
        assert_eq!((packet.rank(), packet.flow_bytes(), packet.size), (u64::MAX - 5, 1 << 40, 1500));
    }

    proptest! {
        /// Two lists in one arena do what two deques do.
        #[test]
        fn lists_do_what_deques_do(operations in prop::collection::vec((0u8..3, prop::bool::ANY), 0..200)) {
            let mut arena = Arena::new();
            let mut lists = [List::new(), List::new()];
            let mut oracle = [VecDeque::new(), VecDeque::new()];
            for (operation, which) in operations {
                let (list, oracle) = (&mut lists[usize::from(which)], &mut oracle[usize::from(which)]);
                match operation {
                    0 => {
                        let id = arena.insert(ack(0));
                        list.push_back(&mut arena, id);
                        oracle.push_back(id);
                    }
                    1 => prop_assert_eq!(list.pop_front(&mut arena), oracle.pop_front()),
                    _ => prop_assert_eq!(list.pop_back(&mut arena), oracle.pop_back()),
                }
                prop_assert_eq!(list.front(), oracle.front().copied());
                prop_assert_eq!(list.back(), oracle.back().copied());
                let first = oracle.front().copied();
                let all: Vec<_> = list.after(&arena, None).collect();
                prop_assert!(all.iter().eq(oracle.iter()));
                prop_assert!(first.is_none() || list.after(&arena, first).eq(oracle.iter().copied().skip(1)));
            }
        }
    }
}
