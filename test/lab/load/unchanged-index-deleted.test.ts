/** An upsert whose answers were lost finds its documents unchanged. Sluice knows that they were in the index. */
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
