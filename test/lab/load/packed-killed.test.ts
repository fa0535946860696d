// @module-tag long
/** Loads that are killed at random instants while their log is rotated and compressed: each line is stored once. */
import { appendFileSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { startLab } from '../../../src/lab/index.js'
import { killWhen } from '../../support/command/kill.js'
import { folder, startSluice } from '../../support/command/sluice.js'
import { type Seeded, seeded } from '../../support/random/seeded.js'
import { rounds } from '../../support/rounds.js'

const NIGHTS = 3
/** Lines of each night. */
const LINES = 400

/** Rotates as logrotate does: `app.log` becomes `app.log.1`, older ones become older, and are compressed at once or a night later. */
function rotate(work: string, random: Seeded): void {
  const delays = random.real() < 0.5
  for (let age = NIGHTS; age >= 1; age -= 1)
    for (const end of ['', '.gz'])
      if (readdirSync(work).includes(`app.log.${age}${end}`))
        renameSync(join(work, `app.log.${age}${end}`), join(work, `app.log.${age + 1}${end}`))
  renameSync(join(work, 'app.log'), join(work, 'app.log.1'))
  writeFileSync(join(work, 'app.log'), '')
  for (const name of readdirSync(work).filter(one => /^app\.log\.\d+$/.test(one))) {
    if (delays && name === 'app.log.1') continue
    writeFileSync(join(work, `${name}.gz`), gzipSync(readFileSync(join(work, name))))
    rmSync(join(work, name))
  }
}

test('each line is stored once, whatever the instant of a kill, of a rotation and of its compression', async () => {
  await using lab = await startLab()
  lab.control.plant({ capacity: { inFlight: 100, tookMs: 5 } })
  let kills = 0
  for (const seed of Array.from({ length: rounds(3, 20) }, (_, at) => at)) {
    const random = seeded(seed)
    await using work = await folder()
    const index = `packed-${seed}`
    const args = ['ingest', 'app.log*', '--index', index, '--batch-docs', '20', '--concurrency', '2', '--json']
    const start = () => startSluice([...args, '--state-dir', 'state'], { cwd: work.path, env: lab.env })
    let written = 0
    writeFileSync(join(work.path, 'app.log'), '')
    for (let night = 0; night < NIGHTS; night += 1) {
      const lines = Array.from({ length: LINES }, (_, at) => `{"n":${written + at}}\n`)
      written += LINES
      appendFileSync(join(work.path, 'app.log'), lines.join(''))
      for (let tries = random.below(3); tries > 0; tries -= 1) {
        const wanted = lab.control.count(index) + random.below(LINES)
        if ((await killWhen(start(), () => lab.control.count(index) >= wanted)) === undefined) kills += 1
      }
      if (random.real() < 0.5) expect((await start().ended).code, `seed ${seed}`).toBe(0)
      rotate(work.path, random)
    }
    const last = await start().ended
    expect(last.code, `seed ${seed}: ${last.stderr}`).toBe(0)
    const stored = lab.control
      .ids(index)
      .map(id => (JSON.parse(String(lab.control.source(index, id))) as { n: number }).n)
    expect(
      stored.sort((a, b) => a - b),
      `seed ${seed}`,
    ).toEqual(Array.from({ length: written }, (_, n) => n))
  }
  expect(kills).toBeGreaterThan(0)
})
