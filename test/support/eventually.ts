import { vi } from 'vitest'

/** Guards against a hang, not against a slow machine. Ordinary tests have seconds of work, so their hang costs less than a minute. */
const patience = { timeout: Number(process.env['SLUICE_TEST_PATIENCE_MS'] ?? 240_000), interval: 5 }

/** Repeats a check until it passes, and returns what it returned. */
export async function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return await vi.waitFor(check, patience)
}

/** The same for a check that is much work, like a command. */
export async function eventuallySeen<T>(check: () => Promise<T>): Promise<T> {
  return await vi.waitFor(check, { ...patience, interval: 250 })
}

/** Waits until a condition holds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitUntil(condition, patience)
}
