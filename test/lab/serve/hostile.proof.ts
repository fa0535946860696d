/** A receiver under hostile requests. Honest callers must not notice: each answer within a second, each document stored once. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { ServeReceipt } from '../../../src/index.js'
import { startLab } from '../../../src/lab/index.js'
import { folder, startSluice } from '../../support/command/sluice.js'
import { attack } from './hostile-callers.js'
import { callHonestly } from './honest-callers.js'

const MINUTES = Number(process.env.MINUTES ?? 10)
const MOST_BYTES = 150e6
const index = 'events'
const token = 'a-token-of-the-lab-and-nothing-else'

test(`${MINUTES} minutes of hostile requests hinder no honest caller`, async () => {
  await using work = await folder()
  const lab = await startLab()
  const running = startSluice(
    ['serve', '--index', index, '--listen', '127.0.0.1:0', '--preflight-connections', '1', '--json'],
    { cwd: work.path, env: { ...lab.env, SLUICE_STATE_DIR: work.path, SLUICE_SERVE_TOKEN: token } },
  )
  let log = ''
  running.child.stderr?.on('data', (text: string) => (log += text))
  await running.printed('listening on ')
  const port = Number(/listening on \S+:(\d+)\//.exec(log)?.[1])

  const over = new AbortController()
  const attacking = attack({ port, token, signal: over.signal })
  const stop = callHonestly(port, token)
  await new Promise(resolve => setTimeout(resolve, MINUTES * 60_000))
  const honest = await stop()
  over.abort()
  const harm = await attacking
  const peak = peakBytes(running.child.pid)
  running.child.kill('SIGTERM')
  const { code, stdout, stderr } = await running.ended
  const receipt = JSON.parse(stdout) as ServeReceipt
  const stored = lab.control
    .ids(index)
    .map(id => String(lab.control.source(index, id)))
    .filter(text => text.includes('honest'))
  await lab.close()

  for (const [name, answers] of Object.entries(harm)) console.log(`${name}: ${JSON.stringify(answers)}`)
  console.log(
    `honest: ${honest.posted} documents, answers ${JSON.stringify(honest.answers)}; median ${honest.medianMs} ms, ` +
      `99 % within ${honest.p99Ms} ms, slowest ${honest.slowestMs} ms, slower than a second: ${honest.slow}; an idle server beside it: slowest ${honest.idleMs} ms; ` +
      `in the index ${stored.length}; peak memory ${(peak / 1e6).toFixed(0)} MB`,
  )
  console.log(`accepted ${receipt.accepted}, created ${receipt.created}, answers ${JSON.stringify(receipt.answers)}`)
  expect(code, stderr).toBe(0)
  expect(Object.keys(honest.answers)).toEqual(['202'])
  expect(honest.slow).toBe(0)
  expect([stored.length, new Set(stored).size]).toEqual([honest.posted, honest.posted])
  expect(receipt).toMatchObject({ created: receipt.accepted, rejected: 0, unsent: 0, unknown: 0 })
  expect(peak).toBeLessThanOrEqual(MOST_BYTES)
})

/** The most resident memory that the process ever had. */
function peakBytes(pid: number | undefined): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}
