"""The rest of a file over HTTP: asked for again and again, until the file is complete.

A file grows as ``NAME.part``. Beside it, ``NAME.part.tag`` holds what the server called the version
that the part belongs to (its ETag or date). A later run asks for the rest of *that* version
(``Range`` with ``If-Range``, RFC 9110, sections 13.1.5 and 14.2); of any other version, or of a
server that cannot send a rest, it takes the whole. A file whose checksum is known needs no tag.
"""

from __future__ import annotations

import http.client
import re
import shutil
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.message import Message
from importlib import metadata
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from poshgrid import files, logs
from poshgrid.corpora.catalogue import Download
from poshgrid.errors import PoshgridError

_CHUNK = 1 << 20  # bytes
_RETRIED = {408, 425, 429, 500, 502, 503, 504}  # the server may answer otherwise in a while
_LONGEST_WAIT = 120.0  # seconds

log = logs.get(__name__)


@dataclass(frozen=True)
class Patience:
    """How long a download waits and how often it tries."""

    attempts: int = 5  # in a row that bring no new byte
    wait: float = 2.0  # seconds before the second attempt; doubled before each later one
    timeout: float = 60.0  # seconds without a byte
    sleep: Callable[[float], None] = time.sleep


class _CutError(Exception):
    """The connection failed or ended early; another attempt may help."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait  # seconds that the server asks for


class _StaleError(Exception):
    """The part does not fit what the server has; it has been put away."""


def complete(item: Download, stream: IO[bytes], part: Path, patience: Patience) -> None:
    """Bring a part to its full length, however many connections that takes.

    Args:
        item: what to download.
        stream: the part, open for appending; nobody else writes it.
        part: its path.
        patience: how often and how long is tried.

    Raises:
        PoshgridError: no network, refused by the server, or no space. The part stays.
        OSError: the part cannot be written.
    """
    failures, before = 0, size(part)
    while True:
        try:
            _once(item, stream, part, patience)
            return
        except _StaleError:
            # Happens once for a part: it is empty now, and an empty part cannot be stale.
            before = 0
        except _CutError as cut:
            stream.flush()
            now = size(part)
            failures = 1 if now > before else failures + 1
            before = max(before, now)
            if failures >= patience.attempts:
                host = urlsplit(item.url).netloc
                raise PoshgridError(
                    f"{item.url}: {cut}; check the network, the proxy and that {host} is up, then "
                    f"run again ({now:,} bytes are kept)"
                ) from cut
            wait = min(cut.wait or patience.wait * 2 ** (failures - 1), _LONGEST_WAIT)
            log.warning("%s: %s; again in %.0f s", item.url, cut, wait)
            patience.sleep(wait)


def _once(item: Download, stream: IO[bytes], part: Path, patience: Patience) -> None:
    """Ask once for what a part lacks and append it.

    Raises:
        _CutError: the connection failed, or ended before the last byte.
        _StaleError: the part was of another version; it is empty now.
        PoshgridError: no later attempt can help.
        OSError: the part cannot be written.
    """
    start = _resumable(item, part)
    if start != size(part):
        _empty(stream, part)
    # Some publishers refuse clients without a name.
    agent = f"poshgrid/{metadata.version('poshgrid')} (research corpus builder; Python-urllib)"
    headers = {"User-Agent": agent, "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
        tag = _read_tag(part, item.url)
        if tag:
            headers["If-Range"] = tag
    try:
        response = _ask(item, headers, patience)
    except urllib.error.HTTPError as error:
        with error:
            if _total(error.headers) == start:  # nothing is lacking
                return
            _empty(stream, part)
            raise _StaleError from error
    with response:
        _check_type(item, response.headers)  # first: a login page must not cost us the part
        start = _agree(item, response, start, stream, part)
        total = _length(response.headers, response.status, start)
        if total is None and item.sha256 is None:
            log.warning("%s: the server does not tell its length: look at its end", item.url)
        _check_space(item, part, None if total is None else total - start)
        pieces = None if total is None else -(-(total - start) // _CHUNK)
        for chunk in logs.progress(_chunks(response), f"fetching {item.file} (MiB)", pieces):
            stream.write(chunk)
    stream.flush()
    got = size(part)
    if total is not None and got < total:
        raise _CutError(f"the connection ended after {got:,} of {total:,} bytes")
    if total is not None and got > total:
        _empty(stream, part)
        raise _CutError(f"the server sent {got:,} bytes instead of {total:,}")


def _agree(
    item: Download,
    response: Any,  # noqa: ANN401 - see _ask
    start: int,
    stream: IO[bytes],
    part: Path,
) -> int:
    """Return the byte at which an answer begins, which is where the part ends.

    Raises:
        _StaleError: the answer begins elsewhere than was asked; the part is empty now.
        _CutError: the same, though the part was empty already.
    """
    if response.status == 206:
        if _first_byte(response.headers) == start:
            return start
        if not start:
            raise _CutError("the server sent a range that was not asked for")
        _empty(stream, part)
        raise _StaleError
    if start:
        log.info("%s: changed, or cannot be resumed; from the start", item.url)
        _empty(stream, part)
    _write_tag(part, item.url, response.headers)
    return 0


def _ask(item: Download, headers: dict[str, str], patience: Patience) -> Any:  # noqa: ANN401
    """Return the server's answer (an ``http.client.HTTPResponse``; urllib's types say ``Any``).

    Raises:
        _CutError: no answer, or one that may be another in a while.
        urllib.error.HTTPError: the range that was asked for does not exist (416).
        PoshgridError: refused.
    """
    request = urllib.request.Request(item.url, headers=headers)
    try:
        return _OPENER.open(request, timeout=patience.timeout)
    except urllib.error.HTTPError as error:
        if error.code == 416 and "Range" in headers:
            raise
        with error:
            if error.code in _RETRIED:
                reason = f"the server answers {error.code} {error.reason}"
                raise _CutError(reason, _retry_after(error.headers)) from error
            raise PoshgridError(_refusal(item, error)) from error
    except urllib.error.URLError as error:
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            raise PoshgridError(
                f"{item.url}: the server's certificate is not trusted "
                f"({error.reason.verify_message}); check the clock and the proxy, and set "
                "SSL_CERT_FILE if the network has a certificate of its own"
            ) from error
        raise _CutError(f"no connection ({_reason(error.reason)})") from error
    except (http.client.HTTPException, OSError) as error:
        raise _CutError(f"no answer ({_reason(error)})") from error


class _Redirect(urllib.request.HTTPRedirectHandler):
    """Follow redirects, but never from https to a connection that anybody may alter."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if req.full_url.startswith("https:") and not newurl.startswith("https:"):
            raise PoshgridError(
                f"{req.full_url}: sent on to {newurl}, which is not encrypted; download it by hand "
                "if you trust it"
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_OPENER = urllib.request.build_opener(_Redirect)


def _chunks(response: Any) -> Iterator[bytes]:  # noqa: ANN401 - see _ask
    """Yield what arrives; a broken connection is a :class:`_CutError`, not an ``OSError``."""
    while True:
        try:
            chunk = response.read(_CHUNK)
        except http.client.IncompleteRead as error:
            if error.partial:
                yield error.partial
            raise _CutError("the connection ended early") from error
        except (http.client.HTTPException, OSError) as error:
            raise _CutError(f"the connection broke ({_reason(error)})") from error
        if not chunk:
            return
        yield chunk


def _resumable(item: Download, part: Path) -> int:
    """Return how many bytes of a part may be kept: all, or none if nobody knows what they are."""
    known = item.sha256 is not None or _read_tag(part, item.url) is not None
    return size(part) if known else 0


def _tag(part: Path) -> Path:
    return part.with_name(part.name + ".tag")


def _read_tag(part: Path, url: str) -> str | None:
    """Return the version that a part belongs to; ``None`` if that is unknown or of another URL."""
    try:
        of, version = _tag(part).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError, ValueError):
        return None
    return version if of == url else None


