import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export interface Guard {
  allows(request: Pick<IncomingMessage, 'headers'>): boolean
}

/** Lets in who brings the token; everybody where there is none. How long it takes tells nothing of the token. */
export function bearerGuard(token: string | undefined): Guard {
  if (token === undefined) return { allows: () => true }
  const wanted = digest(token)
  return {
    allows({ headers: { authorization = '' } }) {
      const [, brought = ''] = /^bearer +(\S+) *$/i.exec(authorization) ?? []
      return timingSafeEqual(digest(brought), wanted)
    },
  }
}

/** Alike in length, whatever is compared. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
