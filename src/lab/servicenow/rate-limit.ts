import { randomBytes } from 'node:crypto'
import { type Answer, failed } from './answers.js'

export interface RateLimitRule {
  readonly requests: number
  /** Default: an hour, as on the platform. */
  readonly windowMs?: number
}

/** The rate limit rule of the Table API, counted for each user. */
export class RateLimit {
  #rule: RateLimitRule | undefined
  #windows = new Map<string, { readonly endsAt: number; count: number }>()
  readonly #id = randomBytes(16).toString('hex')

  set(rule: RateLimitRule | undefined): void {
    this.#rule = rule
    this.#windows.clear()
  }

  /** Counts a request. Returns the refusal if it is one too many. */
  refusal(username: string, now: number): Answer | undefined {
    if (!this.#rule) return undefined
    const { requests, windowMs = 3600_000 } = this.#rule
    let window = this.#windows.get(username)
    if (!window || window.endsAt <= now) this.#windows.set(username, (window = { endsAt: now + windowMs, count: 0 }))
    window.count++
    return window.count > requests ? this.refuse(requests, window.endsAt, now) : undefined
  }

  /** 429 as a rule answers it. `resetsAt` and `now` in milliseconds since 1970. */
  refuse(limit: number, resetsAt: number, now: number): Answer {
    return failed(429, 'Rate limit exceeded', `Rate limit of ${limit} requests per hour for Table API exceeded`, {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-reset': String(Math.ceil(resetsAt / 1000)),
      'x-ratelimit-rule': this.#id,
      'retry-after': String(Math.max(0, Math.ceil((resetsAt - now) / 1000))),
    })
  }
}
