import { expect, test } from 'vitest'
import type { DoctorReport } from '../../../../../src/programs/doctor/report.js'
import { type Change, type Known, compare, nothingKnown } from '../../../../../src/programs/doctor/watch/changes.js'

const NOW = Date.parse('2026-11-24T00:00:00Z')
const DAY_MS = 86_400_000

function report(codes: readonly string[], facts: Partial<DoctorReport['facts']> = {}): DoctorReport {
  const findings = codes.map(code => ({ code, severity: 'error', message: `about ${code}`, evidence: {}, advice: [] }))
  const all = { ok: codes.length === 0, findings, facts: { cluster: 'c', ...facts }, steps: [] }
  return { ...all, requests: { sent: 1, atMost: 1 } } as unknown as DoctorReport
}

/** Returns what is told of each of these checks. */
function watched(reports: readonly DoctorReport[], start: Known = nothingKnown) {
  let known = start
  const told = reports.map((one, at) => {
    const next = compare(known, one, NOW + at * DAY_MS)
    // Through a file.
    known = JSON.parse(JSON.stringify(next.known)) as Known
    return next.changes.map(({ kind, what }) => `${kind} ${what}`)
  })
  return { known, told }
}

const refused = report(['EGRESS_PARTLY_ALLOWED'])
const fine = report([])

test('tells when a finding appears and when it is gone, once each', () => {
  const { told } = watched([fine, refused, refused, refused, fine, fine])
  expect(told).toEqual([[], ['appeared EGRESS_PARTLY_ALLOWED'], [], [], ['gone EGRESS_PARTLY_ALLOWED'], []])
})

test('a restart tells nothing that was told', () => {
  const { known } = watched([refused])
  expect(watched([refused], known).told).toEqual([[]])
})

test('a finding that comes and goes is one change with its share, until it is steady', () => {
  const reports = Array.from({ length: 40 }, (_, at) => (at % 3 === 1 ? refused : fine))
  const { known, told } = watched(reports)
  const kinds = told.flat()
  expect(kinds).toEqual([
    'appeared EGRESS_PARTLY_ALLOWED',
    'gone EGRESS_PARTLY_ALLOWED',
    'flapping EGRESS_PARTLY_ALLOWED',
  ])
  const later = watched(
    Array.from({ length: 12 }, () => fine),
    known,
  )
  expect(later.told.flat()).toEqual(['gone EGRESS_PARTLY_ALLOWED'])
})

test('names the share of the checks', () => {
  let known = nothingKnown
  const changes: Change[] = []
  for (const one of [fine, refused, fine, refused]) {
    const next = compare(known, one, NOW)
    known = next.known
    changes.push(...next.changes)
  }
  expect(changes.at(-1)).toEqual({
    at: '2026-11-24T00:00:00.000Z',
    kind: 'flapping',
    what: 'EGRESS_PARTLY_ALLOWED',
    message: 'in 2 of 4 checks: about EGRESS_PARTLY_ALLOWED',
    share: { seen: 2, of: 4 },
  })
})

test('a new address is a change, and one that was not seen for long', () => {
  const from = (...seen: string[]) =>
    report([], { egress: { seen: Object.fromEntries(seen.map(one => [one, 1])), asked: 2 } })
  const both = from('192.0.2.1', '192.0.2.2')
  const one = from('192.0.2.1')
  expect(watched([both, one, one, both, from('192.0.2.1', '198.51.100.7')]).told).toEqual([
    [],
    [],
    [],
    [],
    ['appeared address'],
  ])
  expect(watched([both, ...Array.from({ length: 9 }, () => one)]).told.flat()).toEqual(['gone address'])
  // A check that saw none says nothing.
  expect(watched([both, ...Array.from({ length: 9 }, () => fine)]).told.flat()).toEqual([])
})

test('a certificate is told when it changes, and as its end comes near', () => {
  const shown = (fingerprint: string, days: number) => {
    const validTo = new Date(NOW + days * DAY_MS).toISOString()
    return report([], { connection: { layers: [], broken: 0, certificate: { fingerprint, validTo } } } as never)
  }
  const { told } = watched([
    shown('AA', 90),
    shown('BB', 32.5),
    shown('BB', 32.5),
    shown('BB', 32.5),
    fine,
    shown('BB', 32.5),
  ])
  expect(told).toEqual([[], ['changed certificate of the cluster'], ['expires certificate of the cluster'], [], [], []])
})

test('an API key that has expired is told', () => {
  const { changes } = compare(nothingKnown, report([], { keyExpiry: '2026-11-20T00:00:00.000Z' }), NOW)
  expect(changes).toMatchObject([
    { kind: 'expires', what: 'API key', message: 'the API key ended on 2026-11-20T00:00:00.000Z' },
  ])
})
