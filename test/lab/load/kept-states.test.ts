/**
 * The state folder of each released version since 1.0.0-rc.1, as `npm run state` kept it: `customers.ndjson` was loaded, and the load of `orders.ndjson` was
 * killed while a request had no answer.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { knownRuns } from '../../../src/run/state/runs/runs.js'
import { restoreWorld, storedNumbers } from '../../support/state/restored.js'

const root = new URL('../../../', import.meta.url).pathname
const states = join(root, 'fixtures', 'states')
const index = 'kept-state'
const numbers = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n)
const all = [...numbers(1, 30), ...numbers(101, 120)]

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

test('the state of this version is kept', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  expect(readdirSync(states)).toContain(version)
})

test.each(readdirSync(states))('a killed load of %s continues, and a loaded file is known', async version => {
  await using world = await restoreWorld(lab, index, join(states, version))
  const before = await knownRuns(join(world.path, 'state'))
  expect(before.broken).toEqual([])
  const [killed, finished] = ['running', 'finished'].map(
    status => before.known.find(({ checkpoint }) => checkpoint.status === status)?.checkpoint.run,
  )
  expect(storedNumbers(lab, index).length).toBeLessThan(all.length)
  const letters = await readFile(join(world.path, 'dead.ndjson'), 'utf8')

  const { receipt } = await world.load('orders.ndjson')
  expect(receipt).toMatchObject({ run: killed, status: 'finished', read: 121, rejected: 1 })
  expect(receipt.created + receipt.duplicate).toBe(120)
  expect(receipt.thisProcess.read).toBeLessThan(121)
  expect(receipt.duplicate).toBeGreaterThan(0)
  expect(storedNumbers(lab, index)).toEqual(all)
  expect(await readFile(join(world.path, 'dead.ndjson'), 'utf8')).toBe(letters)

  const { receipt: again } = await world.load('customers.ndjson')
  expect(again).toMatchObject({ read: 0, requests: 0, inputs: [{ alreadyLoaded: true, loadedBy: { run: finished } }] })
  expect(storedNumbers(lab, index)).toEqual(all)
})
