/** A test for each cause: it is planted, Sluice is asked, and the first thing that it names has to be the cause. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import type { LabWorld } from '../contracts/lab-world.js'
import type { World } from '../contracts/world.js'
import { newOwner } from '../real/servers/owner.js'
import { type Heard, hear } from './ask.js'
import { type Cause, WRONG } from './cause.js'
import { type Outcome, renderOutcomes, sectionOf, tableOf, withSection } from './matrix.js'
import { rounds } from '../support/rounds.js'

const page = fileURLToPath(new URL('../../docs/diagnosis.md', import.meta.url))

/**
 * `mend` takes back what the world itself was told. `section` is the part of the page that the outcomes make. `isPlanted`: which causes
 * an ordinary run plants here. A search and the script that writes the page plant all.
 */
export function describeCauses<W extends World>(
  world: () => W,
  {
    causes,
    isPlanted,
    mend,
    section,
  }: {
    readonly causes: readonly Cause<W>[]
    readonly isPlanted: (cause: Cause<W>) => boolean
    readonly mend: (world: W) => Promise<void>
    readonly section: { readonly name: string; readonly isReal: boolean; readonly about: string }
  },
): void {
  const outcomes: Outcome[] = []
  const times: { readonly planted: string; readonly ms: number }[] = []

  const isWhole = rounds(0, 1) === 1 || process.env['SLUICE_WRITE_DOCS'] !== undefined
  const chosen = isWhole ? causes : causes.filter(isPlanted)

  for (const cause of chosen) {
    const { planted, on, expected, says, beside } = cause
    test(`planted: ${planted}. Named first: ${expected}`, async () => {
      await using owner = await newOwner()
      let heard: Heard
      try {
        heard = await hear(await cause.plant(world(), owner))
      } finally {
        await mend(world())
      }
      const named = cause.expected === 'nothing' && isHarmless(heard) ? 'nothing' : heard.code
      outcomes.push({
        planted,
        on,
        expected,
        named,
        by: heard.by,
        ...(says === undefined ? {} : { says }),
        ...(beside === undefined ? {} : { beside }),
      })
      times.push({ planted, ms: heard.ms })
      expect({ named, all: heard.codes, message: heard.message }).toMatchObject({ named: expected })
      if (says !== undefined) expect(heard.message).toContain(says)
      if (beside !== undefined) expect(heard.codes).toContain(beside)
      if (expected !== 'nothing') expect(heard.message).not.toBe('')
      expect(heard.message).not.toMatch(/undefined|\[object|NaN|\bnull\b|\{\w+\}/)
      for (const secret of secretsOf(world())) expect(heard.text).not.toContain(secret)
    })
  }

  test(`${section.name}: the page shows what was planted and named`, () => {
    const { name, isReal, about } = section
    expect(outcomes).toHaveLength(chosen.length)
    if (isWhole) checkPage(name, renderOutcomes(about, outcomes, isReal))
    else checkRows(name, tableOf(outcomes, isReal))
  })

  afterAll(() => {
    const slowest = times.toSorted((one, other) => other.ms - one.ms).slice(0, 3)
    console.log(
      `${section.name}, the slowest:\n${slowest.map(({ planted, ms }) => `  ${ms} ms: ${planted}\n`).join('')}`,
    )
  })
}

/** A section that follows from the lists alone. */
export function describeSection(name: string, text: () => string): void {
  describe(name, () => {
    test('stands on the page', () => checkPage(name, text()))
  })
}

/** Each row must stand in the section, which has more of them. */
function checkRows(name: string, rows: readonly string[]): void {
  const written = new Set(sectionOf(readFileSync(page, 'utf8'), name).split('\n'))
  expect(rows.filter(row => !written.has(row))).toEqual([])
}

/** With SLUICE_WRITE_DOCS it is written anew. */
function checkPage(name: string, text: string): void {
  const written = readFileSync(page, 'utf8')
  if (process.env['SLUICE_WRITE_DOCS']) writeFileSync(page, withSection(written, name, text))
  else expect(sectionOf(written, name), 'docs/diagnosis.md is stale: npm run docs:diagnosis').toBe(text)
}

function isHarmless({ worst }: Heard): boolean {
  return worst === 'info' || worst === 'nothing'
}

/** Everything that must not be shown, as it is and as URLs carry it. */
function secretsOf(world: World): string[] {
  const { proxy, cluster } = world
  const passwords = [...Object.values(proxy).flat(), ...proxy.nodes].map(url => new URL(url).password)
  const key = Buffer.from(cluster.apiKey, 'base64').toString()
  const secrets = [cluster.apiKey, key, key.split(':')[1] ?? key, cluster.password, cluster.leastPrivilegeApiKey, WRONG]
  const platform = 'lab' in world ? (world as LabWorld).lab.line.servicenow : undefined
  if (platform !== undefined) secrets.push(platform.password, platform.clientSecret)
  return [...new Set([...secrets, ...passwords, ...passwords.map(decodeURIComponent)])]
}
