#!/bin/sh
# First process of the kernel under test. The root of the machine is its root, read through hostfs.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /run
"$PYTHON" -S -E -B "$DRIVER/driver.py" "$CASE"
echo o > /proc/sysrq-trigger
sleep 2
