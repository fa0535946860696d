/**
 * The kinds of values that also hold the value of another option, as `100gb/month@15` holds a size and a day. A program passes an object,
 * `{ bytes, day }`. Behind the door each option has its own value again, so that a run and a job stay the same in both spellings.
 */
import { isObject } from '../base/json/parse-json.js'
import * as kinds from './kinds.js'
import { type Kind, Problem } from './kinds.js'
import * as check from './option-checks.js'
import { planSize } from './traffic-kinds.js'

interface Carrying {
  /** How help shows the value. */
  readonly label: string
  /** The parts by their names in the library, each with its option. */
  readonly parts: Readonly<Record<string, { readonly of: string; readonly kind: Kind<unknown> }>>
  /** Takes a text apart. Undefined: it holds only the option's own value. */
  readonly split: (text: string) => Readonly<Record<string, string>> | undefined
  /** What follows for the option itself, if it is none of the parts. */
  readonly implies?: Readonly<Record<string, unknown>>
  /** Whether a program passes the parts as text, too. */
  readonly isText?: true
  /** A part without which the others mean nothing. */
  readonly needs?: string
}

/** Makes a kind of values that hold those of other options, or only their own. */
function carrying<T>(own: Kind<T>, { label, parts, split, implies, isText, needs }: Carrying): Kind<T> {
  const checks = Object.fromEntries(Object.entries(parts).map(([name, { kind }]) => [name, kind.check]))
  const readParts = (texts: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> | Problem => {
    const read = Object.entries(texts).map(([name, text]) => [name, parts[name]?.kind.read(text)] as const)
    const wrong = read.find(([, value]) => value instanceof Problem)
    return wrong === undefined ? Object.fromEntries(read) : (wrong[1] as Problem)
  }
  const isFit: check.Check = value => {
    if (!isObject(value)) return own.check(value)
    const found = check.problemIn(value, checks)
    if (found !== undefined) return [found.option, found.problem].filter(Boolean).join(' ')
    return needs === undefined || value[needs] !== undefined ? undefined : `has no ${needs}`
  }
  return {
    ...kinds.text(),
    ...(own.default === undefined ? {} : { default: own.default }),
    label,
    check: isFit,
    // Whoever reads a value with parts takes it apart, so that only own values are left.
    read: raw => {
      const texts = typeof raw === 'string' || typeof raw === 'number' ? split(String(raw).trim()) : undefined
      return texts === undefined ? own.read(raw) : (readParts(texts) as T | Problem)
    },
    apart: value => {
      const texts = isText === true && typeof value === 'string' ? split(value) : undefined
      const given = texts === undefined ? value : readParts(texts)
      if (!isObject(given) || given instanceof Problem) return undefined
      const named = Object.entries(given).map(([name, part]) => [parts[name]?.of ?? name, part])
      return { ...implies, ...Object.fromEntries(named) }
    },
  }
}

/** Reads `100gb/month`, and `100gb/month@15` for a month that begins on the 15th. */
export function monthlyPlan() {
  return carrying(planSize, {
    label: 'size/month[@day]',
    needs: 'bytes',
    parts: { bytes: { of: 'plan', kind: planSize }, day: { of: 'planDay', kind: planDay } },
    split: text => {
      const [, bytes, day] = /^(.*)@(.*)$/s.exec(text) ?? []
      return bytes === undefined || day === undefined ? undefined : { bytes, day }
    },
  })
}

export const planDay: Kind<number> = kinds.wholeNumber({ min: 1, max: 28 })

/** Reads `keep`, `reconcile`, and `reconcile=24h` for one comparison a day. */
export function deletions() {
  return carrying(kinds.choice('keep', 'reconcile'), {
    label: 'keep|reconcile[=duration]',
    needs: 'reconcileEveryMs',
    parts: { reconcileEveryMs: { of: 'reconcileEveryMs', kind: comparisons } },
    implies: { deletions: 'reconcile' },
    split: text => {
      const [, reconcileEveryMs] = /^reconcile=(.*)$/is.exec(text) ?? []
      return reconcileEveryMs === undefined ? undefined : { reconcileEveryMs }
    },
  })
}

export const comparisons: Kind<number> = kinds.duration({ bare: false }, { max: Number.MAX_SAFE_INTEGER })

/** Reads how many runs to keep, for how many days, or both: `1000`, `90d`, `1000,90d`. */
export function keptRuns() {
  return carrying(runCount, {
    label: 'count,days',
    parts: { runs: { of: 'keepRuns', kind: runCount }, days: { of: 'keepDays', kind: keptDays } },
    split: text => {
      const [, runs, days] = /^(?:([^,]*),)?\s*([\d_]+)d$/i.exec(text) ?? []
      return days === undefined ? undefined : { ...(runs === undefined ? {} : { runs }), days }
    },
  })
}

const runCount = kinds.wholeNumber({ min: 1, max: 1_000_000 })
export const keptDays: Kind<number> = kinds.wholeNumber({ min: 1, max: 100_000 })

/** Reads the id of a serverless project, with its type before it if needed: `security:ID`. */
export function project() {
  return carrying(kinds.text(), {
    label: '[type:]id',
    parts: { id: { of: 'project', kind: kinds.text() }, type: { of: 'projectType', kind: projectType } },
    split: text => {
      const [, type, id] = /^([^:]*):(.*)$/s.exec(text) ?? []
      return type === undefined || id === undefined ? undefined : { type, id }
    },
  })
}

export const projectType: Kind<'elasticsearch' | 'observability' | 'security'> = kinds.choice(
  'elasticsearch',
  'observability',
  'security',
)

/** Reads an address and a port, with the path for posted documents behind them if needed. */
export function listen() {
  return carrying(kinds.text(), {
    label: 'address[/path]',
    isText: true,
    parts: { address: { of: 'listen', kind: kinds.text() }, path: { of: 'servePath', kind: kinds.text() } },
    split: text => {
      const [, address, path] = /^([^/]+)(\/.*)$/s.exec(text) ?? []
      return address === undefined || path === undefined ? undefined : { address, path }
    },
  })
}

/** Reads where metrics go: a port, a file NAME.prom, and for a receiver whether its own port shows them. */
export function metrics() {
  const words = kinds.choice('off', 'open', 'token')
  const port = { ...kinds.listenAddress(), read: readPort }
  return carrying(words, {
    label: 'port|file.prom|open|token',
    parts: {
      serve: { of: 'metrics', kind: words },
      textfile: { of: 'metricsTextfile', kind: kinds.metricsFile() },
      port: { of: 'metricsPort', kind: port },
    },
    split: text => (isWord(text) ? undefined : placesIn(text)),
  })
}

/** Takes two places of one kind for a port, which they are not: one of them would have no metrics. */
function placesIn(text: string): Readonly<Record<string, string>> {
  const places = text.split(/\s*,\s*/).map(placeOf)
  const isTwice = new Set(places.map(([place]) => place)).size < places.length
  return isTwice ? { port: text } : Object.fromEntries(places)
}

function isWord(text: string): boolean {
  return /^(off|open|token)$/i.test(text)
}

function placeOf(part: string): readonly [string, string] {
  if (isWord(part)) return ['serve', part]
  return [/[./\\]\w*[a-z]\w*$/i.test(part) ? 'textfile' : 'port', part]
}

function readPort(raw: unknown): string | Problem {
  const read = kinds.listenAddress().read(raw)
  return read instanceof Problem
    ? new Problem(
        'is neither a port, as in 9464 or 0.0.0.0:9464, nor a file NAME.prom. sluice serve also takes open and token',
      )
    : read
}

/** Reads the file of a script, or `id:ID` for one that the cluster stores. A program passes the text of the script. */
export function script() {
  return carrying(kinds.text(), {
    label: 'file|id:id',
    needs: 'id',
    parts: { id: { of: 'scriptId', kind: kinds.text() } },
    split: text => {
      const [, id] = /^id:(.*)$/s.exec(text) ?? []
      return id === undefined ? undefined : { id }
    },
  })
}

/** Reads the fields that hold `_seq_no` and `_primary_term`. A comma in a name has a backslash before it. */
export function sequenceFields(): Kind<string> {
  const fields = carrying(kinds.text(), {
    label: 'field,field',
    isText: true,
    parts: {
      seqNo: { of: 'ifSeqNoField', kind: kinds.text() },
      primaryTerm: { of: 'ifPrimaryTermField', kind: kinds.text() },
    },
    split: text => {
      const [seqNo, primaryTerm, ...more] = text.split(/\s*(?<!\\),\s*/)
      if (seqNo === undefined || primaryTerm === undefined || more.length > 0) return undefined
      return { seqNo: plain(seqNo), primaryTerm: plain(primaryTerm) }
    },
  })
  return { ...fields, mayBeWhole: true }
}

function plain(name: string): string {
  return name.replaceAll('\\,', ',')
}

/** Reads a query, or a file that holds it. Beside the query, `hits` says how many documents it must match. */
export function checkQuery(): Kind<string> {
  const isFit: check.Check = value => {
    const problem = check.jsonObject(value)
    if (problem !== undefined || !isObject(value) || value['hits'] === undefined) return problem
    const ofHits = check.whole(1, Number.MAX_SAFE_INTEGER)(value['hits'])
    return ofHits === undefined ? undefined : `hits: ${ofHits}`
  }
  return {
    ...kinds.text(isFit),
    apart: (value: unknown) => {
      if (!isObject(value) || !Object.hasOwn(value, 'hits')) return undefined
      const { hits, ...query } = value
      return { checkQuery: query, checkHits: hits }
    },
  }
}
