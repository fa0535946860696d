/** Old spellings of options: both spellings mean the same load, run and job, and only the old one gets a note. */
import { describe, expect, test } from 'vitest'
import type { IngestOptions } from '../../../src/options/ingest-options.js'
import { describeOption, isReplaced, type OptionName, optionNames } from '../../../src/options/describe-option.js'
import { loadOf, readOptions } from '../../../src/options/read-options.js'
import { takenApart } from '../../../src/options/describe-option.js'
import { resolveOptions } from '../../../src/cli/settings/resolve.js'
import { queuedJob } from '../../../src/programs/jobs/plan/queued-options.js'

const base = { url: 'https://cluster:9243', index: 'logs' }
const byField = { ids: 'field', idField: 'no', op: 'index' }
const updates = { ...byField, op: 'update' }

/** Each old spelling with the new one, and what both need beside them. */
const pairs: readonly {
  readonly name: OptionName
  readonly old: Readonly<Record<string, string>>
  readonly now: Readonly<Record<string, string>>
  readonly beside?: Readonly<Record<string, string>>
  readonly note: string
}[] = [
  {
    name: 'planDay',
    old: { plan: '100gb', planDay: '15' },
    now: { plan: '100gb/month@15' },
    note: '--plan 100gb@15',
  },
  {
    name: 'reconcileEveryMs',
    old: { deletions: 'reconcile', reconcileEvery: '24h' },
    now: { deletions: 'reconcile=24h' },
    note: '--deletions reconcile=24h',
  },
  {
    name: 'keepDays',
    old: { keepRuns: '7', keepDays: '30' },
    now: { keepRuns: '7,30d' },
    note: '--keep-runs 7,30d',
  },
  { name: 'keepDays', old: { keepDays: '30' }, now: { keepRuns: '30d' }, note: '--keep-runs 1000,30d' },
  {
    name: 'projectType',
    old: { project: 'p1', projectType: 'security' },
    now: { project: 'security:p1' },
    note: '--project security:p1',
  },
  {
    name: 'servePath',
    old: { listen: '0.0.0.0:80', servePath: '/hooks/a' },
    now: { listen: '0.0.0.0:80/hooks/a' },
    note: '--listen 0.0.0.0:80/hooks/a',
  },
  {
    name: 'metricsTextfile',
    old: { metricsTextfile: './a.prom' },
    now: { metrics: './a.prom' },
    note: '--metrics ./a.prom',
  },
  {
    name: 'metricsPort',
    old: { metricsPort: '[::1]:9464' },
    now: { metrics: '[::1]:9464' },
    note: "--metrics '[::1]:9464'",
  },
  {
    name: 'metricsPort',
    old: { metrics: 'token', metricsPort: '9464', metricsTextfile: 'b.prom' },
    now: { metrics: '9464, token,b.prom' },
    note: '--metrics 9464',
  },
  {
    name: 'scriptId',
    beside: updates,
    old: { scriptId: 'count' },
    now: { script: 'id:count' },
    note: '--script id:count',
  },
  {
    name: 'ifPrimaryTermField',
    beside: byField,
    old: { ifSeqNoField: 'm._seq_no', ifPrimaryTermField: 'a,t' },
    now: { ifSeqNoField: 'm._seq_no, a\\,t' },
    note: '--if-seq-no-field m._seq_no,a,t',
  },
]

const flagsOf = (given: Readonly<Record<string, string>>) => ({ flags: { ...base, ...given }, env: {} })

test('each old spelling is in this table, and only old spellings are', () => {
  const others = ['null', 'checkHits']
  expect([...new Set([...pairs.map(({ name }) => name), ...others])].toSorted()).toEqual(
    optionNames.filter(isReplaced).toSorted(),
  )
})

