//! Flows that hold all links of their way while they are served, and nothing else: no packets, no delays.

/// A flow.
#[derive(Clone, Debug)]
pub(super) struct Job {
    /// When it begins.
    pub(super) release: f64,
    /// How long it takes.
    pub(super) work: f64,
    /// The ways that it may take, each a list of links.
    pub(super) ways: Vec<Vec<usize>>,
    /// The way on which it is put by policies that choose none.
    pub(super) hash: usize,
}

/// Who is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    /// Whoever has been let go, until it is complete; when links become free, the one with the least left is next.
    Wait,
    /// The one with the least left, then the next whose links are free, and so on, whoever was served before.
    Srpt,
    /// HyLine's: a flow takes the way with the fewest others to preempt, N, all of which have more left, if N times
    /// what it has left is less than the most that one of them has, on the way on which that is the smallest (section
    /// IV-C).
    Rule,
}

/// A flow on its way.
struct Flow {
    left: f64,
    /// The way on which it is served.
    on: Option<usize>,
    complete: Option<f64>,
}

/// When each flow is complete.
pub(super) fn completions(jobs: &[Job], policy: Policy) -> Vec<f64> {
    let mut flows: Vec<Flow> = jobs.iter().map(|job| Flow { left: job.work, on: None, complete: None }).collect();
    let mut arrivals: Vec<usize> = (0..jobs.len()).collect();
    arrivals.sort_by(|&a, &b| jobs[a].release.total_cmp(&jobs[b].release));
    let mut arrivals = arrivals.into_iter().peekable();
    let mut here: Vec<usize> = Vec::new();
    let mut now = 0.0;
    loop {
        let next = arrivals.peek().map(|&nth| jobs[nth].release);
        let served = || here.iter().copied().filter(|&nth| flows[nth].on.is_some());
        let first = served().min_by(|&a, &b| flows[a].left.total_cmp(&flows[b].left));
        let (at, done) = match (first.map(|nth| (now + flows[nth].left, nth)), next) {
            (Some((end, nth)), Some(next)) if end <= next => (end, Some(nth)),
            (_, Some(next)) => (next, None),
            (Some((end, nth)), None) => (end, Some(nth)),
            (None, None) => break,
        };
        for nth in served().collect::<Vec<_>>() {
            flows[nth].left -= at - now;
        }
        now = at;
        if let Some(nth) = done {
            flows[nth].on = None;
            flows[nth].complete = Some(now);
            here.retain(|&other| other != nth);
            serve(jobs, &mut flows, &here, policy, None);
        } else if let Some(nth) = arrivals.next() {
            here.push(nth);
            serve(jobs, &mut flows, &here, policy, Some(nth));
        }
    }
    flows.into_iter().map(|flow| flow.complete.unwrap_or(f64::INFINITY)).collect()
}

/// Decides who of those that are `here` is served, after one has come, or one is complete.
fn serve(jobs: &[Job], flows: &mut [Flow], here: &[usize], policy: Policy, came: Option<usize>) {
    let mut order: Vec<usize> = here.to_vec();
    order.sort_by(|&a, &b| flows[a].left.total_cmp(&flows[b].left).then(a.cmp(&b)));
    if policy == Policy::Srpt {
        here.iter().for_each(|&nth| flows[nth].on = None);
    }
    // A new flow is the first to be looked at by HyLine's manager.
    let new = came.into_iter().filter(|_| policy == Policy::Rule);
    for nth in new.chain(order) {
        if flows[nth].on.is_some() {
            continue;
        }
        let way = match policy {
            Policy::Rule => permit(jobs, flows, here, nth),
            Policy::Wait | Policy::Srpt => {
                let way = jobs[nth].hash % jobs[nth].ways.len();
                holders(jobs, flows, here, &jobs[nth].ways[way]).is_empty().then_some(way)
            }
        };
        flows[nth].on = way;
    }
}

