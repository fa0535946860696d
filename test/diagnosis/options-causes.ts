/** Options that cannot be used, or that contradict each other: nothing is sent for them. */
import type { DoctorOptions } from '../../src/route/examine/examine-options.js'
import type { LabWorld } from '../contracts/lab-world.js'
import { type IngestOptions, ingest } from '../../src/index.js'
import { documents, newIndex, through } from '../contracts/options.js'
import { stopped } from './ask.js'
import { type Cause, WRONG } from './cause.js'
import { changed, doctor } from './ways.js'

type OptionsCause = Cause<LabWorld>
type Told = Pick<Cause, 'says' | 'beside'>

const given = (
  planted: string,
  expected: Cause['expected'],
  options: (world: LabWorld) => Partial<DoctorOptions>,
  target: (world: LabWorld) => Partial<DoctorOptions['target']> = () => ({}),
  told: Told = {},
): OptionsCause => ({
  planted,
  on: 'this machine',
  expected,
  ...told,
  plant: world => doctor(world, options(world), target(world)),
})

const proxyUrl = (planted: string, url: string, says: string): OptionsCause =>
  given(planted, 'PROXY_URL_INVALID', () => ({ proxy: url }), undefined, { says })

const proxyUrls: readonly OptionsCause[] = [
  proxyUrl('a proxy password with an @ that is not encoded', `http://user:${WRONG}@2@proxy.example:9293`, 'as %40'),
  proxyUrl('a proxy password with a # that is not encoded', `http://user:${WRONG}#2@proxy.example:9293`, 'as %23'),
  proxyUrl('a proxy password with a % that is not encoded', `http://user:${WRONG}%zz@proxy.example:9293`, 'as %25'),
  proxyUrl('a proxy URL without a scheme', `user:${WRONG}@proxy.example:9293`, 'has no scheme'),
  proxyUrl('a proxy URL without a port', `http://user:${WRONG}@proxy.example`, 'has no port'),
  proxyUrl(
    'a proxy URL with the line end of the file that it was read from',
    `http://user:${WRONG}@proxy.example:9293\n`,
    'contains whitespace',
  ),
  proxyUrl('socks5:// with port 9293', `socks5://user:${WRONG}@proxy.example:9293`, 'port 9293, which is HTTP'),
  proxyUrl('http:// with port 1080', `http://user:${WRONG}@proxy.example:1080`, 'port 1080, which is SOCKS5'),
  proxyUrl('a proxy URL that was built from an empty variable', 'http://none:9293', 'has the host "none"'),
]

const contradictions: readonly OptionsCause[] = [
  given(
    'NO_PROXY covers the cluster, and a static proxy is set',
    'PROXY_NOT_USED',
    ({ proxy, cluster }) => ({ proxy: { url: proxy.http, noProxy: new URL(cluster.url).hostname } }),
    undefined,
    { says: 'NO_PROXY' },
  ),
  given('NO_PROXY covers the cluster, and the proxy password is wrong', 'PROXY_NOT_USED', ({ proxy, cluster }) => ({
    proxy: { url: changed(proxy.http, { password: WRONG }), noProxy: new URL(cluster.url).hostname },
  })),
  given(
    '--require-proxy is said where a deployed load finds no proxy set',
    'PROXY_NOT_USED',
    () => ({ proxy: { requireProxy: true } }),
    undefined,
    { says: '--require-proxy is set' },
  ),
  given(
    'a host of the proxy service in the cluster URL',
    'CLUSTER_URL_IS_PROXY',
    () => ({}),
    () => ({ url: 'https://us-east-static-01.proxy.example:9293' }),
  ),
  given(
    'http:// in the URL of a cluster on another machine',
    'PLAINTEXT_CREDENTIALS',
    () => ({ directCheck: false }),
    () => ({ url: 'http://cluster.example:9200' }),
  ),
  given(
    'a client certificate that is none',
    'OPTION_INVALID',
    () => ({}),
    () => ({ cert: 'no certificate', key: 'no key' }),
  ),
]

const load = (
  planted: string,
  expected: Cause['expected'],
  more: Partial<IngestOptions>,
  told: Told = {},
): OptionsCause => ({
  planted,
  on: 'this machine',
  expected,
  ...told,
  plant: world => {
    const options = { ...through(world, world.proxy.http), source: documents(1), index: newIndex(), ...more }
    return { by: 'ingest', run: async () => await stopped(ingest(options)) }
  },
})

const loads: readonly OptionsCause[] = [
  load('an option that does not exist (a typing error)', 'OPTION_INVALID', { batchByte: 5 } as object, {
    says: 'batchByte',
  }),
  load('an option with a value that it cannot have', 'OPTION_INVALID', { concurrency: 0 }, { says: 'concurrency' }),
  load('an index name with upper-case letters', 'INDEX_NAME_INVALID', { index: 'Logs-App' }, { says: 'logs-app' }),
]

export const optionsCauses: readonly OptionsCause[] = [...proxyUrls, ...contradictions, ...loads]
