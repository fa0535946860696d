/** A receiver behind the lab's inbound entry, and callers that know nothing of it but HTTP. */
import { request as httpRequest } from 'node:http'
import { type ServeEvent, type ServeOptions, type Serving, serve } from '../../../src/index.js'
import { type Answer, ask } from './lab-clients.js'
import { index, lab, path, way } from './shared-lab.js'

export const token = 'a-token-of-the-lab-and-nothing-else'

export function options(more: Partial<ServeOptions> = {}): ServeOptions {
  return {
    ...way(),
    index,
    stateDir: path('state'),
    deadLetters: path('dead.ndjson'),
    token,
    listen: '127.0.0.1:0',
    batchMs: 10,
    ...more,
  }
}

/** The entry leads to it. */
export async function start(more: Partial<ServeOptions> = {}): Promise<Serving & { readonly events: ServeEvent[] }> {
  const events: ServeEvent[] = []
  const serving = await serve(options({ onEvent: event => void events.push(event), ...more }))
  lab.control.inbound.forwardTo(Number(new URL(serving.url).port))
  return { ...serving, events }
}

export const ndjson = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' }
export const json = { ...ndjson, 'content-type': 'application/json' }

export async function post(body: string | Buffer, headers: Record<string, string> = ndjson): Promise<Answer> {
  return await ask(lab.line.inbound.url, { method: 'POST', body, headers })
}

/** In chunks, without saying how long it will be. Resolves to the status, or why there is none. */
export async function postChunked(chunks: readonly (string | Buffer)[], headers = ndjson): Promise<number | string> {
  return await new Promise(resolve => {
    const request = httpRequest(lab.line.inbound.url, { method: 'POST', headers, agent: false }, response => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0))
    })
    request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    for (const chunk of chunks) request.write(chunk)
    request.end()
  })
}

export function lines(count: number, from = 1): string {
  return Array.from({ length: count }, (_, at) => `{"n":${from + at}}\n`).join('')
}

/** Every document of the index as it was written, sorted. */
export function stored(of = index): string[] {
  return lab.control
    .ids(of)
    .map(id => String(lab.control.source(of, id)))
    .toSorted()
}