/// The way on which HyLine's rule serves a flow, if it does: whoever is in the way is stopped.
fn permit(jobs: &[Job], flows: &mut [Flow], here: &[usize], nth: usize) -> Option<usize> {
    let left = flows[nth].left;
    let mut best: Option<(Vec<usize>, usize)> = None;
    let mut shortest_wait = f64::INFINITY;
    for (way, links) in jobs[nth].ways.iter().enumerate() {
        let victims = holders(jobs, flows, here, links);
        if victims.iter().any(|&victim| flows[victim].left <= left) {
            continue;
        }
        shortest_wait = shortest_wait.min(victims.iter().map(|&victim| flows[victim].left).fold(0.0, f64::max));
        if best.as_ref().is_none_or(|(fewest, _)| victims.len() < fewest.len()) {
            best = Some((victims, way));
        }
    }
    let (victims, way) = best?;
    if !victims.is_empty() && victims.len() as f64 * left >= shortest_wait {
        return None;
    }
    victims.into_iter().for_each(|victim| flows[victim].on = None);
    Some(way)
}

/// The flows that are served on one of these links.
fn holders(jobs: &[Job], flows: &[Flow], here: &[usize], links: &[usize]) -> Vec<usize> {
    let holds =
        |&nth: &usize| flows[nth].on.is_some_and(|way| jobs[nth].ways[way].iter().any(|link| links.contains(link)));
    here.iter().copied().filter(holds).collect()
}

#[cfg(test)]
mod tests {
    use tailcut_base::{Instant, Seeds, Span};
    use tailcut_workload::optimal;

    use super::*;

    /// On one link, shortest remaining first is that of one link.
    #[test]
    fn on_one_link_the_shortest_are_served_as_the_optimum_serves_them() {
        let mut draws = Seeds::new(3).stream("test", 0);
        for _ in 0..100 {
            let times: Vec<(u64, u64)> =
                (0..6).map(|_| (u64::from(draws.below(20)), 1 + u64::from(draws.below(9)))).collect();
            let jobs: Vec<Job> = times
                .iter()
                .map(|&(release, work)| Job {
                    release: release as f64,
                    work: work as f64,
                    ways: vec![vec![0]],
                    hash: 0,
                })
                .collect();
            let of_one_link: Vec<optimal::Job> = times
                .iter()
                .map(|&(release, work)| optimal::Job {
                    release: Instant::ZERO + Span::from_us(release),
                    work: Span::from_us(work),
                    deadline: None,
                })
                .collect();
            let sum = |times: Vec<f64>| times.iter().sum::<f64>();
            let best = optimal::srpt(&of_one_link).iter().map(|at| at.as_ps() as f64 / 1e6).collect();
            assert!((sum(completions(&jobs, Policy::Srpt)) - sum(best)).abs() < 1e-9, "{times:?}");
            // One link for all: to preempt one with more left is always worth it.
            assert!(sum(completions(&jobs, Policy::Rule)) <= sum(completions(&jobs, Policy::Wait)) + 1e-9, "{times:?}");
        }
    }

    #[test]
    fn the_rule_preempts_where_that_lowers_the_sum() {
        let held = |work, link| Job { release: 0.0, work, ways: vec![vec![link]], hash: 0 };
        let new = |work, ways: &[&[usize]]| Job {
            release: 1.0,
            work,
            ways: ways.iter().map(|way| way.to_vec()).collect(),
            hash: 0,
        };
        // Figure 1 a unit later: 2 x 3 is not less than 5, so that the new one waits.
        let jobs = [held(6.0, 0), held(5.0, 1), new(3.0, &[&[0, 1]])];
        assert_eq!(completions(&jobs, Policy::Rule), [6.0, 5.0, 9.0]);
        // 2 x 2 is less than 5.
        let jobs = [held(6.0, 0), held(5.0, 1), new(2.0, &[&[0, 1]])];
        assert_eq!(completions(&jobs, Policy::Rule), [8.0, 7.0, 3.0]);
        // A way that is free needs nobody's place, and one with a smaller flow is closed.
        let jobs = [held(6.0, 0), held(2.0, 1), new(3.0, &[&[0], &[1], &[2]])];
        assert_eq!(completions(&jobs, Policy::Rule), [6.0, 2.0, 4.0]);
        let jobs = [held(6.0, 0), held(3.5, 1), new(3.0, &[&[0, 1], &[1]])];
        assert_eq!(completions(&jobs, Policy::Rule), [6.0, 3.5, 6.5], "the second flow has 2.5 left");
    }
}
