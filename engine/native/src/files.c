/* See files.h; the same rules as in engine/store/disk.py and disk_windows.py. */
#if !defined(_WIN32)
#define _DEFAULT_SOURCE
#define _FILE_OFFSET_BITS 64
#endif
#include "files.h"

#include <string.h>

#if defined(_WIN32)
#include <windows.h>

enum { STRIDE = 65536, LONGEST = 1 << 30 };

void uh_io_scratch_close(uh_io_scratch *scratch) {
    if (scratch->event) CloseHandle(scratch->event);
    if (scratch->memory) VirtualFree(scratch->memory, 0, MEM_RELEASE);
    memset(scratch, 0, sizeof *scratch);
}

static int grown(uh_io_scratch *scratch, int64_t nbytes) {
    if (scratch->nbytes >= nbytes) return 1;
    if (scratch->memory) VirtualFree(scratch->memory, 0, MEM_RELEASE);
    scratch->memory = VirtualAlloc(NULL, (SIZE_T)nbytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    scratch->nbytes = scratch->memory ? nbytes : 0;
    return scratch->memory != NULL;
}

/* At most LONGEST bytes. */
static int64_t read_once(HANDLE file, uh_io_scratch *scratch, int64_t offset, uint8_t *to, int64_t nbytes, int32_t *error) {
    OVERLAPPED state;
    memset(&state, 0, sizeof state);
    state.Offset = (DWORD)(offset & 0xffffffff);
    state.OffsetHigh = (DWORD)(offset >> 32);
    state.hEvent = scratch->event;
    DWORD got = 0;
    if ((ReadFile(file, to, (DWORD)nbytes, NULL, &state) || GetLastError() == ERROR_IO_PENDING) &&
        GetOverlappedResult(file, &state, &got, TRUE))
        return got;
    *error = (int32_t)GetLastError();
    return *error == ERROR_HANDLE_EOF ? 0 : -1;
}

int64_t uh_file_read(int64_t file, int direct, int64_t offset, const uh_slice *slices, int32_t n, uh_io_scratch *scratch,
                     int32_t *error) {
    int64_t wanted = 0, done = 0;
    for (int32_t i = 0; i < n; i++) wanted += slices[i].nbytes;
    const int64_t total = direct ? (wanted + STRIDE - 1) / STRIDE * STRIDE : wanted;
    const int in_place = n == 1 && total == wanted;
    if (!scratch->event && !(scratch->event = CreateEventW(NULL, TRUE, FALSE, NULL))) {
        *error = (int32_t)GetLastError();
        return -1;
    }
    if (!in_place && !grown(scratch, total)) {
        *error = ERROR_NOT_ENOUGH_MEMORY;
        return -1;
    }
    uint8_t *to = in_place ? slices[0].to : scratch->memory;
    while (done < total) {
        const int64_t length = total - done < LONGEST ? total - done : LONGEST;
        const int64_t got = read_once((HANDLE)(intptr_t)file, scratch, offset + done, to + done, length, error);
        if (got < 0) return -1;
        done += got;
        if (got < length) break;
    }
    if (done > wanted) done = wanted;
    int64_t left = in_place ? 0 : done;
    for (int32_t i = 0; left > 0; i++) {
        const int64_t length = left < slices[i].nbytes ? left : slices[i].nbytes;
        memcpy(slices[i].to, to + (done - left), (size_t)length);
        left -= length;
    }
    return done;
}

#else
#include <errno.h>
#include <sys/types.h>
#include <sys/uio.h>

void uh_io_scratch_close(uh_io_scratch *scratch) { memset(scratch, 0, sizeof *scratch); }

int64_t uh_file_read(int64_t file, int direct, int64_t offset, const uh_slice *slices, int32_t n, uh_io_scratch *scratch,
                     int32_t *error) {
    (void)direct;
    (void)scratch;
    struct iovec to[UH_MOST_SLICES];
    for (int32_t i = 0; i < n; i++) to[i] = (struct iovec){slices[i].to, (size_t)slices[i].nbytes};
    int64_t done = 0;
    for (int32_t at = 0; at < n;) {
        const ssize_t got = preadv((int)file, to + at, n - at, offset + done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            *error = errno;
            return -1;
        }
        if (!got) break;
        done += got;
        size_t left = (size_t)got;
        for (; at < n && left >= to[at].iov_len; at++) left -= to[at].iov_len;
        if (left) {
            to[at].iov_base = (uint8_t *)to[at].iov_base + left;
            to[at].iov_len -= left;
        }
    }
    return done;
}
#endif
