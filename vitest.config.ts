import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { taggedFiles, tags, testFiles } from './test/support/speed.js'
import { workerArgs } from './test/support/worker-args.js'

const report = process.env.VITEST_JSON

/** Starts the files that take longest first, so that no worker ends alone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = [/lab\/contracts/, /docs\.test/, /test\/lab/, /test\/cli/]
    const rank = ({ moduleId }: TestSpecification) => (order.findIndex(one => one.test(moduleId)) + 5) % 5
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}

export default defineConfig({
  test: {
    // The kernel as its sources stand; the command line as it would be installed.
    globalSetup: ['scripts/kernel/build.js', 'test/support/build.ts'],
    include: [...testFiles],
    // To load files only to skip all their tests would take five seconds.
    exclude: taggedFiles().flatMap(({ path, tag }) => (tag === undefined ? [] : [path])),
    tags,
    // Tests wait for others more than they work.
    maxWorkers: availableParallelism() + 2,
    // No test replaces a module, so files share a worker and what it has loaded. A file that leaves a global changed fails.
    isolate: false,
    setupFiles: ['test/support/isolation/same-globals.ts'],
    execArgv: workerArgs,
    // Three runs of `.ci/run` take the same modules.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: LongestFirst },
    // Guards against a hang, which costs a minute. The longest of these tests takes 5 s beside three other runs on two cores. Longer
    // work has the tag long: a machine may be slow.
    testTimeout: 60_000,
    // A hook may do the work of many tests.
    hookTimeout: 180_000,
    expect: { poll: { timeout: 50_000, interval: 5 } },
    env: { SLUICE_TEST_PATIENCE_MS: '50000' },
    // One line per file: no test is slow enough to have its own.
    slowTestThreshold: Infinity,
    reporters: report ? ['default', ['json', { outputFile: report }]] : ['default'],
  },
})
