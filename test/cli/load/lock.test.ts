import { lastRun } from '../../support/state/stored-runs.js'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { stateHome } from '../../support/build.js'
import { silentCluster } from '../../support/servers/silent-cluster.js'
import { binary, folder, sluice, startSluice } from '../../support/command/sluice.js'
import { kill } from '../../support/command/kill.js'

// Each test starts processes.
interface Said {
  readonly failure: { readonly code: string; readonly exit: number; readonly evidence: Record<string, unknown> }
}

test('a second run of the same file does nothing, and says who is at it: exit code 6', { tags: 'long' }, async () => {
  await using work = await folder()
  await using cluster = await silentCluster()
  const state = join(work.path, 'state')
  const surroundings = { cwd: work.path, env: { SLUICE_STATE_DIR: state } }
  await writeFile(join(work.path, 'a.ndjson'), '{"n":1}\n')
  await writeFile(join(work.path, 'b.ndjson'), '{"n":2}\n')
  const into = ['--url', cluster.url, '--index', 'silent']

  const arrived = cluster.bulk()
  const first = startSluice(['ingest', 'a.ndjson', ...into], surroundings)
  await arrived
  const { requests } = cluster
  // Another command, whose inputs overlap with those of the first.
  const second = await sluice(['ingest', '*.ndjson', ...into, '--json'], surroundings)
  expect(second.code).toBe(6)
  const { failure } = JSON.parse(second.stdout) as Said
  const checkpoints = await readdir(join(state, 'runs'))
  expect(checkpoints).toHaveLength(1)
  const { run } = (await lastRun(state)).checkpoint
  expect(failure).toMatchObject({
    code: 'RUN_LOCKED',
    exit: 6,
    retry: 'later',
    evidence: { input: 'a.ndjson', index: 'silent', run, pid: first.child.pid, host: hostname() },
  })
  const { lock, since } = failure.evidence
  expect(second.stderr).toContain(
    `error: a.ndjson is being loaded into silent by run ${run}: process ${first.child.pid} on ${hostname()}, ` +
      `since ${String(since)} (lock ${String(lock)})\n`,
  )
  expect(existsSync(String(lock))).toBe(true)
  expect(second.stderr).toContain('remove the lock file that the message names')
  expect(cluster.requests).toBe(requests)
  expect(await readdir(work.path)).toEqual(['a.ndjson', 'b.ndjson', 'state'])

  await kill(first)
  const goesOn = cluster.bulk()
  const third = startSluice(['ingest', '*.ndjson', ...into], surroundings)
  await goesOn
  // A second signal ends a process at once. What it leaves keeps the next one from nothing, either.
  third.child.kill('SIGTERM')
  await third.printed('to stop now')
  third.child.kill('SIGTERM')
  expect(await third.ended).toMatchObject({ code: 130 })
  const goesOnAgain = cluster.bulk()
  const fourth = startSluice(['ingest', 'a.ndjson', ...into], surroundings)
  await goesOnAgain
  await kill(fourth)
})

/** Processes with numbers of their own, as a container has them. The first one of them is 1. */
const container = ['--fork', '--kill-child', '--pid', '--mount-proc']
const mayUnshare = spawnSync('unshare', [...container, 'true']).status === 0

describe.skipIf(!mayUnshare)(
  'in a container, as process 1 (skipped where the system lets nobody make one),',
  { tags: 'long' },
  () => {
    const started: ChildProcess[] = []
    afterEach(() => started.splice(0).forEach(child => child.kill('SIGKILL')))

    /** Starts Sluice there; resolves to its number out here as well. */
    async function startInside(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
      const path = { PATH: process.env['PATH'], XDG_STATE_HOME: stateHome }
      const child = spawn('unshare', [...container, process.execPath, binary, ...args], {
        cwd,
        env: { ...path, ...env },
      })
      started.push(child)
      child.stdout.resume()
      let stderr = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
      const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stderr }))
      const pid = await eventually(async () => {
        const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
        expect(children).toMatch(/^\d+ $/)
        return Number(children)
      })
      return { pid, ended, said: () => stderr }
    }

    test('a signal is heeded, and a second one, too', async () => {
      await using work = await folder()
      await using cluster = await silentCluster()
      await writeFile(join(work.path, 'a.ndjson'), '{"n":1}\n')
      const args = ['ingest', 'a.ndjson', '--url', cluster.url, '--index', 'silent']
      const arrived = cluster.bulk()
      const load = await startInside(args, work.path, {})
      await arrived
      process.kill(load.pid, 'SIGTERM')
      await eventually(() =>
        expect(load.said()).toContain('SIGTERM: finishing open requests. Send SIGTERM again to stop now'),
      )
      process.kill(load.pid, 'SIGTERM')
      expect((await load.ended).code).toBe(130)
    })

    test('two do not take each other for dead although both are process 1, and a killed one stands in nobody’s way', async () => {
      await using work = await folder()
      await using cluster = await silentCluster()
      const env = { SLUICE_STATE_DIR: join(work.path, 'state') }
      await writeFile(join(work.path, 'a.ndjson'), '{"n":1}\n')
      const args = ['ingest', 'a.ndjson', '--url', cluster.url, '--index', 'silent']
      const arrived = cluster.bulk()
      const first = await startInside(args, work.path, env)
      await arrived
      const second = await (await startInside(args, work.path, env)).ended
      expect(second).toEqual({ code: 6, stderr: expect.stringMatching(/: process 1 on .* \(lock /) as string })
      process.kill(first.pid, 'SIGKILL')
      await first.ended
      const goesOn = cluster.bulk()
      const third = await startInside(args, work.path, env)
      await goesOn
      process.kill(third.pid, 'SIGKILL')
      await third.ended
    })
  },
)
