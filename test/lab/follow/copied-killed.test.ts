// @module-tag long
/** Followed logs that are copied and emptied (copytruncate) while processes are killed: each line is stored once. */
import { appendFileSync, copyFileSync, existsSync, mkdirSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { setTimeout as after } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startLab } from '../../../src/lab/index.js'
import { kill } from '../../support/command/kill.js'
import { folder, startSluice } from '../../support/command/sluice.js'
import { until } from '../../support/eventually.js'
import { seeded } from '../../support/random/seeded.js'
import { rounds } from '../../support/rounds.js'

const FIRST = Number(process.env['SLUICE_SEED'] ?? 5)
const MOST_ROTATIONS = 5

test('a copy of a log that a killed process had read in part is read to its end', async () => {
  await using lab = await startLab()
  for (const seed of Array.from({ length: rounds(2, 20) }, (_, at) => FIRST + at)) {
    await using work = await folder()
    const random = seeded(seed)
    const index = `copied-${seed}`
    const log = `${work.path}/logs/app.ndjson`
    mkdirSync(`${work.path}/logs`)
    writeFileSync(log, '')
    let next = 0
    const write = () => {
      const lines = Array.from(
        { length: 1 + random.below(60) },
        (_, at) => `{"n":${next + at},"text":"a line of a log"}\n`,
      )
      next += lines.length
      appendFileSync(log, lines.join(''))
    }
    const rotate = () => {
      for (let age = MOST_ROTATIONS; age >= 1; age -= 1)
        if (existsSync(`${log}.${age}`)) renameSync(`${log}.${age}`, `${log}.${age + 1}`)
      copyFileSync(log, `${log}.1`)
      truncateSync(log)
    }
    const small = ['--batch-docs', '7', '--concurrency', '3', '--preflight-connections', '1', '--poll', '50ms']
    const args = ['ingest', log, '--index', index, '--follow', ...small, '--state-dir', `${work.path}/state`, '--json']
    const start = () => startSluice(args, { cwd: work.path, env: lab.env })
    const stored = async (documents: number) => await until(() => lab.control.count(index) >= documents)

    write()
    const first = start()
    await stored(next)
    await kill(first)
    write()
    if (random.chance(0.5)) {
      rotate()
      write()
    }
    const before = lab.control.count(index)
    const second = start()
    await stored(before + 1)
    write()
    await after(random.below(80))
    rotate()
    write()
    await stored(Math.min(next, before + 1 + random.below(30)))
    await kill(second)
    rotate()
    write()
    const last = start()
    await stored(next)
    last.child.kill('SIGTERM')
    const { code, stderr } = await last.ended
    expect(code, `seed ${seed}: ${stderr}`).toBe(0)
    const found = lab.control
      .ids(index)
      .map(id => (JSON.parse(String(lab.control.source(index, id))) as { n: number }).n)
    expect(
      found.sort((a, b) => a - b),
      `seed ${seed}`,
    ).toEqual(Array.from({ length: next }, (_, n) => n))
  }
})
