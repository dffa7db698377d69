"""Network of a case, made of namespaces by netlink messages: hosts, switches, ports and routes.

A host or a switch is a network namespace, a link a pair of veth devices. The NIC of a host is a netem with its rate; a
port of a switch is a netem with its rate and its limit, below a RED that marks. Both ends of a link have the same
address and do no ARP, so that a route needs nothing but its device.
"""

import ctypes
import fcntl
import os
import socket
import struct

LIBC = ctypes.CDLL(None, use_errno=True)
NAMESPACES = "/run/netns/"
CLONE_NEWNET, MS_BIND = 0x40000000, 4096
ROOT, CLSACT, EGRESS = 0xFFFFFFFF, 0xFFFFFFF1, 0xFFFFFFF3
NESTED = 0x8000
REQUEST, ACK, CREATE, EXCL, DUMP = 1, 4, 0x400, 0x200, 0x300
NEWLINK, NEWADDR, NEWROUTE, NEWQDISC, DELQDISC, GETQDISC, NEWFILTER = 16, 20, 24, 36, 37, 38, 44
TC_OK, TC_SHOT, TC_PIPE = 0, 2, 3
MAC = bytes([2, 0, 0, 0, 0, 1])
#: An Ethernet header, which the links of tailcut do not have.
FRAME = 14
SERVER_PORT = 5000
#: First half byte of the four bytes that each segment begins with: the mark by which ports recognise it.
SEGMENT_MARK = 0xB0000000


def attribute(kind, data):
    """One attribute of a netlink message, padded."""
    return struct.pack("HH", 4 + len(data), kind) + data + b"\0" * (-len(data) % 4)


def u32(value):
    return struct.pack("I", value)


class Namespaces:
    """The namespaces by name, each with a netlink socket."""

    def __init__(self):
        os.makedirs(NAMESPACES, exist_ok=True)
        self.files = {}
        self.sockets = {}

    def make(self, name):
        path = NAMESPACES + name
        open(path, "w").close()
        if LIBC.unshare(CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"cannot make the namespace {name}")
        if LIBC.mount(b"/proc/thread-self/ns/net", path.encode(), b"none", MS_BIND, None):
            raise OSError(ctypes.get_errno(), f"cannot keep the namespace {name}")
        self.files[name] = os.open(path, os.O_RDONLY)
        self.sockets[name] = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self.sockets[name].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)

    def enter(self, name):
        """Makes a namespace that of this process; a socket belongs to the one in which it was made."""
        if LIBC.setns(self.files[name], CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"cannot enter the namespace {name}")

    def ask(self, name, kind, body, flags=ACK, what=""):
        """Sends a request and waits for its acknowledgement."""
        peer = self.sockets[name]
        peer.send(struct.pack("IHHII", 16 + len(body), kind, REQUEST | flags, 1, 0) + body)
        answer = peer.recv(65536)
        error = struct.unpack_from("i", answer, 16)[0]
        if error:
            said = bytes(b for b in answer[20 + 16 + len(body):] if 32 <= b < 127).decode()
            raise OSError(-error, f"{what or kind} in {name}: {os.strerror(-error)} {said}")

    def dump(self, name, kind, body):
        """The messages that answer a request for all objects of a kind."""
        peer = self.sockets[name]
        peer.send(struct.pack("IHHII", 16 + len(body), kind, REQUEST | DUMP, 1, 0) + body)
        while True:
            data = peer.recv(1 << 20)
            at = 0
            while at < len(data):
                length, message = struct.unpack_from("IH", data, at)
                if message == 3:
                    return
                yield data[at + 16:at + length]
                at += (length + 3) & ~3


def attributes(data):
    """The attributes of a message by kind."""
    found, at = {}, 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("HH", data, at)
        if length < 4:
            break
        found[kind & 0x3FFF] = data[at + 4:at + length]
        at += (length + 3) & ~3
    return found


