import { globSync } from 'tinyglobby'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** A limit that guards against a hang is at least this long. */
const LEAST_MS = 60_000
const here = fileURLToPath(import.meta.url)

// A slow machine must not fail a test, so no test limits how long work takes.
const rules: readonly (readonly [string, RegExp])[] = [
  ['a time limit of a file', /\b(?:testTimeout|hookTimeout): ?([\d_]+)/g],
  ['a time limit among options', /\b(?:test|it|poll)\b[^\n]*\btimeout: ?([\d_]+)/g],
  ['a time limit of a test', /^\s*\}, ([\d_]+)\)$/gm],
  ['a wait with its own limit: use test/support/eventually.ts', /\bvi\s*\.(?:waitFor|waitUntil)\(/g],
  ['a check of how long something took', /expect\([^\n]*(?:performance|Date)\.now\(\)[^\n]*\.toBeLess/g],
]

function limitsIn(text: string): string[] {
  return rules.flatMap(([name, pattern]) =>
    [...text.matchAll(pattern)]
      .map(([, ms]) => Number(ms?.replaceAll('_', '')))
      // Below a second it is a timer of the test, not a limit.
      .filter(ms => Number.isNaN(ms) || (ms >= 1000 && ms < LEAST_MS))
      .map(() => name),
  )
}

test('no test limits the time that work takes', () => {
  const files = globSync('**/*.ts', { cwd: dirname(here), absolute: true })
  const found = files
    .filter(path => path !== here && !path.endsWith('/support/eventually.ts'))
    .flatMap(path => limitsIn(readFileSync(path, 'utf8')).map(name => `${path}: ${name}`))
  expect(found).toEqual([])
})

const planted: readonly [string, string][] = [
  ['a limit of a file', 'vi.setConfig({ testTimeout: 30_000 })'],
  ['a limit of a test', "test('is fast', { timeout: 5000 }, async () => {})"],
  ['a limit behind a test', "test('is fast', async () => {\n  await work()\n}, 20_000)"],
  ['a limit of a check', 'await expect.poll(look, { timeout: 20_000 }).toBe(0)'],
  ['a wait', 'await vi.waitFor(() => expect(stored()).toBe(2))'],
  ['a duration', 'expect(performance.now() - startedAt).toBeLessThan(500)'],
]
test.each(planted)('catches %s', (_, text) => {
  expect(limitsIn(text)).toHaveLength(1)
})
