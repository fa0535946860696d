import { quote } from '../../failure/quote.js'
import type { Access } from '../access.js'

/** Shorter ones would be found in any text. */
const SHORTEST = 3

/** What must stand in no message: an instance, or what answers in its place, may repeat what it was sent. */
export class Secrets {
  readonly #known = new Set<string>()

  /** `tell` is called with each secret that is new, those that tokens are among them. */
  constructor(private readonly tell: (secret: string) => void = () => {}) {}

  add(...secrets: readonly (string | undefined)[]): void {
    for (const secret of secrets) {
      if (secret === undefined || secret.length < SHORTEST) continue
      for (const form of [secret, encodeURIComponent(secret), encodeURIComponent(secret).replaceAll('%20', '+')]) {
        if (this.#known.has(form)) continue
        this.#known.add(form)
        this.tell(form)
      }
    }
  }

  addAccess(access: Access): void {
    if ('client' in access) this.add(access.client?.secret)
    if ('refreshToken' in access) this.add(access.refreshToken)
    const password = 'password' in access ? access : 'otherwise' in access ? access.otherwise : undefined
    if (password === undefined) return
    this.add(password.password, Buffer.from(`${password.username}:${password.password}`).toString('base64'))
  }

  /** What somebody else said, as it may be shown: short, and without the secrets. Longer ones first: one may be part of another. */
  quote(text: string, length = 200): string {
    const longestFirst = [...this.#known].toSorted((a, b) => b.length - a.length)
    return quote(
      longestFirst.reduce((rest, secret) => rest.replaceAll(secret, '***'), text.slice(0, 64 * 1024)),
      length,
    )
  }
}
