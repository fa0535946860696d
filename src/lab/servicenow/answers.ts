/** The answer of the platform, or of the edge in front of it. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
}

/** Thrown to refuse a request. */
export class Refused extends Error {
  readonly answer: Answer
  constructor(answer: Answer) {
    super(`${answer.status} ${String(answer.body)}`)
    this.answer = answer
  }
}

/** Header of the platform's own answers and of its edge. */
export const server = { server: 'snow_adc' }

export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  const type = { 'content-type': 'application/json;charset=UTF-8' }
  return { status, headers: { ...server, ...type, ...headers }, body: JSON.stringify(value) }
}

/** The platform's envelope of an error. */
export function failed(
  status: number,
  message: string,
  detail: string | null,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return json(status, { error: { message, detail }, status: 'failure' }, headers)
}

export function html(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { ...server, 'content-type': 'text/html', ...headers }, body }
}

export function notAuthenticated(): Answer {
  return failed(401, 'User Not Authenticated', 'Required to provide Auth information', {
    'www-authenticate': 'BASIC realm="Service-now"',
  })
}

/** ServiceNow answers the same for nearly every cause. Despite its text, it is no error of the server. */
export function tokenRefused(): Answer {
  return json(401, { error_description: 'access_denied', error: 'server_error' })
}

export function noRecord(): Answer {
  return failed(404, 'No Record found', "Record doesn't exist or ACL restricts the record retrieval")
}

export function noTable(name: string): Answer {
  return failed(400, `Invalid table ${name}`, `Table ${name} does not exist`)
}
