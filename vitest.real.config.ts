import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { workerArgs } from './test/support/worker-args.js'

const report = process.env.VITEST_JSON

/** Starts the file that takes longest first, so that no worker ends alone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = [/elasticsearch-9/, /elasticsearch-8/, /inputs/, /limits/, /servicenow/]
    const rank = ({ moduleId }: TestSpecification) => (order.findIndex(one => one.test(moduleId)) + 6) % 6
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}

export default defineConfig({
  test: {
    include: ['test/real/*.test.ts'],
    // Some tests start the command.
    globalSetup: ['test/support/build.ts'],
    // Each file starts servers of its own, and waits for them: a few at a time, and time to start.
    maxWorkers: 4,
    isolate: false,
    setupFiles: ['test/support/isolation/same-globals.ts'],
    execArgv: workerArgs,
    experimental: { fsModuleCache: true },
    sequence: { sequencer: LongestFirst },
    // A server may take minutes to start beside three others on two cores.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 240_000, interval: 5 } },
    slowTestThreshold: Infinity,
    reporters: report ? ['default', ['json', { outputFile: report }]] : ['default'],
  },
})
