/** Compares what the doctor sees with what it saw before, and returns only what changed. Pure. */
import type { DoctorReport, Finding } from '../report.js'

/** Checks that are remembered of each finding. */
const REMEMBERED = 40
/** A finding that came and went so often flaps. */
const FLIPS = 3
/** After so many equal checks a finding no longer flaps, and an address that was not seen is gone. */
const STEADY = 8
/** Days before an end of something, each of which is a change. */
const DAYS_LEFT = [30, 14, 7, 3, 1, 0]
const DAY_MS = 86_400_000

export interface Change {
  /** ISO 8601. */
  readonly at: string
  readonly kind: 'appeared' | 'gone' | 'flapping' | 'changed' | 'expires'
  /** Code of a finding, or the thing that changed. */
  readonly what: string
  readonly message: string
  /** Of a finding that flaps: how many of the last checks showed it. */
  readonly share?: { readonly seen: number; readonly of: number }
}

/** The knowledge of a watch, in a form for a file. */
export interface Known {
  /** Checks so far. */
  readonly count: number
  /** Findings by code. */
  readonly findings: Readonly<Record<string, KnownFinding>>
  /** Egress addresses, with the number of checks since each was last seen. */
  readonly addresses: Readonly<Record<string, number>>
  /** Fingerprints, versions and the like. */
  readonly values: Readonly<Record<string, string>>
  /** The smallest number of days reported so far, by the thing that ends and its end. */
  readonly told: Readonly<Record<string, number>>
}

interface KnownFinding {
  /** The last checks, the newest last: 1 if it was seen. */
  readonly checks: string
  readonly told: 'absent' | 'present' | 'flapping'
  readonly message: string
}

export const nothingKnown: Known = { count: 0, findings: {}, addresses: {}, values: {}, told: {} }

/** Returns what is known after a check, and what changed with it. `now`: milliseconds since the epoch. */
export function compare(
  before: Known,
  report: DoctorReport,
  now: number,
): { known: Known; changes: readonly Change[] } {
  const at = new Date(now).toISOString()
  const changes: Change[] = []
  const tell = (change: Omit<Change, 'at'>): void => void changes.push({ at, ...change })
  const known = {
    count: before.count + 1,
    findings: compareFindings(before, report.findings, tell),
    addresses: compareAddresses(before, report, tell),
    values: compareValues(before, valuesIn(report), tell),
    told: compareEnds(before, endsIn(report), now, tell),
  }
  return { known, changes }
}

type Tell = (change: Omit<Change, 'at'>) => void

function compareFindings({ count, findings }: Known, now: readonly Finding[], tell: Tell): Known['findings'] {
  const found = now.filter(({ severity }) => severity !== 'info')
  const seen = new Map<string, string>(found.map(({ code, message }) => [code, message]))
  const codes = new Set([...Object.keys(findings), ...seen.keys()])
  const never = '0'.repeat(Math.min(count, REMEMBERED))
  const entries = [...codes].map(code => {
    const { checks: earlier = never, told = 'absent', message: last = '' } = findings[code] ?? {}
    const message = seen.get(code) ?? last
    const checks = `${earlier}${seen.has(code) ? 1 : 0}`.slice(-REMEMBERED)
    const next = judge(checks, told)
    if (next !== told) {
      const share = { seen: checks.replaceAll('0', '').length, of: checks.length }
      if (next === 'flapping')
        tell({ kind: 'flapping', what: code, message: `in ${share.seen} of ${share.of} checks: ${message}`, share })
      else tell({ kind: next === 'present' ? 'appeared' : 'gone', what: code, message })
    }
    // What is over is judged anew.
    const kept = told === 'flapping' && next !== 'flapping' ? checks.slice(-STEADY) : checks
    return [code, { checks: kept, told: next, message }] as const
  })
  // Drops a finding that no recent check saw.
  return Object.fromEntries(entries.filter(([, { checks }]) => checks.includes('1')))
}

