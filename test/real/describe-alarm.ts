/** A run on real servers, and its incident: through the same real proxy, at the lab's platform, which sees where that leaves from. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { type AlarmOptions, ingest, reportRun } from '../../src/index.js'
import { startLab } from '../../src/lab/index.js'
import { newIndex, through } from '../contracts/options.js'
import type { RealWorld } from '../contracts/real-world.js'

export function describeAlarm(world: () => RealWorld): void {
  test.each(['http', 'socks5s'] as const)(
    'a run that the filter refuses opens an incident through the proxy (%s), and the next one resolves it',
    async kind => {
      await using lab = await startLab()
      const { url, username, password } = lab.line.servicenow
      const way = through(world(), world().proxy[kind])
      const alarm: AlarmOptions = {
        servicenow: { url, username, password, ca: await readFile(lab.line.cluster.caFile) },
        proxy: way.proxy,
        job: 'nightly',
      }
      const load = async () => await ingest({ ...way, source: new Set([{ n: 1 }]), index: newIndex('alarm') })

      await world().register('none')
      const refused = await load().catch((error: unknown) => error)
      await world().register('both')
      expect((await reportRun({ error: refused }, alarm)).did).toBe('opened')
      const { did, incidents } = await reportRun({ receipt: await load() }, alarm)
      expect({ did, count: incidents.length }).toEqual({ did: 'resolved', count: 1 })

      const { servicenow } = lab.control
      expect(servicenow.rows('incident')).toMatchObject([
        { state: '6', short_description: expect.stringMatching(/^Sluice: nightly: EGRESS_NOT_ALLOWED: /) as string },
      ])
      const from = new Set(servicenow.requests().map(request => request.from))
      expect([...from].filter(address => !world().staticIps.includes(address))).toEqual([])
    },
  )
}
