// @module-tag search
/** `sluice pull --output FILE`, killed. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startLab } from '../../../src/lab/index.js'
import { folder } from '../../support/command/sluice.js'
import { seeded } from '../../support/random/seeded.js'
import { killPulls } from './pull-kills.js'

const ROWS = 3000

test('killed again and again while rows are inserted, updated and deleted: each row once', async () => {
  await using lab = await startLab()
  await using work = await folder()
  lab.control.servicenow.seed('incident', ROWS)
  lab.control.servicenow.plant({ slow: { api: 'table', delayMs: 20 } })
  const file = join(work.path, 'rows.ndjson')
  const { killedIn, wrong, said } = await killPulls({
    lab,
    random: seeded(7),
    kills: 12,
    changes: 120,
    pages: ROWS / 100,
    file,
    args: ['pull', 'servicenow:incident', '--output', 'rows.ndjson', '--page-size', '100'],
    cwd: work.path,
    env: { ...lab.env, SLUICE_SERVICENOW_CA: lab.line.cluster.caFile, SLUICE_PREFLIGHT_CONNECTIONS: '1' },
  })
  expect(wrong).toEqual({ missing: 0, doubled: 0, foreign: 0, stale: 0, tooMany: 0 })
  expect(killedIn.whole).toBeGreaterThan(3)
  expect(killedIn.changes).toBeGreaterThan(1)
  expect(said).toMatch(/^[\d,]+ rows of incident in rows\.ndjson \([\d,]+ of them from an earlier run\)/)
  expect(await readdir(work.path)).toEqual(['rows.ndjson'])
})