def _write_tag(part: Path, url: str, headers: Message) -> None:
    """Note the version that a new part belongs to: a strong ETag, else the date of the file."""
    etag = headers.get("ETag", "").strip()
    # A weak ETag may stand for other bytes; If-Range must not carry one.
    version = etag if etag.startswith('"') else headers.get("Last-Modified", "").strip()
    if version and version.isprintable():
        files.write_text(_tag(part), f"{url}\n{version}\n")
    else:
        _tag(part).unlink(missing_ok=True)


def _empty(stream: IO[bytes], part: Path) -> None:
    """Start a part anew. The tag goes first: a part without one is never taken for a version."""
    _tag(part).unlink(missing_ok=True)
    stream.flush()
    if size(part):
        stream.truncate(0)


def remove(part: Path) -> None:
    """Remove a part and the note of its version, if they are there."""
    part.unlink(missing_ok=True)
    _tag(part).unlink(missing_ok=True)


def size(path: Path) -> int:
    """Return the bytes of a file; 0 if there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _length(headers: Message, code: int, start: int) -> int | None:
    """Return the length of the whole file; ``None`` if the server does not tell."""
    if code == 206 and _total(headers) is not None:
        return _total(headers)
    length = headers.get("Content-Length", "")
    if not length.isdecimal():
        return None
    return int(length) + (start if code == 206 else 0)


def _total(headers: Message) -> int | None:
    match = re.fullmatch(r"bytes (?:\d+-\d+|\*)/(\d+)", headers.get("Content-Range", "").strip())
    return int(match[1]) if match else None


def _first_byte(headers: Message) -> int | None:
    match = re.match(r"bytes (\d+)-", headers.get("Content-Range", "").strip())
    return int(match[1]) if match else None


def _retry_after(headers: Message) -> float | None:
    """Return the seconds that a server asks for; a date there counts as nothing."""
    value = headers.get("Retry-After", "")
    return float(value) if value.isdecimal() else None


def _check_type(item: Download, headers: Message) -> None:
    """Refuse a page where a file should be: a login, a notice, a hotel's network.

    Raises:
        PoshgridError: the answer is HTML.
    """
    if headers.get_content_type() == "text/html" and "Content-Type" in headers:
        raise PoshgridError(
            f"{item.url}: the answer is a web page, not {item.file}; open the address in a browser "
            "and see what it wants"
        )


def _check_space(item: Download, part: Path, needed: int | None) -> None:
    """Refuse before the first byte what cannot fit on the disk.

    Raises:
        PoshgridError: there is less space than is needed.
    """
    free = shutil.disk_usage(part.parent).free
    if needed is not None and free < needed:
        raise PoshgridError(
            f"{part.parent}: {item.file} needs {needed:,} more bytes and {free:,} are free; free "
            "space, or give another folder with --data"
        )


def _refusal(item: Download, error: urllib.error.HTTPError) -> str:
    """Return the line for an answer that no later attempt changes."""
    hint = {
        401: "the publisher wants an account; download it by hand",
        403: "the publisher refuses automatic downloads from here; download it by hand",
        404: "the publisher has moved it; look for it on the homepage in docs/sources.md",
        410: "the publisher has removed it; look for it on the homepage in docs/sources.md",
    }.get(error.code, "download it by hand")
    return f"{item.url}: the server answers {error.code} {error.reason}; {hint}"


def _reason(error: object) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())
