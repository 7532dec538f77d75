/* uh_card_submit, uh_card_product: a driver that notes what it is asked for, and refuses where it is told to. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "selftest.h"
#include "stretch.h"

enum { REFUSED = 719, NOT_READY = 600, MOST = 16 };

static struct {
    int calls[MOST], n, refuse_at, code; /* kinds in their order; the call that is refused, and with what; -1: none */
    uint64_t device;
    size_t bytes;
    unsigned grid[3], block;
    void **parameters;
} seen;

static int asked(int kind) {
    if (seen.n < MOST) seen.calls[seen.n] = kind;
    return seen.n++ == seen.refuse_at ? seen.code : 0;
}

enum { WAIT = 100, USE, GRAPH };

static int copy_in(uint64_t device, const void *host, size_t bytes, void *stream) {
    (void)stream;
    seen.device = device, seen.bytes = bytes;
    check(((const float *)host)[0] == 3.0f, "what is copied in is there");
    return asked(UH_CARD_COPY_IN);
}
static int copy_out(void *host, uint64_t device, size_t bytes, void *stream) {
    (void)stream, (void)device;
    memset(host, 0, bytes);
    ((float *)host)[0] = 6.0f;
    return asked(UH_CARD_COPY_OUT);
}
static int launch(void *function, unsigned x, unsigned y, unsigned z, unsigned block_x, unsigned block_y, unsigned block_z,
                  unsigned shared, void *stream, void **parameters, void **extra) {
    (void)function, (void)stream, (void)extra;
    check(block_y == 1 && block_z == 1 && shared == 0, "blocks have one dimension, and no memory of their own");
    seen.grid[0] = x, seen.grid[1] = y, seen.grid[2] = z, seen.block = block_x, seen.parameters = parameters;
    return asked(UH_CARD_LAUNCH);
}
static int record(void *event, void *stream) {
    (void)event, (void)stream;
    return asked(UH_CARD_RECORD);
}
static int query(void *event) {
    (void)event;
    return asked(UH_CARD_QUERY);
}
static int wait(void *event) {
    (void)event;
    return asked(WAIT);
}
static int use(void *context) {
    check(context == &seen, "the context of the card is made the thread's");
    return asked(USE);
}

static int launch_graph(void *graph, void *stream) {
    (void)stream;
    check(graph == &seen, "the graph is that of the stretch");
    return asked(GRAPH);
}

static const uh_card_driver DRIVER = {copy_in, copy_out, launch, record, query, wait, use, launch_graph};

static void expect(int refuse_at, int code) {
    memset(&seen, 0, sizeof seen);
    seen.refuse_at = refuse_at, seen.code = code;
}

/* Three layers, of which the card gets through those that lack nothing. */
static void test_stretch(void) {
    uh_context *context = uh_open(1, UH_PORTABLE, 0);
    float frame[4] = {0}, x[1] = {3.0f}, log[3] = {10, 11, 12}, came[2] = {20, 30};
    float kept[3] = {0}, out[1] = {0}, logits[1] = {0};
    int64_t position = 0;
    int32_t lacking = -1;
    const int32_t ends[4] = {1, 2, 3, 4};
    const uh_op op = {.kind = UH_OP_NORM}; /* of which nothing is kept */
    int64_t ids[2] = {5, 7}, chosen[2] = {0};
    float room[1] = {0};
    const uh_op routing = {.kind = UH_OP_ROUTE, .n[UH_ROUTE_TOP_K] = 2,
                           .p = {[UH_ROUTE_IDS] = ids, [UH_ROUTE_CHOSEN] = chosen, [UH_ROUTE_ROOM] = room}};
    const uh_card_copy in = {x, 4, sizeof x}, to_out = {out, 0, 4}, to_logits = {logits, 4, 4};
    const uh_card_copy of_layer[3] = {{&kept[0], 0, 4}, {&kept[1], 4, 4}, {&kept[2], 8, 4}};
    const uh_card_part parts[4] = {
        {&op, &of_layer[0], 1, 1}, {&routing, &of_layer[1], 1, 1}, {&op, &of_layer[2], 1, 1}, {&op, NULL, 1, 0}};
    const uh_card_command end = {.kind = UH_CARD_RECORD};
    uh_card_products shared = {.driver = &DRIVER, .context = &seen};
    const uh_card_run run = {
        .shared = &shared, .in = &in, .n_in = 1, .frame = (char *)frame, .position = &position, .capacity = 9};
    uh_card_stretch stretch = {
        .run = &run, .graph = &seen, .commands = &end, .n_commands = 1, .parts = parts, .ends = ends, .lacking = &lacking,
        .out = &to_out, .n_out = 1, .answer = &to_logits, .n_answer = 1, .came = (const char *)came, .log = (const char *)log,
        .end = 3, .layers = 3,
    };
    uh_row row = {.position = 8};
    const uh_step step = {&row, 0, 1};
    expect(-1, 0);
    check(uh_run_stretch(context, &stretch, &step) == 3, "to the logits, if nothing is lacking");
    check(logits[0] == 30 && out[0] == 0, "which come back");
    check(kept[0] == 10 && kept[1] == 11 && kept[2] == 12, "with what is to be kept");
    check(position == 8 && frame[1] == 3.0f, "of the token that was sent");
    check(seen.calls[0] == USE && seen.calls[1] == GRAPH && seen.calls[2] == UH_CARD_RECORD && seen.calls[3] == WAIT,
          "in one go");
    memset(kept, 0, sizeof kept), logits[0] = 0, lacking = 1, stretch.first_part = 1;
    expect(-1, 0);
    check(uh_run_stretch(context, &stretch, &step) == 1 && out[0] == 20 && logits[0] == 0, "to the first that lacks an expert");
    check(kept[0] == 0 && kept[1] == 11 && kept[2] == 0, "and of no layer before or behind it anything");
    check(chosen[0] == 5 && chosen[1] == 7 && isnan(room[0]), "its router has chosen these, and left no scores here");
    memset(kept, 0, sizeof kept), out[0] = 0, lacking = -1, stretch.first_part = 0, stretch.end = 2;
    expect(-1, 0);
    check(uh_run_stretch(context, &stretch, &step) == 2 && out[0] == 20 && kept[2] == 12, "to where it was to go at most");
    for (int i = 0; i < 4; i++) {
        shared.failed = 0, out[0] = kept[0] = 0;
        expect(i, REFUSED);
        check(uh_run_stretch(context, &stretch, &step) == -1 && shared.failed == REFUSED && out[0] == 0 && kept[0] == 0,
              "a failure at call %d is told, and nothing is written", i);
    }
    shared.failed = 0, row.position = 9;
    expect(-1, 0);
    check(uh_run_stretch(context, &stretch, &step) == -1 && !shared.failed && seen.n == 0, "there is no room for such a token");
    uh_close(context);
}

