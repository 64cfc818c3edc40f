"""`make processors`: which it takes, whether it notices that one is not emulated, and what its table says."""

import sys
from importlib import import_module
from pathlib import Path

import pytest
from processors import ELSEWHERE, PROCESSORS, WIDE, Run, flags, kernels_that_differ, main, not_listened, table, unlike

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "book" / "reproduce.md"
KNOWN = {it.name: it for it in PROCESSORS}
HOST = {"fma": True, "width": 512, "loops": ["X86_V3", "X86_V4"], "kernels": ["SkylakeX"], "arrow": "avx512", "libm": 1}
NARROW = {"fma": False, "width": 128, "loops": [], "kernels": ["Katmai"], "arrow": "sse4_2", "libm": 2}
ROW = {
    "system": "Linux on a",
    "python": "3.11.7",
    "agree": 278,
    "claims": 279,
    "largest": 0.0312,
    "tests": 9,
    "failed": 1,
}
EMPTY = "before\n<!-- processors -->\n\n<!-- /processors -->\nafter\n"


def test_the_page_has_a_row_for_each_processor():
    rows = [line.split("|")[1].strip() for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    assert rows[rows.index("processor") + 2 :] == [*KNOWN, *ELSEWHERE]


def test_two_that_are_unlike_the_host_and_each_other():
    for host, names in {"znver4": ["x86-64-v2", "haswell"], "haswell": ["x86-64-v2", "sandybridge"]}.items():
        runnable = PROCESSORS[: list(KNOWN).index(host) + 1]
        assert [it.name for it in unlike(runnable, 2)] == names
    assert unlike(PROCESSORS[:1], 2) == []


OFF = [{"fma": True}, {"width": 256}, {"loops": ["X86_V3"]}, {"kernels": ["SkylakeX"]}, {"arrow": "avx2"}, {"libm": 1}]


@pytest.mark.parametrize("seen", OFF)
def test_a_library_that_goes_on_as_on_the_host_is_noticed(seen):
    assert not_listened(KNOWN["x86-64-v2"], NARROW, HOST) == []
    assert len(not_listened(KNOWN["x86-64-v2"], NARROW | seen, HOST)) == 1


def test_numba_is_not_given_the_features_of_the_host():
    variables = KNOWN["x86-64-v2"].environment(["amx-tile", "sse4a"], HOST["loops"])
    assert variables["NUMBA_CPU_FEATURES"] == "-amx-tile,-sse4a"
    assert variables["NPY_DISABLE_CPU_FEATURES"] == "X86_V3 X86_V4"
    assert variables["GLIBC_TUNABLES"] == "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-AVX512F,-AVX512VL"
    assert KNOWN["znver4"].environment([], HOST["loops"])["GLIBC_TUNABLES"] == ""


def test_no_two_have_the_same_in_memory_that_nobody_has_written():
    tunables = [it.memory["GLIBC_TUNABLES"] for it in PROCESSORS]
    assert len({it.split("perturb=")[1] for it in tunables}) == len(PROCESSORS)
    assert tunables[0].startswith("glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-AVX512F,-AVX512VL:glibc.malloc.perturb=")
    assert tunables[-1].startswith("glibc.malloc.perturb=")


def test_a_kernel_that_gives_other_bits_for_the_same_bits():
    def ran(name, value, calls=()):
        bits = {"sum": {"calls": calls, "bits": {"given": value, f"only on {name}": value}}}
        return Run(KNOWN[name], {}, [], bits, 1.0)

    assert list(kernels_that_differ([ran("haswell", "a"), ran("znver3", "a")])) == []
    [line] = kernels_that_differ([ran("haswell", "a"), ran("znver3", "b")])
    assert line == "sum: other bits for the same bits on haswell and znver3, in 1 of 1 calls"
    # it may, where the C library or OpenBLAS does
    assert list(kernels_that_differ([ran("haswell", "a", ["libm"]), ran("nehalem", "b", ["libm"])])) == []
    assert len(list(kernels_that_differ([ran("haswell", "a", ["libm"]), ran("znver3", "b", ["libm"])]))) == 1
    assert list(kernels_that_differ([ran("haswell", "a", ["blas"]), ran("znver3", "b", ["blas"])])) == []


def test_rows_that_were_not_run_stay():
    once = table(EMPTY, {"haswell": ROW | {"name": "haswell"}, "arm64": ROW | {"name": "arm64", "python": "3.12.1"}})
    assert (once[:7], once[-6:]) == ("before\n", "after\n")
    assert "| haswell | Linux on a | 3.11.7 | 278 of 279 | 0.031 | 9 of 10 |\n| znver3 | not run |" in once
    assert "| arm64 | Linux on a | 3.12.1 |" in once
    twice = table(once, {"haswell": ROW | {"name": "haswell", "agree": 279}})
    assert twice == once.replace("| haswell | Linux on a | 3.11.7 | 278 ", "| haswell | Linux on a | 3.11.7 | 279 ")
    with pytest.raises(ValueError, match="no marks"):
        table("no table", {})


@pytest.mark.skipif(not flags() >= set(KNOWN["sandybridge"].flags), reason="only an x86-64 with Linux acts as another")
@pytest.mark.slow
def test_planted_faults_are_found(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["processors.py", "--unlike", "2", "--planted", "--folder", str(tmp_path)])
    assert main() == 1
    said, error = capsys.readouterr()
    assert error == ""
    kernels = ("planted.total: other bits", "planted.unwritten: other bits")
    for fault in (*kernels, "a_float_to_the_last_bit: ", "an_order_of_what_is_nearly_equal: "):
        assert fault in said
    assert "test_a_sum_in_the_order" not in said


def test_only_kernels_that_say_so_add_up_in_the_width_of_vectors():
    """Their callers are left out where kernels' bits are compared, and no other kernel may be: so none may be so."""
    source = TESTS.parent / "src"
    wide = {path.relative_to(source).as_posix() for path in source.rglob("*.py") if "fastmath=" in path.read_text()}
    assert wide == {f"{name.rpartition('.')[0].replace('.', '/')}.py" for name in WIDE}
    assert all(callable(getattr(import_module(name.rpartition(".")[0]), name.rpartition(".")[2])) for name in WIDE)
