"""Runs the rounds of a case inside of the kernel under test, in virtual time.

    driver.py FOLDER

FOLDER/plan.json describes the case; FOLDER/answer.json is written. Needs Python's standard library only. One process
does everything: it opens the connections, hands the flows to their sockets when they start, reads what arrives, and
notes when each flow was complete. Its work takes no virtual time.
"""

import ctypes
import json
import os
import re
import select
import socket
import struct
import sys
import time

from network import LIBC, SEGMENT_MARK, SERVER_PORT, Network, address_of, dotted
from trace import Trace

SEGMENT = 1460
FIRST_CLIENT_PORT = 1024
CLIENT_PORTS = 60000
NANOSECONDS = 10**9
TICK_NS = 10**6
#: The timer wheel of Linux rounds late timers to jiffies that are multiples of powers of 8, up to this one.
WHEEL_TICKS = 4096
#: Connections are open and idle for so long before the base of a round.
IDLE_NS = 300_000_000
READ_COST = "/sys/module/time/parameters/read_cost"
TCP_NODELAY, TCP_INFO, TCP_CONGESTION = 1, 11, 13
SO_SNDBUFFORCE, SO_TIMESTAMPING, SO_MAX_PACING_RATE = 32, 37, 47
#: Times of ACKs: TX_ACK, SOFTWARE, OPT_TSONLY, OPT_ID.
TIMESTAMPING = 1 << 9 | 1 << 4 | 1 << 11 | 1 << 7
COUNTERS_THAT_ARE_LEVELS = ("RtoMax", "RtoMin", "MaxConn", "RtoAlgorithm", "CurrEstab")


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


