import { globSync } from 'tinyglobby'
import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

const report = process.env.VITEST_JSON
const tests = globSync('test/{unit,lab,cli}/**/*.test.ts')

/** The tests that take long, and every test that searches, with all its rounds. */
export default defineConfig({
  test: {
    include: tests.filter(
      path => path.endsWith('.long.test.ts') || readFileSync(path, 'utf8').includes('/support/rounds.js'),
    ),
    isolate: false,
    env: { SLUICE_SEARCH: 'all' },
    globalSetup: ['scripts/kernel/build.js', 'test/support/build.ts'],
    testTimeout: 3_600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 240_000, interval: 5 } },
    slowTestThreshold: Infinity,
    reporters: report ? ['default', ['json', { outputFile: report }]] : ['default'],
  },
})
