import { describe, expect, test } from 'vitest'
import { type End, type Ended, connectionEnd } from '../../../src/cluster/connection-end.js'
import { type Named, nameMix } from '../../../src/cluster/connection-mix.js'
import { type Failure, failure } from '../../../src/failure/failure.js'
import { ends, fifteen, half, short, warnings } from '../../support/connection-mixes.js'

const cluster = 'https://cluster.example'
const proxy = 'http://proxy.example:9293'
const target = 'cluster.example:443'

/** The failure that each end comes from, but for the connections that are accepted. */
const seen = {
  refused: failure('PROXY_UNREACHABLE', { proxy, problem: 'connect ECONNREFUSED 192.0.2.1:9293' }),
  reset: failure('PROXY_UNREACHABLE', { proxy, problem: 'it closed the connection without an answer to CONNECT' }),
  stuck: failure('PROXY_TIMEOUT', { proxy, limitMs: 1, after: 'Sluice began to connect', phase: 'proxy-connect' }),
  proxyTls: failure('PROXY_CERT_INVALID', { proxy, problem: 'CERT_HAS_EXPIRED' }),
  login: failure('PROXY_AUTH_REJECTED', { proxy, observed: 'status 407' }),
  denied: failure('PROXY_DENIED_TARGET', { proxy, target, observed: 'status 403' }),
  limited: failure('PROXY_LIMIT_REACHED', { proxy, observed: 'status 429' }),
  unreached: failure('PROXY_TARGET_UNREACHABLE', { proxy, target, observed: 'status 503' }),
  silent: failure('PROXY_TIMEOUT', { proxy, limitMs: 1, after: 'Sluice asked', phase: 'proxy-handshake' }),
  filtered: failure('EGRESS_NOT_ALLOWED', { cluster, refused: 1, probes: 1, observed: 'Forbidden' }),
  barred: failure('GATEWAY_REFUSED', { cluster, status: 403, observed: 'status 403, a page' }),
  busy: failure('GATEWAY_LIMITED', { cluster, observed: 'status 429' }),
  unwell: failure('CLUSTER_UNAVAILABLE', { cluster, observed: 'status 503' }),
  tls: failure('CLUSTER_CERT_INVALID', { cluster, problem: 'CERT_HAS_EXPIRED' }),
  foreign: failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed: 'a page' }),
  credentials: failure('CLUSTER_AUTH_REJECTED', { cluster, how: 'refused the credentials', reason: 'no such key' }),
} as const satisfies Record<Exclude<End, 'accepted'>, Failure>

function ended(end: End, more: Partial<Ended> = {}): Ended {
  if (end === 'accepted') return { end, tookMs: 50, ...more }
  const { evidence, ...named } = seen[end]
  return {
    end,
    failure: { ...named, evidence: { ...evidence, end } },
    isPastFilter: end === 'credentials',
    tookMs: 10_000,
    ...more,
  }
}

function mix(...counts: readonly (readonly [End, number, Partial<Ended>?])[]): Named {
  const all = counts.flatMap(([end, times, more]) => Array.from({ length: times }, () => ended(end, more)))
  return nameMix({ ends: all, cluster, proxy })
}

/** What is named, in two letters: the end whose failure stops the load, one of the two forms of a half open filter, or a warning. */
function shown({ failure: stop, warning, note }: Named): string {
  if (stop?.code === 'EGRESS_PARTLY_ALLOWED') return stop.evidence['how'] === 'refused' ? 'PR' : 'PD'
  if (stop !== undefined) return short[stop.evidence['end'] as End]
  const letters = Object.keys(warnings).find(one => warnings[one] === warning?.code)
  if (letters !== undefined) return letters
  return note === undefined ? '..' : 'ok'
}

function tableOf(times: number, others: number): string {
  const head = ['..', ...ends.map(end => short[end])].join(' ')
  const rows = ends.map(row => {
    const cells = ends.map(column => (row === column ? '--' : shown(mix([row, times], [column, others]))))
    return [short[row], ...cells].join(' ')
  })
  return [head, ...rows].join('\n')
}

