// @module-tag long
import { describe, expect, it } from 'vitest'
import { openServiceNow } from '../../support/lab/servicenow-client.js'

const rows = [
  { short_description: 'Red lamp', category: 'hardware', impact: '1', state: '1', correlation_id: '' },
  { short_description: 'Green lamp', category: 'Hardware', impact: '2', state: '2', correlation_id: 'a^b' },
  { short_description: 'mail', category: 'software', impact: '3', state: '10', correlation_id: 'c' },
]

describe('an encoded query', () => {
  // [query, the rows that it means]
  const table: [string, string][] = [
    ['', '012'],
    ['category=hardware', '01'],
    ['category!=hardware', '2'],
    ['state>1', '12'],
    ['state>=2', '12'],
    ['state<10', '01'],
    ['state<=2', '01'],
    ['short_descriptionLIKELAMP', '01'],
    ['short_descriptionNOT LIKElamp', '2'],
    ['short_descriptionSTARTSWITHred', '0'],
    ['short_descriptionENDSWITHLamp', '01'],
    ['impactIN1,3', '02'],
    ['impactNOT IN1,3', '1'],
    ['correlation_idISEMPTY', '0'],
    ['correlation_idISNOTEMPTY', '12'],
    ['correlation_id=a^^b', '1'],
    ['category=hardware^impact=2', '1'],
    ['impact=1^ORimpact=3^category=software', '2'],
    ['category=hardware^impact=1^NQstate=10', '02'],
    ['category=software^EQ', '2'],
    ['assigned_to.name=Ada Okafor', '0'],
    ['assigned_to.nameISEMPTY', '12'],
    ['ORDERBYDESCimpact', '210'],
    ['ORDERBYstate', '012'],
    ['category=hardware^ORDERBYDESCshort_description', '01'],
    // What is not understood is left out without a word.
    ['categroy=hardware', '012'],
    ['category=hardware^impcat=1', '01'],
    ['category~hardware', '012'],
    ['category=hardware^ORDERBYnothing', '01'],
    ['Category=hardware', '012'],
  ]
  it.each(table)('%j means the rows %j', async (query, expected) => {
    await using world = await openServiceNow()
    const [ada] = world.sn.rows('sys_user', 'name=Ada Okafor')
    for (const [at, row] of rows.entries()) {
      world.sn.insert('incident', { ...row, ...(at === 0 && { assigned_to: ada?.sys_id ?? '' }) })
    }
    const found = await world.list('incident', { sysparm_query: query })
    const texts = rows.map(row => row.short_description)
    expect(found.rows.map(row => texts.indexOf(row['short_description'] ?? '')).join('')).toBe(expected)
    expect(found.headers['x-total-count']).toBe(String(expected.length))
  })

  it('with a part that is not understood means nothing once that is switched on', async () => {
    await using world = await openServiceNow()
    world.sn.seed('incident', 3)
    world.sn.setInvalidQueryMeansNothing(true)
    expect((await world.list('incident', { sysparm_query: 'categroy=x' })).rows).toEqual([])
    expect((await world.list('incident', { sysparm_query: 'categoryISNOTEMPTY' })).rows).toHaveLength(3)
  })
})

describe('the fields of a row', () => {
  it('are those that are asked for, through references, and no others', async () => {
    await using world = await openServiceNow()
    const [ada] = world.sn.rows('sys_user', 'name=Ada Okafor')
    const { sys_id: id } = world.sn.insert('incident', { assigned_to: ada?.sys_id ?? '' })
    const fields = { sysparm_fields: 'sys_id, assigned_to.email,caller_id.name,nothing,assigned_to' }
    const { rows: found } = await world.list('incident', { ...fields, sysparm_exclude_reference_link: 'true' })
    expect(found).toEqual([
      { sys_id: id, 'assigned_to.email': 'user.0@example.com', 'caller_id.name': '', assigned_to: ada?.sys_id },
    ])
  })

  it('are values, what is shown for them, or both', async () => {
    await using world = await openServiceNow()
    world.sn.setClock('2026-03-01 04:00:00', true)
    const [ada] = world.sn.rows('sys_user', 'name=Ada Okafor')
    const user = ada?.sys_id ?? ''
    world.sn.insert('incident', { assigned_to: user, state: '2', work_notes: 'looked at it' })
    const link = `${world.lab.line.servicenow.httpUrl}/api/now/table/sys_user/${user}`
    const ask = async (display: string, excludes = 'false') => {
      const { rows: found } = await world.list('incident', {
        sysparm_display_value: display,
        sysparm_exclude_reference_link: excludes,
        sysparm_fields: 'assigned_to,state,opened_at,caller_id,work_notes',
      })
      return found[0]
    }
    const notes = '2026-03-01 04:00:00 - control\nlooked at it\n\n'
    const opened_at = '2026-03-01 04:00:00'
    const shown = '2026-02-28 20:00:00'
    expect(await ask('false')).toEqual({
      assigned_to: { link, value: user },
      state: '2',
      opened_at,
      caller_id: '',
      work_notes: '',
    })
    expect(await ask('false', 'true')).toEqual({
      assigned_to: user,
      state: '2',
      opened_at,
      caller_id: '',
      work_notes: '',
    })
    expect(await ask('true')).toEqual({
      assigned_to: { display_value: 'Ada Okafor', link },
      state: 'In Progress',
      opened_at: shown,
      caller_id: '',
      work_notes: notes,
    })
    expect(await ask('all', 'true')).toEqual({
      assigned_to: { display_value: 'Ada Okafor', value: user },
      state: { display_value: 'In Progress', value: '2' },
      opened_at: { display_value: shown, value: opened_at },
      caller_id: { display_value: '', value: '' },
      work_notes: { display_value: notes, value: '' },
    })
  })

  it('stand in sys_dictionary', async () => {
    await using world = await openServiceNow()
    world.sn.createTable('u_lamp', { fields: { u_colour: { type: 'string', initial: 'red' } } })
    const { rows: found } = await world.list('sys_dictionary', { sysparm_query: 'name=u_lamp^elementSTARTSWITHu_' })
    expect(found).toMatchObject([{ element: 'u_colour', internal_type: 'string' }])
    const lamp = await world.call('/api/now/table/u_lamp', { json: {} })
    expect(JSON.parse(lamp.text)).toMatchObject({ result: { u_colour: 'red', sys_mod_count: '0' } })
  })
})
