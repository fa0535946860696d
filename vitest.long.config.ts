import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { taggedFiles, tags } from './test/support/speed.js'
import { workerArgs } from './test/support/worker-args.js'

const report = process.env.VITEST_JSON
const isSearch = process.env.SLUICE_SEARCH !== undefined
const isWanted = isSearch ? /\/support\/rounds\.js/ : /@module-tag long|tags: \[?'long'|longUnless\(/

/** Starts the files that wait first, so that the others work meanwhile. */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = [
      /half-open/,
      /lab\/diagnosis/,
      /mixed-verdicts/,
      /slow-and-limited/,
      /lab\/contracts/,
      /servicenow/,
      /guarded/,
    ]
    const rank = ({ moduleId }: TestSpecification) => (order.findIndex(one => one.test(moduleId)) + 8) % 8
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}

/** The tests that take long. With SLUICE_SEARCH: every test that searches, with all its rounds. */
export default defineConfig({
  test: {
    include: taggedFiles()
      .filter(({ text, tag }) => (tag === 'search' ? isSearch : isWanted.test(text)))
      .map(({ path }) => path),
    tags,
    // The real servers run beside them.
    maxWorkers: availableParallelism() + 2,
    isolate: false,
    setupFiles: ['test/support/isolation/same-globals.ts'],
    execArgv: workerArgs,
    experimental: { fsModuleCache: true },
    sequence: { sequencer: WaitingFirst },
    globalSetup: ['scripts/kernel/build.js', 'test/support/build.ts'],
    // A hang costs longer here than in the ordinary run: one of these tests may load for minutes.
    testTimeout: 3_600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 240_000, interval: 5 } },
    slowTestThreshold: Infinity,
    reporters: report ? ['default', ['json', { outputFile: report }]] : ['default'],
  },
})
