/* The little of files that the readers need, from POSIX or from Windows itself: bytes at a place, into several buffers. */
#ifndef UH_FILES_H
#define UH_FILES_H

#include <stdint.h>

/* Memory to be filled. */
typedef struct {
    uint8_t *to;
    int64_t nbytes;
} uh_slice;

enum { UH_MOST_SLICES = 64 };

/* What a thread that reads keeps from read to read; all zero at first. Only Windows needs any: an event to wait for, and
 * memory for what cannot go straight to where it belongs. */
typedef struct {
    void *event;
    uint8_t *memory;
    int64_t nbytes;
} uh_io_scratch;

void uh_io_scratch_close(uh_io_scratch *scratch);

/* Fills n slices, at most UH_MOST_SLICES, one after the other with the bytes of a file from `offset` on. Returns how many
 * there were; -1: `error` says why, in errno or, on Windows, GetLastError.
 *
 * file: a descriptor; on Windows a HANDLE for overlapped reads. direct: it goes past the system's cache, which wants
 * offset, lengths and addresses in multiples of 4096. Windows is several times as fast where lengths are multiples of
 * 64 KiB, so there more is read than is asked for: behind the last record a data file goes on for as much. */
int64_t uh_file_read(int64_t file, int direct, int64_t offset, const uh_slice *slices, int32_t n, uh_io_scratch *scratch,
                     int32_t *error);

#endif
