import { defineConfig } from 'vitest/config'

/** Long proofs: run by hand, one at a time. */
export default defineConfig({
  test: {
    include: ['test/{lab,real}/**/*.proof.ts'],
    globalSetup: ['scripts/kernel/build.js', 'test/support/build.ts'],
    fileParallelism: false,
    testTimeout: 14_400_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 240_000, interval: 5 } },
  },
})
