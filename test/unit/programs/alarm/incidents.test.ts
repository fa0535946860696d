import { beforeEach, describe, expect, test } from 'vitest'
import { failure, SluiceError } from '../../../../src/base/failure/failure.js'
import { incidentsOf } from '../../../../src/programs/alarm/incidents.js'
import { type Occurrence, raiseIncident, resolveIncidents } from '../../../../src/programs/alarm/raise-incident.js'
import { IncidentPlatform, lostAnswer } from '../../../support/servers/platform-of-incidents.js'

const key = 'sluice:nightly'
const { signal } = new AbortController()
const occurrence: Occurrence = {
  shortDescription: 'Sluice: nightly: PROXY_TIMEOUT: no answer',
  description: 'PROXY_TIMEOUT: no answer',
  fields: { impact: '2', urgency: '2', assignment_group: 'group-1' },
  closeCode: 'Solution provided',
  at: '2026-11-21T10:00:00.000Z',
}
const closing = { close_code: 'Solution provided', close_notes: 'a run was good' }

let platform: IncidentPlatform
beforeEach(() => (platform = new IncidentPlatform()))

const raise = async (of: Partial<Occurrence> = {}) =>
  await raiseIncident(incidentsOf(platform, key, signal), { ...occurrence, ...of })
const resolve = async () => await resolveIncidents(incidentsOf(platform, key, signal), closing)
const sent = (method: string) => platform.requests.filter(request => request.method === method)

describe('a failed run', () => {
  test('opens an incident with its key', async () => {
    const { did, incident, notes } = await raise()
    expect({ did, number: incident.number, notes }).toEqual({ did: 'opened', number: 'INC10001', notes: [] })
    expect(platform.rows).toMatchObject([
      {
        correlation_id: key,
        correlation_display: 'sluice',
        short_description: occurrence.shortDescription,
        description: expect.stringMatching(/^Occurrences: 1, .*\n\nPROXY_TIMEOUT: no answer$/) as string,
        assignment_group: 'group-1',
        impact: '2',
      },
    ])
  })

  test('notes itself in the open one, and counts', async () => {
    await raise()
    const later = '2026-11-21T11:00:00.000Z'
    expect((await raise({ at: later, shortDescription: 'Sluice: nightly: EGRESS_NOT_ALLOWED: no' })).did).toBe(
      'updated',
    )
    await raise({ at: later })
    const [row, ...others] = platform.rows
    expect(others).toEqual([])
    expect(row?.['work_notes']).toContain('Occurrence 3 of this incident.')
    expect(row?.['description']).toContain(`Occurrences: 3, the last one at ${later}`)
  })

  test('tells the newest finding in the title, until somebody has written another', async () => {
    await raise()
    await raise({ shortDescription: 'Sluice: nightly: EGRESS_NOT_ALLOWED: no' })
    expect(platform.rows[0]?.['short_description']).toBe('Sluice: nightly: EGRESS_NOT_ALLOWED: no')
    Object.assign(platform.rows[0] ?? {}, { short_description: 'Firewall team is on it', description: 'See CHG0042' })
    await raise()
    expect(platform.rows[0]?.['short_description']).toBe('Firewall team is on it')
    expect(platform.rows[0]?.['description']).toMatch(/^Occurrences: 2, .*\n\nSee CHG0042$/)
  })

  test.each(['6', '7', '8'])('opens another one where the last has state %s', async state => {
    platform.insert({ correlation_id: key, state })
    expect((await raise()).did).toBe('opened')
    expect(platform.rows).toHaveLength(2)
  })

  test('touches no incident of another job', async () => {
    const other = { ...platform.insert({ correlation_id: 'sluice:weekly', description: 'theirs' }) }
    await raise()
    await raise()
    expect(platform.rows[0]).toEqual(other)
    expect(platform.rows).toHaveLength(2)
  })

  test('writes nothing where the platform leaves the key out of the query', async () => {
    platform.insert({ correlation_id: 'sluice:weekly' })
    platform.ignored = 'correlation_id'
    await expect(raise()).rejects.toMatchObject({ code: 'SERVICENOW_QUERY_IGNORED' })
    expect(platform.requests.map(({ method }) => method)).toEqual(['GET'])
  })

  test('knows a closed incident also where the platform leaves the state out of the query', async () => {
    platform.ignored = 'state'
    platform.insert({ correlation_id: key, state: '7' })
    expect((await raise()).did).toBe('opened')
  })

  test('says which fields the instance did not take', async () => {
    platform.unwritable = ['assignment_group']
    expect((await raise()).notes).toEqual(['the instance did not store assignment_group'])
  })

  test('says that the next one will not be found, where the key was not taken', async () => {
    platform.unwritable = ['correlation_id']
    expect(await raise()).toMatchObject({
      did: 'opened',
      notes: [expect.stringContaining('the next failure will open another incident')],
    })
  })

  test('keeps a title within what the platform stores, in whole characters', async () => {
    await raise({ shortDescription: `Sluice: ${'x'.repeat(150)}😀😀😀`, description: 'y'.repeat(5000) })
    expect(platform.rows[0]?.['short_description']).toBe(`Sluice: ${'x'.repeat(150)}…`)
    expect(platform.rows[0]?.['description']).toHaveLength(4000)
  })
})

