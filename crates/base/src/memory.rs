//! Hints to the machine about memory. The only unsafe code there is, and nothing but time depends on it.
//!
//! Both pay when a network is so large that its tables do not fit the caches: with 65,536 hosts a packet-hop takes half
//! of the time that it takes without them (`docs/performance.md`).

/// Asks the processor to bring the cache line at `place` near, without waiting for it.
#[inline(always)]
pub fn prefetch<T>(place: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[expect(unsafe_code, reason = "the standard library has no stable safe prefetch")]
    // SAFETY: a prefetch reads nothing that a program could see and never faults; SSE, which has it, is part of every
    // x86-64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = place;
}

/// As [`prefetch`], with all cache lines of what is at `place`.
#[inline(always)]
pub fn prefetch_all<T>(place: &T) {
    /// Bytes of a cache line.
    const LINE: usize = 64;
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[expect(unsafe_code, reason = "the standard library has no stable safe prefetch")]
    for at in (0..size_of::<T>()).step_by(LINE).chain(size_of::<T>().checked_sub(1)) {
        // SAFETY: as in `prefetch`; the address is inside of what `place` refers to.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast::<i8>().add(at));
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (place, LINE);
}

/// Asks the system to back a large table by large pages, so that finding a page takes less time. To be called each time
/// the table has grown; small tables are left alone. A system that knows no such pages, or refuses, changes nothing.
pub fn prefer_large_pages<T>(table: &Vec<T>) {
    /// Below this a table has few pages of any size: 4 MB.
    const LARGE: usize = 4 << 20;
    let bytes = table.capacity() * size_of::<T>();
    if bytes < LARGE {
        return;
    }
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        use rustix::mm::{Advice, madvise};
        const PAGE: usize = 4096;
        let begin = table.as_ptr().addr().next_multiple_of(PAGE);
        let end = (table.as_ptr().addr() + bytes) / PAGE * PAGE;
        let pages = table.as_ptr().with_addr(begin).cast_mut().cast();
        #[expect(unsafe_code, reason = "a call of the system with an address")]
        // SAFETY: the pages from `begin` to `end` lie within the vector's own allocation, and this advice changes how
        // they are mapped but neither what they hold nor who may use them.
        let _ = unsafe { madvise(pages, end - begin, Advice::LinuxHugepage) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_change_nothing() {
        // 8 MB; an interpreter, which has nothing to hint at, would take minutes for them.
        let len = if cfg!(miri) { 1_000 } else { 1_000_000 };
        let mut table: Vec<u64> = (0..len).collect();
        prefer_large_pages(&table);
        prefetch(&table[77]);
        table.push(len);
        prefer_large_pages(&table);
        assert!(table.iter().copied().eq(0..=len));
        prefer_large_pages(&Vec::<u64>::new());
        prefer_large_pages(&vec![(); 10_000_000]);
    }
}
