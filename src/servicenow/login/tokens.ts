/** Tokens of the instance that prove the caller's identity. */
export interface Tokens {
  readonly accessToken: string
  readonly refreshToken?: string | undefined
  /**
   * Milliseconds since 1970. From then on, the access token is renewed before use. Undefined: renewed after a
   * refusal.
   */
  readonly renewAt?: number | undefined
}

/** Keeps tokens in memory, or in a file that processes share. */
export interface TokenStore {
  /** Returns the kept tokens. */
  read(): Promise<Tokens | undefined>
  /**
   * Runs one renewal at a time, across processes if the store can. `renew` receives the kept tokens, and its result
   * replaces them.
   */
  exclusively(renew: (kept: Tokens | undefined) => Promise<Tokens>): Promise<Tokens>
}

/** Keeps tokens for this process only. */
export function tokensInMemory(): TokenStore {
  let kept: Tokens | undefined
  return {
    read: async () => await Promise.resolve(kept),
    exclusively: async renew => (kept = await renew(kept)),
  }
}

/** Renewed so early that a request under way does not meet its end, and that slow clocks do not matter. */
const EARLY_MS = 60_000

/** Returns when to renew. `expiresIn`: seconds from the instance. Anything else is no lifetime. */
export function renewAt(expiresIn: unknown, now: number): number | undefined {
  const seconds = typeof expiresIn === 'string' && expiresIn.trim() !== '' ? Number(expiresIn) : expiresIn
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds <= 0) return undefined
  const lifetimeMs = seconds * 1000
  return now + (lifetimeMs < 2 * EARLY_MS ? lifetimeMs / 2 : lifetimeMs - EARLY_MS)
}

export function isFresh({ renewAt: until }: Tokens, now: number): boolean {
  return until === undefined || now < until
}
