import { Batcher } from '../../../src/pipeline/bulk/batcher.js'
import type { Ids, Operation } from '../../../src/base/operation.js'
import { SlotPool } from '../../../src/pipeline/bulk/slots.js'
import type { Batch } from '../../../src/base/flow.js'
import { HeldClock } from './held-clock.js'

/** The lines of one input as one batch; ids of a run are `t-1`, `t-2`… */
export async function batchOf(
  lines: readonly string[],
  { ids = { from: 'run' }, operation = 'create' }: { ids?: Ids; operation?: Operation } = {},
): Promise<Batch> {
  const bytes = Buffer.from(lines.map(line => `${line}\n`).join(''))
  const batcher = new Batcher({
    operation,
    ids,
    batchBytes: 1_000_000,
    batchDocs: Infinity,
    batchMs: 1000,
    maxDocumentBytes: 1_000_000,
    slots: new SlotPool(1, 1_000_000),
    clock: new HeldClock(),
    longLine: async () => await Promise.reject(new Error('no line is that long')),
  })
  const once = async function* () {
    yield bytes
  }
  for await (const _ of batcher.frame({ id: 0, name: 'input' }, 't', { kind: 'lines', at: 0, bytes: once() })) {
    throw new Error('the lines fill more than one batch')
  }
  const batch = batcher.rest()
  if (batch === undefined) throw new Error('no lines')
  return batch
}

/** The documents of a body, without line ends. */
export function documentsOf(body: { readonly bytes: Buffer }): string[] {
  const lines = body.bytes.toString('utf8').split('\n')
  return lines.filter((_, at) => at % 2 === 1)
}
