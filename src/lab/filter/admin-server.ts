import { randomBytes } from 'node:crypto'
import { type IncomingMessage, createServer } from 'node:http'
import { type Arrival, type Listening, arrivalOf, listen } from '../listener.js'
import { match } from '../match-route.js'
import { isSame } from '../proxy/credentials.js'
import {
  type AdminAsked,
  type AdminReply,
  deploymentJson,
  type Json,
  newPolicy,
  ok,
  policyJson,
  text,
} from './admin-json.js'
import { type Policies, PolicyError } from './policies.js'
import { serverlessRoutes } from './serverless-routes.js'

const rulesets = '/deployments/traffic-filter/rulesets'

/** Plays the administration API of the hosting service: policies and their deployments. */
const routes: Readonly<Record<string, (asked: AdminAsked) => AdminReply>> = {
  'GET /deployments/*': ({ policies, parameters: [id = ''] }) => ok(deploymentJson(policies, id)),
  [`GET ${rulesets}`]: ({ policies, query }) => {
    const region = query.get('region')
    const listed = policies.list().filter(policy => region === null || policy.region === region)
    return ok({ rulesets: listed.map(policy => policyJson(policy, query)) })
  },
  [`POST ${rulesets}`]: ({ policies, body }) => {
    return { status: 201, value: { id: policies.create(newPolicy(body)).id } }
  },
  [`GET ${rulesets}/*`]: ({ policies, query, parameters: [id = ''] }) => ok(policyJson(policies.read(id), query)),
  [`PUT ${rulesets}/*`]: ({ policies, body, parameters: [id = ''] }) => {
    policies.read(id)
    return ok({ id: policies.replace(id, newPolicy(body)).id })
  },
  [`DELETE ${rulesets}/*`]: ({ policies, query, parameters: [id = ''] }) => {
    if (policies.read(id).deployments.length > 0 && query.get('ignore_associations') !== 'true') {
      throw new PolicyError('invalid', 'the policy is attached')
    }
    policies.delete(id)
    return ok({})
  },
  [`POST ${rulesets}/*/associations`]: ({ policies, body, parameters: [id = ''] }) => {
    const deployment = text(body, 'id')
    if (text(body, 'entity_type') !== 'deployment') throw new PolicyError('invalid', 'entity_type is not deployment')
    const isThere = policies.read(id).deployments.includes(deployment)
    policies.attach(id, deployment)
    return { status: isThere ? 200 : 201, value: {} }
  },
  [`DELETE ${rulesets}/*/associations/deployment/*`]: ({ policies, parameters: [id = '', deployment = ''] }) => {
    if (!policies.read(id).deployments.includes(deployment)) throw new PolicyError('not-found', 'no such association')
    policies.detach(id, deployment)
    return ok({})
  },
  // Like the hosting service, answers the same for an unknown deployment as for one without policies.
  'GET /deployments/traffic-filter/associations/deployment/*/rulesets': ({ policies, parameters: [id = ''] }) =>
    ok({ rulesets: policies.attachedTo(id) ?? [] }),
  ...serverlessRoutes,
}

/** Starts the API. Its key is the organisation's, and opens nothing else. */
export async function startAdminServer(
  policies: Policies,
  onArrival: (arrival: Arrival) => void,
): Promise<Listening & { readonly url: string; readonly apiKey: string }> {
  const apiKey = Buffer.from(`${randomBytes(8).toString('hex')}:${randomBytes(16).toString('hex')}`).toString('base64')
  const server = createServer((request, response) => {
    arrivalOf(request.socket).requests++
    void respond(policies, apiKey, request)
      .catch(refusal)
      .then(({ status, value, code }) => {
        const headers = {
          'content-type': 'application/json',
          ...(code !== undefined && { 'x-cloud-error-codes': code }),
        }
        response.writeHead(status, headers).end(JSON.stringify(value))
      })
  })
  const listening = await listen({
    at: 'admin',
    name: 'http',
    port: 0,
    admit: arrival => {
      onArrival(arrival)
      return true
    },
    serve: socket => void server.emit('connection', socket),
  })
  return { ...listening, url: `http://127.0.0.1:${listening.port}`, apiKey }
}

async function respond(policies: Policies, apiKey: string, request: IncomingMessage): Promise<AdminReply> {
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://localhost')
  const body = await readBody(request)
  if (!isSame(request.headers.authorization ?? '', `ApiKey ${apiKey}`)) {
    return refuse(401, 'root.unauthorized', 'The supplied authentication is invalid')
  }
  for (const [route, handler] of Object.entries(routes)) {
    const parameters = match(route, `${request.method} ${pathname.replace(/^\/api\/v1/, '')}`)
    if (parameters && pathname.startsWith('/api/v1/')) return handler({ policies, body, query, parameters })
  }
  return refuse(404, 'root.resource_not_found', 'The requested resource could not be found')
}

function refusal(error: unknown): AdminReply {
  if (!(error instanceof PolicyError)) return refuse(500, 'root.internal_server_error', String(error))
  const isMissing = error.code === 'not-found'
  return refuse(isMissing ? 404 : 400, isMissing ? 'traffic_filter.not_found' : 'traffic_filter.invalid', error.message)
}

function refuse(status: number, code: string, message: string): AdminReply {
  return { status, value: { errors: [{ code, message }] }, code }
}

async function readBody(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  try {
    const parsed: unknown = JSON.parse(Buffer.concat(chunks).toString() || '{}')
    if (typeof parsed === 'object' && parsed !== null) return parsed as Json
  } catch {
    // Refused below.
  }
  throw new PolicyError('invalid', 'the body is not a JSON object')
}
