import { defineConfig } from 'vitest/config'

const report = process.env.VITEST_JSON

export default defineConfig({
  test: {
    include: ['test/real/*.test.ts'],
    // Each file starts an Elasticsearch of its own: one at a time, and time to start.
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 240_000, interval: 5 } },
    slowTestThreshold: Infinity,
    reporters: report ? ['default', ['json', { outputFile: report }]] : ['default'],
  },
})
