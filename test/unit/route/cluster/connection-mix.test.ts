import { describe, expect, test } from 'vitest'
import { type End, type Ended, connectionEnd } from '../../../../src/route/cluster/connection-end.js'
import { type Named, nameMix } from '../../../../src/route/cluster/connection-mix.js'
import type { Failure } from '../../../../src/base/failure/failure.js'
import {
  cluster,
  ended,
  ends,
  fifteen,
  half,
  proxy,
  seen,
  short,
  shown,
} from '../../../support/facts/connection-mixes.js'

function mix(...counts: readonly (readonly [End, number, Partial<Ended>?])[]): Named {
  const all = counts.flatMap(([end, times, more]) => Array.from({ length: times }, () => ended(end, more)))
  return nameMix({ ends: all, cluster, proxy })
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
      `8 of 16 connections failed at the proxy ${proxy}: ${seen.reset.message}. The others work`,
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
