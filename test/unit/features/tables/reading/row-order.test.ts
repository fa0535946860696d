import { describe, expect, test } from 'vitest'
import { byChange, bySysId } from '../../../../../src/features/tables/reading/row.js'
import { idOf } from '../../../../support/servers/fake-instance.js'

const at = (second: number) => `2026-11-21 10:00:${String(second).padStart(2, '0')}`

describe('rows in the order of their changes', () => {
  const order = byChange('sys_updated_on', at(0), at(30))

  test('go on behind a row, also among those of the same second', () => {
    expect(order.condition(undefined)).toBe(`sys_updated_on>=${at(0)}`)
    const condition = order.condition({ id: idOf(7), time: at(3) })
    expect(condition).toBe(`sys_updated_on>=${at(3)}^sys_id>${idOf(7)}^ORsys_updated_on>${at(3)}`)
  })

  test('go on behind the last one that was surely there, where one changed while the page was put together', () => {
    const keys = [
      { id: idOf(5), time: at(1) },
      { id: idOf(2), time: at(45) },
      { id: idOf(3), time: at(9) },
      { id: idOf(1), time: at(50) },
    ]
    const first = { id: idOf(5), time: at(1) }
    expect(order.follow(keys, undefined)).toEqual({ cursors: [first, first, keys[2], keys[2]], isDoubtful: false })
  })

  test('go on behind each of those that may still change, once there are no others', () => {
    const keys = [
      { id: idOf(5), time: at(40) },
      { id: idOf(2), time: at(45) },
    ]
    expect(order.follow(keys, { id: idOf(1), time: at(40) })).toEqual({ cursors: keys, isDoubtful: false })
  })

  test('are asked for again where all of them may have changed just now, and others may stand before them', () => {
    const keys = [{ id: idOf(5), time: at(40) }]
    expect(order.follow(keys, undefined)).toEqual({ cursors: keys, isDoubtful: true })
    expect(order.follow(keys, { id: idOf(1), time: at(29) })).toEqual({ cursors: keys, isDoubtful: true })
  })

  test.each([
    ['before the time that was asked for', [{ id: idOf(9), time: '2026-11-21 09:59:59' }]],
    ['that was read before', [{ id: idOf(7), time: at(3) }]],
    ['before the cursor', [{ id: idOf(9), time: at(2) }]],
    [
      'out of order',
      [
        { id: idOf(9), time: at(8) },
        { id: idOf(9), time: at(7) },
      ],
    ],
    ['without an id', [{ id: '', time: at(8) }]],
  ])('have none %s', (_, keys) => {
    expect(order.follow(keys, { id: idOf(7), time: at(3) })).toEqual({ stray: keys.at(-1) })
  })
})

describe('rows in the order of sys_id', () => {
  test('have none twice, whatever their ids look like', () => {
    const keys = ['global', 'A1', 'b'].map(id => ({ id, time: '' }))
    expect(bySysId.follow(keys, undefined)).toMatchObject({ cursors: [{ id: 'global' }, { id: 'A1' }, { id: 'b' }] })
    expect(bySysId.follow(keys, { id: 'global' })).toEqual({ stray: keys[0] })
    expect(bySysId.follow(keys, { id: 'global', includes: true })).toMatchObject({ cursors: expect.anything() })
    const upper = { id: 'F'.repeat(32), time: '' }
    expect(bySysId.follow([upper], { id: 'a'.repeat(32) })).toMatchObject({ cursors: [{ id: upper.id }] })
  })
})
