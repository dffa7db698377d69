//! The placement against examples that were computed by hand, its invariants, and the fewest links there can be.

use proptest::prelude::*;
use tailcut_placement::{
    Application, Attachment, FullBuffer, IncastServer, Knapsack, LeafResidual, LeafSenders, Mode, Parameters,
    Placement, Server, Sizing, Spine, attach, optimum, place, ways,
};

const RACK: u32 = 50;
const HOSTS: u32 = 400;

fn racks() -> Vec<u32> {
    (0..HOSTS).map(|host| host / RACK).collect()
}

fn servers() -> Vec<Server> {
    (0..HOSTS).map(|host| Server { host, rack: host / RACK }).collect()
}

fn application(host: u32, degree: f64, size: f64) -> Application {
    Application { name: format!("a{host}"), host, degree, size, workers: Vec::new(), is_fixed: false }
}

fn sizing(buffer: f64, theta: f64) -> Sizing {
    Sizing { alpha: 0.8, leaf_buffer: buffer, spine_buffer: buffer, theta }
}

fn with_beta(beta: f64) -> Parameters {
    Parameters { beta: Some(beta), ..Parameters::default() }
}

fn placed(applications: &[Application], sizing: &Sizing, parameters: &Parameters) -> Placement {
    place(applications, &servers(), &racks(), sizing, parameters)
}

fn one(degree: f64, size: f64, sizing: &Sizing, parameters: &Parameters) -> IncastServer {
    placed(&[application(0, degree, size)], sizing, parameters).servers.remove(0)
}

