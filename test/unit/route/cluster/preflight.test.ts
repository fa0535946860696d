import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { type PreflightOptions, preflight } from '../../../../src/route/cluster/preflight.js'
import { failure, isSluiceError } from '../../../../src/base/failure/failure.js'
import { RouteError } from '../../../../src/route/proxy/route-error.js'
import type { Route } from '../../../../src/route/proxy/route.js'
import { SkippingClock } from '../../../support/load/held-clock.js'

const cluster = 'https://cluster.example'

type RouteRequest = Parameters<Route['once']>[0]

interface Reply {
  readonly status: number
  readonly body: unknown
  readonly product?: boolean
  readonly retryAfter?: string
}

const root: Reply = {
  status: 200,
  body: { cluster_name: 'c', cluster_uuid: 'u', version: { number: '9.4.3', build_flavor: 'default' } },
  product: true,
}
const filtered: Reply = { status: 403, body: { ok: false, message: 'Forbidden' } }
const refusal = (status: number, type: string): Reply => ({
  status,
  body: { error: { type, reason: 'because' }, status },
})
const credentials = refusal(401, 'security_exception')
const privilege = refusal(403, 'security_exception')

const lost = (code: 'PROXY_UNREACHABLE' | 'PROXY_AUTH_REJECTED') =>
  new RouteError({
    code: 'X',
    phase: 'proxy-connect',
    delivery: 'none',
    failure:
      code === 'PROXY_UNREACHABLE'
        ? failure(code, { proxy: 'p', problem: 'refused' })
        : failure(code, { proxy: 'p', observed: 'status 407' }),
  })

type Script = (number: number, request: RouteRequest) => Reply | Error

/** A route whose connections answer as the script says; `once` is all that the preflight may use. */
function scripted(script: Script, form: Route['form'] = 'tunnel'): { route: Route; asked: RouteRequest[] } {
  const asked: RouteRequest[] = []
  const route = {
    form,
    target: new URL(form === 'forward' ? 'http://cluster.example' : cluster),
    ...(form === 'direct' ? {} : { proxy: 'http://proxy.example:9293' }),
    once: async (request: RouteRequest) => {
      asked.push(request)
      const reply = script(asked.length - 1, request)
      await new Promise(setImmediate)
      if (reply instanceof Error) throw reply
      const headers = {
        ...(reply.product === true ? { 'x-elastic-product': 'Elasticsearch' } : {}),
        ...(reply.retryAfter === undefined ? {} : { 'retry-after': reply.retryAfter }),
      }
      const bytes = Uint8Array.from(Buffer.from(JSON.stringify(reply.body)))
      return { statusCode: reply.status, headers, body: Readable.from([bytes]) }
    },
  }
  return { route: route as unknown as Route, asked }
}

const options: PreflightOptions = {
  connections: 16,
  prefix: '',
  headers: { authorization: 'ApiKey x' },
  isManaged: false,
  timeoutMs: 1000,
  clock: new SkippingClock(),
}

async function failing(script: Script, form?: Route['form']) {
  const { route, asked } = scripted(script, form)
  try {
    await preflight(route, cluster, options)
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { ...error.failure, asked: asked.length }
  }
  throw new Error('the way was found open')
}

