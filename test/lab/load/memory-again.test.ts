/** Loads of one process that follow each other use the same memory for their bodies. */
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { takeMemory } from '../../../src/pipeline/bulk/kernel/memory.js'
import { ingest } from '../../../src/index.js'
import { index, path, shareLab, way } from '../../support/lab/shared-lab.js'

shareLab()

const BATCH_BYTES = 123_456
const options = () => ({ ...way(), index, batchBytes: BATCH_BYTES, concurrency: 2, deadLetters: false as const })
/** Takes what a load of those options left. New memory holds only zeros. */
const left = () =>
  takeMemory(3, BATCH_BYTES)
    ?.slots.map(slot => slot.toString('latin1', 0, 200))
    .join('') ?? ''

test('a load leaves its memory to the next one, whatever became of its documents', async () => {
  async function* items() {
    yield { said: 'hello' }
    yield 'no object'
  }
  expect((await ingest({ ...options(), source: items() })).created).toBe(1)
  expect(left()).toContain('hello')
  expect(left()).not.toContain('hello')

  await writeFile(path('a.ndjson'), '{"said":"from a file"}\n')
  expect((await ingest({ ...options(), source: path('a.ndjson') })).created).toBe(1)
  expect(left()).toContain('from a file')
})

test('a load sends the same, whatever load ran before it', async () => {
  const load = async (many: number, text: string) => {
    const source = Array.from({ length: many }, (_, n) => ({ n, text }))
    return await ingest({ ...options(), source, onEvent: () => undefined })
  }
  expect((await load(900, 'x'.repeat(2000))).created).toBe(900)
  expect((await load(3, 'short')).created).toBe(3)
  const both = await Promise.all([load(500, 'left'), load(500, 'right')])
  expect(both.map(({ created }) => created)).toEqual([500, 500])
})
