/** A cause that a load in the lab meets: in its options, its inputs, the index, or its own state. */
import { writeFile } from 'node:fs/promises'
import type { IngestOptions } from '../../src/index.js'
import type { LabWorld } from '../contracts/lab-world.js'
import { type RunWorld, openRunWorld } from '../support/lab/run-world.js'
import { firstRefused, stopped } from './ask.js'
import type { Asked, Cause, Told } from './cause.js'

export type LoadCause = Cause<LabWorld>

interface Planted {
  readonly world: LabWorld
  readonly runs: RunWorld
}

/** `plant` returns what is to be run, whose first word counts. */
export const load = (
  planted: string,
  expected: Cause['expected'],
  plant: (planted: Planted) => Promise<() => Promise<Told>>,
  { by = 'ingest', ...told }: Pick<Cause, 'says' | 'alike'> & { by?: Exclude<Asked['by'], 'doctor'> } = {},
): LoadCause => ({
  planted,
  on: 'this machine',
  expected,
  ...told,
  plant: async (world, owner) => {
    const runs = await owner.own(openRunWorld(world.lab))
    return { by, run: await plant({ world, runs }) }
  },
})

/** An input of that content, and a load of it. */
export const input = (
  planted: string,
  expected: Cause['expected'],
  content: string | Buffer,
  more: Partial<IngestOptions> = {},
  told: Pick<Cause, 'says'> = {},
  name = 'a.ndjson',
): LoadCause =>
  load(
    planted,
    expected,
    async ({ runs }) => {
      await writeFile(runs.path(name), content)
      return async () => await stopped(runs.load(name, more))
    },
    told,
  )

/** Of whose documents the first that is refused counts. */
export const document = (
  planted: string,
  expected: Cause['expected'],
  content: string,
  more: Partial<IngestOptions> = {},
): LoadCause =>
  load(planted, expected, async ({ runs }) => {
    await writeFile(runs.path('a.ndjson'), content)
    return async () => await firstRefused(async onEvent => await runs.load('a.ndjson', { onEvent, ...more }))
  })
