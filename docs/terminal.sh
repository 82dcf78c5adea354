#!/usr/bin/env bash
# The session of terminal.svg, which `cargo xtask terminal` plays in an empty folder and draws.
# Wants cauri-server, curl, jq and column on PATH.
set -eu

# Shows a command, each line behind a mark, and runs it.
run() {
    printf '%s\n' "$1" | sed $'1s/^/\x1e$ /; 2,$s/^/\x1e> /'
    eval "$1"
}

run 'cauri-server > keys.txt 2> log.txt &'
trap 'kill $!' EXIT
until grep -qs Try keys.txt; do sleep 0.1; done
run "SK=\$(grep -om1 'sk_test_[0-9A-Za-z]*' keys.txt)   URL=http://127.0.0.1:8080/v1"
run 'curl -s $URL/payments -H "Authorization: Bearer $SK" -H "Idempotency-Key: order-1001" \
    -H "Content-Type: application/json" -d "{\"amount\":5000,\"currency\":\"XOF\",
    \"payment_method\":\"mobile_money\",\"network\":\"mtn\",\"phone\":\"+2250500000000\"}" |
    jq -c "{id, status, amount, fee_amount}"'
run 'sleep 3'
run 'curl -s $URL/events -H "Authorization: Bearer $SK" | jq -r ".data[] | [.created, .type] | @tsv"'
run 'curl -s $URL/ledger -H "Authorization: Bearer $SK" |
    jq -r ".data[] | [.type, .account, .direction, .amount, .balance_after] | @tsv" | column -t'
run 'cauri-server audit'
