import { expect, describe, test } from 'vitest'
import { failure, SluiceError } from '../../../../../src/base/failure/failure.js'
import { CheckpointWriter } from '../../../../../src/run/state/resume/checkpoint-writer.js'
import { HeldClock } from '../../../../support/load/held-clock.js'

describe('the writer', () => {
  test('writes once for many changes, one write at a time, and the newest state last', async () => {
    const clock = new HeldClock()
    let state = 0
    const written: number[] = []
    let finish = () => {}
    const writer = new CheckpointWriter(
      async () => {
        written.push(state)
        await new Promise<void>(resolve => (finish = resolve))
      },
      500,
      clock,
    )
    for (state = 1; state < 10; state += 1) writer.touch()
    await new Promise(setImmediate)
    expect(written).toEqual([])
    clock.advance(500)
    await new Promise(setImmediate)
    expect(written).toEqual([10])
    state = 11
    writer.touch()
    clock.advance(5000)
    await new Promise(setImmediate)
    expect(written).toEqual([10])
    finish()
    await new Promise(setImmediate)
    clock.advance(500)
    await new Promise(setImmediate)
    expect(written).toEqual([10, 11])
    finish()
    await writer.end()
  })

  test('tells the next caller why a write failed, and throws a bug', async () => {
    const why = failure('STATE_UNWRITABLE', { path: 'p', problem: 'the disk is full' })
    for (const error of [new SluiceError(why), new TypeError('a bug')]) {
      const clock = new HeldClock()
      const writer = new CheckpointWriter(async () => await Promise.reject(error), 500, clock)
      expect(writer.touch()).toBeUndefined()
      await new Promise(setImmediate)
      clock.advance(500)
      await new Promise(setImmediate)
      if (error instanceof TypeError) expect(() => writer.touch()).toThrow('a bug')
      else expect(writer.touch()).toBe(why)
      await writer.end()
    }
  })

  test('ends without waiting for its next time', async () => {
    let writes = 0
    const writer = new CheckpointWriter(async () => void (writes += 1), 500, new HeldClock())
    writer.touch()
    await writer.end()
    expect(writes).toBe(0)
  })
})
