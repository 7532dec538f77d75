"""A store of a shape from nothing but every layer's first expert: no checkpoint of the whole model is ever there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.formats.checkpoint import Checkpoint, small_files
from engine.quantization.planes import EncodedExpert, encode
from engine.record.layout import ExpertSpec
from engine.store.datafile import TensorShape
from engine.store.manifest import Source
from engine.store.writer import Description, LayerShape, StoreWriter, dense_key, record_key
from tests.random_models.rolled import RolledEncoder
from tests.random_models.shapes import Shape

GROUP = 64
Say = Callable[[str], None]


def write_store(shape: Shape, seed: Path, store: Path, top: int, say: Say) -> Path:
    """The store that importing the whole checkpoint would give, at `top` bits.

    seed: a checkpoint with the first expert of every layer (write_checkpoint, first_only). Interrupted, it continues.
    """
    checkpoint = Checkpoint.open(seed)
    spec = ExpertSpec(shape.hidden, shape.intermediate, top, GROUP)
    layers = [LayerShape(i, shape.experts, spec) for i in range(shape.layers)]
    layers += [LayerShape(i, shape.experts, spec, mtp=True) for i in shape.mtp]
    entries = [e for name, e in checkpoint.entries.items() if ".experts." not in name]
    rolled = RolledEncoder(shape)
    with StoreWriter(store, f"{shape} {top}", layers, [TensorShape(e.name, e.dtype, e.shape) for e in entries]) as w:
        for layer in layers:
            missing = [e for e in range(shape.experts) if w.done(record_key(layer.index, e)) is None]
            if not missing:
                continue
            say(f"Layer {layer.index + 1} of {len(layers)}")
            first = _first(shape, checkpoint, spec, layer.index)
            for expert in missing:
                w.write_record(layer.index, expert, rolled.moved(first, spec, expert).record, None)
        for e in entries:
            if w.done(dense_key(e.name)) is None:
                w.write_dense(e.name, checkpoint.chunks(e.name))
        source = Source(str(seed), "", "", ())
        config = checkpoint.config
        return w.finish(Description(source, str(config["model_type"]), config, small_files(seed), ()))


def _first(shape: Shape, checkpoint: Checkpoint, spec: ExpertSpec, layer: int) -> EncodedExpert:
    matrices = {m.name: checkpoint.tensor(shape.expert_tensor(layer, 0, m.name)) for m in spec.matrices}
    return encode(matrices, spec, layer, 0)
