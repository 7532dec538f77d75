/* Layers one after the other without the processor in between: which experts of a token lie on the card, and what the
 * processor needs of each layer afterwards. Blocks of UH_THREADS. */
#include "matrix.cuh"

/* The experts that were chosen, as uh_gate_up and uh_down take them, one for each slot; those that the card lacks have no
 * planes. experts: all of the layer. lacking: the first layer that lacks one; -1: none so far. By one block. */
UH_KERNEL uh_find(const int64_t *ids, const uh_expert *experts, uh_expert *listed, int32_t *lacking, int32_t layer, int32_t k) {
    const int32_t rank = threadIdx.x;
    if (rank < k) {
        uh_expert own = experts[ids[rank]];
        own.first_slot = rank, own.count = 1, own.most = 0;
        listed[rank] = own;
    }
    if (rank || *lacking >= 0) return;
    bool all = true;
#pragma unroll 1
    for (int32_t i = 0; i < k; i++) all = all && experts[ids[i]].planes;
    if (!all) *lacking = layer;
}

enum { UH_SPANS = 4 };

/* Words of a frame, and where they go. */
typedef struct {
    int32_t from[UH_SPANS], to[UH_SPANS], words[UH_SPANS];
} uh_spans;

UH_DEVICE void uh_copy_words(const uint32_t *from, uint32_t *to, int32_t words) {
#pragma unroll 1
    for (int32_t i = blockIdx.x * UH_THREADS + threadIdx.x; i < words; i += gridDim.x * UH_THREADS) to[i] = from[i];
}

/* What ordinary memory keeps of a layer goes to the log; where the layer is the first that lacks an expert, or the last of
 * its stretch, and none lacked one, `words` of the frame from `first` on are kept: what follows is of no use, or nothing does. */
UH_KERNEL uh_keep(const uh_spans spans, const uint32_t *frame, uint32_t *log, uint32_t *kept, const int32_t *lacking,
                  int32_t layer, int32_t last, int32_t words, int32_t first) {
#pragma unroll
    for (int s = 0; s < UH_SPANS; s++) uh_copy_words(frame + spans.from[s], log + spans.to[s], spans.words[s]);
    if (*lacking == layer || (last && *lacking < 0)) uh_copy_words(frame + first, kept, words);
}