describe('the preflight', () => {
  test('passes when sixteen connections agree, and says how likely a miss is', async () => {
    const { route, asked } = scripted(() => root)
    expect(await preflight(route, cluster, options)).toEqual({
      info: { name: 'c', uuid: 'u', version: '9.4.3', flavor: 'stack' },
      probes: 16,
      missChance: 2 ** -16,
      warnings: [],
    })
    expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual(Array.from({ length: 16 }, () => 'GET /'))
    expect(asked.every(({ headers }) => headers['authorization'] === 'ApiKey x')).toBe(true)
  })

  test('asks as often as it is told to, and at least once', async () => {
    for (const [connections, probes] of [
      [0, 1],
      [1, 1],
      [2, 2],
      [6, 6],
      [7, 7],
      [20, 20],
    ] as const) {
      const { route } = scripted(() => root)
      const { missChance, ...passed } = await preflight(route, cluster, { ...options, connections })
      expect([passed.probes, missChance]).toEqual([probes, 2 ** -probes])
    }
  })

  test('asks on all other connections at once when the first was accepted', async () => {
    let open = 0
    const together: number[] = []
    const { route } = scripted(() => root)
    const once: Route['once'] = async request => {
      together.push((open += 1))
      try {
        return await route.once(request)
      } finally {
        open -= 1
      }
    }
    await preflight({ ...route, once }, cluster, { ...options, connections: 16 })
    expect(together).toEqual([1, ...Array.from({ length: 15 }, (_, at) => at + 1)])
  })

  test('keeps the last connection for the load, and closes it before others are asked alone', async () => {
    const kept: number[] = []
    const closed: number[] = []
    const over = (script: Script) => {
      const { route, asked } = scripted(script)
      const onceAndKeep: Route['once'] = async request => {
        kept.push(asked.length)
        return await route.once(request)
      }
      return { ...route, onceAndKeep, closeSpare: () => void closed.push(asked.length) }
    }
    const given = { ...options, connections: 16, keepsLast: true }
    await preflight(
      over(() => root),
      cluster,
      given,
    )
    expect({ kept, closed }).toEqual({ kept: [15], closed: [] })
    await preflight(
      over(number => (number === 3 ? lost('PROXY_UNREACHABLE') : root)),
      cluster,
      given,
    )
    expect({ kept, closed }).toEqual({ kept: [15, 15], closed: [16] })
  })

  test('cannot miss an address where there is no proxy to choose one', async () => {
    const { route } = scripted(() => root, 'direct')
    expect(await preflight(route, cluster, { ...options, connections: 1 })).toMatchObject({ probes: 1, missChance: 0 })
  })

  test('finds that one of two addresses is refused, whichever connection meets it first', async () => {
    for (let odd = 0; odd < 16; odd += 1) {
      const few = await failing(number => (number === odd ? filtered : root))
      expect(few).toMatchObject({ code: 'EGRESS_PARTLY_ALLOWED', evidence: { cluster, refused: 1 } })
      const most = await failing(number => (number === odd ? root : filtered))
      expect(most).toMatchObject({ code: 'EGRESS_PARTLY_ALLOWED' })
      expect(few.asked).toBe(16)
    }
  })

  test('finds that both are refused', async () => {
    expect(await failing(() => filtered)).toMatchObject({
      code: 'EGRESS_NOT_ALLOWED',
      evidence: { refused: 16, probes: 16, status: 403, observed: 'Forbidden' },
      asked: 16,
    })
  })

  test('counts refused credentials as let through by the filter', async () => {
    expect(await failing(number => (number === 0 ? filtered : credentials))).toMatchObject({
      code: 'EGRESS_PARTLY_ALLOWED',
    })
  })

  test('costs wrong credentials, a wrong product and a wrong version one request alone', async () => {
    const old: Reply = { ...root, body: { version: { number: '7.17.0' } } }
    const cases: [Reply | Error, string][] = [
      [credentials, 'CLUSTER_AUTH_REJECTED'],
      [{ ...root, product: false }, 'CLUSTER_NOT_ELASTICSEARCH'],
      [old, 'CLUSTER_VERSION_UNSUPPORTED'],
      [{ status: 404, body: { ok: false, message: 'Unknown resource.' } }, 'CLUSTER_UNKNOWN_HOST'],
    ]
    for (const [reply, code] of cases) expect(await failing(() => reply)).toMatchObject({ code, asked: 1 })
  })

  test('asks sixteen connections about what may be wrong with one node or one address alone, and six about a limit', async () => {
    const cases: [Reply | Error, string][] = [
      [{ status: 503, body: { ok: false, message: 'unavailable' } }, 'CLUSTER_UNAVAILABLE'],
      [refusal(503, 'cluster_block_exception'), 'CLUSTER_UNAVAILABLE'],
      [{ status: 429, body: 'Slow down' }, 'GATEWAY_LIMITED'],
      [{ status: 403, body: 'Forbidden by the office' }, 'GATEWAY_REFUSED'],
      [lost('PROXY_AUTH_REJECTED'), 'PROXY_AUTH_REJECTED'],
    ]
    for (const [reply, code] of cases) {
      const refused = await failing(() => reply)
      expect(refused).toMatchObject({ code, asked: code === 'GATEWAY_LIMITED' ? 6 : 16 })
      expect(refused.message).not.toContain('connections)')
    }
  })

  test('waits before the next connection as long as a gateway asks for, and then goes on', async () => {
    const clock = new SkippingClock()
    const limited: Reply = { status: 429, body: 'Slow down', retryAfter: '7' }
    const { route } = scripted(number => (number < 2 ? limited : root))
    const passed = await preflight(route, cluster, { ...options, clock })
    expect(clock.slept).toEqual([7_000, 7_000])
    expect(passed).toMatchObject({ probes: 16, warnings: [expect.stringContaining('2 of 18 connections failed')] })
  })

  test('goes on without the version when the credentials may write and not ask', async () => {
    const { route } = scripted(() => privilege)
    const passed = await preflight(route, cluster, options)
    expect(passed).toEqual({ probes: 16, missChance: 2 ** -16, warnings: [] })
  })

  test('asks again when a connection breaks, and gives up when it keeps breaking', async () => {
    const { route, asked } = scripted(number => (number === 3 ? lost('PROXY_UNREACHABLE') : root))
    expect(await preflight(route, cluster, options)).toMatchObject({ probes: 16 })
    expect(asked).toHaveLength(17)
    expect(await failing(() => lost('PROXY_UNREACHABLE'))).toMatchObject({ code: 'PROXY_UNREACHABLE', asked: 16 })
  })

  test('learns what the cluster is from a later connection where the first ones broke, through a forwarding proxy', async () => {
    const { route, asked } = scripted((number, { method }) => {
      if (number < 2) return { status: 502, body: {} }
      return method === 'GET' ? root : privilege
    }, 'forward')
    const { info, probes } = await preflight(route, cluster, { ...options, connections: 1 })
    expect(info?.uuid).toBe('u')
    expect(probes).toBe(asked.length - 2)
  })

  test('sends requests with a body where a forwarding proxy chooses the address for each of them', async () => {
    const missing: Reply = { status: 400, body: { error: 'no handler found for uri' }, product: true }
    for (const reply of [root, missing, privilege]) {
      const { route, asked } = scripted((_, { method }) => (method === 'GET' ? root : reply), 'forward')
      expect(await preflight(route, cluster, options)).toMatchObject({ probes: 16, info: { version: '9.4.3' } })
      expect(asked.map(({ method }) => method)).toEqual(['GET', ...Array.from({ length: 15 }, () => 'POST')])
      expect(asked[1]).toMatchObject({
        path: '/_security/user/_has_privileges',
        headers: { 'content-type': 'application/json' },
      })
    }
    const partly = await failing((_, { method }) => (method === 'GET' ? root : filtered), 'forward')
    expect(partly).toMatchObject({ code: 'EGRESS_PARTLY_ALLOWED' })
  })

  test('asks below the path of the cluster’s URL', async () => {
    const { route, asked } = scripted(() => root, 'forward')
    await preflight(route, cluster, { ...options, prefix: '/es', connections: 2 })
    expect(asked.map(({ path }) => path)).toEqual(['/es/', '/es/_security/user/_has_privileges'])
  })

  test('ends when the caller aborts', async () => {
    const aborted = new RouteError({
      code: 'ABORTED',
      phase: 'exchange',
      delivery: 'none',
      failure: failure('RUN_INTERRUPTED', { reason: 'x', settled: 0 }),
    })
    const { route } = scripted(() => aborted)
    await expect(preflight(route, cluster, options)).rejects.toBe(aborted)
  })
})
