/** Takes the URLs among the inputs apart, so that no secret of theirs goes any further. */
import type { IngestSource } from '../pipeline/source/open-sources.js'
import { formOf, isSourceUrl, readSourceUrl, type SourceUrl } from '../base/text/source-url.js'
import { checkRemoteOptions } from './check-options.js'
import type { RemoteOptions } from './ingest-options.js'
import type { RemoteSection } from './load.js'
import { listedIn, namedIn } from './names.js'
import { invalid } from './option-checks.js'

/** Returns the inputs under names without secrets, and how to reach them. Throws SluiceError OPTION_INVALID. */
export function splitRemote(
  source: IngestSource,
  remote: RemoteOptions = {},
): { source: IngestSource; remote: RemoteSection | undefined } {
  checkRemoteOptions(remote)
  const names = [...namedIn(source), ...(listedIn(source) ?? [])].filter(isSourceUrl)
  if (names.length === 0) return { source, remote: undefined }
  const read = new Map(names.map(name => [name, urlIn(name)]))
  const addresses = new Map<string, SourceUrl>()
  // Of two URLs of one object, the last one was signed last.
  for (const one of read.values()) addresses.set(one.name, one)
  const { throughProxy = false, ca, token } = remote
  refuseSpread(addresses, token)
  return {
    source: renamed(source, name => read.get(name)?.name ?? name),
    remote: Object.freeze({ addresses, throughProxy, ca, token }),
  }
}

function urlIn(name: string): SourceUrl {
  const url = readSourceUrl(name)
  if (url !== undefined) return url
  const scheme = name.slice(0, name.indexOf(':'))
  const form = formOf(name) === 's3' ? 's3://BUCKET/KEY' : `${scheme}://HOST/PATH, with encoded credentials`
  throw invalid('source', `holds an input that begins with ${scheme}:// and is not a URL. Write ${form}`)
}

/** A token is for one server. */
function refuseSpread(addresses: ReadonlyMap<string, SourceUrl>, token: string | undefined): void {
  const own = [...addresses.values()].filter(({ url, username }) => url !== undefined && username === undefined)
  const origins = new Set(own.map(({ url }) => url?.origin))
  if (token !== undefined && origins.size > 1)
    throw invalid('remote.token', `would go to ${origins.size} servers. Use a separate command for each server`)
}

function renamed(source: IngestSource, nameOf: (name: string) => string): IngestSource {
  if (typeof source === 'string') return nameOf(source)
  const listed = listedIn(source)
  if (listed !== undefined) return { files: listed.map(nameOf) }
  return Array.isArray(source)
    ? source.map((name: unknown) => (typeof name === 'string' ? nameOf(name) : name))
    : source
}
