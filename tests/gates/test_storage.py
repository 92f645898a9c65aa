import json
import os
import stat
import subprocess
import sys
import textwrap
import zlib
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from penstock import GateRecord, PenstockError, Soft
from penstock.gates import storage
from penstock.gates.gate import Gate
from penstock.gates.kinds import Above, AdaptiveChoice, Choice, Clipped, Kind, Magnitude, Rectifier, Smooth
from penstock.gates.layer import GateLayer

KINDS: list[Kind] = [
    Rectifier(), Rectifier(0.1), Rectifier(torch.tensor([0.1, -0.2, 0.3])), Clipped(), Clipped(-1, 1),
    Magnitude(), Choice.of(2, 3, 2, 1, 1, True), AdaptiveChoice.of(2, (2, None)), Smooth.silu(),
    Smooth.gelu(), Smooth.gelu("tanh"), Smooth(Soft(3.0, 0.2)), Above(Smooth.silu(), 0.5),
    Above(Rectifier(torch.tensor([0.1])), 0.05),
]  # fmt: skip


def record_of(n: int = 3, seed: int = 0, dtype: torch.dtype = torch.float32) -> GateRecord:
    generator = torch.Generator().manual_seed(seed)
    q = 4 * torch.randn(n, 3, 7, 5, generator=generator).to(dtype)
    return GateRecord(GateLayer.of(f"layer {place}/é", kind, q) for place, kind in enumerate(KINDS))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gates.safetensors"


class TestRoundTrip:
    @given(
        n=st.integers(1, 5),
        seed=st.integers(0, 2**31),
        dtype=st.sampled_from([torch.bfloat16, torch.float32, torch.float64]),
    )
    def test_what_is_loaded_is_what_was_saved(self, tmp_path_factory, n: int, seed: int, dtype: torch.dtype):
        path = tmp_path_factory.mktemp("record") / "gates"
        record = record_of(n, seed, dtype)
        record.save(path)
        assert GateRecord.load(path) == record

    def test_a_loaded_record_answers_like_the_saved_one(self, path):
        record = record_of().active(0.5)
        record.save(str(path))
        loaded = GateRecord.load(str(path))
        assert str(loaded) == str(record)
        for name, counts in record.overlap().items():
            assert torch.equal(loaded.overlap()[name], counts)
        q = torch.randn(3, 3, 7, 5)
        for name, layer in record_of().items():
            record_of().save(path)
            assert torch.equal(GateRecord.load(path)[name].apply(q), layer.apply(q))

    def test_a_part_of_a_loaded_record_can_be_saved_over_it(self, path):
        record = record_of()
        record.save(path)
        loaded = GateRecord.load(path)
        loaded.select([2, 0]).save(path)
        assert GateRecord.load(path) == record.select([2, 0])
        assert loaded == record

    def test_two_layers_may_share_one_slope(self, path):
        kind, q = Rectifier(torch.tensor([0.3])), torch.randn(2, 4)
        record = GateRecord([GateLayer.of("a", kind, q), GateLayer.of("b", kind, q)])
        record.save(path)
        assert GateRecord.load(path) == record

    def test_the_file_holds_one_bit_a_gate(self, path):
        GateRecord([GateLayer.of("relu", Rectifier(), torch.randn(1000, 4096))]).save(path)
        assert 0 <= path.stat().st_size - 1000 * 4096 // 8 < 1000

    def test_loading_maps_the_file_and_does_not_copy_it(self, path):
        GateRecord([GateLayer.of("relu", Rectifier(), torch.randn(1000, 4096))]).save(path)
        record = GateRecord.load(path)
        maps = Path("/proc/self/maps")
        if not maps.exists():
            pytest.skip("needs /proc")
        assert str(path) in maps.read_text()
        assert record["relu"].fraction_open == pytest.approx(0.5, abs=0.01)

    def test_the_file_has_the_users_own_permissions(self, path):
        record_of().save(path)
        plain = path.with_name("plain")
        plain.touch()
        assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


