/** What a proxy, or somebody in its place, answers: the words of the answer tell the causes of one status apart. */
import { type Cause, WRONG } from './cause.js'
import { listen } from './listeners.js'
import { doctor } from './ways.js'

type Told = Pick<Cause, 'says'>

/** In place of the proxy. Every request gets the same answer: CONNECT, and a request that the proxy has to forward. */
const refusing = (planted: string, expected: Cause['expected'], answer: readonly string[], told: Told = {}) =>
  (['https', 'http'] as const).map((scheme): Cause => ({
    planted: scheme === 'https' ? planted : `${planted}, and a cluster that is reached over http`,
    on: 'a server of the test',
    expected,
    ...told,
    plant: async (world, owner) => {
      const { port } = await owner.own(
        listen(socket => socket.on('data', () => socket.end(`HTTP/1.1 ${answer.join('\r\n')}`))),
      )
      const url = scheme === 'https' ? world.cluster.url : world.cluster.httpUrl
      return doctor(world, { proxy: `http://user:${WRONG}@127.0.0.1:${port}`, ipCheckUrl: undefined }, { url })
    },
  }))

const accounts: readonly Cause[] = [
  ...refusing(
    'a proxy account whose quota is used up (407)',
    'PROXY_ACCOUNT_REFUSED',
    ['407 Proxy Authentication Required', 'Proxy-Authenticate: Basic realm="p"', '', 'Monthly quota exceeded'],
    { says: 'Monthly quota exceeded' },
  ),
  ...refusing('a proxy account that is unpaid (402)', 'PROXY_ACCOUNT_REFUSED', ['402 Payment Required', '', '']),
]

const logins: readonly Cause[] = refusing(
  'a proxy that takes only NTLM and Negotiate',
  'PROXY_AUTH_REJECTED',
  ['407 Proxy Authentication Required', 'Proxy-Authenticate: NTLM', 'Proxy-Authenticate: Negotiate', '', ''],
  { says: 'accepts only NTLM or Negotiate, but Sluice sends Basic' },
)

const limits: readonly Cause[] = refusing(
  'a proxy that limits requests (429)',
  'PROXY_LIMIT_REACHED',
  ['429 Too Many Requests', 'Retry-After: 30', 'X-Squid-Error: ERR_LIMIT 0', '', ''],
  { says: 'retry-after: 30' },
)

const networks: readonly Cause[] = [
  ...refusing(
    'a guest network that wants a login (511)',
    'PROXY_NOT_A_PROXY',
    ['511 Network Authentication Required', '', '<title>Guest network</title>'],
    { says: 'this network requires a login first' },
  ),
  {
    planted: "a guest network's page instead of a tunnel (200)",
    on: 'a server of the test',
    expected: 'PROXY_NOT_A_PROXY',
    says: 'a web page instead of a tunnel',
    plant: async (world, owner) => {
      const { port } = await owner.own(
        listen(socket =>
          socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Hello')),
        ),
      )
      return doctor(world, { proxy: `http://user:${WRONG}@127.0.0.1:${port}`, ipCheckUrl: undefined })
    },
  },
  {
    planted: "a guest network's redirect to its login page",
    on: 'a server of the test',
    expected: 'PROXY_NOT_A_PROXY',
    says: 'location: http://hotel.example/login',
    plant: async (world, owner) => {
      const answer = 'HTTP/1.1 302 Found\r\nLocation: http://hotel.example/login?session=1\r\n\r\n'
      const { port } = await owner.own(listen(socket => socket.on('data', () => socket.end(answer))))
      return doctor(world, { proxy: `http://user:${WRONG}@127.0.0.1:${port}`, ipCheckUrl: undefined })
    },
  },
]

export const answerCauses: readonly Cause[] = [...accounts, ...logins, ...limits, ...networks]
