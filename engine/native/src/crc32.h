/* The checksum of zlib (CRC-32, polynomial 0x04c11db7, bits reflected), several times as fast. */
#ifndef UH_CRC32_H
#define UH_CRC32_H

#include "underhill_kernels.h"

/* How it is computed: each as fast as the one before or faster. */
enum { UH_CRC_TABLE, UH_CRC_CLMUL, UH_CRC_VCLMUL, UH_CRC_WAYS };

/* Which of them this processor can do, as bits 1 << UH_CRC_TABLE and so on. */
UH_API int uh_crc32_ways(void);
/* The checksum of n bytes behind those whose checksum is `crc` (0: there are none). way: -1 takes the fastest. */
UH_API uint32_t uh_crc32(int way, uint32_t crc, const uint8_t *bytes, int64_t n);
/* What bytes whose checksum is `crc` add to that of a whole, when n bytes come behind them: the checksum of several pieces,
 * one behind the other, is the exclusive or of what each of them adds. */
UH_API uint32_t uh_crc32_before(uint32_t crc, int64_t n);

#endif