class TestWholeOrNotAtAll:
    @pytest.mark.parametrize("moment", ["safetensors", "fsync", "replace"])
    @pytest.mark.parametrize(
        "error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "interrupted"]
    )
    def test_a_failure_while_writing_leaves_what_was_there(self, path, monkeypatch, moment, error):
        record_of(seed=1).save(path)
        before = path.read_bytes()

        def fail(*_, **__):
            raise error

        place = {"safetensors": (storage, "save_file"), "fsync": (os, "fsync"), "replace": (os, "replace")}[
            moment
        ]
        monkeypatch.setattr(*place, fail)
        with pytest.raises((PenstockError, KeyboardInterrupt)) as raised:
            record_of(seed=2).save(path)
        if isinstance(error, OSError):
            assert (
                str(raised.value)
                == f"the record cannot be written to {path}: No space left on device; choose another place"
            )
        assert path.read_bytes() == before
        assert list(path.parent.iterdir()) == [path]

    def test_a_process_killed_inside_the_write_leaves_what_was_there(self, path):
        record_of(seed=1).save(path)
        script = f"""
            import os, signal
            from penstock.gates import storage
            from penstock import GateRecord
            record = GateRecord.load({str(path)!r})
            write = storage.save_file

            def die(tensors, place, metadata):
                write(tensors, place, metadata=metadata)
                with open(place, "r+b") as file:
                    file.truncate(1000)
                os.kill(os.getpid(), signal.SIGKILL)

            storage.save_file = die
            record.select([0]).save({str(path)!r})
        """
        ended = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
        assert ended.returncode == -9
        assert GateRecord.load(path) == record_of(seed=1)

    def test_a_folder_that_is_not_there_is_named(self, tmp_path):
        with pytest.raises(
            PenstockError, match=r"cannot be written to .*nowhere/gates: No such file or directory"
        ):
            record_of().save(tmp_path / "nowhere" / "gates")

    def test_a_folder_in_the_place_of_the_file_is_named(self, tmp_path):
        with pytest.raises(PenstockError, match="which is a folder; name a file in it"):
            record_of().save(tmp_path)

    def test_a_kind_of_the_users_own_is_refused_before_anything_is_written(self, path):
        class Mine(Gate):
            def value(self, q):
                return q.sigmoid()

            def slope(self, q):
                return q

        layer = GateLayer.of("mine", Smooth(Mine()), torch.randn(2, 3))
        with pytest.raises(PenstockError, match=r"gates of the kind Mine cannot be saved"):
            GateRecord([layer]).save(path)
        assert not list(path.parent.iterdir())


class TestRefusals:
    def test_a_file_that_is_not_there(self, path):
        with pytest.raises(PenstockError, match=f"the file {path} cannot be read: there is no such file"):
            GateRecord.load(path)

    def test_a_folder(self, tmp_path):
        with pytest.raises(PenstockError, match=f"{tmp_path} is a folder"):
            GateRecord.load(tmp_path)

    @pytest.mark.parametrize(
        "content",
        [b"", b"hello", b"\0" * 1000, b"PK\x03\x04" + b"x" * 99],
        ids=["empty", "text", "zeros", "zip"],
    )
    def test_a_file_of_another_kind(self, path, content):
        path.write_bytes(content)
        with pytest.raises(PenstockError, match=f"the file {path} is no gate record, or it is damaged"):
            GateRecord.load(path)

    def test_tensors_that_are_no_record(self, path):
        save_file({"weight": torch.ones(3)}, path)
        with pytest.raises(PenstockError, match=f"{path} holds tensors but no gate record"):
            GateRecord.load(path)

    def test_a_record_of_a_later_format(self, path, monkeypatch):
        monkeypatch.setattr(storage, "VERSION", 2)
        record_of().save(path)
        monkeypatch.undo()
        with pytest.raises(
            PenstockError,
            match=f"{path} is a gate record of format 2 and this version of Penstock reads up to 1",
        ):
            GateRecord.load(path)

    @given(share=st.floats(0, 0.999))
    def test_a_truncated_record(self, tmp_path_factory, share: float):
        path = tmp_path_factory.mktemp("record") / "gates"
        record_of().save(path)
        os.truncate(path, int(share * path.stat().st_size))
        with pytest.raises(PenstockError, match=f"{path} is no gate record, or it is damaged"):
            GateRecord.load(path)

    @given(data=st.data())
    def test_any_byte_changed_is_found_or_changes_nothing(self, tmp_path_factory, data):
        path = tmp_path_factory.mktemp("record") / "gates"
        record_of(n=1).save(path)
        content = bytearray(path.read_bytes())
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= data.draw(st.integers(1, 255))
        path.write_bytes(content)
        try:
            loaded = GateRecord.load(path)
        except PenstockError:
            return
        assert loaded == record_of(n=1)

    @pytest.mark.parametrize("change", [
        {"shape": [3, 7, 50]}, {"shape": "round"}, {"examples": 2}, {"tensors": ["9.9"]}, {"kind": None},
        {"kind": {"is": "Teapot"}}, {"kind": {"is": "Clipped", "high": -1}}, {"kind": {"is": "Smooth"}},
    ], ids=str)  # fmt: skip
    def test_a_description_that_does_not_fit_its_tensors(self, path, change):
        record_of().save(path)
        with safe_open(path, framework="pt") as file:
            header = file.metadata()
        told = json.loads(header["record"])
        told["layers"][0] |= change
        text = json.dumps(told)
        checksum = str(zlib.crc32(text.encode()))
        save_file(load_file(path), path, metadata=header | {"record": text, "checksum": checksum})
        with pytest.raises(PenstockError, match=f"{path} is no gate record, or it is damaged"):
            GateRecord.load(path)
