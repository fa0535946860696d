// @module-tag long
/** Three kills. `npm run proof:serve` has many, also on real servers. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { type Folder, folder } from '../../support/command/sluice.js'
import { killServing, tally } from './serve-kills.js'

let lab: Lab
let work: Folder
beforeEach(async () => {
  lab = await startLab()
  work = await folder()
})
afterEach(async () => {
  await lab.close()
  await work[Symbol.asyncDispose]()
})

test('a receiver that is killed under load has every document that it acknowledged in the index, once', async () => {
  const index = 'served'
  const killed = await killServing({
    env: lab.env,
    index,
    folder: work.path,
    kills: 3,
    callers: 4,
    seed: 3,
    longestMs: 1500,
    urlOf: port => {
      lab.control.inbound.forwardTo(port)
      return lab.line.inbound.url
    },
  })
  expect({ code: killed.code, status: killed.receipt.status }, killed.stderr).toEqual({ code: 0, status: 'finished' })
  const documents = lab.control.ids(index).map(id => String(lab.control.source(index, id)))
  const { acknowledged, whole: _whole, none: _none, ...wrong } = tally(killed.posted, documents)
  expect(wrong).toEqual({ missing: 0, doubled: 0, altered: 0, torn: 0 })
  expect(acknowledged).toBeGreaterThan(100)
  expect(killed.receipt).toMatchObject({ rejected: 0, unsent: 0, unknown: 0, waiting: { documents: 0, bytes: 0 } })
})
