"""Bit planes and HQQ: weights to codes whose prefixes are coarser codes."""
