//! What is best on one link that knows everything: the references beside which schedulers of flows stand.
//!
//! A flow is so much work for the link from its release on. Flows are fluid, may be interrupted at no cost, and nothing
//! takes time but work: no propagation, no handshake, no packet. On a network with one bottleneck these are bounds.
//!
//! - [`srpt`]: shortest remaining first has the least mean completion time (Schrage, A Proof of the Optimality of the
//!   Shortest Remaining Processing Time Discipline, Operations Research 16(3), 1968).
//! - [`edf`]: earliest deadline first meets all deadlines if anything does (Liu and Layland, Journal of the ACM 20(1),
//!   1973).
//! - [`most_deadlines`] and [`meeting`]: how many flows that begin together can meet their deadlines, and which (Moore,
//!   An n Job, One Machine Sequencing Algorithm for Minimizing the Number of Late Jobs, Management Science 15(1), 1968;
//!   the form is Hodgson's).
//! - [`fair`]: all flows share equally, which is best for nothing, and the reference of "no flow is worse off".

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tailcut_base::{BitRate, Instant, Span, wire_bytes};
use tailcut_model::FlowSpec;

/// A flow, for one link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Job {
    /// When it may begin.
    pub release: Instant,
    /// How long the link takes for it alone.
    pub work: Span,
    /// When it is to be complete, if it has a deadline.
    pub deadline: Option<Instant>,
}

impl Job {
    /// A flow on a link of this rate, with the headers of its packets.
    pub fn of(flow: &FlowSpec, rate: BitRate) -> Job {
        let deadline = flow.deadline.map(|deadline| flow.start + deadline);
        Job { release: flow.start, work: rate.tx_time(wire_bytes(flow.size)), deadline }
    }

    /// Whether it meets its deadline if it is complete at this moment. One without a deadline has none to miss.
    pub fn is_met(&self, complete: Instant) -> bool {
        self.deadline.is_none_or(|deadline| complete <= deadline)
    }
}

/// When each job is complete if the link always serves the one with the least left.
pub fn srpt(jobs: &[Job]) -> Vec<Instant> {
    preemptive(jobs, |_, left| (0, left.as_ps()))
}

/// When each job is complete if the link always serves the one with the earliest deadline, and of those with the same
/// or none the one with the least left.
pub fn edf(jobs: &[Job]) -> Vec<Instant> {
    preemptive(jobs, |job, left| (job.deadline.unwrap_or(Instant::MAX).as_ps(), left.as_ps()))
}

/// When each job is complete if the link always serves the one with the smallest rank, which may fall as it is served
/// but never rise, and the first in the list of equals.
fn preemptive(jobs: &[Job], rank: impl Fn(&Job, Span) -> (u64, u64)) -> Vec<Instant> {
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|&nth| jobs[nth].release);
    let mut coming = order.into_iter().peekable();
    let mut complete = vec![Instant::ZERO; jobs.len()];
    let mut left: Vec<Span> = jobs.iter().map(|job| job.work).collect();
    let mut waiting = BinaryHeap::new();
    let mut now = Instant::ZERO;
    loop {
        while let Some(&nth) = coming.peek()
            && (jobs[nth].release <= now || waiting.is_empty())
        {
            now = now.max(jobs[nth].release);
            waiting.push(Reverse((rank(&jobs[nth], left[nth]), nth)));
            coming.next();
        }
        let Some(Reverse((_, nth))) = waiting.pop() else { return complete };
        let until = coming.peek().map_or(Instant::MAX, |&next| jobs[next].release);
        let done = now + left[nth];
        if done <= until {
            (now, complete[nth]) = (done, done);
            continue;
        }
        left[nth] = left[nth] - until.saturating_since(now);
        now = until;
        waiting.push(Reverse((rank(&jobs[nth], left[nth]), nth)));
    }
}

