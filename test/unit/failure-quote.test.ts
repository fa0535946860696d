import { expect, test } from 'vitest'
import { quote } from '../../src/failure/quote.js'

test('what others said is one line, without markup, control characters and the credentials they send back', () => {
  expect(quote('<b>No</b>\n\u001B[31mway\u009B')).toBe('No [31mway')
  expect(quote('x'.repeat(300))).toHaveLength(201)
  expect(quote('{"authorization":"ApiKey UExBTlRFRA==","proxy":"basic dXNlcjpwYXNz"}')).toBe(
    '{"authorization":"ApiKey ***","proxy":"basic ***"}',
  )
  expect(quote('Basic realm="security", unable to find apikey with this id')).toBe(
    'Basic realm="security", unable to find apikey with this id',
  )
})
