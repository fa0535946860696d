import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type IngestOptions, type Receipt, ingest } from '../../src/index.js'
import { eventually } from '../support/eventually.js'
import { startSluice } from '../support/command/sluice.js'
import { kill } from '../support/command/kill.js'
import { lostAnswer, startLosing } from './losing-gate.js'
import { failureOf, newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

const ROWS = 10
const COUNT = 'ctx._source.n = (ctx._source.n == null ? 0 : ctx._source.n) + params.by'

type Operation = Partial<Pick<IngestOptions, 'op' | 'ids' | 'versionField' | 'ifSeqNoField' | 'script'>>

const field = { ids: 'field', idField: 'id' } as const
const sequence = { ...field, ifSeqNoField: 's', ifPrimaryTermField: 't' } as const

/** How each row of the page is tried. Where documents are changed, they are there before. */
const operations: Readonly<Record<string, readonly Operation[]>> = {
  '`create`, ids of the run': [{}],
  '`create`, ids from fields': [field],
  '`index`': [{ ...field, op: 'index' }],
  '`update`': [{ ...field, op: 'update' }],
  '`upsert`': [{ ...field, op: 'upsert' }],
  '`delete`': [{ ...field, op: 'delete' }],
  '`index` with `--version-field`': [{ ...field, op: 'index', versionField: 'v' }],
  '`delete` with `--version-field`': [{ ...field, op: 'delete', versionField: 'v' }],
  '`index`, `update`, `delete` with `--if-seq-no-field`': [
    { ...sequence, op: 'index' },
    { ...sequence, op: 'update' },
    { ...sequence, op: 'delete' },
  ],
  '`update`, `upsert` with `--script`': [
    { ...field, op: 'update', script: COUNT },
    { ...field, op: 'upsert', script: COUNT },
  ],
}

const page = readFileSync(fileURLToPath(new URL('../../docs/guide/updates-and-deletes.md', import.meta.url)), 'utf8')
const table = page
  .split('\n')
  .filter(line => line.startsWith('| '))
  .map(line => line.split('|').map(cell => cell.trim()))
  // Another table has fewer columns.
  .filter(({ length, 1: name = '' }) => length === 7 && name in operations)
  .map(([, name = '', lost = '', killed = '', , again = '']) => ({ name, lost, killed, again }))

type Column = 'lost' | 'killed' | 'again'

/** What each operation does after a lost answer, a kill, and if the same file comes again. Each cell of the page is tried. */
export const describePromises = promisesOf('lost', 'killed', 'again')

/** The same for some columns of the page. */
export function promisesOf(...columns: readonly Column[]) {
  return (world: () => World): void => describeColumns(world, columns)
}

function describeColumns(world: () => World, columns: readonly Column[]): void {
  describe('promises of operations', () => {
    let folder: string
    let files = 0
    beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'promises-'))))
    afterAll(async () => await rm(folder, { recursive: true }))

    test('the page has a row for each', () => {
      expect(table.map(({ name }) => name)).toEqual(Object.keys(operations))
    })

    /** A file of changes, and an index with what they change. */
    async function begin({ op = 'create' }: Operation) {
      files += 1
      const source = join(folder, `rows-${files}.ndjson`)
      const rows = Array.from({ length: ROWS }, (_, s) => ({ id: `d${s}`, n: 1, v: 1, s, t: 1, by: 1 }))
      await writeFile(source, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
      const index = newIndex()
      const before = Array.from({ length: ROWS }, (_, s) => ({ id: `d${s}`, n: 0 }))
      if (op !== 'create') {
        const stored = { ...field, op: 'index', source: before.values(), index, concurrency: 1 } as const
        await ingest({ ...way(), ...stored })
      }
      return { source, index, stateDir: join(folder, `state-${files}`) }
    }

    const way = () => ({ ...loadThrough(world(), world().proxy.http), preflightConnections: 1 })
    const numbersIn = async (index: string) =>
      (await world().documents(index)).map(text => (JSON.parse(text) as { n: number }).n)
    /** What the index holds once every row has done its work once. */
    const once = ({ op }: Operation) => (op === 'delete' ? [] : Array.from({ length: ROWS }, () => 1))

    const expectAll = (receipt: Receipt, cell: string) => {
      const [, count = ''] = /^`(\w+)`/.exec(cell) ?? []
      expect(receipt).toMatchObject({ status: 'finished', read: ROWS, [count]: ROWS })
    }

    const cases = table.flatMap(({ name, ...cells }) =>
      (operations[name] ?? []).map(operation => [`${name} (${operation.op ?? 'create'})`, operation, cells] as const),
    )

    const casesOf = (column: Column) => (columns.includes(column) ? cases : [])

    test.each(casesOf('lost'))('%s: an answer is lost', async (_, operation, { lost }) => {
      const loading = await begin(operation)
      await using losing = await startLosing(world(), [lostAnswer])
      expectAll(await ingest({ ...losing.way, ...operation, ...loading }), lost)
      expect(await numbersIn(loading.index)).toEqual(once(operation))
    })

    test.each(casesOf('again'))('%s: the same file comes again', async (_, operation, { again }) => {
      const loading = { ...way(), ...operation, ...(await begin(operation)) }
      await ingest(loading)
      expect(await numbersIn(loading.index)).toEqual(once(operation))
      expect((await ingest(loading)).thisProcess).toMatchObject({ read: 0 })
      expectAll(await ingest({ ...loading, again: true }), again)
      const twice = { created: [...once(operation), ...once(operation)], updated: once(operation).map(() => 2) }
      const isTwice = again.startsWith('`created`') || operation.script !== undefined
      const expected = twice[again.startsWith('`created`') ? 'created' : 'updated']
      expect(await numbersIn(loading.index)).toEqual(isTwice ? expected : once(operation))
    })

    test.each(casesOf('killed'))(
      '%s: the process is killed, and the command runs again',
      async (_, operation, { killed }) => {
        const loading = await begin(operation)
        {
          await using losing = await startLosing(world(), [{ kind: 'stall', from: 1, times: 1, stored: 'all' }])
          const running = startSluice(await argumentsOf(loading, operation), { env: await losing.environment(folder) })
          const ended = running.ended.then(({ stderr }) =>
            Promise.reject(new Error(`ended before its kill: ${stderr}`)),
          )
          const stored = eventually(async () => expect(await numbersIn(loading.index)).toEqual(once(operation)))
          await Promise.race([ended, stored])
          await kill(running)
        }
        const again = { ...way(), ...operation, ...loading }
        if (!killed.startsWith('`OPTION_INVALID`')) expectAll(await ingest(again), killed)
        else {
          const refused = await failureOf(ingest(again))
          expect(refused).toMatchObject({ code: 'OPTION_INVALID', evidence: { option: 'resendUnknown' } })
          expect(await numbersIn(loading.index)).toEqual(once(operation))
          expect(await ingest({ ...again, resendUnknown: true })).toMatchObject({ status: 'finished', updated: ROWS })
          expect(await numbersIn(loading.index)).toEqual(once(operation).map(() => 2))
          return
        }
        expect(await numbersIn(loading.index)).toEqual(once(operation))
      },
    )

    async function argumentsOf(
      { source, index, stateDir }: { source: string; index: string; stateDir: string },
      { script, ...operation }: Operation,
    ): Promise<string[]> {
      const flags = Object.entries(operation).flatMap(([name, value]) =>
        value === undefined ? [] : [`--${name.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`, value],
      )
      const path = join(folder, 'count.painless')
      if (typeof script === 'string') await writeFile(path, script)
      const scripted = script === undefined ? [] : ['--script', path]
      return ['ingest', source, '--index', index, '--state-dir', stateDir, ...flags, ...scripted]
    }
  })
}
