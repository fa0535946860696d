import { expect, test } from 'vitest'
import { parseQuery, unmet } from '../../../../../src/features/tables/reading/encoded-query.js'

const id = '0123456789abcdef0123456789abcdef'
const other = 'f'.repeat(32)

test.each([
  ['state=1', { state: '2' }],
  ['state!=1', { state: '1' }],
  ['active=true', { active: 'false' }],
  ['number=x^stateIN1,2', { state: '3' }],
  [`caller_id=${id}`, { caller_id: other }],
  ['state=1', { state: { display_value: 'New', value: '2' } }],
])('%s is not met by %j', (query, row) => {
  expect(unmet(parseQuery(query))(row)?.text).toBe(query.split('^').at(-1))
})

test.each([
  ['state=1', { state: '1' }],
  ['state=1', { number: 'x' }],
  ['state=1', { state: '' }],
  ['state=01', { state: '1' }],
  ['active=1', { active: 'true' }],
  ['stateIN1,x', { state: '3' }],
  ['category=Software', { category: 'network' }],
  ['state=1^ORstate=2', { state: '2' }],
  ['state=1^NQstate=2', { state: '2' }],
  ['state>1', { state: '0' }],
  [`caller_id=${id}`, { caller_id: 'someone' }],
  ['sys_updated_on=javascript:gs.now()', { sys_updated_on: '2026-11-21 10:00:00' }],
])('%s may be met by %j', (query, row) => {
  expect(unmet(parseQuery(query))(row)).toBeUndefined()
})
