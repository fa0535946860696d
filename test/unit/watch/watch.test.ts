import { mkdir, readFile, writeFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { DoctorReport } from '../../../src/doctor/report.js'
import { runOnChange } from '../../../src/watch/on-change.js'
import type { Change } from '../../../src/watch/changes.js'
import { watch } from '../../../src/watch/watch.js'
import { SkippingClock } from '../../support/held-clock.js'
import { folder } from '../../support/sluice.js'

const refused = { code: 'EGRESS_NOT_ALLOWED', severity: 'error', message: 'refused', evidence: {}, advice: [] } as const
const found = (findings: readonly object[]) => ({ findings, facts: {}, ok: false }) as unknown as DoctorReport

/** Watches through these checks. Returns what changed with each. */
async function watched(stateDir: string, checks: readonly DoctorReport[]): Promise<Change[][]> {
  const left = [...checks]
  const all: Change[][] = []
  const end = new AbortController()
  await watch({
    everyMs: 60_000,
    stateDir,
    places: ['https://cluster'],
    clock: new SkippingClock(),
    now: () => 0,
    signal: end.signal,
    check: async () => await Promise.resolve(left.shift() ?? found([])),
    checked: async (_, changes) => {
      all.push([...changes])
      if (left.length === 0) end.abort()
      await Promise.resolve()
    },
  })
  return all
}

test('what was told is kept for the next process', async () => {
  await using work = await folder()
  const kinds = async (...checks: DoctorReport[]) =>
    (await watched(work.path, checks)).map(changes => changes.map(({ kind }) => kind))
  expect(await kinds(found([]), found([refused]))).toEqual([[], ['appeared']])
  expect(await kinds(found([refused]), found([]))).toEqual([[], ['gone']])
  const [file = ''] = await readdir(work.path)
  // A file that somebody has changed counts as none.
  for (const broken of ['{"version":1,"findings":null}', 'not json', '{"version":9}']) {
    await writeFile(join(work.path, file), broken)
    expect(await kinds(found([refused]))).toEqual([['appeared']])
  }
})

const change: Change = { at: '2026-11-24T00:00:00.000Z', kind: 'appeared', what: 'X', message: 'it; $(touch no)' }

test('the command of the user gets the change on its stdin, and no more than its environment', async () => {
  await using work = await folder()
  await mkdir(join(work.path, 'out'))
  const env = { PATH: process.env['PATH'], OUT: join(work.path, 'out/change') }
  expect(await runOnChange('cat > "$OUT"; env >> "$OUT"', change, env)).toBeUndefined()
  const written = await readFile(env.OUT, 'utf8')
  expect(JSON.parse(written.split('\n')[0] ?? '')).toEqual(change)
  expect(written).not.toContain('HOME=')
})

test('a command that fails, hangs or reads nothing is a problem of its own', async () => {
  const env = { PATH: process.env['PATH'] }
  expect(await runOnChange('exit 3', change, env)).toBe('it ended with exit code 3')
  expect(await runOnChange('sleep 60', change, env, 50)).toBe('it took longer than 0.05 s')
  expect(await runOnChange('exec 0<&-; exit 0', { ...change, message: 'x'.repeat(1_000_000) }, env)).toBeUndefined()
})
