import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Holds the subscription's username and password, new for each lab. */
export class Credentials {
  /** Called after each change of the password. */
  onRotate: () => void = () => {}
  readonly username = `lab-${randomBytes(4).toString('hex')}`
  #password = newPassword()

  get password(): string {
    return this.#password
  }

  /** Makes a new password. The proxy refuses the old one from now on. Open connections stay open. */
  rotate(): void {
    this.#password = newPassword()
    this.onRotate()
  }

  /** Compares in constant time. */
  accept(username: string, password: string): boolean {
    const user = isSame(username, this.username)
    const pass = isSame(password, this.#password)
    return user && pass
  }

  /** Judges a Proxy-Authorization header: false if missing, malformed, not Basic, or wrong. */
  acceptHeader(header: string | undefined): boolean {
    const encoded = /^basic +((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?) *$/i.exec(
      header ?? '',
    )?.[1]
    if (!encoded) return false
    const decoded = Buffer.from(encoded, 'base64').toString()
    const colon = decoded.indexOf(':')
    return colon >= 0 && this.accept(decoded.slice(0, colon), decoded.slice(colon + 1))
  }

  /** A complete proxy URL with the credentials encoded. */
  url(scheme: 'http' | 'https' | 'socks5' | 'socks5s', port: number): string {
    return `${scheme}://${encodeURIComponent(this.username)}:${encodeURIComponent(this.#password)}@127.0.0.1:${port}`
  }
}

/** Contains every kind of character that breaks a URL unless encoded, and `%41`, which breaks if decoded twice. */
function newPassword(): string {
  return `p@:/%41?#[]&=+ "${randomBytes(9).toString('base64')}`
}

/** Compares in constant time. */
export function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