void test_card(void) {
    group("work for a card");
    test_stretch();
    float x[2] = {3.0f, 4.0f}, y[3] = {0}, pinned_x[2] = {0}, pinned_y[3] = {0};
    void *parameters[1] = {NULL};
    const uh_card_command commands[5] = {
        {.kind = UH_CARD_COPY_IN, .device = 77, .host = pinned_x, .bytes = sizeof x},
        {.kind = UH_CARD_LAUNCH, .grid = {5, 6, 7}, .block = 128, .parameters = parameters},
        {.kind = UH_CARD_COPY_OUT, .device = 99, .host = pinned_y, .bytes = sizeof y},
        {.kind = UH_CARD_RECORD},
        {.kind = UH_CARD_QUERY},
    };
    int32_t at = -1;
    pinned_x[0] = 3.0f;
    expect(-1, 0);
    check(uh_card_submit(&DRIVER, commands, 5, NULL, &at) == 0 && at == 5 && seen.n == 5, "all are handed on");
    for (int i = 0; i < 5; i++) check(seen.calls[i] == commands[i].kind, "command %d in its turn", i);
    check(seen.device == 77 && seen.bytes == sizeof x, "copies go where they should");
    check(seen.grid[0] == 5 && seen.grid[1] == 6 && seen.grid[2] == 7 && seen.block == 128, "blocks are as many as said");
    check(seen.parameters == parameters, "arguments are those of the command");
    for (int i = 0; i < 5; i++) {
        expect(i, REFUSED);
        check(uh_card_submit(&DRIVER, commands, 5, NULL, &at) == REFUSED && at == i && seen.n == i + 1,
              "nothing is asked for behind command %d, which is refused", i);
    }
    expect(4, NOT_READY);
    check(uh_card_submit(&DRIVER, commands, 5, NULL, &at) == 0, "an event that is not reached is no failure");
    expect(3, NOT_READY);
    check(uh_card_submit(&DRIVER, commands, 5, NULL, &at) == NOT_READY, "but where one is recorded");

    uh_card_products shared = {.driver = &DRIVER, .context = &seen, .x = pinned_x, .y = pinned_y};
    const uh_card_matrix matrix = {&shared, commands, 5, 3, 2};
    expect(-1, 0);
    check(uh_card_product(&matrix, x, y) == 1 && y[0] == 6.0f && shared.computed == 1, "a product comes back");
    check(pinned_x[1] == 4.0f, "all of the vector is sent");
    check(seen.calls[0] == USE && seen.calls[seen.n - 1] == WAIT, "and is waited for");
    for (int i = 0; i < 7; i++) {
        shared.failed = 0;
        y[0] = 1.0f;
        expect(i, REFUSED);
        check(uh_card_product(&matrix, x, y) == 0 && shared.failed == REFUSED && y[0] == 1.0f && shared.computed == 1,
              "a failure at call %d is told, and y left alone", i);
        expect(-1, 0);
        check(uh_card_product(&matrix, x, y) == 0 && seen.n == 0, "a card that has failed is asked for nothing more");
    }
}
