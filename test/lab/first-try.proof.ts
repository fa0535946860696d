import { expect, test } from 'vitest'
import { startLabWorld } from '../contracts/lab-world.js'
import { summary, tryAll } from '../first-try/first-tries.js'
import { sluiceHere } from '../support/command/in-process.js'

test('first tries load into the lab as a person expects, or name the command that does', async () => {
  await using world = await startLabWorld()
  // The lab is for every day: commands run in this process, which is faster.
  const { rows } = await tryAll(world, sluiceHere)
  const counts = summary(rows)
  console.log(JSON.stringify(counts))
  for (const { loads, asks, wrong } of Object.values(counts)) {
    expect(wrong).toBe(0)
    expect(loads + asks).toBeGreaterThanOrEqual(rows.length * 0.98)
  }
})
