import { describe, expect, test } from 'vitest'
import type { IngestOptions } from '../../../src/index.js'
import { isSluiceError } from '../../../src/base/failure/failure.js'
import { readOptions } from '../../../src/options/read-options.js'

const base = {
  source: 'a.ndjson',
  index: 'i',
  target: { url: 'https://a.example:9243' },
  ids: 'field',
  idField: 'id',
} as const

function problemOf(more: Partial<IngestOptions>): string | undefined {
  try {
    readOptions({ ...base, ...more })
    return undefined
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return error.message
  }
}

const sequence = { ifSeqNoField: '_seq_no', ifPrimaryTermField: '_primary_term' } as const

describe('versions, conditions and scripts', () => {
  test.each<Partial<IngestOptions>>([
    { op: 'index', versionField: 'v' },
    { op: 'delete', versionField: 'v' },
    { op: 'index', ids: 'hash', versionField: 'v' },
    { op: 'update', ...sequence },
    { op: 'delete', ...sequence },
    { op: 'update', script: 'ctx.op = "none"' },
    { op: 'upsert', scriptId: 'counter', retryOnConflict: 0 },
  ])('%o is fine', more => expect(problemOf(more)).toBeUndefined())

  test.each<[Partial<IngestOptions>, string]>([
    [{ op: 'create', versionField: 'v' }, "versionField: needs op 'index' or 'delete'"],
    [{ op: 'update', versionField: 'v' }, "versionField: needs op 'index' or 'delete'"],
    [{ op: 'index', ids: 'run', idField: undefined, versionField: 'v' }, 'versionField: needs ids from the documents'],
    [{ op: 'index', ifSeqNoField: '_seq_no' }, 'ifSeqNoField: also needs ifPrimaryTermField'],
    [{ op: 'index', ifPrimaryTermField: 't' }, 'ifPrimaryTermField: also needs ifSeqNoField'],
    [{ op: 'upsert', ...sequence }, "ifSeqNoField: needs op 'index', 'update' or 'delete', not 'upsert'"],
    [{ op: 'index', versionField: 'v', ...sequence }, 'ifSeqNoField: cannot be combined with versionField'],
    [{ op: 'update', retryOnConflict: 2, ...sequence }, 'ifSeqNoField: cannot be combined with retryOnConflict'],
    [{ op: 'index', script: 'x' }, "script: needs op 'update' or 'upsert', not 'index'"],
    [{ op: 'update', script: 'x', scriptId: 'y' }, 'script: cannot be combined with scriptId'],
    [{ op: 'index', retryOnConflict: 1 }, "retryOnConflict: needs op 'update' or 'upsert'"],
  ])('%o is refused', (more, problem) => expect(problemOf(more)).toContain(problem))

  test('a script is as long as Elasticsearch allows', () => {
    expect(problemOf({ op: 'update', script: 'x'.repeat(65_535) })).toBeUndefined()
    expect(problemOf({ op: 'update', script: 'x'.repeat(65_536) })).toBe('script: has more than 65535 bytes')
  })
})
