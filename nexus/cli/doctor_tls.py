"""Looking at TLS files: whether they can be read, belong together and are valid."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from pathlib import Path

from nexus.cli import doctor_checks as checks
from nexus.cli.doctor_checks import Finding
from nexus.settings import Settings
from nexus.settings.load import variable


def certificates(settings: Settings) -> list[Finding]:
    """Every certificate, key and authority that the settings name."""
    now = datetime.now(UTC)
    out = []
    pairs = (
        (("otlp",), settings.otlp.tls_cert, settings.otlp.tls_key),
        (("http",), settings.http.tls_cert, settings.http.tls_key),
        (("source_tempo",), settings.source_tempo.tls_cert, settings.source_tempo.tls_key),
        (("log", "kafka"), settings.log.kafka.tls_cert, settings.log.kafka.tls_key),
    )
    for path, certificate, key in pairs:
        name = variable((*path, "tls_cert"))
        if certificate is None:
            if key is not None:
                out.append(
                    checks.certificate(
                        variable((*path, "tls_key")),
                        str(key),
                        unusable=f"{name} is missing",
                        until=None,
                        since=None,
                        now=now,
                    )
                )
            continue
        out.append(_certificate(name, certificate, now, _pair_fault(certificate, key)))
    authorities = {
        ("otlp", "tls_client_ca"): settings.otlp.tls_client_ca,
        ("source_tempo", "tls_ca"): settings.source_tempo.tls_ca,
        ("log", "kafka", "tls_ca"): settings.log.kafka.tls_ca,
    }
    for place, authority in authorities.items():
        if authority is not None:
            out.append(_certificate(variable(place), authority, now, ""))
    return out


def _pair_fault(certificate: Path, key: Path | None) -> str:
    """Why a certificate and its key cannot be used together."""
    if key is None:
        return "its key is not given"
    for path in (certificate, key):
        try:
            path.read_bytes()
        except OSError as error:
            return f"{path} cannot be read: {error.strerror}"

    def locked() -> str:
        raise ValueError("the key is encrypted; give one without a passphrase")

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=locked)
    except ValueError as error:
        return str(error)
    except (ssl.SSLError, OSError) as error:
        reason = getattr(error, "reason", None)
        return (
            "certificate and key do not belong together"
            if reason == "KEY_VALUES_MISMATCH"
            else f"not a PEM certificate with its key ({reason or error})"
        )
    return ""


def _certificate(name: str, path: Path, now: datetime, unusable: str) -> Finding:
    until = since = None
    if not unusable:
        from cryptography import x509

        try:
            found = x509.load_pem_x509_certificates(path.read_bytes())
        except OSError as error:
            unusable = f"cannot be read: {error.strerror}"
        except ValueError:
            unusable = "holds no PEM certificate"
        else:
            until, since = (
                min(item.not_valid_after_utc for item in found),
                max(item.not_valid_before_utc for item in found),
            )
    return checks.certificate(name, str(path), unusable=unusable, until=until, since=since, now=now)


__all__ = ["certificates"]
