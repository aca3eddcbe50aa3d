#!/usr/bin/env bash
# lessons_test.sh LESSONS FOLDER: what bin/lessons does when a lesson fails, and when it is interrupted.
set -uo pipefail
lessons=$1 out=$2
rm -rf "$out" && mkdir -p "$out"
status=0
expect() {  # expect WHAT COMMAND...
  local what=$1
  shift
  "$@" || { echo "expected: $what" && status=1; }
}

# A lesson that fails stops neither the others nor those after it, but is told to the shell.
"$lessons" only=first_gradient,generate,context_retention out="$out/failed" > "$out/failed.txt" 2> "$out/failed_errors.txt"
expect 'exit status 1' [ $? = 1 ]
expect 'the name on stderr' grep -q '^lessons: failed: generate$' "$out/failed_errors.txt"
expect 'its last words' grep -q 'generate  *failed: generate: .*train_text.safetensors' "$out/failed.txt"
expect 'them on the page' grep -q '<p class="failed">generate: .*train_text.safetensors' "$out/failed/index.html"
expect 'the one before' [ -s "$out/failed/first_gradient.svg" ]
expect 'the one behind' [ -s "$out/failed/context_retention.svg" ]
expect 'a page with them' grep -q '2 of 3 ran to the end' "$out/failed/index.html"

# Where train_text cannot run, those that need its model do not.
mkdir -p "$out/alone" && cp "$lessons" "$out/alone/lessons"
"$out/alone/lessons" only=train_text,generate out="$out/missing" > "$out/missing.txt" 2> /dev/null
expect 'exit status 1 without programs' [ $? = 1 ]
expect 'a program that is missing' grep -q 'train_text  *failed: cannot run .*/train_text: No such file' "$out/missing.txt"
expect 'one that is not run' grep -q 'generate  *failed: not run, since train_text failed' "$out/missing.txt"

# Ctrl-C ends the running lessons, and the page keeps what is done.
"$lessons" only=first_gradient,train_text,generate jobs=2 out="$out/stopped" > "$out/stopped.txt" 2>&1 &
process=$!
for _ in $(seq 600); do grep -q 'first_gradient' "$out/stopped.txt" && break; sleep 0.1; done
kill -INT $process
wait $process
expect 'exit status 130' [ $? = 130 ]
expect 'the interrupted one' grep -q 'train_text .*interrupted' "$out/stopped.txt"
expect 'a page that says so' grep -q 'interrupted after' "$out/stopped/index.html"
expect 'one that has not run' grep -q '<code>generate</code> · has not run' "$out/stopped/index.html"
expect 'what was done before' grep -q 'first_gradient.svg' "$out/stopped/index.html"
[ $status = 0 ] || cat "$out"/*.txt
exit $status
