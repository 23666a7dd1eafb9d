#!/usr/bin/env bash
# Everything a change has to pass, in the order of speed. Ends with "N passed, N failed, N skipped".
# As root on Debian it installs the packages that suites need; elsewhere those suites say that they are skipped.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=0

packages=(bubblewrap chromium postgresql python3 python3-pip rabbitmq-server)
missing=()
# RUNLEVEL=1 below: services are not started; tests start brokers and databases of their own.
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ "${#missing[@]}" -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "== installing ${missing[*]}"
    # The package of PostgreSQL would make a cluster of its own, and start it.
    cluster=/etc/postgresql-common/createcluster.conf
    [ -e "$cluster" ] || { mkdir -p "${cluster%/*}" && echo 'create_main_cluster = false' >"$cluster"; }
    { apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-confold "${missing[@]}"; } >/dev/null ||
      echo "could not install ${missing[*]}: the suites that need them are skipped"
  else
    echo "not installed: ${missing[*]}; the suites that need them are skipped"
  fi
fi

echo '== check'
npm run -s check || failed=1

echo '== build'
npm run -s build || failed=1

echo '== test'
report=$(mktemp)
GANTRY_TEST_BUILD=1 vitest run --reporter=default --reporter=json --outputFile.json="$report" || failed=1
counts=$(node scripts/count-tests.ts "$report" "$failed") || { counts='0 passed, 1 failed, 0 skipped'; failed=1; }
rm -f "$report"
echo "$counts"
exit "$failed"
