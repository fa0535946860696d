import { randomBytes } from 'node:crypto'
import { type IncomingMessage, createServer } from 'node:http'
import { faultNames } from '../faults.js'
import { type NewPolicy, PolicyError } from '../filter/policies.js'
import { registers } from '../filter/presets.js'
import { type Listening, listen } from '../listener.js'
import { match } from '../match-route.js'
import { AddressRuleError } from '../servicenow/address-rules.js'
import { serviceNowRoutes } from '../servicenow/control/routes.js'
import { NotThereError } from '../servicenow/not-there.js'
import { BadRequest, type Body, number, oneOf, only, optionalText, text, texts } from './body-values.js'
import type { Control } from './control.js'

type Handler = (control: Control, body: Body, parameters: readonly string[]) => unknown

/**
 * The control API: JSON over http on loopback, below a secret path. A handler's result is the answer, 204 without one.
 * 400 and 404 come with `{"error": …}`.
 */
const routes: Readonly<Record<string, Handler>> = {
  'GET /line': control => control.line(),
  'PUT /register': (control, { which }) => control.register(oneOf(registers, which)),
  'GET /policies': control => control.policies(),
  'POST /policies': (control, body) => control.createPolicy(newPolicy(body)),
  'PUT /policies/*': (control, { rules }, [id = '']) => control.replaceRules(id, texts('rules', rules)),
  'DELETE /policies/*': (control, _, [id = '']) => control.deletePolicy(id),
  'POST /policies/*/attach': (control, { deployment }, [id = '']) =>
    control.attachPolicy(id, optionalText('deployment', deployment)),
  'POST /policies/*/detach': (control, { deployment }, [id = '']) =>
    control.detachPolicy(id, optionalText('deployment', deployment)),
  'POST /deployments': (control, { name }) => control.createDeployment(text('name', name)),
  'POST /data-streams': (control, { name, timeSeries }) =>
    control.createDataStream(text('name', name), timeSeries === true),
  'POST /data-streams/*/rollover': (control, _, [stream = '']) => control.rollOver(stream),
  'GET /faults': control => control.faults(),
  'POST /faults': (control, body) => control.plant(only('fault', faultNames, body)),
  'GET /faults/*/struck': (control, _, [fault = '']) => ({ struck: control.struck(oneOf(faultNames, fault)) }),
  'DELETE /faults': control => control.heal(),
  'PUT /filter-body': (control, { body }) => control.setFilterBody(oneOf(['long', 'short', 'text'], body)),
  'PUT /max-content-bytes': (control, { bytes }) => control.setMaxContentBytes(number('bytes', bytes)),
  'POST /credentials/rotate': control => control.rotateCredentials(),
  'POST /api-key/rotate': control => control.rotateApiKey(),
  'PUT /api-key/rights': (control, { prefix, privileges }) =>
    control.limitApiKey({ prefix: optionalText('prefix', prefix) ?? '', privileges: texts('privileges', privileges) }),
  'DELETE /api-key/rights': control => control.limitApiKey(),
  'GET /inbound': ({ inbound }) => ({ port: inbound.applicationPort }),
  'PUT /inbound': ({ inbound }, { port }) => inbound.forwardTo(number('port', port)),
  'DELETE /inbound': ({ inbound }) => inbound.forwardTo(undefined),
  'GET /connections': control => control.connections(),
  'DELETE /connections': control => control.forgetConnections(),
  'GET /refusals': control => control.refusals(),
  'DELETE /refusals': control => control.forgetRefusals(),
  'GET /indices': control => control.indices(),
  'GET /indices/*/count': (control, _, [index = '']) => ({ count: control.count(index) }),
  'GET /indices/*/documents': (control, _, [index = '']) => control.ids(index),
  'GET /indices/*/documents/*': (control, _, [index = '', id = '']) =>
    control.source(index, id) ?? missing(`no document ${id}`),
  ...serviceNowRoutes,
}

/** Starts the control API. */
export async function startControlServer(control: Control): Promise<Listening & { readonly url: string }> {
  const secret = `/${randomBytes(16).toString('hex')}`
  const server = createServer((request, response) => {
    respond(control, secret, request).then(
      ({ status, value }) => {
        const body = Buffer.isBuffer(value) ? value : JSON.stringify(value)
        response.writeHead(status, { 'content-type': 'application/json' }).end(body)
      },
      // The client went away.
      () => response.destroy(),
    )
  })
  const listening = await listen({
    at: 'cluster',
    name: 'control',
    port: 0,
    serve: socket => void server.emit('connection', socket),
  })
  return { ...listening, url: `http://127.0.0.1:${listening.port}${secret}` }
}

interface Answer {
  readonly status: number
  readonly value?: unknown
}

async function respond(control: Control, secret: string, request: IncomingMessage): Promise<Answer> {
  const path = (request.url ?? '/').split('?')[0] ?? '/'
  const text = await readText(request)
  if (path !== secret && !path.startsWith(`${secret}/`)) return { status: 404, value: { error: 'no such path' } }
  return await operate(control, `${request.method} ${path.slice(secret.length)}`, text)
}

/** Carries out an operation, for example `DELETE /faults`. `text`: its body. A refused operation answers with its error. */
export async function operate(control: Control, operation: string, text: string): Promise<Answer> {
  try {
    for (const [route, handler] of Object.entries(routes)) {
      const parameters = match(route, operation)
      if (!parameters) continue
      const value = await handler(control, parse(text), parameters)
      return value === undefined ? { status: 204 } : { status: 200, value }
    }
  } catch (error) {
    return { status: statusOf(error), value: { error: messageOf(error) } }
  }
  return { status: 404, value: { error: `no such operation; there are: ${Object.keys(routes).join(', ')}` } }
}

function newPolicy({ name, rules, includeByDefault }: Body): NewPolicy {
  return { name: text('name', name), rules: texts('rules', rules), includeByDefault: includeByDefault === true }
}

function parse(text: string): Body {
  if (text === '') return {}
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Body
  } catch {
    // Refused below.
  }
  throw new BadRequest('the body is not a JSON object')
}

function missing(what: string): never {
  throw new PolicyError('not-found', what)
}

function statusOf(error: unknown): number {
  if (error instanceof PolicyError) return error.code === 'not-found' ? 404 : 400
  if (error instanceof NotThereError) return 404
  return [BadRequest, AddressRuleError, RangeError].some(kind => error instanceof kind) ? 400 : 500
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