class Alarm:
    """A timer in nanoseconds that an epoll can wait for."""

    def __init__(self):
        self.file = LIBC.timerfd_create(1, 0o4000)

    def at(self, when):
        setting = struct.pack("qqqq", 0, 0, when // NANOSECONDS, when % NANOSECONDS)
        LIBC.timerfd_settime(self.file, 1, ctypes.c_char_p(setting), None)

    def clear(self):
        try:
            os.read(self.file, 8)
        except BlockingIOError:
            pass


class Wheel:
    """The number of the jiffy at a time, from the list of timers."""

    def __init__(self):
        with open("/proc/timer_list") as file:
            text = file.read()

        def number(pattern):
            return int(re.search(pattern, text, re.MULTILINE).group(1))

        self.jiffies, self.next_tick = number(r"^jiffies: (\d+)"), number(r"^ next_event: +(\d+)")
        assert 0 < self.next_tick - number(r"^now at (\d+)") <= TICK_NS, "the next event is not the tick"

    def position(self, when):
        """Nanoseconds since the last jiffy whose number is a multiple of `WHEEL_TICKS`."""
        return ((self.jiffies + 1) * TICK_NS + when - self.next_tick) % (WHEEL_TICKS * TICK_NS)


def payload(flow, size, thresholds):
    """Bytes of a flow: each segment begins with a mark, its class, the flow and its own number."""
    data = bytearray(size)
    for number in range((size + SEGMENT - 1) // SEGMENT):
        first = number * SEGMENT
        class_of = sum(first > threshold for threshold in thresholds)
        mark = struct.pack(">I", SEGMENT_MARK | class_of << 24 | (flow & 0x3FF) << 14 | (number & 0x3FFF))
        length = min(4, size - first)
        data[first:first + length] = mark[:length]
    return bytes(data)


def tcp_info(peer):
    """The fields of TCP_INFO that tell how a connection went."""
    data = peer.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 256)
    words, more = struct.unpack_from("24I", data, 8), struct.unpack_from("6I", data, 136)
    limited, delivered = struct.unpack_from("4Q", data, 160), struct.unpack_from("2I", data, 192)
    doubled = struct.unpack_from("2I", data, 216)
    return {
        "rto_us": words[0],
        "rtt_us": words[15],
        "rttvar_us": words[16],
        "ssthresh": words[17],
        "window": words[18],
        "reordering": words[20],
        "retransmissions": words[23],
        "min_rtt_us": more[3],
        "segments_out": more[5],
        "receiver_limited_us": limited[2],
        "buffer_limited_us": limited[3],
        "delivered": delivered[0],
        "delivered_marked": delivered[1],
        "duplicates": doubled[0],
        "reordering_seen": doubled[1],
        "state": data[1],
    }


class Connection:
    """One connection: its two sockets and the flows that are on it."""

    def __init__(self, source, destination, port, addresses):
        self.source, self.destination, self.port = source, destination, port
        self.addresses = addresses
        self.client, self.server = None, None
        self.is_open = False
        self.to_send, self.to_read = [], []
        self.sent, self.acknowledged = 0, 0
        self.last_used = -1
        #: Position of the last byte of each flow that is not acknowledged.
        self.ends = {}


class Round:
    """One round of a case."""

    def __init__(self, network, plan, number, wheel, to_real):
        self.network, self.plan, self.number = network, plan, number
        self.wheel, self.to_real = wheel, to_real
        round_plan = plan["rounds"][number]
        self.flows, self.drops, self.phase = round_plan["flows"], round_plan["drops"], round_plan["phase_ns"]
        self.poll = select.epoll()
        self.alarm = Alarm()
        self.poll.register(self.alarm.file, select.EPOLLIN)
        self.by_file, self.by_port, self.connections = {}, {}, {}
        self.start, self.done, self.acked, self.connected = {}, {}, {}, {}
        self.used = {}
        self.scratch = bytearray(1 << 20)

    def run(self):
        self._listen()
        self._make_connections()
        counters = [self._counters(name) for name in self.network.hosts]
        self._prepare_drops()
        ports = self.network.counts()
        traces = [Trace(self.network, host, self.to_real) for host in self.plan.get("trace", [])]
        self.base = now() + IDLE_NS
        self.base += -self.wheel.position(self.base) % TICK_NS + self.phase
        deadline = self.base + self.plan["deadline_ns"]
        waiting = sorted(range(len(self.flows)), key=lambda flow: (self.flows[flow]["start_ns"], flow))
        while len(self.acked) < len(self.flows) and now() < deadline:
            while waiting and now() >= self.base + self.flows[waiting[0]]["start_ns"]:
                self._begin(waiting.pop(0))
            next_start = self.base + self.flows[waiting[0]]["start_ns"] if waiting else deadline
            self.alarm.at(min(next_start, deadline))
            for file, events in self.poll.poll():
                self._handle(file, events)
        answer = self._answer(counters, ports)
        if traces:
            answer["trace"] = [line for trace in traces for line in trace.lines(self.base)]
        return answer

    def _listen(self):
        self.listeners = {}
        for host in sorted({flow["dst"] for flow in self.flows}):
            self.network.namespaces.enter(f"h{host}")
            listener = socket.socket()
            listener.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, self.plan["tcp"]["congestion"].encode())
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("0.0.0.0", SERVER_PORT))
            listener.listen(4096)
            listener.setblocking(False)
            self.listeners[listener.fileno()] = listener
            self.poll.register(listener.fileno(), select.EPOLLIN)

    def _make_connections(self):
        """One connection for each flow; they are opened now unless the flows open them."""
        first = self.number * len(self.flows)
        for number, flow in enumerate(self.flows):
            port = FIRST_CLIENT_PORT + (first + number) % CLIENT_PORTS
            forward = dotted(address_of(flow["dst"], flow["forward"]))
            backward = dotted(address_of(flow["src"], flow["backward"]))
            connection = Connection(flow["src"], flow["dst"], port, (backward, forward))
            self.by_port[port] = self.connections[number] = connection
            if not self.plan["tcp"]["handshake"]:
                self._open(connection)
        while any(not c.is_open or c.server is None for c in self.connections.values() if c.client):
            for file, events in self.poll.poll(1.0):
                self._handle(file, events)

    def _open(self, connection):
        self.network.namespaces.enter(f"h{connection.source}")
        client = socket.socket()
        settings = self.plan["tcp"]
        client.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 30_000_000)
        client.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, settings["congestion"].encode())
        client.setsockopt(socket.IPPROTO_TCP, TCP_NODELAY, 1)
        if settings["pacing"]:
            # Any limit makes TCP pace itself; this one is above all links.
            client.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, struct.pack("Q", 10**12))
        client.bind((connection.addresses[0], connection.port))
        client.setblocking(False)
        connection.client = client
        self.by_file[client.fileno()] = connection
        self.poll.register(client.fileno(), select.EPOLLOUT)
        try:
            client.connect((connection.addresses[1], SERVER_PORT))
        except BlockingIOError:
            pass

    def _prepare_drops(self):
        ports = {flow: connection.port for flow, connection in self.connections.items()}
        self.network.set_drops(self.drops, ports)

    def _connection_of(self, flow):
        """The connection of a flow: its own, or the one of its hosts that was idle for the shortest time."""
        own = self.connections[flow]
        if not self.plan["tcp"]["persistent"]:
            return own
        between = [c for c in self.connections.values() if (c.source, c.destination) == (own.source, own.destination)]
        idle = [c for c in between if c.last_used >= 0 and not c.ends and not c.to_send]
        fresh = [c for c in between if c.last_used < 0]
        return max(idle, key=lambda connection: connection.last_used) if idle else fresh[0]

    def _begin(self, flow):
        """Hands a flow to its socket."""
        connection = self._connection_of(flow)
        self.start[flow] = now() - self.base
        self.used[flow] = connection
        connection.last_used = now()
        data = payload(flow, self.flows[flow]["size"], self.plan["thresholds"])
        connection.sent += len(data)
        connection.ends[connection.sent - 1] = flow
        connection.to_read.append([flow, len(data)])
        connection.to_send.append(memoryview(data))
        if connection.client is None:
            self._open(connection)
        elif connection.is_open:
            self._send(connection)

    def _send(self, connection):
        while connection.to_send:
            data = connection.to_send[0]
            try:
                count = connection.client.send(data)
            except BlockingIOError:
                count = 0
            if count == len(data):
                connection.to_send.pop(0)
                continue
            connection.to_send[0] = data[count:]
            self.poll.modify(connection.client.fileno(), select.EPOLLOUT)
            return
        self.poll.modify(connection.client.fileno(), 0)

    def _handle(self, file, events):
        if file == self.alarm.file:
            self.alarm.clear()
        elif file in self.listeners:
            self._accept(self.listeners[file])
        else:
            connection = self.by_file[file]
            if connection.server is not None and file == connection.server.fileno():
                self._read(connection)
                return
            if events & select.EPOLLOUT:
                if not connection.is_open:
                    error = connection.client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                    if error:
                        raise OSError(error, f"connection from port {connection.port}")
                    connection.is_open = True
                    self.connected[connection.port] = now()
                    connection.client.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, TIMESTAMPING)
                self._send(connection)
            if events & select.EPOLLERR:
                self._read_times(connection)

    def _accept(self, listener):
        while True:
            try:
                server, peer = listener.accept()
            except BlockingIOError:
                return
            connection = self.by_port[peer[1]]
            server.setblocking(False)
            connection.server = server
            self.by_file[server.fileno()] = connection
            self.poll.register(server.fileno(), select.EPOLLIN)

    def _read(self, connection):
        while connection.to_read:
            flow, left = connection.to_read[0]
            try:
                count = connection.server.recv_into(self.scratch, min(left, len(self.scratch)))
            except BlockingIOError:
                return
            if count == 0:
                self.poll.unregister(connection.server.fileno())
                return
            connection.to_read[0][1] -= count
            if count == left:
                connection.to_read.pop(0)
                self.done[flow] = now() - self.base

    def _read_times(self, connection):
        """Times of the ACKs of the last bytes, from the error queue."""
        while True:
            try:
                _, messages, _, _ = connection.client.recvmsg(0, 512, socket.MSG_ERRQUEUE)
            except OSError:
                return
            when = position = None
            for level, kind, data in messages:
                if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPING):
                    seconds, nanoseconds = struct.unpack_from("qq", data)
                    when = seconds * NANOSECONDS + nanoseconds - self.to_real
                if (level, kind) == (socket.IPPROTO_IP, 11):
                    position = struct.unpack_from("IBBBBII", data)[6]
            flow = connection.ends.pop(position, None)
            if flow is not None:
                self.acked[flow] = when - self.base

    def _counters(self, namespace):
        self.network.namespaces.enter(namespace)
        counters = {}
        for name in ("netstat", "snmp"):
            with open("/proc/thread-self/net/" + name) as file:
                lines = [line.split() for line in file]
            for names, values in zip(lines[::2], lines[1::2]):
                if names[0] in ("TcpExt:", "Tcp:"):
                    counters.update((key, int(value)) for key, value in zip(names[1:], values[1:]))
        return counters

    def _answer(self, counters, ports):
        hosts = {}
        for number, before in enumerate(counters):
            after = self._counters(self.network.hosts[number])
            changed = {key: after[key] - before[key] for key in before if after[key] != before[key]}
            changed = {key: value for key, value in changed.items() if key not in COUNTERS_THAT_ARE_LEVELS}
            if changed:
                hosts[str(number)] = changed
        flows = []
        # The figures of a connection stand at the last of its flows.
        last = {id(self.used[flow]): flow for flow in sorted(self.used, key=lambda flow: self.start[flow])}
        for number, flow in enumerate(self.flows):
            start, done, acked = self.start.get(number), self.done.get(number), self.acked.get(number)
            connection = self.used.get(number)
            info = tcp_info(connection.client) if connection and last[id(connection)] == number else {}
            flows.append({
                "start_ns": start,
                "fct_ns": None if done is None else done - start,
                "ack_ns": None if acked is None else acked - start,
                "src": flow["src"],
                "dst": flow["dst"],
                "size": flow["size"],
                **info,
            })
        after = self.network.counts()
        changed = [[new - old for new, old in zip(a, b)] for a, b in zip(after, ports)]
        for connection in self.connections.values():
            for peer in (connection.client, connection.server):
                if peer is not None:
                    peer.close()
        for listener in self.listeners.values():
            listener.close()
        self.poll.close()
        os.close(self.alarm.file)
        time.sleep(0.05)
        return {
            "wheel_ns": self.wheel.position(self.base),
            "flows": flows,
            "hosts": hosts,
            "ports": {str(n): counts for n, counts in enumerate(changed) if any(counts)},
        }


def main():
    folder = sys.argv[1]
    with open(folder + "/plan.json") as file:
        plan = json.load(file)
    LIBC.prctl(29, 1, 0, 0, 0)  # timers of this process may be 1 ns late, not 50 us
    network = Network(plan)
    wheel = Wheel()
    with open(READ_COST, "w") as file:
        file.write("0")
    to_real = time.clock_gettime_ns(time.CLOCK_REALTIME) - now()
    rounds = [Round(network, plan, number, wheel, to_real).run() for number in range(len(plan["rounds"]))]
    with open(READ_COST, "w") as file:
        file.write("16")
    answer = {"kernel": os.uname().release, "rounds": rounds}
    with open(folder + "/answer.json.part", "w") as file:
        json.dump(answer, file, separators=(",", ":"))
    os.rename(folder + "/answer.json.part", folder + "/answer.json")


if __name__ == "__main__":
    main()
