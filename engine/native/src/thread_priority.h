/* A thread that works little and waits much runs as soon as it wakes, though others hold every core. */
#ifndef UH_THREAD_PRIORITY_H
#define UH_THREAD_PRIORITY_H

/* For the calling thread, for good. A system that knows no such thing, or forbids it, leaves all as it was. */
void uh_raise_thread_priority(void);

#endif
