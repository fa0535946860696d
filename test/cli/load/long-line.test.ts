// @module-tag long
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startLab } from '../../../src/lab/index.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { folder } from '../../support/command/sluice.js'

test('a line of 110 MB, which no index takes, goes to the dead letters whole, and its neighbours are loaded', async () => {
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
  const dead = JSON.parse(await readFile(join(place.path, 'dead.ndjson'), 'utf8')) as {
    base64: string
    origin: object
  }
  expect(dead.origin).toMatchObject({ line: 2, offset: 8 })
  const line = Buffer.from(dead.base64, 'base64')
  expect(line).toHaveLength(110_000_011)
  expect([line.subarray(0, 10).toString(), line.subarray(-3).toString()]).toEqual(['{"long":"x', 'x"}'])
})
