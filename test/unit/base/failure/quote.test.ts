import { expect, test } from 'vitest'
import { quote } from '../../../../src/base/failure/failure.js'

test('a quote is one line, without markup, control characters and the credentials that a server sends back', () => {
  expect(quote('<b>No</b>\n\u001B[31mway\u009B')).toBe('No [31mway')
  expect(quote('x'.repeat(300))).toHaveLength(201)
  expect(quote('{"authorization":"ApiKey UExBTlRFRA==","proxy":"basic dXNlcjpwYXNz"}')).toBe(
    '{"authorization":"ApiKey ***","proxy":"basic ***"}',
  )
  expect(quote('Basic realm="security", unable to find apikey with this id')).toBe(
    'Basic realm="security", unable to find apikey with this id',
  )
})

test('a quote ends where the server begins to repeat the request', () => {
  const sayings = {
    "[1:9] failed to parse field [port] of type [long] in document with id 'a'. Preview of field's value: 'hunter2'":
      "[1:9] failed to parse field [port] of type [long] in document with id 'a'",
    '[i][0] primary shard is not active Timeout: [1m], request: [BulkShardRequest [[i][0]] containing [index {[i][a], source[{"k":"hunter2"}]}]]':
      '[i][0] primary shard is not active Timeout: [1m]',
    'failed to execute index {[i][a], source[{"k":"hunter2"}]}': 'failed to execute index {[i][a],',
    '[1:3] Unexpected character\n at [Source: (byte[])"{"k":"hunter2"}"; line: 1, column: 3]':
      '[1:3] Unexpected character',
  }
  for (const [said, quoted] of Object.entries(sayings)) expect(quote(said)).toBe(quoted)
})
