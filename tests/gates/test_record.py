from collections.abc import Mapping

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from oracle import gates as oracle
from penstock import GateRecord, PenstockError
from penstock.gates.kinds import Above, Choice, Clipped, Magnitude, Rectifier, Smooth
from penstock.gates.layer import BitLayer, GateLayer, ValueLayer
from penstock.gates.selection import rows_of

KINDS = [Rectifier(), Rectifier(0.1), Clipped(), Magnitude(), Choice.of(1, 2)]
sizes = {"n": st.integers(1, 6), "width": st.integers(2, 140), "seed": st.integers(0, 2**31)}


def record_of(
    n: int = 6, width: int = 70, seed: int = 0, smooth: bool = False, shift: float = 0.0
) -> GateRecord:
    """A layer of each kind; in the first, unit 0 is dead and unit 1 always open."""
    generator = torch.Generator().manual_seed(seed)
    kinds = [*KINDS, Smooth.silu()] if smooth else KINDS
    layers = []
    for place, kind in enumerate(kinds):
        q = 4 * torch.randn(n, 2, width, generator=generator, dtype=torch.float64) + shift
        q[:, 0, 0], q[:, 0, 1] = -1, 1
        layers.append(GateLayer.of(f"layer{place}", kind, q))
    return GateRecord(layers)


def dense(record: GateRecord) -> dict[str, Tensor]:
    return record.to_dense()


class TestMapping:
    def test_layers_stand_by_name_in_the_order_of_the_calls(self):
        layers = [GateLayer.of(name, Rectifier(), torch.randn(2, 3)) for name in ("z", "a", "relu:2")]
        record = GateRecord(layers)
        assert isinstance(record, Mapping)
        assert list(record) == list(record.names) == ["z", "a", "relu:2"]
        assert [record[name] for name in record] == layers
        assert len(record) == 3
        assert record.examples == len(record["z"]) == 2
        assert record.shapes == {"z": (3,), "a": (3,), "relu:2": (3,)}

    def test_an_unknown_name_is_a_key_error_that_names_the_nearest(self):
        record = GateRecord([GateLayer.of("blocks.0.relu", Rectifier(), torch.randn(2, 3))])
        with pytest.raises(
            PenstockError, match=r"no gate layer called 'block.0.relu'; the nearest is blocks.0.relu"
        ):
            record["block.0.relu"]
        with pytest.raises(KeyError):
            record["block.0.relu"]
        assert "block.0.relu" not in record
        assert record.get("block.0.relu") is None
        assert 3 not in record

    def test_two_layers_of_one_name_are_refused(self):
        layer = GateLayer.of("relu", Rectifier(), torch.randn(2, 3))
        with pytest.raises(PenstockError, match="two layers called relu"):
            GateRecord([layer, layer])

    def test_a_record_of_no_layers_is_refused(self):
        with pytest.raises(PenstockError, match="at least one layer"):
            GateRecord([])

    def test_layers_of_different_numbers_of_examples_are_refused(self):
        layers = [
            GateLayer.of("a", Rectifier(), torch.randn(2, 3)),
            GateLayer.of("b", Rectifier(), torch.randn(4, 3)),
        ]
        with pytest.raises(PenstockError, match="layer b holds 4 rows of gates and the layer a 2"):
            GateRecord(layers)


class TestMemory:
    def test_a_hard_gate_takes_one_bit(self):
        layer = GateLayer.of("relu", Rectifier(), torch.randn(10, 4, 16, 16))
        assert layer.gates == 1024
        assert layer.nbytes * 8 == 10 * 1024

    def test_relu6_takes_two(self):
        assert GateLayer.of("relu6", Clipped(), torch.randn(10, 1024)).nbytes * 8 == 10 * 2048

    def test_a_smooth_gate_takes_a_number(self):
        layer = GateLayer.of("silu", Smooth.silu(), torch.randn(10, 1024))
        assert isinstance(layer, ValueLayer)
        assert layer.nbytes == 10 * 1024 * 4
        assert not layer.values.requires_grad


