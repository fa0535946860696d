// @module-tag long
/** Loads that are killed at random instants while somebody deletes their index, and makes it anew. */
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connect } from '../../../src/index.js'
import { startLab } from '../../../src/lab/index.js'
import { killWhen } from '../../support/command/kill.js'
import { folder, startSluice } from '../../support/command/sluice.js'
import { seeded } from '../../support/random/seeded.js'
import { rounds } from '../../support/rounds.js'
import { lines } from '../../support/lab/run-world.js'

const DOCUMENTS = 3000

test('nothing is lost if the index is deleted while its load is killed and started again', async () => {
  await using lab = await startLab()
  const { url, apiKey, caFile } = lab.line.cluster
  const target = { url, apiKey, ca: readFileSync(caFile) }
  await using direct = await connect({ target, proxy: lab.line.proxy.http, preflightConnections: 1 })
  for (const seed of Array.from({ length: rounds(3, 20) }, (_, at) => at)) {
    const random = seeded(seed)
    await using work = await folder()
    await writeFile(join(work.path, 'a.ndjson'), lines(DOCUMENTS))
    const index = `made-anew-${seed}`
    const args = [
      'ingest',
      'a.ndjson',
      '--index',
      index,
      '--batch-docs',
      '50',
      '--concurrency',
      '3',
      '--state-dir',
      'state',
    ]
    const options = { cwd: work.path, env: lab.env }
    const start = () => startSluice([...args, '--preflight-connections', '1', '--json'], options)
    lab.control.plant({ latencyMs: 3 })
    for (let kill = 0; kill < 3; kill += 1) {
      const [deletedAt, killedAt] = [random.below(600), random.below(1200)]
      const came = lab.control.count(index)
      let isDeleted = false
      await killWhen(start(), async () => {
        const count = lab.control.count(index)
        if (!isDeleted && count >= deletedAt) {
          await direct.client.indices.delete({ index, ignore_unavailable: true })
          isDeleted = true
        }
        return isDeleted && count >= Math.min(DOCUMENTS - 1, came + killedAt)
      })
      if (random.real() < 0.5) await direct.client.indices.delete({ index, ignore_unavailable: true })
    }
    lab.control.heal()
    const last = await start().ended
    expect(last.code, `seed ${seed}: ${last.stderr}`).toBe(0)
    expect(lab.control.count(index), `seed ${seed}`).toBe(DOCUMENTS)
  }
})
