/** Searches for documents that edits change otherwise than the model, and for lines that the kernel edits otherwise than plain JavaScript. */
import { expect } from 'vitest'
import { DocumentEditor } from '../../../src/features/edits/document-editor.js'
import { editLines } from '../../../src/features/edits/edit-lines.js'
import { openEditKernel } from '../../../src/features/edits/kernel/kernel.js'
import { rulesOf } from '../../../src/features/edits/rules.js'
import { editedValue } from '../../../src/features/edits/values.js'
import type { EditOptions } from '../../../src/options/ingest-options.js'
import { editedTree, treeOf } from './edit-model.js'
import { randomEdits, randomObject } from './random-edits.js'
import { randomLine } from './random-lines.js'
import { seeded } from './seeded.js'

const facts = { now: '2026-01-02T03:04:05.678Z', path: 'logs/a.ndjson' }

const kernel = openEditKernel()

async function edited(
  chunks: Iterable<Buffer>,
  { set = {}, drop, keep, rename }: EditOptions,
  isPlain: boolean,
): Promise<string> {
  const values = Object.values(set).map(value => editedValue(value, facts))
  const rules = rulesOf({ set, drop, keep, rename })
  kernel?.prepare(rules, values)
  const editor = new DocumentEditor(rules, values)
  const bytes = (async function* () {
    await Promise.resolve()
    yield* chunks
  })()
  const parts: Buffer[] = []
  const { lines } = editLines({ kind: 'lines', at: 0, bytes }, editor, isPlain ? undefined : kernel, 1 << 20)
  for await (const part of lines.bytes) parts.push(Buffer.from(part))
  return Buffer.concat(parts).toString()
}

function* pieces(text: string, random: ReturnType<typeof seeded>): Generator<Buffer> {
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length;) {
    const to = from + 1 + random.below(400)
    yield bytes.subarray(from, to)
    from = to
  }
}

const isRefused = (line: string) => line.startsWith('\u001fDOCUMENT_NOT_EDITED')

/** Compares with the model, wherever the bytes are cut. */
export async function fuzzEdits(first: number, last: number): Promise<void> {
  for (let seed = first; seed <= last; seed += 1) {
    const random = seeded(seed)
    const edits = randomEdits(random)
    const documents = Array.from({ length: 8 }, () => randomObject(random))
    const text = await edited(pieces(documents.join('\n'), random), edits, true)
    const byKernel = await edited([Buffer.from(`${documents.join('\n')}\n`)], edits, false)
    if (byKernel !== `${text}\n`) expect(byKernel, `seed ${seed}: ${JSON.stringify(edits)}`).toBe(`${text}\n`)
    const lines = text.split('\n')
    const values = Object.fromEntries(
      Object.entries(edits.set ?? {}).map(([name, value]) => [name, (value as { json: string }).json]),
    )
    expect(lines).toHaveLength(documents.length)
    for (const [at, document] of documents.entries()) {
      const line = lines[at] ?? ''
      const expected = editedTree(treeOf(document), edits, values)
      const told = () => `seed ${seed}: ${JSON.stringify(edits)} on ${document} made ${line}`
      const made = isRefused(line) ? undefined : treeOf(line)
      // Comparing deeply takes much longer.
      if (JSON.stringify(made) !== JSON.stringify(expected)) expect(made, told()).toEqual(expected)
      if (made !== undefined) JSON.parse(line)
    }
  }
}

/** Compares so many odd and broken lines. */
export async function fuzzEditKernel(count: number): Promise<void> {
  const text = '{line}: {file} {line}'
  const all = [
    { drop: ['id'], set: { tenant: '{line}', 'é.n': { json: '{line}' } } },
    { keep: ['tenant.id', 'id', 'ids'], set: { at: '{now}' } },
    { rename: { id: 'no', 'tenant.id': 'tenant.no' }, drop: ['tenant.x'] },
    { rename: { 'tenant.id': 'tenant_id' }, set: { text } },
  ] as const satisfies readonly EditOptions[]
  for (const [at, edits] of all.entries()) {
    const random = seeded(at + 1)
    const lines = Array.from({ length: count }, () => randomLine(random))
    const given = [Buffer.from(lines.join('\n'))]
    expect(await edited(given, edits, false)).toBe(await edited(given, edits, true))
  }
}