function judge(checks: string, told: KnownFinding['told']): KnownFinding['told'] {
  const steady = /(.)\1*$/.exec(checks)?.[0] ?? ''
  const now = checks.endsWith('1') ? 'present' : 'absent'
  if (told === 'flapping') return steady.length >= STEADY ? now : told
  const flips = checks.replaceAll(/(.)\1*/g, '$1').length - 1
  return flips >= FLIPS && steady.length < STEADY ? 'flapping' : now
}

/** One of two addresses may be missing in a check by chance. */
function compareAddresses({ addresses }: Known, { facts }: DoctorReport, tell: Tell): Known['addresses'] {
  const seen = Object.keys(facts.egress?.seen ?? {})
  if (seen.length === 0) return addresses
  const isFirst = Object.keys(addresses).length === 0
  for (const address of seen)
    if (!isFirst && addresses[address] === undefined)
      tell({ kind: 'appeared', what: 'address', message: `the proxy now also leaves from ${address}` })
  const ages = Object.entries(addresses).map(
    ([address, age]) => [address, seen.includes(address) ? 0 : age + 1] as const,
  )
  for (const [address, age] of ages)
    if (age >= STEADY)
      tell({ kind: 'gone', what: 'address', message: `no connection left from ${address} in ${age} checks` })
  const kept = ages.filter(([, age]) => age < STEADY)
  return { ...Object.fromEntries(seen.map(address => [address, 0])), ...Object.fromEntries(kept) }
}

function compareValues({ values }: Known, now: Readonly<Record<string, string>>, tell: Tell): Known['values'] {
  for (const [what, value] of Object.entries(now)) {
    const earlier = values[what]
    if (earlier !== undefined && earlier !== value)
      tell({ kind: 'changed', what, message: `${what}: ${value}, before ${earlier}` })
  }
  return { ...values, ...now }
}

function valuesIn({ facts }: DoctorReport): Readonly<Record<string, string>> {
  const { port, connection, instanceConnection, filter, hosts } = facts
  const all = {
    'certificate of the proxy': port?.certificate?.fingerprint,
    'certificate of the cluster': connection?.certificate?.fingerprint,
    'certificate of the instance': instanceConnection?.certificate?.fingerprint,
    'version of the cluster': filter?.info?.version,
    'region of the proxy': hosts?.proxyRegions.join(', '),
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== '')) as Record<
    string,
    string
  >
}

/** When things end, in ISO 8601. */
export function endsIn({ facts }: DoctorReport): Readonly<Record<string, string>> {
  const { port, connection, instanceConnection, keyExpiry } = facts
  const all = {
    'certificate of the proxy': port?.certificate?.validTo,
    'certificate of the cluster': connection?.certificate?.validTo,
    'certificate of the instance': instanceConnection?.certificate?.validTo,
    'API key': keyExpiry,
  }
  return Object.fromEntries(Object.entries(all).filter(([, end]) => end !== undefined)) as Record<string, string>
}

function compareEnds({ told }: Known, ends: Readonly<Record<string, string>>, now: number, tell: Tell): Known['told'] {
  const entries = Object.entries(ends).flatMap(([what, end]) => {
    const left = Math.floor((Date.parse(end) - now) / DAY_MS)
    const step = DAYS_LEFT.findLast(days => left <= days)
    const key = `${what}, ${end}`
    if (step === undefined) return []
    if (step < (told[key] ?? Infinity)) {
      const when = left < 0 ? `ended on ${end}` : `ends in ${left} day${left === 1 ? '' : 's'}, on ${end}`
      tell({ kind: 'expires', what, message: `the ${what} ${when}` })
    }
    return [[key, Math.min(step, told[key] ?? Infinity)] as const]
  })
  // A check that saw no certificate says nothing of it.
  return { ...told, ...Object.fromEntries(entries) }
}
