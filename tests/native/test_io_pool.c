/* The readers: real files, the order of chunks on a disk that is held up, failures, and everything at once. */
#if !defined(_WIN32)
#define _DEFAULT_SOURCE
#endif
#include "io_pool.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "crc32.h"
#include "selftest.h"
#include "threads.h"

#if !defined(_WIN32)
#include <errno.h>
#include <unistd.h>
#endif

enum { PAGE = 4096, PAGES = 48, EXPERT = 6, REFUSED_PAGE = 40, CUT_PAGE = 41, REFUSAL = 77, TALKERS = 3, SAYINGS = 400 };

static uint8_t content[PAGES * PAGE];

/* ---- a disk that is held up, page by page ------------------------------------------------------------------------- */

static struct {
    uh_mutex mutex;
    uh_condition changed;
    int allowed, begun; /* reads */
    int order[4096];    /* by page */
} disk;

static int64_t from_memory(int64_t file, int64_t offset, const uh_slice *slices, int32_t n, int32_t *error) {
    const int page = (int)(offset / PAGE);
    (void)file;
    uh_lock(&disk.mutex);
    const int turn = disk.begun++;
    if (turn < 4096) disk.order[turn] = page;
    uh_wake_all(&disk.changed);
    while (turn >= disk.allowed) uh_wait(&disk.changed, &disk.mutex);
    uh_unlock(&disk.mutex);
    if (page == REFUSED_PAGE) *error = REFUSAL;
    if (page == REFUSED_PAGE) return -1;
    int64_t done = 0;
    for (int32_t i = 0; i < n; i++) {
        memcpy(slices[i].to, content + offset + done, (size_t)slices[i].nbytes);
        done += slices[i].nbytes;
    }
    return page == CUT_PAGE ? done - 1 : done;
}

static void hold(void) {
    disk.begun = 0;
    disk.allowed = 0;
}

static void allow(int reads) {
    uh_lock(&disk.mutex);
    disk.allowed = reads;
    uh_wake_all(&disk.changed);
    uh_unlock(&disk.mutex);
}

static void await_begun(int reads) {
    uh_lock(&disk.mutex);
    while (disk.begun < reads) uh_wait(&disk.changed, &disk.mutex);
    uh_unlock(&disk.mutex);
}

/* ---- requests ----------------------------------------------------------------------------------------------------- */

/* EXPERT pages from `page` on, in two parts, as chunks of a page; wrong: with a checksum that is not theirs. */
static int64_t ask(uh_io_pool *reads, int urgency, int page, uint8_t *to, int wrong) {
    const int64_t first = 2 * PAGE, second = (EXPERT - 2) * PAGE, at = (int64_t)page * PAGE;
    const uh_io_part parts[2] = {
        {to, first, uh_crc32(-1, 0, content + at, first)},
        {to + first, second, uh_crc32(-1, 0, content + at + first, second) ^ (uint32_t)wrong},
    };
    const uh_io_run run = {0, at, 0};
    uh_io_chunk chunks[EXPERT];
    for (int i = 0; i < EXPERT; i++)
        chunks[i] = (uh_io_chunk){(int64_t)i * PAGE, PAGE, (int64_t)(i < 2 ? i : i - 2) * PAGE, 0, i >= 2};
    return uh_io_submit(reads, urgency, parts, 2, &run, 1, chunks, EXPERT);
}

/* Takes one end, which has to come. */
static uh_io_completion taken(uh_io_pool *reads) {
    uh_io_completion last = {0, 0, -1, 0, 0, 0};
    check(uh_io_completed(reads, &last, 1, 1) == 1, "an end comes");
    return last;
}

