import { expect, test } from 'vitest'
import { judgeWorkers } from '../../../../src/cli/application/judge-workers.js'
import type { WorkerSign } from '../../../../src/programs/jobs/queue/worker-sign.js'

const cluster = 'https://logs.es.example:9243'
const proxy = 'http://proxy.example:9293'

function sign(host: string, more: Partial<WorkerSign> = {}): WorkerSign {
  return { version: 1, worker: host, host, pid: 7, url: cluster, slots: 4, queueAheadMs: 0, at: 0, ...more }
}

const codes = (signs: readonly WorkerSign[], hasProxy = false) =>
  judgeWorkers(signs, { url: cluster, hasProxy }).findings.map(({ code, severity }) => `${severity} ${code}`)

test('names each worker with its proxy and its addresses', () => {
  const egress = ['192.0.2.1', '192.0.2.2']
  const { step, findings } = judgeWorkers([sign('one', { way: { proxy, egress } }), sign('two')], {
    url: cluster,
    hasProxy: true,
    staticIps: egress,
  })
  expect(findings).toEqual([])
  expect(step).toEqual({
    ok: true,
    detail: `2 workers: one (7) through ${proxy} from 192.0.2.1 and 192.0.2.2, two (7) is still looking for its addresses`,
  })
})

test('says which worker goes without a proxy, if anybody has one', () => {
  const direct = sign('direct', { way: { egress: ['203.0.113.9'] } })
  expect(codes([direct])).toEqual([])
  expect(codes([direct], true)).toEqual(['warning WORKER_WITHOUT_PROXY'])
  expect(codes([direct, sign('other', { way: { proxy, egress: ['192.0.2.1'] } })])).toEqual([
    'warning WORKER_WITHOUT_PROXY',
  ])
})

test('names workers with unknown addresses, and says why', () => {
  expect(codes([sign('unchecked', { way: { proxy } })])).toEqual(['info WORKER_ADDRESSES_UNKNOWN'])
  expect(codes([sign('mute', { way: { proxy, egress: [] } })])).toEqual(['info WORKER_ADDRESSES_UNKNOWN'])
  const blocked = sign('blocked', { way: { proxy, problem: 'EGRESS_BLOCKED: all addresses are blocked' } })
  const { step, findings } = judgeWorkers([blocked], { url: cluster, hasProxy: true })
  expect(step.ok).toBe(false)
  expect(findings[0]).toMatchObject({ severity: 'warning', code: 'WORKER_ADDRESSES_UNKNOWN' })
  expect(findings[0]?.message).toContain('EGRESS_BLOCKED')
  expect(findings[0]?.advice).toEqual([expect.stringContaining('sluice doctor')])
})

test('says which worker leaves from an address that is not static, if it is for the same cluster', () => {
  const here = { url: cluster, hasProxy: true, staticIps: ['192.0.2.1', '192.0.2.2'] }
  const stranger = sign('stranger', { way: { proxy, egress: ['192.0.2.1', '198.51.100.24'] } })
  const { step, findings } = judgeWorkers([stranger], here)
  expect(step.ok).toBe(false)
  expect(findings).toMatchObject([
    {
      severity: 'error',
      code: 'WORKER_ADDRESS_UNEXPECTED',
      evidence: { worker: 'stranger (7)', seen: ['198.51.100.24'], expected: here.staticIps },
    },
  ])
  expect(findings[0]?.advice[0]).toContain('STATIC_PROXY_URL')
  expect(judgeWorkers([{ ...stranger, url: 'https://other.example' }], here).findings).toEqual([])
  expect(judgeWorkers([stranger], { ...here, staticIps: undefined }).findings).toEqual([])
})

test('says whose clock is wrong, and in which direction', () => {
  expect(codes([sign('right', { queueAheadMs: 4999 })])).toEqual([])
  const messages = [60_000, -60_000].map(
    queueAheadMs =>
      judgeWorkers([sign('wrong', { queueAheadMs })], { url: cluster, hasProxy: false }).findings[0]?.message,
  )
  expect(messages).toEqual([
    expect.stringContaining('60 s behind that of the queue'),
    expect.stringContaining('60 s ahead of that of the queue'),
  ])
})

test('says that no worker is there', () => {
  const none = { step: { ok: true, detail: 'no worker is running' }, findings: [] }
  expect(judgeWorkers([], { url: cluster, hasProxy: true })).toEqual(none)
})

test('says which worker has neither a key nor all limits', () => {
  const unlimited = ['--only-inputs', '--letters-folder']
  expect(codes([sign('open', { unlimited }), sign('limited', { unlimited: [] }), sign('older')])).toEqual([
    'warning WORKER_UNLIMITED',
  ])
  const { findings } = judgeWorkers([sign('open', { unlimited })], { url: cluster, hasProxy: false })
  expect(findings[0]?.message).toContain('--only-inputs')
})
