import { expect, test } from 'vitest'
import { sameResult } from '../../../../../src/route/cluster/bulk-items.js'
import { type HearHolder, readHolders } from '../../../../../src/route/sender/layers/holders.js'
import type { BatchOperation } from '../../../../../src/base/operation.js'

const ITEMS = 3

function answerOf(items: readonly object[], errors = false): Buffer {
  return Buffer.from(JSON.stringify({ errors, items }))
}

/** Returns each index with the document that it holds for certain. */
function heard(items: readonly object[], operation: BatchOperation = 'create'): Record<string, unknown> {
  const lines = Array.from(
    { length: items.length },
    (_, n) => `{"create":{"_id":"d${n}","routing":"r${n}"}}\n{"n":${n}}\n`,
  )
  const body = { bytes: Buffer.from(lines.join('')), items: items.length, first: 0 }
  const found: Record<string, unknown> = {}
  const hear: HearHolder = (index, document) => (found[index] = document() ?? 'none')
  readHolders(answerOf(items), { body, batch: { operation } }, hear)
  return found
}

const created = (index: string) => ({ create: { _index: index, status: 201 } })

test('an answer whose results are all the same names one index and its first document', () => {
  expect(heard(Array.from({ length: ITEMS }, () => created('a-1')))).toEqual({ 'a-1': { id: 'd0', routing: 'r0' } })
})

test('each index is heard of with its own first document', () => {
  expect(heard([created('a-1'), created('a-2'), created('a-2')])).toEqual({
    'a-1': { id: 'd0', routing: 'r0' },
    'a-2': { id: 'd1', routing: 'r1' },
  })
})

test.each<[string, object, boolean]>([
  ['a document that was there', { create: { _index: 'a-1', status: 409, error: { type: 'v', reason: 'r' } } }, true],
  ['a rejected document', { create: { _index: 'a-1', status: 400, error: { type: 'v', reason: 'r' } } }, false],
  ['a created document that a pipeline dropped', { create: { _index: 'a-1', status: 200 } }, false],
  ['an indexed document that a pipeline dropped', { index: { _index: 'a-1', status: 200, result: 'noop' } }, false],
  ['an overwritten document', { index: { _index: 'a-1', status: 200, result: 'updated' } }, true],
  ['an update that changes nothing', { update: { _index: 'a-1', status: 200, result: 'noop' } }, true],
  ['a script that deletes', { update: { _index: 'a-1', status: 200, result: 'deleted' } }, false],
  ['a deletion', { delete: { _index: 'a-1', status: 200, result: 'deleted' } }, false],
  ['a document in the failure store', { create: { _index: 'a-1', status: 201, failure_store: 'used' } }, false],
])('%s shows whether the index holds it', (_, item, isHeld) => {
  expect(Object.keys(heard([item, item]))).toEqual(isHeld ? ['a-1'] : [])
})

test('a body that may delete what it has stored names no document', () => {
  expect(heard([created('a-1')], 'mixed')).toEqual({ 'a-1': 'none' })
})

test('only an answer with exactly as many results of one text has one result', () => {
  const whole = answerOf([created('ä'), created('ä')])
  expect(sameResult(whole, 2)).toBe(JSON.stringify(created('ä')))
  for (const items of [1, 3]) expect(sameResult(whole, items)).toBeUndefined()
  expect(sameResult(answerOf([created('a'), created('b')]), 2)).toBeUndefined()
  expect(sameResult(answerOf([]), 0)).toBeUndefined()
  expect(sameResult(Buffer.from('{"errors":false}'), 2)).toBeUndefined()
  expect(sameResult(whole.subarray(0, -6), 2)).toBeUndefined()
})
