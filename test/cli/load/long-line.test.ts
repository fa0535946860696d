// @module-tag long
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startLab } from '../../../src/lab/index.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { folder } from '../../support/command/sluice.js'

test('a line of 110 MB, which no index takes, goes to the dead letters by its position, and its neighbours are loaded', async () => {
  await using lab = await startLab()
  await using place = await folder()
  const path = join(place.path, 'long.ndjson')
  const file = createWriteStream(path)
  file.write('{"n":1}\n{"long":"')
  for (let n = 0; n < 110; n += 1) if (!file.write(Buffer.alloc(1_000_000, 0x78))) await once(file, 'drain')
  file.end('"}\n{"n":2}')
  await once(file, 'close')
  const ended = await sluice(['ingest', path, '--index', 'long', '--json', '--dead-letters', 'dead.ndjson'], {
    cwd: place.path,
    env: lab.env,
  })
  expect(ended.code).toBe(1)
  expect(JSON.parse(ended.stdout)).toMatchObject({ read: 3, created: 2, rejected: 1 })
  const letter = await readFile(join(place.path, 'dead.ndjson'), 'utf8')
  expect(letter.length).toBeLessThan(2000)
  const { start, ...dead } = JSON.parse(letter) as { start: string }
  const bytes = Buffer.concat([Buffer.from('{"long":"'), Buffer.alloc(110_000_000, 0x78), Buffer.from('"}')])
  const stored = { file: path, bytes: 110_000_011, sha256: createHash('sha256').update(bytes).digest('hex') }
  expect(dead).toMatchObject({ type: 'DOCUMENT_TOO_LARGE', origin: { line: 2, offset: 8, stored } })
  expect(start).toBe(`{"long":"${'x'.repeat(1024 - 9)}`)

  // No replay can send it either. Its letter stays as it is.
  const again = await sluice(['replay', 'dead.ndjson', '--json', '--dead-letters', 'again.ndjson'], {
    cwd: place.path,
    env: lab.env,
  })
  expect(JSON.parse(again.stdout)).toMatchObject({ read: 1, created: 0, rejected: 1 })
  expect(JSON.parse(await readFile(join(place.path, 'again.ndjson'), 'utf8'))).toMatchObject({
    type: 'DOCUMENT_TOO_LARGE',
    origin: { line: 2, offset: 8, stored },
    start,
  })
})
