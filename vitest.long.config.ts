import { availableParallelism } from 'node:os'
import { globSync } from 'tinyglobby'
import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

const report = process.env.VITEST_JSON
const isSearch = process.env.SLUICE_SEARCH !== undefined
const tests = globSync('test/{unit,lab,cli}/**/*.test.ts')

/** The tests that take long. With SLUICE_SEARCH: every test that searches, with all its rounds. */
export default defineConfig({
  test: {
    include: tests.filter(path =>
      isSearch ? readFileSync(path, 'utf8').includes('/support/rounds.js') : path.endsWith('.long.test.ts'),
    ),
    maxWorkers: availableParallelism() + 1,
    isolate: false,
    globalSetup: ['scripts/kernel/build.js', 'test/support/build.ts'],
    testTimeout: 3_600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 240_000, interval: 5 } },
    slowTestThreshold: Infinity,
    reporters: report ? ['default', ['json', { outputFile: report }]] : ['default'],
  },
})
