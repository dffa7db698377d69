// Runs one case in ns-3, with what ns-3 brings: its TCP, its IP, its devices and its event loop.
//
//   driver < case > result
//
// A case is lines of words: what the hosts and ports do, the nodes, the links, the ways, the flows. `cargo xtask
// compare-ns3` writes it from the scenario that tailcut runs, so that both have the same network, flows and paths.
//
// What is ours here, and why:
// - PortQueue, the queue of a device: ns-3's own switch queue is a queue disc above a device that holds packets too, so
//   that its limit and threshold are a packet off. This one is the whole port: the packet on the wire is not in it.
// - Ways, the routing: ns-3's ECMP hashes other bytes than tailcut's, and two hashes put different flows together.
// - Counting*, the congestion control of ns-3 with a count of timeouts.
// Links are SimpleNetDevice in point-to-point mode: store and forward without the two bytes of PPP.

#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace ns3;

namespace
{

/// What a case says of hosts and ports.
struct Settings
{
    std::string congestion;    // newreno or dctcp
    uint32_t initialWindow{0}; // packets
    int64_t minRto{0};         // ps
    uint64_t limit{0};         // bytes that may wait in a switch port
    uint64_t mark{0};          // a longer queue marks; 0: none does
    uint32_t nicMark{0};       // packets, for the queue of a NIC
    int64_t drain{0};          // ps after the last start, in which flows may finish
};

struct Flow
{
    int64_t start; // ps
    uint32_t src;
    uint32_t dst;
    uint32_t size;
    uint32_t forward;  // number of the way of its data
    uint32_t backward; // and of its ACKs
    uint32_t received{0};
    int64_t fct{-1};
    Ptr<Socket> socket;
};

/// Counted over all ports and flows once the first flow has started.
struct Counts
{
    uint64_t dataPackets{0}; // that left their hosts, retransmissions included
    uint64_t dataDrops{0};
    uint64_t ackDrops{0};
    uint64_t dataMarks{0};
    uint64_t ackMarks{0};
    uint64_t timeouts{0};
    uint64_t hops{0};
};

Settings g_settings;
std::vector<Flow> g_flows;
Counts g_counts;
uint32_t g_unfinished = 0;
double g_cpuAtStart = 0;
bool g_counting = false;

/// Handshakes are over long before the first flow starts, and take nothing from it.
const int64_t ORIGIN_PS = 1'000'000'000'000;
const int64_t HANDSHAKE_GAP_PS = 20'000'000;
/// A flow is known by the port of its sender.
const uint16_t FIRST_PORT = 1024;
const uint16_t LISTENER = 9;

double
CpuSeconds()
{
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    auto seconds = [](timeval t) { return t.tv_sec + 1e-6 * t.tv_usec; };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Bytes of TCP payload. The headers are read as bytes: taking them off and putting them back would cost ns-3 more than
/// all else that a queue does.
uint32_t
Payload(Ptr<const Packet> packet)
{
    uint8_t bytes[33];
    packet->CopyData(bytes, sizeof(bytes));
    return packet->GetSize() - 20 - 4 * (bytes[32] >> 4);
}

/// An output port of a switch, or a NIC.
class PortQueue : public Queue<Packet>
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("tailcut::PortQueue").SetParent<Queue<Packet>>().AddConstructor<PortQueue>();
        return tid;
    }

    /// A NIC takes whole windows, counts in packets, and sends ACKs before the data that waits, as tailcut's does.
    void BecomeNic()
    {
        m_nic = true;
        SetMaxSize(QueueSize(QueueSizeUnit::BYTES, std::numeric_limits<uint32_t>::max()));
    }

    bool Enqueue(Ptr<Packet> packet) override
    {
        uint32_t payload = Payload(packet);
        if (m_nic)
        {
            if (payload > 0)
            {
                g_counts.dataPackets += g_counting;
                if (g_settings.nicMark > 0 && GetNPackets() - m_acks + 1 > g_settings.nicMark)
                {
                    SetCe(packet);
                }
                return DoEnqueue(GetContainer().end(), packet);
            }
            auto behindAcks = GetContainer().begin();
            std::advance(behindAcks, m_acks);
            m_acks++;
            return DoEnqueue(behindAcks, packet);
        }
        // As tailcut: a packet that is dropped is not marked; one that is taken is if the queue with it is too long.
        uint32_t bytes = GetNBytes() + packet->GetSize();
        if (g_settings.mark > 0 && bytes > g_settings.mark && bytes <= g_settings.limit && SetCe(packet))
        {
            (payload > 0 ? g_counts.dataMarks : g_counts.ackMarks)++;
        }
        if (!DoEnqueue(GetContainer().end(), packet))
        {
            (payload > 0 ? g_counts.dataDrops : g_counts.ackDrops)++;
            return false;
        }
        return true;
    }

