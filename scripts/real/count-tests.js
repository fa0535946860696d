/**
 * Adds up vitest's JSON reports. Usage: count-tests.js NAME=EXIT_CODE=REPORT …
 * A step that failed without a failed test to show for it (type check, build, a file that does not load) counts as one failure.
 * Prints the names of the failed tests, and `N passed, N failed` last; the exit code says whether all was well.
 */
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

const steps = process.argv.slice(2).map(step => {
  const [name, exitCode, report] = step.split('=')
  return { name, exitCode: Number(exitCode), counts: read(report) }
})
/** A test that one step leaves to another one is not skipped. */
const wasRun = new Set(
  steps.flatMap(({ counts }) => testsOf(counts, status => status === 'passed' || status === 'failed')),
)

let passed = 0
let failed = 0
for (const { name, exitCode, counts } of steps) {
  const broken = exitCode !== 0 || !counts
  const failures = broken ? Math.max(1, counts?.numFailedTests ?? 0) : counts.numFailedTests
  passed += counts?.numPassedTests ?? 0
  failed += failures
  const skipped = testsOf(counts, status => status === 'skipped' || status === 'pending').filter(
    test => !wasRun.has(test),
  )
  for (const test of testsOf(counts, status => status === 'failed')) console.log(`FAILED: ${relative('.', test)}`)
  console.log(`${name}: ${counts?.numPassedTests ?? 0} passed, ${failures} failed, ${skipped.length} skipped`)
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1

function testsOf(counts, isWanted) {
  return (counts?.testResults ?? []).flatMap(({ name, assertionResults }) =>
    assertionResults.filter(({ status }) => isWanted(status)).map(({ fullName }) => `${name} ${fullName}`),
  )
}

function read(report) {
  return existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined
}
