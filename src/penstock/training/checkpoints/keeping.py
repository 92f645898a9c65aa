"""The checkpoints of one ensemble: written now and then, the last good one read."""

import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.errors import PenstockError
from penstock.files import make_folder
from penstock.training.checkpoints.content import pack, unpack
from penstock.training.checkpoints.file import Damaged, read, write
from penstock.training.checkpoints.fingerprint import difference
from penstock.training.checkpoints.when import Checkpoints
from penstock.training.ensemble import Ensemble

__all__ = ["Keeping"]

_KEPT = 2


class Keeping:
    """`group` tells the files of one ensemble from those of the next in the same folder."""

    def __init__(self, asked: Checkpoints, group: int, identity: Mapping[str, Any]):
        self._asked, self._group, self._identity = asked, group, identity
        self._written, self._epoch = time.monotonic(), 0
        make_folder(asked.folder)

    def resume(self, ensemble: Ensemble) -> bool:
        """Put the ensemble where its last good checkpoint says; whether there is one."""
        damaged: dict[Path, str] = {}
        for path in reversed(self._found()):
            try:
                about, tensors = read(path)
            except Damaged as reason:
                damaged[path] = str(reason)
                continue
            self._refuse_foreign(path, about)
            unpack(ensemble, about, tensors)
            ensemble.saved, self._epoch = path, ensemble.epoch
            for bad, why in damaged.items():
                aside = bad.rename(bad.with_suffix(".damaged"))
                warnings.warn(
                    f"the checkpoint {bad} is damaged ({why}) and now called {aside.name}; going on from "
                    f"{path.name}",
                    stacklevel=2,
                )
            return True
        if damaged:
            path, why = next(iter(damaged.items()))
            raise PenstockError(
                f"the checkpoint {path} is damaged ({why}), and there is no other; remove it to begin anew"
            )
        return False

    def write_if_due(self, ensemble: Ensemble) -> None:
        """Between two steps."""
        seconds, epochs = self._asked.seconds, self._asked.epochs
        due = seconds is not None and time.monotonic() - self._written >= seconds
        if due or (epochs is not None and ensemble.epoch - self._epoch >= epochs):
            self.write(ensemble)

    def write(self, ensemble: Ensemble) -> None:
        """Write one now, and remove what is older than the last two. What a member that diverged could go
        back to stays."""
        ensemble.settle()
        about, tensors = pack(ensemble)
        ensemble.saved = self._path(ensemble)
        write(ensemble.saved, {**about, "identity": self._identity}, tensors)
        pinned = {each.diverged.checkpoint for each in ensemble.trained if each.diverged is not None}
        for old in self._found()[:-_KEPT]:
            if old not in pinned:
                old.unlink(missing_ok=True)
        self._written, self._epoch = time.monotonic(), ensemble.epoch

    def _path(self, ensemble: Ensemble) -> Path:
        return self._asked.folder / f"{self._group}-{ensemble.epoch:06d}-{ensemble.step:08d}.safetensors"

    def _found(self) -> list[Path]:
        return sorted(self._asked.folder.glob(f"{self._group}-*-*.safetensors"))

    def _refuse_foreign(self, path: Path, about: Mapping[str, Any]) -> None:
        where = difference(about["identity"], self._identity)
        if where is not None:
            raise PenstockError(
                f"the checkpoint {path} is of another training ({where}); name another folder, or remove it"
            )