    Ptr<Packet> Dequeue() override
    {
        m_acks -= m_acks > 0;
        g_counts.hops += g_counting;
        return DoDequeue(GetContainer().begin());
    }

    Ptr<Packet> Remove() override
    {
        return DoRemove(GetContainer().begin());
    }

    Ptr<const Packet> Peek() const override
    {
        return DoPeek(GetContainer().begin());
    }

  private:
    /// Whether the packet was ECN-capable.
    static bool SetCe(Ptr<Packet> packet)
    {
        Ipv4Header header;
        packet->RemoveHeader(header);
        bool isCapable = header.GetEcn() != Ipv4Header::ECN_NotECT;
        if (isCapable)
        {
            header.SetEcn(Ipv4Header::ECN_CE);
        }
        packet->AddHeader(header);
        return isCapable;
    }

    bool m_nic{false};
    uint32_t m_acks{0}; // at the front
};

/// A host's address says which way leads to it, and which way leads back: 10.(way * 16 + way back).(host).
Ipv4Address
AddressOf(uint32_t host, uint32_t forward, uint32_t backward)
{
    return Ipv4Address(10u << 24 | (forward << 4 | backward) << 16 | (host + 1));
}

uint32_t
HostOf(Ipv4Address address)
{
    return (address.Get() & 0xffff) - 1;
}

uint32_t
ForwardOf(Ipv4Address address)
{
    return address.Get() >> 20 & 15;
}

uint32_t
BackwardOf(Ipv4Address address)
{
    return address.Get() >> 16 & 15;
}

/// Routing by a table that the case gives: for each host the ports that lead to it, one for each way.
class Ways : public Ipv4RoutingProtocol
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("tailcut::Ways").SetParent<Ipv4RoutingProtocol>().AddConstructor<Ways>();
        return tid;
    }

    /// For a host: its number, its device, and nothing else.
    void AttachHost(uint32_t host, Ptr<NetDevice> device)
    {
        m_host = host;
        m_isHost = true;
        m_nic = device;
    }

    void Add(uint32_t host, std::vector<Ptr<Ipv4Route>> ways)
    {
        m_table.resize(std::max<size_t>(m_table.size(), host + 1));
        m_table[host] = std::move(ways);
    }

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet>, const Ipv4Header& header, Ptr<NetDevice>, Socket::SocketErrno& error) override
    {
        Ipv4Address to = header.GetDestination();
        auto route = Create<Ipv4Route>();
        route->SetDestination(to);
        // What comes back takes the way back.
        route->SetSource(AddressOf(m_host, BackwardOf(to), ForwardOf(to)));
        route->SetGateway(Ipv4Address::GetZero());
        route->SetOutputDevice(m_nic);
        error = Socket::ERROR_NOTERROR;
        return route;
    }

    bool RouteInput(Ptr<const Packet> packet,
                    const Ipv4Header& header,
                    Ptr<const NetDevice> device,
                    UnicastForwardCallback forward,
                    MulticastForwardCallback,
                    LocalDeliverCallback deliver,
                    ErrorCallback) override
    {
        if (m_isHost)
        {
            deliver(packet, header, m_ipv4->GetInterfaceForDevice(device));
            return true;
        }
        const auto& ways = m_table[HostOf(header.GetDestination())];
        forward(ways[ways.size() > 1 ? ForwardOf(header.GetDestination()) : 0], packet, header);
        return true;
    }

    void NotifyInterfaceUp(uint32_t) override
    {
    }

    void NotifyInterfaceDown(uint32_t) override
    {
    }

    void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override
    {
    }

    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override
    {
    }

    void SetIpv4(Ptr<Ipv4> ipv4) override
    {
        m_ipv4 = ipv4;
    }

    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override
    {
    }

  private:
    Ptr<Ipv4> m_ipv4;
    Ptr<NetDevice> m_nic;
    uint32_t m_host{0};
    bool m_isHost{false};
    std::vector<std::vector<Ptr<Ipv4Route>>> m_table;
};

/// A congestion control of ns-3 that counts timeouts: TcpSocketBase::ReTxTimeout tells it of each.
template <typename Base>
class Counting : public Base
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("tailcut::Counting" + Base::GetTypeId().GetName().substr(5))
                                .template SetParent<Base>()
                                .template AddConstructor<Counting<Base>>();
        return tid;
    }

    void CwndEvent(Ptr<TcpSocketState> state, const TcpSocketState::TcpCAEvent_t event) override
    {
        g_counts.timeouts += event == TcpSocketState::CA_EVENT_LOSS;
        Base::CwndEvent(state, event);
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<Counting<Base>>(this);
    }
};

