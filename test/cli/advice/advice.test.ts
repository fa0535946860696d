// @module-tag long
/** Advice that is a command: somebody who follows it ends where it says. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { catalogue } from '../../../src/base/failure/failure.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { lines } from '../../support/lab/run-world.js'
import { AdviceWorld } from './advice-world.js'
import { notPlayed } from './not-played.js'
import { playedInputs } from './played-inputs.js'
import { playedRuns } from './played-runs.js'

const played = { ...playedInputs, ...playedRuns }

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

/** Each advice that names a command, with its code. */
const advices: readonly string[] = Object.entries(catalogue).flatMap(([code, { fixes }]) =>
  (fixes as readonly (string | { readonly fix: string })[])
    .map(fix => (typeof fix === 'string' ? fix : fix.fix))
    .filter(fix => /`sluice |\| sluice |same command|[Rr]un the (?:interrupted|command)/.test(fix))
    .map(fix => `${code}: ${fix}`),
)

/** Names of advice are its code and its first words. */
const names = [...Object.keys(played), ...Object.keys(notPlayed)]

test('each advice that is a command is played, or has a reason why not', () => {
  const unlisted = advices.filter(advice => names.filter(name => advice.startsWith(name)).length !== 1)
  const stale = names.filter(name => advices.filter(advice => advice.startsWith(name)).length !== 1)
  expect({ unlisted, stale }).toEqual({ unlisted: [], stale: [] })
})

test.each(Object.entries(played))('%s', async (name, play) => {
  const advice = advices.find(one => one.startsWith(name)) ?? ''
  await using world = await AdviceWorld.open(lab, advice.slice(advice.indexOf(': ') + 2))
  await play(world)
})

test('after a missing privilege, the next line of a mail continues the load', async () => {
  await using world = await AdviceWorld.open(
    lab,
    'next: Then run the same command again. It continues where this run stopped.',
  )
  await world.file('a.ndjson', lines(40))
  const body = '{"error":{"type":"security_exception","reason":"r"},"status":403}'
  const headers = { 'x-elastic-product': 'Elasticsearch', 'content-type': 'application/json' }
  lab.control.plant({ bulk: { status: 403, body, headers, after: 3 } })
  await world.advisedLoad('a.ndjson', '--quiet', '--batch-docs', '5', '--concurrency', '1')
  expect(world.stored).toBeGreaterThan(0)
  lab.control.heal()
  await world.same(0)
  expect(world.stored).toBe(40)
})

test('after rejected documents, the next line of a mail loads them', async () => {
  await using world = await AdviceWorld.open(
    lab,
    'next: Repair the documents in the dead letters, and run `sluice replay',
  )
  await world.file('a.ndjson', `${lines(3)}no\n`)
  const { stderr } = await world.advisedLoad('a.ndjson', '--quiet')
  await world.edit(record => ({ ...record, document: { n: 4 } }))
  const [, command = ''] = /next: +Repair .* run `sluice ([^`]+)`/.exec(stderr) ?? []
  expect(await world.sluice(command.split(' '))).toMatchObject({ code: 0 })
  expect(world.stored).toBe(4)
})
