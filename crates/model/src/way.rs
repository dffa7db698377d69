//! Ways that are given to flows: a number that says where a packet goes wherever it could go by several links.

/// The way of a flow as somebody has chosen it among the equal ways from its sender to its receiver.
///
/// Its number is written to a mixed base: the first node on the way that has several next hops takes the last digit, to
/// the base of how many there are; the second such node takes the digit before, and so on. It stands in the packets in
/// place of the number of their connection, with the highest bit set, which no workload gives to a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Way(u32);

const GIVEN: u32 = 1 << 31;

impl Way {
    /// The way of this number; `None` if a packet has no room for it.
    pub fn new(number: u64) -> Option<Way> {
        u32::try_from(number).ok().filter(|number| number & GIVEN == 0).map(Way)
    }

    /// Its number.
    pub fn number(self) -> u32 {
        self.0
    }

    /// What a packet that goes this way has for a connection.
    pub fn connection(self) -> u32 {
        self.0 | GIVEN
    }

    /// The way of packets with this connection, if they were given one.
    #[inline]
    pub fn of_connection(connection: u32) -> Option<Way> {
        (connection & GIVEN != 0).then_some(Way(connection & !GIVEN))
    }

    /// Which of `count` next hops the next node takes that has several; what is left is the way from there on.
    #[inline]
    pub fn next(&mut self, count: u32) -> u32 {
        let digit = self.0 % count;
        self.0 /= count;
        digit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_read_digit_by_digit_and_stands_beside_all_connections() {
        // The fourth of five, then the second of three.
        let way = Way::new(3 + 5).expect("it is small");
        let mut read = Way::of_connection(way.connection()).expect("it was given");
        assert_eq!((read.next(5), read.next(3), read.next(7)), (3, 1, 0));
        assert_eq!(way.number(), 8);
        assert_eq!(Way::of_connection(u32::MAX >> 1), None);
        assert!(Way::new(u64::from(u32::MAX >> 1)).is_some() && Way::new(1 << 31).is_none());
    }
}
