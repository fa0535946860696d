import type { ServerResponse } from 'node:http'
import type { Damage } from '../faults.js'

export interface DamagedAnswer {
  readonly body: Buffer
  /** The length that its head names. If the body is shorter, the connection ends behind it. */
  readonly length: number
}

/** Damages the JSON answer to a bulk request as a network or a gateway may do. */
export function damagedAnswer(answer: string, how: Damage): DamagedAnswer {
  const whole = Buffer.from(answer)
  const half = whole.subarray(0, Math.ceil(whole.length / 2))
  switch (how) {
    case 'cut':
      return { body: half, length: whole.length }
    case 'short':
      return { body: half, length: half.length }
    case 'repeated':
      return { body: Buffer.concat([whole, whole]), length: 2 * whole.length }
    case 'fewer': {
      const body = Buffer.from(withoutLast(answer))
      return { body, length: body.length }
    }
  }
}

/** Sends a damaged answer, and closes the connection if it is too short. */
export function answerDamaged(
  response: ServerResponse,
  { body, length }: DamagedAnswer,
  headers: Readonly<Record<string, string>>,
): void {
  response.writeHead(200, {
    'content-type': 'application/json',
    'x-elastic-product': 'Elasticsearch',
    ...headers,
    'content-length': length,
  })
  if (body.length === length) response.end(body)
  else response.write(body, () => response.destroy())
}

function withoutLast(answer: string): string {
  const said = JSON.parse(answer) as { readonly items?: readonly unknown[] }
  return JSON.stringify({ ...said, items: (said.items ?? []).slice(0, -1) })
}
