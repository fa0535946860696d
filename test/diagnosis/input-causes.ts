/** Inputs that cannot be read, and documents that cannot be sent. Asked of loads in the lab. */
import { createReadStream } from 'node:fs'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { replay } from '../../src/index.js'
import { lines } from '../support/lab/run-world.js'
import { firstRefused, stopped } from './ask.js'
import type { Told } from './cause.js'
import { type LoadCause, document, input, load } from './load-cause.js'
import { asked } from './ways.js'

const zipped = gzipSync(lines(500))

export const inputCauses: readonly LoadCause[] = [
  load('a file that does not exist', 'INPUT_NOT_FOUND', async ({ runs }) => async () => {
    return await stopped(runs.load('missing.ndjson'))
  }),
  load('a glob that matches nothing', 'INPUT_NOT_FOUND', async ({ runs }) => async () => {
    return await stopped(runs.load('*.none'))
  }),
  load('a folder where a file should be', 'INPUT_UNREADABLE', async ({ runs }) => {
    await mkdir(runs.path('folder'))
    return async () => await stopped(runs.load('folder'))
  }),
  input('a gzip file with damaged bytes', 'INPUT_UNREADABLE', damaged(zipped), {}, {}, 'a.ndjson.gz'),
  input('a gzip file that was cut off', 'INPUT_TRUNCATED', zipped.subarray(0, -200), {}, {}, 'a.ndjson.gz'),
  input('a CSV file', 'INPUT_NOT_JSON', 'id,name\n1,Chair\n2,Table\n', {}, {}, 'a.dat'),
  input('a JSON file that breaks off', 'INPUT_TRUNCATED', '[{"n":1},{"n":', {}, {}, 'a.json'),
  input('a JSON file without the path of --pick', 'INPUT_MALFORMED', '{"a":[]}', { format: 'json', pick: 'items' }),
  document('a line that is an array', 'DOCUMENT_NOT_JSON', `${lines(2)}[1]\n${lines(2)}`),
  document('a line of broken JSON', 'DOCUMENT_NOT_JSON', `${lines(2)}{"n":\n${lines(2)}`),
  document('a document without the field of its id', 'DOCUMENT_ID_INVALID', '{"n":1}\n{"m":1}\n', {
    ids: 'field',
    idField: 'n',
  }),
  load('a document of more than 100 MB', 'DOCUMENT_TOO_LARGE', async ({ runs }) => {
    const piece = Buffer.alloc(1 << 20, 'x')
    const source = Readable.from([Buffer.from('{"text":"'), ...Array.from({ length: 101 }, () => piece), '"}\n'], {
      objectMode: false,
    })
    const dead = runs.path('dead.ndjson')
    // It is written there as it comes in: no event carries it.
    return async () => {
      await runs.load('', { source, format: 'ndjson', deadLetters: dead })
      const { size } = await stat(dead)
      const ends = [text(createReadStream(dead, { end: 500 })), text(createReadStream(dead, { start: size - 200 }))]
      const letter = (await Promise.all(ends)).join('')
      const [, code] = /"type":"(\w+)"/.exec(letter) ?? []
      const [, message = ''] = /"reason":"([^"]+)"/.exec(letter) ?? []
      return { code: code as Told['code'], message }
    }
  }),
  load(
    'a file of documents where dead letters are wanted',
    'NOT_DEAD_LETTERS',
    async ({ runs }) => {
      await writeFile(runs.path('a.ndjson'), lines(3))
      const way = await runs.way()
      const options = { ...way, source: runs.path('a.ndjson'), deadLetters: runs.path('again.ndjson') }
      return async () => await stopped(replay(options))
    },
    { by: 'replay' },
  ),
  load(
    'a dead letter that a kill has torn',
    'DEAD_LETTER_BROKEN',
    async ({ world, runs }) => {
      await asked(world, async client => {
        const mappings = { properties: { n: { type: 'long' as const } } }
        await client.indices.create({ index: runs.index, mappings })
      })
      const dead = runs.path('refused.ndjson')
      await writeFile(runs.path('a.ndjson'), '{"n":"one"}\n{"n":"two"}\n')
      await runs.load('a.ndjson', { deadLetters: dead })
      const whole = await readFile(dead, 'utf8')
      await writeFile(dead, whole.slice(0, -12))
      const way = await runs.way()
      return async () =>
        await firstRefused(
          async onEvent => await replay({ ...way, source: dead, deadLetters: runs.path('again.ndjson'), onEvent }),
        )
    },
    { by: 'replay' },
  ),
]

function damaged(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  copy.fill(0xff, 40, 80)
  return copy
}
