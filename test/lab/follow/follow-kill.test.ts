// @module-tag search
/** Processes that follow files and are killed at random instants: the same command continues, and each line is stored once. */
import { appendFile, mkdir, rename, truncate, writeFile } from 'node:fs/promises'
import { setTimeout as after } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ingest, type IngestEvent } from '../../../src/index.js'
import { rounds } from '../../support/rounds.js'
import { until } from '../../support/eventually.js'
import { seeded } from '../../support/random/seeded.js'
import { index, lab, path, shareLab, smallBatches } from '../../support/lab/shared-lab.js'
import { startSluice } from '../../support/command/sluice.js'
import { kill } from '../../support/command/kill.js'
import { codeOf } from '../../support/lab/run-world.js'
import { follow, linesOf, log, numbers, upTo } from './followed.js'

shareLab()

const KILLS = rounds(4, 60)

function start() {
  const small = ['--batch-docs', '7', '--concurrency', '3', '--preflight-connections', '1', '--poll', '20ms']
  const args = ['ingest', path('logs/*.ndjson*'), '--index', index, '--follow', ...small]
  return startSluice([...args, '--state-dir', path('state'), '--json'], { cwd: path('logs'), env: lab.env })
}

test('killed again and again while files grow and rotate, each line is stored once', async () => {
  const random = seeded(11)
  await mkdir(path('logs'))
  let next = 0
  const grow = async () => {
    const from = next
    next += 1 + random.below(40)
    const text = linesOf(from, next)
    const cut = random.below(text.length)
    await appendFile(log(), text.slice(0, cut))
    await appendFile(log(), text.slice(cut))
  }
  for (let kills = 0; kills < KILLS; kills += 1) {
    const running = start()
    const wanted = lab.control.count(index) + random.below(60)
    const life = { isOver: false }
    void running.ended.finally(() => (life.isOver = true))
    while (!life.isOver && lab.control.count(index) < wanted) {
      // A slow machine still gets to the end of what is written.
      if (next < lab.control.count(index) + 400) {
        await grow()
        if (random.chance(0.1)) {
          await rename(`${log()}.1`, path(`logs/old-${next}.ndjson`)).catch(() => undefined)
          await rename(log(), `${log()}.1`)
        }
      }
      await after(random.below(30))
    }
    await after(random.below(30))
    await kill(running)
    await grow()
  }
  const last = start()
  // What is missing then is shown below.
  await Promise.race([last.ended, until(() => lab.control.count(index) >= next).catch(() => undefined)])
  last.child.kill('SIGTERM')
  const { code, stdout, stderr } = await last.ended
  const stored = numbers()
  const missing = upTo(next).filter(n => !stored.includes(n))
  expect({ missing, stored: stored.length }, stderr).toEqual({ missing: [], stored: next })
  expect(code, stderr).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ status: 'finished', rejected: 0, unknown: 0 })
})

test('a file that was interrupted and truncated before the next start is a new input, and this is said', async () => {
  await mkdir(path('logs'))
  await writeFile(log(), linesOf(0, 400))
  const controller = new AbortController()
  const onEvent = (event: IngestEvent) => {
    if (event.type === 'progress' && event.counts.created > 50) controller.abort('test')
  }
  const { signal } = controller
  expect(await codeOf(ingest({ source: log(), ...smallBatches(), signal, onEvent }))).toContain('RUN_INTERRUPTED')
  const before = lab.control.count(index)
  await truncate(log())
  await appendFile(log(), linesOf(400, 410))
  const following = follow(log())
  await following.stored(before + 10)
  expect(await following.stop()).toMatchObject({ status: 'finished', exit: 0, rejected: 0 })
  expect(following.said.join()).toContain('Sluice reads it from its start, as a new input')
  expect(numbers().slice(-10)).toEqual(upTo(410).slice(400))
})
