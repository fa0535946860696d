/** What a caller is told: a status, and JSON. */
export interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

export function refusal(status: number, error: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, body: { error }, headers }
}

/** By its Content-Length already, or once it has come. */
export function tooLarge(maxBody: number): Answer {
  return refusal(413, `a request may have at most ${maxBody} bytes, also after decompression`)
}
