import { expect, test } from 'vitest'
import { randomToken, randomTokens, tokenOf } from '../../../../../src/base/checksum/tokens.js'
import { tokens } from '../../../../../src/run/state/resume/run-identity.js'

test('a token is random, or the same for the same parts; ids end in it and a number', () => {
  expect(randomToken()).toMatch(/^[a-z2-7]{16}$/)
  expect(randomToken()).not.toBe(randomToken())
  expect(tokenOf('a', 1)).toMatch(/^[a-z2-7]{16}$/)
  expect(tokenOf('a', 1)).toBe(tokenOf('a', 1))
  expect(tokenOf('a', 'bc')).not.toBe(tokenOf('ab', 'c'))
})

test('tokens by number are as random as others, all different, and the same for the same number', () => {
  const tokenOfNumber = randomTokens()
  const tokens = Array.from({ length: 5000 }, (_, number) => tokenOfNumber(number))
  expect(new Set(tokens).size).toBe(5000)
  expect(tokens.every(token => /^[a-z2-7]{16}$/.test(token))).toBe(true)
  expect(tokens.map((_, number) => tokenOfNumber(number))).toEqual(tokens)
  expect(tokens).not.toContain(randomTokens()(0))
})

test('an input that somebody else has seen gets the token of its name and content, whichever cluster is asked', async () => {
  const open = () => (async function* () {})()
  const token = async (runId: string, into: string, name: string, seen: string, place = 'uuid') =>
    await tokens({ state: { runId }, identity: { into } }, [place], [])({ id: 0, name, seen, open })
  const one = await token('job', 'logs', 'a.ndjson', '100 abc')
  expect(one).toMatch(/^[a-z2-7]{16}$/)
  expect(await token('job', 'logs', 'a.ndjson', '100 abc', 'https://other:9243')).toBe(one)
  const others = await Promise.all([
    token('job-2', 'logs', 'a.ndjson', '100 abc'),
    token('job', 'logs-2', 'a.ndjson', '100 abc'),
    token('job', 'logs', 'b.ndjson', '100 abc'),
    token('job', 'logs', 'a.ndjson', '101 abc'),
  ])
  expect(new Set([one, ...others]).size).toBe(5)
})