static void order(void) {
    uint8_t *room = exactly(4 * EXPERT * PAGE, 0);
    uh_io_event events[64];
    uh_io_state state;
    uh_io_pool *reads = uh_io_open(1, from_memory);
    hold();
    check(!uh_io_listen(reads, 1), "events are written down");
    const int64_t expected = ask(reads, UH_PREFETCH, 0, room, 0);
    await_begun(1);
    const int64_t upgrade = ask(reads, UH_UPGRADE, 6, room + EXPERT * PAGE, 0);
    const int64_t given_up = ask(reads, UH_PREFETCH, 12, room + 2 * EXPERT * PAGE, 0);
    const int64_t raised = ask(reads, UH_PREFETCH, 18, room + 3 * EXPERT * PAGE, 0);
    uh_io_promote(reads, raised);
    check(uh_io_cancel(reads, given_up) && !uh_io_cancel(reads, given_up), "what waits is cancelled once");
    check(!uh_io_cancel(reads, 999) && !uh_io_left(reads, 999), "who was never there is not");
    uh_io_look(reads, &state);
    check(state.open == 3 && state.queued[UH_DEMAND] == EXPERT * PAGE && state.queued[UH_PREFETCH] == 5 * PAGE,
          "%d are open, %d bytes demanded, %d expected", (int)state.open, (int)state.queued[UH_DEMAND],
          (int)state.queued[UH_PREFETCH]);
    allow(100);
    const int64_t ids[4] = {given_up, raised, upgrade, expected};
    for (int i = 0; i < 4; i++) {
        const uh_io_completion last = taken(reads);
        check(last.id == ids[i], "end %d is that of %d, not %d", i, (int)last.id, (int)ids[i]);
        check(last.status == (i ? UH_IO_WHOLE : UH_IO_CANCELLED), "end %d has status %d", i, last.status);
    }
    for (int i = 0; i < 18; i++) {
        const int page = i < 1 ? 0 : i < 7 ? 17 + i : i < 13 ? i - 1 : i - 12;
        check(disk.order[i] == page, "read %d is of page %d, not %d", i, disk.order[i], page);
    }
    check(!memcmp(room, content, 2 * EXPERT * PAGE) &&
              !memcmp(room + 3 * EXPERT * PAGE, content + 18 * PAGE, EXPERT * PAGE),
          "the bytes are there");
    check(uh_io_events(reads, events, 10) == 10 && uh_io_events(reads, events + 10, 54) == 8, "18 events");
    check(events[0].id == expected && events[1].id == raised && events[1].urgency == UH_DEMAND, "in their order");
    uh_io_look(reads, &state);
    check(!state.open && state.bytes[UH_DEMAND] == EXPERT * PAGE && state.bytes[UH_PREFETCH] == EXPERT * PAGE,
          "bytes are counted as what they were read as");
    check(state.busy_ns > 0 && state.busy_ns <= state.ns_since_open, "and time");
    uh_io_completion none;
    check(!uh_io_completed(reads, &none, 1, 1), "nobody waits for what is not open");
    uh_io_close(reads);
    release_all();
}

static void several(void) {
    uint8_t *room = exactly(3 * EXPERT * PAGE, 0);
    uh_io_pool *reads = uh_io_open(3, from_memory);
    hold();
    ask(reads, UH_PREFETCH, 0, room, 0);
    await_begun(2);
    ask(reads, UH_DEMAND, 6, room + EXPERT * PAGE, 0);
    await_begun(3);
    check(disk.order[2] == 6, "a demand finds a reader free, the third read is of page %d", disk.order[2]);
    const int64_t last = ask(reads, UH_PREFETCH, 12, room + 2 * EXPERT * PAGE, 0);
    check(uh_io_left(reads, last) == EXPERT * PAGE, "nobody has begun the last");
    allow(5);
    await_begun(8);
    for (int i = 3; i < 8; i++) check(disk.order[i] >= 7 && disk.order[i] < 12, "read %d of page %d", i, disk.order[i]);
    allow(100);
    for (int i = 0; i < 3; i++) check(taken(reads).status == UH_IO_WHOLE, "whole");
    uh_io_close(reads);
    release_all();
}

