#!/usr/bin/env bash
# segue beside PyTorch (training steps) and OpenBLAS (products of matrices), on this machine:
#
#   tests/benchmarks/compare.sh [FILTER] [ROUNDS] [THREADS]
#
# FILTER is that of bin/benchmark: train_step, matmul, or parts of names with commas between; without it all of both.
# The two take turns, three ROUNDS of five runs each unless told otherwise, so that a disturbance meets both. THREADS
# are 1,2. The tables say old / new: above 1 segue is faster. The lines of JSON stay in out/. The variables BENCHMARK and
# PYTHON name other programs. Where more programs run than there are cores, PyTorch on several threads mostly waits for
# its own: then only one thread and the column of CPU times mean anything.
set -euo pipefail
cd "$(dirname "$0")/../.."
filter=${1:-train_step,matmul} rounds=${2:-3} threads=${3:-1,2}
benchmark=${BENCHMARK:-build/release/bin/benchmark}
reference=tests/benchmarks/pytorch_reference.py
if [ ! -x "$benchmark" ]; then
  echo "compare.sh: $benchmark is missing; cmake --preset release && cmake --build --preset release builds it" >&2
  exit 1
fi
python=${PYTHON:-}
for candidate in python3 /usr/bin/python3; do  # the system's has the system's packages, which another may hide
  if [ -z "$python" ] && "$candidate" -c 'import torch, numpy' 2>/dev/null; then python=$candidate; fi
done
python=${python:-python3}
cases=$("$benchmark" list=true filter="$filter" | { grep -E '^(train_step|matmul)_' || true; } | paste -sd, -)
if [ -z "$cases" ]; then
  echo "compare.sh: no case with \"$filter\" in its name is one that PyTorch or OpenBLAS can run" >&2
  exit 1
fi

mkdir -p out
ours=out/benchmark_segue.jsonl theirs=out/benchmark_pytorch.jsonl
rm -f "$ours" "$theirs"
for round in $(seq "$rounds"); do
  echo "round $round of $rounds" >&2
  "$python" "$reference" cases="$cases" threads="$threads" runs=5 >>"$theirs"
  "$benchmark" filter="$cases" threads="$threads" runs=5 out="$ours.round" >/dev/null
  cat "$ours.round" >>"$ours"
  rm "$ours.round"
done
"$benchmark" compare="$theirs" with="$ours"
if [[ $threads == *,* ]]; then
  printf '\nThe fastest number of threads of either:\n'
  "$benchmark" compare="$theirs" with="$ours" best=true
fi
