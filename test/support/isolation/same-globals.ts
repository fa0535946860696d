/** Fails a test file that leaves a change to the next file of its worker: files share their globals (`isolate: false`). */
import { afterAll, vi } from 'vitest'
import { changesBetween, type Globals, globalsNow } from './globals.js'

/** Without a test, a file has no end. What it changed while it was loaded then shows at the start of the next one. */
const kept = globalThis as { __vitestGlobals?: Globals }
const before = globalsNow()
if (kept.__vitestGlobals !== undefined) refuse(kept.__vitestGlobals, before, 'A file without a test that ran')
kept.__vitestGlobals = before

afterAll(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
  vi.useRealTimers()
  const after = globalsNow()
  kept.__vitestGlobals = after
  refuse(before, after, 'This file')
})

function refuse(earlier: Globals, later: Globals, who: string): void {
  const changes = changesBetween(earlier, later)
  if (changes.length > 0) throw new Error(`${who} leaves changes to the next one: ${changes.join(', ')}.`)
}
