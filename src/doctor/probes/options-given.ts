import type { Probe } from '../probe.js'

/** Those that decide the way; `sluice config` shows all. */
const ofTheWay = ['url', 'cloudId', 'apiKey', 'apiKeyFile', 'username', 'proxy', 'proxyFile', 'httpsProxy', 'staticIps', 'ipCheckUrl', 'index', 'servicenowUrl', 'servicenowGrant'] // prettier-ignore

/** The options in force and where each came from. */
export const optionsGiven: Probe = {
  name: 'options',
  isPure: true,
  look: ({ options: { settings = [], staticIps, proxy, target }, plaintext, way }) => {
    const told = settings.filter(({ name, from }) => ofTheWay.includes(name) && from !== 'default')
    const from = told.map(({ name, from: origin }) => `${name} from ${origin}`)
    const isDirect = typeof proxy === 'object' && 'direct' in proxy && proxy.direct === true
    return {
      detail: plaintext?.message ?? ([...from, ...way.notes].join(', ') || 'as they were given'),
      failed: plaintext !== undefined,
      facts: {
        ...(settings.length === 0 ? {} : { settings }),
        ...(staticIps === undefined ? {} : { staticIps }),
        ...(way.notes.length === 0 ? {} : { notes: way.notes }),
        ...(plaintext === undefined ? {} : { plaintext }),
        ...(isDirect ? { isDirect } : {}),
        ...(target.apiKey === undefined ? {} : { isKeyEncoded: isEncoded(target.apiKey) }),
      },
    }
  },
}

function isEncoded(apiKey: string): boolean {
  return /^[\x21-\x7e]+:[\x21-\x7e]+$/.test(Buffer.from(apiKey, 'base64').toString('latin1'))
}
