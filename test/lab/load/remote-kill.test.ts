// @module-tag search
/** Processes that are killed while they read an input on a web server: the same command continues, and each document is stored once. */
import { setTimeout as after } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { ObjectServer } from '../../support/servers/object-server.js'
import { index, lab, path, shareLab } from '../../support/lab/shared-lab.js'
import { startSluice } from '../../support/command/sluice.js'
import { killWhen } from '../../support/command/kill.js'

shareLab()

const DOCUMENTS = 600
/** Longer than two parts of an object. */
const text = Array.from({ length: DOCUMENTS }, (_, n) => `{"n":${n},"fill":"${'x'.repeat(16_000)}"}\n`).join('')

function start(url: string) {
  const small = ['--batch-docs', '20', '--concurrency', '2', '--preflight-connections', '1']
  const args = ['ingest', url, '--index', index, ...small, '--state-dir', path('state'), '--json']
  return startSluice(args, { cwd: path('.'), env: lab.env })
}

function stored(): number[] {
  const documents = lab.control.ids(index).map(id => String(lab.control.source(index, id)))
  return documents.map(one => (JSON.parse(one) as { n: number }).n).toSorted((a, b) => a - b)
}

const cases = [
  { name: 'plain', file: 'a.ndjson', bytes: Buffer.from(text), isCutShort: true },
  { name: 'gzip', file: 'a.ndjson.gz', bytes: gzipSync(text, { level: 1 }), isCutShort: false },
] as const

test.each(cases)('an input that is $name', async ({ file, bytes, isCutShort }) => {
  await using server = await ObjectServer.start()
  server.put(file, bytes)
  for (const wanted of [60, 250, 400]) {
    await killWhen(start(server.url(file)), async () => {
      const isThere = lab.control.count(index) >= wanted
      if (isThere) await after(10)
      return isThere
    })
  }
  const before = lab.control.count(index)
  expect(before).toBeGreaterThan(0)
  server.asked = []
  const { code, stdout } = await start(server.url(file)).ended
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ status: 'finished', read: DOCUMENTS, rejected: 0, unknown: 0 })
  expect(stored()).toEqual(Array.from({ length: DOCUMENTS }, (_, n) => n))
  // Compressed bytes are decoded from their start.
  const starts = server.ranges(file).map(range => Number(/^bytes=(\d+)-/.exec(range ?? '')?.[1] ?? 0))
  if (isCutShort) expect(Math.max(...starts)).toBeGreaterThan(0)
  if (isCutShort) expect(server.ranges(file).filter(range => range !== 'bytes=0-255')).not.toContain('bytes=0-4194303')
})
