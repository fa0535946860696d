/** Pulls into a file that are killed again and again, while rows of the table are inserted, updated and deleted. */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { expect } from 'vitest'
import type { Lab } from '../../../src/lab/index.js'
import { startSluice } from '../../support/command/sluice.js'
import { killWhen } from '../../support/command/kill.js'
import { residentBytes } from '../../contracts/table-kills.js'
import type { Seeded } from '../../support/random/seeded.js'

type Row = Readonly<Record<string, string>>

interface KilledPulls {
  readonly lab: Lab
  readonly random: Seeded
  readonly kills: number
  /** Rows that are inserted, updated and deleted meanwhile: as many of each. */
  readonly changes: number
  /** Pages of the whole reading. */
  readonly pages: number
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

export interface PulledAll {
  /** While all of the table was read, while what had changed meanwhile was, and before anything was asked. */
  readonly killedIn: { readonly whole: number; readonly changes: number; readonly start: number }
  readonly rows: number
  /** Most resident memory of any process, in bytes. */
  readonly peak: number
  /** What the last process said. */
  readonly said: string
  readonly wrong: Readonly<Record<'missing' | 'doubled' | 'foreign' | 'stale' | 'tooMany', number>>
}

/** Kills the command so often, a quarter of the times in the reading of what changed; then lets it end, and looks at the file. */
export async function killPulls(options: KilledPulls): Promise<PulledAll> {
  const { lab, random, kills, changes, pages, file, args, cwd, env } = options
  const { servicenow: sn } = lab.control
  const before = new Map(sn.rows('incident').map(row => [row['sys_id'] ?? '', row]))
  const ids = [...before.keys()]
  const deleted = new Set<string>()
  let changed = 0
  const change = (most: number) => {
    for (const last = Math.min(changed + most, due); changed < last; changed += 1) changeOne()
  }
  let due = 0
  const changeOne = () => {
    const at = Math.floor((changed * ids.length) / changes)
    sn.insert('incident', { short_description: `inserted ${changed}` })
    sn.update('incident', ids[at] ?? '', { short_description: `updated ${changed}` })
    sn.delete('incident', ids[at + 1] ?? '')
    deleted.add(ids[at + 1] ?? '')
  }
  const killedIn = { whole: 0, changes: 0, start: 0 }
  let peak = 0
  for (let life = 0; ; life += 1) {
    const isLast = life >= kills
    // In the last quarter it is left to come to the catch-up.
    const isWhole = life < kills * 0.75
    sn.forgetRequests()
    const running = startSluice(args, { cwd, env })
    const asked = () => {
      const all = sn.requests().filter(({ path }) => path.endsWith('/incident'))
      const catching = all.filter(({ query }) => /ORDERBYsys_updated_on/.test(query['sysparm_query'] ?? '')).length
      return { all: all.length, catching }
    }
    const pagesLeft = random.below(5) === 0 ? 0 : random.below(Math.ceil((pages * 1.6) / kills))
    const until = isWhole ? pagesLeft : 1 + random.below(2)
    due = Math.min(changes, Math.ceil(((life + 1) * changes) / kills))
    const delayMs = random.below(until === 0 ? 500 : 20)
    const ended = await killWhen(running, async () => {
      const { all, catching } = asked()
      // Some wait for a page, and some for a moment before the first one.
      const isTime = !isLast && (isWhole ? all >= until : catching >= until)
      if (isTime) await new Promise(resolve => setTimeout(resolve, delayMs))
      else {
        peak = Math.max(peak, residentBytes(running.child.pid))
        change(8)
      }
      return isTime
    })
    if (ended === undefined) {
      const { all, catching } = asked()
      killedIn[catching > 0 ? 'changes' : all > 0 ? 'whole' : 'start'] += 1
      change(Infinity)
      continue
    }
    const { code, stdout, stderr } = ended
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('rows of') as string,
    })
    if (!isLast) throw new Error(`it ended in life ${life}, before it was killed`)
    return { killedIn, peak, said: stderr.trim(), ...(await look()) }
  }

  async function look() {
    const after = new Map(sn.rows('incident').map(row => [row['sys_id'] ?? '', row]))
    const seen = new Set<string>()
    const wrong = { missing: 0, doubled: 0, foreign: 0, stale: 0, tooMany: 0 }
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      const row = JSON.parse(line) as Row
      const id = row['sys_id'] ?? ''
      if (seen.has(id)) wrong.doubled += 1
      seen.add(id)
      const [was, is] = [before.get(id), after.get(id)]
      if (was === undefined && is === undefined) wrong.foreign += 1
      // A row is as it was at some moment.
      else if (![was, is].some(one => one !== undefined && same(one, row))) wrong.stale += 1
      // Those that were deleted may have been read before they went: the only freedom there is.
      if (!after.has(id) && !deleted.has(id)) wrong.tooMany += 1
    }
    wrong.missing = [...after.keys()].filter(id => !seen.has(id)).length
    return { rows: seen.size, wrong }
  }
}

function same(one: Row, other: Row): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every(name => one[name] === other[name])
}