/// When each job is complete if all that are there share the link equally, to the picosecond.
pub fn fair(jobs: &[Job]) -> Vec<Instant> {
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|&nth| jobs[nth].release);
    let mut coming = order.into_iter().peekable();
    let mut complete = vec![Instant::ZERO; jobs.len()];
    // What each job that is there has received, in picoseconds of the whole link; a job ends when that is its work.
    let (mut now, mut received) = (0.0f64, 0.0f64);
    let mut there: Vec<(f64, usize)> = Vec::new();
    loop {
        let next = coming.peek().map(|&nth| jobs[nth].release.as_ps() as f64);
        let first = there.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let ends = first.map(|(until, nth)| (now + (until - received) * there.len() as f64, until, nth));
        match (next, ends) {
            (None, None) => return complete,
            (Some(at), ends) if ends.is_none_or(|(end, ..)| at < end) => {
                if !there.is_empty() {
                    received += (at - now) / there.len() as f64;
                }
                now = at;
                let nth = coming.next().expect("it was seen");
                there.push((received + jobs[nth].work.as_ps() as f64, nth));
            }
            (_, Some((end, until, nth))) => {
                (now, received) = (end, until);
                complete[nth] = Instant::from_ps(libm::round(end) as u64);
                there.retain(|&(_, other)| other != nth);
            }
            (Some(_), None) => unreachable!("a release without a job before it is taken above"),
        }
    }
}

/// How many of the jobs with a deadline can meet theirs if all are released together, at the earliest release; those
/// without a deadline come last.
pub fn most_deadlines(jobs: &[Job]) -> usize {
    meeting(jobs).into_iter().filter(|is_met| *is_met).count()
}

