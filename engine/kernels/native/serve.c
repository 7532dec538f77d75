/* One token's experts as they come: those that are there are computed, and the next ones waited for, in one call; what has
 * come takes its place in another, for which the table is guarded. */
#include "shelf_internal.h"
#include "threads.h"

enum { MOST = 64 }; /* experts per token */

int32_t uh_serve(uh_context *context, const uh_residents *layer, const uh_serving *s, const int32_t *ranks, int32_t n,
                 uh_reads *reads, uh_read_end *ends, int32_t most, int64_t *times) {
    times[0] = uh_nanoseconds();
    const int failed = n ? uh_moe_some(context, layer, s->ids, ranks, n, s->k, s->x, s->out) : 0;
    if (failed) return failed;
    times[1] = times[2] = uh_nanoseconds();
    if (!reads) {
        uh_combine_some(context, s->weights, s->needed, s->out, s->y, s->k, layer->layout->hidden);
        return 0;
    }
    int32_t ended = uh_reads_take(reads, ends, most, 0);
    if (ended) return ended;
    ended = uh_reads_take(reads, ends, most, 1);
    times[2] = uh_nanoseconds();
    return ended;
}

int32_t uh_shelf_came(uh_shelf *shelf, int32_t first, const int64_t *ids, int32_t *awaited, int32_t k, const int32_t *ran,
                      int32_t n_ran, const uh_read_end *ends, int32_t n, uh_arrived *arrived, int32_t *ranks,
                      uh_came *came) {
    int32_t experts[MOST], wanted = 0, ready = 0;
    for (int32_t i = 0; i < n_ran; i++) experts[i] = first + (int32_t)ids[ran[i]];
    if (n_ran) uh_shelf_unpin(shelf, experts, n_ran);
    for (int32_t rank = 0; rank < k; rank++)
        if (awaited[rank]) experts[wanted++] = first + (int32_t)ids[rank];
    uh_shelf_arrive(shelf, ends, n, experts, wanted, arrived);
    *came = (uh_came){0};
    for (int32_t i = 0; i < n; i++) {
        const uh_arrived *a = arrived + i;
        if (a->status == UH_READ_WHOLE) {
            came->reads++;
            came->nbytes += a->nbytes;
            came->ns += a->ns;
            came->repaired += a->urgency == UH_REPAIR;
        } else {
            came->failed++;
        }
        for (int32_t rank = 0; a->awaited && rank < k; rank++) {
            if (!awaited[rank] || first + (int32_t)ids[rank] != a->expert) continue;
            if (a->status == UH_READ_WHOLE && a->planes >= awaited[rank]) {
                ranks[ready++] = rank;
                awaited[rank] = 0;
            } else {
                came->lacking++;
                if (a->status == UH_READ_WHOLE) uh_shelf_unpin(shelf, &a->expert, 1);
            }
        }
    }
    return ready;
}

int32_t uh_shelf_collect(uh_shelf *shelf, uh_read_end *ends, int32_t most, uh_arrived *arrived, uh_came *came) {
    const int32_t n = shelf->n_under_way ? uh_reads_take(shelf->reads, ends, most, 0) : 0;
    if (n) uh_shelf_came(shelf, 0, NULL, NULL, 0, NULL, 0, ends, n, arrived, NULL, came);
    return n;
}
