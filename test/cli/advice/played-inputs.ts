/** Advice on inputs and documents that is a command, each with the situation in which somebody reads it, and where it ends. */
import { rm, symlink } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { lines } from '../../support/lab/run-world.js'
import { budget, type Play } from './advice-world.js'

/** Rejects the only document, which the advice says how to repair. */
function replaying(
  file: string,
  content: string,
  more: readonly string[],
  repair: (record: Record<string, unknown>) => object,
  stored = 1,
): Play {
  return async world => {
    await world.file(file, content)
    await world.advisedLoad(file, ...more)
    await world.follow(0, { FILE: await world.edit(repair) })
    expect(world.stored).toBe(stored)
  }
}

export const playedInputs: Readonly<Record<string, Play>> = {
  'INPUT_UNREADABLE: Correct what the message names': async world => {
    await symlink('a.ndjson', world.path('a.ndjson'))
    await world.advisedLoad('a.ndjson')
    await rm(world.path('a.ndjson'))
    await world.file('a.ndjson', lines(3))
    await world.same(0)
    expect(world.stored).toBe(3)
  },
  'INPUT_TRUNCATED: Fetch the whole file': async world => {
    const whole = gzipSync(lines(4000))
    await world.file('a.ndjson.gz', whole.subarray(0, whole.length - 2000))
    await world.advisedLoad('a.ndjson.gz', '--batch-docs', '100')
    await world.file('a.ndjson.gz', whole)
    await world.same(0)
    expect(world.stored).toBe(4000)
  },
  'INPUT_NOT_JSON: Load it as CSV': async world => {
    await world.file('a.dat', 'id,name\n1,Ann\n2,Bob\n')
    await world.advisedLoad('a.dat')
    await world.follow(0, { FILE: 'a.dat', INDEX: world.index })
    expect(world.stored).toBe(2)
  },
  'INPUT_NOT_JSON: To load each line': async world => {
    await world.file('a.log', '10:00 started\n10:01 ready\n')
    await world.advisedLoad('a.log')
    await world.follow(0, { FILE: 'a.log', INDEX: world.index })
    expect(world.stored).toBe(2)
  },
  'INPUT_NOT_JSON: Load its actions': async world => {
    await world.file('a.ndjson', '{"index":{"_id":"1"}}\n{"n":1}\n{"index":{"_id":"2"}}\n{"n":2}\n')
    await world.advisedLoad('a.ndjson', '--ids', 'field', '--id-field', 'n')
    await world.follow(0, { FILE: 'a.ndjson', INDEX: world.index })
    expect(world.lab.control.ids(world.index)).toEqual(['1', '2'])
  },
  'INPUT_NOT_JSON: Load the documents': async world => {
    const hit = (id: string) => `{"_index":"old","_type":"_doc","_id":"${id}","_score":1,"_source":{"n":1}}\n`
    await world.file('a.ndjson', `${hit('1')}${hit('2')}`)
    await world.advisedLoad('a.ndjson', '--ids', 'field', '--id-field', 'n')
    await world.follow(0, { FILE: 'a.ndjson', INDEX: world.index })
    expect(world.lab.control.ids(world.index)).toEqual(['1', '2'])
  },
  'INPUT_NOT_JSON: Unpack it once': async world => {
    await world.file('a.gz', gzipSync(gzipSync(lines(3))))
    await world.advisedLoad('a.gz')
    await world.pipe({ FILE: 'a.gz', INDEX: world.index })
    expect(world.stored).toBe(3)
  },
  'INPUT_MALFORMED: Convert it to UTF-8': async world => {
    const text = `\uFEFF[${lines(3).trim().replaceAll('\n', ',')}]`
    await world.file('a.json', Buffer.from(Uint32Array.from(text, letter => letter.charCodeAt(0)).buffer))
    await world.advisedLoad('a.json', '--format', 'json')
    await world.pipe({ FILE: 'a.json', INDEX: world.index })
    expect(world.stored).toBe(3)
  },
  'INPUT_CHANGED: Put the old content back and run': async world => {
    await world.file('a.ndjson', lines(1000))
    await world.load('a.ndjson', ...budget)
    await world.file('a.ndjson', lines(1000, 5000))
    await world.advisedLoad('a.ndjson')
    await world.file('a.ndjson', lines(1000))
    await world.same(0)
    expect(world.stored).toBe(1000)
  },
  'INPUT_CHANGED: Or forget the run': async world => {
    await world.file('a.ndjson', lines(1000))
    const { stderr } = await world.load('a.ndjson', ...budget)
    expect(stderr).toContain('budget')
    const before = world.stored
    expect(before).toBeGreaterThan(0)
    await world.file('a.ndjson', lines(1000, 5000))
    const { run } = await world.advisedLoad('a.ndjson')
    await world.follow(0, { RUN: run })
    await world.same(0)
    expect(world.stored).toBe(before + 1000)
  },
  'DOCUMENT_ROW_INVALID: If the reason': replaying('a.csv', 'id,name\n1,Ann,Bob\n', [], record => ({
    ...record,
    document: { id: '1' },
  })),
  'DOCUMENT_NOT_EDITED: To replace that field': replaying(
    'a.ndjson',
    '{"a":1,"b":2}\n',
    ['--rename', 'a=b'],
    record => ({ ...record, document: { b: 1 } }),
  ),
  'DOCUMENT_NOT_EDITED: Add an edited': async world => {
    await world.file('a.ndjson', '{"a":[{"b":1},{"b":2}]}\n')
    expect((await world.load('a.ndjson', '--rename', 'a.b=c')).stdout).toContain('DOCUMENT_NOT_EDITED')
    await world.advised(['explain', 'DOCUMENT_NOT_EDITED'])
    await world.follow(0, { FILE: await world.edit(record => ({ ...record, document: { c: [1, 2] } })) })
    expect(world.stored).toBe(1)
  },
  'DOCUMENT_NOT_TRANSFORMED: The dead letters': async world => {
    await world.file('f.mjs', 'export default function () { throw new Error("no") }\n')
    await world.file('a.ndjson', '{"n":1}\n')
    await world.advisedLoad('a.ndjson', '--transform', 'f.mjs')
    // The first command needs jq and a shell.
    const path = await world.edit(record => ({ ...record, document: { n: 1 } }))
    await world.follow(0, { FILE: path }, { number: 0 })
    expect(world.stored).toBe(1)
  },
  'DOCUMENT_HIT_INVALID: To load a rejected': async world => {
    const hit = (id: string, more: string) => `{"_index":"o","_type":"_doc","_id":"${id}","_score":1${more}}\n`
    await world.file('a.ndjson', hit('1', ',"_source":{"n":1}') + hit('2', ''))
    expect((await world.load('a.ndjson')).stdout).toContain('DOCUMENT_HIT_INVALID')
    await world.advised(['explain', 'DOCUMENT_HIT_INVALID'])
    await world.follow(0, { FILE: await world.edit(record => ({ ...record, document: { n: 2 }, id: '2' })) })
    expect(world.lab.control.ids(world.index)).toEqual(['1', '2'])
  },
  'DOCUMENT_INDEX_INVALID: Correct the field': async world => {
    await world.file('a.ndjson', '{"day":"a/b"}\n')
    await world.advised(['ingest', 'a.ndjson', '--index', `${world.index}-{day}`])
    await world.follow(0, { FILE: await world.edit(record => ({ ...record, document: { day: 'c' } })) })
    expect(world.lab.control.count(`${world.index}-c`)).toBe(1)
  },
  'DOCUMENT_VERSION_INVALID: Correct the field': replaying(
    'a.ndjson',
    '{"id":"1","v":"x"}\n',
    ['--op', 'index', '--ids', 'field', '--id-field', 'id', '--version-field', 'v'],
    record => ({ ...record, document: { id: '1', v: 3 } }),
  ),
  'NOT_DEAD_LETTERS: If the file holds': async world => {
    await world.file('a.ndjson', lines(3))
    await world.advised(['replay', 'a.ndjson'])
    await world.load('a.ndjson')
    expect(world.stored).toBe(3)
  },
}