fn value(server: &IncastServer, equation: &str) -> f64 {
    server.trace.iter().find(|step| step.equation == equation).unwrap_or_else(|| panic!("({equation})")).value
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

/// alpha 0.8, six senders of 1500 B of which two are local, and 2000 B in each port: 0.8 x 2 x 1500 = 2400 B overflow;
/// one sender fits beside the leaf, and five need 6000 B, three whole links.
#[test]
fn local_senders_that_overflow_leave_all_but_one_to_three_links() {
    let found = one(6.0, 1500.0, &sizing(2000.0, 1.0), &with_beta(1.0 / 3.0));
    close(value(&found, "3.2"), 1.2);
    close(value(&found, "3.3"), 2000.0 / 1200.0);
    close(value(&found, "3.4"), 1.0 / 6.0);
    close(value(&found, "3.5"), 3.0);
    assert_eq!((found.links, found.applications[0].at_leaf, found.spine_residual), (3, 1.0, 0.0));
}

/// 96 senders of 1500 B need 115,200 B of 240 KB: no link, and 124,800 B are left, in which 104 senders fit.
#[test]
fn the_numbers_of_the_simulations_need_no_link() {
    let found = one(96.0, 1500.0, &sizing(240e3, 4.0), &with_beta(0.13));
    close(value(&found, "3.2"), 0.0624);
    close(value(&found, "3.7"), 225_024.0);
    close(value(&found, "3.8"), 100_224.0 / 225_024.0);
    assert_eq!(found.links, 0);
    close(found.leaf_residual, 124_800.0);
    for (degree, together) in [(104.0, 1), (105.0, 2)] {
        // The larger one goes first, and 96 senders fit beside it just as well.
        let both = [application(0, degree, 1500.0), application(1, 96.0, 1500.0)];
        assert_eq!(placed(&both, &sizing(240e3, 4.0), &with_beta(0.13)).servers.len(), together, "{degree}");
    }
    // Links begin above 200 senders.
    let links = |degree| one(degree, 1500.0, &sizing(240e3, 4.0), &with_beta(0.13)).links;
    assert_eq!([links(200.0), links(201.0)], [0, 1]);
}

/// L = 1.2 gives two links, and 80 % of the second one's buffer is left (section 3.4.1.1); with twice the buffer at the
/// spine L is half of it.
#[test]
fn what_is_left_of_the_last_link_is_for_others() {
    // 10 fit at the leaf; 12 over it need 1.2 ports.
    let size = 100.0 / 0.8;
    let buffers = |spine_buffer| Sizing { alpha: 0.8, leaf_buffer: 1000.0, spine_buffer, theta: 1.0 };
    let found = one(22.0, size, &buffers(1000.0), &with_beta(0.0));
    close(found.load, 1.2);
    assert_eq!(found.links, 2);
    close(found.spine_residual, 800.0);
    close(one(22.0, size, &buffers(2000.0), &with_beta(0.0)).load, 0.6);
    // Seven more senders fit; eight fill what is left, which is not "less than one".
    for (degree, knapsack, together) in
        [(7.0, Knapsack::Below, 1), (8.0, Knapsack::Below, 2), (8.0, Knapsack::UpToOne, 1), (9.0, Knapsack::UpToOne, 2)]
    {
        let both = [application(0, 22.0, size), application(1, degree, size)];
        let parameters = Parameters { knapsack, ..with_beta(0.0) };
        assert_eq!(placed(&both, &buffers(1000.0), &parameters).servers.len(), together, "{degree} {knapsack:?}");
    }
}

/// The testbed's claim (sections 4.4.3.5 and 4.4.3.6): degrees 9, 3 and 3 on one server, 4 KB, 10 KB queues. Three
/// senders stay at the leaf, six need 1.92 links, and 800 B are left where 9600 are needed.
#[test]
fn the_applications_of_the_testbed_do_not_go_on_one_server() {
    let applications = [9.0, 3.0, 3.0].map(|degree| application(0, degree, 4000.0));
    let found = placed(&applications, &sizing(10e3, 1.0), &with_beta(0.0));
    close(found.servers[0].load, 1.92);
    assert_eq!(found.servers[0].links, 2);
    close(found.servers[0].spine_residual, 800.0);
    let on: Vec<usize> = found.servers.iter().map(|server| server.applications.len()).collect();
    assert_eq!(on, [1, 1, 1]);
}

#[test]
fn readings_change_what_they_say() {
    let base = sizing(240e3, 4.0);
    let two = [application(0, 96.0, 1500.0), application(1, 96.0, 1500.0)];
    let servers = |parameters: &Parameters| placed(&two, &base, parameters).servers.len();
    assert_eq!(servers(&with_beta(0.13)), 1);
    let printed = Parameters { leaf_residual: LeafResidual::AsPrinted, ..with_beta(0.13) };
    assert_eq!(servers(&printed), 2, "less than one byte is left");
    close(one(96.0, 1500.0, &base, &printed).leaf_residual, 1.0 - 100_224.0 / 225_024.0);
    // 200 senders fill the buffer to the byte.
    let full = |full_buffer| {
        let parameters = Parameters { full_buffer, ..with_beta(0.0) };
        let found = one(200.0, 1500.0, &base, &parameters);
        (found.links, found.trace.len())
    };
    assert_eq!((full(FullBuffer::Fits), full(FullBuffer::Overflows)), ((0, 4), (0, 7)));
    // N = 62.5: half a sender more at the leaf.
    let exact =
        |leaf_senders| one(100.0, 4000.0, &sizing(200e3, 1.0), &Parameters { leaf_senders, ..with_beta(0.0) }).load;
    close(exact(LeafSenders::Floor), 38.0 * 3200.0 / 200e3);
    close(exact(LeafSenders::Exact), 37.5 * 3200.0 / 200e3);
}

/// Section 3.4.1, Fig. 9: two of six senders are in the rack. Counted in the rack of the server that is looked at.
#[test]
fn the_local_share_is_that_of_the_server() {
    let workers = vec![3, 7, 60, 61, 120, 130];
    let figure = Application { workers, is_fixed: true, ..application(200, 6.0, 1500.0) };
    let found = placed(std::slice::from_ref(&figure), &sizing(240e3, 4.0), &Parameters::default());
    close(found.servers[0].applications[0].beta, 1.0 / 3.0);
    // A worker on the server changes places with the application.
    let moved = Application { workers: vec![0, 7, 60, 61, 120, 130], ..figure };
    assert_eq!(moved.workers_on(0), [200, 7, 60, 61, 120, 130]);
    let found = placed(&[moved], &sizing(240e3, 4.0), &Parameters::default());
    close(found.servers[0].applications[0].beta, 1.0 / 6.0);
}

/// Three senders fit at the leaf. With one or two local ones the others come from other racks by their number; with
/// four, one of them takes the extra links.
#[test]
fn local_senders_use_the_leaf_before_others_do() {
    // N = 3.
    let sizing = Sizing { alpha: 1.0, leaf_buffer: 3000.0, spine_buffer: 3000.0, theta: 1.0 };
    let found = |workers: Vec<u32>| {
        let degree = workers.len() as f64;
        let all = [Application { workers, is_fixed: true, ..application(300, degree, 1000.0) }];
        let placement = placed(&all, &sizing, &Parameters::default());
        let ways = ways(&placement, &all, &racks()).remove(0);
        (ways.extra, ways.leaf)
    };
    assert_eq!(found(vec![220, 110, 5, 60, 70]), (vec![], vec![60, 70]));
    assert_eq!(found(vec![9, 5, 60, 7, 3]), (vec![9], vec![]));
    // All fit: nothing needs a route.
    assert_eq!(found(vec![220, 110, 60]), (vec![], vec![]));
}

#[test]
fn a_host_that_answers_two_applications_follows_the_first() {
    // N = 2; the second application has room in what two links have left: its senders all use them.
    let sizing = Sizing { alpha: 1.0, leaf_buffer: 2000.0, spine_buffer: 3000.0, theta: 1.0 };
    let of = |host, workers: Vec<u32>| Application {
        degree: workers.len() as f64,
        workers,
        is_fixed: true,
        ..application(host, 0.0, 1000.0)
    };
    let all = [of(300, vec![1, 2, 60, 61, 62, 63]), of(301, vec![1])];
    let placement = placed(&all, &sizing, &Parameters::default());
    assert_eq!((placement.servers.len(), placement.servers[0].links), (1, 2));
    let ways = ways(&placement, &all, &racks()).remove(0);
    assert_eq!((ways.extra, ways.leaf, ways.shared), (vec![], vec![], vec![1]));
}

fn spine(name: usize, free: u32) -> Spine {
    Spine { name: format!("spine{name}"), free }
}

#[test]
fn links_go_to_the_nearest_spine_with_ports_for_all_of_them() {
    let server = |host, links| IncastServer {
        server: Server { host, rack: 0 },
        applications: Vec::new(),
        load: 0.0,
        links,
        leaf_residual: 0.0,
        spine_residual: 0.0,
        trace: Vec::new(),
    };
    let placement = Placement {
        servers: vec![server(0, 2), server(1, 3), server(2, 1), server(3, 0), server(4, 4)],
        unplaced: vec![],
    };
    let mut spines = vec![spine(0, 3), spine(1, 3)];
    let found = attach(&placement, Mode::Heuristic, &mut spines, |at| spine(at, 4)).unwrap();
    let at = |host, spine, links| Attachment { host, spine, links };
    assert_eq!(found, [at(0, 0, 2), at(1, 1, 3), at(2, 0, 1), at(4, 2, 4)]);
    assert_eq!(spines, [spine(0, 0), spine(1, 0), spine(2, 0)]);
    let too_many = Placement { servers: vec![server(0, 5)], unplaced: vec![] };
    let error = attach(&too_many, Mode::Heuristic, &mut spines, |at| spine(at, 4)).unwrap_err();
    assert_eq!((error.host, error.links), (0, 5));
}

#[test]
fn modes_in_place_move_nothing() {
    let all = [application(20, 60.0, 4000.0), application(7, 50.0, 4000.0), application(20, 70.0, 4000.0)];
    for (mode, links) in [(Mode::One, 1), (Mode::AsCoded, 3)] {
        let parameters = Parameters { mode, ..Parameters::default() };
        let found = placed(&all, &sizing(240e3, 4.0), &parameters);
        let hosts: Vec<(u32, u32, usize)> =
            found.servers.iter().map(|on| (on.server.host, on.links, on.applications.len())).collect();
        assert_eq!(hosts, [(7, links, 1), (20, links, 2)]);
        let mut spines: Vec<Spine> = (0..4).map(|at| spine(at, 9)).collect();
        let attached = attach(&found, mode, &mut spines, |at| spine(at, 9)).unwrap();
        let of_20: Vec<(usize, u32)> = attached.iter().filter(|a| a.host == 20).map(|a| (a.spine, a.links)).collect();
        let expected = if mode == Mode::One { vec![(0, 1)] } else { vec![(0, 1), (1, 1), (2, 1)] };
        assert_eq!(of_20, expected, "{mode:?}");
    }
}

/// Applications of random degrees with answers of random sizes.
fn any_applications() -> impl Strategy<Value = Vec<Application>> {
    let one = (1u32..150, prop_oneof![Just(1500.0), Just(4000.0), 500.0..20e3f64]);
    prop::collection::vec(one, 1..12).prop_map(|all| {
        let host = |(host, (degree, size)): (u32, (u32, f64))| application(host, f64::from(degree), size);
        (0..).zip(all).map(host).collect()
    })
}

fn any_parameters() -> impl Strategy<Value = Parameters> {
    (0.0..=1.0f64, any::<[bool; 3]>()).prop_map(|(beta, [a, b, c])| Parameters {
        leaf_senders: if a { LeafSenders::Floor } else { LeafSenders::Exact },
        full_buffer: if b { FullBuffer::Fits } else { FullBuffer::Overflows },
        knapsack: if c { Knapsack::Below } else { Knapsack::UpToOne },
        ..with_beta(beta)
    })
}

fn any_sizing() -> impl Strategy<Value = Sizing> {
    (0.5..1.0f64, 10e3..400e3f64, 10e3..400e3f64, 1.0..5.0f64)
        .prop_map(|(alpha, leaf_buffer, spine_buffer, theta)| Sizing { alpha, leaf_buffer, spine_buffer, theta })
}

proptest! {
    /// What is sent at the same time never exceeds what the ports to a server hold, and every application is somewhere.
    #[test]
    fn no_port_holds_more_than_it_can(all in any_applications(), sizing in any_sizing(), parameters in any_parameters()) {
        let found = placed(&all, &sizing, &parameters);
        let mut seen = vec![0; all.len()];
        for on in &found.servers {
            let (mut leaf, mut spine) = (0.0, 0.0);
            for placed in &on.applications {
                seen[placed.application] += 1;
                let of = &all[placed.application];
                let senders = placed.at_leaf.min(of.degree);
                leaf += sizing.alpha * senders * of.size;
                spine += sizing.alpha * (of.degree - senders) * of.size;
            }
            let room = f64::from(on.links) * sizing.theta * sizing.spine_buffer;
            prop_assert!(leaf <= sizing.leaf_buffer * (1.0 + 1e-9), "{leaf} B at the leaf");
            prop_assert!(spine <= room * (1.0 + 1e-9), "{spine} B over {room} B");
            prop_assert!(on.links == 0 || spine > room - sizing.theta * sizing.spine_buffer * (1.0 + 1e-9), "a link too many");
        }
        prop_assert!(found.unplaced.is_empty() && seen.iter().all(|&times| times == 1), "{seen:?}");
    }

    /// More senders, larger answers and smaller buffers of one application never need fewer links.
    #[test]
    fn links_grow_with_degree_and_size_and_shrink_with_buffers(
        degree in 1u32..300, more in 0u32..50, size in 200.0..20e3f64, larger in 1.0..3.0f64, buffer in 5e3..400e3f64,
        theta in 1.0..5.0f64, beta in 0.0..=1.0f64,
    ) {
        let links = |degree: u32, size: f64, buffer: f64| {
            one(f64::from(degree), size, &sizing(buffer, theta), &with_beta(beta)).links
        };
        let base = links(degree, size, buffer);
        prop_assert!(links(degree + more, size, buffer) >= base);
        prop_assert!(links(degree, size * larger, buffer) >= base);
        prop_assert!(links(degree, size, buffer * larger) <= base);
    }

    /// Both cases of section 3.4.1 come to the same number of senders at the leaf: beta says which of them these are,
    /// and never how many links there are.
    #[test]
    fn the_local_share_changes_no_link(all in any_applications(), sizing in any_sizing(), a in 0.0..=1.0f64, b in 0.0..=1.0f64) {
        let links = |beta| -> Vec<(u32, usize)> {
            placed(&all, &sizing, &with_beta(beta)).servers.iter().map(|on| (on.links, on.applications.len())).collect()
        };
        prop_assert_eq!(links(a), links(b));
    }

    /// The fewest links are found by trying every partition, and no placement of the heuristic has fewer.
    #[test]
    fn the_optimum_is_the_best_of_all_partitions(
        degrees in prop::collection::vec(1u32..150, 1..7), size in 500.0..20e3f64, sizing in any_sizing(),
    ) {
        let exact: Vec<f64> = degrees.iter().map(|&degree| f64::from(degree)).collect();
        let best = optimum(&exact, size, &sizing).unwrap();
        // One group after the other: links of a group from scratch, in whole senders.
        let links = |senders: u32| -> u32 {
            let most = sizing.leaf_buffer / (sizing.alpha * size);
            let over = sizing.alpha * size * (f64::from(senders) - most.floor()).max(0.0);
            if f64::from(senders) <= most { 0 } else { (over / (sizing.theta * sizing.spine_buffer) - 1e-9).ceil() as u32 }
        };
        let mut fewest = (u32::MAX, u32::MAX);
        let mut groups = vec![0usize; degrees.len()];
        loop {
            let mut sums = vec![0; degrees.len()];
            groups.iter().zip(&degrees).for_each(|(&group, &degree)| sums[group] += degree);
            let used: Vec<u32> = sums.into_iter().filter(|&sum| sum > 0).collect();
            fewest = fewest.min((used.iter().map(|&sum| links(sum)).sum(), used.len() as u32));
            let Some(at) = groups.iter().rposition(|&group| group + 1 < degrees.len()) else { break };
            groups[at] += 1;
            groups[at + 1..].iter_mut().for_each(|group| *group = 0);
        }
        prop_assert_eq!((best.links, best.servers), fewest);
        let counted: u32 = best.groups.iter().map(|group| links(group.iter().map(|&at| degrees[at]).sum())).sum();
        prop_assert_eq!(counted, best.links);
        let all: Vec<Application> = (0..).zip(&exact).map(|(host, &degree)| application(host, degree, size)).collect();
        prop_assert!(placed(&all, &sizing, &with_beta(0.0)).links() >= best.links);
    }
}
