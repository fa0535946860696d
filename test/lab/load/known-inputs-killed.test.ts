// @module-tag search
/** The same stories of files and loads as in `known-inputs.test.ts`, told to processes that are really killed. */
import { mkdirSync } from 'node:fs'
import { setTimeout as after } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { rounds } from '../../support/rounds.js'
import { type Seeded, seeded } from '../../support/random/seeded.js'
import { lab, path, shareLab } from '../../support/lab/shared-lab.js'
import { startSluice } from '../../support/command/sluice.js'
import { killWhen } from '../../support/command/kill.js'
import { type Loader, tell } from './input-story.js'

shareLab()

const SEEDS = Number(process.env['SLUICE_SEEDS'] ?? rounds(8, 300))
const FIRST = Number(process.env['SLUICE_SEED'] ?? 1)
/** A process mostly starts, and waits for its requests. */
const AT_ONCE = 4

/** What came to its end, and was not left alone until then. */
const cut = { killed: 0, stopped: 0 }

function loader(index: string, state: string, random: Seeded): Loader {
  const documents = async () =>
    await Promise.resolve(lab.control.ids(index).map(id => String(lab.control.source(index, id))))
  return {
    documents,
    load: async (sources, op, again, ending) => {
      const small = ['--batch-docs', `${1 + random.below(6)}`, '--concurrency', '2', '--preflight-connections', '1']
      const more = ['--op', op, ...(again ? ['--again'] : []), '--json']
      const running = startSluice(['ingest', ...sources, '--index', index, ...small, ...more, '--state-dir', state], {
        cwd: process.cwd(),
        env: lab.env,
      })
      const wanted = lab.control.count(index) + random.below(30)
      const delayMs = random.below(40)
      const isTime = async () => {
        const isThere = ending !== 'finished' && lab.control.count(index) >= wanted
        if (isThere) await after(delayMs)
        return isThere
      }
      const ended = await killWhen(running, isTime, ending === 'stopped' ? 'SIGINT' : 'SIGKILL')
      if (ended === undefined) {
        cut.killed += 1
        return { code: 'KILLED', alreadyLoaded: undefined }
      }
      const { stdout, stderr } = ended
      const said = JSON.parse(stdout === '' ? stderr : stdout) as Said
      if (said.failure === undefined)
        return { code: undefined, alreadyLoaded: said.inputs?.map(one => one.alreadyLoaded === true) }
      cut.stopped += 1
      return { code: said.failure.code, alreadyLoaded: undefined }
    },
  }
}

interface Said {
  readonly failure?: { readonly code: string }
  readonly inputs?: readonly { readonly alreadyLoaded?: boolean }[]
}

async function story(seed: number): Promise<void> {
  const files = path(`files-${seed}`)
  mkdirSync(files)
  const random = seeded(seed)
  try {
    await tell(files, random, loader(`killed-${seed}`, path(`state-${seed}`), random), 2 + random.below(3))
  } catch (error) {
    throw new Error(`seed ${seed}:\n${(error as Error).message}`, { cause: error })
  }
}

test(`the index holds each line as often as it must, with ${SEEDS} seeds`, async () => {
  lab.control.register('everyone')
  lab.control.plant({ capacity: { inFlight: 100, tookMs: 20 } })
  let next = FIRST
  const worker = async () => {
    while (next < FIRST + SEEDS) await story((next += 1) - 1)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  expect(cut.killed).toBeGreaterThan(0)
  expect(cut.stopped).toBeGreaterThan(0)
})
