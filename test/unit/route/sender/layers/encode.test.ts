import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Encoder, MOST_BODIES } from '../../../../../src/route/sender/layers/encode.js'
import { compressingBy } from '../../../../../src/route/sender/layers/compressing.js'
import { bulkRequest, done } from '../../../../support/load/bulk-request.js'

test('the reader waits until one more body may be compressed soon', async () => {
  /** Ends the compressions that have begun. */
  const begun: (() => void)[] = []
  let released = 0
  const clock = { now: () => 0 }
  const encoder = new Encoder(
    compressingBy({ isGzip: true }, clock),
    clock,
    async bytes => await new Promise(resolve => begun.push(() => resolve({ bytes, release: () => (released += 1) }))),
  )
  const send = encoder.encode(async () => await Promise.resolve(done))
  const request = await bulkRequest()

  // One more than the reader would bring: it is sent again.
  const sends = Array.from({ length: MOST_BODIES + 1 }, async () => await send(request))
  await setImmediate()
  expect(begun).toHaveLength(MOST_BODIES)

  let isReading = false
  const room = encoder.room().then(() => (isReading = true))
  begun.shift()?.()
  await setImmediate()
  expect([begun.length, isReading]).toEqual([MOST_BODIES, false])
  begun.shift()?.()
  await room
  for (const end of begun) end()
  expect(await Promise.all(sends)).toEqual(sends.map(() => done))
  expect(released).toBe(sends.length)
  await encoder.room()
})
