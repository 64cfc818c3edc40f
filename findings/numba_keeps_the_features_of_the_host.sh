#!/usr/bin/env bash
# numba 0.68.1 (llvmlite 0.50.0), NUMBA_CPU_NAME.
#
# A good guess: with NUMBA_CPU_NAME=x86-64-v2, a level without AVX and FMA by its definition, numba compiles code that
# such a processor runs. It does not: the name replaces the name of the host alone. The features, of which each is told
# to LLVM with a plus or a minus, stay those that the host was seen to have; only for the name "generic" do they become
# none. So on any host with FMA the function below has `vfmadd` in its code under the name of a processor without it,
# which would stop there with an illegal instruction, and a program that is tested "as on an older processor" by its
# name has the numbers of the host. NUMBA_CPU_FEATURES has to say what is missing, too.
#
# Seen on an AMD processor with AVX-512 (wide: vectors of more than 128 bits):
#   x86-64-v2: fma True wide True
#   x86-64-v2, features said: fma False wide False
#   generic: fma False wide False
# It fails if that changes, and says so where the host has no FMA, on which it shows nothing.
set -euo pipefail
grep -qw fma /proc/cpuinfo || { echo "this processor has no FMA: nothing to see"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --no-cache-dir numba==0.68.1 llvmlite==0.50.0 numpy==2.4.6
cat > "$folder/seen.py" <<'PY'
import numba
import numpy as np


@numba.njit(fastmath={"reassoc", "contract"})
def product(x, y):
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


product(np.ones(9), np.ones(9))
[code] = product.inspect_asm().values()
print("fma", "vfmadd" in code, "wide", "%ymm" in code or "%zmm" in code)
PY
missing=$("$folder/venv/bin/python" -c 'import llvmlite.binding as llvm
kept = {"cx16", "popcnt", "sahf", "sse", "sse2", "sse3", "ssse3", "sse4.1", "sse4.2", "64bit", "cmov", "cx8", "fxsr", "mmx"}
print(",".join(f"-{name}" for name in llvm.get_host_cpu_features() if name not in kept))')
seen() { env -u NUMBA_CPU_NAME -u NUMBA_CPU_FEATURES "$@" "$folder/venv/bin/python" "$folder/seen.py"; }
expect() { echo "$1: $2"; [ "$2" = "$3" ] || { echo "expected: $3"; exit 1; }; }
expect "x86-64-v2" "$(seen NUMBA_CPU_NAME=x86-64-v2)" "fma True wide True"
expect "x86-64-v2, features said" "$(seen NUMBA_CPU_NAME=x86-64-v2 NUMBA_CPU_FEATURES="$missing")" "fma False wide False"
expect "generic" "$(seen NUMBA_CPU_NAME=generic)" "fma False wide False"
