/**
 * Processes with --follow that are killed along a chain of rotations by the genuine logrotate: each line is stored once, and no gap is
 * named. KILLS: how many for each configuration (default 5). SEED: of the random moments (default 1).
 */
import { execFileSync } from 'node:child_process'
import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { setTimeout as after } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { kill } from '../support/command/kill.js'
import { startSluice } from '../support/command/sluice.js'
import { until } from '../support/eventually.js'
import { index, lab, path, shareLab } from '../support/lab/shared-lab.js'
import { seeded } from '../support/random/seeded.js'
import { findParts } from './servers/parts.js'

shareLab()

const KILLS = Number(process.env['KILLS'] ?? 5)
const SEED = Number(process.env['SEED'] ?? 1)

const configurations = [
  ['compress', 'rotate 50\n compress'],
  ['compress, delaycompress', 'rotate 50\n compress\n delaycompress'],
  ['dateext, compress', 'rotate 50\n compress\n dateext\n dateformat -%Y%m%d-%s'],
  ['copytruncate', 'rotate 50\n copytruncate'],
] as const

const log = () => path('logs/app.ndjson')

async function rotate(configuration: string): Promise<void> {
  const text = `${path('logs')}/app.ndjson {\n su root root\n create 0644 root root\n ${configuration}\n}\n`
  await writeFile(path('logrotate.conf'), text)
  const { logrotate } = findParts()
  if (logrotate === undefined) throw new Error('logrotate is not installed')
  execFileSync(logrotate, ['-f', '-s', path('logrotate.state'), path('logrotate.conf')], { cwd: path('.') })
  // A name with the time has one second.
  if (configuration.includes('%s')) await after(1100)
}

function start() {
  const small = ['--batch-docs', '7', '--concurrency', '3', '--preflight-connections', '1', '--poll', '50ms']
  const args = ['ingest', log(), '--index', index, '--follow', ...small, '--state-dir', path('state'), '--json']
  return startSluice(args, { cwd: path('logs'), env: lab.env })
}

test.each(configurations)('killed along a chain of rotations with %s', async (name, configuration) => {
  const random = seeded(SEED)
  await mkdir(path('logs'))
  await writeFile(log(), '')
  let next = 0
  let rotations = 0
  const written: string[] = []
  const write = async () => {
    const from = next
    next += 1 + random.below(60)
    written.push(`lines ${from} to ${next - 1} before rotation ${rotations + 1}`)
    const lines = Array.from({ length: next - from }, (_, n) => `{"n":${from + n},"text":"a line of a log"}\n`)
    await appendFile(log(), lines.join(''))
  }
  const turn = async () => {
    await write()
    await rotate(configuration)
    rotations += 1
    await write()
  }
  await write()
  // Sluice finds only files that came after the first one that it knows.
  const first = start()
  await until(() => lab.control.count(index) >= next)
  await kill(first)
  for (let kills = 0; kills < KILLS; kills += 1) {
    const running = start()
    const life = { isOver: false }
    void running.ended.finally(() => (life.isOver = true))
    const wanted = lab.control.count(index) + random.below(40)
    while (!life.isOver && lab.control.count(index) < wanted) {
      // A slow machine still gets to the end of what is written.
      if (next < lab.control.count(index) + 400) await (random.chance(0.3) ? turn() : write())
      await after(random.below(60))
    }
    await turn()
    await after(random.below(200))
    await kill(running)
    written.push(`kill ${kills + 1}`)
    // Some files come and go while nothing runs.
    for (let missed = random.below(3); missed > 0; missed -= 1) await turn()
  }
  const last = start()
  // What is missing then is shown below.
  await Promise.race([last.ended, until(() => lab.control.count(index) >= next).catch(() => undefined)])
  last.child.kill('SIGTERM')
  const { code, stdout, stderr } = await last.ended
  const ids = lab.control.ids(index)
  const found = ids.map(id => (JSON.parse(String(lab.control.source(index, id))) as { n: number }).n)
  console.log(`${name}: ${KILLS} kills, ${rotations} rotations, ${next} lines, ${found.length} stored`)
  const missing = Array.from({ length: next }, (_, n) => n).filter(n => !found.includes(n))
  const twice = found.filter((n, at) => found.indexOf(n) !== at)
  expect({ missing, twice, stored: found.length }, `${written.join('\n')}\n${stderr}`).toEqual({
    missing: [],
    twice: [],
    stored: next,
  })
  expect({ code, receipt: JSON.parse(stdout) as object }, stderr).toMatchObject({
    code: 0,
    receipt: { status: 'finished' },
  })
  expect(JSON.parse(stdout)).not.toHaveProperty('gaps')
})
