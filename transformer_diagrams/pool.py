"""Work in several processes at once, none of which outlives the one that asked for it.

Every worker holds the reading end of a pipe whose writing end only the parent has. However the
parent ends (done, interrupted, terminated, killed), the pipe closes, and the workers leave.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from multiprocessing.connection import Connection
from typing import TypeVar

from transformer_diagrams.errors import Fault, Span

T = TypeVar("T")
R = TypeVar("R")


def several(
    work: Callable[[T], R], items: Sequence[T], workers: int | None = None
) -> Generator[tuple[T, R | None], None, None]:
    """Each item with what ``work`` makes of it, as they are ready; None when its process died.

    ``work`` must not raise, and it and the items must travel between processes. One worker, or
    one item, needs no process. A caller that may stop early closes this, which ends the work.
    """
    count = min(workers or os.cpu_count() or 1, len(items))
    if count <= 1:
        for item in items:
            yield item, work(item)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool

    reader, writer = multiprocessing.Pipe(duplex=False)
    pool = ProcessPoolExecutor(count, initializer=_follow, initargs=(reader, writer))
    try:
        futures = {pool.submit(work, item): item for item in items}
        for future in as_completed(futures):
            try:
                yield futures[future], future.result()
            except BrokenProcessPool:
                yield futures[future], None
    except BaseException:
        writer.close()  # nobody waits for what is still being made
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        writer.close()
        reader.close()


def lost(path: str) -> Fault:
    """What to say of a spec whose process died."""
    return Fault(
        "internal",
        "the process that drew it has died",
        Span(path),
        hint="memory may have run out; try it alone with `transformer-diagrams render`",
    )


def _follow(reader: Connection, writer: Connection) -> None:
    """Begin a worker: it ends with its parent, and leaves Ctrl-C to it."""
    writer.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def wait() -> None:
        reader.poll(None)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