describe('on the command line', () => {
  test.each(pairs)('$note sets what the old spelling of $name sets', ({ beside = {}, old, now, note }) => {
    const before = resolveOptions(flagsOf({ ...beside, ...old }))
    const after = resolveOptions(flagsOf({ ...beside, ...now }))
    expect(after.values).toEqual(before.values)
    expect(after.warnings).toEqual([])
    expect(before.warnings.some(text => text.endsWith(`Instead, use ${note}`))).toBe(true)
  })

  test.each(pairs)('a job with $note is the same job', ({ beside = {}, old, now }) => {
    const jobOf = (given: Readonly<Record<string, string>>) => {
      const { name, data } = queuedJob(resolveOptions(flagsOf({ ...beside, ...given })), ['/data/*.ndjson'], '/data')
      return { name, data: { ...data, made: undefined } }
    }
    const { deletions: _deletions, ...queued } = now
    // Only a load of tables has deletions, and no job has tables.
    if (Object.keys(queued).length > 0) expect(jobOf(now)).toEqual(jobOf(old))
  })

  test('a name or an origin of a part is that of the option that holds it', () => {
    const { origins } = resolveOptions(flagsOf({ plan: '100gb@15' }))
    expect(origins.planDay).toBe('--plan')
    expect(() => resolveOptions(flagsOf({ ...byField, ifSeqNoField: 'a,b', versionField: 'c' }))).toThrow(
      '--if-seq-no-field: cannot be combined with --version-field',
    )
  })
})

describe('in variables and the file', () => {
  const settings = (env: Record<string, string>, values: object = {}) =>
    resolveOptions({ flags: base, env, file: { path: 'sluice.config.json', values, isNamed: true } })

  test('both spellings are read, and the note names the new one in the same form', () => {
    expect(settings({ SLUICE_PLAN: '100gb@7' }).values.planDay).toBe(7)
    expect(settings({}, { plan: '100gb@7' }).values.planDay).toBe(7)
    expect(settings({ SLUICE_PLAN_DAY: '7' }).warnings).toEqual([
      'SLUICE_PLAN_DAY is an old spelling, which works until the next major version of Sluice. Instead, use SLUICE_PLAN=100gb/month@7',
    ])
    expect(settings({}, { deletions: 'reconcile', reconcileEveryMs: 5000 }).warnings).toEqual([
      'reconcileEveryMs in sluice.config.json is an old spelling, which works until the next major version of Sluice. Instead, use "deletions": "reconcile=5000ms"',
    ])
    expect(settings({ SLUICE_NULL: 'true' }).warnings).toEqual([
      'SLUICE_NULL is an old spelling, which works until the next major version of Sluice. Leave it out: --files-from does not need it',
    ])
  })

  test('the stronger source counts, also between two spellings', () => {
    const { values } = settings({ SLUICE_PLAN_DAY: '9' }, { plan: '100gb@7' })
    expect([values.plan, values.planDay]).toEqual([100e9, 9])
    const flags = resolveOptions({ flags: { ...base, plan: '1gb@3' }, env: { SLUICE_PLAN_DAY: '9' } })
    expect(flags.values.planDay).toBe(3)
    expect(() => settings({ SLUICE_PLAN_DAY: '9', SLUICE_PLAN: '1gb@3' })).toThrow(
      'SLUICE_PLAN_DAY: cannot be combined with SLUICE_PLAN, whose value holds it, too',
    )
  })

  test('a suggestion never names an old spelling', () => {
    expect(() => settings({}, { planDays: 1 })).toThrow(/unknown key planDays(?!.*planDay\?)/)
  })
})

test.each([
  [{ plan: '100gb@29' }, "--plan: '100gb@29' is not between 1 and 28"],
  [{ plan: 'much@2' }, "--plan: 'much@2' is not a size"],
  [{ keepRuns: '0,90d' }, "--keep-runs: '0,90d' is not between 1 and 1000000"],
  [{ keepRuns: '90h' }, "--keep-runs: '90h' is not a whole number"],
  [{ deletions: 'reconcile=often' }, "--deletions: 'reconcile=often' is not a duration"],
  [{ project: 'kitchen:p1' }, "--project: 'kitchen:p1' is not one of elasticsearch, observability, security"],
  [{ project: 'security:' }, "--project: 'security:' is empty"],
  [{ metrics: 'opne' }, "--metrics: 'opne' is neither a port, as in 9464 or 0.0.0.0:9464, nor a file NAME.prom"],
  [{ metrics: 'a.txt' }, "--metrics: 'a.txt' does not end in .prom"],
  [{ metrics: 'a.prom,b.prom' }, "--metrics: 'a.prom,b.prom' is neither a port"],
  [{ metrics: '9464,9465' }, "--metrics: '9464,9465' is neither a port"],
  [{ script: 'id:', op: 'update' }, "--script: 'id:' is empty"],
])('a wrong part is named: %j', (given, problem) => {
  expect(() => resolveOptions(flagsOf(given as Record<string, string>))).toThrow(problem)
})

