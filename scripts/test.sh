#!/usr/bin/env bash
# Everything a change has to pass, in the order of speed. Ends with "N passed, N failed, N skipped".
set -uo pipefail
cd "$(dirname "$0")/.."
failed=0

echo '== check'
npm run -s check || failed=1

echo '== build'
npm run -s build || failed=1

echo '== test'
report=$(mktemp)
vitest run --reporter=default --reporter=json --outputFile.json="$report" || failed=1
counts=$(node -e '
  const { numPassedTests: passed = 0, numFailedTests: failed = 0, numPendingTests: skipped = 0 } = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
  const [, , wrong] = process.argv;
  console.log(`${passed} passed, ${failed || Number(wrong)} failed, ${skipped} skipped`);
' "$report" "$failed" 2>/dev/null) || { counts="0 passed, 1 failed, 0 skipped"; failed=1; }
rm -f "$report"
echo "$counts"
exit "$failed"
