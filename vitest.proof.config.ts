import { defineConfig } from 'vitest/config'

/** Long proofs: run by hand, one at a time. */
export default defineConfig({
  test: {
    include: ['test/{lab,real}/*.proof.ts'],
    globalSetup: ['test/cli/build.ts'],
    fileParallelism: false,
    testTimeout: 1_800_000,
    hookTimeout: 180_000,
  },
})
