/** A load that follows files, in this process. */
import { mkdir, rm } from 'node:fs/promises'
import { ingest, type IngestEvent, type IngestOptions, type Receipt } from '../../../src/index.js'
import { until } from '../../support/eventually.js'
import { index, lab, otherIndex, path, smallBatches } from '../../support/lab/shared-lab.js'

/** So that tests wait shortly. */
const POLL_MS = 10

export interface Followed {
  /** What was said of files, and warnings. */
  readonly said: readonly string[]
  /** How many gaps the metrics show. */
  readonly gaps: number
  /** Resolves when the run is known. */
  begun(): Promise<void>
  /** Resolves when so many documents are stored. */
  stored(count: number): Promise<void>
  /** Resolves when something was said that contains the text. */
  heard(text: string): Promise<void>
  /** Sends the signal, and resolves to the receipt. */
  stop(): Promise<Receipt>
}

/** Gives the next test an index and empty folders of its own. */
export async function freshLogs(): Promise<void> {
  otherIndex()
  await rm(path('logs'), { recursive: true, force: true })
  await rm(path('state'), { recursive: true, force: true })
  await mkdir(path('logs'))
}

export function follow(source: IngestOptions['source'], more: Partial<IngestOptions> = {}): Followed {
  const controller = new AbortController()
  const said: string[] = []
  let isBegun = false
  let gaps = 0
  const onEvent = (event: IngestEvent) => {
    if (event.type === 'begun') isBegun = true
    if (event.type === 'followed' || event.type === 'warning') said.push(event.message)
    if (event.type === 'warning') gaps = event.missing?.gaps ?? gaps
  }
  const { signal } = controller
  const options = { source, ...smallBatches(), follow: true, pollMs: POLL_MS, signal, onEvent, ...more }
  let failed: { readonly error: unknown } | undefined
  const running = ingest(options)
  running.catch((error: unknown) => (failed = { error }))
  const holds = async (condition: () => boolean) => {
    await until(() => failed !== undefined || condition())
    if (failed !== undefined) throw failed.error
  }
  return {
    said,
    get gaps() {
      return gaps
    },
    begun: async () => await holds(() => isBegun),
    stored: async count => await holds(() => lab.control.count(index) >= count),
    heard: async text => await holds(() => said.some(one => one.includes(text))),
    stop: async () => {
      await holds(() => isBegun)
      controller.abort('SIGTERM')
      return await running
    },
  }
}

/** Returns the field `n` of all stored documents, sorted. */
export function numbers(): number[] {
  const ids = lab.control.ids(index)
  const found = ids.map(id => (JSON.parse(String(lab.control.source(index, id))) as { n: number }).n)
  return found.toSorted((a, b) => a - b)
}

/** Returns 0 to `count` - 1. */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}

/** Returns lines of documents with the numbers [from, to). */
export function linesOf(from: number, to: number): string {
  return upTo(to - from)
    .map(n => `{"n":${from + n}}\n`)
    .join('')
}

export const log = () => path('logs/app.ndjson')
