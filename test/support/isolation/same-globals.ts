/** Fails a test file that leaves a change to the next file of its worker: files share their globals (`isolate: false`). */
import { afterAll, vi } from 'vitest'
import { changesBetween, globalsNow } from './globals.js'

const before = globalsNow()

afterAll(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
  vi.useRealTimers()
  const changes = changesBetween(before, globalsNow())
  if (changes.length > 0) throw new Error(`This file leaves changes to the next one: ${changes.join(', ')}.`)
})
