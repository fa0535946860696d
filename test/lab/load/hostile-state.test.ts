/** A state folder that another person filled: its runs, inputs, locks and plans hold hostile texts and values, and names of files do, too. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { ingest } from '../../../src/index.js'
import { eventually } from '../../support/eventually.js'
import { actsIn, hostile, planted } from '../../support/facts/hostile.js'
import { inProcess, type Printed } from '../../support/command/in-process.js'
import { seeded } from '../../support/random/seeded.js'
import { rounds } from '../../support/rounds.js'

let lab: Lab
let folder: string
/** Made by real loads: two that ended, one that stopped, with rejected documents and stdin on disk. */
let honest: string
const into = (index: string, state: string) => ['--index', index, '--state-dir', state]

beforeAll(async () => {
  lab = await startLab()
  folder = await mkdtemp(join(tmpdir(), 'hostile-state-'))
  honest = join(folder, 'honest')
  const file = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }
  const good = await file('good.ndjson', '{"n":1}\n{"n":2}\n')
  const bad = await file('bad.ndjson', '{"n":1}\nbroken\n{"n":"x"}\n')
  const run = async (...args: string[]) => await inProcess(args, lab.env)
  await run('ingest', good, ...into('orders', honest), '--run-id', 'good', '--plan', '1gb')
  const dead = ['--dead-letters', join(folder, 'dead.ndjson')]
  await run('ingest', bad, ...into('orders', honest), ...dead, '--run-id', 'bad')
  const stops = await file('stops.ndjson', 'broken\n{"n":7}\n')
  await run('ingest', stops, ...into('orders', honest), '--run-id', 'stops', '--max-rejected', '0', ...dead)
  expect((await run('runs', '--state-dir', honest)).stdout).toContain('stops')
})
afterAll(async () => {
  await lab.close()
  await rm(folder, { recursive: true })
})

/** Returns all files in a folder. */
async function filesIn(root: string): Promise<string[]> {
  const names = await readdir(root, { recursive: true })
  const paths = names.map(name => join(root, name))
  const files = await Promise.all(paths.map(async path => ((await stat(path)).isFile() ? [path] : [])))
  return files.flat()
}

/** Copies the honest state, and changes each line of JSON in it. */
async function forged(name: string, change: (value: unknown) => unknown): Promise<string> {
  const state = join(folder, name)
  await cp(honest, state, { recursive: true })
  let changed = 0
  for (const path of await filesIn(state)) {
    const lines = (await readFile(path, 'utf8')).split('\n').map(line => {
      try {
        const text = JSON.stringify(change(JSON.parse(line)))
        changed += 1
        return text
      } catch {
        return line
      }
    })
    await writeFile(path, lines.join('\n'))
  }
  expect(changed).toBeGreaterThan(5)
  return state
}

function harmless(args: readonly string[], { code, stdout, stderr }: Printed): void {
  const isBug = code === 70 ? stderr : ''
  expect({ args, acting: actsIn(stdout + stderr), isBug }).toEqual({ args, acting: [], isBug: '' })
}

/** Every command that reads the state, as somebody would type them one after another. */
async function readAll(state: string): Promise<string> {
  const where = ['--state-dir', state]
  const dead = ['--dead-letters', join(folder, `${basename(state)}.dead.ndjson`)]
  const known = (await inProcess(['runs', '--json', ...where], lab.env)).stdout
  const runs = ['good', 'bad', 'stops', ...known.matchAll(/"run":"([^"]+)"/g)].map(one =>
    typeof one === 'string' ? one : (one[1] ?? ''),
  )
  const commands = [
    ['runs', ...where],
    ['runs', '--json', ...where],
    ...[...new Set(runs)].flatMap(run => [
      ['runs', run, ...where],
      ['runs', run, '--report', join(folder, 'report.html'), ...where],
      ['verify', run, ...where],
      ['undo', run, '--dry-run', ...where],
    ]),
    ...['good', 'bad', 'stops'].map(name => [
      'ingest',
      join(folder, `${name}.ndjson`),
      ...into('orders', state),
      '--plan',
      '1gb',
      ...dead,
    ]),
    ['ingest', join(folder, 'good.ndjson'), ...into('orders', state), '--dry-run'],
    ['runs', 'rm', 'good', ...where],
    ['runs', 'rm', 'stops', ...where],
  ]
  let printed = ''
  for (const args of commands) {
    const result = await inProcess(args, lab.env)
    harmless(args, result)
    printed += result.stdout + result.stderr
  }
  return printed
}

/** What Sluice compares. With these as they were, the state is read. */
const compared = [
  'run',
  'status',
  'key',
  'sum',
  'url',
  'path',
  'name',
  'began',
  'written',
  'ended',
  'code',
  'kind',
  'from',
  'scope',
  'token',
  'index',
  'id',
  'at',
  'head',
  'tail',
  'version',
  'clusterUuid',
  'indexUuid',
  'writer',
]

describe('texts of another person', () => {
  test('in a state that Sluice cannot use', async () => {
    await readAll(await forged('all', value => planted(value)))
  })

  test('in a state that Sluice uses', async () => {
    expect(await readAll(await forged('some', value => planted(value, compared)))).toContain('FORGED')
  })

  test('in the names of inputs and indices that a run remembers', async () => {
    const names = ['name', 'path', 'index', 'url', 'sources', 'message', 'deadLetters']
    const change = (value: unknown, key = ''): unknown => {
      if (typeof value === 'string') return names.includes(key) ? value + hostile : value
      if (Array.isArray(value)) return value.map(one => change(one, key))
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, change(of, name)]))
    }
    expect(await readAll(await forged('names', value => change(value)))).toContain('FORGED')
  })
})

