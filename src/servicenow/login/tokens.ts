/** What the instance gave to prove who asks. */
export interface Tokens {
  readonly accessToken: string
  readonly refreshToken?: string
  /** Milliseconds since 1970: from then on the access token is renewed before it is used. Absent: when it is refused. */
  readonly renewAt?: number
}

/** Where tokens are kept: in memory, or in a file that other processes share. */
export interface TokenStore {
  /** What is kept. */
  read(): Promise<Tokens | undefined>
  /**
   * One renewal at a time, also among processes as far as the store can: `renew` gets what is kept, and what it resolves to is kept
   * from then on (undefined: as it was).
   */
  exclusively(renew: (kept: Tokens | undefined) => Promise<Tokens>): Promise<Tokens>
}

/** For this process alone. */
export function tokensInMemory(): TokenStore {
  let kept: Tokens | undefined
  return {
    read: async () => await Promise.resolve(kept),
    exclusively: async renew => (kept = await renew(kept)),
  }
}

/** Renewed so early that a request under way does not meet its end, and that slow clocks do not matter. */
const EARLY_MS = 60_000

/** `expiresIn`: seconds, as the instance told; anything else is no lifetime. */
export function renewAt(expiresIn: unknown, now: number): number | undefined {
  const seconds = typeof expiresIn === 'string' && expiresIn.trim() !== '' ? Number(expiresIn) : expiresIn
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds <= 0) return undefined
  const lifetimeMs = seconds * 1000
  return now + (lifetimeMs < 2 * EARLY_MS ? lifetimeMs / 2 : lifetimeMs - EARLY_MS)
}

export function isFresh({ renewAt: until }: Tokens, now: number): boolean {
  return until === undefined || now < until
}
