/* A thread that works little and waits much runs as soon as it wakes, though others hold every core. */
#ifndef UH_PROMPT_H
#define UH_PROMPT_H

/* For the calling thread, for good. A system that knows no such thing, or forbids it, leaves all as it was. */
void uh_run_at_once(void);

#endif
