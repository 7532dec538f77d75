/* A step's experts as they come: those that are there are computed, and the next ones waited for, in one call; what has
 * come takes its place in another, for which the table is guarded. */
#include "expert_cache_internal.h"
#include "threads.h"

int32_t uh_compute_and_wait(uh_context *context, const uh_resident_layer *layer, const uh_step_args *s, const int32_t *indices, int32_t n,
                 uh_io_pool *reads, uh_io_completion *ends, int32_t most, int64_t *times) {
    times[0] = uh_nanoseconds();
    const int failed = n ? uh_moe_some(context, layer, s, indices, n) : 0;
    if (failed) return failed;
    times[1] = times[2] = uh_nanoseconds();
    if (!reads) {
        uh_combine_some(context, s, s->out, layer->layout->hidden);
        return 0;
    }
    int32_t ended = uh_io_completed(reads, ends, most, 0);
    if (ended) return ended;
    ended = uh_io_completed(reads, ends, most, 1);
    times[2] = uh_nanoseconds();
    return ended;
}

int32_t uh_cache_commit_step(uh_cache *cache, int32_t base, const int64_t *ids, int32_t *awaited, int32_t k, const int32_t *ran,
                      int32_t n_ran, const uh_io_completion *ends, int32_t n, uh_load_result *arrived, int32_t *indices,
                      uh_batch_stats *came) {
    int32_t experts[UH_MOST_ASKED], wanted = 0, ready = 0;
    experts[0] = 0; /* where none ran and none is awaited, it is passed on all the same */
    for (int32_t i = 0; i < n_ran; i++) experts[i] = base + (int32_t)ids[ran[i]];
    if (n_ran) uh_cache_unpin(cache, experts, n_ran);
    for (int32_t index = 0; index < k; index++)
        if (awaited[index]) experts[wanted++] = base + (int32_t)ids[index];
    uh_cache_commit(cache, ends, n, experts, wanted, arrived);
    *came = (uh_batch_stats){0};
    for (int32_t i = 0; i < n; i++) {
        const uh_load_result *a = arrived + i;
        if (a->status == UH_IO_WHOLE) {
            came->reads++;
            came->nbytes += a->nbytes;
            came->ns += a->ns;
            came->upgraded += a->urgency == UH_UPGRADE;
        } else {
            came->failed++;
        }
        for (int32_t index = 0; a->awaited && index < k; index++) {
            if (!awaited[index] || base + (int32_t)ids[index] != a->expert) continue;
            if (a->status == UH_IO_WHOLE && a->planes >= awaited[index]) {
                indices[ready++] = index;
                awaited[index] = 0;
            } else {
                came->too_coarse++;
                if (a->status == UH_IO_WHOLE) uh_cache_unpin(cache, &a->expert, 1);
            }
        }
    }
    return ready;
}

int32_t uh_cache_commit_completed(uh_cache *cache, uh_io_completion *ends, int32_t most, uh_load_result *arrived, uh_batch_stats *came) {
    const int32_t n = cache->n_under_way ? uh_io_completed(cache->reads, ends, most, 0) : 0;
    if (n) uh_cache_commit_step(cache, 0, NULL, NULL, 0, NULL, 0, ends, n, arrived, NULL, came);
    return n;
}
