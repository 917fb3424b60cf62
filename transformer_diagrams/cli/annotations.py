"""Faults as the services that check repositories read them: GitHub's lines, and SARIF."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from transformer_diagrams import __version__
from transformer_diagrams.errors import Fault


def github(fault: Fault) -> str:
    """A line that a GitHub workflow shows beside the code.

    >>> github(Fault("no-such-op", "there is no op 'geluu'"))
    "::error title=no-such-op::there is no op 'geluu'"
    """
    place = {"file": _uri(fault), "line": fault.span.line, "col": fault.span.column}
    facts = {**(place if fault.span.line else {}), "title": fault.code}
    words = ",".join(f"{name}={_escaped(str(value), ':,')}" for name, value in facts.items())
    return f"::{fault.severity} {words}::{_escaped(_said(fault))}"


def sarif(faults: Iterable[Fault]) -> dict[str, Any]:
    """A log in the Static Analysis Results Interchange Format (OASIS, version 2.1.0)."""
    listed = list(faults)
    rules = [{"id": code} for code in dict.fromkeys(fault.code for fault in listed)]
    tool = {"name": "transformer-diagrams", "version": __version__, "rules": rules}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": tool}, "results": [_result(fault) for fault in listed]}],
    }


def _result(fault: Fault) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(fault)}}
    if fault.span.line:
        place["region"] = {"startLine": fault.span.line, "startColumn": fault.span.column}
    return {
        "ruleId": fault.code,
        "level": fault.severity,
        "message": {"text": _said(fault)},
        "locations": [{"physicalLocation": place}],
    }


def _said(fault: Fault) -> str:
    """What a reader sees beside the line: the sentence, and what to do."""
    words = [f"{fault.path}: {fault.message}" if fault.path else fault.message]
    words += [f"expected: {fault.expected}"] if fault.expected else []
    words += [f"hint: {fault.hint}"] if fault.hint else []
    return "\n".join(words)


def _uri(fault: Fault) -> str:
    return PurePath(fault.span.file).as_posix()


def _escaped(text: str, more: str = "") -> str:
    for sign in f"%\r\n{more}":
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
