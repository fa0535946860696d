import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  forgetTimeline,
  keepTimeline,
  pruneTimelines,
  recallTimeline,
} from '../../../../src/features/report/kept-timeline.js'
import { Timeline } from '../../../../src/features/report/timeline.js'

let stateDir: string
beforeEach(async () => void (stateDir = await mkdtemp(join(tmpdir(), 'timelines-'))))
afterEach(async () => await rm(stateDir, { recursive: true }))

function sampled() {
  const timeline = new Timeline('2026-11-21T10:00:00.000Z')
  timeline.sent(10, 1, 500)
  timeline.retried(20, 'CLUSTER_OVERLOADED')
  timeline.answered(600, 0, 590, false)
  timeline.blocked(700, 'EGRESS_NOT_ALLOWED')
  return { samples: timeline.samples(800), limits: { concurrency: 16, batchBytes: 5_000_000, learntConcurrency: 4 } }
}

test('a time line is read as it was kept, and is gone when it is forgotten', async () => {
  const kept = sampled()
  await keepTimeline(stateDir, 'run', kept)
  expect(await recallTimeline(stateDir, 'run')).toEqual(kept)
  await forgetTimeline(stateDir, 'run')
  expect(await recallTimeline(stateDir, 'run')).toBeUndefined()
  await forgetTimeline(stateDir, 'run')
})

test.each([
  ['no JSON', 'x'],
  ['another version', '{"version":2,"samples":{},"limits":{}}'],
  ['no samples', '{"version":1}'],
  [
    'buckets without numbers',
    '{"version":1,"limits":{},"samples":{"bucketMs":1,"lengthMs":1,"moreWaits":0,"buckets":[["<b>"]],"waits":[],"processes":[]}}',
  ],
  [
    'waits that are none',
    '{"version":1,"limits":{},"samples":{"bucketMs":1,"lengthMs":1,"moreWaits":0,"buckets":[],"waits":[7],"processes":[]}}',
  ],
  [
    'limits that are none',
    '{"version":1,"limits":{"concurrency":"<b>"},"samples":{"bucketMs":1,"lengthMs":1,"moreWaits":0,"buckets":[],"waits":[],"processes":[]}}',
  ],
])('a broken time line is none: %s', async (_, text) => {
  await mkdir(join(stateDir, 'timelines'))
  await writeFile(join(stateDir, 'timelines', 'run.json'), text)
  expect(await recallTimeline(stateDir, 'run')).toBeUndefined()
})

test('the oldest time lines are removed beyond a number', async () => {
  const kept = sampled()
  for (let day = 1; day <= 12; day += 1) {
    await keepTimeline(stateDir, `run-${day}`, kept)
    await utimes(join(stateDir, 'timelines', `run-${day}.json`), day, day)
  }
  await pruneTimelines(stateDir, 12)
  expect(await readdir(join(stateDir, 'timelines'))).toHaveLength(12)
  await pruneTimelines(stateDir, 10)
  const left = await readdir(join(stateDir, 'timelines'))
  expect(left).toHaveLength(9)
  expect(left).not.toContain('run-3.json')
  expect(left).toContain('run-12.json')
})
