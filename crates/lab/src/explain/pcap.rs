//! Packets for other tools: what was seen as a file in the format pcapng (draft-ietf-opsawg-pcapng), with headers of
//! Ethernet, IPv4 and TCP.
//!
//! There is an interface for each port, and times are in ns. A packet is captured at the moment at which the port
//! begins to send it, and as it is then; one that is dropped, where and when that happens, with the reason in its
//! comment. Only headers are in the file, payloads are all zero and left out; lengths and checksums count them.
//!
//! What the simulator has no headers for is made up: host N has the address 10.0.0.0 + N + 1, a flow has ports of its
//! own, and its first byte has the sequence number 1. The class of a packet is its DSCP, times 8 as class selectors
//! are. Packets that belong to a transport other than TCP are segments without data, with the name of their purpose in
//! the comment.

use std::collections::BTreeMap;
use std::path::Path;

use etherparse::{EtherType, Ethernet2Header, IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement};
use tailcut_base::{HostId, Instant, MSS_BYTES, PortId};
use tailcut_record::write_atomically;
use tailcut_sim::model::{Flags, Packet};
use tailcut_sim::trace::{Happened, Purpose, Seen, Trace, advertised, purpose};
use tailcut_sim::{Problem, Scenario};

/// Block types.
const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
/// Option codes.
const COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const APPLICATION: u16 = 4;
/// Ethernet.
const LINK_TYPE: u16 = 1;
const TTL: u8 = 64;

/// Writes what was seen at these ports into a file at `path`; at every port, if none is given. At `inward` ports
/// packets are captured when they have crossed the link: as the node at its far end sees them. Returns how many there
/// are.
///
/// # Errors
/// If the file cannot be written.
pub fn write_pcapng(
    path: &Path,
    scenario: &Scenario,
    trace: &Trace,
    ports: &[PortId],
    inward: &[PortId],
) -> Result<usize, Problem> {
    let mut captured: Vec<(Instant, &Seen)> = Vec::new();
    for seen in trace.packets.iter().filter(|seen| ports.is_empty() || ports.contains(&seen.port)) {
        match seen.what {
            Happened::Crossed { left } if !inward.contains(&seen.port) => captured.push((left, seen)),
            Happened::Crossed { .. } => captured.push((seen.at, seen)),
            // The node at the far end sees nothing of what is dropped before.
            Happened::Dropped(_) if !inward.contains(&seen.port) => captured.push((seen.at, seen)),
            Happened::Dropped(_) | Happened::Made | Happened::Queued { .. } | Happened::Held { .. } => {}
        }
    }
    captured.sort_by_key(|(at, _)| *at);
    let mut bytes = section();
    let mut interfaces: BTreeMap<PortId, u32> = BTreeMap::new();
    // The interfaces are those of ports at which there is anything to see, in the order of the ports.
    for (_, seen) in &captured {
        interfaces.insert(seen.port, 0);
    }
    for (number, (&port, interface)) in (0..).zip(interfaces.iter_mut()) {
        *interface = number;
        bytes.extend(interface_block(&scenario.network().port_name(port).to_string()));
    }
    for (at, seen) in &captured {
        bytes.extend(packet_block(interfaces[&seen.port], *at, seen));
    }
    write_atomically(path, |file| file.write_all(&bytes)).map_err(|error| Problem::new(error.to_string()))?;
    Ok(captured.len())
}

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = 12 + body.len() as u32;
    [&kind.to_le_bytes(), &length.to_le_bytes()[..], body, &length.to_le_bytes()].concat()
}

fn option(code: u16, value: &[u8]) -> Vec<u8> {
    let mut option = [&code.to_le_bytes()[..], &(value.len() as u16).to_le_bytes(), value].concat();
    option.resize(option.len().next_multiple_of(4), 0);
    option
}

/// The options of a block, and their end.
fn options(options: &[Vec<u8>]) -> Vec<u8> {
    if options.is_empty() { Vec::new() } else { [options.concat(), option(0, &[])].concat() }
}