class TestStatistics:
    @given(**sizes)
    def test_they_are_those_of_the_dense_gates(self, n: int, width: int, seed: int):
        record = record_of(n, width, seed)
        for name, gates in dense(record).items():
            assert gates.dtype == torch.bool
            assert gates.shape == (n, *record[name].shape)
            assert (
                record[name].fraction_open
                == record.fraction_open[name]
                == pytest.approx(float(gates.double().mean()))
            )
            assert torch.equal(record.dead[name], ~gates.any(0))
            assert torch.equal(record.always_open[name], gates.all(0))

    def test_a_dead_and_an_always_open_unit_are_found(self):
        layer = record_of(n=40)["layer0"]
        assert layer.dead[0, 0]
        assert not layer.dead[0, 1]
        assert layer.always_open[0, 1]
        assert not layer.always_open[0, 0]

    def test_the_gates_of_an_example_are_counted(self):
        record = record_of(n=3, width=10)
        assert [layer.gates for layer in record.values()] == [20, 20, 20, 20, 2 * 5 * 2]
        assert record.gates == 100


class TestSmooth:
    COUNTED = pytest.mark.parametrize("count", [
        lambda r: r.fraction_open, lambda r: r.dead, lambda r: r.always_open, lambda r: r.overlap(),
        lambda r: r.hamming(r), lambda r: r["layer5"].words,
    ])  # fmt: skip

    @COUNTED
    def test_what_counts_bits_says_how_to_get_them(self, count):
        with pytest.raises(PenstockError, match=r"layer5 \(SiLU\) are numbers, .* record.active\(0.5\)"):
            count(record_of(smooth=True))

    @COUNTED
    def test_with_a_threshold_named_bits_are_counted(self, count):
        record = record_of(smooth=True).active(0.5)
        assert record["layer5"].kind == Above(Smooth.silu(), 0.5)
        count(record)

    def test_both_kinds_of_gates_live_in_one_record(self):
        gates = dense(record_of(smooth=True))
        assert gates["layer0"].dtype == torch.bool
        assert gates["layer5"].dtype == torch.float64

    @given(threshold=st.floats(0, 1), **sizes)
    def test_active_gates_are_those_above_the_threshold(
        self, threshold: float, n: int, width: int, seed: int
    ):
        record = record_of(n, width, seed, smooth=True)
        active = record.active(threshold)
        assert all(isinstance(layer, BitLayer) for layer in active.values())
        assert torch.equal(active["layer5"].to_dense(), record["layer5"].to_dense() > threshold)

    @pytest.mark.parametrize("threshold", [-0.1, float("nan"), float("inf")])
    def test_a_threshold_that_means_nothing_is_refused(self, threshold: float):
        with pytest.raises(PenstockError, match="threshold of active gates must be finite and at least 0"):
            record_of(smooth=True).active(threshold)


class TestSelect:
    SELECTIONS = pytest.mark.parametrize("examples", [
        2, -1, np.int64(3), torch.tensor(4), slice(1, 4), slice(None, None, -2), slice(-3, None), range(2, 5),
        [0, -1, 0], (5, 2), np.array([1, 1]), torch.tensor([3, -6]), torch.tensor([3], dtype=torch.uint8),
        [True, False, True, False, False, True], np.array([False] * 5 + [True]), torch.arange(6) % 2 == 0,
    ], ids=str)  # fmt: skip

    @SELECTIONS
    def test_examples_are_selected_as_numpy_selects_rows(self, examples):
        record = record_of(smooth=True)
        selected = record.select(examples)
        for name, gates in dense(record).items():
            index = examples.numpy() if isinstance(examples, Tensor) else examples
            index = list(index) if isinstance(index, (range, tuple)) else index
            expected = np.atleast_2d(gates.flatten(1).numpy()[index])
            assert (dense(selected)[name].flatten(1).numpy() == expected).all()
            assert selected[name].kind == record[name].kind

    @pytest.mark.parametrize("examples", [6, -7, [0, 6], np.array([-7])], ids=str)
    def test_an_example_out_of_range_is_refused(self, examples):
        with pytest.raises(
            PenstockError, match=r"there is no example (6|-7): the record holds 6, numbered from 0 to 5"
        ):
            record_of().select(examples)

    def test_a_mask_of_another_length_is_refused(self):
        with pytest.raises(PenstockError, match="the mask has 4 entries and the record 6 examples"):
            record_of().select(torch.ones(4, dtype=torch.bool))

    @pytest.mark.parametrize("examples", [slice(4, 2), [], torch.zeros(6, dtype=torch.bool)], ids=str)
    def test_a_selection_of_nothing_is_refused(self, examples):
        with pytest.raises(PenstockError, match="keeps none of the 6 examples"):
            record_of().select(examples)

    @pytest.mark.parametrize(
        "examples", [1.5, torch.tensor([0.0]), True, [[0, 1]], np.array(1j), "all", None], ids=str
    )
    def test_what_is_no_selection_is_refused(self, examples):
        with pytest.raises(PenstockError, match="examples are selected by a whole number, a slice, a list"):
            rows_of(examples, 6)

    def test_a_selection_does_not_share_memory_with_the_whole(self):
        record = record_of()
        part = record.select(slice(0, 2))
        record["layer0"].words.zero_()
        assert part["layer0"].fraction_open > 0


