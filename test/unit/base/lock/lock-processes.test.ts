// @module-tag long
/** Locks that real processes want at once. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lockChild } from '../../../support/state/lock-child.js'
import { rounds } from '../../../support/rounds.js'

let work: string
let state: string
beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'lock-'))
  state = join(work, 'state')
  await writeFile(path('a'), '{}\n')
})
afterEach(async () => await rm(work, { recursive: true }))

const path = (name: string) => join(work, `${name}.ndjson`)
const locksFolder = () => join(state, 'locks')

test('of many processes that want the lock of a killed one, one gets it', async () => {
  const children = await Promise.all(Array.from({ length: 5 }, async () => await lockChild(state, 'logs', [path('a')])))
  await using _ = { [Symbol.asyncDispose]: async () => void (await Promise.all(children.map(child => child.kill()))) }
  let alive = children
  while (alive.length > 0) {
    const answers = await Promise.all(alive.map(async child => ({ child, answer: await child.ask('take') })))
    const winners = answers.filter(({ answer }) => answer.code === undefined)
    expect(winners).toHaveLength(1)
    const refused = answers.filter(({ answer }) => answer.code !== undefined)
    expect(refused.map(({ answer }) => answer.code)).toEqual(refused.map(() => 'RUN_LOCKED'))
    await winners[0]?.child.kill()
    alive = refused.map(({ child }) => child)
  }
})

test('of eight processes with sets that overlap, no two have one input, and each file is kept by one at most', async () => {
  const names = Array.from({ length: 16 }, (_, n) => `f${n}`)
  for (const name of names) await writeFile(path(name), '{}\n')
  const sets = Array.from({ length: 8 }, (_, n) => Array.from({ length: 4 }, (__, m) => names[(2 * n + m) % 16] ?? ''))
  const children = await Promise.all(sets.map(async set => await lockChild(state, 'logs', set.map(path))))
  await using _ = { [Symbol.asyncDispose]: async () => void (await Promise.all(children.map(child => child.kill()))) }
  for (let round = 0; round < rounds(5, 25); round += 1) {
    const answers = await Promise.all(children.map(async child => await child.ask('take')))
    const winners = answers.flatMap(({ code }, n) => (code === undefined ? [n] : []))
    expect(answers.filter(({ code }) => code !== undefined && code !== 'RUN_LOCKED')).toEqual([])
    const kept = winners.flatMap(n => sets[n] ?? [])
    expect(new Set(kept).size).toBe(kept.length)
    // A refused process met one that has one of its inputs.
    for (const [n, { code }] of answers.entries())
      if (code !== undefined) expect(sets[n]?.some(name => kept.includes(name))).toBe(true)
    for (const n of winners) await children[n]?.ask('release')
    expect(await readdir(locksFolder())).toEqual([])
  }
})
