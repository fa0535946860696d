/**
 * Adds up vitest's JSON reports. Usage: count-tests.js NAME=EXIT_CODE=REPORT …
 * A step that failed without a failed test to show for it (type check, build, a file that does not load) counts as one failure.
 * Prints `N passed, N failed` last; the exit code says whether all was well.
 */
import { existsSync, readFileSync } from 'node:fs'

let passed = 0
let failed = 0
for (const step of process.argv.slice(2)) {
  const [name, exitCode, report] = step.split('=')
  const counts = read(report)
  const broken = Number(exitCode) !== 0 || !counts
  const failures = broken ? Math.max(1, counts?.numFailedTests ?? 0) : counts.numFailedTests
  passed += counts?.numPassedTests ?? 0
  failed += failures
  const skipped = counts?.numPendingTests ?? 0
  console.log(`${name}: ${counts?.numPassedTests ?? 0} passed, ${failures} failed, ${skipped} skipped`)
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1

function read(report) {
  return existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined
}
