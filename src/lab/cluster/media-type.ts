import type { IncomingHttpHeaders } from 'node:http'
import type { Fault } from './answers.js'

/** Returns why the cluster refuses the media types of a request. `isBulk`: the body must be newline-delimited. */
export function mediaTypeFault(
  headers: IncomingHttpHeaders,
  major: number,
  hasBody: boolean,
): Fault | 'not-acceptable' | undefined {
  for (const [name, value] of [
    ['Accept', headers.accept],
    ['Content-Type', headers['content-type']],
  ] as const) {
    const asked = /compatible-with=(\d+)/.exec(value ?? '')?.[1]
    if (asked === undefined || Number(asked) === major || Number(asked) === major - 1) continue
    const reason = 'Invalid media-type value on headers [Accept, Content-Type]'
    return {
      status: 400,
      type: 'media_type_header_exception',
      reason,
      causedBy: {
        type: 'status_exception',
        reason: `${name} version must be either version ${major} or ${major - 1}, but found ${asked}. ${name}=${value}`,
      },
    }
  }
  const isKnown = /^application\/(?:vnd\.elasticsearch\+)?(?:x-nd)?json *(?:;|$)/i.test(headers['content-type'] ?? '')
  return hasBody && !isKnown ? 'not-acceptable' : undefined
}
