/** The questions of `sluice init`, and the answers that a finding of the doctor puts in doubt. */
import { access } from 'node:fs/promises'
import type { FailureCode } from '../../../base/failure/failure.js'
import type { Effective } from '../../settings/resolve.js'
import type { OptionName, Settings } from '../../../options/describe-option.js'

/** Flags that the user would have typed. Undefined removes an earlier answer. */
export type Answers = { readonly [K in OptionName]?: string | boolean | undefined }

/** Asks for one line. `isHidden`: a secret. */
export type AskLine = (question: string, isHidden?: boolean) => Promise<string>

export interface SetupQuestion {
  readonly name: OptionName
  /** How to set it without a terminal. */
  readonly how: string
  readonly isOptional?: true
  isSet(values: Settings): boolean | Promise<boolean>
  /** Returns undefined if the user only pressed Enter. */
  ask(line: AskLine): Promise<Answers | undefined>
}

const given = (name: OptionName, text: string) => (text === '' ? undefined : { [name]: text })

const proxy: SetupQuestion = {
  name: 'proxy',
  how: 'the proxy: STATIC_PROXY_URL, --proxy-file, or --direct',
  isSet: async ({ proxy: url, proxyFile, direct }) => url !== undefined || direct || (await isThere(proxyFile)),
  ask: async line => {
    const url = await line('URL of your static-IP proxy, from the dashboard of your provider (hidden, or none):', true)
    if (url !== 'none') return url === '' ? undefined : { proxy: url, direct: undefined }
    return { proxy: undefined, direct: true }
  },
}

const proxyCa: SetupQuestion = {
  name: 'proxyCa',
  how: '--proxy-ca',
  isOptional: true,
  isSet: values => values.proxyCa !== undefined,
  ask: async line => given('proxyCa', await line('PEM file of the CA that signed the certificate of the proxy:')),
}

const cluster: SetupQuestion = {
  name: 'url',
  how: 'the cluster: --url, ELASTICSEARCH_URL, or --cloud-id',
  isSet: ({ url }) => url !== undefined,
  ask: async line => {
    const text = await line('URL or cloud id of the cluster (https://HOST:PORT):')
    if (text === '') return undefined
    const isUrl = /^[a-z]+:\/\//i.test(text) || !text.includes(':')
    return isUrl ? { url: text, cloudId: undefined } : { cloudId: text, url: undefined }
  },
}

const ca: SetupQuestion = {
  name: 'ca',
  how: '--ca',
  isOptional: true,
  isSet: values => values.ca !== undefined,
  ask: async line => given('ca', await line('PEM file of the CA that signed the certificate of the cluster:')),
}

const staticIps: SetupQuestion = {
  name: 'staticIps',
  how: 'the static addresses: STATIC_IPS',
  isOptional: true,
  isSet: values => values.staticIps !== undefined || values.direct,
  ask: async line => given('staticIps', await line('Your two static addresses, with a comma between them:')),
}

const credentials: SetupQuestion = {
  name: 'apiKey',
  how: 'the credentials: ELASTICSEARCH_API_KEY, --api-key-file, or ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD',
  isSet: async ({ apiKey, apiKeyFile, password, passwordFile }) =>
    apiKey !== undefined || password !== undefined || (await isThere(apiKeyFile)) || (await isThere(passwordFile)),
  ask: async line => {
    const key = await line('API key in its encoded form (hidden, or none for a user name):', true)
    if (key !== 'none') return key === '' ? undefined : { apiKey: key, username: undefined, password: undefined }
    const username = await line('User name:')
    const password = await line('Password (hidden):', true)
    return username === '' || password === '' ? undefined : { apiKey: undefined, username, password }
  },
}

const index: SetupQuestion = {
  name: 'index',
  how: '--index',
  isOptional: true,
  isSet: values => values.index !== undefined,
  ask: async line => given('index', await line('Index to load into first:')),
}

async function isThere(file: string | undefined): Promise<boolean> {
  if (file === undefined) return false
  return await access(file).then(
    () => true,
    // A colleague gets the configuration file without the secrets, so the file that it names may be missing.
    (error: unknown) => (error as NodeJS.ErrnoException).code !== 'ENOENT',
  )
}

/** A step of the setup: some questions, then a look by the doctor. */
export interface SetUpStep {
  readonly questions: readonly SetupQuestion[]
  readonly checks: 'proxy' | 'route' | 'credentials' | 'index'
}

export const steps: readonly SetUpStep[] = [
  { questions: [proxy], checks: 'proxy' },
  { questions: [cluster, staticIps], checks: 'route' },
  { questions: [credentials], checks: 'credentials' },
  { questions: [index], checks: 'index' },
]

/** Returns the questions that are still open. */
export async function openQuestions(
  { questions }: SetUpStep,
  { values }: Effective,
): Promise<readonly SetupQuestion[]> {
  const isSet = await Promise.all(questions.map(async one => await one.isSet(values)))
  return questions.filter((_, at) => !isSet[at])
}

/** Returns the questions whose answers may be the cause of a finding. */
export function doubtful(code: FailureCode): readonly SetupQuestion[] {
  if (code === 'PROXY_CERT_INVALID') return [proxy, proxyCa]
  if (code === 'PROXY_DENIED_TARGET' || code === 'PROXY_TARGET_UNREACHABLE') return [cluster, proxy]
  if (code.startsWith('PROXY_')) return [proxy]
  if (code === 'EGRESS_UNEXPECTED') return [staticIps]
  if (/^(EGRESS|FILTER)_/.test(code)) return []
  if (code === 'CLUSTER_AUTH_REJECTED') return [credentials]
  if (code === 'CLUSTER_PRIVILEGE_MISSING') return [credentials, index]
  if (code.startsWith('INDEX_')) return [index]
  return code === 'CLUSTER_CERT_INVALID' ? [cluster, ca] : [cluster]
}
