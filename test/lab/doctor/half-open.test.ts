// @module-tag long
/**
 * One node of the proxy, or one address, fails, and the proxy chooses at random. Each program names the same cause in every run.
 * `RUNS_PER_CAUSE` sets how often each one looks.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { diagnose, diagnoseForWatch, diagnoseProxy } from '../../../src/programs/doctor/diagnose.js'
import type { DoctorReport } from '../../../src/programs/doctor/report.js'
import { probeThrough } from '../../../src/route/examine/try-filter.js'
import type { DoctorOptions } from '../../../src/route/examine/examine-options.js'
import { openDestination } from '../../../src/route/destination/destination.js'
import { resolveTarget } from '../../../src/route/connect/open-target.js'
import { readConnecting } from '../../../src/options/read-options.js'
import { systemClock } from '../../../src/base/time/clock.js'
import { ingest, isSluiceError } from '../../../src/index.js'
import { type LabWorld, startLabWorld } from '../../contracts/lab-world.js'
import { documents, newIndex } from '../../contracts/options.js'
import { type PlayedEnd, startFront } from '../../contracts/mixing-front.js'
import { type Listener, listen } from '../../diagnosis/listeners.js'
import { by, healthy } from '../../diagnosis/ways.js'
import { seeded } from '../../support/random/seeded.js'

const { RUNS_PER_CAUSE } = process.env
const RUNS = Number(RUNS_PER_CAUSE ?? 2)
/** Each run behind a proxy or target that says nothing waits for a minute. Of these, the suite plays only the doctor. */
const isProof = RUNS_PER_CAUSE !== undefined
/** Only a connection without an answer waits. */
const atOnce = (end: PlayedEnd) => (end === 'stuck' || end === 'silent' ? 8 : 4)

let world: LabWorld
/** A target that resets connections from one address. */
let resetting: Listener

