import { expect, test } from 'vitest'
import type { Batch, Outcome, Refused } from '../../../../../src/base/flow.js'
import { Witnesses } from '../../../../../src/run/state/resume/witnesses.js'

/** Documents with the ids 1, 2, … for these indices. */
function batchFor(...indices: readonly string[]): Batch {
  const items = indices.map((index, at) => `{"create":{"_index":"${index}","_id":"${at + 1}"}}\n{}\n`)
  const counts = new Map<string, number>()
  for (const index of indices) counts.set(index, (counts.get(index) ?? 0) + 1)
  const parts = { docs: indices.length, indices: counts, operation: 'create', bytes: Buffer.from(items.join('')) }
  return parts as unknown as Batch
}

/** `rejected`: the index of each rejected document, if it has one. */
function outcomeOf(created: number, ...rejected: readonly (string | undefined)[]): () => Promise<Outcome> {
  const refused = rejected.map(index => (index === undefined ? {} : { index }) as Refused)
  const counts = { created, updated: 0, duplicate: 0, skipped: 0, unknown: 0 }
  return async () => await Promise.resolve({ ...counts, rejected: refused } as unknown as Outcome)
}

const idsOf = (witnesses: Witnesses, index: string) => witnesses.of(index).map(one => one.map(({ id }) => id))

test('one document of each index is looked for, if all were stored', async () => {
  const witnesses = new Witnesses()
  await witnesses.whileSent(batchFor('a', 'b', 'a'), ['a', 'b'], true, outcomeOf(3))
  expect({ a: idsOf(witnesses, 'a'), b: idsOf(witnesses, 'b') }).toEqual({ a: [['1']], b: [['2']] })
})

test('as many more are looked for as may be missing', async () => {
  const witnesses = new Witnesses()
  await witnesses.whileSent(batchFor('a', 'a', 'a', 'b'), ['a', 'b'], true, outcomeOf(3, 'a'))
  expect({ a: idsOf(witnesses, 'a'), b: idsOf(witnesses, 'b') }).toEqual({ a: [['1', '2']], b: [['4']] })
})

test('a document that names no index leaves the others certain', async () => {
  const witnesses = new Witnesses()
  await witnesses.whileSent(batchFor('a', 'b'), ['a', 'b'], true, outcomeOf(2, undefined))
  expect({ a: idsOf(witnesses, 'a'), b: idsOf(witnesses, 'b') }).toEqual({ a: [['1']], b: [['2']] })
})

test('an index whose documents were all rejected has accepted none', async () => {
  const witnesses = new Witnesses()
  await witnesses.whileSent(batchFor('a', 'b'), ['a', 'b'], true, outcomeOf(1, 'b'))
  expect([witnesses.hasAccepted('a'), witnesses.hasAccepted('b')]).toEqual([true, false])
  expect(witnesses.indices).toEqual(['a'])
})

test('nothing is looked for after an index has accepted a document', async () => {
  const witnesses = new Witnesses()
  await witnesses.whileSent(batchFor('a'), ['a'], true, outcomeOf(1))
  await witnesses.whileSent(batchFor('a'), ['a'], true, outcomeOf(1))
  expect(idsOf(witnesses, 'a')).toEqual([['1']])
})
