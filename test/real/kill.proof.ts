import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Receipt } from '../../src/index.js'
import { startSluice } from '../support/command/sluice.js'
import { killWhen } from '../support/command/kill.js'
import type { RealWorld } from '../contracts/real-world.js'
import { type Seeded, seeded } from '../support/random/seeded.js'
import { describeOnRealServers } from './on-real-servers.js'
import { compare, environmentOf } from './real-load.js'

const KILLS = Number(process.env.KILLS ?? 100)
const DOCUMENTS = Number(process.env.DOCUMENTS ?? 300_000)
const SEED = Number(process.env.SEED ?? 1)

let folder: string
let file: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-kills-'))
  file = join(folder, 'documents.ndjson')
  const out = createWriteStream(file)
  for (let n = 0; n < DOCUMENTS; n += 1) {
    if (!out.write(`${lineOf(n)}\n`)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
})
afterAll(() => rmSync(folder, { recursive: true }))

const lineOf = (n: number) => JSON.stringify({ n, text: `document ${n} `.repeat(1 + (n % 30)) })

describeOnRealServers({ major: 9, heap: '2g' }, world => {
  test(`loads killed ${KILLS} times and gone on with lose and double nothing`, async () => {
    await killOften('killed', seeded(SEED), () => [])
  })

  test(`named runs killed ${KILLS} times, their state deleted each time, lose and double nothing`, async () => {
    const forget = (state: string) => rmSync(state, { recursive: true, force: true })
    await killOften('killed-named', seeded(SEED + 1), round => ['--run-id', `nightly-${round}`], forget)
  })

  /** As many loads as it takes, each into an index of its own. */
  async function killOften(
    name: string,
    random: Seeded,
    optionsOf: (round: number) => string[],
    afterKill: (state: string) => void = () => undefined,
  ): Promise<void> {
    let kills = 0
    for (let round = 1; kills < KILLS; round += 1) {
      const index = `${name}-${round}`
      const state = join(folder, `${index}-state`)
      const options = ['--index', index, '--state-dir', state, ...optionsOf(round)]
      const load = await killAndFinish(world(), random, KILLS - kills, options, () => afterKill(state))
      kills += load.kills
      await expectWhole(world(), index, load)
    }
    expect(kills).toBe(KILLS)
  }
})

interface Load {
  readonly receipt: Receipt
  readonly kills: number
}

/** Starts the command, kills it at some instant and starts it again, at most so often; then leaves it alone. */
async function killAndFinish(
  world: RealWorld,
  random: Seeded,
  most: number,
  options: readonly string[],
  afterKill: () => void,
): Promise<Load> {
  const env = environmentOf(world)
  for (let kills = 0; ;) {
    const running = startSluice(['ingest', file, ...options, '--batch-bytes', '500kb', '--json'], { cwd: folder, env })
    // Half of them early: in the preflight, at the first checkpoint, with the first requests.
    const until = performance.now() + (kills < most ? random.below(random.chance(0.5) ? 900 : 3500) : Infinity)
    const ended = await killWhen(running, () => performance.now() >= until)
    if (ended === undefined) {
      kills += 1
      afterKill()
      continue
    }
    const { code, stdout, stderr } = ended
    expect(code, stderr).toBe(0)
    return { kills, receipt: JSON.parse(stdout) as Receipt }
  }
}

/** Every document is there, once, as it was written, and the receipt says so. */
async function expectWhole(world: RealWorld, index: string, { receipt, kills }: Load): Promise<void> {
  const { created, duplicate } = receipt
  expect(receipt).toMatchObject({ status: 'finished', read: DOCUMENTS, rejected: 0, skipped: 0, unsent: 0, unknown: 0 })
  expect(created + duplicate).toBe(DOCUMENTS)
  const { missing, doubled, altered } = await compare(world, index, DOCUMENTS, lineOf)
  console.log(
    `${index}: ${kills} kills, ${DOCUMENTS} documents, ${created} created, ${duplicate} duplicate; missing ${missing}, doubled ${doubled}, altered ${altered}`,
  )
  expect({ missing, doubled, altered }).toEqual({ missing: 0, doubled: 0, altered: 0 })
}
