/** Helpers for loads of ranges. */
import { isSluiceError, type Receipt } from '../../../src/index.js'
import { findInputs, type FoundInput, type InputRange } from '../../../src/ingest-ranges.js'
import type { IngestOptions } from '../../../src/index.js'

/** Lines of many lengths, with their numbers. */
export const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => `{"n":${from + at},"text":"${'x'.repeat(at % 50)}"}\n`).join('')

/** Finds the inputs of a load, and looks into each of at least `cutFrom` bytes. */
export async function foundInputs(options: IngestOptions, cutFrom = 1): Promise<FoundInput[]> {
  const all: FoundInput[] = []
  for await (const one of findInputs(options, cutFrom)) all.push(one)
  return all
}

/** Ranges of so many bytes. */
export function cutInto({ name, identity, size }: FoundInput, bytes: number): InputRange[] {
  return Array.from({ length: Math.ceil(size / bytes) }, (_, at) => {
    return { name, identity, from: at * bytes, to: Math.min(size, (at + 1) * bytes) }
  })
}

export const whole = ({ name, identity }: FoundInput): InputRange => ({ name, identity })

/** Returns why a load failed, and what it accounts for. */
export async function failed(loading: Promise<unknown>): Promise<{ code: string; message: string; receipt: Receipt }> {
  const error: unknown = await loading.then(
    () => new Error('the load did not fail'),
    (thrown: unknown) => thrown,
  )
  if (!isSluiceError(error)) throw error
  return { code: error.code, message: error.message, receipt: error.receipt as Receipt }
}
