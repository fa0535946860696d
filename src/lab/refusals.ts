import type { IncomingMessage, ServerResponse } from 'node:http'
import { arrivalOf } from './listener.js'

/** A request that somebody in the lab refused. */
export interface LabRefusal {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly by: 'proxy' | 'IP filter' | 'edge' | 'gateway' | 'cluster' | 'ingest' | 'ServiceNow'
  /** The source address. */
  readonly from: string
  /** Method and path, or what the proxy was asked for. Without a query. */
  readonly request: string
  /** Of the answer. Absent for SOCKS5. */
  readonly status?: number
  readonly why: string
}

/** Older refusals are forgotten. */
const MOST = 1000

export class Refusals {
  #kept: LabRefusal[] = []

  add(refusal: Omit<LabRefusal, 'at'>): void {
    this.#kept.push({ at: Date.now(), ...refusal })
    if (this.#kept.length > MOST) this.#kept = this.#kept.slice(-MOST / 2)
  }

  list(): readonly LabRefusal[] {
    return [...this.#kept]
  }

  clear(): void {
    this.#kept = []
  }

  /** Keeps the answer to a request if it is a refusal. A document or index that is missing is none. */
  watch(by: LabRefusal['by'], request: IncomingMessage, response: ServerResponse): void {
    const { from } = arrivalOf(request.socket)
    const what = `${request.method} ${(request.url ?? '/').split('?')[0]}`
    response.once('finish', () => {
      const { statusCode: status } = response
      const known = reasons.get(response)
      if (status < 400 || (status === 404 && known === undefined)) return
      this.add({ by, why: `status ${status}`, ...known, from, request: what, status })
    })
  }
}

const reasons = new WeakMap<ServerResponse, { by?: LabRefusal['by']; why: string }>()

/** Remembers why an answer is a refusal. */
export function because(response: ServerResponse, why: string, by?: LabRefusal['by']): void {
  reasons.set(response, { ...(by && { by }), why })
}
