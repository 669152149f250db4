"""Recorded traces into a running receiver: files of several formats -> OTLP requests -> gRPC or HTTP.

`documents` opens a file and cuts it into documents, `formats` says what a document is, one reader a format turns it
into `ResourceSpans`, `pack` makes requests of a bounded size, `send` delivers them, `run` counts.
"""
