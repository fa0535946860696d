/** Documents that a load found in the index, because its answers were lost or somebody else stored them. Sluice knows that they were there. */
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { connect, ingest } from '../../../src/index.js'
import { lines } from '../../support/lab/run-world.js'
import { index, lab, path, shareLab, smallBatches, way } from '../../support/lab/shared-lab.js'

shareLab()

test('all is loaded again if an index is deleted in which a load found all documents unchanged', async () => {
  await writeFile(path('a.ndjson'), lines(3))
  const options = { ...smallBatches(), source: path('a.ndjson'), op: 'upsert', ids: 'field', idField: 'n' } as const
  lab.control.plant({ drop: { times: 1 } })
  expect(await ingest(options)).toMatchObject({ created: 0, noop: 3 })
  lab.control.heal()
  await using direct = await connect(way())
  await direct.client.indices.delete({ index })
  expect(lab.control.count(index)).toBe(0)
  expect(await ingest(options)).toMatchObject({ created: 3 })
  expect(lab.control.count(index)).toBe(3)
  expect(await ingest(options)).toMatchObject({ read: 0 })
})

test.each([
  ['whose answers were lost', {}],
  ['whose answers were lost, and which leaves out what exists', { onConflict: 'skip' }],
] as const)('all is loaded again if an index is deleted in which a create found all ids: %s', async (_, more) => {
  await writeFile(path('a.ndjson'), lines(3))
  const options = {
    ...smallBatches(),
    source: path('a.ndjson'),
    op: 'create',
    ids: 'field',
    idField: 'n',
    ...more,
  } as const
  lab.control.plant({ drop: { times: 1 } })
  expect(await ingest(options)).toMatchObject({ created: 0 })
  lab.control.heal()
  await using direct = await connect(way())
  await direct.client.indices.delete({ index })
  expect(await ingest(options)).toMatchObject({ created: 3 })
  expect(await ingest(options)).toMatchObject({ read: 0 })
})

test('blank lines and rejected ones make no index, so none is taken for deleted', async () => {
  await writeFile(path('a.ndjson'), '\n\n{"n":}\n')
  const options = { ...smallBatches(), source: path('a.ndjson'), format: 'ndjson' } as const
  expect(await ingest(options)).toMatchObject({ skipped: 2, rejected: 1 })
  expect(await ingest(options)).toMatchObject({ read: 0 })
})
