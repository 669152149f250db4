"""`nexus diff`: the drift report, and the gate for CI."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from nexus.cli.exits import UNAVAILABLE
from nexus.cli.options import Data, Json
from nexus.errors import BadQuestion, ConfigError, NexusError


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    environment: Annotated[str | None, typer.Option(help="Only this environment.", show_default=False)] = None,
    namespace: Annotated[
        str | None, typer.Option(help="Only findings that touch this namespace.", show_default=False)
    ] = None,
    from_: Annotated[
        datetime | None,
        typer.Option("--from", help="Start of the window (default: the last 28 closed days).", show_default=False),
    ] = None,
    to: Annotated[datetime | None, typer.Option(help="End of the window.", show_default=False)] = None,
    flag: Annotated[str, typer.Option(help="confirmed, doc_only, observed_only or conflict.", show_default=False)] = "",
    status: Annotated[str, typer.Option(help="A finding kind, e.g. absent_strong.", show_default=False)] = "",
    entity: Annotated[str, typer.Option(help="Only findings at this node.", show_default=False)] = "",
    min_severity: Annotated[str, typer.Option(help="low, medium or high.", show_default=False)] = "",
    state: Annotated[
        str, typer.Option(help="new, open, acknowledged, suppressed, resolved, reopened or held.", show_default=False)
    ] = "",
    limit: Annotated[int, typer.Option(min=0, help="Findings at most; 0 = all. The gate always looks at all.")] = 0,
    format_: Annotated[
        str, typer.Option("--format", help="table, json, markdown, sarif, junit, csv or html.")
    ] = "table",
    as_json: Json = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the report to this file.", show_default=False)
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            help="Flag, finding kind or severity that makes exit code 1 (repeatable, or comma-separated; default any; none = never).",
            show_default=False,
        ),
    ] = None,
    lang: Annotated[str, typer.Option(help="Language of the report: en or ko.")] = "en",
    fail_on_undecided: Annotated[
        bool, typer.Option("--fail-on-undecided", help="Exit code 3 where a finding is undecided and none fails.")
    ] = False,
    baseline: Annotated[
        Path | None, typer.Option(help="File of findings that are known and do not fail.", show_default=False)
    ] = None,
    write_baseline: Annotated[
        bool,
        typer.Option(
            "--write-baseline", help="Make the baseline file from the present findings, where there is none yet."
        ),
    ] = False,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Take what is fixed out of the baseline file; never adds.")
    ] = False,
    suppressions: Annotated[
        Path | None,
        typer.Option(help="YAML file of suppressions, each with reason, owner and expiry.", show_default=False),
    ] = None,
    stored: Annotated[bool, typer.Option("--stored", help="Show the newest stored run instead of making one.")] = False,
    run: Annotated[str, typer.Option(help="Show this stored run.", show_default=False)] = "",
    clearance: Annotated[
        str, typer.Option(help="See what this clearance sees (on the database; a server goes by the token).")
    ] = "INTERNAL",
    tenant: Annotated[str, typer.Option(help="Tenant (on the database).")] = "default",
    root: Annotated[
        str | None,
        typer.Option(
            help="Prefix of document URIs to take off in the report (default: the present folder).", show_default=False
        ),
    ] = None,
    data: Data = None,
) -> None:
    """Compare documents with traces and print what differs. Exit 0 no drift, 1 drift, 2 could not run, 3 undecided (if asked).

    Runs against NEXUS_API_URL where that is set, else against NEXUS_DATABASE__URL or the data folder, also beside a service that runs.
    """
    # Imported here: other commands start without the diff.
    from diff.baseline import parse_baseline, shrunk
    from diff.baseline import write_baseline as baseline_text
    from diff.compare import kinds
    from diff.gate import annotated, judge, relative, threshold
    from diff.korean import LANGUAGES, report_in
    from diff.suppressions import parse_suppressions
    from nexus.cli.drift_source import source
    from nexus.model.document import Classification
    from nexus.plugins import load_plugins
    from nexus.ports.drift import FindingFilter

    format_ = "json" if as_json else format_
    try:
        formats = load_plugins("diff.reports", "REPORT")
        if format_ not in formats:
            raise BadQuestion(f"--format {format_}: none of {', '.join(formats)}")
        if lang not in LANGUAGES:
            raise BadQuestion(f"--lang {lang}: none of {', '.join(LANGUAGES)}")
        limit_on = threshold([part for item in fail_on or [] for part in item.split(",") if part], kinds())
        known = parse_baseline(_read(baseline), str(baseline)) if baseline is not None and not write_baseline else None
        quiet = parse_suppressions(_read(suppressions), str(suppressions)) if suppressions is not None else []
        if write_baseline and (baseline is None or baseline.exists()):
            raise BadQuestion(
                "--write-baseline needs --baseline FILE, and that file must not be there yet; it only shrinks afterwards (--update-baseline)"
            )
        level = Classification(clearance.upper()) if clearance.upper() in Classification.__members__ else None
        if level is None:
            raise BadQuestion(f"--clearance {clearance}: none of PUBLIC, INTERNAL, RESTRICTED")
        wanted = FindingFilter(
            tenant,
            level,
            environment=environment,
            namespace=namespace,
            start=_utc(from_),
            end=_utc(to),
            flag=flag,
            status=status,
            entity=entity,
            min_severity=min_severity,
            state=state,
            run=run,
        )
        with source(data, wanted) as at:
            report = at.report(wanted, compute=not (stored or run))
    except ConfigError:
        raise
    except NexusError as error:
        print(f"nexus: {error}", file=sys.stderr)
        raise typer.Exit(UNAVAILABLE) from error
    if report is None:
        print("nexus: no run is stored yet; run without --stored", file=sys.stderr)
        raise typer.Exit(UNAVAILABLE)
    now = datetime.now(UTC)
    if write_baseline and baseline is not None:
        _write(baseline, baseline_text(report.findings))
        known = parse_baseline(_read(baseline), str(baseline))
    report = annotated(relative(report, root if root is not None else f"{Path.cwd().as_uri()}/"), quiet, known, now)
    verdict = judge(report, limit_on, fail_on_undecided=fail_on_undecided, suppressions=quiet, baseline=known, now=now)
    if update_baseline and baseline is not None and known is not None:
        text, gone = shrunk(_read(baseline), str(baseline), report.findings)
        _write(baseline, text)
        print(f"nexus: {len(gone)} fixed findings taken out of {baseline}", file=sys.stderr)
    shown = formats[format_].render(_cut(report_in(report, lang), limit))
    if output is not None:
        _write(output, shown)
    else:
        sys.stdout.write(shown)
    for note in verdict.notes:
        print(f"nexus: {note}", file=sys.stderr)
    if verdict.failing:
        print(f"nexus: {len(verdict.failing)} findings reach the threshold", file=sys.stderr)
    elif verdict.code:
        print(f"nexus: {len(verdict.undecided)} findings are undecided", file=sys.stderr)
    raise typer.Exit(verdict.code)


def _cut(report: object, limit: int) -> object:
    from dataclasses import replace

    from nexus.ports.drift import Report

    assert isinstance(report, Report)
    return (
        replace(report, findings=report.findings[:limit], next="more")
        if limit and len(report.findings) > limit
        else report
    )


def _read(path: Path | None) -> str:
    assert path is not None
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}"
        raise BadQuestion(msg) from error


def _write(path: Path, text: str) -> None:
    """A file that cannot be written is a report that could not be made, and not drift."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"nexus: {path}: cannot be written: {error.strerror}", file=sys.stderr)
        raise typer.Exit(UNAVAILABLE) from error


def _utc(at: datetime | None) -> datetime | None:
    return None if at is None else (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
