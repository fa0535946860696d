// @module-tag long
/** Functions that do not answer. */
import { writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { type Receipt, ingest } from '../../../src/index.js'
import { WorkerThread } from '../../../src/features/transform/worker-thread.js'
import { codeOf } from '../../support/lab/run-world.js'
import { path, shareLab, smallBatches } from '../../support/lab/shared-lab.js'

shareLab()

const lines = (count: number) => Array.from({ length: count }, (_, at) => `{"n":${at + 1}}\n`).join('')

describe('a function', () => {
  test.each([
    ['never returns', 'for (;;);', 'did not return within 2 s'],
    ['waits for ever', 'return new Promise(() => {})', 'did not return within 2 s'],
    ['exits', 'process.exit(0)', 'ended its thread with exit code 0'],
    [
      'throws where nobody catches',
      'setTimeout(() => { throw new Error("late") }); return new Promise(() => {})',
      'ended its thread with Error: late',
    ],
    [
      'rejects where nobody catches',
      'void Promise.reject(new Error("lost")); return new Promise(() => {})',
      'ended its thread with Error: lost',
    ],
  ])('that %s ends the run, with file and line', async (_, code, what) => {
    await writeFile(
      path('shape.mjs'),
      `export default document => { if (document.n === 15) { ${code} } return document }`,
    )
    await writeFile(path('a.ndjson'), lines(20))
    const timeout = what.startsWith('did') ? { transformTimeoutMs: 2000 } : {}
    const error: unknown = await ingest({
      source: path('a.ndjson'),
      ...smallBatches(),
      transform: path('shape.mjs'),
      ...timeout,
    }).catch((why: unknown) => why)
    const { message, receipt } = error as { message: string; receipt: Receipt }
    expect(message).toContain(`the function of ${path('shape.mjs')} ${what}`)
    expect(message).toContain(`, at ${path('a.ndjson')}, line 15`)
    expect(receipt).toMatchObject({ status: 'failed', failure: { code: 'TRANSFORM_STOPPED' } })
  })

  test('of a program that waits for ever ends the run, also if stdin stays open', async () => {
    const stdin = new Readable({ read() {} })
    stdin.push(lines(20))
    const run = ingest({
      source: '-',
      stdin,
      ...smallBatches(),
      transform: async document => (document['n'] === 3 ? await new Promise<object>(() => {}) : document),
      transformTimeoutMs: 200,
    })
    expect(await codeOf(run)).toBe(
      'TRANSFORM_STOPPED: the function of transform did not return within 0.2 s, at -, line 3',
    )
  })

  test('whose module never loads is refused', async () => {
    await writeFile(path('shape.mjs'), 'for (;;);')
    const module = pathToFileURL(path('shape.mjs')).href
    const thread = new WorkerThread({ name: 'shape.mjs', module, maxBytes: 1000, timeoutMs: 60_000, loadMs: 300 })
    expect(await codeOf(thread.started())).toBe(
      'TRANSFORM_NOT_LOADED: shape.mjs cannot be used: it did not load within 0.3 s',
    )
    await thread.close()
  })
})
