/** What ends a run, or keeps one from beginning: its state, its lock, its budgets. In the lab. */
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { type IngestOptions, type Receipt, undo, verify } from '../../src/index.js'
import { type RunWorld, lines } from '../support/lab/run-world.js'
import { stopped } from './ask.js'
import type { Told } from './cause.js'
import { command } from './command.js'
import { type LoadCause, load } from './load-cause.js'

/** A run that is aborted once some documents are booked. */
async function interrupted(runs: RunWorld, more: Partial<IngestOptions> = {}): Promise<Told> {
  await writeFile(runs.path('a.ndjson'), lines(300))
  const controller = new AbortController()
  const run = runs.load('a.ndjson', {
    ...more,
    batchDocs: 10,
    concurrency: 1,
    signal: controller.signal,
    onEvent: event => {
      if (event.type === 'progress') controller.abort('SIGTERM')
    },
  })
  return await stopped(run)
}

async function loaded(runs: RunWorld, more: Partial<IngestOptions> = {}): Promise<Receipt> {
  await writeFile(runs.path('a.ndjson'), lines(30))
  return await runs.load('a.ndjson', more)
}

const budgets: readonly LoadCause[] = [
  load(
    'a signal in the middle of a load',
    'RUN_INTERRUPTED',
    async ({ runs }) =>
      async () =>
        await interrupted(runs),
  ),
  load('a time budget that is over', 'TIME_BUDGET_SPENT', async ({ runs }) => {
    await writeFile(runs.path('a.ndjson'), lines(30))
    const budget = { timeBudgetMs: 5000, startedAt: Date.now() - 10_000 }
    return async () => await stopped(runs.load('a.ndjson', budget))
  }),
  load('a byte budget that no request fits into', 'BYTE_BUDGET_SPENT', async ({ runs }) => {
    await writeFile(runs.path('a.ndjson'), lines(2000))
    return async () => await stopped(runs.load('a.ndjson', { byteBudget: 15_000, batchDocs: 2000, compress: 'none' }))
  }),
]

const states: readonly LoadCause[] = [
  load('a file that was replaced after its load was interrupted', 'INPUT_CHANGED', async ({ runs }) => {
    await interrupted(runs)
    await writeFile(runs.path('a.ndjson'), lines(3))
    return async () => await stopped(runs.load('a.ndjson'))
  }),
  load('an interrupted load that is repeated with other options', 'RUN_OPTIONS_CHANGED', async ({ runs }) => {
    await interrupted(runs)
    return async () => await stopped(runs.load('a.ndjson', { ids: 'field', idField: 'n' }))
  }),
  load('a state folder that cannot be made', 'STATE_UNWRITABLE', async ({ runs }) => {
    await writeFile(runs.path('a.ndjson'), lines(3))
    await writeFile(runs.path('file'), '')
    return async () => await stopped(runs.load('a.ndjson', { stateDir: runs.path('file/state') }))
  }),
  load('a checkpoint that was damaged', 'STATE_UNREADABLE', async ({ runs }) => {
    await loaded(runs)
    const [name = ''] = await readdir(`${runs.stateDir}/runs`)
    await writeFile(`${runs.stateDir}/runs/${name}`, '{"version":1')
    return async () => await stopped(runs.load('a.ndjson'))
  }),
  load('dead letters on a path that cannot be written', 'DEAD_LETTERS_UNWRITABLE', async ({ runs }) => {
    await writeFile(runs.path('a.ndjson'), `${lines(3)}no\n`)
    await mkdir(runs.path('folder'))
    return async () => await stopped(runs.load('a.ndjson', { deadLetters: runs.path('folder') }))
  }),
  load('the same load, while it runs', 'RUN_LOCKED', async ({ runs }) => async () => {
    await writeFile(runs.path('a.ndjson'), lines(50_000))
    let second: Promise<Told> | undefined
    await runs.load('a.ndjson', {
      onEvent: ({ type }) => {
        if (type === 'input') second ??= stopped(runs.load('a.ndjson'))
      },
    })
    if (second === undefined) throw new Error('the first load never began')
    return await second
  }),
]

const laterOn: readonly LoadCause[] = [
  load(
    'a run that nobody knows',
    'RUN_NOT_FOUND',
    async ({ runs }) => {
      await loaded(runs)
      const options = { ...(await runs.way()), run: 'nightly', stateDir: runs.stateDir }
      return async () => await stopped(verify(options))
    },
    { by: 'verify' },
  ),
  load(
    'a run whose ids the cluster made',
    'RUN_IDS_UNKNOWN',
    async ({ runs }) => {
      const { run } = await loaded(runs, { ids: 'cluster' })
      const options = { ...(await runs.way()), run, stateDir: runs.stateDir }
      return async () => await stopped(undo(options))
    },
    { by: 'undo' },
  ),
  load(
    'the URL of another cluster than the run was loaded into',
    'RUN_ELSEWHERE',
    async ({ world, runs }) => {
      const { run } = await loaded(runs)
      const { target, ...way } = await runs.way()
      const other = await world.lab.control.createDeployment(`other-${runs.index}`)
      const options = { ...way, target: { ...target, url: other.url }, run, stateDir: runs.stateDir }
      return async () => await stopped(verify(options))
    },
    { by: 'verify' },
  ),
  load(
    'a cluster that refuses to look documents up',
    'LOOKUP_REFUSED',
    async ({ world, runs }) => {
      const { run } = await loaded(runs)
      const body = JSON.stringify({ error: { type: 'index_closed_exception', reason: 'closed' }, status: 400 })
      world.lab.control.plant({ lookup: { status: 400, body } })
      const options = { ...(await runs.way()), run, stateDir: runs.stateDir }
      return async () => await stopped(verify(options))
    },
    { by: 'verify' },
  ),
  load(
    'an undo of the load that the alias leads to',
    'UNDO_BEHIND_ALIAS',
    async ({ runs }) => {
      const { run } = await loaded(runs, { index: undefined, swapAlias: `${runs.index}-alias` })
      const options = { ...(await runs.way()), run, stateDir: runs.stateDir }
      return async () => await stopped(undo(options))
    },
    { by: 'undo' },
  ),
  load(
    'an undo that nobody has confirmed',
    'UNDO_UNCONFIRMED',
    async ({ world, runs }) => {
      const { run } = await loaded(runs)
      const args = ['undo', run, '--state-dir', runs.stateDir, '--preflight-connections', '1']
      return async () => await command(args, world.lab.env)
    },
    { by: 'undo' },
  ),
]

export const runCauses: readonly LoadCause[] = [...budgets, ...states, ...laterOn]
