/** Files that others made, loaded by the built command into Elasticsearch as a newcomer would, hold what a person sees in them. */
import { expect, test } from 'vitest'
import { summary, tryAll } from '../first-try/first-tries.js'
import { describeOnRealServers } from './on-real-servers.js'

describeOnRealServers({ major: 9 }, world => {
  test('first tries load as a person expects, or name the command that does', async () => {
    const { rows, missing } = await tryAll(world())
    const counts = summary(rows)
    console.log(JSON.stringify(counts))
    if (missing.length === 0 && process.env['FILES'] === undefined) expect(rows.length).toBeGreaterThanOrEqual(200)
    for (const { loads, asks, wrong } of Object.values(counts)) {
      expect(wrong).toBe(0)
      expect(loads + asks).toBeGreaterThanOrEqual(rows.length * 0.98)
    }
  })
})
