/* Reads experts on threads of its own, which share every read: what is demanded before what is only expected.
 *
 * Requests of one urgency are read in the order in which they came, each in chunks that go to whichever reader is free. A
 * more urgent one overtakes between chunks. What is not demanded is read only while no demanded chunk waits or is under
 * way, and never by all readers if there are several. Once all of a request is there, its parts must have their
 * checksums. Every function but uh_io_close may be called from any thread at any time. */
#ifndef UH_IO_POOL_H
#define UH_IO_POOL_H

#include "files.h"
#include "underhill_kernels.h"

typedef struct uh_io_pool uh_io_pool;

enum { UH_DEMAND, UH_UPGRADE, UH_PREFETCH, UH_URGENCIES };

/* How a request ended. REFUSED: `error` is the system's; DAMAGED: `part` is not what was written. */
enum { UH_IO_WHOLE, UH_IO_CANCELLED, UH_IO_REFUSED, UH_IO_SHORT, UH_IO_DAMAGED };

/* Memory for one part, and the checksum that its bytes must have. */
typedef struct {
    uint8_t *to;
    int64_t nbytes;
    int64_t crc;
} uh_io_part;

/* Neighbouring bytes of a file: see uh_file_read. */
typedef struct {
    int64_t file, offset, direct;
} uh_io_run;

/* One read: nbytes from byte `start` of a run on, to byte `from` of a part and on into the parts behind it. */
typedef struct {
    int64_t start, nbytes, from;
    int32_t run, part;
} uh_io_chunk;

typedef struct {
    int64_t id, ns; /* from the beginning of its first chunk to the end of its last */
    int32_t status, error, part, unused;
} uh_io_completion;

/* A chunk that was read, or was to be; times by uh_nanoseconds. */
typedef struct {
    int64_t id, nbytes, start, end;
    int32_t reader, urgency; /* that it was read with */
} uh_io_event;

typedef struct {
    int64_t bytes[UH_URGENCIES], ns[UH_URGENCIES]; /* read so; time with one such chunk under way or more */
    int64_t queued[UH_URGENCIES];                  /* bytes that no reader has taken yet */
    int64_t busy_ns, ns_since_open;
    int64_t open; /* requests that have not ended */
} uh_io_state;

/* How a chunk is read, where that is not uh_file_read: for tests that stand in for a disk. */
typedef int64_t (*uh_read_hook)(int64_t file, int64_t offset, const uh_slice *slices, int32_t n, int32_t *error);

/* instead: NULL reads files of the system. NULL: no memory or no threads to be had. */
UH_API uh_io_pool *uh_io_open(int readers, uh_read_hook hook);

/* Queues a request, whose arrays are copied; what its parts point to must live until its end was taken. Returns its id,
 * which is positive; 0: stopped; -1: no memory. At most UH_MOST_SLICES parts; nothing is checked. */
UH_API int64_t uh_io_submit(uh_io_pool *reads, int32_t urgency, const uh_io_part *parts, int32_t n_parts,
                               const uh_io_run *runs, int32_t n_runs, const uh_io_chunk *chunks, int32_t n_chunks);

/* Reads no more of it; 0: all of it is read or being read. 1: it ends as cancelled, with the chunks under way. */
UH_API int uh_io_cancel(uh_io_pool *reads, int64_t id);
/* Somebody waits for it now: what is left of it queues with what is demanded. */
UH_API void uh_io_promote(uh_io_pool *reads, int64_t id);
/* Bytes of it that no reader has taken yet. */
UH_API int64_t uh_io_left(uh_io_pool *reads, int64_t id);
UH_API void uh_io_look(uh_io_pool *reads, uh_io_state *state);

/* Those that have ended and were not taken yet, at most `most`. wait: for one to end, unless none is open. */
UH_API int32_t uh_io_completed(uh_io_pool *reads, uh_io_completion *ends, int32_t most, int wait);

/* Begins to write events down, or ends that. 0: done; -1: no memory. */
UH_API int uh_io_listen(uh_io_pool *reads, int on);
/* The oldest events that were not taken yet, at most `most`. While some 4000 wait to be taken, no more are kept. */
UH_API int32_t uh_io_events(uh_io_pool *reads, uh_io_event *events, int32_t most);

/* Cancels what is queued, lets the chunks under way end, and ends the threads; all else goes on working. */
UH_API void uh_io_stop(uh_io_pool *reads);
/* Stops it and frees it; it may not be used any more. */
UH_API void uh_io_close(uh_io_pool *reads);

#endif
