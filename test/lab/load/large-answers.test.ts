// @module-tag long
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { connect, ingest } from '../../../src/index.js'
import { index, lab, path, shareLab, way } from '../../support/lab/shared-lab.js'

shareLab()

test('a document of 12 MB whose value the cluster refuses and quotes as a whole is rejected at once, and its neighbours are stored', async () => {
  await using open = await connect(way())
  await open.client.indices.create({ index, mappings: { properties: { n: { type: 'long' } } } })
  await writeFile(path('in.ndjson'), `{"n":1}\n{"n":"${'x'.repeat(12_000_000)}"}\n{"n":3}\n`)
  const receipt = await ingest({
    ...way(),
    source: path('in.ndjson'),
    index,
    deadLetters: path('dead.ndjson'),
    maxElapsedMs: 0,
  })
  expect(receipt).toMatchObject({ status: 'finished', created: 2, rejected: 1, unknown: 0, retries: 0 })
  expect(receipt.rejections).toMatchObject([{ status: 400, type: 'document_parsing_exception', field: 'n' }])
  expect(lab.control.count(index)).toBe(2)
  const { reason } = JSON.parse(readFileSync(path('dead.ndjson'), 'utf8')) as { readonly reason: string }
  expect(reason).toMatch(
    /failed to parse field \[n\] of type \[long\].* Preview of field's value: 'x+… \(12,000,\d+ bytes\)$/,
  )
  expect(reason.length).toBeLessThan(1100)
})
