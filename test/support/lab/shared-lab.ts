import { lastRun, type StoredRun } from '../state/stored-runs.js'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { newIndex } from '../../contracts/options.js'

export let lab: Lab
export let work: string
export let index: string

/** Starts one lab for all tests of the file that calls this, with a folder and an index for each test. The exports change with it. */
export function shareLab(): void {
  beforeAll(async () => {
    lab = await startLab()
  })
  afterAll(async () => await lab.close())
  beforeEach(async () => {
    work = await mkdtemp(join(tmpdir(), 'lab-'))
    otherIndex()
  })
  afterEach(async () => {
    lab.control.heal()
    lab.control.register('both')
    await rm(work, { recursive: true })
  })
}

/** For the rest of a test. */
export function otherIndex(): void {
  index = newIndex('lab')
}

export const path = (name: string) => join(work, name)

/** What every call needs: the target, the proxy. */
export function way() {
  const { url, apiKey, caFile } = lab.line.cluster
  return { target: { url, apiKey, ca: readFileSync(caFile) }, proxy: lab.line.proxy.http, preflightConnections: 1 }
}

/** A load with a state, in small batches. */
export function smallBatches() {
  return {
    ...way(),
    index,
    stateDir: path('state'),
    deadLetters: path('dead.ndjson'),
    batchDocs: 10,
    concurrency: 2,
  }
}

/** Of the one command that was run. */
export async function checkpoint(): Promise<StoredRun> {
  return (await lastRun(path('state'))).checkpoint
}