/// Values that a user would set in a datacenter, and nothing that tunes: RFC 6675 recovery, every segment acknowledged,
/// no timestamps (12 bytes in each packet), no limit by buffers, and a timeout as short as tailcut's.
void
SetDefaults()
{
    bool isDctcp = g_settings.congestion == "dctcp";
    TypeId congestion = isDctcp ? Counting<TcpDctcp>::GetTypeId() : Counting<TcpNewReno>::GetTypeId();
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(congestion));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(g_settings.initialWindow));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::TcpNoDelay", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1u << 30));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1u << 30));
    // Six timeouts in a row would end the connection, and the flow would never finish.
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(PicoSeconds(g_settings.minRto)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(NanoSeconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", EnumValue(isDctcp ? TcpSocketState::On : TcpSocketState::Off));
}

/// One end of a link, with its own queue.
Ptr<SimpleNetDevice>
AddDevice(Ptr<Node> node, bool isHost, uint64_t bps)
{
    auto queue = CreateObject<PortQueue>();
    queue->SetMaxSize(QueueSize(QueueSizeUnit::BYTES, static_cast<uint32_t>(g_settings.limit)));
    if (isHost)
    {
        queue->BecomeNic();
    }
    auto device = CreateObject<SimpleNetDevice>();
    device->SetAttribute("PointToPointMode", BooleanValue(true));
    device->SetAttribute("DataRate", DataRateValue(DataRate(bps)));
    device->SetAddress(Mac48Address::Allocate());
    device->SetQueue(queue);
    node->AddDevice(device);
    return device;
}

uint32_t
AddInterface(Ptr<Node> node, Ptr<NetDevice> device)
{
    auto ipv4 = node->GetObject<Ipv4>();
    uint32_t interface = ipv4->AddInterface(device);
    ipv4->SetForwarding(interface, true);
    return interface;
}

void
Receive(Ptr<Socket> socket)
{
    Address peer;
    socket->GetPeerName(peer);
    Flow& flow = g_flows[InetSocketAddress::ConvertFrom(peer).GetPort() - FIRST_PORT];
    while (Ptr<Packet> packet = socket->Recv())
    {
        flow.received += packet->GetSize();
    }
    if (flow.received == flow.size)
    {
        // As in tailcut: from the moment at which the application hands the flow over to its last byte at the receiver.
        flow.fct = Simulator::Now().GetPicoSeconds() - ORIGIN_PS - flow.start;
        if (--g_unfinished == 0)
        {
            Simulator::Stop(PicoSeconds(1));
        }
    }
}

void
Accept(Ptr<Socket> socket, const Address&)
{
    socket->SetRecvCallback(MakeCallback(&Receive));
}

void
ConnectFlow(uint32_t number)
{
    Flow& flow = g_flows[number];
    flow.socket->Bind(InetSocketAddress(AddressOf(flow.src, flow.backward, flow.forward), FIRST_PORT + number));
    flow.socket->Connect(InetSocketAddress(AddressOf(flow.dst, flow.forward, flow.backward), LISTENER));
}

void
StartFlow(uint32_t number)
{
    Flow& flow = g_flows[number];
    int sent = flow.socket->Send(Create<Packet>(flow.size));
    NS_ABORT_MSG_IF(sent != static_cast<int>(flow.size), "flow " << number << " is not connected");
}

void
StartCounting()
{
    g_counting = true;
    g_cpuAtStart = CpuSeconds();
}

/// Reads the case and builds all of it.
void
Build()
{
    uint32_t hosts = 0;
    uint32_t ways = 1;
    std::vector<Ptr<Node>> nodes;
    // The interface of a node toward a neighbour.
    std::map<std::pair<uint32_t, uint32_t>, Ptr<SimpleNetDevice>> toward;
    std::string word;
    while (std::cin >> word)
    {
        if (word == "settings")
        {
            Settings& s = g_settings;
            std::cin >> s.congestion >> s.initialWindow >> s.minRto >> s.limit >> s.mark >> s.nicMark >> s.drain;
            SetDefaults();
        }
        else if (word == "nodes")
        {
            uint32_t count;
            std::cin >> hosts >> count >> ways;
            InternetStackHelper stack;
            stack.SetIpv6StackInstall(false);
            for (uint32_t n = 0; n < count; n++)
            {
                nodes.push_back(CreateObject<Node>());
                stack.Install(nodes[n]);
                nodes[n]->GetObject<Ipv4>()->SetRoutingProtocol(CreateObject<Ways>());
            }
        }
        else if (word == "link")
        {
            uint32_t a;
            uint32_t b;
            uint64_t bps;
            int64_t delay;
            std::cin >> a >> b >> bps >> delay;
            auto channel = CreateObject<SimpleChannel>();
            channel->SetAttribute("Delay", TimeValue(PicoSeconds(delay)));
            for (auto [at, peer] : {std::pair{a, b}, std::pair{b, a}})
            {
                auto device = AddDevice(nodes[at], at < hosts, bps);
                device->SetChannel(channel);
                toward[{at, peer}] = device;
                uint32_t interface = AddInterface(nodes[at], device);
                auto ipv4 = nodes[at]->GetObject<Ipv4>();
                if (at < hosts)
                {
                    for (uint32_t way = 0; way < ways * ways; way++)
                    {
                        Ipv4Address address = AddressOf(at, way / ways, way % ways);
                        ipv4->AddAddress(interface, Ipv4InterfaceAddress(address, Ipv4Mask::GetOnes()));
                    }
                    DynamicCast<Ways>(ipv4->GetRoutingProtocol())->AttachHost(at, device);
                }
                else
                {
                    // A switch answers to no host's address.
                    Ipv4Address own(192u << 24 | 168 << 16 | static_cast<uint32_t>(toward.size()));
                    ipv4->AddAddress(interface, Ipv4InterfaceAddress(own, Ipv4Mask::GetOnes()));
                }
                ipv4->SetUp(interface);
            }
        }
        else if (word == "way")
        {
            uint32_t at;
            uint32_t host;
            uint32_t count;
            std::cin >> at >> host >> count;
            std::vector<Ptr<Ipv4Route>> routes;
            for (uint32_t n = 0; n < count; n++)
            {
                uint32_t next;
                std::cin >> next;
                auto route = Create<Ipv4Route>();
                route->SetGateway(Ipv4Address::GetZero());
                route->SetOutputDevice(toward.at({at, next}));
                routes.push_back(route);
            }
            DynamicCast<Ways>(nodes[at]->GetObject<Ipv4>()->GetRoutingProtocol())->Add(host, routes);
        }
        else if (word == "flow")
        {
            Flow flow;
            std::cin >> flow.start >> flow.src >> flow.dst >> flow.size >> flow.forward >> flow.backward;
            flow.socket = Socket::CreateSocket(nodes[flow.src], TcpSocketFactory::GetTypeId());
            g_flows.push_back(flow);
        }
        NS_ABORT_MSG_IF(!std::cin, "the case ends within a line that begins with `" << word << "`");
    }
    for (uint32_t host = 0; host < hosts; host++)
    {
        auto listener = Socket::CreateSocket(nodes[host], TcpSocketFactory::GetTypeId());
        listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), LISTENER));
        listener->Listen();
        listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(), MakeCallback(&Accept));
    }
}

} // namespace

