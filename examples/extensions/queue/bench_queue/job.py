"""A job, which waits for a free place in the queue and then becomes the lane's process. Usage: `job FOLDER COUNT
PLACE... WORDS...`"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from bench_queue.locks import take

_AGAIN_S = 0.2


def main() -> None:
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    places, words = sys.argv[3 : 3 + count], sys.argv[3 + count :]
    (folder / "pid").write_text(str(os.getpid()))
    if (folder / "cancelled").exists():
        return
    while (place := next((taken for path in places if (taken := take(Path(path))) is not None), None)) is None:
        time.sleep(_AGAIN_S)
    os.set_inheritable(place, True)
    (folder / "began").touch()
    os.execv(sys.executable, [sys.executable, "-c", "from benchbrief.start import main; main()", *words])  # noqa: S606  # no shell


if __name__ == "__main__":
    main()
