#!/usr/bin/env bash
# lesson_page_browser_test.sh LESSONS BROWSER FOLDER: runs the quick lessons and looks at their page in a browser, which
# alone knows whether pictures have a size, links lead somewhere, and a page fits on a phone.
set -euo pipefail
lessons=$1 browser=$2 out=$3
names=(first_gradient stop_gradient context_retention)
rm -rf "$out" && mkdir -p "$out"
out=$(cd "$out" && pwd)
"$lessons" only="$(IFS=, && echo "${names[*]}")" out="$out"

# A page of our own holds the page in frames as wide as a phone and a desk, and turns into a list of what is found there.
cat > "$out/check.html" <<'END'
<!DOCTYPE html>
<meta charset="utf-8">
<iframe src="index.html" width="400" height="800"></iframe>
<iframe src="index.html" width="1200" height="800"></iframe>
<script>
function findings(frame) {
  const page = frame.contentDocument, found = [], all = what => [...page.querySelectorAll(what)];
  const check = (good, fault) => { if (!good) found.push(`fault at ${frame.width} px: ${fault}`); };
  const wide = page.documentElement.scrollWidth;
  check(wide <= frame.contentWindow.innerWidth, `the page is ${wide} px wide`);
  for (const svg of all('svg')) {
    const box = svg.getBoundingClientRect(), name = svg.getAttribute('aria-labelledby');
    check(box.width > 200 && box.height > 100, `picture ${name} has ${box.width} x ${box.height} px`);
    check([...svg.querySelectorAll('text')].some(text => text.getComputedTextLength() > 20), `${name} has no words (is there a font?)`);
    for (const id of name.split(' ')) check(page.getElementById(id)?.textContent, `nothing is called ${id}`);
  }
  for (const image of all('img')) check(image.naturalWidth > 0, `${image.src} was not loaded`);
  const ids = all('[id]').map(element => element.id);
  check(new Set(ids).size == ids.length, `an id stands twice in ${ids}`);
  for (const pre of all('section > pre')) check(pre.clientHeight > 20, 'what was printed is not seen');
  for (const link of all('a')) {
    const target = link.getAttribute('href');
    if (target.startsWith('#')) check(page.getElementById(target.slice(1)), `no place for ${target}`);
    else found.push(`link: ${decodeURIComponent(new URL(link.href).pathname)}`);
  }
  return [...found, `seen: ${all('section').length} sections, ${all('nav li').length} contents, ${all('svg').length} pictures`];
}
onload = () => { document.body.textContent = '\n' + [...document.querySelectorAll('iframe')].flatMap(findings).join('\n') + '\n'; };
</script>
END
"$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
  --disable-component-update --disable-sync --user-data-dir="$out/browser" --allow-file-access-from-files \
  --window-size=1300,900 --enable-logging=stderr --dump-dom "file://$out/check.html" > "$out/seen.txt" 2> "$out/log.txt"
rm -rf "$out/browser"

status=0
fail() { echo "$1" && status=1; }
grep '^fault' "$out/seen.txt" && status=1
grep ':CONSOLE' "$out/log.txt" && status=1
[ "$(grep -c '^seen: 3 sections, 3 contents, 3 pictures$' "$out/seen.txt")" = 2 ] || fail "expected 3 sections and 3 pictures twice: $(grep '^seen' "$out/seen.txt")"
links=$(sed -n 's/^link: //p' "$out/seen.txt" | sort -u)
while IFS= read -r file; do [ -e "$file" ] || fail "links to nothing: $file"; done <<< "$links"
for name in "${names[@]}"; do
  grep -q "/$name.csv$" <<< "$links" || fail "no link to $name.csv"
done
[ "$(grep -c '/docs/[0-9a-z_]*\.md$' <<< "$links")" = 3 ] || fail "expected links to 3 pages of the book"
echo "$(wc -l <<< "$links") links"
exit $status
