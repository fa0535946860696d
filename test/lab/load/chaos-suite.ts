/** The tests of chaos, for any world. */
import { platform } from 'node:os'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Receipt } from '../../../src/index.js'
import type { World } from '../../contracts/world.js'
import { type Case, type Scale, alone, mixed } from './chaos-cases.js'
import { type Endured, endure } from './chaos-load.js'

export interface Chaos {
  readonly scale: Scale
  /** Default: `scale`. */
  readonly mixedScale?: Scale
  readonly seeds: readonly number[]
}

/** For faults that end by themselves: a slow machine must not add one of its own. */
const UNLIMITED_MS = 600_000

export function describeChaos(world: () => World, { scale, mixedScale = scale, seeds }: Chaos): void {
  beforeAll(async () => await world().register('everyone'))

  describe.concurrent('one fault alone', () => {
    for (const played of alone(scale)) {
      test(`${played.name}: nothing is lost, doubled or altered`, async () => {
        const [fault] = played.faults
        const isSlow = fault?.kind === 'stall' || fault?.kind === 'drip'
        const endured = await endure(world(), played, isSlow ? scale.timeoutMs : UNLIMITED_MS)
        expectWhole(world(), played, endured)
        expect(endured.struck.get(fault?.kind ?? 'stall') ?? 0, 'the fault struck').toBeGreaterThan(0)
        const codes = endured.attempts.flatMap(({ code }) => code ?? [])
        for (const code of codes) expect(played.stops ?? []).toContain(code)
      })
    }
  })

  describe.concurrent('faults mixed by seed', () => {
    for (const seed of seeds) {
      test(`seed ${seed}: nothing is lost, doubled or altered`, async () => {
        const played = mixed(seed, mixedScale)
        expectWhole(world(), played, await endure(world(), played, mixedScale.timeoutMs))
      })
    }
  })
}

function expectWhole(world: World, played: Case, endured: Endured): void {
  const { attempts, expected, missing, altered, stored, sources, problems } = endured
  const documents = expected.documents.size
  const told = attempts.map(
    ({ code, receipt }) => `${code ?? 'done'} ${receipt === undefined ? '' : countsOf(receipt)}`,
  )
  const why = `${JSON.stringify(played)}\n${told.join('\n')}`
  expect(problems, why).toEqual([])
  for (const [at, { receipt, stored: then }] of attempts.entries()) {
    if (receipt === undefined) continue
    const { read, created, updated, deleted, noop, duplicate, rejected, skipped, unsent, unknown } = receipt
    expect(created + updated + deleted + noop + duplicate + rejected + skipped + unsent + unknown, why).toBe(read)
    // What it claims is there. What the first one calls unsent is not.
    expect(then, why).toBeGreaterThanOrEqual(created + duplicate)
    if (at === 0) expect(then, why).toBeLessThanOrEqual(created + duplicate + unknown)
  }
  const last = attempts.at(-1)
  expect(last?.code, why).toBeUndefined()
  expect({ missing, altered, stored }, why).toEqual({ missing: [], altered: [], stored: documents })
  const { receipt } = last ?? {}
  expect(receipt, why).toMatchObject({ status: 'finished', read: expected.read, rejected: 0, unsent: 0, unknown: 0 })
  expect((receipt?.created ?? 0) + (receipt?.duplicate ?? 0), why).toBe(documents)
  // Elsewhere the lab announces addresses to its own ports alone.
  if (platform() === 'linux') {
    expect(
      [...sources].filter(source => !world.staticIps.includes(source)),
      why,
    ).toEqual([])
  }
}

function countsOf({ read, created, duplicate, rejected, unsent, unknown, requests }: Receipt): string {
  return JSON.stringify({ read, created, duplicate, rejected, unsent, unknown, requests })
}
