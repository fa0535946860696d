/** Which connections are asked, and what is named from them. Time is simulated, so nothing depends on the machine. */
import { describe, expect, test } from 'vitest'
import { askConnections } from '../../../../src/route/cluster/ask-connections.js'
import { type End, ways } from '../../../../src/route/cluster/connection-end.js'
import { nameMix } from '../../../../src/route/cluster/connection-mix.js'
import {
  cellOf,
  cluster,
  ended,
  ends,
  fifteen,
  half,
  proxy,
  short,
  shown,
} from '../../../support/facts/connection-mixes.js'
import { HeldClock } from '../../../support/load/held-clock.js'

/** The front of a proxy that ends connections in turn. Returns what is named, in two letters. */
async function named(sequence: readonly End[]): Promise<string> {
  const clock = new HeldClock()
  let turn = 0
  const next = () => sequence[turn++ % sequence.length] ?? 'accepted'
  const asking = askConnections({
    most: 16,
    ask: async () => {
      const end = next()
      await clock.sleep(end === 'stuck' || end === 'silent' ? 10_000 : 50)
      // A proxy that says nothing looks like a target that says nothing.
      return { ...ended(end), end: end === 'stuck' ? 'silent' : end }
    },
    greet: async () => !['stuck', 'reset', 'refused', 'proxyTls'].includes(next()),
    longestWaitMs: 1,
    clock,
  })
  const seen = await clock.untilSettled(asking)
  return shown(nameMix({ ends: seen, cluster, proxy }))
}

/** Everybody would find that out, so one connection is enough: wrong credentials cost one refusal. */
const isFinal = (end: End) => ways[end].by === 'everybody' && end !== 'accepted'
/** Both are PROXY_TIMEOUT. */
const told = (letters: string) => (letters === 'st' ? 'si' : letters)
const pairs = ends.flatMap(row => ends.filter(end => end !== row).map(column => [row, column] as const))

describe('the named cause', () => {
  test('is what the model names, for every pair of ends that take turns, whichever is first', async () => {
    const others: unknown[] = []
    for (const [row, column] of pairs) {
      const expected = isFinal(row) ? short[row] : cellOf(half, row, column)
      const seen = await named([row, column])
      if (told(seen) !== told(expected)) others.push({ row, column, seen, expected })
    }
    expect(others).toEqual([])
  })

  test(
    'is what the model names, for every pair with one that ends in another way, whichever one it is',
    { tags: 'long' },
    async () => {
      const others: unknown[] = []
      for (const [row, column] of pairs) {
        for (let at = 0; at < 16; at += 1) {
          const seen = await named(Array.from({ length: 16 }, (_, turn) => (turn === at ? column : row)))
          const expected = expectedWith(row, column, at)
          if (!expected.map(told).includes(told(seen))) others.push({ row, column, at, seen, expected })
        }
      }
      expect(others).toEqual([])
    },
  )
})

function expectedWith(row: End, column: End, at: number): string[] {
  const first = at === 0 ? column : row
  if (isFinal(first)) return [short[first]]
  const cell = cellOf(fifteen, row, column)
  // If a limit refuses six of them, the others are not asked.
  return at < 6 || ways[row].by !== 'limit' ? [cell] : [cell, short[row]]
}