class TestComparing:
    @given(**sizes)
    def test_overlap_counts_the_gates_open_for_both(self, n: int, width: int, seed: int):
        record, other = record_of(n, width, seed), record_of(3, width, seed + 1)
        for name, gates in dense(record).items():
            assert record.overlap()[name].tolist() == oracle.shared(gates, gates)
            assert record.overlap(other)[name].tolist() == oracle.shared(gates, dense(other)[name])

    def test_overlap_of_relu6_counts_open_gates_and_none_that_hold_6(self):
        record = GateRecord([GateLayer.of("relu6", Clipped(), torch.tensor([[1.0, 7.0, -1.0]]))])
        assert record.overlap()["relu6"].tolist() == [[1]]

    @given(**sizes)
    def test_hamming_counts_differing_gates_example_by_example(self, n: int, width: int, seed: int):
        record, other = record_of(n, width, seed), record_of(n, width, seed + 1)
        for name, kind in zip(record, KINDS, strict=True):
            patterns = record[name].pattern(), other[name].pattern()
            assert record.hamming(other)[name].tolist() == oracle.differing(*patterns), kind
            assert record.hamming(record)[name].tolist() == [0] * n

    @given(**sizes)
    def test_between_different_inputs_hamming_distance_follows_from_overlap(
        self, n: int, width: int, seed: int
    ):
        record = record_of(n, width, seed)
        tau, gates = record.overlap()["layer0"], dense(record)["layer0"]
        pairwise = tau.diag()[:, None] + tau.diag()[None, :] - 2 * tau
        assert pairwise.tolist() == [[int((a != b).sum()) for b in gates] for a in gates]

    def test_records_of_different_networks_are_not_compared(self):
        record = record_of()
        fewer = GateRecord(list(record.values())[:-1])
        for compare in (record.overlap, fewer.overlap, record.hamming, fewer.hamming):
            other = fewer if compare.__self__ is record else record
            with pytest.raises(PenstockError, match="only one of the records holds the layer layer4"):
                compare(other)

    def test_records_of_different_shapes_are_not_compared(self):
        with pytest.raises(
            PenstockError, match=r"layer0 has gates of shape \(2, 70\) in one record and \(2, 71\)"
        ):
            record_of().overlap(record_of(width=71))

    def test_hamming_needs_the_same_examples(self):
        with pytest.raises(PenstockError, match="6 and 5 examples"):
            record_of().hamming(record_of(n=5))

    def test_hamming_does_not_compare_two_states_with_three(self):
        q = torch.randn(2, 3)
        relu, relu6 = (GateRecord([GateLayer.of("act", kind, q)]) for kind in (Rectifier(), Clipped()))
        with pytest.raises(PenstockError, match="act is ReLU in one record and ReLU6 in the other"):
            relu.hamming(relu6)


class TestEquality:
    @given(**sizes)
    def test_records_of_the_same_gates_are_equal(self, n: int, width: int, seed: int):
        assert record_of(n, width, seed, smooth=True) == record_of(n, width, seed, smooth=True)

    def test_one_gate_makes_a_difference(self):
        q = torch.randn(2, 3)
        other = q.clone()
        other[1, 2] *= -1
        assert GateRecord([GateLayer.of("a", Rectifier(), q)]) != GateRecord(
            [GateLayer.of("a", Rectifier(), other)]
        )

    def test_so_do_the_third_state_the_kind_the_name_the_shape_and_the_order(self):
        q = torch.tensor([[7.0, 1.0]])
        record = GateRecord([GateLayer.of("a", Clipped(), q), GateLayer.of("b", Rectifier(), q)])
        for others in (
            [GateLayer.of("a", Clipped(), torch.tensor([[-7.0, 1.0]])), GateLayer.of("b", Rectifier(), q)],
            [GateLayer.of("a", Clipped(), q), GateLayer.of("b", Rectifier(0.1), q)],
            [GateLayer.of("a", Clipped(), q), GateLayer.of("c", Rectifier(), q)],
            [GateLayer.of("a", Clipped(), q), GateLayer.of("b", Rectifier(), q.reshape(1, 2, 1))],
            [GateLayer.of("b", Rectifier(), q), GateLayer.of("a", Clipped(), q)],
        ):
            assert record != GateRecord(others)

    def test_a_record_equals_no_mapping_of_another_kind(self):
        record = record_of()
        assert record != dict(record)
        assert (record == 3) is False
        with pytest.raises(TypeError):
            hash(record)


