/** Loads of a table that are killed again and again while its rows change. */
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { Lab } from '../../src/lab/index.js'
import type { Receipt } from '../../src/pipeline/ledger/receipt.js'
import { startSluice } from '../support/command/sluice.js'
import { killWhen } from '../support/command/kill.js'
import type { Seeded } from '../support/random/seeded.js'

interface KilledLoads {
  readonly lab: Lab
  readonly random: Seeded
  readonly kills: number
  /** Rows that are changed or made meanwhile, one by one. */
  readonly changes: number
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

export interface Killed {
  readonly kills: number
  readonly changes: number
  /** Of the runs that were left to finish, the last one first: it read what had changed, and after it nothing was left. */
  readonly receipts: readonly Receipt[]
  /** Most resident memory of any process, in bytes. */
  readonly peak: number
}

/** Kills the command at random instants, and goes on until it was killed so often and all changes were made. */
export async function killLoads(options: KilledLoads): Promise<Killed> {
  const { lab, random, kills: wanted, changes: all } = options
  const { servicenow } = lab.control
  const rows = servicenow.rows('incident')
  const receipts: Receipt[] = []
  let kills = 0
  let changes = 0
  let peak = 0
  const change = () => {
    // Every fifth is a new row.
    if (random.below(5) === 0) servicenow.insert('incident', { short_description: `new ${changes}` })
    else {
      const row = rows[random.below(rows.length)]
      servicenow.update('incident', row?.['sys_id'] ?? '', { short_description: `changed ${changes}` })
    }
    changes += 1
  }
  for (;;) {
    const isLast = kills >= wanted && changes >= all
    // Half of them while all of the table is read, the others in runs that read what changed.
    const isWhole = receipts.length === 0
    const mayKill = kills < (isWhole ? Math.ceil(wanted / 2) : wanted)
    const lifeMs = isWhole ? 300 + random.below(4000) : 100 + random.below(1200)
    const running = startSluice(options.args, { cwd: options.cwd, env: options.env })
    const until = performance.now() + (mayKill ? lifeMs : Infinity)
    const ended = await killWhen(running, async () => {
      peak = Math.max(peak, residentBytes(running.child.pid))
      // Spread over all lives, so that each has something to read.
      const most = Math.min(all, ((kills + 1) * all) / wanted)
      const due = Math.min(6, Math.ceil(most - changes))
      for (let some = 0; some < due; some += 1) change()
      await new Promise(resolve => setTimeout(resolve, 40))
      return performance.now() >= until
    })
    if (ended === undefined) {
      kills += 1
      continue
    }
    expect(ended.code, ended.stderr).toBe(0)
    receipts.unshift(JSON.parse(ended.stdout) as Receipt)
    if (isLast && receipts[0]?.read === 0) return { kills, changes, receipts, peak }
  }
}

/** Resident memory of a process now; 0 once it is gone. */
export function residentBytes(pid: number | undefined): number {
  try {
    const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(kilobytes ?? 0) * 1024
  } catch {
    return 0
  }
}
