/** Plants a sin for each measure of the tree: a measure that cannot fail says nothing. */
import { describe, expect, test } from 'vitest'
import {
  arrowsOf,
  branchyFunctions,
  doorsOf,
  entriesOf,
  featuresNamedBy,
  linesOf,
  membersOf,
  upwardOf,
} from '../scripts/measure/structure.js'
import { filesWithOptions } from '../scripts/measure/options.js'
import { districtOf, floorOf, roomOf } from './support/house.js'

function file(path: string, text = '', imports: readonly string[] = []) {
  return { path, text, imports, lines: text.split('\n').length }
}

const hooks = file(
  'run/loop/hooks.ts',
  'export interface OneHook {\n  one?(): string\n}\nexport interface TwoHook {\n  two?(at: number): void\n}\n',
)
const spool = file(
  'features/spool/spool-stdin.ts',
  'const hook: OneHook & TwoHook = {\n  one: () => "a",\n  two(at) {\n    console.log(at)\n  },\n}',
  ['run/loop/hooks.ts'],
)
const follow = file('features/follow/rounds.ts', 'const hook: OneHook = {\n  one: () => "b",\n}', ['run/loop/hooks.ts'])
const clean = [hooks, spool, follow]

describe('a measure sees', () => {
  test('one more entry at the top of src', () => {
    expect(entriesOf([...clean, file('planted/one.ts')])).toEqual(['run', 'features', 'planted'])
  })

  test('one more arrow between rooms, and none inside a room', () => {
    const planted = file('run/loop/planted.ts', '', ['run/state/runs/runs.ts', 'run/loop/hooks.ts'])
    expect(arrowsOf([...clean, planted], roomOf)).toEqual([
      'features/spool -> run/loop',
      'features/follow -> run/loop',
      'run/loop -> run/state/runs',
    ])
  })

  test('an import that runs upward, also from the base and into the command', () => {
    const planted = [
      file('base/text/planted.ts', '', ['options/table.ts']),
      file('ingest.ts', '', ['cli/main.ts', 'features/spool/spool-stdin.ts', 'lab/index.ts']),
      file('run/loop/planted.ts', '', ['planted/outside-the-plan.ts']),
      file('cli/commands/lab.ts', '', ['lab/index.ts']),
    ]
    expect(upwardOf([...clean, ...planted], { districtOf, floorOf })).toEqual([
      'base/text/planted.ts -> options/table.ts',
      'ingest.ts -> cli/main.ts',
      'ingest.ts -> lab/index.ts',
      'run/loop/planted.ts -> planted/outside-the-plan.ts',
    ])
  })

  test('one more door, and counts it once', () => {
    const planted = file('programs/serve/planted.ts', '', ['run/loop/hooks.ts', 'features/spool/spool-stdin.ts'])
    expect(doorsOf(clean, districtOf)).toEqual(['run/loop/hooks.ts'])
    expect(doorsOf([...clean, planted], districtOf)).toEqual(['features/spool/spool-stdin.ts', 'run/loop/hooks.ts'])
  })

  test('a function with many branches, and not those of a function inside it', () => {
    const branches = 'if (a && b) c()\n'
    const inner = `const inner = () => {\n${branches.repeat(3)}}\n`
    const planted = file('route/sender/planted.ts', `export function outer() {\n${inner}${branches.repeat(2)}}`)
    expect(branchyFunctions([planted], 5)).toEqual(['route/sender/planted.ts: inner 6'])
    expect(branchyFunctions([planted], 3)).toEqual([
      'route/sender/planted.ts: inner 6',
      'route/sender/planted.ts: outer 4',
    ])
    expect(branchyFunctions([{ ...planted, path: 'pipeline/bulk/kernel/assembly/planted.ts' }], 3)).toEqual([])
    expect(() => branchyFunctions([file('broken.ts', 'const')], 3)).toThrow('broken.ts cannot be parsed')
  })

  test('a member of the hooks that one feature has for itself', () => {
    const place = { path: 'run/loop/hooks.ts', types: ['OneHook', 'TwoHook'] }
    const innocent = [
      file('run/loop/run.ts', 'function run(hook: TwoHook) {\n  const {\n    two,\n  } = hook\n}'),
      file(
        'features/report/innocent.ts',
        'const say = (one: OneHook, two: string) => ({ one, two, three: () => two })',
      ),
      file('features/tables/innocent.ts', 'const said = async (two: TwoHook) => ({ two: await two })'),
      file('features/remote/innocent.ts', 'const two = { two: () => 1 }'),
    ]
    expect(membersOf([...clean, ...innocent], place)).toEqual([
      { name: 'one', by: ['features/spool/spool-stdin.ts', 'features/follow/rounds.ts'] },
      { name: 'two', by: ['features/spool/spool-stdin.ts'] },
    ])
    expect(() => membersOf([spool], place)).toThrow('src has no run/loop/hooks.ts')
    expect(() => membersOf(clean, { ...place, types: ['Gone'] })).toThrow('has no interface Gone')
  })

  test('a feature that the spine names, by an import or by an identifier', () => {
    const planted = [
      file('run/loop/planted.ts', 'if (load.spoolBytes) open()'),
      file('run/loop/other.ts', 'open()', ['features/follow/rounds.ts']),
      file('run/loop/innocent.ts', "// the spool\nconst text = 'spool and follow'"),
    ]
    expect(featuresNamedBy(clean, ['run/loop'])).toEqual([])
    expect(featuresNamedBy([...clean, ...planted], ['run/loop'])).toEqual([
      'follow: run/loop/other.ts',
      'spool: run/loop/planted.ts',
    ])
  })

  test('that what it looks at is gone', () => {
    expect(() => featuresNamedBy(clean, ['run/load.ts'])).toThrow('src has no run/load.ts')
    expect(() => featuresNamedBy([hooks], ['run/loop'])).toThrow('src has no features')
    const unknown = file('features/planted/one.ts')
    expect(() => featuresNamedBy([...clean, unknown], ['run/loop'])).toThrow('features/planted has no words')
    expect(() => filesWithOptions(clean)).toThrow('src has no type IngestOptions')
  })

  test('a file that sees the options as a whole, also by a type that holds them', () => {
    const all = [
      file(
        'options/load.ts',
        'export interface IngestOptions {\n  a: string\n}\nexport interface Load {\n  b: string\n}\n',
      ),
      file(
        'ingest.ts',
        "import type { IngestOptions } from './options/load.js'\nexport interface Whole {\n  all: IngestOptions\n}\n",
      ),
      file(
        'run/loop/planted.ts',
        "import type { Whole } from '../../ingest.js'\nexport const one = (whole: Whole) => whole\n",
      ),
      file('run/loop/innocent.ts', 'export const two = 2\n'),
    ]
    expect(filesWithOptions(all)).toEqual(['options/load.ts', 'ingest.ts', 'run/loop/planted.ts'])
  })

  test('the lines of each part', () => {
    expect(linesOf(clean, path => path.split('/')[0])).toEqual([
      ['features', 9],
      ['run', 7],
    ])
  })
})
