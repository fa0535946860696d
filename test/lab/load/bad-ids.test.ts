// @module-tag long
/** Ids that Elasticsearch refuses with all their neighbours, or merges: rejected by name before they are sent, wherever they come from. */
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { type IngestOptions, ingest, replay } from '../../../src/index.js'
import { ingestRanges } from '../../../src/ingest-ranges.js'
import { foundInputs, whole } from '../../support/load/ranges.js'
import { ndjson, post, start } from '../../support/lab/serve-world.js'
import { index, lab, path, shareLab, way } from '../../support/lab/shared-lab.js'

shareLab()

/** Each as the text between the quotes of a JSON string. */
const bad: Readonly<Record<string, string>> = {
  'of 513 bytes': 'a'.repeat(513),
  'of 257 characters with 514 bytes': 'é'.repeat(257),
  'of 513 bytes behind an escape': `\\u0062${'a'.repeat(512)}`,
  'with the first half of a pair': String.raw`s\ud800`,
  'with the second half of a pair': String.raw`s\udc00x`,
  'of an emoji that was cut': String.raw`\ud83d`,
  'that is empty': '',
}
/** Ids that Elasticsearch keeps as they are, and apart. */
const good = ['a'.repeat(512), 'é'.repeat(256), '\u00e9', 'e\u0301', '\ufffd', '😀', 'first', 'last']

const document = (id: string) => `{"id":"${id}","n":1}`
const rows = (of: (id: string) => string) => {
  const [first = '', ...others] = good
  return [first, ...Object.values(bad), ...others].map(of)
}

type Loaded = { readonly rejected: number; readonly created: number; readonly updated: number }
interface Source {
  /** Loads the good ids, and the bad ones between them. */
  load(): Promise<Loaded>
  readonly type?: string
  /** Bad ids that this source cannot hold, or takes. */
  readonly without?: readonly string[]
}

type More = Partial<Omit<IngestOptions, 'source'>>
const options = () => ({ ...way(), index, deadLetters: path('dead.ndjson') })
const byField = { ids: 'field', idField: 'id' } as const

async function loadText(text: string, more: More): Promise<Loaded> {
  await writeFile(path('input'), text)
  return await ingest({ ...options(), source: path('input'), ...more })
}

const lines = (of: (id: string) => string) => rows(of).join('\n') + '\n'
const action = (name: string, id: string, more = '') => `{"${name}":{"_id":"${id}"}}\n${more}`

const sources: Readonly<Record<string, Source>> = {
  'a field of NDJSON': { load: async () => await loadText(lines(document), { ...byField, format: 'ndjson' }) },
  'a nested field': {
    load: async () =>
      await loadText(
        lines(id => `{"a":{"id":"${id}"}}`),
        { ids: 'field', idField: 'a.id', format: 'ndjson' },
      ),
  },
  'a field of NDJSON with --op index': {
    load: async () => await loadText(lines(document), { ...byField, op: 'index', format: 'ndjson' }),
  },
  'a field of an upsert': {
    load: async () => await loadText(lines(document), { ...byField, op: 'upsert', format: 'ndjson' }),
  },
  'a field of a JSON array': {
    load: async () => await loadText(`[${rows(document).join(',')}]`, { ...byField, format: 'json' }),
  },
  'documents of a program': {
    load: async () =>
      await ingest({ ...options(), ...byField, source: rows(document).map(text => JSON.parse(text) as object) }),
  },
  'a transform': {
    load: async () =>
      await ingest({
        ...options(),
        ...byField,
        source: rows(id => `{"text":"${id}"}`).map(text => JSON.parse(text) as object),
        transform: ({ text }) => ({ id: text, n: 1 }),
      }),
  },
  'a _bulk file': {
    type: 'DOCUMENT_HIT_INVALID',
    load: async () =>
      await loadText(rows(id => action('create', id, document(''))).join('\n') + '\n', { format: 'bulk' }),
  },
  'a _bulk file that overwrites': {
    type: 'DOCUMENT_HIT_INVALID',
    load: async () =>
      await loadText(rows(id => action('index', id, document(''))).join('\n') + '\n', { format: 'bulk' }),
  },
  'updates of a _bulk file': {
    type: 'DOCUMENT_HIT_INVALID',
    load: async () =>
      await loadText(
        lines(id => action('update', id, '{"doc":{"n":1},"doc_as_upsert":true}')),
        { format: 'bulk' },
      ),
  },
  'a column of CSV': {
    // CSV has no escapes.
    without: [
      'of 513 bytes behind an escape',
      'with the first half of a pair',
      'with the second half of a pair',
      'of an emoji that was cut',
    ],
    load: async () =>
      await loadText(`id,n\n${lines(id => (id.includes('\\') ? 'skip,1' : `${id},1`)).replaceAll('skip,1\n', '')}`, {
        ...byField,
        format: 'csv',
      }),
  },
  'hits of a dump': {
    type: 'DOCUMENT_HIT_INVALID',
    load: async () =>
      await loadText(
        lines(id => `{"_index":"old","_id":"${id}","_source":{"n":1}}`),
        { format: 'elasticdump' },
      ),
  },
  'ranges of a job': {
    load: async () => {
      await writeFile(path('input'), lines(document))
      const given = { ...options(), ...byField, concurrency: 1 }
      const inputs = await foundInputs({ ...given, source: path('input') })
      return await ingestRanges(given, { run: 'job', ranges: inputs.map(whole) })
    },
  },
  'documents that were posted': {
    load: async () => {
      await using serving = await start({ ...byField, op: 'index', deadLetters: path('dead.ndjson') })
      expect((await post(lines(document), ndjson)).status).toBe(202)
      return await serving.close()
    },
  },
  'dead letters': {
    // Such a record is broken.
    without: ['that is empty'],
    load: async () => {
      const letter = (id: string) =>
        `{"operation":"create","origin":{"input":"a","document":1},"index":"${index}","id":"${id}","attempts":1,"document":{"n":1}}`
      await writeFile(path('letters.ndjson'), lines(letter).replace(/.*"id":"",.*\n/, ''))
      return await replay({ ...way(), source: path('letters.ndjson'), deadLetters: path('dead.ndjson') })
    },
  },
}

