"""What one decoder is made of: frozen dataclasses that a family's function fills in from its config.

Tensor names are the original ones of the hub, in full ('model.layers.3.self_attn.q_proj'), without '.weight' where the
thing named is a linear layer or a norm, and exactly as stored where it is a bare tensor (sinks, correction biases).
"""

from __future__ import annotations

from engine.models.spec.decoder import *
from engine.models.spec.mixers import *
