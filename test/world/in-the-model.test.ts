/** Whatever brings documents in is drawn by the model, or stands in the list of what is not, with the reason. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { table } from '../../src/options/table.js'
import { districts } from '../support/house.js'
import { acts } from './acts.js'
import { sins } from '../../scripts/world/sins-list.js'
import { limits } from './limits.js'
import { argsOf } from './command.js'
import { notInModel } from './not-in-model.js'
import { draw } from './story.js'
import { edits } from './shaping.js'
import { ways } from './ways.js'

/** What the guides list as sources and compressions. Sluice has no table of them. */
const sources = ['files', 'globs', 'stdin', 'spool', 'follow', 'iterable', 'object stream', 'https', 's3', 'servicenow']
const compressions = ['gzip', 'zstd', 'bzip2', 'xz', 'brotli']

const played = new Set(Object.values(ways).flatMap(({ plays }) => plays))
for (const name of ['replay', 'verify']) if (acts[name] !== undefined) played.add(name)
for (const { ops } of Object.values(ways)) for (const op of ops) played.add(op)
for (const name of [
  'ids run',
  'ids field',
  'ids hash',
  'unreplayed',
  'edits',
  'destinations',
  'option --follow',
  'transform',
  'limits',
])
  played.add(name)

/** Every option that a story may have. */
const settings = {
  op: 'index',
  ids: 'field',
  batchDocs: 1,
  tag: 'x',
  transforms: true,
  skips: true,
  runId: 'name',
  maxRejected: 0,
  isAgain: true,
}
for (const way of Object.values(ways))
  for (const edit of edits)
    for (const flag of argsOf({ at: path => path, state: 'state', target: 'index', way }, { ...settings, edit }))
      played.add(`option ${flag}`)
for (const limit of Object.values(limits))
  for (const flag of limit.of({ kind: '', after: 0, times: 0, turns: 0 }).flags) played.add(`option ${flag}`)

/** Options that change which documents are sent, or how. */
function optionsOf(...groups: readonly string[]): string[] {
  const rows: [string, { readonly group: string; readonly flag?: string }][] = Object.entries(table)
  const own = rows.filter(([, { group }]) => groups.includes(group))
  return own.map(([name, { flag }]) => `option ${flag ?? `--${name.replaceAll(/[A-Z]/g, '-$&').toLowerCase()}`}`)
}

function choicesOf(row: keyof typeof table): readonly string[] {
  const { kind } = table[row] as { readonly kind: { readonly choices?: readonly string[] } }
  return kind.choices ?? []
}

function roomsOf(district: string): string[] {
  const { rooms = {} } = districts.find(({ name }) => name === district) ?? {}
  return [...new Set(Object.keys(rooms).map(room => room.split('/')[0] ?? room))].filter(room => room !== '')
}

const lists: Readonly<Record<string, readonly string[]>> = {
  format: choicesOf('format').filter(name => name !== 'auto'),
  operation: choicesOf('op'),
  'source of ids': choicesOf('ids').map(name => `ids ${name}`),
  'option of documents': optionsOf('Documents', 'CSV', 'Edits'),
  source: sources,
  compression: compressions,
  program: roomsOf('programs'),
  feature: roomsOf('features'),
}

test.each(Object.entries(lists))('each %s is in the model, or is listed with why not', (_, names) => {
  expect(names.length).toBeGreaterThan(1)
  expect(
    names.filter(name => !played.has(name) && notInModel[name] === undefined),
    'draw it, or say why not in test/world/not-in-model.ts',
  ).toEqual([])
})

test('what is not in the model is a part of Sluice, and is not drawn', () => {
  const all = new Set(Object.values(lists).flat())
  const names = Object.keys(notInModel).filter(name => name !== 'swap-alias')
  expect(names.filter(name => !all.has(name) || played.has(name))).toEqual([])
})

test('the oracle shares no code with Sluice', () => {
  const folder = new URL('oracle/', import.meta.url)
  const files = [...readdirSync(folder).map(name => new URL(name, folder)), new URL('facts.ts', import.meta.url)]
  const imports = files.flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(/from '([^']+)'/g)].map(([, from]) => from),
  )
  expect(imports.length).toBeGreaterThan(5)
  expect(imports.filter(from => from === undefined || !/^(?:\.\/[\w-]+|\.\.\/facts)\.js$/.test(from))).toEqual([])
})

test('the same seed draws the same story, and a story is plain data', () => {
  const story = draw(7)
  expect(draw(7)).toEqual(story)
  expect(JSON.parse(JSON.stringify(story))).toEqual(story)
})

test('each planted sin finds its place in the code', () => {
  const textOf = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  expect(sins.length).toBeGreaterThan(12)
  expect(sins.filter(({ file, from }) => textOf(file).split(from).length !== 2)).toEqual([])
})