fn section() -> Vec<u8> {
    let written_by = option(APPLICATION, format!("tailcut {}", crate::version::version()).as_bytes());
    let head = [&0x1A2B_3C4Du32.to_le_bytes()[..], &1u16.to_le_bytes(), &0u16.to_le_bytes(), &(-1i64).to_le_bytes()];
    block(SECTION, &[head.concat(), options(&[written_by])].concat())
}

fn interface_block(name: &str) -> Vec<u8> {
    let head = [&LINK_TYPE.to_le_bytes()[..], &[0, 0], &0u32.to_le_bytes()].concat();
    // Times are in units of 10^-9 s.
    block(INTERFACE, &[head, options(&[option(IF_NAME, name.as_bytes()), option(IF_TSRESOL, &[9])])].concat())
}

fn packet_block(interface: u32, at: Instant, seen: &Seen) -> Vec<u8> {
    let (headers, length) = frame(&seen.packet);
    let ns = at.as_ps() / 1000;
    let numbers = [interface, (ns >> 32) as u32, ns as u32, headers.len() as u32, length];
    let mut body: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    body.extend(&headers);
    body.resize(body.len().next_multiple_of(4), 0);
    let mut comments = Vec::new();
    if let Happened::Dropped(reason) = seen.what {
        comments.push(option(COMMENT, format!("dropped: {}", reason.name()).as_bytes()));
    }
    if let Purpose::Other(name) = purpose(seen.packet.kind) {
        comments.push(option(COMMENT, name.as_bytes()));
    }
    body.extend(options(&comments));
    block(PACKET, &body)
}

fn address(host: HostId) -> [u8; 4] {
    (0x0A00_0000 + host.0 + 1).to_be_bytes()
}

fn hardware(host: HostId) -> [u8; 6] {
    let [a, b, c, d] = host.0.to_be_bytes();
    // Locally administered.
    [2, 0, a, b, c, d]
}

/// The headers of a packet, and how long it would be with its payload.
fn frame(packet: &Packet) -> (Vec<u8>, u32) {
    let purpose = purpose(packet.kind);
    let is_from_sender = matches!(purpose, Purpose::Data | Purpose::Opens | Purpose::Other("probe" | "end"));
    let flow = packet.flow.0;
    // Ports that no two flows between the same hosts share.
    let own = (49_152 + (flow % 16_384) as u16, 5_000 + (flow / 16_384 % 32_768) as u16);
    let (from, to) = if is_from_sender { own } else { (own.1, own.0) };
    // The first byte of a flow follows its SYN.
    let sequence = match purpose {
        Purpose::Data => 1 + packet.seq as u32,
        Purpose::Opens | Purpose::Opened => 0,
        Purpose::Acknowledges | Purpose::Other(_) => 1,
    };
    let window = advertised(packet).map_or(u64::from(u16::MAX), |segments| u64::from(segments) * MSS_BYTES);
    let mut tcp = TcpHeader::new(from, to, sequence, window.min(u64::from(u16::MAX)) as u16);
    tcp.syn = matches!(purpose, Purpose::Opens | Purpose::Opened);
    tcp.ack = purpose != Purpose::Opens;
    tcp.acknowledgment_number = match purpose {
        Purpose::Opens => 0,
        Purpose::Acknowledges => 1 + packet.seq as u32,
        Purpose::Data | Purpose::Opened | Purpose::Other(_) => 1,
    };
    tcp.ece = packet.flags.has(Flags::ECE);
    tcp.cwr = packet.flags.has(Flags::CWR);
    if packet.has_sack() {
        let mut edges = packet.sack().map(|block| (1 + block.start as u32, 1 + block.end as u32));
        if let Some(first) = edges.next() {
            let rest = [edges.next(), edges.next(), None];
            tcp.set_options(&[
                TcpOptionElement::Noop,
                TcpOptionElement::Noop,
                TcpOptionElement::SelectiveAcknowledgement(first, rest),
            ])
            .expect("two no-operations and three blocks fit");
        }
    }
    let payload = vec![0; if purpose == Purpose::Data { usize::from(packet.payload) } else { 0 }];
    let length = (tcp.header_len() + payload.len()) as u16;
    let mut ip = Ipv4Header::new(length, TTL, IpNumber::TCP, address(packet.src), address(packet.dst))
        .expect("a packet is no longer than 64 KB");
    ip.dscp = IpDscp::try_new(8 * packet.class.min(7)).expect("a class selector has six bits");
    ip.ecn = match (packet.flags.has(Flags::ECT), packet.flags.has(Flags::CE)) {
        (_, true) => IpEcn::CongestionExperienced,
        (true, false) => IpEcn::Ect0,
        (false, false) => IpEcn::NotEct,
    };
    ip.header_checksum = ip.calc_header_checksum();
    tcp.checksum = tcp.calc_checksum_ipv4(&ip, &payload).expect("a packet is no longer than 64 KB");
    let link = Ethernet2Header {
        source: hardware(packet.src),
        destination: hardware(packet.dst),
        ether_type: EtherType::IPV4,
    };
    let headers = [&link.to_bytes()[..], &ip.to_bytes(), &tcp.to_bytes()].concat();
    let length = headers.len() as u32 + payload.len() as u32;
    (headers, length)
}

