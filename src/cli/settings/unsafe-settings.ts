/**
 * Finds settings that must not be used unless the user says so: a configuration file that happens to lie in the working folder may come
 * from somebody else, and an empty variable is more likely a mistake than a wish.
 */
import { type Candidates, settingInForce } from './cross-checks.js'
import { lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { describeOption, type OptionName, optionNames, type Settings } from '../../options/describe-option.js'

/** A receiver of credentials, and the options that let somebody on the route read them. */
interface Receiver {
  readonly urls: readonly OptionName[]
  readonly secrets: readonly OptionName[]
  /** Options that name machines on the route. */
  readonly between?: readonly OptionName[]
  /** Options that let those machines read the traffic. */
  readonly openings?: readonly OptionName[]
  /** Whether an earlier command may have kept tokens for it. */
  readonly hasTokens?: boolean
}

const proxies = ['proxy', 'proxyFile'] as const

const receivers = {
  cluster: {
    urls: ['cloudId', 'url'],
    secrets: ['apiKey', 'apiKeyFile', 'password', 'passwordFile', 'key'],
    between: proxies,
    openings: ['ca', 'caFingerprint', 'allowPlaintext'],
  },
  servicenow: {
    urls: ['servicenowUrl'],
    secrets: [
      'servicenowApiKey',
      'servicenowApiKeyFile',
      'servicenowPassword',
      'servicenowPasswordFile',
      'servicenowClientSecret',
      'servicenowClientSecretFile',
      'servicenowRefreshToken',
      'servicenowRefreshTokenFile',
    ],
    // The doctor also logs in through each node.
    between: [...proxies, 'nodes'],
    openings: ['servicenowCa'],
    hasTokens: true,
  },
  alarm: {
    urls: ['alarmUrl', 'servicenowUrl'],
    secrets: ['alarmPassword', 'alarmPasswordFile', 'alarmClientSecret', 'alarmClientSecretFile'],
    between: proxies,
    openings: ['servicenowCa'],
  },
  // Only the user names the inputs.
  source: { urls: [], secrets: ['sourceToken', 'sourceTokenFile'], between: proxies, openings: ['sourceCa'] },
  from: {
    urls: ['from'],
    secrets: ['fromApiKey', 'fromApiKeyFile', 'fromPassword', 'fromPasswordFile', 'fromProxy', 'fromProxyFile'],
    openings: ['fromCa'],
  },
  admin: { urls: ['adminUrl'], secrets: ['adminKey', 'adminKeyFile'] },
} as const satisfies Readonly<Record<string, Receiver>>

const rows = optionNames.map(describeOption)
/** Options whose files are sent as they are. */
const bodies = rows.filter(({ file }) => file === 'json' || file === 'text').map(({ name }) => name)
/** Options whose files Sluice writes. What lies in a state folder also decides what Sluice loads. */
const written = [...rows.filter(({ file }) => file === 'written').map(({ name }) => name), 'stateDir' as const]
/** Options whose value the shell runs, unless it is a word of ours, or whose file Sluice runs. */
const programs = rows.filter(({ file }) => file === 'run').map(({ name }) => name)
const words: ReadonlySet<unknown> = new Set(['nothing', 'incident'])
/** Options that choose the files that Sluice reads. The author of a configuration file may also choose where Sluice sends their contents. */
const choosing = ['filesFrom', 'queue'] as const satisfies readonly OptionName[]

type CredentialReceiver = keyof typeof receivers

interface Unsafe {
  readonly option: string
  readonly problem: string
}

function whatItDoes(output: OptionName): string {
  if (written.includes(output)) return 'leads out of its folder'
  if (choosing.some(name => name === output)) return 'would choose the files that Sluice reads'
  return output === 'transform' ? 'would run code' : 'would run a command'
}

/** Returns what is unsafe by the receiver of the credentials. `file`: the path of a file that Sluice found by itself. */
export function findUnsafe(
  values: Settings,
  candidates: Candidates,
  { file, env }: { readonly file: string | undefined; readonly env: Readonly<Record<string, string | undefined>> },
): Partial<Readonly<Record<CredentialReceiver | 'proxy' | 'written' | 'allowed', Unsafe>>> {
  const found: Partial<Record<CredentialReceiver | 'proxy' | 'written' | 'allowed', Unsafe>> = {}
  const empty = emptyProxy(values, env)
  if (empty !== undefined) found.proxy = empty
  if (file === undefined) return found
  const allow = `If the file is yours, pass --config ${file} or set SLUICE_CONFIG`
  const isOutside = outsideOf(file, values, candidates)
  const output = harmful(values, candidates, isOutside)
  if (output !== undefined)
    found.written = {
      option: candidates.get(output)?.said ?? output,
      problem: `${NOT_NAMED}, and ${whatItDoes(output)}. ${allow}`,
    }
  if (values.staticIps !== undefined && isInFile('staticIps', candidates))
    found.allowed = {
      option: candidates.get('staticIps')?.said ?? 'staticIps',
      problem: `${NOT_NAMED}, and Sluice would let its addresses through the IP filter. ${allow}`,
    }
  for (const receiver of Object.keys(receivers) as CredentialReceiver[]) {
    const sending = sentBy(receiver, values, candidates, isOutside)
    if (sending === undefined) continue
    const { option, sent } = sending
    const problem = `${NOT_NAMED}. Sluice would send ${sent} there. ${allow}`
    found[receiver] = { option: candidates.get(option)?.said ?? option, problem }
  }
  return found
}

/** Returns what the file would let somebody have, and the option that does. */
function sentBy(
  receiver: CredentialReceiver,
  values: Settings,
  candidates: Candidates,
  isOutside: (name: OptionName) => boolean,
): { readonly option: OptionName; readonly sent: string } | undefined {
  const { urls, secrets, between = [], openings = [], hasTokens }: Receiver = receivers[receiver]
  const inFile = (names: readonly OptionName[]) =>
    names.filter(name => values[name] !== undefined).find(name => isInFile(name, candidates))
  const place = settingInForce(values, urls)
  // A proxy of the file reads nothing, unless the file also says whom to trust, or nothing is encrypted.
  const url = place === undefined ? undefined : values[place]
  const isPlain = typeof url === 'string' && /^http:/i.test(url)
  const reader = isPlain || inFile(openings) !== undefined ? inFile(between) : undefined
  const isPlace = place !== undefined && isInFile(place, candidates)
  const secret = secrets.find(name => values[name] !== undefined && candidates.get(name)?.layer === 'environment')
  const fileSent = [
    ...secrets.filter(isFileOption),
    ...(receiver === 'cluster' ? bodies.filter(name => !isJson(values[name])) : []),
  ].find(isOutside)
  const what = saidOf(secret, fileSent, candidates)
  const tokens = hasTokens === true && reader !== undefined ? 'tokens of an earlier login' : undefined
  const option = isPlace && what !== undefined ? place : reader
  const sent = what ?? tokens
  return sent === undefined || option === undefined ? undefined : { option, sent }
}

function saidOf(
  secret: OptionName | undefined,
  file: OptionName | undefined,
  candidates: Candidates,
): string | undefined {
  if (secret !== undefined) return `${candidates.get(secret)?.said} of the environment`
  return file === undefined ? undefined : `the file of ${candidates.get(file)?.said}`
}

/** Outside the folder of the file may be keys that the user has for others, and files that a shell or a service runs. */
function outsideOf(file: string, values: Settings, candidates: Candidates): (name: OptionName) => boolean {
  return name => {
    const path = values[name]
    return isInFile(name, candidates) && typeof path === 'string' && leadsOut(path, dirname(file))
  }
}

/** Returns an option of the file that would write elsewhere, run something, or choose what Sluice reads. */
function harmful(
  values: Settings,
  candidates: Candidates,
  isOutside: (name: OptionName) => boolean,
): OptionName | undefined {
  const isSet = (name: OptionName) => isInFile(name, candidates) && values[name] !== undefined
  const isProgram = (name: OptionName) => isSet(name) && !words.has(values[name])
  return written.find(isOutside) ?? programs.find(isProgram) ?? choosing.find(isSet)
}

const NOT_NAMED = 'is in a configuration file that the command does not name'

function isJson(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('{')
}

function isFileOption(name: OptionName): boolean {
  return name.endsWith('File')
}

function isInFile(name: OptionName, candidates: Candidates): boolean {
  return candidates.get(name)?.layer === 'file'
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

/** Returns whether a path leads out of a folder, also by a symbolic link. The file may be missing. */
function leadsOut(path: string, folder: string): boolean {
  const [real, from] = [realPath(resolve(path)), realPath(resolve(folder))]
  if (real === undefined || from === undefined) return true
  const way = relative(from, real)
  return isAbsolute(way) || way === '..' || way.startsWith(`..${sep}`)
}

/** Returns undefined for a link that leads to nothing yet: who writes there would make a file in a place unknown here. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
    const folder = isLink || dirname(path) === path ? undefined : realPath(dirname(path))
    return folder === undefined ? undefined : join(folder, basename(path))
  }
}
