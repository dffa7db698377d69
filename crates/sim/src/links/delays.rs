//! What flows wait for at a link: by flow, and as distributions by the size of a flow.

use tailcut_base::mix64;

/// What became of a flow at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Passage {
    /// Picoseconds beyond what it takes alone on that link; [`Passage::NEVER`] if it did not get through.
    pub(super) delay: u64,
    /// Packets that were sent again.
    pub(super) retransmissions: u32,
    /// Expiries of the retransmission timer.
    pub(super) timeouts: u32,
}

impl Passage {
    /// Longer than any run.
    pub(super) const NEVER: u64 = u64::MAX;
}

/// Delays of flows of similar sizes at a link, in picoseconds for each packet of the flow.
#[derive(Debug, PartialEq)]
struct Bucket {
    /// The largest flow.
    to: u64,
    delays: Vec<f64>,
}

/// Delays at a link by the size of a flow. A bucket has at least a hundred flows, and the largest is at least twice as
/// large as the smallest (NSDI 2023, section 3.3: B = 100, x = 2). Where there are fewer than a thousand flows, a tenth
/// of them suffices: what a short flow waits for each packet is nothing that a long one does.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Buckets(Vec<Bucket>);

impl Buckets {
    /// Those of these flows: size in packets, and delay in picoseconds.
    pub(super) fn of(mut flows: Vec<(u64, u64)>) -> Buckets {
        flows.sort_unstable();
        let least = (flows.len() / 10).clamp(5, 100);
        let mut buckets: Vec<Bucket> = Vec::new();
        let mut from = 0;
        for to in 1..=flows.len() {
            let (smallest, largest) = (flows[from].0, flows[to - 1].0);
            let is_full = to - from >= least && largest >= 2 * smallest;
            // Flows of one size are in one bucket.
            let ends = flows.get(to).is_none_or(|next| next.0 > largest);
            if is_full && ends || to == flows.len() {
                let delays = flows[from..to].iter().map(|&(packets, delay)| delay as f64 / packets as f64);
                match buckets.last_mut() {
                    // Too few are left at the end.
                    Some(last) if !is_full => {
                        last.delays.extend(delays);
                        last.to = largest;
                    }
                    _ => buckets.push(Bucket { to: largest, delays: delays.collect() }),
                }
                from = to;
            }
        }
        Buckets(buckets)
    }

    /// The delay in picoseconds of a flow of so many packets, drawn by a number; none if no flow got through.
    pub(super) fn draw(&self, packets: u64, number: u64) -> Option<u64> {
        let at = self.0.partition_point(|bucket| bucket.to < packets).min(self.0.len().checked_sub(1)?);
        let delays = &self.0[at].delays;
        let nth = (u128::from(mix64(number)) * delays.len() as u128) >> u64::BITS;
        Some((delays[nth as usize] * packets as f64).round() as u64)
    }
}

/// How many flows of about a size one is drawn from.
const NEAREST: usize = 16;

/// Delays of many flows by their sizes. What is drawn is the delay of a flow that is about as large, as it was: a short
/// flow waits for what is in front of it, whatever its own length, and a long one for as long as it lasts.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Nearest(Vec<(u64, u64)>);

impl Nearest {
    /// Those of these flows: size in packets, and delay in picoseconds.
    pub(super) fn of(mut flows: Vec<(u64, u64)>) -> Nearest {
        flows.sort_unstable();
        Nearest(flows)
    }

    /// The delay in picoseconds of a flow of so many packets, drawn by a number; none if no flow got through.
    pub(super) fn draw(&self, packets: u64, number: u64) -> Option<u64> {
        // Of all flows of its size, or of as many that are smaller as are larger.
        let (from, to) = (self.before(packets), self.before(packets.saturating_add(1)));
        let more = NEAREST.saturating_sub(to - from).div_ceil(2);
        let (from, to) = (from.saturating_sub(more), (to + more).min(self.0.len()));
        let at = from + ((u128::from(mix64(number)) * (to - from) as u128) >> u64::BITS) as usize;
        self.0.get(at).map(|&(_, delay)| delay)
    }

    /// Flows that have fewer packets.
    fn before(&self, packets: u64) -> usize {
        self.0.partition_point(|&(of, _)| of < packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_have_enough_flows_and_sizes() {
        // The first bucket ends where flows of 2 packets do, the last one takes what is left.
        let sizes = [(1, 450), (2, 450), (3, 150), (8, 360), (9, 10)];
        let flows = sizes.iter().flat_map(|&(packets, flows)| (0..flows).map(move |nth| (packets, packets * nth)));
        let buckets = Buckets::of(flows.collect());
        let shape: Vec<(u64, usize)> = buckets.0.iter().map(|bucket| (bucket.to, bucket.delays.len())).collect();
        assert_eq!(shape, [(2, 900), (9, 520)]);
        assert_eq!(Buckets::of(Vec::new()).draw(1, 1), None);
    }

    /// What is drawn was measured, for as many packets as the flow has.
    #[test]
    fn draws_are_of_the_bucket() {
        let buckets = Buckets::of((0..200).map(|nth| (10, 1000 * (nth % 2))).collect());
        for number in 0..100 {
            let delay = buckets.draw(40, number).unwrap();
            assert!(delay == 0 || delay == 4000, "{delay}");
            assert_eq!(buckets.draw(40, number), Some(delay));
        }
        let longer = (0..1000).filter(|&number| buckets.draw(10, number) == Some(1000)).count();
        assert!((420..580).contains(&longer), "{longer}");
    }

    /// A flow has the delay of one about as large, which is not scaled: the middle of what is drawn is its own.
    #[test]
    fn the_nearest_flows_are_as_many_smaller_as_larger() {
        let nearest = Nearest::of((1..=1000).rev().map(|packets| (packets, 7 * packets)).collect());
        let draws: Vec<u64> = (0..2000).map(|number| nearest.draw(300, number).unwrap()).collect();
        assert!(draws.iter().all(|delay| (7 * 292..=7 * 308).contains(delay)));
        let mean = draws.iter().sum::<u64>() as f64 / 2000.0;
        assert!((mean / 2100.0 - 1.0).abs() < 0.002, "{mean}");
        // All that are of one size are drawn from, and nothing else.
        let same = Nearest::of((0..100).map(|nth| (1, nth)).chain([(2, 1_000_000)]).collect());
        let mut drawn: Vec<u64> = (0..3000).map(|number| same.draw(1, number).unwrap()).collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn, (0..100).collect::<Vec<u64>>());
        assert_eq!(Nearest::default().draw(1, 1), None);
    }
}
