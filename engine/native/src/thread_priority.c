/* Linux gives a thread with short turns its turn sooner (EEVDF, since 6.12); Windows goes by priority. Neither needs rights. */
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "thread_priority.h"

#include <stdint.h>

#if defined(_WIN32)
#include <windows.h>

void uh_raise_thread_priority(void) { SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_ABOVE_NORMAL); }

#elif defined(__linux__)
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TURN_NS = 100000 }; /* the shortest that Linux gives */

/* struct sched_attr; runtime: of ordinary threads the length of a turn. */
typedef struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
} attributes;

void uh_raise_thread_priority(void) {
    if (sched_getscheduler(0) != SCHED_OTHER) return;
    attributes wanted = {.size = sizeof wanted, .policy = SCHED_OTHER, .nice = getpriority(PRIO_PROCESS, 0)};
    wanted.runtime = TURN_NS;
    (void)syscall(SYS_sched_setattr, 0, &wanted, 0);
}

#else
void uh_raise_thread_priority(void) {}
#endif
