import { defineConfig } from 'vitest/config'

const report = process.env.VITEST_JSON

export default defineConfig({
  test: {
    // The kernel as its sources stand; the command line as it would be installed.
    globalSetup: ['scripts/kernel/build.js', 'test/cli/build.ts'],
    include: ['test/{unit,lab,cli,types}/**/*.test.ts', 'test/*.test.ts'],
    // Tests wait for others more than they work.
    maxWorkers: '100%',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: report ? ['default', ['json', { outputFile: report }]] : ['default'],
  },
})
