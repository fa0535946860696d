import { describe, expect, test } from 'vitest'
import { fieldsOf, parseQuery, queryWith } from '../../../../../src/features/tables/reading/encoded-query.js'
import { seeded } from '../../../../support/random/seeded.js'

describe('an encoded query', () => {
  test('is parts, alternatives and conditions', () => {
    const { parts, unknown, ordering } = parseQuery('^active=true^state=1^ORstate=2^NQcaller_id.nameSTARTSWITHA^EQ')
    expect(parts.map(({ text }) => text)).toEqual(['active=true^state=1^ORstate=2', 'caller_id.nameSTARTSWITHA'])
    expect(parts[0]?.all.map(or => or.map(({ field, operator, value }) => [field, operator, value]))).toEqual([
      [['active', '=', 'true']],
      [
        ['state', '=', '1'],
        ['state', '=', '2'],
      ],
    ])
    expect({ unknown, ordering }).toEqual({ unknown: [], ordering: [] })
  })

  test.each([
    ['number=INC^^1', 'number', '=', 'INC^^1'],
    [
      'assigned_toDYNAMIC90d1921e5f510100a9ad2572f2b477fe',
      'assigned_to',
      'DYNAMIC',
      '90d1921e5f510100a9ad2572f2b477fe',
    ],
    ['sys_created_on>=javascript:gs.beginningOfToday()', 'sys_created_on', '>=', 'javascript:gs.beginningOfToday()'],
    ['sys_class_nameINSTANCEOFcmdb_ci_server', 'sys_class_name', 'INSTANCEOF', 'cmdb_ci_server'],
    ['stateNOT IN6,7', 'state', 'NOT IN', '6,7'],
    ['assigned_toISEMPTY', 'assigned_to', 'ISEMPTY', ''],
    [
      'opened_atONToday@javascript:gs.daysAgoStart(0)@javascript:gs.daysAgoEnd(0)',
      'opened_at',
      'ON',
      'Today@javascript:gs.daysAgoStart(0)@javascript:gs.daysAgoEnd(0)',
    ],
    ['due_dateRELATIVELT@hour@ago@3', 'due_date', 'RELATIVELT', '@hour@ago@3'],
    ['opened_atGT_FIELDclosed_at', 'opened_at', 'GT_FIELD', 'closed_at'],
    ['priorityBETWEEN1@3', 'priority', 'BETWEEN', '1@3'],
    ['short_descriptionNOTLIKEIN=', 'short_description', 'NOTLIKE', 'IN='],
    ['state!=7', 'state', '!=', '7'],
  ])('has the condition %s', (text, field, operator, value) => {
    const [condition] = parseQuery(text).parts[0]?.all[0] ?? []
    expect(condition).toEqual({ text, field, operator, value })
  })

  test.each(['numberBEGINSINC', 'active', '=true', 'active true', 'priority~5'])('does not know %s', text => {
    expect(parseQuery(`state=1^${text}^OR${text}`).unknown).toEqual([text, `OR${text}`])
  })

  test('names an order, and takes conditions on other tables as they are', () => {
    expect(parseQuery('state=1^ORDERBYDESCnumber^GROUPBYstate').ordering).toEqual(['ORDERBYDESCnumber', 'GROUPBYstate'])
    const query = parseQuery('active=true^RLQUERYtask_ci.task,>=1^ci_item.nameWITHx^ENDRLQUERY^state=1')
    expect(query.unknown).toEqual([])
    expect(fieldsOf(query)).toEqual(['active', 'state'])
  })

  test('has one condition more in every part', () => {
    const query = parseQuery('a=1^b=2^NQc=3^ORd=4^NQ^EQ')
    expect(queryWith(query, 'sys_id>x', 'ORDERBYsys_id')).toBe('a=1^b=2^sys_id>x^NQc=3^ORd=4^sys_id>x^ORDERBYsys_id')
    expect(queryWith(query, '', 'ORDERBYsys_id')).toBe('a=1^b=2^NQc=3^ORd=4^ORDERBYsys_id')
    expect(queryWith(parseQuery(''), '', 'ORDERBYsys_id')).toBe('ORDERBYsys_id')
  })

  test('means what it was made of, however it was made', () => {
    const { below, pick } = seeded(7)
    const list = <T>(most: number, make: () => T): T[] => Array.from({ length: 1 + below(most) }, make)
    for (let round = 0; round < 500; round++) {
      const condition = () => ({
        field: pick(['state', 'caller_id.name', 'u_or', 'u_nq_in', 'order']),
        operator: pick(['=', '!=', 'IN', 'NOT IN', 'LIKE', 'ON', 'ISEMPTY', '>=']),
        value: pick(['', '1', 'a b', 'ORDER', 'x^^y', 'NQ=', 'javascript:gs.now()']),
      })
      const made = list(3, () => list(3, () => list(3, condition)))
      const text = made
        .map(all => all.map(or => or.map(one => `${one.field}${one.operator}${one.value}`).join('^OR')).join('^'))
        .join('^NQ')
      const { parts, unknown } = parseQuery(text)
      expect(unknown).toEqual([])
      const read = parts.map(({ all }) => all.map(or => or.map(({ text: one }) => one)))
      expect(read).toEqual(made.map(all => all.map(or => or.map(one => `${one.field}${one.operator}${one.value}`))))
      expect(parts.map(part => part.text).join('^NQ')).toBe(text)
    }
  })
})