#[cfg(test)]
mod tests {
    use etherparse::SlicedPacket;
    use tailcut_base::HostId;
    use tailcut_sim::model::{FlowId, Kind, SackBlock};

    use super::*;

    fn parsed(packet: &Packet) -> (Vec<u8>, u32) {
        let (headers, length) = frame(packet);
        assert!(headers.len() as u32 <= length);
        (headers, length)
    }

    #[test]
    fn data_and_acks_are_segments_that_a_parser_understands() {
        let mut data = Packet::data(FlowId(7), HostId(3), HostId(300), 2920, 1460, 9000, Instant::ZERO);
        data.class = 2;
        data.flags.set(Flags::ECT);
        let (headers, length) = parsed(&data);
        assert_eq!(length, 14 + 20 + 20 + 1460);
        let sliced = SlicedPacket::from_ethernet(&[headers, vec![0; 1460]].concat()).map(|sliced| {
            let (Some(etherparse::NetSlice::Ipv4(ip)), Some(etherparse::TransportSlice::Tcp(tcp))) =
                (&sliced.net, &sliced.transport)
            else {
                panic!("it is a segment")
            };
            let (ip, tcp) = (ip.header().to_header(), tcp.to_header());
            assert_eq!((ip.source, ip.destination), ([10, 0, 0, 4], [10, 0, 1, 45]));
            assert_eq!((ip.dscp.value(), ip.ecn), (16, IpEcn::Ect0));
            assert_eq!((tcp.sequence_number, tcp.ack, tcp.syn), (2921, true, false));
            assert_eq!(tcp.checksum, tcp.calc_checksum_ipv4(&ip, &[0; 1460]).unwrap());
            assert_eq!(ip.header_checksum, ip.calc_header_checksum());
        });
        assert!(sliced.is_ok(), "{sliced:?}");
        let mut ack = data.answer(Kind::ACK, 1460);
        ack.set_sack([SackBlock { start: 2920, end: 4380 }]);
        ack.flags.set(Flags::ECE);
        let (headers, length) = parsed(&ack);
        assert_eq!(headers.len() as u32, length);
        let sliced = SlicedPacket::from_ethernet(&headers).unwrap();
        let Some(etherparse::TransportSlice::Tcp(tcp)) = sliced.transport else { panic!("it is a segment") };
        let tcp = tcp.to_header();
        assert_eq!((tcp.acknowledgment_number, tcp.ece), (1461, true));
        let sack = tcp.options_iterator().filter_map(Result::ok).find_map(|option| match option {
            TcpOptionElement::SelectiveAcknowledgement(first, _) => Some(first),
            _ => None,
        });
        assert_eq!(sack, Some((2921, 4381)));
    }

    #[test]
    fn blocks_end_with_their_length_and_options_are_padded() {
        assert_eq!(block(6, &[1, 2, 3, 4]), [6, 0, 0, 0, 16, 0, 0, 0, 1, 2, 3, 4, 16, 0, 0, 0]);
        assert_eq!(option(1, b"abc"), [1, 0, 3, 0, b'a', b'b', b'c', 0]);
    }
}
