/** Jobs, ranges, rows and states as somebody might write them who can reach the queue, and wants to harm its workers. */
import { hostile } from '../facts/hostile.js'
import type { JobData } from '../../../src/programs/jobs/job.js'
import type { Seeded } from './seeded.js'

export interface HostileJob {
  readonly id: string
  /** As it stands on the queue: not always JSON. */
  readonly text: string
}

/** What a hostile job aims at: a file that no worker may load, an index that none may fill, a folder that none may write to. */
export interface Aims {
  readonly file: string
  readonly index: string
  readonly folder: string
}

const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`
const HUGE = 2_000_000

function wrong(random: Seeded, { file, index, folder }: Aims): unknown {
  return random.pick<() => unknown>([
    () => null,
    () => true,
    () => -1,
    () => 0,
    () => 1e308,
    () => Number.MAX_SAFE_INTEGER,
    () => 0.5,
    () => '',
    () => hostile,
    () => [],
    () => {},
    () => ({ toString: 1, length: 1e9 }),
    () => [null],
    () => [[file]],
    () => file,
    () => [file, '/dev/zero', '-'],
    () => index,
    () => folder,
    () => 'x'.repeat(random.chance(0.02) ? HUGE : 10_000),
    () => JSON.parse(`{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}`) as unknown,
  ])()
}

/** Sources out of the limits, or that are none. */
function places({ file, folder }: Aims): readonly string[] {
  const up = '../'.repeat(20)
  return [
    file,
    `${folder}/${up}${file}`,
    `${folder}/{a,${up}etc/passwd}`,
    `file://${file}`,
    `FILE://localhost${file}`,
    '-',
    'servicenow:incident',
    'elasticsearch:secret',
    'elasticsearch:*',
    'http://127.0.0.1:1/latest/meta-data',
    'https://user:password@127.0.0.1:1/a.ndjson',
    's3://other/secret/*',
    '/proc/self/environ',
    'relative.ndjson',
    `\0${file}`,
    hostile,
  ]
}

/** Options of the machine, and options that do not exist. */
const forbidden = [
  'transform', 'proxy', 'proxyFile', 'stateDir', 'url', 'apiKey', 'apiKeyFile', 'ca', 'direct', 'onFailure', 'onSuccess', 'report', 'spool', 'follow', 'filesFrom', 'timeBudgetMs', 'plan', 'queueKeyFile', 'lettersFolder', 'onlyInputs', 'from', 'fromApiKey', 'fromProxy', 'sourceToken', 'sourceTokenFile', 'metricsTextfile', 'output', 'configFile', 'noSuchOption', '__proto__', 'constructor', 'toString', hostile,
] // prettier-ignore

/** Options that a job may have. */
const known = [
  'index', 'op', 'ids', 'idField', 'mapping', 'template', 'indexBody', 'checkQuery', 'script', 'swapAlias', 'againstIndex', 'set', 'drop', 'rename', 'types', 'columns', 'maxRejected', 'maxRate', 'batchBytes', 'batchDocs', 'concurrency', 'onBlock', 'compress', 'format', 'encoding', 'deadLetters', 'dryRun', 'pipeline', 'tune', 'checkHits', 'fromQuery',
] // prettier-ignore

const fields = [
  'version', 'sources', 'settings', 'url', 'from', 'index', 'concurrency', 'rangeBytes', 'byteBudget', 'alarm', 'deadLetters', 'host', 'made', 'planned', 'retries', 'mac',
] as const // prettier-ignore