class TestMaking:
    @given(cut=st.integers(1, 5), **sizes)
    def test_batches_joined_are_the_whole(self, cut: int, n: int, width: int, seed: int):
        whole = record_of(n + 5, width, seed, smooth=True)
        assert GateRecord.concatenate([whole.select(slice(0, cut)), whole.select(slice(cut, None))]) == whole

    def test_patterns_of_one_batch_make_a_record(self):
        q = torch.randn(4, 3, 5)
        kinds = {"relu": Rectifier(), "relu6": Clipped(), "silu": Smooth.silu()}
        record = GateRecord.from_patterns((name, kind, kind.read(q)) for name, kind in kinds.items())
        assert record == GateRecord(GateLayer.of(name, kind, q) for name, kind in kinds.items())

    def test_records_of_different_networks_are_not_joined(self):
        q = torch.randn(2, 3)
        relu, leaky = (GateRecord([GateLayer.of("a", Rectifier(slope), q)]) for slope in (0.0, 0.1))
        with pytest.raises(PenstockError, match=r"layer a is ReLU .* in one and LeakyReLU 0.1"):
            GateRecord.concatenate([relu, leaky])
        with pytest.raises(PenstockError, match="only one of the records holds the layer layer4"):
            GateRecord.concatenate([record_of(), GateRecord(list(record_of().values())[:-1])])

    def test_a_record_of_gates_without_units_of_their_own_and_without_any(self):
        layers = [
            GateLayer.of("one", Rectifier(), torch.tensor([1.0, -1.0])),
            GateLayer.of("none", Rectifier(), torch.ones(2, 0)),
        ]
        record = GateRecord(layers)
        assert record.shapes == {"one": (), "none": (0,)}
        assert record.overlap()["one"].tolist() == [[1, 0], [0, 0]]
        assert record.overlap()["none"].tolist() == [[0, 0], [0, 0]]
        assert dense(record)["one"].tolist() == [True, False]
        assert record.fraction_open == {"one": 0.5, "none": 0.0}


class TestReading:
    def test_the_summary_is_a_table_of_the_layers(self):
        q = torch.tensor([[1.0, -1.0, 1.0, -1.0], [1.0, -1.0, -1.0, -1.0]])
        record = GateRecord(
            [GateLayer.of("features.relu", Rectifier(), q), GateLayer.of("silu", Smooth.silu(), 0 * q)]
        )
        assert str(record) == record.summary()
        assert record.summary().splitlines() == [
            "GateRecord of 2 examples: 2 layers, 8 gates an example, 48 bytes",
            "layer          kind  gates  number       open  dead  always open",
            "features.relu  ReLU  4           4      37.5%     2            1",
            "silu           SiLU  4           4  mean 0.50     -            -",
        ]

    def test_the_repr_counts_nothing(self, monkeypatch):
        record = record_of(smooth=True)
        monkeypatch.setattr("penstock.gates.layer.count_bits", None)
        lines = repr(record).splitlines()
        assert lines[0] == "GateRecord of 6 examples: 6 layers, 840 gates an example, 7.58 kB"
        assert lines[1].split() == ["layer", "kind", "gates", "number"]
        assert [line.split()[0] for line in lines[2:]] == list(record)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
class TestCuda:
    def test_a_gpu_records_the_same_gates(self):
        q = 4 * torch.randn(5, 3, 30)
        for kind in [*KINDS, Smooth.gelu()]:
            there, here = GateLayer.of("a", kind, q.cuda()), GateLayer.of("a", kind, q)
            assert there.tensors[0].is_cuda
            if kind.hard:
                assert there == here == there.to("cpu")
            assert torch.allclose(there.to_dense().cpu().float(), here.to_dense().float(), atol=1e-6)

    def test_a_record_on_a_gpu_answers_as_on_the_cpu(self, tmp_path):
        here = record_of(n=40)
        there = here.to("cuda")
        assert there == here
        for name in here:
            assert torch.equal(there.overlap()[name].cpu(), here.overlap()[name])
            assert torch.equal(there.overlap(here)[name].cpu(), here.overlap(here)[name])
            assert torch.equal(there.dead[name].cpu(), here.dead[name])
            assert torch.equal(there.hamming(here)[name].cpu(), here.hamming(here)[name])
        assert there.select([0, 1]) == here.select([0, 1])
        there.save(tmp_path / "record")
        assert GateRecord.load(tmp_path / "record") == here
