"""A run's folder: what it says of itself, whether it is finished, and why it may be refused.

```
N2-smoke-3f9c51d0a7be/
    run.json                what is run: claim, scale, settings, seeds, rule, versions, machine; written first
    journal.jsonl           metrics as they come
    parts/                  what the run asked to keep on the way; a run that was stopped goes on from here
    unfinished/             checkpoints of a part, or of the run, that is not finished
    evidence.json           what the run found (its tensors in evidence.safetensors)
    verdict.json            what the rule says of it, with checksums of the above; written last
    figure.svg, figure.png  the picture, where it could be drawn
```

The folder is made under another name and takes its own once `run.json` is in it: it is not there, or it can
be gone on with."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import penstock
from penstock.errors import PenstockError
from penstock.files import UNFINISHED, empty, read_json, write_json
from penstock.lab.claims.claim import Verdict
from penstock.lab.runs.evidence import Damaged, checksum
from penstock.lab.runs.naming import folder_name

__all__ = ["FIGURES", "FORMAT", "RunFolder"]

FORMAT = 1
FIGURES = ("figure.svg", "figure.png")

ABOUT = "run.json"
JOURNAL = "journal.jsonl"
EVIDENCE = "evidence.json"
VERDICT = "verdict.json"
KEPT = "unfinished"
IDENTITY = ("claim", "scale", "settings", "rule")
PROVED = (ABOUT, JOURNAL, EVIDENCE)


@dataclass(frozen=True)
class RunFolder:
    """One run, at `path`; `name` is its own also while it lies under another."""

    path: Path
    name: str

    @property
    def journal(self) -> Path:
        return self.path / JOURNAL

    @property
    def evidence(self) -> Path:
        return self.path / EVIDENCE

    @property
    def is_a_run(self) -> bool:
        """Whether Penstock wrote it: nothing else is ever replaced."""
        return (self.path / ABOUT).exists()

    @property
    def finished(self) -> bool:
        return (self.path / VERDICT).exists()

    @property
    def is_sound(self) -> bool:
        """Whether it is finished, of this version, and as it was written."""
        try:
            self.about()
            self.check()
        except PenstockError:
            return False
        return True

    def part(self, name: str) -> Path:
        return self.path / "parts" / f"{name}.json"

    def kept_for(self, part: str | None) -> Path:
        """Where a part keeps what it takes to go on in its middle; without a part, the run."""
        # no part's name has a blank
        return self.path / KEPT / ("the run" if part is None else part)

    def drop_kept_for(self, part: str) -> None:
        """The part is finished. Where this is interrupted, the next start does it over."""
        empty(self.kept_for(part))

    def drop_kept(self) -> None:
        """The run is finished."""
        empty(self.path / KEPT)

    def begin(self, identity: dict[str, Any], versions: dict[str, str], machine: dict[str, Any]) -> None:
        """Write what is about to be run."""
        seeds = {name: value for name, value in identity["settings"].items() if name.startswith("seed")}
        about = {
            "format": FORMAT,
            "penstock": penstock.__version__,
            **identity,
            "seeds": seeds,
            "started": round(time.time(), 3),
            "versions": versions,
            "machine": machine,
        }
        write_json(self.path / ABOUT, about)

    def about(self) -> dict[str, Any]:
        """What `begin` wrote; a folder that is not a run, of another version, or damaged is refused by
        name."""
        try:
            about = read_json(self.path / ABOUT)
            written_by, form = about["penstock"], about["format"]
        except (FileNotFoundError, NotADirectoryError) as error:
            raise PenstockError(
                f"{self.path} is not a run: it has no {ABOUT}; move it away, or name another folder "
                f"with --runs"
            ) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self.damaged(f"{ABOUT} cannot be read") from error
        if form != FORMAT or written_by != penstock.__version__:
            raise PenstockError(
                f"{self.path} was written by Penstock {written_by}, and this is "
                f"{penstock.__version__}: install that one to "
                "read it, do it over with --fresh, or name another folder with --runs"
            )
        try:
            own_name = folder_name({key: about[key] for key in IDENTITY})
        except (KeyError, TypeError) as error:
            raise self.damaged(f"{ABOUT} lacks something") from error
        if not {"seeds", "versions", "machine", "started"} <= set(about):
            raise self.damaged(f"{ABOUT} lacks something")
        if own_name != self.name:
            raise self.damaged(f"what {ABOUT} says makes {own_name}")
        return about

    def sweep(self) -> None:
        """Remove what a crash left half-written. Only with the lock held."""
        for leftover in self.path.rglob(f".*{UNFINISHED}"):
            leftover.unlink()

    def conclude(self, verdict: Verdict, seconds: float) -> None:
        """Write the verdict, and with it that the run is finished."""
        content = {
            "verdict": verdict.word,
            "ours": verdict.ours,
            "finished": round(time.time(), 3),
            "seconds": round(seconds, 3),
            "sha256": {name: checksum((self.path / name).read_bytes()) for name in PROVED},
        }
        write_json(self.path / VERDICT, content)

    def verdict(self) -> Verdict:
        """What `conclude` wrote."""
        content = self._conclusion()
        try:
            return Verdict(content["verdict"], content["ours"])
        except (KeyError, TypeError, ValueError) as error:
            raise self.damaged(f"{VERDICT} cannot be read") from error

    def seconds(self) -> float:
        """How long the start that finished the run took."""
        return float(self._conclusion().get("seconds", 0.0))

    def check(self) -> None:
        """Whether everything is there as it was written, to the last bit."""
        proved = self._conclusion().get("sha256")
        if not isinstance(proved, dict) or set(proved) != set(PROVED):
            raise self.damaged(f"{VERDICT} lacks its checksums")
        for name, digest in proved.items():
            try:
                content = (self.path / name).read_bytes()
            except OSError as error:
                raise self.damaged(f"{name} is missing") from error
            if checksum(content) != digest:
                raise self.damaged(f"{name} is not what was written")

    def _conclusion(self) -> dict[str, Any]:
        try:
            content = read_json(self.path / VERDICT)
        except (OSError, ValueError) as error:
            raise self.damaged(f"{VERDICT} cannot be read") from error
        if not isinstance(content, dict):
            raise self.damaged(f"{VERDICT} cannot be read")
        return content

    def damaged(self, how: str | Damaged) -> PenstockError:
        return PenstockError(
            f"{self.path} is damaged ({how}): do it over with --fresh, or name another folder with --runs"
        )
