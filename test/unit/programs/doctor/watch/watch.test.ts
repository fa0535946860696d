import { writeFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { DoctorReport } from '../../../../../src/programs/doctor/report.js'
import type { Change } from '../../../../../src/programs/doctor/watch/changes.js'
import { watch } from '../../../../../src/programs/doctor/watch/watch.js'
import { SkippingClock } from '../../../../support/load/held-clock.js'
import { folder } from '../../../../support/command/sluice.js'

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

test('reported findings are kept for the next process', async () => {
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