class Device:
    """A network device in a namespace."""

    def __init__(self, namespaces, namespace, name):
        self.namespaces, self.namespace, self.name = namespaces, namespace, name
        namespaces.enter(namespace)
        self.index = socket.if_nametoindex(name)

    def up(self):
        """Brings it up without ARP and without segmentation or coalescing: a segment is a packet."""
        self.namespaces.enter(self.namespace)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            # TSO, GSO and GRO are switched off; a device that has one of them not says so.
            for command in (0x1F, 0x24, 0x2C):
                setting = ctypes.create_string_buffer(struct.pack("II", command, 0))
                try:
                    fcntl.ioctl(control, 0x8946, struct.pack("16sP", self.name.encode(), ctypes.addressof(setting)))
                except OSError:
                    pass
        flags = 0x1 | 0x80  # UP, NOARP
        body = struct.pack("BxHiII", 0, 0, self.index, flags, flags)
        body += attribute(40, u32(1)) + attribute(41, u32(1500 + FRAME))
        self.namespaces.ask(self.namespace, NEWLINK, body, what=f"bring up {self.name}")

    def qdisc(self, parent, handle, kind, options, nested=True, before=b""):
        body = struct.pack("BxxxiIII", 0, self.index, handle, parent, 0)
        body += attribute(1, kind.encode() + b"\0") + before
        body += attribute(2 | (NESTED if nested else 0), options)
        self.namespaces.ask(self.namespace, NEWQDISC, body, ACK | CREATE | EXCL, f"{kind} on {self.name}")

    def netem(self, rate, delay_ns, limit, parent=ROOT, handle=0x80010000, before=b""):
        """netem with a rate or none, a delay in nanoseconds, and a limit in packets."""
        options = struct.pack("IIIIII", 0, limit, 0, 0, 0, 0)
        if rate:
            bytes_per_second = rate // 8
            options += attribute(6, struct.pack("IiIi", min(bytes_per_second, 2**32 - 1), -FRAME, 0, 0))
            if bytes_per_second >= 2**32:
                options += attribute(8, struct.pack("Q", bytes_per_second))
        options += attribute(10, struct.pack("q", delay_ns))
        self.qdisc(parent, handle, "netem", options, nested=False, before=before)

    def red(self, limit, threshold, parent=ROOT, handle=0x10000, before=b""):
        """RED whose average is the queue itself (Wlog 0) and whose thresholds are one: it marks from there on."""
        flags = 1 | 8  # ECN, NODROP: what cannot be marked passes
        options = attribute(1, struct.pack("IIIBBBB", limit, threshold, threshold, 0, 0, 0, 0))
        options += attribute(2, bytes([31] * 256)) + attribute(3, u32(2**32 - 1))
        options += attribute(4, struct.pack("II", flags, flags))
        self.qdisc(parent, handle, "red", options, before=before)

    def strict(self, rate, limit, classes, parent=ROOT, handle=0x20000, before=b""):
        """Strict priorities below a token bucket of one packet; the segment's mark has the class."""
        # One byte a second less: the kernel rounds the time of a packet down to a whole nanosecond.
        spec = ratespec(rate // 8 - 1)
        options = attribute(1, spec + ratespec(0) + struct.pack("III", limit, 0, 0)) + attribute(2, bytes(1024))
        if rate // 8 >= 2**32:
            options += attribute(4, struct.pack("Q", rate // 8 - 1))
        options += attribute(6, u32(1500))
        self.qdisc(parent, handle, "tbf", options, before=before)
        below = handle + 0x10000
        self.qdisc(handle + 1, below, "prio", struct.pack("i16s", classes, bytes(16)), nested=False)
        for number in range(classes):
            self.qdisc(below + 1 + number, below + 0x10000 * (1 + number), "bfifo", u32(limit), nested=False)
            keys = [(0xFF000000, SEGMENT_MARK | number << 24, 40)]
            self.filter(below, number + 1, keys, attribute(1, u32(below + 1 + number)))

    def acks_first(self, rate, delay_ns):
        """The NIC of a host that sends data and ACKs: ACKs, which servers send, do not wait for data."""
        self.qdisc(ROOT, 0x20000, "prio", struct.pack("i16s", 2, bytes([1] * 16)), nested=False)
        for number in range(2):
            self.netem(rate, delay_ns, 1000000, 0x20001 + number, 0x50000 + 0x10000 * number)
        self.filter(0x20000, 1, [(0xFFFF0000, SERVER_PORT << 16, 20)], attribute(1, u32(0x20001)))

    def filter(self, parent, priority, keys, options):
        """A u32 filter of IPv4: keys are a mask, a value and an offset from the header of IP."""
        selector = struct.pack("BBBxHHhhI", 1, 0, len(keys), 0, 0, 0, 0, 0)
        for mask, value, offset in keys:
            selector += struct.pack(">II", mask, value) + struct.pack("ii", offset, 0)
        body = struct.pack("BxxxiIII", 0, self.index, 0, parent, priority << 16 | socket.htons(0x0800))
        body += attribute(1, b"u32\0") + attribute(2 | NESTED, options + attribute(5, selector))
        self.namespaces.ask(self.namespace, NEWFILTER, body, ACK | CREATE | EXCL, f"filter on {self.name}")

    def drop(self, priority, keys, skip, times):
        """Drops `times` packets that have these keys after `skip` of them, before the queue."""
        actions = [police(times, TC_SHOT, TC_OK)]
        if skip:
            actions.insert(0, police(skip, TC_OK, TC_PIPE))
        actions = b"".join(attribute(n + 1 | NESTED, action) for n, action in enumerate(actions))
        self.filter(EGRESS, priority, keys, attribute(7 | NESTED, actions))

    def reset_drops(self, is_first):
        body = struct.pack("BxxxiIII", 0, self.index, 0xFFFF0000, CLSACT, 0) + attribute(1, b"clsact\0")
        if not is_first:
            self.namespaces.ask(self.namespace, DELQDISC, body, what=f"remove filters of {self.name}")
        self.namespaces.ask(self.namespace, NEWQDISC, body, ACK | CREATE | EXCL, f"clsact on {self.name}")

    def route(self, host, way, metrics=b""):
        """Routes the addresses of a host through it, or the one address of a way."""
        address = address_of(host, 0 if way is None else way)
        length = 24 if way is None else 32
        if way is None:
            address = address[:3] + b"\0"
        body = struct.pack("BBBBBBBBI", 2, length, 0, 0, 254, 3, 253, 1, 0)
        body += attribute(1, address) + attribute(4, u32(self.index)) + metrics
        self.namespaces.ask(self.namespace, NEWROUTE, body, ACK | CREATE | EXCL, f"route on {self.name}")

    def default_route(self, metrics):
        body = struct.pack("BBBBBBBBI", 2, 0, 0, 0, 254, 3, 253, 1, 0) + attribute(4, u32(self.index))
        body += attribute(8 | NESTED, b"".join(attribute(kind, u32(value)) for kind, value in metrics))
        self.namespaces.ask(self.namespace, NEWROUTE, body, ACK | CREATE | EXCL, f"route on {self.name}")

    def add_address(self, host, way):
        address = address_of(host, way)
        body = struct.pack("BBBBi", 2, 32, 0, 0, self.index) + attribute(1, address) + attribute(2, address)
        self.namespaces.ask(self.namespace, NEWADDR, body, ACK | CREATE | EXCL, f"address on {self.name}")


def ratespec(bytes_per_second, least_packet=0):
    return struct.pack("BBHhHI", 1, 1, 0, 0, least_packet, min(bytes_per_second, 2**32 - 1))


def police(packets, conform, exceed):
    """An action for the first packets, and another one for those that follow: a token bucket that does not refill.

    Each packet counts as one of `least` bytes, so that the rate of 1,000 B/s needs seconds for another one.
    """
    least = 20000 if packets <= 13 else 250 * 1000 // packets
    burst = int((packets + 0.02) * least * 10**6) // 64
    data = struct.pack("IiIII", 0, exceed, 0, burst, 1 << 30) + ratespec(1000, least) + ratespec(0)
    data += struct.pack("iiI", 0, 0, 0)
    options = attribute(1, data) + attribute(2, bytes(1024)) + attribute(5, struct.pack("i", conform))
    return attribute(1, b"police\0") + attribute(2 | NESTED, options)


def address_of(host, way):
    return bytes([10, host >> 8, host & 255, 1 + way])


def dotted(address):
    return ".".join(str(byte) for byte in address)


class Network:
    """The hosts, switches and ports of a case."""

    def __init__(self, plan):
        self.plan = plan
        self.namespaces = Namespaces()
        self.hosts = [f"h{number}" for number in range(len(plan["hosts"]))]
        self.switches = [f"s{number}" for number in range(plan["switches"])]
        for name in self.hosts + self.switches:
            self.namespaces.make(name)
        self.nics, self.ports = [], []
        self.with_drops = set()
        self._links()
        self._ports()
        self._hosts()
        self._routes()

    def _pair(self, namespace, name, peer_namespace, peer_name):
        """A link: a veth device here and its peer there."""
        peer = struct.pack("BxHiII", 0, 0, 0, 0, 0) + attribute(3, peer_name.encode() + b"\0") + attribute(1, MAC)
        peer += attribute(28, u32(self.namespaces.files[peer_namespace]))
        info = attribute(1, b"veth\0") + attribute(2 | NESTED, attribute(1 | NESTED, peer))
        body = struct.pack("BxHiII", 0, 0, 0, 0, 0) + attribute(3, name.encode() + b"\0") + attribute(1, MAC)
        body += attribute(18 | NESTED, info)
        self.namespaces.ask(namespace, NEWLINK, body, ACK | CREATE | EXCL, f"link {name}")

    def _links(self):
        made = set()
        for number, port in enumerate(self.plan["ports"]):
            here = f"s{port['switch']}"
            if port["host"] is not None:
                self._pair(here, f"p{number}", f"h{port['host']}", "e")
            elif number not in made:
                back = port["back"]
                made.update((number, back))
                self._pair(here, f"p{number}", f"s{self.plan['ports'][back]['switch']}", f"p{back}")
        for number, port in enumerate(self.plan["ports"]):
            self.ports.append(Device(self.namespaces, f"s{port['switch']}", f"p{number}"))
        for name in self.hosts:
            self.nics.append(Device(self.namespaces, name, "e"))

    def _ports(self):
        for name in self.switches:
            self.namespaces.enter(name)
            write("/proc/sys/net/ipv4/ip_forward", 1)
        for device, port in zip(self.ports, self.plan["ports"]):
            device.up()
            parent, bytes_of_packet, before = ROOT, 1500 + FRAME, b""
            if port["classes"] > 1:
                # The first queue of the port decides how long packets are; a token bucket knows no frames by itself.
                before = attribute(8 | NESTED, attribute(1, struct.pack("BBhiIIII", 0, 0, 0, -FRAME, 1, 0, 0, 0)))
                bytes_of_packet = 1500
            if port["delay_ns"]:
                # The delay of the link is before the queue: all packets of the port have it alike.
                device.netem(0, port["delay_ns"], 1000000, parent, 0x40000, before)
                parent, before = 0x40001, b""
            # The packet on the wire is in netem's queue, hence one more in the limit and in the threshold.
            own = 1 if port["classes"] == 1 else 0
            if port["mark_packets"] is not None:
                threshold = (port["mark_packets"] + own) * bytes_of_packet
                device.red(10 * port["limit_bytes"], threshold, parent, 0x10000, before)
                parent, before = 0x10001, b""
            if port["classes"] > 1:
                device.strict(port["rate"], port["limit_bytes"], port["classes"], parent, before=before)
            else:
                device.netem(port["rate"], 0, port["limit_packets"] + own, parent, 0x50000)

    def _hosts(self):
        settings = self.plan["tcp"]
        metrics = [(1, 1 << 13), (13, settings["min_rto_ms"]), (11, settings["initial_window"])]
        if settings["quick_ack"]:
            metrics.append((15, 1))
        for number, host in enumerate(self.plan["hosts"]):
            nic = self.nics[number]
            self.namespaces.enter(self.hosts[number])
            for key, value in self.plan["sysctls"].items():
                write("/proc/sys/net/ipv4/" + key, value)
            Device(self.namespaces, self.hosts[number], "lo").up()
            nic.up()
            for way in range(self.plan["ways"]):
                nic.add_address(number, way)
            nic.default_route(metrics)
            if host["acks_first"]:
                nic.acks_first(host["rate"], host["delay_ns"])
            else:
                nic.netem(host["rate"], host["delay_ns"], 1000000)

    def _routes(self):
        for switch, host, way, port in self.plan["routes"]:
            assert self.plan["ports"][port]["switch"] == switch
            self.ports[port].route(host, way)

    def set_drops(self, drops, client_ports):
        """Drops these packets from now on, and no others. A drop: port, kind, flow, segment, times."""
        for number in {drop["port"] for drop in drops} - self.with_drops:
            self.ports[number].reset_drops(True)
        for number in self.with_drops:
            self.ports[number].reset_drops(False)
        self.with_drops |= {drop["port"] for drop in drops}
        for priority, drop in enumerate(drops):
            flow, kind, segment = drop["flow"], drop["kind"], drop["segment"]
            client = client_ports.get(flow)
            if kind == "data":
                keys, skip = [(0xF0FFFFFF, SEGMENT_MARK | flow << 14 | segment, 40)], 0
            elif kind == "syn":
                keys, skip = [(0xFFFF0000, client << 16, 20), (0x00120000, 0x00020000, 32)], 0
            elif kind == "syn-ack":
                keys, skip = [(0x0000FFFF, client, 20), (0x00120000, 0x00120000, 32)], 0
            else:
                keys, skip = [(0x0000FFFF, client, 20), (0x00120000, 0x00100000, 32)], segment
            self.ports[drop["port"]].drop(1 + priority, keys, skip, drop["times"])

    def counts(self):
        """For each port: packets sent, dropped by its queue, dropped by the filters, and marked."""
        counts = [[0, 0, 0, 0] for _ in self.ports]
        by_device = {(port.namespace, port.index): number for number, port in enumerate(self.ports)}
        for name in self.switches:
            for message in self.namespaces.dump(name, GETQDISC, struct.pack("BxxxiIII", 0, 0, 0, 0, 0)):
                index, _, parent = struct.unpack_from("iII", message, 4)
                number = by_device.get((name, index))
                if number is None:
                    continue
                found = attributes(message[20:])
                kind = found[1].rstrip(b"\0").decode()
                stats = attributes(found[7])
                packets = struct.unpack_from("QI", stats[1])[1] if 1 in stats else 0
                drops = struct.unpack_from("IIIII", stats[3])[2] if 3 in stats else 0
                if kind == "clsact":
                    counts[number][2] += drops
                elif parent == ROOT:
                    counts[number][0], counts[number][1] = packets, drops
                if kind == "red" and 4 in stats:
                    counts[number][3] += struct.unpack_from("IIII", stats[4])[3]
        return counts


def write(path, value):
    with open(path, "w") as file:
        file.write(str(value))
