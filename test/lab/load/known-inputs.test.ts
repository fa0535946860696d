import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, test, vi } from 'vitest'
import { type IngestEvent, ingest, isSluiceError } from '../../../src/index.js'
import { CHECKPOINT_MS } from '../../../src/run/state/resume/state-keeper.js'
import { systemClock } from '../../../src/base/time/clock.js'
import { rounds } from '../../support/rounds.js'
import { type Seeded, seeded } from '../../support/random/seeded.js'
import { lab, otherIndex, index, path, shareLab } from '../../support/lab/shared-lab.js'
import { type Loader, tell } from './input-story.js'

shareLab()

const SEEDS = Number(process.env['SLUICE_SEEDS'] ?? rounds(2, 2000))
const FIRST = Number(process.env['SLUICE_SEED'] ?? 1)

/** Loads are short here: a checkpoint in the middle of one is written sooner than usual. */
let checkpointMs = CHECKPOINT_MS
/** Loads follow changes at once here. Some are made later: a file is known without reading it if its times are old enough. */
let laterMs = 0
beforeAll(() => {
  const { sleep } = systemClock
  const { now } = Date
  vi.spyOn(Date, 'now').mockImplementation(() => now() + laterMs)
  vi.spyOn(systemClock, 'sleep').mockImplementation(
    async (ms, signal) => await sleep(ms === CHECKPOINT_MS ? checkpointMs : ms, signal),
  )
})
afterAll(() => vi.restoreAllMocks())

/** Loads in this process, and kills it by putting back the state of an instant after which the cluster stored nothing. */
function loader(state: string, random: Seeded): Loader {
  return {
    documents: async () => lab.control.ids(index).map(id => String(lab.control.source(index, id))),
    load: async (sources, op, again, ending) => {
      const stop = new AbortController()
      let left = 1 + random.below(8)
      const onEvent = ({ type }: IngestEvent) => {
        if (ending === 'stopped' && type === 'progress' && (left -= 1) === 0) stop.abort()
      }
      const killed = ending === 'killed' ? killing(state, random, stop) : undefined
      try {
        const { inputs } = await ingest({
          target: { url: lab.line.cluster.httpUrl, apiKey: lab.line.cluster.apiKey },
          source: sources,
          index,
          op: op === 'index' ? 'index' : 'create',
          again,
          stateDir: state,
          deadLetters: false,
          batchDocs: 1 + random.below(6),
          concurrency: 2,
          preflightConnections: 0,
          graceMs: killed === undefined ? 25_000 : 1,
          signal: stop.signal,
          onEvent,
        })
        await killed?.over()
        return { code: undefined, alreadyLoaded: inputs.map(one => one.alreadyLoaded === true) }
      } catch (error) {
        if (!isSluiceError(error)) throw error
        if ((await killed?.over()) === true) return { code: 'KILLED', alreadyLoaded: undefined }
        return { code: error.code, alreadyLoaded: undefined }
      }
    },
  }
}

/** Waits for a request that gets no answer, and then takes the state for what it is at that instant. */
function killing(state: string, random: Seeded, stop: AbortController): { over(): Promise<boolean> } {
  lab.control.plant({ hold: { after: random.below(8), stored: random.chance(0.5) } })
  const run = { isOver: false }
  let turns = random.below(30)
  const watch = async (): Promise<boolean> => {
    while (!run.isOver) {
      if (lab.control.struck('hold') > 0 && (turns -= 1) <= 0) {
        lab.control.plant({ hold: { stored: false } })
        rmSync(`${state}.killed`, { recursive: true, force: true })
        cpSync(join(state, 'runs'), `${state}.killed`, { recursive: true })
        stop.abort()
        return true
      }
      await setImmediate()
    }
    return false
  }
  const watching = watch()
  return {
    over: async () => {
      run.isOver = true
      const isKilled = await watching
      // What lies in sockets of the killed run is not stored either.
      const turns = isKilled ? 30 : 0
      for (let turn = 0; turn < turns; turn += 1) await setImmediate()
      lab.control.heal()
      if (isKilled) {
        rmSync(join(state, 'runs'), { recursive: true })
        cpSync(`${state}.killed`, join(state, 'runs'), { recursive: true })
      }
      return isKilled
    },
  }
}

describe('whatever happens to files and loads, the index holds each line as often as it must', () => {
  test(`with ${SEEDS} seeds`, async () => {
    lab.control.register('everyone')
    for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
      otherIndex()
      const files = path(`files-${seed}`)
      const state = path(`state-${seed}`)
      mkdirSync(files)
      const random = seeded(seed)
      checkpointMs = seed % 2 === 0 ? CHECKPOINT_MS : seed % 20
      laterMs = seed % 3 === 0 ? 0 : 10_000
      try {
        await tell(files, random, loader(state, random), 2 + random.below(5))
      } catch (error) {
        throw new Error(`seed ${seed}:\n${(error as Error).message}`, { cause: error })
      }
      rmSync(files, { recursive: true })
      rmSync(state, { recursive: true, force: true })
    }
  })
})
