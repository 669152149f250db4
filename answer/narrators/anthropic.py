"""The narrator with a model, through Anthropic's SDK. Streams; retries what may pass; fails with a reason that people understand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from answer.prompt import SYSTEM, user_message
from nexus.errors import ModelUnavailable
from nexus.ports.answers import Packet


class AnthropicNarrator:
    """One client for the process; thread-safe. `timeout_s` is for the whole answer, by `clock` (seconds, monotonic)."""

    name = "anthropic"

    def __init__(
        self,
        *,
        api_key: str,
        model: str,
        base_url: str = "",
        timeout_s: float = 60.0,
        retries: int = 2,
        max_tokens: int = 1024,
        max_evidence_chars: int = 48_000,
        clock: Callable[[], float] = lambda: 0.0,
    ) -> None:
        import anthropic

        self._sdk = anthropic
        self._client = anthropic.Anthropic(
            api_key=api_key, base_url=base_url or None, timeout=timeout_s, max_retries=retries
        )
        self._model, self._max_tokens, self._limit = model, max_tokens, max_evidence_chars
        self._timeout, self._clock = timeout_s, clock

    def narrate(self, packet: Packet) -> Iterator[str]:
        """Text as it comes. ModelUnavailable with the reason; a stop before the end (length, refusal) is said in the reason too."""
        deadline = self._clock() + self._timeout
        stop: str | None = None
        try:
            events = self._client.messages.create(
                model=self._model,
                max_tokens=self._max_tokens,
                system=SYSTEM,
                stream=True,
                messages=[{"role": "user", "content": user_message(packet, self._limit)}],
            )
            with events:
                for event in events:
                    self._check(deadline)
                    if event.type == "content_block_delta" and event.delta.type == "text_delta":
                        yield event.delta.text
                    elif event.type == "message_delta":
                        stop = event.delta.stop_reason
                    elif event.type == "message_stop":
                        stop = stop or "end_turn"
        except self._sdk.AnthropicError as error:
            raise ModelUnavailable(self._reason(error)) from error
        except ModelUnavailable:
            raise
        except Exception as error:  # a broken stream comes as an error of the HTTP library below the SDK
            raise ModelUnavailable(f"the connection to the model broke: {type(error).__name__}") from error
        if stop is None:
            raise ModelUnavailable("the model's stream ended before its end")
        if stop != "end_turn":
            raise ModelUnavailable(
                {
                    "max_tokens": "the answer was cut at its longest length",
                    "refusal": "the model declined to answer",
                }.get(stop, f"the model stopped: {stop}")
            )

    def _check(self, deadline: float) -> None:
        if self._clock() > deadline:
            raise ModelUnavailable(f"the model took longer than {self._timeout:g} s")

    def _reason(self, error: Any) -> str:
        sdk = self._sdk
        if isinstance(error, sdk.APITimeoutError):
            return f"the model did not answer within {self._timeout:g} s"
        if isinstance(error, sdk.APIConnectionError):
            return "the model's API cannot be reached"
        if isinstance(error, sdk.AuthenticationError | sdk.PermissionDeniedError):
            return "the model's API refuses the key (NEXUS_ANSWER__API_KEY)"
        if isinstance(error, sdk.RateLimitError):
            return "the model's API limits the rate; try again later"
        if isinstance(error, sdk.NotFoundError):
            return f"the model's API does not know the model {self._model} (NEXUS_ANSWER__MODEL)"
        kind = _error_type(error)
        if kind == "overloaded_error" or getattr(error, "status_code", 0) == 529:
            return "the model is overloaded; try again later"
        if isinstance(error, sdk.APIStatusError):
            return f"the model's API answered {error.status_code} ({kind or 'no reason given'})"
        return f"the model's API failed ({kind or type(error).__name__})"

    def close(self) -> None:
        """Close connections."""
        self._client.close()


def _error_type(error: Any) -> str:
    """The API's own word for the error: in the body of a response and in an `error` event alike."""
    body = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error", body)
        if isinstance(inner, dict):
            return str(inner.get("type", ""))
    return ""
