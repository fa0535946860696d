import { describe, expect, test } from 'vitest'
import { checkEgress } from '../../../../src/route/cluster/egress-check.js'
import { openRoute } from '../../../../src/route/proxy/route.js'
import { startTarget } from '../../../support/servers/proxy-servers.js'

/** A check that gives these answers one after the other, asked once for each. */
async function checked(answers: readonly (readonly [status: number, body: string])[], staticIps?: readonly string[]) {
  const left = [...answers]
  await using target = await startTarget({
    answer: (_, response) => {
      const [status, body] = left.shift() ?? [500, '']
      response.writeHead(status).end(body)
    },
  })
  await using route = openRoute({ target: new URL(`http://secret:word@127.0.0.1:${target.port}/ip`), connections: 1 })
  const { seen, doubts } = await checkEgress(route, {
    connections: answers.length,
    timeoutMs: 5_000,
    ...(staticIps === undefined ? {} : { staticIps }),
  })
  return { seen, doubts: doubts.map(doubt => doubt.replace(String(target.port), 'PORT')) }
}

const said = (times: string, observed: string) =>
  `the address check http://127.0.0.1:PORT showed no address ${times} times (${observed}), so Sluice does not know which address these requests left from`
const noAddress = 'no IPv4 address as "ip" of a JSON object'

describe('the egress check', () => {
  test('counts the addresses that it saw, and doubts nothing', async () => {
    const answer = [200, '{"ip":"192.0.2.1"}'] as const
    expect(await checked([answer, answer], ['192.0.2.1', '192.0.2.2'])).toEqual({
      seen: { '192.0.2.1': 2 },
      doubts: [],
    })
  })

  test.each([
    [503, '{"ip":"192.0.2.1"}', 'status 503'],
    [200, '192.0.2.1', noAddress],
    [200, 'null', noAddress],
    [200, '{"origin":"192.0.2.1"}', noAddress],
    [200, '{"ip":"2001:db8::1"}', noAddress],
    [200, '{"ip":"192.0.2.1, 192.0.2.2"}', noAddress],
  ])('tells an answer that holds no address: %i %s', async (status, body, observed) => {
    expect(await checked([[status, body]], ['192.0.2.1', '192.0.2.2'])).toEqual({
      seen: {},
      doubts: [said('1 of 1', observed)],
    })
  })

  test('tells it too where other answers held one', async () => {
    expect(
      await checked([
        [200, '{"ip":"192.0.2.1"}'],
        [500, ''],
        [429, ''],
        [200, '{"ip":"192.0.2.2"}'],
      ]),
    ).toEqual({ seen: { '192.0.2.1': 1, '192.0.2.2': 1 }, doubts: [said('2 of 4', 'status 429')] })
  })
})