int
main()
{
    Time::SetResolution(Time::PS);
    Build();
    NS_ABORT_MSG_IF(g_flows.empty(), "the case has no flow");
    NS_ABORT_MSG_IF(g_flows.size() > 60'000, "the case has more flows than there are ports");
    NS_ABORT_MSG_IF(HANDSHAKE_GAP_PS * (g_flows.size() + 1) > ORIGIN_PS, "there is no time for all handshakes");
    g_unfinished = g_flows.size();
    for (uint32_t number = 0; number < g_flows.size(); number++)
    {
        Simulator::Schedule(PicoSeconds(HANDSHAKE_GAP_PS * (number + 1)), &ConnectFlow, number);
        Simulator::Schedule(PicoSeconds(ORIGIN_PS + g_flows[number].start), &StartFlow, number);
    }
    Simulator::Schedule(PicoSeconds(ORIGIN_PS + g_flows.front().start - 1), &StartCounting);
    Simulator::Stop(PicoSeconds(ORIGIN_PS + g_flows.back().start + g_settings.drain));
    Simulator::Run();
    double cpu = CpuSeconds() - g_cpuAtStart;

    for (const Flow& flow : g_flows)
    {
        std::printf("fct %lld\n", static_cast<long long>(flow.fct));
    }
    const Counts& c = g_counts;
    for (auto [name, value] : {std::pair{"data_packets", c.dataPackets},
                               {"drops", c.dataDrops},
                               {"ack_drops", c.ackDrops},
                               {"marks", c.dataMarks},
                               {"ack_marks", c.ackMarks},
                               {"timeouts", c.timeouts},
                               {"packet_hops", c.hops}})
    {
        std::printf("%s %llu\n", name, static_cast<unsigned long long>(value));
    }
    std::printf("cpu_seconds %.6f\n", cpu);
    return 0;
}
