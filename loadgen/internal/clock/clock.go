// Package clock tells a run's time, and wakes at it.
package clock

import (
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// Clock is a run's time: nanoseconds of the monotonic clock since time 0, whatever happens to the wall clock.
type Clock struct{ zero time.Time }

// New has its time 0 now.
func New() Clock { return Clock{time.Now()} }

// Now is the time in nanoseconds.
func (c Clock) Now() int64 { return int64(time.Since(c.zero)) }

// Zero is the wall clock's time at time 0.
func (c Clock) Zero() time.Time { return c.zero }

// Step is how far the wall clock has moved against the monotonic one since time 0.
func (c Clock) Step() time.Duration {
	now := time.Now()
	return step(now.Round(0).Sub(c.zero.Round(0)), now.Sub(c.zero))
}

// step is what is left of the wall clock's time when the monotonic one's is taken off.
func step(wall, monotonic time.Duration) time.Duration { return wall - monotonic }

const (
	coarse = 2 * time.Millisecond    // Go's own timers are right to a millisecond
	margin = 1500 * time.Microsecond // so this much before, the kernel's are used
	slice  = 20 * time.Millisecond   // of a longer sleep, between looks at whether the run was stopped
	slack  = 1                       // nanoseconds by which the kernel may be late, in place of 50 us
)

// Sleep waits until a time of the clock. It returns early, within 20 ms, once stopped is true.
func (c Clock) Sleep(until int64, stopped func() bool) {
	for !stopped() {
		left := time.Duration(until - c.Now())
		if left <= 0 {
			return
		}
		if left <= coarse {
			Nap(left)
			continue
		}
		if left -= margin; left > slice {
			left = slice
		}
		time.Sleep(left)
	}
}

// Nap sleeps in the kernel, with the finest timer that it has. Go's own timers are late by up to a millisecond when the program
// is idle: they wait in epoll, which counts in milliseconds.
func Nap(length time.Duration) {
	const setTimerSlack = 29
	runtime.LockOSThread()
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, slack, 0)
	wait := syscall.NsecToTimespec(int64(length))
	_, _, _ = syscall.Syscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&wait)), 0, 0)
	runtime.UnlockOSThread()
}

// Background lowers the priority of the calling goroutine's thread, which it keeps: what is not in a hurry must not hold up what is.
func Background() {
	runtime.LockOSThread()
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), 10)
}