describe('a lost answer', () => {
  test('opens no second incident where the first was made', async () => {
    platform.after = loseOnce('POST')
    expect(await raise()).toMatchObject({ did: 'opened', incident: { number: 'INC10001' } })
    expect(platform.rows).toHaveLength(1)
    expect(sent('POST')).toHaveLength(1)
  })

  test('is followed by another attempt where none was made', async () => {
    platform.before = loseOnce('POST')
    expect((await raise()).did).toBe('opened')
    expect(platform.rows).toHaveLength(1)
    expect(sent('POST')).toHaveLength(2)
  })

  test('is reported as it is if no look-up is possible', async () => {
    platform.after = ({ method }) => {
      if (method === 'POST')
        platform.before = () => {
          throw new SluiceError(failure('SERVICENOW_HIBERNATING', { instance: 'x' }))
        }
      loseOnce('POST')({ method, table: 'incident' })
    }
    await expect(raise()).rejects.toMatchObject({ code: 'SERVICENOW_UNREACHABLE' })
    expect(platform.rows).toHaveLength(1)
  })

  test('of a note is no second note', async () => {
    await raise()
    platform.after = loseOnce('PATCH')
    await raise()
    expect(sent('PATCH')).toHaveLength(1)
    platform.before = loseOnce('PATCH')
    await raise()
    expect(sent('PATCH')).toHaveLength(3)
    expect(platform.rows[0]?.['description']).toContain('Occurrences: 3,')
  })

  test('is not looked into where the instance certainly refused', async () => {
    platform.before = ({ method }) => {
      if (method === 'POST')
        throw new SluiceError(
          failure('SERVICENOW_ACCESS_DENIED', { instance: 'x', request: 'POST incident', status: 403, reason: 'no' }),
        )
    }
    await expect(raise()).rejects.toMatchObject({ code: 'SERVICENOW_ACCESS_DENIED' })
    expect(platform.requests.map(({ method }) => method)).toEqual(['GET', 'POST'])
  })
})

describe('two that failed at once', () => {
  test('leave one incident open: the older, which has both', async () => {
    platform.before = request => {
      if (request.method !== 'POST') return
      platform.before = () => undefined
      platform.insert({
        correlation_id: key,
        short_description: 'Sluice: theirs',
        description: 'Occurrences: 1, theirs',
      })
    }
    expect(await raise()).toMatchObject({ did: 'updated', incident: { number: 'INC10001' } })
    expect(platform.rows).toMatchObject([
      { state: '1', work_notes: expect.stringContaining('Occurrence 2') as string },
      { state: '6', close_notes: 'INC10001 is an older incident for the same problem.' },
    ])
  })

  test('leave the younger alone where it is not their own', async () => {
    platform.after = request => {
      if (request.method !== 'POST') return
      platform.after = () => undefined
      platform.insert({ correlation_id: key })
    }
    expect(await raise()).toMatchObject({ did: 'opened', incident: { number: 'INC10001' } })
    expect(platform.rows.map(({ state }) => state)).toEqual(['1', '1'])
  })
})

describe('a good run', () => {
  test('resolves every open incident of its job, and no other', async () => {
    for (const correlation_id of [key, 'sluice:weekly', key]) platform.insert({ correlation_id })
    expect((await resolve()).map(({ number }) => number)).toEqual(['INC10001', 'INC10003'])
    expect(platform.rows.map(({ state }) => state)).toEqual(['6', '1', '6'])
    expect(platform.rows[0]).toMatchObject(closing)
  })

  test('changes nothing where none is open', async () => {
    platform.insert({ correlation_id: key, state: '6' })
    expect(await resolve()).toEqual([])
    expect(platform.requests.map(({ method }) => method)).toEqual(['GET'])
  })

  test('resolves nothing where the platform leaves the key out of the query', async () => {
    platform.insert({ correlation_id: key })
    platform.insert({ correlation_id: '' })
    platform.ignored = 'correlation_id'
    await expect(resolve()).rejects.toMatchObject({ code: 'SERVICENOW_QUERY_IGNORED' })
    expect(platform.rows.map(({ state }) => state)).toEqual(['1', '1'])
  })

  test('says so where the incident stays as it is', async () => {
    platform.insert({ correlation_id: key })
    platform.unwritable = ['state']
    await expect(resolve()).rejects.toMatchObject({
      code: 'SERVICENOW_ACCESS_DENIED',
      message: expect.stringContaining("its state is still '1'") as string,
    })
  })
})

function loseOnce(method: string) {
  let isLost = false
  return (request: { readonly method: string; readonly table: string }) => {
    if (request.method !== method || isLost) return
    isLost = true
    throw lostAnswer()
  }
}
