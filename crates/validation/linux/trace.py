"""Packets of TCP as hosts send and receive them, with their times: for finding the cause of a difference."""

import socket
import struct

ALL_PROTOCOLS = 3
SO_TIMESTAMPNS, SO_RCVBUFFORCE = 35, 33
IPV4 = 0x0800
TCP = 6
OUTGOING = 4
NANOSECONDS = 10**9


class Trace:
    """The packets of one host."""

    def __init__(self, network, host, to_real):
        network.namespaces.enter(f"h{host}")
        self.host, self.to_real = host, to_real
        self.tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
        self.tap.bind(("e", 0))
        self.tap.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 50_000_000)
        self.tap.setblocking(False)

    def lines(self, base):
        """A line for each packet since the last call."""
        while True:
            try:
                data, messages, _, address = self.tap.recvmsg(2000, 64)
            except BlockingIOError:
                return
            if struct.unpack_from(">H", data, 12)[0] != IPV4 or data[23] != TCP:
                continue
            seconds, nanoseconds = struct.unpack("qq", messages[0][2])
            when = seconds * NANOSECONDS + nanoseconds - self.to_real - base
            yield f"{when} h{self.host} {'out' if address[2] == OUTGOING else 'in'} {described(data[14:])}"


def described(packet):
    length = struct.unpack_from(">H", packet, 2)[0]
    source, destination, sequence, ack, offset, flags, window = struct.unpack_from(">HHIIBBH", packet, 20)
    header = (offset >> 4) * 4
    options, at, sacked = packet[40:20 + header], 0, []
    while at < len(options) and options[at]:
        if options[at] == 1:
            at += 1
            continue
        if options[at] == 5:
            count = (options[at + 1] - 2) // 8
            sacked = [struct.unpack_from(">II", options, at + 2 + 8 * n) for n in range(count)]
        at += max(options[at + 1], 2)
    return (f"{source}->{destination} seq {sequence} len {length - 20 - header} ack {ack} flags {flags:#04x} "
            f"ecn {packet[1] & 3} window {window} sack {sacked}")
