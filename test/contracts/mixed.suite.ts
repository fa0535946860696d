import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ingest, type IngestEvent } from '../../src/index.js'
import { type FailureCode, isSluiceError } from '../../src/base/failure/failure.js'
import { ways } from '../../src/route/cluster/connection-end.js'
import { createSigner } from '../diagnosis/certificates.js'
import { cellOf, fifteen, half, short, warnings } from '../support/facts/connection-mixes.js'
import { startTarget } from '../support/servers/proxy-servers.js'
import { documents, newIndex, through } from './options.js'
import { type Beyond, type PlayedEnd, startFront } from './mixing-front.js'
import type { World } from './world.js'

/** What stops a load whose connections end so. */
const stops: Readonly<Record<Exclude<PlayedEnd, 'accepted'>, FailureCode>> = {
  reset: 'PROXY_UNREACHABLE',
  stuck: 'PROXY_TIMEOUT',
  login: 'PROXY_AUTH_REJECTED',
  denied: 'PROXY_DENIED_TARGET',
  limited: 'PROXY_LIMIT_REACHED',
  unreached: 'PROXY_TARGET_UNREACHABLE',
  silent: 'PROXY_TIMEOUT',
  filtered: 'EGRESS_NOT_ALLOWED',
  barred: 'GATEWAY_REFUSED',
  busy: 'GATEWAY_LIMITED',
  unwell: 'CLUSTER_UNAVAILABLE',
  tls: 'CLUSTER_CERT_INVALID',
  foreign: 'CLUSTER_NOT_ELASTICSEARCH',
  credentials: 'CLUSTER_AUTH_REJECTED',
}
const all = [...(Object.keys(stops) as PlayedEnd[]), 'accepted'] as const

/** Two letters of a table, as a load shows them. */
const codeOf: Readonly<Record<string, string>> = {
  rs: stops.reset,
  st: stops.stuck,
  lo: stops.login,
  de: stops.denied,
  li: stops.limited,
  ur: stops.unreached,
  si: stops.silent,
  fi: stops.filtered,
  ba: stops.barred,
  bu: stops.busy,
  uw: stops.unwell,
  tl: stops.tls,
  fo: stops.foreign,
  cr: stops.credentials,
  PR: 'EGRESS_PARTLY_ALLOWED refused',
  PD: 'EGRESS_PARTLY_ALLOWED silently dropped',
  ok: 'loaded',
}

/** Time runs out on these. */
const patient: ReadonlySet<PlayedEnd> = new Set(['stuck', 'silent'])

/**
 * What is named if half of the connections, all but one, or one end so. `all`: every pair. `quick`: those with accepted ones, in no
 * time. `patient`: those with accepted ones for which time runs out.
 */
