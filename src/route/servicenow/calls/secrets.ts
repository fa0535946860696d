import { quote } from '../../../base/failure/failure.js'
import type { Access } from '../choose-access.js'

/** Shorter secrets occur in any text. */
const SHORTEST = 3

/** Keeps secrets out of messages. The instance, or a server in its place, may repeat what it received. */
export class Secrets {
  readonly #known = new Set<string>()

  /** `tell` receives each new secret, also tokens. */
  constructor(private readonly tell: (secret: string) => void = () => {}) {}

  add(...secrets: readonly (string | undefined)[]): void {
    for (const secret of secrets) {
      if (secret === undefined || secret.length < SHORTEST) continue
      // An instance can send half of a character, which has no encoding.
      const encoded = encodeURIComponent(secret.replaceAll(/\p{Surrogate}/gu, '\ufffd'))
      for (const form of [secret, encoded, encoded.replaceAll('%20', '+')]) {
        if (this.#known.has(form)) continue
        this.#known.add(form)
        this.tell(form)
      }
    }
  }

  addAccess(access: Access): void {
    if ('apiKey' in access) this.add(access.apiKey)
    if ('client' in access) this.add(access.client?.secret)
    if ('refreshToken' in access) this.add(access.refreshToken)
    const password = 'password' in access ? access : 'otherwise' in access ? access.otherwise : undefined
    if (password === undefined) return
    this.add(password.password, Buffer.from(`${password.username}:${password.password}`).toString('base64'))
  }

  /**
   * Returns foreign text that is safe to show: short, without secrets. Replaces longer secrets first, because one may
   * contain another.
   */
  quote(text: string, length = 200): string {
    const longestFirst = [...this.#known].toSorted((a, b) => b.length - a.length)
    return quote(
      longestFirst.reduce((rest, secret) => rest.replaceAll(secret, '***'), text.slice(0, 64 * 1024)),
      length,
    )
  }
}
