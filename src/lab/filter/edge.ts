import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'

/** How the edge words a refusal: both documented JSON bodies, and the documented plain text. */
export type FilterBody = 'long' | 'short' | 'text'

const words = {
  long: 'Forbidden due to traffic filtering. Please see the Elastic documentation on Traffic Filtering for more information.',
  short: 'Forbidden',
  text: 'Forbidden due to traffic filtering',
}

/** The hosting service's edge refuses a request whose source address matches no attached policy. */
export function answerFiltered(response: ServerResponse, body: FilterBody): void {
  answer(response, 403, body === 'text' ? words.text : ok(words[body]), body === 'text' ? 'text/plain' : undefined)
}

/** Answers if the edge does not know the host, or its deployment is unavailable. */
export function answerEdge(response: ServerResponse, kind: 'unknown-resource' | 'unavailable'): void {
  if (kind === 'unknown-resource') answer(response, 404, ok('Unknown resource.'))
  else answer(response, 503, `${ok('The requested resource is currently unavailable.')}\n`)
}

function ok(message: string): string {
  return JSON.stringify({ ok: false, message })
}

function answer(response: ServerResponse, status: number, body: string, type = 'application/json'): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'x-cloud-request-id': randomBytes(16).toString('base64url'),
  })
  response.end(body)
}
