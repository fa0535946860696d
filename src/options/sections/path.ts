import * as kinds from '../kinds.js'
import { section, toCluster } from '../option.js'

const path = section('Path to the cluster', [...toCluster, 'pull', 'login'])

export const pathOptions = {
  proxy: path(kinds.secret().optional(), {
    doc: 'the static-IP proxy, as the dashboard shows it; better in the environment or a file',
    label: 'url',
    env: ['STATIC_PROXY_URL', 'QUOTAGUARDSTATIC_URL', 'QUOTAGUARDSHIELD_URL', 'FIXIE_URL', 'PROXIMO_URL'],
    secret: 'url',
  }),
  proxyFile: path(kinds.text().optional(), { doc: 'file that holds the proxy URL', label: 'file' }),
  proxyCa: path(kinds.text().optional(), { doc: 'PEM file of the CA of a TLS proxy', label: 'file' }),
  requireProxy: path(kinds.flag().prefault(false), { doc: 'stop where no proxy is set' }),
  direct: path(kinds.flag().prefault(false), { doc: 'connect without the proxy' }),
  staticIps: path(kinds.addressPair().optional(), {
    doc: 'the two static addresses of the dashboard, with a comma',
    label: 'a,b',
    env: ['STATIC_IPS'],
    commands: toCluster,
  }),
  ipCheckUrl: path(kinds.webAddress().optional(), {
    doc: 'address that answers {"ip": …} with the source address',
    label: 'url',
    env: ['IP_CHECK_URL'],
    secret: 'url',
    commands: toCluster,
  }),
  preflightConnections: path(kinds.whole({ min: 0, max: 64 }).prefault(16), {
    doc: 'most connections that probe the IP filter before the first document; 0 probes with one',
    label: 'count',
  }),
  httpsProxy: path(kinds.secret().optional(), {
    doc: 'the proxy of last resort',
    env: ['HTTPS_PROXY', 'https_proxy'],
    secret: 'url',
    environmentOnly: true,
  }),
  noProxy: path(kinds.text().optional(), {
    doc: 'hosts that HTTPS_PROXY does not serve',
    env: ['NO_PROXY', 'no_proxy'],
    environmentOnly: true,
  }),
}
