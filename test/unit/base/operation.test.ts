import { globSync } from 'tinyglobby'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { bulkFormOf, isVerb, operations, rowOf } from '../../../src/base/operation.js'
import { documentIn, operationOf } from '../../../src/route/sender/send.js'

test.each(operations)('%s is found again in a body of several operations', operation => {
  const { action, opening, closing } = bulkFormOf(operation)
  const line = Buffer.from(`${opening}{"a":1}${closing}`)
  const found = operationOf('mixed', Buffer.from(`${action}"_id":"1"}}`), line)
  expect(found).toBe(operation)
  expect(documentIn(line, found).toString()).toBe('{"a":1}')
})

test.each(operations)('%s is sent by an action that is an operation, too, and repeats as that', operation => {
  const { verb, repeat, results } = rowOf(operation)
  expect(isVerb(verb)).toBe(true)
  // An answer to a body of several operations names only the action.
  expect(rowOf(verb)).toMatchObject({ repeat, results })
})

test('no two operations write the same line', () => {
  const forms = operations.map(operation => JSON.stringify(bulkFormOf(operation)))
  expect(new Set(forms).size).toBe(operations.length)
})

test('only the rows know what an operation does: no other file compares one with its name', () => {
  const named = new RegExp(`\\b(?:op|operation)\\b[\\])'"]{0,3} [!=]== '(?:${operations.join('|')})'`)
  const found = globSync('src/**/*.ts', { ignore: 'src/lab/**' }).flatMap(file =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, at) => (named.test(line) ? [`${file}:${at + 1}`] : [])),
  )
  // The default, which the user may not have asked for.
  expect(found.map(place => place.replace(/:\d+$/, ''))).toEqual(['src/options/check-documents.ts'])
})
