"""One model for the whole process: ingests and questions share it."""

from __future__ import annotations

from knowledge.embedding import PassageEmbedding
from nexus.wiring.knowledge import embedding

PROVIDE = (PassageEmbedding, embedding)
