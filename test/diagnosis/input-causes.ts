/** Inputs that cannot be read, documents that cannot be sent, and an index that does not take them. Asked of loads in the lab. */
import { createReadStream } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { type IngestOptions, replay, rollback } from '../../src/index.js'
import type { LabWorld } from '../contracts/lab-world.js'
import { type RunWorld, lines, openRunWorld } from '../lab/run-world.js'
import { firstRefused, stopped } from './ask.js'
import type { Asked, Cause, Told } from './cause.js'
import { asked } from './ways.js'

type LoadCause = Cause<LabWorld>

interface Planted {
  readonly world: LabWorld
  readonly runs: RunWorld
}

/** `plant` returns what is to be run, whose first word counts. */
export const load = (
  planted: string,
  expected: Cause['expected'],
  plant: (planted: Planted) => Promise<() => Promise<Told>>,
  { by = 'ingest', ...told }: Pick<Cause, 'says' | 'alike'> & { by?: Exclude<Asked['by'], 'doctor'> } = {},
): LoadCause => ({
  planted,
  on: 'this machine',
  expected,
  ...told,
  plant: async (world, owner) => {
    const runs = await owner.own(openRunWorld(world.lab))
    return { by, run: await plant({ world, runs }) }
  },
})

/** An input of that content, and a load of it. */
const input = (
  planted: string,
  expected: Cause['expected'],
  content: string | Buffer,
  more: Partial<IngestOptions> = {},
  told: Pick<Cause, 'says'> = {},
  name = 'a.ndjson',
): LoadCause =>
  load(
    planted,
    expected,
    async ({ runs }) => {
      await writeFile(runs.path(name), content)
      return async () => await stopped(runs.load(name, more))
    },
    told,
  )

/** Of whose documents the first that is refused counts. */
const document = (
  planted: string,
  expected: Cause['expected'],
  content: string,
  more: Partial<IngestOptions> = {},
): LoadCause =>
  load(planted, expected, async ({ runs }) => {
    await writeFile(runs.path('a.ndjson'), content)
    return async () => await firstRefused(async onEvent => await runs.load('a.ndjson', { onEvent, ...more }))
  })

const zipped = gzipSync(lines(500))

const inputs: readonly LoadCause[] = [
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
      const letter = await text(createReadStream(dead, { end: 2000 }))
      const [, code, message = ''] = /"type":"(\w+)","reason":"([^"]+)"/.exec(letter) ?? []
      return { code: code as Told['code'], message }
    }
  }),
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

const refusedBulk = (type: string, reason: string, status: number) =>
  JSON.stringify({ error: { type, reason, root_cause: [] }, status })

/** The cluster answers bulk requests like this. */
const bulk = (
  planted: string,
  expected: Cause['expected'],
  status: number,
  body: string,
  told: Pick<Cause, 'says'> = {},
): LoadCause =>
  load(
    planted,
    expected,
    async ({ world, runs }) => {
      await writeFile(runs.path('a.ndjson'), lines(10))
      const headers = { 'x-elastic-product': 'Elasticsearch', 'content-type': 'application/json' }
      world.lab.control.plant({ bulk: { status, body, headers } })
      return async () => await stopped(runs.load('a.ndjson', { maxElapsedMs: 50 }))
    },
    told,
  )

const indices: readonly LoadCause[] = [
  bulk(
    'a pipeline that does not exist',
    'REQUEST_REFUSED',
    400,
    refusedBulk('illegal_argument_exception', 'pipeline with id [geo] does not exist', 400),
    { says: 'pipeline with id [geo]' },
  ),
  bulk(
    'a cluster that refuses bulk requests for too long (429)',
    'CLUSTER_OVERLOADED',
    429,
    refusedBulk('es_rejected_execution_exception', 'rejected execution', 429),
  ),
  bulk(
    'a cluster that goes away in the middle (503)',
    'CLUSTER_UNAVAILABLE',
    503,
    refusedBulk('no_master_exception', 'no master', 503),
  ),
  load('bulk requests that get no answer', 'CLUSTER_TIMEOUT', async ({ world, runs }) => {
    await writeFile(runs.path('a.ndjson'), lines(10))
    world.lab.control.plant({ hold: {} })
    return async () => await stopped(runs.load('a.ndjson', { timeoutMs: 1000, maxElapsedMs: 50, batchMs: 50 }))
  }),
  load('a time-series data stream, which makes its ids itself', 'IDS_REFUSED', async ({ world, runs }) => {
    world.lab.control.createDataStream(runs.index, true)
    await writeFile(runs.path('a.ndjson'), lines(30))
    return async () => await stopped(runs.load('a.ndjson'))
  }),
  input('lines that are no JSON, and --max-rejected 0', 'TOO_MANY_REJECTED', `${lines(2)}no\n`, { maxRejected: 0 }),
  input('an --index-body that the cluster does not take', 'INDEX_REQUEST_REFUSED', lines(2), {
    index: undefined,
    swapAlias: 'planted-body',
    indexBody: { nonsense: {} },
  }),
  load('an alias that is the name of an index', 'ALIAS_CONFLICT', async ({ world, runs }) => {
    await asked(world, async client => await client.indices.create({ index: runs.index }))
    await writeFile(runs.path('a.ndjson'), lines(2))
    const swap = { index: undefined, swapAlias: runs.index }
    return async () => await stopped(runs.load('a.ndjson', swap))
  }),
  input('a guarded load with a document that is rejected', 'LOAD_CHECK_FAILED', `${lines(2)}no\n`, {
    index: undefined,
    swapAlias: 'planted-check',
  }),
  load(
    'a rollback of an alias that no guarded load has switched',
    'ROLLBACK_IMPOSSIBLE',
    async ({ world, runs }) => {
      const alias = `${runs.index}-alias`
      await asked(world, async client => await client.indices.create({ index: runs.index, aliases: { [alias]: {} } }))
      const way = await runs.way()
      return async () => await stopped(rollback({ ...way, alias }))
    },
    { by: 'rollback' },
  ),
]

function damaged(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  copy.fill(0xff, 40, 80)
  return copy
}

export const inputCauses: readonly LoadCause[] = [...inputs, ...indices]