describe('the cause of a mix of connections', () => {
  test('is named for every pair of ends, eight of each', () => {
    expect(tableOf(8, 8)).toBe(half)
  })

  test('is named for every pair of ends, fifteen of the row and one of the column', () => {
    expect(tableOf(15, 1)).toBe(fifteen)
  })

  test('is the one end if all connections end alike, without a count', () => {
    for (const end of ends.filter(one => one !== 'accepted')) {
      const { code, message } = end === 'filtered' ? { code: 'EGRESS_NOT_ALLOWED', message: '16 of 16' } : seen[end]
      expect(mix([end, 16]).failure).toMatchObject({ code, message: expect.stringContaining(message) as string })
    }
    expect(mix(['accepted', 16])).toEqual({})
  })

  test('does not depend on their order', () => {
    const some = ends.flatMap(end => [ended(end), ended(end)])
    for (let turn = 0; turn < some.length; turn += 1) {
      const turned = [...some.slice(turn), ...some.slice(0, turn)]
      expect(nameMix({ ends: turned, cluster, proxy }).failure?.code).toBe('EGRESS_PARTLY_ALLOWED')
    }
  })

  test('is a limit if connections work one at a time, and a node if they do not', () => {
    const alone = { isAlone: true }
    for (const end of ['refused', 'reset', 'stuck', 'unreached', 'silent', 'denied'] as const) {
      expect(mix(['accepted', 4], [end, 12], ['accepted', 6, alone]).warning?.code).toBe('PROXY_LIMIT_REACHED')
      expect(mix(['accepted', 8], [end, 8], ['accepted', 3, alone], [end, 1, alone]).warning?.code).not.toBe(
        'PROXY_LIMIT_REACHED',
      )
    }
    expect(mix(['accepted', 4], ['unwell', 12], ['accepted', 6, alone]).warning?.code).toBe('GATEWAY_LIMITED')
  })

  test('says how many connections failed, and which ones by chance', () => {
    expect(mix(['accepted', 8], ['reset', 8]).warning?.message).toBe(
      `8 of 16 connections failed at the proxy ${proxy}, and the others work: ${seen.reset.message}`,
    )
    expect(mix(['accepted', 15], ['login', 1]).note).toBe(
      `1 of 16 connections failed, and others after them did not: ${seen.login.message}`,
    )
    expect(mix(['accepted', 8], ['silent', 8]).failure?.message).toBe(
      `the IP filter of ${cluster} silently dropped 8 of 16 connections and accepted the others`,
    )
    expect(mix(['accepted', 8], ['foreign', 8]).failure?.message).toMatch(/ \(8 of 16 connections\)$/)
  })

  test('is no dropped address where everything takes long', () => {
    const seenBy = (tookMs: number) => mix(['accepted', 7], ['accepted', 1, { tookMs }], ['silent', 8])
    expect(seenBy(3_000).failure?.code).toBe('EGRESS_PARTLY_ALLOWED')
    expect(seenBy(4_000)).toEqual({ warning: expect.objectContaining({ code: 'PROXY_TIMEOUT' }) as Failure })
  })

  test('is no address without a proxy, and no node that a load can leave out where the proxy forwards', () => {
    const halves = (end: End) => [
      ...Array.from({ length: 8 }, () => ended(end)),
      ...Array.from({ length: 8 }, () => ended('accepted')),
    ]
    expect(nameMix({ ends: halves('silent'), cluster }).warning?.code).toBe('PROXY_TIMEOUT')
    const forwarded = (end: End) => nameMix({ ends: halves(end), cluster, proxy, isForwarded: true })
    expect(forwarded('login').failure?.code).toBe('PROXY_AUTH_REJECTED')
    expect(forwarded('reset').warning?.code).toBe('PROXY_NODE_FAILS')
  })

  test.each(Object.entries(seen))('reads the end %s from its failure', (end, from) => {
    expect(connectionEnd(from)).toBe(end)
  })
})