test.each(Object.keys(sources))('from %s, each bad id is rejected by name, and each good one stored', async name => {
  const { load, type = 'DOCUMENT_ID_INVALID', without = [] } = sources[name] as Source
  const { created, rejected } = await load()
  const count = Object.keys(bad).length - without.length
  expect(letters()).toEqual(Array(count).fill([type, 0]))
  expect({ created, rejected }).toEqual({ created: good.length, rejected: count })
  expect(lab.control.ids(index).toSorted()).toEqual(good.toSorted())
})

test.each([
  [
    'a field',
    'DOCUMENT_ID_INVALID',
    async () => await loadText(lines(document), { ...byField, op: 'delete', format: 'ndjson' }),
  ],
  [
    'a _bulk file',
    'DOCUMENT_HIT_INVALID',
    async () => await loadText(rows(id => action('delete', id)).join(''), { format: 'bulk' }),
  ],
] as const)('from %s, deletions with bad ids are rejected by name, and the others done', async (_, type, load) => {
  await loadText(good.map(document).join('\n') + '\n', { ...byField, format: 'ndjson' })
  const count = Object.keys(bad).length
  expect(await load()).toMatchObject({ deleted: good.length, rejected: count, notFound: 0 })
  expect(letters()).toEqual(Array(count).fill([type, 0]))
  expect(lab.control.count(index)).toBe(0)
})

test.each(['field', 'hash', 'run'] as const)(
  'routing values with half a pair are rejected by name, long ones sent, with --ids %s',
  async ids => {
    const routing = (text: string) => `{"id":"${text.length}","to":"${text}"}`
    const texts = ['a', 'a'.repeat(600), String.raw`s\ud800`, String.raw`s\udc00`, 'a'.repeat(32_767)]
    const { created, rejected } = await loadText(texts.map(routing).join('\n') + '\n', {
      ids,
      ...(ids === 'run' ? {} : { idField: 'id' }),
      routingField: 'to',
      format: 'ndjson',
    })
    expect({ created, rejected }).toEqual({ created: 2, rejected: 3 })
    expect(letters().toSorted(([one], [other]) => one.localeCompare(other))).toEqual([
      ['DOCUMENT_ID_INVALID', 0],
      ['DOCUMENT_ID_INVALID', 0],
      ['illegal_argument_exception', 400],
    ])
  },
)

test('a hash has any text but halves of pairs behind it', async () => {
  const { created, rejected } = await loadText(lines(document), { ...byField, ids: 'hash', format: 'ndjson' })
  expect({ created, rejected }).toEqual({ created: good.length + 3, rejected: 4 })
  expect(letters()).toEqual(Array(4).fill(['DOCUMENT_ID_INVALID', 0]))
})

/** Type and status of each dead letter. */
function letters(): (readonly [string, number])[] {
  const text = readFileSync(path('dead.ndjson'), 'utf8').trimEnd()
  return text.split('\n').map(line => {
    const { type, status } = JSON.parse(line) as { type: string; status: number }
    return [type, status]
  })
}