describe('in a program', () => {
  const target = { url: 'https://cluster:9243' }
  const tables = { source: 'servicenow:incident', servicenow: { url: 'https://i.example' } }
  const same: readonly (readonly [Partial<IngestOptions>, Partial<IngestOptions>])[] = [
    [
      { plan: 1e9, planDay: 15, stateDir: '/s' },
      { plan: { bytes: 1e9, day: 15 }, stateDir: '/s' },
    ],
    [{ keepRuns: 7, keepDays: 30 }, { keepRuns: { runs: 7, days: 30 } }],
    [{ keepDays: 30 }, { keepRuns: { days: 30 } }],
    [
      { ...tables, deletions: 'reconcile', reconcileEveryMs: 5 },
      { ...tables, deletions: { reconcileEveryMs: 5 } },
    ],
    [
      { ...(updates as object), scriptId: 'count' },
      { ...(updates as object), script: { id: 'count' } },
    ],
    [
      { ...(byField as object), ifSeqNoField: 'a', ifPrimaryTermField: 'b' },
      { ...(byField as object), ifSeqNoField: 'a,b' },
    ],
    [
      { index: undefined, swapAlias: 'products', checkQuery: { query: {} }, checkHits: 9 },
      { index: undefined, swapAlias: 'products', checkQuery: { query: {}, hits: 9 } },
    ],
  ]
  test.each(same)('%j is the load of %j', (old, now) => {
    const read = (given: Partial<IngestOptions>) => readOptions({ target, source: 'a.ndjson', index: 'logs', ...given })
    expect(read(now)).toEqual(read(old))
    expect(loadOf({ target, source: 'a.ndjson', index: 'logs', ...now }, { from: 'run' }).state).toEqual(
      read(old).state,
    )
  })

  test('a part must not be given twice', () => {
    expect(() => takenApart({ plan: { bytes: 1e9, day: 3 }, planDay: 4 })).toThrow(
      'planDay: is also part of plan. Leave one out',
    )
    expect(() => takenApart({ listen: '127.0.0.1:0/a', path: '/b' }, 'serve')).toThrow('path: is also part of listen')
  })

  test('a part must not be missing', () => {
    const read = (given: object) => () => readOptions({ target, source: 'a', index: 'b', ...given })
    expect(read({ plan: { day: 3 } })).toThrow('plan: has no bytes')
    expect(read({ ...tables, deletions: {} })).toThrow('deletions: has no reconcileEveryMs')
    expect(read({ ...updates, script: {} })).toThrow('script: has no id')
  })

  test('a name with a comma is taken apart once', () => {
    const { documents } = readOptions({
      target,
      source: 'a',
      index: 'b',
      ...(byField as object),
      ifSeqNoField: 'a\\,b,c',
    })
    expect([documents.ifSeqNoField, documents.ifPrimaryTermField]).toEqual(['a,b', 'c'])
    const { values } = resolveOptions(flagsOf({ ...byField, ifSeqNoField: 'a\\,b,c' }))
    const { ifSeqNoField, ifPrimaryTermField } = values
    expect(takenApart({ ifSeqNoField, ifPrimaryTermField })).toEqual({ ifSeqNoField: 'a,b', ifPrimaryTermField: 'c' })
  })

  test('a receiver takes the path behind the port, and a wrong value stays as it is', () => {
    expect(takenApart({ listen: '[::1]:0/a/b', metrics: 'open' }, 'serve')).toEqual({
      listen: '[::1]:0',
      path: '/a/b',
      metrics: 'open',
    })
    expect(takenApart({ plan: { bytes: 'much' }, script: 'id:no' })).toEqual({
      plan: { bytes: 'much' },
      script: 'id:no',
    })
    expect(() => readOptions({ target, source: 'a', index: 'b', plan: { bytes: 1, day: 40 } })).toThrow(
      'plan: bytes 1 is not a whole number from 1000',
    )
  })
})

test('an old spelling names its new one, with a value that can be read', () => {
  for (const { replaced } of optionNames.map(describeOption)) {
    if (replaced === undefined) continue
    expect(describeOption(replaced.by).replaced).toBeUndefined()
    expect(replaced.as ?? 'VALUE').toContain('VALUE')
  }
})
