/** Reads objects from web servers. */
import { fail, quote, SluiceError } from '../../base/failure/failure.js'
import type { SourceUrl } from '../../base/text/source-url.js'
import { type SourcePatience, untilDone } from './attempts.js'
import { checkedAnswer } from './checked-answer.js'
import { headerText, refusalOf } from './judge-answer.js'
import { probe } from './probe.js'
import type { RouteResponse, SourceRoutes } from './routes.js'
import type { Answer, Store, WantedPart } from './store.js'

const MOST_REDIRECTS = 5
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export interface HttpAccess {
  readonly routes: SourceRoutes
  /** By the names of the objects. */
  readonly addresses: ReadonlyMap<string, SourceUrl>
  readonly token: string | undefined
  readonly patience: SourcePatience
}

export function openHttpStore(access: HttpAccess): Store {
  const get = async (name: string, wanted: WantedPart) => await answerOf(access, name, wanted)
  // A web server lists nothing: a name is one object.
  return {
    get,
    find: async function* (name, wanted) {
      yield await untilDone(access.patience, wanted.signal, async () => await probe(get, name, wanted))
    },
  }
}

async function answerOf({ routes, addresses, token }: HttpAccess, name: string, wanted: WantedPart): Promise<Answer> {
  const { signal, timeoutMs } = wanted
  const address = addresses.get(name)
  if (address?.url === undefined) throw fail('INPUT_NOT_FOUND', { input: name })
  const login = loginOf(address, token)
  if (Object.keys(login).length > 0 && address.url.protocol === 'http:' && !routes.isLocal(address.url))
    throw fail('PLAINTEXT_CREDENTIALS', { url: address.url.origin })
  let { url } = address
  for (let hops = 0; ; hops += 1) {
    // Another server must not see the credentials of this one.
    const own = url.origin === address.url.origin ? login : {}
    const headers = { ...headersOf(wanted), ...own }
    const path = url.pathname + url.search
    const response = await routes.ask(name, url.origin, { method: 'GET', path, headers, signal, timeoutMs })
    if (!redirects.has(response.statusCode)) return await judged(name, response, wanted)
    response.body.destroy()
    if (hops === MOST_REDIRECTS) throw redirected(name, `more than ${MOST_REDIRECTS} redirects`)
    url = followed(name, url, headerText(response.headers['location']))
  }
}

function headersOf({ range, etag }: WantedPart): Record<string, string> {
  return {
    accept: '*/*',
    // Another encoding has other bytes, and often no ranges.
    'accept-encoding': 'identity',
    'user-agent': 'sluice',
    ...(range === undefined ? {} : { range: `bytes=${range.from}-${range.to - 1}` }),
    ...(etag === undefined ? {} : { 'if-match': etag }),
  }
}

function loginOf({ username, password = '' }: SourceUrl, token: string | undefined): Record<string, string> {
  if (username !== undefined)
    return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

/** Returns where a redirect leads. */
function followed(name: string, from: URL, location: string): URL {
  if (location === '' || !URL.canParse(location, from.href)) throw redirected(name, 'the answer does not say where to')
  const to = new URL(location, from)
  to.username = ''
  to.password = ''
  if (to.protocol !== 'https:' && to.protocol !== 'http:')
    throw redirected(name, `it leads to ${quote(to.protocol, 40)}`)
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw redirected(
      name,
      `from https:// to http://${quote(to.host, 100)}, which anybody on the route can read and change`,
    )
  return to
}

function redirected(input: string, problem: string): SluiceError {
  return fail('SOURCE_REDIRECTED', { input, problem })
}

async function judged(name: string, response: RouteResponse, wanted: WantedPart): Promise<Answer> {
  const { statusCode: status, headers, body } = response
  if (status === 200 || status === 206) return checkedAnswer(name, { status, headers, body }, wanted)
  const said = await errorIn(response)
  throw new SluiceError(refusalOf(name, { status, headers, ...said }, Date.now()))
}

const LONGEST_ERROR_BYTES = 16 << 10

/** Reads the error that an S3 server sends as XML. Other answers are pages for people. */
async function errorIn({ headers, body }: RouteResponse): Promise<{ code?: string; message?: string }> {
  const parts: Buffer[] = []
  let bytes = 0
  try {
    if (headerText(headers['content-type']).includes('xml'))
      for await (const part of body) {
        parts.push(part)
        bytes += part.length
        if (bytes > LONGEST_ERROR_BYTES) break
      }
  } catch {
    // The status says enough.
  }
  body.destroy()
  const text = Buffer.concat(parts).toString()
  const code = /<Code>([\w.]{1,80})<\/Code>/.exec(text)?.[1]
  const message = /<Message>([^<]{1,300})<\/Message>/.exec(text)?.[1]
  return { ...(code === undefined ? {} : { code }), ...(message === undefined ? {} : { message }) }
}
