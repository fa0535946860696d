/** A client of the lab's service-management platform that shares nothing with the product. */
import { type Answer, type TestLab, ask, askThrough, openLab } from './lab-clients.js'
import type { LabOptions } from '../../../src/lab/index.js'

interface Asked {
  readonly method?: string
  readonly headers?: Record<string, string>
  /** A body, sent as JSON. */
  readonly json?: unknown
  /** A body, sent as a form. */
  readonly form?: Record<string, string>
  /** Default: Basic authentication of the lab's user; empty for none. */
  readonly authorization?: string
}

export interface ServiceNowWorld extends TestLab {
  readonly sn: TestLab['lab']['control']['servicenow']
  /** The Authorization of the lab's user. */
  readonly basic: string
  /** A request past the proxy, over http. */
  call(path: string, asked?: Asked): Promise<Answer>
  /** Through a proxy of the lab, over https. */
  callThrough(proxy: string, path: string, asked?: Asked): Promise<Answer>
  /** A page of a table: its rows, and the answer's headers. */
  list(
    table: string,
    parameters?: Record<string, string>,
  ): Promise<{ rows: Record<string, string>[]; headers: Answer['headers'] }>
  /** The token endpoint, with the lab's client unless the form says otherwise. */
  token(form: Record<string, string>): Promise<{ status: number; value: Record<string, unknown>; answer: Answer }>
}

export async function openServiceNow(options: LabOptions = {}): Promise<ServiceNowWorld> {
  const world = await openLab(options)
  const { servicenow, proxy } = world.lab.line
  const basic = `Basic ${Buffer.from(`${servicenow.username}:${servicenow.password}`).toString('base64')}`
  const optionsOf = ({ method, headers = {}, json, form, authorization = basic }: Asked) => {
    const body = form ? new URLSearchParams(form).toString() : json === undefined ? undefined : JSON.stringify(json)
    const type = form ? 'application/x-www-form-urlencoded' : 'application/json'
    return {
      ca: world.ca,
      headers: {
        accept: 'application/json',
        ...(authorization !== '' && { authorization }),
        ...(body !== undefined && { 'content-type': type }),
        ...headers,
      },
      ...(method !== undefined && { method }),
      ...(body !== undefined && { body }),
    }
  }
  const call = (path: string, asked: Asked = {}) => ask(servicenow.httpUrl + path, optionsOf(asked))
  return {
    ...world,
    sn: world.lab.control.servicenow,
    basic,
    call,
    callThrough: (through, path, asked = {}) => askThrough(through, servicenow.url + path, optionsOf(asked)),
    async list(table, parameters = {}) {
      const answer = await call(`/api/now/table/${table}?${new URLSearchParams(parameters).toString()}`)
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
      const { result } = JSON.parse(answer.text) as { result: Record<string, string>[] }
      return { rows: result, headers: answer.headers }
    },
    async token(form) {
      const client = { client_id: servicenow.clientId, client_secret: servicenow.clientSecret }
      const answer = await askThrough(
        proxy.http,
        `${servicenow.url}/oauth_token.do`,
        optionsOf({ form: { ...client, ...form }, authorization: '' }),
      )
      return { status: answer.status, value: JSON.parse(answer.text) as Record<string, unknown>, answer }
    },
  }
}
