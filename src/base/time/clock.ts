/** The clock of this machine, times in its zone, and a signal to wait for. */
import { setTimeout as after } from 'node:timers/promises'
import type { Clock } from '../flow.js'

/** Returns ISO 8601 with milliseconds and the offset, as in `2026-11-21T11:03:38.120+01:00`. For programs. */
export function isoTime(at: Date | number | string): string {
  const time = new Date(at)
  const offset = -time.getTimezoneOffset()
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60]
  const zone = `${offset < 0 ? '-' : '+'}${padded(hours)}:${padded(minutes)}`
  return `${day(time)}T${clock(time)}.${padded(time.getMilliseconds(), 3)}${zone}`
}

/** Returns the day and the time of day, as in `2026-11-21 11:03:38`. For people. */
export function localTime(at: Date | number | string): string {
  const time = new Date(at)
  return `${day(time)} ${clock(time)}`
}

function day(time: Date): string {
  return [padded(time.getFullYear(), 4), padded(time.getMonth() + 1), padded(time.getDate())].join('-')
}

function clock(time: Date): string {
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map(part => padded(part)).join(':')
}

function padded(number: number, digits = 2): string {
  return String(number).padStart(digits, '0')
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: async (ms, signal) => await after(ms, undefined, signal === undefined ? undefined : { signal }),
}

/** A condition variable: all waiters look again whenever something may have changed. */
export class ChangeSignal {
  readonly #wakers = new Set<() => void>()

  /** Resolves at the next `notify`, or when the signal aborts. */
  async changed(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return
    await new Promise<void>(resolve => {
      const wake = () => {
        signal?.removeEventListener('abort', wake)
        this.#wakers.delete(wake)
        resolve()
      }
      signal?.addEventListener('abort', wake)
      this.#wakers.add(wake)
    })
  }

  notify(): void {
    for (const wake of this.#wakers) wake()
  }
}