export function describeMixedVerdicts(world: () => World, pairs: 'all' | 'quick' | 'patient'): void {
  const played = all.filter(end => pairs === 'all' || end === 'accepted' || patient.has(end) === (pairs === 'patient'))
  describe('connections that end differently', () => {
    let ports: Record<Beyond, number>
    let ca: Buffer
    const closing: AsyncDisposable[] = []

    beforeAll(async () => {
      await world().register('first')
      const signer = await createSigner()
      const trusted = await signer.issue(['localhost', '127.0.0.1'])
      const stranger = await (await createSigner()).issue(['localhost', '127.0.0.1'])
      ca = Buffer.concat([readFileSync(world().cluster.caFile), Buffer.from(`\n${signer.ca}`)])
      const serve = async (status: number, body: string, tls = trusted) => {
        const answer = startTarget({
          tls: { ...tls, fingerprint: '' },
          // As from another connection each time: a limit does not stick to one.
          answer: (_, response) => void response.writeHead(status, { connection: 'close' }).end(body),
        })
        closing.push(await answer)
        return (await answer).port
      }
      const unauthorised = { error: { root_cause: [], type: 'security_exception', reason: 'unknown key' }, status: 401 }
      ports = {
        barred: await serve(403, '<h1>Forbidden</h1>'),
        busy: await serve(429, '<h1>Too Many Requests</h1>'),
        unwell: await serve(503, '<h1>Service Unavailable</h1>'),
        foreign: await serve(200, '<h1>Welcome</h1>'),
        credentials: await serve(401, JSON.stringify(unauthorised)),
        tls: await serve(200, '{}', stranger),
      }
    })
    afterAll(async () => {
      for (const one of closing) await one[Symbol.asyncDispose]()
      await world().register('both')
    })

    /** What becomes of a load: `loaded`, its warning, or why it stopped. */
    async function outcome(ends: readonly PlayedEnd[]): Promise<string> {
      await using front = await startFront({ nodes: world().proxy.nodes, ports, ends })
      const way = through(world(), front.url)
      const events: IngestEvent[] = []
      // Only a connection without an answer waits so long. A connection that works may take a third of that.
      const timeoutMs = ends.some(end => patient.has(end)) ? 30_000 : 60_000
      // A real limit lets more through than one connection in sixteen: here it is enough that the load begins.
      const dryRun = ends.filter(end => end === 'limited' || end === 'busy').length > 1
      const load = {
        dryRun,
        ...way,
        target: { ...way.target, ca },
        source: documents(20),
        index: newIndex(),
        timeoutMs,
        onEvent: (event: IngestEvent) => events.push(event),
      }
      try {
        // A load waits for some of them to pass. Here only the first look counts, and what follows from it.
        await ingest({ ...load, dryRun: true, maxElapsedMs: 0, onEvent: () => {} })
        const { created } = await ingest(load)
        if (created !== 20 && !dryRun) return `created ${created}`
        const told = events.flatMap(event => (event.type === 'warning' ? [event.message] : []))
        return told.length === 0
          ? 'silent'
          : told.some(text => text.includes('others after them did not'))
            ? 'loaded'
            : told.join()
      } catch (error) {
        if (!isSluiceError(error)) throw error
        const how = error.code === 'EGRESS_PARTLY_ALLOWED' ? error.failure.evidence['how'] : undefined
        return [error.code, how].filter(Boolean).join(' ')
      }
    }

    function expected(table: string, row: PlayedEnd, column: PlayedEnd) {
      // Everybody would find that out, so the first connection is enough.
      if (ways[row].by === 'everybody' && row !== 'accepted') return codeOf[short[row]]
      const cell = cellOf(table, row, column)
      const warning = warnings[cell]
      if (warning === undefined) return codeOf[cell]
      const says = {
        PROXY_NODE_FAILS: 'failed at the proxy',
        PROXY_LIMIT_REACHED: 'the proxy',
        GATEWAY_LIMITED: 'a gateway',
      }
      return expect.stringContaining(says[warning as keyof typeof says] ?? 'is not available') as string
    }

    const columnsOf = (row: PlayedEnd) =>
      played.filter(column => column !== row && (pairs === 'all' || row === 'accepted' || column === 'accepted'))

    test.each(['reset', 'limited'] as const)(
      'a proxy that allows three connections (more are %s) loads',
      async beyond => {
        const most = { open: 3, beyond }
        await using front = await startFront({ nodes: world().proxy.nodes, ports, ends: ['accepted'], most })
        const warnings: string[] = []
        const receipt = await ingest({
          ...through(world(), front.url),
          source: documents(200),
          index: newIndex(),
          batchDocs: 5,
          onEvent: event => event.type === 'warning' && warnings.push(event.message),
        })
        expect(receipt.created).toBe(200)
        expect(warnings).toEqual([expect.stringContaining('accepts no more connections or requests for now')])
      },
    )

    // Those that wait do so side by side, and the others one after another: many at once would make each other slow.
    async function outcomes(
      row: PlayedEnd,
      columns: readonly PlayedEnd[],
      endsWith: (column: PlayedEnd) => PlayedEnd[],
    ) {
      const seen = new Map<PlayedEnd, string>()
      const look = async (column: PlayedEnd) => void seen.set(column, await outcome(endsWith(column)))
      const isPatient = (column: PlayedEnd) => patient.has(row) || patient.has(column)
      for (const column of columns.filter(one => !isPatient(one))) await look(column)
      await Promise.all(columns.filter(isPatient).map(look))
      return columns.map(column => [column, seen.get(column)])
    }

    test.concurrent.each(played)('half of them %s', async row => {
      const columns = columnsOf(row).filter(column => played.indexOf(column) > played.indexOf(row))
      const seen = await outcomes(row, columns, column => [row, column])
      expect(seen).toEqual(columns.map(column => [column, expected(half, row, column)]))
    })

    test.concurrent.each(played)('fifteen of them %s', async row => {
      const columns = columnsOf(row)
      const seen = await outcomes(row, columns, column =>
        Array.from({ length: 16 }, (_, at) => (at === 3 ? column : row)),
      )
      expect(seen).toEqual(columns.map(column => [column, expected(fifteen, row, column)]))
    })
  })
}