/// Which jobs meet their deadlines where as many as can do, if all are released together, at the earliest release, and
/// these are served first by the order of their deadlines.
///
/// Jobs are taken in that order; whenever one is late, the longest of those taken is given up.
pub fn meeting(jobs: &[Job]) -> Vec<bool> {
    let mut is_met = vec![false; jobs.len()];
    let Some(begin) = jobs.iter().map(|job| job.release).min() else { return is_met };
    let mut urgent: Vec<(Instant, Span, usize)> =
        jobs.iter().enumerate().filter_map(|(nth, job)| Some((job.deadline?, job.work, nth))).collect();
    urgent.sort_unstable();
    let mut taken: BinaryHeap<(Span, usize)> = BinaryHeap::new();
    let mut now = begin;
    for (deadline, work, nth) in urgent {
        taken.push((work, nth));
        now = now + work;
        if now > deadline
            && let Some((longest, _)) = taken.pop()
        {
            now = Instant::from_ps(now.as_ps() - longest.as_ps());
        }
    }
    taken.into_iter().for_each(|(_, nth)| is_met[nth] = true);
    is_met
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn job(release: u64, work: u64, deadline: Option<u64>) -> Job {
        Job { release: Instant::from_ps(release), work: Span::from_ps(work), deadline: deadline.map(Instant::from_ps) }
    }

    fn ps(times: Vec<Instant>) -> Vec<u64> {
        times.into_iter().map(Instant::as_ps).collect()
    }

    /// PDQ's example: sizes 1, 2, 3 that begin together, and deadlines at 1, 4 and 6.
    #[test]
    fn the_example_of_pdq() {
        let jobs = [job(0, 1_000, Some(1_000)), job(0, 2_000, Some(4_000)), job(0, 3_000, Some(6_000))];
        assert_eq!(ps(fair(&jobs)), [3_000, 5_000, 6_000]);
        assert_eq!(ps(srpt(&jobs)), [1_000, 3_000, 6_000]);
        assert_eq!(ps(edf(&jobs)), [1_000, 3_000, 6_000]);
        assert_eq!(most_deadlines(&jobs), 3);
        let saving = 1.0 - 10.0 / 14.0;
        assert!((saving - 0.29f64).abs() < 0.005);
    }

    #[test]
    fn a_shorter_job_interrupts_and_an_idle_link_waits() {
        let jobs = [job(0, 10, None), job(4, 3, None), job(5, 9, None), job(100, 1, None)];
        assert_eq!(ps(srpt(&jobs)), [13, 7, 22, 101]);
        // 4 alone; 3 together with the second until it is complete at 4 + 6 ... : by hand.
        assert_eq!(ps(fair(&[job(0, 10, None), job(4, 3, None)])), [13, 10]);
        assert_eq!(ps(edf(&[job(0, 10, None), job(4, 3, Some(5)), job(4, 1, Some(9))])), [14, 7, 8]);
        assert!(srpt(&[]).is_empty() && fair(&[]).is_empty() && most_deadlines(&[]) == 0);
    }

    /// Every order of the numbers below `n`.
    fn orders(n: usize) -> Vec<Vec<usize>> {
        if n == 0 {
            return vec![Vec::new()];
        }
        let with = |order: Vec<usize>| {
            (0..n).map(move |at| {
                let mut order = order.clone();
                order.insert(at, n - 1);
                order
            })
        };
        orders(n - 1).into_iter().flat_map(with).collect()
    }

    /// A slow server: a picosecond after the other, by a fixed order of the jobs, one that is released first.
    fn by_order(jobs: &[Job], order: &[usize]) -> Vec<u64> {
        let mut left: Vec<u64> = jobs.iter().map(|job| job.work.as_ps()).collect();
        let mut complete = vec![0; jobs.len()];
        let mut now = 0;
        while left.iter().any(|&left| left > 0) {
            let is_ready = |nth: usize| left[nth] > 0 && jobs[nth].release.as_ps() <= now;
            let served = order.iter().copied().find(|&nth| is_ready(nth));
            now += 1;
            if let Some(nth) = served {
                left[nth] -= 1;
                complete[nth] = now;
            }
        }
        complete
    }

    fn jobs() -> impl Strategy<Value = Vec<Job>> {
        prop::collection::vec((0u64..20, 1u64..12, prop::option::of(1u64..60)), 1..6)
            .prop_map(|jobs| jobs.into_iter().map(|(at, work, deadline)| job(at, work, deadline)).collect())
    }

    proptest! {
        /// No order of priorities has a smaller mean, and the link is never idle while a job waits.
        #[test]
        fn no_fixed_order_is_better_than_srpt(jobs in jobs()) {
            let best: u64 = ps(srpt(&jobs)).iter().sum();
            let last = |complete: Vec<u64>| complete.into_iter().max().unwrap();
            let at_the_end = last(ps(srpt(&jobs)));
            for order in orders(jobs.len()) {
                let complete = by_order(&jobs, &order);
                prop_assert!(best <= complete.iter().sum(), "{order:?}");
                prop_assert_eq!(last(complete), at_the_end);
            }
            prop_assert_eq!(last(ps(edf(&jobs))), at_the_end);
            prop_assert!(last(ps(fair(&jobs))).abs_diff(at_the_end) <= 1);
            prop_assert!(best <= ps(fair(&jobs)).iter().sum::<u64>() + jobs.len() as u64);
        }

        /// If any order of priorities meets all deadlines, EDF does.
        #[test]
        fn edf_meets_all_deadlines_if_any_order_does(jobs in jobs()) {
            let meets = |complete: &[u64]| jobs.iter().zip(complete).all(|(job, &at)| job.is_met(Instant::from_ps(at)));
            if orders(jobs.len()).iter().any(|order| meets(&by_order(&jobs, order))) {
                prop_assert!(meets(&ps(edf(&jobs))));
            }
        }

        /// As many as the best of all orders meets.
        #[test]
        fn most_deadlines_is_what_the_best_order_meets(jobs in jobs()) {
            let jobs: Vec<Job> = jobs.into_iter().map(|job| Job { release: Instant::ZERO, ..job }).collect();
            let met = |complete: Vec<u64>| {
                jobs.iter().zip(complete).filter(|(job, at)| job.deadline.is_some_and(|d| *at <= d.as_ps())).count()
            };
            let best = orders(jobs.len()).iter().map(|order| met(by_order(&jobs, order))).max();
            prop_assert_eq!(Some(most_deadlines(&jobs)), best);
        }
    }
}