function changed(random: Seeded, good: JobData, aims: Aims): unknown {
  const setting = (name: string, value: unknown) =>
    // A name such as `__proto__` is a field of its own on the queue.
    ({ ...good, settings: Object.defineProperty({ ...good.settings }, name, { value, enumerable: true }) })
  return random.pick<() => unknown>([
    () => ({ ...good, [random.pick(fields)]: wrong(random, aims) }),
    () => ({ ...good, [random.pick(fields)]: wrong(random, aims) }),
    () => ({ ...good, sources: [random.pick(places(aims))] }),
    () => ({ ...good, sources: [...good.sources, random.pick(places(aims))] }),
    () => ({ ...good, index: aims.index }),
    () => ({ ...good, index: aims.index, settings: { ...good.settings, index: aims.index } }),
    () => setting('index', aims.index),
    () => setting('swapAlias', aims.index),
    () => ({ ...good, index: hostile, settings: { ...good.settings, index: hostile } }),
    () =>
      setting(random.pick(forbidden), random.pick([aims.file, true, 1, ['/bin/sh', '-c', `touch ${aims.folder}/ran`]])),
    () => setting(random.pick(forbidden), wrong(random, aims)),
    () => setting(random.pick(known), wrong(random, aims)),
    () => setting(random.pick(['mapping', 'template', 'indexBody', 'checkQuery']), aims.file),
    () => wrong(random, aims),
  ])()
}

/** `good`: a job that workers would take. */
export function hostileJob(random: Seeded, good: JobData, aims: Aims, number: number): HostileJob {
  const bad = [
    `../evil-${number}`,
    `evil-${number}-${hostile}`,
    `evil/../../${number}`,
    `evil-${'x'.repeat(10_000)}${number}`,
  ]
  const id = random.chance(0.1) ? random.pick(bad) : `evil-${number}`
  const text = random.chance(0.03) ? `{"settings":${deep}}` : (JSON.stringify(changed(random, good, aims)) ?? 'null')
  if (random.chance(0.1)) return { id, text: text.slice(0, random.below(Math.min(text.length, 500))) }
  return { id, text }
}

/** What somebody writes into the log of an honest job. None of them is a message of a worker. */
export function hostileRow(random: Seeded, aims: Aims): string {
  const type = random.pick([
    'busy',
    'blocked',
    'stop',
    'take',
    'unused',
    'nothing',
    '__proto__',
    'constructor',
    hostile,
  ])
  const row = {
    type,
    worker: wrong(random, aims),
    host: wrong(random, aims),
    failure: random.pick([wrong(random, aims), { code: 'NO_SUCH', message: hostile, evidence: {} }]),
    bytes: random.pick([-1, 'x', null, -1e300]),
    least: -1,
    id: 7,
  }
  // A type alone is a message.
  return random.chance(0.2) ? '{"type":' : JSON.stringify(type === 'busy' ? { ...row, worker: 1 } : row)
}

/** A receipt, an end or a state that is none. */
export function hostileValue(random: Seeded, aims: Aims): unknown {
  const counts = { read: random.pick([1, -5, 1e300, 'many', null]), created: 1 }
  return random.pick([
    wrong(random, aims),
    { counts, bytes: {} },
    { counts, bytes: wrong(random, aims), rejections: wrong(random, aims), deadLetters: aims.file },
    { failure: { code: hostile, message: hostile, evidence: wrong(random, aims) } },
    { receipt: wrong(random, aims) },
    {
      parked: wrong(random, aims),
      slowedTo: wrong(random, aims),
      share: wrong(random, aims),
      stopping: { code: hostile },
    },
  ])
}

/** A range under an id, within or out of the limits. */
export function hostileRange(random: Seeded, aims: Aims): { readonly id: string; readonly data: unknown } {
  const id = random.pick([`../../${aims.folder}/x`, 'A'.repeat(22), hostile, 'x'])
  const input = { name: random.pick(places(aims)), identity: random.pick(['file 1 1 a', wrong(random, aims)]) }
  const data = random.pick([
    wrong(random, aims),
    { inputs: [input], source: 0, index: aims.index },
    { inputs: [{ ...input, from: -5, to: 1e300 }], source: wrong(random, aims), index: wrong(random, aims) },
    { inputs: wrong(random, aims), source: 0, index: aims.index },
  ])
  return { id, data }
}
