import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Encoder } from '../../../../../src/route/sender/layers/encode.js'
import { bulkRequest, done } from '../../../../support/load/bulk-request.js'

test('the reader waits until a core is free to compress one more body', async () => {
  /** Ends the compressions that have begun. */
  const begun: (() => void)[] = []
  const encoder = new Encoder(true, async bytes => await new Promise(resolve => begun.push(() => resolve(bytes))))
  const send = encoder.encode(async () => await Promise.resolve(done))
  const request = await bulkRequest()
  const cores = availableParallelism()

  // One more than there are cores: it is sent again.
  const sends = Array.from({ length: cores + 1 }, async () => await send(request))
  await setImmediate()
  expect(begun).toHaveLength(cores)

  let isReading = false
  const room = encoder.room().then(() => (isReading = true))
  begun.shift()?.()
  await setImmediate()
  expect([begun.length, isReading]).toEqual([cores, false])
  begun.shift()?.()
  await room
  for (const end of begun) end()
  expect(await Promise.all(sends)).toEqual(sends.map(() => done))
  await encoder.room()
})
