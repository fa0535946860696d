import { expect, test } from 'vitest'
import { failure } from '../../../../src/base/failure/failure.js'
import { NodeWatch } from '../../../../src/route/sender/node-watch.js'

const lost = {
  phase: 'proxy-connect',
  failure: failure('PROXY_UNREACHABLE', { proxy: 'http://proxy.test:9293', problem: 'connection refused' }),
}

/** Lets connections fail (-) and requests be answered (+). Returns how often a failing node was told. */
function told(story: string): number {
  let count = 0
  const watch = new NodeWatch({ proxy: 'http://proxy.test:9293', now: () => 0, onFailing: () => (count += 1) })
  for (const step of story) {
    if (step === '-') watch.failed(lost)
    else watch.answered()
  }
  return count
}

test('tells of a node if connections fail before and after an answer, once', () => {
  expect(told('+--+-+')).toBe(1)
  expect(told('+-+-+-+-+')).toBe(1)
  expect(told('+--+')).toBe(0)
})

test('tells of no node if the whole proxy was down for a while', () => {
  expect(told('+--------+++')).toBe(0)
})
