/* Loaded into programs by LD_PRELOAD: the wall clock is as many seconds ahead as the file $SET_CLOCK_FILE says.

   The time since boot is left alone, as it is when a real clock is set. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static const volatile double *ahead;

static double seconds_ahead(void) {
    if (ahead == NULL) {
        static const double none = 0;
        const char *path = getenv("SET_CLOCK_FILE");
        int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
        void *mapped = file < 0 ? MAP_FAILED : mmap(NULL, sizeof none, PROT_READ, MAP_SHARED, file, 0);
        ahead = mapped == MAP_FAILED ? &none : mapped;
    }
    return *ahead;
}

static struct timespec moved(struct timespec time, double by) {
    long long ns = time.tv_sec * 1000000000LL + time.tv_nsec + (long long)(by * 1e9);
    return (struct timespec){.tv_sec = ns / 1000000000LL, .tv_nsec = ns % 1000000000LL};
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL) real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) *now = moved(*now, seconds_ahead());
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec at;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &at)) return -1;
    *now = (struct timeval){.tv_sec = at.tv_sec, .tv_usec = at.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *to) {
    struct timespec at;
    if (clock_gettime(CLOCK_REALTIME, &at)) return -1;
    if (to != NULL) *to = at.tv_sec;
    return at.tv_sec;
}

/* The kernel waits by the real clock. A deadline of less than an epoch's seconds is one by the time since boot. */
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
    static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (real == NULL) real = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    struct timespec at = until->tv_sec > 1000000000 ? moved(*until, -seconds_ahead()) : *until;
    return real(condition, mutex, &at);
}
