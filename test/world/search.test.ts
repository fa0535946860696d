// @module-tag search
/** `npm run search:world`: thousands of stories. Those that fail are shortened and printed. */
import { mkdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { rounds } from '../support/rounds.js'
import { keep, search, tellOf } from './search.js'

const SEEDS = Number(process.env['SLUICE_SEEDS'] ?? rounds(1, 1000))
const FIRST = Number(process.env['SLUICE_SEED'] ?? 1)
const MOST = Number(process.env['SLUICE_FAILURES'] ?? 1)

test(`${SEEDS} stories from seed ${FIRST} on`, async () => {
  const began = performance.now()
  const only = process.env['SLUICE_WAY']
  const { found, coverage, stories, commands } = await search({
    seed: FIRST,
    stories: SEEDS,
    only,
    most: MOST,
    say: line => console.log(line),
  })
  const minutes = (performance.now() - began) / 60_000
  mkdirSync('.cache/world', { recursive: true })
  for (const one of found) keep(`.cache/world/seed-${one.seed}.json`, one)
  console.log(found.map(tellOf).join('\n\n'))
  console.log(`${stories} stories, ${commands} commands, ${Math.round(stories / minutes)} stories a minute`)
  console.log(coverage.tell())
  expect(found.map(({ seed, played }) => `seed ${seed}: ${played.problems.join(', ')}`)).toEqual([])
})
