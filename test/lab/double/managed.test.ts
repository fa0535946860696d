/** The double of Elastic's managed ingest endpoint, as its documentation describes it. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { eventually } from '../../support/eventually.js'
import { type Answer, ask } from '../../support/lab/lab-clients.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab({ managed: true })
})
afterAll(async () => await lab.close())

async function send(path: string, body?: string, apiKey = lab.line.managed?.apiKey): Promise<Answer> {
  const headers = { authorization: `ApiKey ${apiKey}`, 'content-type': 'application/x-ndjson' }
  const ca = readFileSync(lab.line.cluster.caFile, 'utf8')
  return await ask(`${lab.line.managed?.plainUrl}${path}`, { headers, ca, ...(body === undefined ? {} : { body }) })
}

const create = (id: string) => `{"create":{"_id":"${id}"}}\n{"n":1}\n`

it('serves its root, its license and _bulk, and nothing else, also to an address that no policy allows', async () => {
  lab.control.register('none')
  const asked = ['', '/_license', '/_security/_authenticate', '/logs/_settings', '/logs/_doc/1']
  expect(await Promise.all(asked.map(async path => (await send(path)).status))).toEqual([200, 200, 404, 404, 404])
  expect((await send('/logs/_bulk', create('a'))).status).toBe(200)
  lab.control.register('both')
})

it('answers 201 for what it only queues, and indexes it later', async () => {
  const { managed } = lab.control
  await eventually(() => expect(managed.waiting).toBe(0))
  managed.pause()
  const { status, text } = await send('/later/_bulk?filter_path=errors,items.*.status', create('a') + create('b'))
  expect([status, text]).toEqual([
    200,
    '{"errors":false,"items":[{"create":{"status":201}},{"create":{"status":201}}]}',
  ])
  expect([managed.waiting, lab.control.count('later')]).toEqual([2, 0])
  managed.resume()
  expect([managed.waiting, lab.control.count('later')]).toEqual([0, 2])
})

it('takes a whole request or nothing of it, and only the operation create', async () => {
  const before = lab.control.managed.accepted.length
  const refused = [
    create('x') + '{"index":{"_id":"y"}}\n{}\n',
    create('x') + '{"delete":{"_id":"y"}}\n',
    '{"create":{}}',
  ]
  for (const body of refused) expect((await send('/atomic/_bulk', body)).status).toBe(400)
  expect((await send('/_bulk', create('x'))).status).toBe(400)
  expect(lab.control.managed.accepted).toHaveLength(before)
})

it('stores a second document under an id that it has taken before', async () => {
  await send('/twice/_bulk', create('a') + create('a'))
  await send('/twice/_bulk', create('a'))
  await eventually(() => expect(lab.control.count('twice')).toBe(3))
  expect(lab.control.ids('twice').filter(id => id === 'a')).toHaveLength(1)
})

it('says nothing of a document that the index refuses later', async () => {
  const { managed } = lab.control
  const before = managed.failed
  const both = '{"create":{}}\n{"n":1}\n{"create":{}}\n{"n":{"no":"number"}}\n'
  expect(JSON.parse((await send('/mapped/_bulk', both)).text)).toMatchObject({ errors: false })
  await eventually(() => expect(managed.failed).toBe(before + 1))
  expect(lab.control.count('mapped')).toBe(1)
})

it('refuses a key without its privilege, and an unknown one', async () => {
  const { apiKey, leastPrivilegeApiKey } = lab.line.cluster
  for (const key of [apiKey, leastPrivilegeApiKey]) {
    const { status, text } = await send('', undefined, key)
    expect([status, text]).toEqual([403, expect.stringContaining('PermissionDenied')])
  }
  expect((await send('', undefined, 'bm9ib2R5OmtleQ==')).status).toBe(401)
})
