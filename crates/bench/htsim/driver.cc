// The common work in htsim: `cargo xtask compare-htsim` builds this against a checkout of csg-htsim and runs it beside
// this repository's own simulator, on the same flows.
//
//   driver LEAVES HOSTS_PER_LEAF SPINES HOST_BPS CORE_BPS HOST_DELAY_PS CORE_DELAY_PS LIMIT_BYTES MARK_BYTES MIN_RTO_PS <FLOWS
//
// Each line of the input is a flow: start in picoseconds, sender, receiver, number of packets. The output is one line:
// packets that crossed a link, and the CPU time in nanoseconds that the event loop took.
//
// DCTCP over a leaf-spine network; each direction of a link is an ECN queue and a pipe, and every flow keeps to the
// spine that a hash of its number picks. A packet-hop is a packet that enters the pipe of a link, be it data, ACK or SYN.
#include <time.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "config.h"
#include "dctcp.h"
#include "ecnqueue.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "route.h"
#include "tcp.h"

// Bytes of a data packet with its headers. htsim counts them as payload, so that flows are given as numbers of packets.
static const int PACKET = 1500;

static uint64_t packet_hops = 0;
static uint64_t finished = 0;

// A pipe that counts what enters it.
class Line : public Pipe {
public:
    Line(simtime_picosec delay, EventList& events) : Pipe(delay, events) {}
    void receivePacket(Packet& packet) override {
        packet_hops++;
        Pipe::receivePacket(packet);
    }
};

// One direction of a link.
struct Link {
    ECNQueue* queue;
    Line* line;
    Link(uint64_t bps, uint64_t delay, int64_t limit, int64_t mark, EventList& events)
        : queue(new ECNQueue(bps, limit, events, NULL, mark)), line(new Line(delay, events)) {
        queue->forceName("queue");
        line->forceName("line");
    }
    void join(Route& route) const {
        route.push_back(queue);
        route.push_back(line);
    }
};

// A sender that knows when all of its packets are acknowledged.
class Sender : public DCTCPSrc {
public:
    Sender(uint64_t packets, EventList& events) : DCTCPSrc(NULL, NULL, events), last(1 + packets * PACKET), done(false) {
        // It sends while what it has sent is no more than this: exactly `packets` of them, after a SYN of one byte.
        _flow_size = (packets - 1) * PACKET;
    }
    void receivePacket(Packet& packet) override {
        DCTCPSrc::receivePacket(packet);
        if (!done && _last_acked >= last) {
            done = true;
            finished++;
        }
    }

private:
    uint64_t last;
    bool done;
};

static uint64_t cpu_ns() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec);
}

static uint64_t spine_of(uint64_t flow, uint64_t spines) {
    uint64_t hash = (flow + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (hash >> 32) % spines;
}

EventList eventlist;

int main(int count, char** arguments) {
    if (count != 11) {
        fprintf(stderr, "expected 10 arguments, which this file's head lists\n");
        return 2;
    }
    uint64_t given[10];
    for (int i = 0; i < 10; i++) given[i] = strtoull(arguments[i + 1], NULL, 10);
    const uint64_t leaves = given[0], each = given[1], spines = given[2];
    const uint64_t limit = given[7], mark = given[8], min_rto = given[9];
    Packet::set_packet_size(PACKET);
    // htsim says what it does; nobody listens.
    cout.setstate(ios_base::failbit);

    auto host_link = [&]() { return Link(given[3], given[5], limit, mark, eventlist); };
    auto core_link = [&]() { return Link(given[4], given[6], limit, mark, eventlist); };
    // The queue of a NIC drops nothing.
    auto nic = [&]() { return Link(given[3], given[5], INT64_C(1) << 40, mark, eventlist); };
    std::vector<Link> up, down, leaf_up, leaf_down;
    for (uint64_t host = 0; host < leaves * each; host++) {
        up.push_back(nic());
        down.push_back(host_link());
    }
    for (uint64_t i = 0; i < leaves * spines; i++) {
        leaf_up.push_back(core_link());
        leaf_down.push_back(core_link());
    }

    auto way = [&](uint64_t from, uint64_t to, uint64_t spine) {
        Route* route = new Route();
        up[from].join(*route);
        if (from / each != to / each) {
            leaf_up[from / each * spines + spine].join(*route);
            leaf_down[to / each * spines + spine].join(*route);
        }
        down[to].join(*route);
        return route;
    };

    TcpRtxTimerScanner timers(min_rto, eventlist);
    uint64_t flows = 0;
    uint64_t start, from, to, packets;
    while (scanf("%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &start, &from, &to, &packets) == 4) {
        if (from >= leaves * each || to >= leaves * each || packets == 0) {
            fprintf(stderr, "flow %" PRIu64 " is none of this network\n", flows);
            return 2;
        }
        Sender* sender = new Sender(packets, eventlist);
        TcpSink* sink = new TcpSink();
        sender->_rto = min_rto;
        const uint64_t spine = spine_of(flows, spines);
        Route* there = way(from, to, spine);
        Route* back = way(to, from, spine);
        there->push_back(sink);
        back->push_back(sender);
        sender->connect(*there, *back, *sink, start);
        timers.registerTcp(*sender);
        flows++;
    }

    const uint64_t began = cpu_ns();
    while (finished < flows && EventList::doNextEvent()) {
    }
    const uint64_t ended = cpu_ns();
    if (finished < flows) {
        fprintf(stderr, "%" PRIu64 " of %" PRIu64 " flows never finished\n", flows - finished, flows);
        return 1;
    }
    printf("%" PRIu64 " %" PRIu64 "\n", packet_hops, ended - began);
    return 0;
}
