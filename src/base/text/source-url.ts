/** Reads the names of inputs that lie on a server, and keeps their secrets out of everything that is shown or stored. */
import { createHash } from 'node:crypto'

/** An input on a server, as its name says it. */
export interface SourceUrl {
  /** Without credentials, and without a query that may hold some. It is shown, and Sluice knows the object by it. */
  readonly name: string
  /** As it is requested. Only of http and https. */
  readonly url?: URL
  readonly username?: string
  readonly password?: string
  /** The secrets that no output may show. */
  readonly secrets: readonly string[]
}

/** Returns whether an input is an object on a server. */
export function isSourceUrl(name: string): boolean {
  const form = formOf(name)
  return form !== undefined && inputForms[form].isObject
}

/** Parameters that hold a signature. */
const SIGNATURE = /^(x-(amz|goog|oss)-signature|signature|sig)$/i
/**
 * What stands beside a signature: who signed, for how long, and headers of the answer. The next URL of the same object has others. All
 * other parameters say which object it is, also in a URL that is signed.
 */
const OF_SIGNATURE =
  /^(x-(amz|goog|oss|ms)-.*|x-id|response-.*|expires|policy|key-pair-id|(aws|oss)accesskeyid|googleaccessid|security-token)$/i
/** The same of Azure, whose names are short. They stand beside `sig`. */
const OF_SHARED_ACCESS = /^(s[vrpiest]|ss|srt|spr|sip|sdd|scid|ses|s[au]oid|sk(oid|tid|t|e|s|v)|rsc[cdelt])$/i
/** Shorter values stand in any text. */
const SHORTEST = 6

/** Takes the name apart. Returns undefined if it is not a URL that can be read. */
export function readSourceUrl(text: string): SourceUrl | undefined {
  if (formOf(text) === 's3') return readBucketUrl(text)
  // The parser ends the host at the first slash, so that a password with one would become part of the path.
  if (!URL.canParse(text) || /[\s\\]/.test(text) || new URL(text).pathname.includes('@')) return undefined
  const url = new URL(text)
  const username = decoded(url.username)
  const password = decoded(url.password)
  if (username === undefined || password === undefined) return undefined
  url.username = ''
  url.password = ''
  url.hash = ''
  const values = [...url.searchParams.values()].filter(value => value.length >= SHORTEST)
  const secrets = [
    password,
    encodeURIComponent(password),
    url.search.slice(1),
    ...values,
    ...values.map(encodeURIComponent),
  ]
  const login = username === '' && password === '' ? {} : { username, password }
  return { name: nameOf(url), url, ...login, secrets: secrets.filter(secret => secret !== '') }
}

/** Returns whether the URL itself is the login: its query holds a signature. */
export function isSigned({ searchParams }: URL): boolean {
  return [...searchParams.keys()].some(name => SIGNATURE.test(name))
}

/** Returns the name as it may be shown. Other names stay as they are. */
export function shownSource(name: string): string {
  if (!isSourceUrl(name)) return name
  return readSourceUrl(name)?.name ?? `${name.slice(0, name.indexOf('://') + 3)}***`
}

/** Splits `s3://BUCKET/KEY`. A key may hold any character. */
export function bucketAndKey(name: string): { readonly bucket: string; readonly key: string } {
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]*)\/?(.*)$/is.exec(name) ?? []
  return { bucket, key }
}

function readBucketUrl(text: string): SourceUrl | undefined {
  const { bucket, key } = bucketAndKey(text)
  return /^[a-z0-9][a-z0-9._-]+$/i.test(bucket) ? { name: `s3://${bucket}/${key}`, secrets: [] } : undefined
}

/** Another query may lead to another object. A hash tells them apart without showing a secret. */
function nameOf(url: URL): string {
  const { origin, pathname, search, searchParams } = url
  const query = isSigned(url) ? unsigned(searchParams) : search
  if (query === '') return origin + pathname
  return `${origin}${pathname}?~${createHash('sha256').update(query).digest('base64url').slice(0, 10)}`
}

/** Returns a query without what the next signature changes. */
function unsigned(all: URLSearchParams): string {
  const isShared = all.has('sig')
  const left = [...all].filter(
    ([name]) => !SIGNATURE.test(name) && !OF_SIGNATURE.test(name) && !(isShared && OF_SHARED_ACCESS.test(name)),
  )
  return new URLSearchParams(left).toString()
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

interface InputForm {
  readonly begins: RegExp
  /** Whether it names an object on a server: its name may hold secrets. */
  readonly isObject: boolean
  /** Whether each worker of a job can open it by its name. */
  readonly isShared: boolean
  /** Why it cannot be followed. */
  readonly unfollowed: string
}

const ON_SERVER = 'cannot follow an input on a server'

const forms = {
  web: {
    begins: /^https?:\/\//i,
    isObject: true,
    isShared: true,
    unfollowed: ON_SERVER,
  },
  s3: {
    begins: /^s3:\/\//i,
    isObject: true,
    isShared: true,
    unfollowed: ON_SERVER,
  },
  servicenow: {
    begins: /^servicenow:/,
    isObject: false,
    isShared: false,
    unfollowed: 'cannot follow a table. Run the load at intervals. Later runs read only changes',
  },
  elasticsearch: {
    begins: /^elasticsearch:/,
    isObject: false,
    isShared: true,
    unfollowed:
      'cannot follow an index of another cluster. Run the load at intervals. Later runs read only what was written since',
  },
} as const satisfies Readonly<Record<string, InputForm>>

type FormName = keyof typeof forms

export const inputForms: Readonly<Record<FormName, InputForm>> = forms

const formNames = Object.keys(forms) as FormName[]

/** Returns undefined for a path, and for stdin. */
export function formOf(name: string): FormName | undefined {
  return formNames.find(form => forms[form].begins.test(name))
}

/** Returns whether a name is that of a file or a glob. A relative one depends on the working folder. */
export function isPath(name: string): boolean {
  return name !== '-' && formOf(name) === undefined
}