/** Values that no file of Sluice holds at that place. */
const strange: readonly unknown[] = [
  null,
  7,
  -1,
  1e300,
  '',
  'x'.repeat(5000),
  '../../../../etc/passwd',
  '/dev/zero',
  [],
  {},
  [[]],
  true,
  '__proto__',
  { length: 1e9 },
  '2026-13-45T99:99:99Z',
]

test('values of another kind never end a command with a bug', async () => {
  for (let round = 0; round < rounds(3, 40); round += 1) {
    const random = seeded(4100 + round)
    const change = (value: unknown): unknown => {
      if (random.chance(0.03)) return random.pick(strange)
      if (Array.isArray(value)) return value.map(change)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, change(of)]))
    }
    const state = await forged(`strange-${round}`, change)
    const outside = (await filesIn(folder)).filter(path => !path.startsWith(state))
    await readAll(state)
    // Nothing that the state names outside its folder is removed.
    const left = await filesIn(folder)
    expect(outside.filter(path => !left.includes(path))).toEqual([])
    await rm(state, { recursive: true })
  }
})

test('the holder of a lock', async () => {
  const state = join(folder, 'locked')
  const file = join(folder, 'locked.ndjson')
  // The load takes a thousand seconds.
  await writeFile(file, '{"n":1}\n'.repeat(1000))
  const stop = new AbortController()
  const { cluster, proxy } = lab.line
  const following = ingest({
    source: file,
    maxRate: { documents: 1 },
    batchDocs: 1,
    graceMs: 1,
    target: { url: cluster.url, apiKey: cluster.apiKey, ca: await readFile(cluster.caFile) },
    proxy: { url: proxy.http },
    index: 'locked',
    stateDir: state,
    signal: stop.signal,
  })
  try {
    const locks = join(state, 'locks')
    await mkdir(locks, { recursive: true })
    const holders = async () => {
      const texts = await Promise.all(
        (await filesIn(locks)).map(async path => [path, await readFile(path, 'utf8').catch(() => '')] as const),
      )
      return texts.filter(([, text]) => text.includes('"pid"'))
    }
    await eventually(async () => expect((await holders()).length).toBeGreaterThan(0))
    await eventually(() => expect(lab.control.ids('locked').length).toBeGreaterThan(0))
    for (const [path, text] of await holders())
      await writeFile(
        path,
        `${JSON.stringify(planted(JSON.parse(text), ['id', 'since', 'boot', 'started', 'machine', 'device', 'pidSpace']))}\n`,
      )
    const args = ['ingest', file, ...into('locked', state)]
    const printed = await inProcess(args, lab.env)
    harmless(args, printed)
    expect(printed.code).toBe(6)
    for (const more of [
      ['runs', '--state-dir', state],
      [...args, '--json'],
      [...args, '--dry-run'],
    ])
      harmless(more, await inProcess(more, lab.env))
  } finally {
    stop.abort()
    await following.catch(() => undefined)
  }
})

test('names of files, in every message and report', async () => {
  const work = join(folder, 'names-of-files')
  await mkdir(work)
  const name = (suffix: string) => join(work, `${hostile.replaceAll('/', '|')}${suffix}`)
  await writeFile(name('.ndjson'), '{"n":1}\nbroken\n')
  await writeFile(name('.csv'), 'a,b\n1\n')
  await writeFile(name('.json'), '[{"n":1},')
  await writeFile(name('.gz'), 'no gzip')
  await writeFile(name('.xlsx'), 'PK no zip')
  await writeFile(name('.parquet'), 'PAR1')
  await writeFile(name('.mjs'), 'export default 7')
  await writeFile(name('.list'), `${name('.gone')}\n`)
  const state = ['--index', 'names', '--state-dir', join(work, 'state')]
  const all = ['.ndjson', '.csv', '.json', '.gz', '.xlsx', '.parquet', '.gone']
  const commands: string[][] = [
    ...all.map(suffix => ['ingest', name(suffix), ...state, '--report', name('.html')]),
    ...all.map(suffix => ['look', name(suffix)]),
    ...all.map(suffix => ['infer', name(suffix)]),
    ['ingest', ...all.map(name), ...state, '--dry-run'],
    ['ingest', name('.ndjson'), ...state, '--again', '--dead-letters', join(work, hostile, 'd')],
    ['ingest', name('.ndjson'), ...state, '--again', '--transform', name('.mjs')],
    ['ingest', name('.ndjson'), ...state, '--again', '--mapping', name('.json')],
    ['ingest', name('.ndjson'), ...state, '--again', '--metrics', name('.prom')],
    ['ingest', name('.ndjson'), '--index', 'n', '--state-dir', name('.csv')],
    ['ingest', '--files-from', name('.list'), ...state],
    ['ingest', 'a', ...state, '--api-key-file', name('.gone')],
    ['ingest', 'a', ...state, '--ca', name('.gone')],
    ['ingest', 'a', ...state, '--config', name('.json')],
    ['replay', name('.ndjson'), ...state],
    ['replay', name('.gone'), ...state],
    ['runs', '--state-dir', join(work, 'state')],
    ['explain', hostile],
    [hostile],
    ['ingest', `--${hostile}`],
  ]
  for (const args of commands) harmless(args, await inProcess(args, lab.env))
  for (const page of (await readdir(work)).filter(one => one.endsWith('.html')))
    expect(actsIn(await readFile(join(work, page), 'utf8'))).toEqual([])
})
