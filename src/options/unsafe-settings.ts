/**
 * Finds settings that must not be used unless the user says so: a configuration file that happens to lie in the working folder may come
 * from somebody else, and an empty variable is more likely a mistake than a wish.
 */
import { type Candidates, settingInForce } from './cross-checks.js'
import { describeOption } from './describe-option.js'
import type { OptionName, Settings } from './table.js'

/** Where credentials are sent to, and which. */
const receivers = {
  cluster: [
    ['cloudId', 'url'],
    ['apiKey', 'apiKeyFile', 'password', 'passwordFile', 'key'],
  ],
  servicenow: [
    ['servicenowUrl'],
    [
      'servicenowPassword',
      'servicenowPasswordFile',
      'servicenowClientSecret',
      'servicenowClientSecretFile',
      'servicenowRefreshToken',
      'servicenowRefreshTokenFile',
    ],
  ],
  alarm: [['alarmUrl'], ['alarmPassword', 'alarmPasswordFile', 'alarmClientSecret', 'alarmClientSecretFile']],
  admin: [['adminUrl'], ['adminKey', 'adminKeyFile']],
} as const satisfies Readonly<Record<string, readonly (readonly OptionName[])[]>>

/** With one of these, a proxy can read what is sent to a cluster. */
const openings = ['ca', 'caFingerprint', 'allowPlaintext'] as const

export type CredentialReceiver = keyof typeof receivers

export interface Unsafe {
  readonly option: string
  readonly problem: string
}

/** Returns what is unsafe by the receiver of the credentials. `file`: the path of a file that nobody named. */
export function findUnsafe(
  values: Settings,
  candidates: Candidates,
  { file, env }: { readonly file: string | undefined; readonly env: Readonly<Record<string, string | undefined>> },
): Partial<Readonly<Record<CredentialReceiver | 'proxy', Unsafe>>> {
  const found: Partial<Record<CredentialReceiver | 'proxy', Unsafe>> = {}
  const empty = emptyProxy(values, env)
  if (empty !== undefined) found.proxy = empty
  if (file === undefined) return found
  for (const receiver of Object.keys(receivers) as CredentialReceiver[]) {
    const [urls, secrets] = receivers[receiver]
    const secret = secrets
      .filter(name => values[name] !== undefined)
      .map(name => candidates.get(name))
      .find(candidate => candidate?.layer === 'environment')
    const place =
      fromFile(settingInForce(values, urls), candidates) ??
      (receiver === 'cluster' ? proxyInBetween(values, candidates) : undefined)
    if (secret === undefined || place === undefined) continue
    const problem = `is in a configuration file that the command does not name. Sluice would send ${secret.said} of the environment there. If the file is yours, pass --config ${file} or set SLUICE_CONFIG`
    found[receiver] = { option: place, problem }
  }
  return found
}

function fromFile(name: OptionName | undefined, candidates: Candidates): string | undefined {
  const candidate = name === undefined ? undefined : candidates.get(name)
  return candidate?.layer === 'file' ? candidate.said : undefined
}

/** A proxy of the file reads nothing, unless the file also says whom to trust. */
function proxyInBetween(values: Settings, candidates: Candidates): string | undefined {
  const opening = openings.find(name => fromFile(name, candidates) !== undefined && values[name] !== undefined)
  return opening === undefined ? undefined : fromFile(settingInForce(values, ['proxy', 'proxyFile']), candidates)
}

/** A variable that was meant to hold the proxy, and holds nothing: a load would connect directly. */
function emptyProxy(values: Settings, env: Readonly<Record<string, string | undefined>>): Unsafe | undefined {
  if (values.proxy !== undefined || values.proxyFile !== undefined || values.direct) return undefined
  const variables = [...describeOption('proxy').env, ...describeOption('proxyFile').env]
  const option = variables.find(name => env[name] === '')
  return option === undefined
    ? undefined
    : { option, problem: 'is empty, so no proxy would be used. Set it, unset it, or pass --direct' }
}
