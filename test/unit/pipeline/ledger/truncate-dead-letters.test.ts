import { existsSync, readFileSync } from 'node:fs'
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Operation } from '../../../../src/base/operation.js'
import type { Author } from '../../../../src/pipeline/ledger/dead-letter-record.js'
import { record } from '../../../support/load/dead-letter.js'
import { truncateDeadLetters } from '../../../../src/pipeline/ledger/dead-letters.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'truncate-'))
})
afterEach(async () => await rm(folder, { recursive: true }))

describe('dead letters that are taken back', () => {
  const ours: Author = { run: 'nightly', writer: 'ours' }
  const letter = (author: Author | undefined, text = '{}', operation: Operation = 'create') => {
    const one = { operation, status: 0, type: 't', reason: 'r', attempts: 0, origin: { input: 'a', document: 1 } }
    const stamp = author === undefined ? undefined : { ...author, destination: { index: 'i' } }
    return record({ ...one, document: Buffer.from(text) }, stamp).toString()
  }
  const before = letter({ run: 'nightly', writer: 'earlier' })
  const own = letter(ours, '{"a":"b"}', 'index') + letter(ours, JSON.stringify({ long: 'y'.repeat(200_000) }))

  test('are those behind the length, if this process wrote all of them and the last may be torn', async () => {
    const path = join(folder, 'dead.ndjson')
    const torn = letter(ours, JSON.stringify({ long: 'z'.repeat(9000) }))
    for (const bytes of [0, 1, 5, 12, 40, 80, 5000, torn.length]) {
      await writeFile(path, before + own + torn.slice(0, bytes))
      await truncateDeadLetters(path, before.length, ours)
      expect(await readFile(path, 'utf8')).toBe(before)
    }
  })

  test('are none where anybody else wrote there too, also under the same name of a run', async () => {
    const path = join(folder, 'shared.ndjson')
    const theirs = letter({ run: 'nightly', writer: 'theirs' })
    const foreign = [theirs, theirs.slice(0, 60), letter(undefined), '{"mine":1}\n', 'notes', `\n${own}`, before]
    for (const text of foreign.flatMap(one => [before + own + one, before + one + own])) {
      await writeFile(path, text)
      await truncateDeadLetters(path, before.length, ours)
      expect(await readFile(path, 'utf8')).toBe(text)
    }
  })

  test('are left alone where the file is shorter or gone', async () => {
    const path = join(folder, 'short.ndjson')
    await truncateDeadLetters(path, 100, ours)
    expect(existsSync(path)).toBe(false)
    await appendFile(path, letter(ours))
    await truncateDeadLetters(path, 10_000, ours)
    expect(readFileSync(path, 'utf8')).toBe(letter(ours))
  })
})