static void failures(void) {
    uint8_t *room = exactly(EXPERT * PAGE, 0);
    uh_io_pool *reads = uh_io_open(2, from_memory);
    hold();
    allow(1000);
    ask(reads, UH_DEMAND, CUT_PAGE - EXPERT, room, 0); /* the page that is refused is its last */
    uh_io_completion last = taken(reads);
    check(last.status == UH_IO_REFUSED && last.error == REFUSAL, "status %d, error %d", last.status, last.error);
    ask(reads, UH_DEMAND, CUT_PAGE, room, 0);
    last = taken(reads);
    check(last.status == UH_IO_SHORT, "a short read has status %d", last.status);
    ask(reads, UH_PREFETCH, 8, room, 1);
    last = taken(reads);
    check(last.status == UH_IO_DAMAGED && last.part == 1, "status %d, part %d", last.status, last.part);
    ask(reads, UH_PREFETCH, 8, room, 0);
    last = taken(reads);
    check(last.status == UH_IO_WHOLE && last.ns > 0, "it goes on after all that");

    allow(disk.begun);
    const int begun = disk.begun;
    const int64_t first = ask(reads, UH_DEMAND, 0, room, 0);
    await_begun(begun + 2);
    check(uh_io_cancel(reads, first), "under way and cancelled");
    check(!uh_io_completed(reads, &last, 1, 0), "but not ended");
    allow(1000);
    last = taken(reads);
    check(last.status == UH_IO_CANCELLED, "it has status %d", last.status);
    check(disk.begun == begun + 2, "%d more reads", disk.begun - begun - 2);
    uh_io_stop(reads);
    check(!ask(reads, UH_DEMAND, 0, room, 0), "no more after the end");
    uh_io_close(reads);
    release_all();
}

/* ---- everything at once ------------------------------------------------------------------------------------------- */

typedef struct {
    uh_io_pool *reads;
    uint8_t *room;
    int number;
    _Atomic int *left;
} talker;

UH_THREAD_MAIN(talk) {
    talker *self = argument;
    int64_t ids[SAYINGS];
    uint64_t state = (uint64_t)self->number + 1;
    for (int i = 0; i < SAYINGS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const int what = (int)(state >> 33) % 8, other = (int)(state >> 40) % (i + 1);
        ids[i] = ask(self->reads, what % 3, 6 * ((int)(state >> 50) % 6), self->room + (size_t)i * EXPERT * PAGE, 0);
        if (what == 3) uh_io_cancel(self->reads, ids[other]);
        if (what == 4) uh_io_promote(self->reads, ids[other]);
        if (what == 5) uh_io_left(self->reads, ids[other]);
    }
    --*self->left;
    return UH_THREAD_END;
}

static void stress(void) {
    static uint8_t room[TALKERS][SAYINGS * EXPERT * PAGE];
    uh_io_state state;
    hold();
    allow(1 << 30);
    for (int readers = 1; readers <= 4; readers += 3) {
        uh_io_pool *reads = uh_io_open(readers, from_memory);
        talker talkers[TALKERS];
        uh_thread threads[TALKERS];
        _Atomic int left = TALKERS;
        int ends = 0, whole = 0, cancelled = 0;
        for (int i = 0; i < TALKERS; i++) {
            talkers[i] = (talker){reads, room[i], i, &left};
            uh_thread_start(&threads[i], talk, &talkers[i]);
        }
        do {
            uh_io_completion some[16];
            const int n = uh_io_completed(reads, some, 16, 1);
            for (int i = 0; i < n; i++) {
                whole += some[i].status == UH_IO_WHOLE;
                cancelled += some[i].status == UH_IO_CANCELLED;
            }
            ends += n;
            uh_io_look(reads, &state);
        } while (left || state.open || ends < TALKERS * SAYINGS);
        for (int i = 0; i < TALKERS; i++) uh_thread_join(threads[i]);
        check(ends == TALKERS * SAYINGS && whole + cancelled == ends, "%d ends, %d whole, %d cancelled", ends, whole,
              cancelled);
        check(whole > 0, "some were read");
        uh_io_close(reads);
    }
    for (int i = 0; i < 40; i++) { /* closed with requests in every state */
        uh_io_pool *reads = uh_io_open(1 + i % 4, from_memory);
        for (int j = 0; j < i % 5; j++) ask(reads, j % 3, 6 * j, room[0] + (size_t)j * EXPERT * PAGE, 0);
        uh_io_close(reads);
    }
}

/* ---- real files --------------------------------------------------------------------------------------------------- */

