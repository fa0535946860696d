import { expect, test } from 'vitest'
import type { IngestOptions } from '../../../src/options/ingest-options.js'
import { readOptions } from '../../../src/options/read-options.js'

const options = (fields: readonly string[], more: Partial<IngestOptions> = {}): IngestOptions => ({
  source: 'servicenow:incident',
  target: { url: 'https://cluster.example' },
  servicenow: { url: 'https://instance.example', username: 'u', password: 'p' },
  index: 'incidents',
  table: { fields, ...more.table },
  ...(({ table: _, ...rest }) => rest)(more),
})

test('a reference and a field behind it are refused before the load, with what to do', () => {
  expect(() => readOptions(options(['number', 'caller_id', 'caller_id.name']))).toThrow(
    'table.fields: name caller_id and caller_id.name. An index cannot hold a value and fields under one name. Leave one out, or rename one with --rename caller_id.name=caller_id_name',
  )
  expect(() => readOptions(options(['caller_id.manager.name', 'caller_id.manager']))).toThrow(
    'name caller_id.manager and caller_id.manager.name',
  )
})

test.each<[string, readonly string[], Partial<IngestOptions>]>([
  ['only fields behind it', ['caller_id.name', 'caller_id.email'], {}],
  ['a field that only begins alike', ['caller_id', 'caller_idx.name'], {}],
  ['a reference in both forms', ['caller_id', 'caller_id.name'], { table: { displayValue: 'all' } }],
  ['another name for one', ['caller_id', 'caller_id.name'], { edits: { rename: { 'caller_id.name': 'caller' } } }],
  ['a pipeline that may take them apart', ['caller_id', 'caller_id.name'], { pipeline: 'flat' }],
])('%s: the load may begin', (_, fields, more) => {
  expect(() => readOptions(options(fields, more))).not.toThrow()
})

test('edits without a value change nothing', () => {
  const more = { edits: { drop: undefined, rename: undefined } }
  expect(() => readOptions(options(['caller_id', 'caller_id.name'], more))).toThrow('under one name')
})
