import { expect, test } from 'vitest'
import { destinations } from '../../../src/options/address-kinds.js'
import { readDestination } from '../../../src/base/addresses.js'
import { Problem } from '../../../src/options/kinds.js'

test.each([
  ['cluster', { to: 'cluster' }],
  ['9200:cluster', { to: 'cluster', local: 9200 }],
  ['0:servicenow', { to: 'servicenow', local: 0 }],
  ['Db.example.com:5432', { to: { host: 'db.example.com', port: 5432 } }],
  ['5433:db:5432', { to: { host: 'db', port: 5432 }, local: 5433 }],
  ['127.0.0.1:5432', { to: { host: '127.0.0.1', port: 5432 } }],
  ['7000:[fd00::1]:5432', { to: { host: 'fd00::1', port: 5432 }, local: 7000 }],
])('%s is read', (text, destination) => {
  expect(readDestination(text)).toEqual(destination)
})

test.each([
  '',
  'db',
  ':5432',
  '5433:5432',
  'db:0',
  'db:65536',
  '65536:cluster',
  '[db]:1',
  'http://db:1',
  'a b:1',
  'x@y:1',
])("'%s' names no destination", text => expect(readDestination(text)).toBeUndefined())

test('the option may be repeated, or be a list', () => {
  const { read } = destinations()
  expect(read(['cluster, servicenow', 'db:1'])).toEqual(['cluster', 'servicenow', 'db:1'])
  expect(read('9200:cluster')).toEqual(['9200:cluster'])
  expect(read(['db'])).toBeInstanceOf(Problem)
  expect(read([7])).toBeInstanceOf(Problem)
})