#if defined(_WIN32)
enum { MODES = 2 };
static int64_t opened_file(int mode) {
    char folder[MAX_PATH], path[MAX_PATH];
    DWORD written = 0;
    if (!GetTempPathA(MAX_PATH, folder) || !GetTempFileNameA(folder, "uh", 0, path))
        if (!GetWindowsDirectoryA(folder, MAX_PATH) || !GetTempFileNameA(folder, "uh", 0, path)) return -1;
    HANDLE file = CreateFileA(path, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
    if (file == INVALID_HANDLE_VALUE) return -1;
    WriteFile(file, content, sizeof content, &written, NULL);
    CloseHandle(file);
    file = CreateFileA(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                       FILE_FLAG_OVERLAPPED | FILE_FLAG_DELETE_ON_CLOSE | (mode ? FILE_FLAG_NO_BUFFERING : 0), NULL);
    return file == INVALID_HANDLE_VALUE || written != sizeof content ? -1 : (int64_t)(intptr_t)file;
}
static void close_file(int64_t file) { CloseHandle((HANDLE)(intptr_t)file); }
#else
enum { MODES = 1 };
static int64_t opened_file(int mode) {
    char path[] = "/tmp/uh-selftest-XXXXXX";
    const int file = mkstemp(path);
    (void)mode;
    if (file < 0) return -1;
    unlink(path);
    return write(file, content, sizeof content) == (ssize_t)sizeof content ? file : -1;
}
static void close_file(int64_t file) { close((int)file); }
#endif

static void files(int mode) {
    const int64_t file = opened_file(mode), whole = sizeof content;
    check(file != -1, "a file is made");
    if (file == -1) return;
    uint8_t *room = exactly(sizeof content + PAGE, 0), *memory = exactly(4 * PAGE, 0);
    room += -(uintptr_t)room % PAGE;
    uh_io_scratch scratch = {0};
    int32_t error = 0;
    const uh_slice all = {room, whole}, two[2] = {{memory, PAGE}, {memory + PAGE, 3 * PAGE}};
    uh_io_pool *reads = uh_io_open(2, NULL);
    const uh_io_part parts[2] = {{room, 16 * PAGE, uh_crc32(-1, 0, content + PAGE, 16 * PAGE)},
                                   {room + 16 * PAGE, PAGE, uh_crc32(-1, 0, content + 17 * PAGE, PAGE)}};
    const uh_io_run run = {file, PAGE, mode};
    const uh_io_chunk chunks[2] = {{0, 16 * PAGE, 0, 0, 0}, {16 * PAGE, PAGE, 0, 0, 1}};
    uh_io_submit(reads, UH_DEMAND, parts, 2, &run, 1, chunks, 2);
    uh_io_completion last = taken(reads);
    check(last.status == UH_IO_WHOLE, "from a file: status %d, error %d", last.status, last.error);
    check(!memcmp(room, content + PAGE, 17 * PAGE), "the bytes of the file");
    const uh_io_run behind = {file, 40 * PAGE, mode};
    uh_io_submit(reads, UH_DEMAND, parts, 2, &behind, 1, chunks, 2);
    last = taken(reads);
    check(last.status == UH_IO_SHORT, "behind the end: status %d, error %d", last.status, last.error);
    const uh_io_run nowhere = {-1, 0, mode};
    uh_io_submit(reads, UH_DEMAND, parts, 2, &nowhere, 1, chunks, 2);
    last = taken(reads);
    check(last.status == UH_IO_REFUSED && last.error, "no file: status %d, error %d", last.status, last.error);
    uh_io_close(reads);
#if defined(SELFTEST_INSIDE)
    check(uh_file_read(file, mode, 0, &all, 1, &scratch, &error) == whole && !memcmp(room, content, sizeof content), "whole");
    check(uh_file_read(file, mode, 3 * PAGE, two, 2, &scratch, &error) == 4 * PAGE, "into two buffers");
    check(!memcmp(memory, content + 3 * PAGE, 4 * PAGE), "one behind the other");
    check(uh_file_read(file, mode, whole - PAGE, two, 2, &scratch, &error) == PAGE, "cut short");
    check(uh_file_read(file, mode, whole + PAGE, two, 2, &scratch, &error) == 0, "nothing there");
    uh_io_scratch_close(&scratch);
#else
    (void)all, (void)two, (void)scratch, (void)error;
#endif
    close_file(file);
    release_all();
}

void test_io_pool(void) {
    group("readers");
    reseed(12);
    for (size_t i = 0; i < sizeof content; i++) content[i] = (uint8_t)random_bits();
    uh_mutex_init(&disk.mutex);
    uh_condition_init(&disk.changed);
    for (int mode = 0; mode < MODES; mode++) files(mode);
    order();
    several();
    failures();
    stress();
    uh_condition_destroy(&disk.changed);
    uh_mutex_destroy(&disk.mutex);
}
