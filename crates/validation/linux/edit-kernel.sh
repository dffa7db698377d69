#!/bin/sh
# edit-kernel.sh SOURCES: the edits of the sources of Linux 6.1, as commands. TCP is untouched: the edits are of the
# clock of User-Mode Linux, which is to be exact and free, and of RED. Each edit must change its file, else it stops.
set -e
cd "$1"
edit() {
    cp "$1" "$1.before"
    sed -i -E "$2" "$1"
    if cmp -s "$1" "$1.before"; then
        echo "$1: nothing was changed by: $2" >&2
        exit 1
    fi
    rm "$1.before"
}

# 1,000 ticks a second instead of 100, as servers have: a timeout of 10 ms is 11 to 12 ms long, not 20 to 30.
edit arch/um/Kconfig '/^config HZ/,/default/ s/default 100$/default 1000/'

# The virtual clock counts nanoseconds instead of 256 of them, and timers may be as near as one.
edit arch/um/include/linux/time-internal.h 's/^(#define TIMER_MULTIPLIER +)256/\11/; s/^(#define TIMER_MIN_DELTA +)500/\11/'

# A timer fires when it is due, not a nanosecond later.
edit arch/um/kernel/time.c '/^static int itimer_next_event\(/,/^}/ { /delta \+= 1;/ d }'

# Time that passes when a program reads the clock: a parameter in nanoseconds, 16 at first, so that programs which wait
# for time to pass do not wait forever. The driver sets it to 0 while a case runs.
edit arch/um/kernel/time.c '0,/^#include <linux\/clockchips.h>/ s//#include <linux\/moduleparam.h>\n&/'
edit arch/um/kernel/time.c '/^static u64 timer_read\(/ i unsigned int read_cost = 16;\nmodule_param(read_cost, uint, 0644);\n'
edit arch/um/kernel/time.c '/^static u64 timer_read\(/,/^}/ { s/if \(!irqs_disabled\(\)/if (read_cost \&\& !irqs_disabled()/; s/time_travel_update_time_rel\(TIMER_MULTIPLIER\)/time_travel_update_time_rel(read_cost)/ }'

# The same for a system call that fails, such as a read of an empty socket: it takes 1 us, in which timers of the
# network would wait.
edit arch/um/kernel/skas/syscall.c '0,/^#include <linux\/kernel.h>/ s//&\nextern unsigned int read_cost;/'
edit arch/um/kernel/skas/syscall.c 's/^([ \t]*)um_udelay\(1\);/\1if (read_cost)\n\1\tum_udelay(1);/'

# The next timer may be nearer than a microsecond, and than the least distance of the device.
edit kernel/time/clockevents.c 's/return clc > 1000 \? clc : 1000;/return clc ? clc : 1;/; s/(delta = max\(delta, \(int64_t\)) dev->min_delta_ns\)/\1 1)/'

# RED is not idle as long as the queue below it holds packets.
edit net/sched/sch_red.c '/^static struct sk_buff \*red_dequeue/,/^}/ s/if \(!red_is_idling/if (!child->q.qlen \&\& !red_is_idling/'
