/** Advice on runs and options that is a command, each with the situation in which somebody reads it, and where it ends. */
import { rm, writeFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { lines } from '../../support/lab/run-world.js'
import { addFields, askIndex, deleteIndex } from './ask-index.js'
import { type AdviceWorld, budget, type Play } from './advice-world.js'

const small = ['--batch-docs', '5', '--concurrency', '1']

/** Loads documents of which Elasticsearch rejects some, and stops. */
async function tooMany(world: AdviceWorld, stops: (...args: readonly string[]) => Promise<unknown>): Promise<void> {
  await askIndex(world, { n: { type: 'long' } })
  await world.file('a.ndjson', `${lines(10)}${'{"n":"x"}\n'.repeat(5)}${lines(20, 11)}`)
  await stops('a.ndjson', '--max-rejected', '2', ...small)
}

async function tooManyAtTheEnd(world: AdviceWorld): Promise<void> {
  await askIndex(world, { n: { type: 'long' } })
  await world.file('a.ndjson', `${lines(10)}${'{"n":"x"}\n'.repeat(5)}`)
  await world.load('a.ndjson', '--max-rejected', '2')
  await world.advisedLoad('a.ndjson', '--max-rejected', '9')
}

/** Loads a file twice, because its index is deleted after the first load. Undo of the first run gives the advice. */
async function loadedAgain(world: AdviceWorld): Promise<readonly [string, string]> {
  const runOf = ({ stdout }: { readonly stdout: string }) => stdout.match(/\d{8}T\d{6}Z-\w+/)?.[0] ?? ''
  await world.file('a.ndjson', lines(3))
  const first = runOf(await world.load('a.ndjson'))
  await deleteIndex(world)
  const second = runOf(await world.load('a.ndjson'))
  await world.advised(['undo', first, '--yes'])
  expect(world.stored).toBe(3)
  return [first, second]
}

export const playedRuns: Readonly<Record<string, Play>> = {
  'OPTION_INVALID: Run `sluice runs`': async world => {
    await world.file('a.ndjson', lines(3))
    await world.load('a.ndjson')
    await world.advised(['runs', 'nothing'])
    expect((await world.follow(0)).stdout).toContain(world.index)
  },
  'OPTION_INVALID: Correct the environment variable': async world => {
    await world.advised(['ingest', 'a.ndjson', '--index', world.index], { SLUICE_CONCURRENCY: 'many' })
    expect((await world.follow(0)).stdout).toContain('concurrency')
  },
  'OPTION_INVALID: Run `sluice explain`': async world => {
    await world.advised(['explain', 'NO_SUCH_CODE'])
    expect((await world.follow(0)).stdout).toContain('TOO_MANY_REJECTED')
  },
  'OPTION_INVALID: Correct the command': async world => {
    await world.advised(['ingest', 'a.ndjson', '--index', world.index, '--concurrency', 'many'])
    expect((await world.follow(0, { COMMAND: 'ingest' })).stdout).toContain('--concurrency')
    expect((await world.follow(0, {}, { number: 1 })).stdout).toContain('concurrency')
  },
  'RUN_OPTIONS_CHANGED: To load the file again': async world => {
    await world.file('a.ndjson', lines(3))
    await world.load('a.ndjson')
    const { run } = await world.advisedLoad('a.ndjson', '--ids', 'field', '--id-field', 'n')
    await world.same(0, '--again')
    expect(world.stored).toBe(6)
    await world.follow(0, { RUN: run }, { answer: '--yes' })
    expect(world.lab.control.ids(world.index)).toEqual(['1', '2', '3'])
  },
  'RUN_OPTIONS_CHANGED: Or run the command': async world => {
    await world.file('a.ndjson', lines(3))
    await world.load('a.ndjson')
    await world.advisedLoad('a.ndjson', '--ids', 'field', '--id-field', 'n')
    for (const count of [3, 4]) {
      await world.file('a.ndjson', lines(count))
      expect(await world.load('a.ndjson')).toMatchObject({ code: 0 })
      expect(world.stored).toBe(count)
    }
  },
  'RUN_OPTIONS_CHANGED: Run the command': async world => {
    await unfinishedWithOthers(world)
    expect(await world.load('a.ndjson')).toMatchObject({ code: 0 })
    expect(world.stored).toBe(1000)
    await world.same(0, '--again')
    expect(world.stored).toBe(2000)
  },
  'RUN_OPTIONS_CHANGED: Or forget': async world => {
    const { run } = await unfinishedWithOthers(world)
    const before = world.stored
    expect(before).toBeGreaterThan(0)
    await world.follow(0, { RUN: run })
    await world.same(0)
    expect(world.stored).toBe(before + 1000)
  },
  'TOO_MANY_REJECTED: Read the reasons': async world => {
    await tooMany(world, async (name, ...more) => await world.advisedLoad(name ?? '', ...more))
    await world.follow(0, { FILE: await world.edit(record => ({ ...record, document: { n: 0 } })) })
    await world.same(1)
    expect(world.stored).toBe(35)
  },
  'TOO_MANY_REJECTED: Or run the same': async world => {
    await tooMany(world, async (name, ...more) => await world.advisedLoad(name ?? '', ...more))
    await world.file('b.ndjson', lines(5))
    expect((await world.same(3, 'b.ndjson')).stderr).toContain('REJECTED_NOT_REPLAYED')
    expect(world.stored).toBe(35)
  },
  'TOO_MANY_REJECTED: If you correct': async world => {
    let run = ''
    await tooMany(world, async (name, ...more) => ({ run } = await world.advisedLoad(name ?? '', ...more)))
    await world.file('a.ndjson', lines(35))
    await world.follow(0, { RUN: run }, { answer: '--yes' })
    await world.same(0)
    expect(world.stored).toBe(35)
  },
  'REJECTED_NOT_REPLAYED: Correct the mapping': async world => {
    await tooManyAtTheEnd(world)
    await world.follow(0, { FILE: await world.edit(record => ({ ...record, document: { n: 0 } })) })
    await world.same(0)
    expect(world.stored).toBe(15)
  },
  'REJECTED_NOT_REPLAYED: Or delete': async world => {
    await tooManyAtTheEnd(world)
    await rm(await world.letters())
    await world.same(0)
  },
  'REJECTED_NOT_REPLAYED: Or pass --again': async world => {
    await askIndex(world, { n: { type: 'long' } })
    await world.file('a.ndjson', `${lines(10)}${'{"n":"x"}\n'.repeat(5)}`)
    await world.load('a.ndjson', '--max-rejected', '2')
    const { stderr } = await world.advisedLoad('a.ndjson', '--max-rejected', '9')
    const [, run = ''] = / of run (\S+) are not replayed/.exec(stderr) ?? []
    await world.follow(0, { RUN: run }, { answer: '--yes' })
    expect(world.stored).toBe(0)
    await world.same(1, '--again')
    expect(world.stored).toBe(10)
  },
  'TOO_MANY_INDICES: Or raise': async world => {
    await world.file('a.ndjson', '{"day":"a"}\n{"day":"b"}\n{"day":"c"}\n')
    await world.advised(['ingest', 'a.ndjson', '--index', `${world.index}-{day}`, '--max-indices', '2', ...small])
    await world.same(0, '--max-indices', '3')
    const counts = ['a', 'b', 'c'].map(day => world.lab.control.count(`${world.index}-${day}`))
    expect(counts).toEqual([1, 1, 1])
  },
  'MAPPING_DIFFERS: To add fields': async world => {
    await askIndex(world, { n: { type: 'long' } })
    await world.file('m.json', '{"properties":{"n":{"type":"long"},"m":{"type":"keyword"}}}')
    await world.file('a.ndjson', lines(3))
    await world.advisedLoad('a.ndjson', '--mapping', 'm.json')
    await addFields(world, { m: { type: 'keyword' } })
    await world.same(0)
    expect(world.stored).toBe(3)
  },
  'REHEARSAL_REFUSED: Or load': async world => {
    await askIndex(world, { n: { type: 'long' } })
    await world.file('a.ndjson', '{"n":"x"}\n')
    await world.advisedLoad('a.ndjson', '--dry-run', '--against-index')
    expect((await world.follow(0, { FILE: 'a.ndjson' })).stdout).toContain('"mappings"')
  },
  'CLUSTER_OVERLOADED: Lower --concurrency': async world => {
    await fails(world, {
      bulk: { status: 429, body: '{"error":{"type":"es_rejected_execution_exception","reason":"r"},"status":429}' },
    })
  },
  'CLUSTER_UNAVAILABLE: Check the health': async world => {
    await fails(world, {
      bulk: { status: 503, body: '{"error":{"type":"no_master_exception","reason":"r"},"status":503}' },
    })
  },
  'PROXY_UNREACHABLE: Ask the provider': async world => {
    await world.file('a.ndjson', lines(400))
    // Tunnels break in the middle of the load, and the proxy opens no other ones.
    world.lab.control.plant({ cut: { afterBytes: 9000 }, handshake: { kind: 'fin', after: 4 } })
    const { stderr } = await world.advisedLoad('a.ndjson', ...small, '--max-elapsed', '50ms')
    expect(stderr).toContain('It accepted connections before')
    expect(stderr).not.toContain('scheme')
    world.lab.control.heal()
    await world.same(0)
    expect(world.stored).toBe(400)
  },
  'LOAD_CHECK_FAILED: Correct the dead letters': async world => {
    await world.file('a.ndjson', `${lines(3)}no\n`)
    await world.advised(['ingest', 'a.ndjson', '--swap-alias', world.index])
    await world.follow(0, { FILE: await world.edit(record => ({ ...record, document: { n: 4 } })) })
    // The rejected document still counts.
    expect((await world.same(1)).stdout).toContain(`${world.index} is on`)
    expect(world.stored).toBe(4)
  },
  'LOAD_CHECK_FAILED: Correct the limit': async world => {
    await world.file('a.ndjson', lines(3))
    const query = (hits: number) => JSON.stringify({ query: { match_all: {} }, hits })
    await world.advised(['ingest', 'a.ndjson', '--swap-alias', world.index, '--check-query', query(4)])
    await world.same(0, '--check-query', query(3))
    expect(world.stored).toBe(3)
  },
  'LOAD_CHECK_FAILED: To use the index': async world => {
    await world.file('a.ndjson', lines(1))
    await world.sluice(['ingest', 'a.ndjson', '--swap-alias', world.index])
    await world.file('b.ndjson', `${lines(3)}no\n`)
    const { stderr } = await world.advised(['ingest', 'b.ndjson', '--swap-alias', world.index])
    const [, kept = ''] = /loaded the index (\S+) but/.exec(stderr) ?? []
    await world.follow(0, { ALIAS: world.index, INDEX: kept })
    expect(world.stored).toBe(3)
  },
  'UNDO_LOADED_AGAIN: To delete the documents': async world => {
    const [, second] = await loadedAgain(world)
    await world.follow(0, { LATER: second }, { answer: '--yes' })
    expect(world.stored).toBe(0)
  },
  'UNDO_LOADED_AGAIN: If the documents are right': async world => {
    const [first] = await loadedAgain(world)
    await world.follow(0, { RUN: first })
    await world.load('a.ndjson')
    expect(world.stored).toBe(3)
  },
  'UNDO_BEHIND_ALIAS: Switch the alias': async world => {
    await world.file('a.ndjson', lines(3))
    await world.sluice(['ingest', 'a.ndjson', '--swap-alias', world.index])
    await world.file('a.ndjson', lines(5))
    const { stdout } = await world.sluice(['ingest', 'a.ndjson', '--swap-alias', world.index, '--again'])
    const run = stdout.match(/\d{8}T\d{6}Z-\w+/)?.[0] ?? ''
    await world.advised(['undo', run, '--yes'])
    await world.follow(0, { ALIAS: world.index })
    await world.same(0)
    expect(world.stored).toBe(3)
  },
  'BYTE_BUDGET_SPENT: Run the same command': async world => {
    await world.file('a.ndjson', lines(1000))
    await world.advisedLoad('a.ndjson', ...budget)
    await world.same(0, '--byte-budget', '10mb')
    expect(world.stored).toBe(1000)
  },
  'TRANSFORM_STOPPED: Correct the function, and throw': async world => {
    await world.file('f.mjs', 'export default function () { process.exit(3) }\n')
    await transformsAgain(world)
  },
  'TRANSFORM_STOPPED: Correct the function, or allow': async world => {
    await world.file('f.mjs', 'export default function () { for (;;); }\n')
    await transformsAgain(world, '--transform-timeout', '100ms')
  },
  'RUN_NOT_FOUND: Run `sluice runs`': async world => {
    await world.file('a.ndjson', lines(3))
    await world.load('a.ndjson')
    await world.advised(['verify', 'nothing'])
    expect((await world.follow(0)).stdout).toContain(world.index)
  },
  'RUN_UNDONE: Nothing of this run': async world => {
    await world.file('a.ndjson', lines(3))
    const { stdout } = await world.load('a.ndjson')
    const run = stdout.match(/\d{8}T\d{6}Z-\w+/)?.[0] ?? ''
    await world.sluice(['undo', run, '--yes'])
    await world.advised(['undo', run, '--yes'])
    await world.load('a.ndjson')
    expect(world.stored).toBe(3)
  },
  'DEAD_LETTERS_UNWRITABLE: Free disk space': async world => {
    await world.file('folder/file', '')
    await world.file('a.ndjson', `${lines(3)}no\n`)
    await world.advisedLoad('a.ndjson', '--dead-letters', 'folder')
    await world.same(1, '--dead-letters', 'dead.ndjson')
    expect(world.stored).toBe(3)
  },
  'STATE_UNWRITABLE: Free disk space': async world => {
    await world.file('file', '')
    await world.file('a.ndjson', lines(3))
    await world.advisedLoad('a.ndjson', '--state-dir', 'file/state')
    await world.same(0, '--state-dir', 'state')
    expect(world.stored).toBe(3)
  },
}

/** An interrupted load, and then the same with other options. */
async function unfinishedWithOthers(world: AdviceWorld) {
  await world.file('a.ndjson', lines(1000))
  await world.load('a.ndjson', ...budget)
  return await world.advisedLoad('a.ndjson', '--ids', 'field', '--id-field', 'n')
}

/** A cluster that fails in the middle, and is well again. */
async function fails(world: AdviceWorld, faults: Parameters<AdviceWorld['lab']['control']['plant']>[0]): Promise<void> {
  await world.file('a.ndjson', lines(40))
  const { bulk } = faults
  const headers = { 'x-elastic-product': 'Elasticsearch', 'content-type': 'application/json' }
  if (bulk !== undefined) world.lab.control.plant({ bulk: { ...bulk, headers, after: 3 } })
  await world.advisedLoad('a.ndjson', ...small, '--max-elapsed', '50ms')
  world.lab.control.heal()
  await world.same(0)
  expect(world.stored).toBe(40)
}

async function transformsAgain(world: AdviceWorld, ...more: readonly string[]): Promise<void> {
  await world.file('a.ndjson', lines(3))
  await world.advisedLoad('a.ndjson', '--transform', 'f.mjs', ...more)
  await writeFile(world.path('f.mjs'), 'export default document => document\n')
  await world.same(0, '--again')
  expect(world.stored).toBe(3)
}