beforeAll(async () => {
  world = await startLabWorld()
  resetting = await listen(socket => socket.resetAndDestroy())
  await world.register('first')
})
afterAll(async () => {
  await resetting[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

interface HalfOpen {
  readonly planted: string
  readonly end: PlayedEnd
  /** Severity and code of the only finding. */
  readonly named: string
  readonly says: string
  /** The first thing to do. */
  readonly next: string
}

const node = { named: 'warning PROXY_NODE_FAILS', next: 'sluice doctor --nodes URL,URL' }

const causes: readonly HalfOpen[] = [
  { planted: 'one node is down', end: 'reset', ...node, says: 'closed the connection' },
  { planted: 'one node has an old password', end: 'login', ...node, says: '407' },
  { planted: 'one node has no network', end: 'unreached', ...node, says: 'cannot reach' },
  { planted: 'one node is stuck', end: 'stuck', ...node, says: 'did not answer' },
  {
    planted: 'the target resets one address',
    end: 'unwell',
    named: 'warning CLUSTER_UNAVAILABLE',
    says: 'may block one of the two addresses',
    next: 'allow both addresses',
  },
  {
    planted: 'the target drops one address',
    end: 'silent',
    named: 'error EGRESS_PARTLY_ALLOWED',
    says: 'silently dropped',
    next: 'Add the missing one',
  },
  {
    planted: 'the filter refuses one address',
    end: 'filtered',
    named: 'error EGRESS_PARTLY_ALLOWED',
    says: 'refused',
    next: 'Add the missing one',
  },
]

/** Runs it again and again, each time behind a proxy that chooses otherwise. Returns each different result, with its count. */
async function counted({ end }: HalfOpen, run: (options: DoctorOptions) => Promise<string>) {
  const seen: Record<string, number> = {}
  let left = RUNS
  const runOne = async (seed: number) => {
    const { chance } = seeded(seed)
    const ports = { barred: 1, busy: 1, unwell: resetting.port, tls: 1, foreign: 1, credentials: 1 }
    await using front = await startFront({
      nodes: world.proxy.nodes,
      ports,
      choose: () => (chance(0.5) ? 'accepted' : end),
    })
    // A connection that works may take a third of that, also on a busy machine.
    const timeoutMs = end === 'silent' ? 20_000 : end === 'stuck' ? 10_000 : 30_000
    const found = await run(healthy(world, { ...by(world, front.url), timeoutMs, index: 'half-open' }))
    seen[found] = (seen[found] ?? 0) + 1
  }
  await Promise.all(
    Array.from({ length: atOnce(end) }, async () => {
      while (left > 0) await runOne((left -= 1))
    }),
  )
  return seen
}

function tell({ findings, next = '' }: DoctorReport, { says, next: expected }: HalfOpen): string {
  // A busy machine has latency without a proxy far away.
  const real = findings.filter(({ code }) => code !== 'LATENCY_CROSS_REGION')
  const [{ message } = { message: '' }] = real
  const named = real.map(({ severity, code }) => `${severity} ${code}`).join(', ')
  const has = (text: string, part: string) => (text.includes(part) ? '' : ` without "${part}": ${text}`)
  const share = / \d+ of \d+ connections|^\d+ of \d+ connections|\(\d+ of \d+ connections\)/.test(message)
  return named + has(message, says) + has(next, expected) + (share ? '' : ` without a share: ${message}`)
}

/** What a load or a tunnel says: the code that stops it, or its warning in words. */
async function outcome(run: () => Promise<readonly string[]>, { says }: HalfOpen): Promise<string> {
  try {
    const told = await run()
    return told.some(text => /\d+ of \d+/.test(text) && text.includes(says)) ? 'warning' : `only ${told.join()}`
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return `error ${error.code}`
  }
}

const waits = ({ end }: HalfOpen) => end === 'stuck' || end === 'silent'
if (!isProof)
  console.log('What says nothing is played for the doctor only: `npm run proof:half-open` plays it for all programs')

/** As a load names it. */
const stops = ({ named }: HalfOpen) => (named.startsWith('error') ? named : 'warning')

describe.each(causes)('$planted', cause => {
  const isPlayed = isProof || !waits(cause)
  test('the doctor', async () => {
    expect(await counted(cause, async options => tell(await diagnose(options), cause))).toEqual({ [cause.named]: RUNS })
  })

  // A request to an instance does not show what its target does with single addresses.
  test.runIf(isPlayed && cause.named === node.named)('the doctor at an instance', async () => {
    const { url, username, password, clientId, clientSecret } = world.lab.line.servicenow
    const { ca } = healthy(world).target
    const servicenow = { url, username, password, clientId, clientSecret, ca }
    const run = async (options: DoctorOptions) =>
      tell(await diagnose({ ...options, target: {}, servicenow, index: undefined }), cause)
    expect(await counted(cause, run)).toEqual({ [cause.named]: RUNS })
  })

  test.runIf(isPlayed)('the watch', async () => {
    const seen = await counted(cause, async options => tell(await diagnoseForWatch(options), cause))
    expect(seen).toEqual({ [cause.named]: RUNS })
  })

  test.runIf(isPlayed)('the first question of init finds nothing wrong with the proxy', async () => {
    const run = async (options: DoctorOptions) => (await diagnoseProxy(options)).findings.map(({ code }) => code).join()
    expect(await counted(cause, run)).toEqual({ '': RUNS })
  })

  test.runIf(isPlayed)('the filter', async () => {
    const run = async (options: DoctorOptions) => {
      const connecting = readConnecting(options)
      const way = resolveTarget(connecting)
      if (way.proxy === undefined) throw new Error('no proxy')
      const tools = { clock: systemClock, signal: undefined }
      const { verdict, failure, warning } = await probeThrough(way, way.proxy, connecting, tools)
      return `${verdict} ${failure?.code ?? warning?.code ?? ''}`
    }
    const [severity, code = ''] = cause.named.split(' ')
    expect(await counted(cause, run)).toEqual({ [`${severity === 'error' ? 'refused' : 'allowed'} ${code}`]: RUNS })
  })

  test.runIf(isPlayed)('a tunnel to the cluster', async () => {
    const run = async (options: DoctorOptions) => {
      const destination = await openDestination('cluster', readConnecting(options), {})
      await destination.close()
      return destination.notes
    }
    const seen = await counted(cause, async options => await outcome(async () => await run(options), cause))
    expect(seen).toEqual({ [stops(cause)]: RUNS })
  })

  // A tunnel to any host and port only sees the proxy.
  test.runIf(isPlayed && cause.named === node.named)('a tunnel to a host and port', async () => {
    const { hostname, port } = new URL(world.cluster.url)
    const run = async (options: DoctorOptions) => {
      const destination = await openDestination({ host: hostname, port: Number(port) }, readConnecting(options), {})
      await destination.close()
      return destination.notes
    }
    const seen = await counted(cause, async options => await outcome(async () => await run(options), cause))
    expect(seen).toEqual({ warning: RUNS })
  })

  test.runIf(isPlayed)('a load', async () => {
    const run = async ({ target, proxy, timeoutMs }: DoctorOptions) => {
      const told: string[] = []
      const { created } = await ingest({
        target,
        proxy,
        timeoutMs,
        source: documents(20),
        index: newIndex(),
        deadLetters: false,
        onEvent: event => event.type === 'warning' && told.push(event.message),
      })
      expect(created).toBe(20)
      return told
    }
    const seen = await counted(cause, async options => await outcome(async () => await run(options), cause))
    expect(seen).toEqual({ [stops(cause)]: RUNS })
  })
})
