/** Files whose last line has no line feed yet, and whose documents are changed: the next load continues behind what was read. */
import { appendFile, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { ingest, type IngestOptions } from '../../../src/index.js'
import { checkpoint, index, lab, path, shareLab, smallBatches } from '../../support/lab/shared-lab.js'

shareLab()

const one = (n: number) => `{"n":${n},"text":"${'x'.repeat(n)}"}`
const thrice = (document: object) => [document, document, document]
const same = (document: object) => document

// With batches of one document, the last line is alone in its batch.
test.each<[string, Partial<IngestOptions>, number]>([
  ['edited', { edits: { set: { tag: 'y' } } }, 1],
  ['passed through a function', { transform: same }, 1],
  ['made three', { transform: thrice }, 3],
  ['edited, then made three', { edits: { set: { tag: 'y' } }, transform: thrice }, 3],
])('lines that are %s: a last line without a line feed, then more lines', async (_, options, times) => {
  for (const batchDocs of [1, 2, 3, 5]) {
    const name = `a-${batchDocs}.ndjson`
    const load = { ...smallBatches(), ...options, batchDocs, index: `${index}-${batchDocs}`, source: path(name) }
    await writeFile(path(name), Array.from({ length: 6 }, (__, at) => one(at + 1)).join('\n'))
    expect(await ingest(load)).toMatchObject({ exit: 0, created: 6 * times })
    const [input] = (await checkpoint()).inputs
    expect(input?.mark.kind).toBe('lines')
    await appendFile(path(name), `\n${one(7)}\n${one(8)}`)
    expect(await ingest(load)).toMatchObject({ exit: 0, rejected: 0, thisProcess: { created: 2 * times } })
    expect(lab.control.count(`${index}-${batchDocs}`)).toBe(8 * times)
  }
})
