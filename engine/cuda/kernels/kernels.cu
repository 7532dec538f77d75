/* All kernels, one module. */
#include "vectors.cu"

#include "experts.cu"
#include "gemm.cu"

#include "layer.cu"
#include "attention.cu"
#include "prompt.cu"
#include "latent.cu"

#include "stretch.cu"
