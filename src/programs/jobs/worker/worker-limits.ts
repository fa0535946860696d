/** Limits a worker, whatever the queue says: the inputs that it loads, the indices that it fills, and the folder that it writes to. */
import { basename, join, resolve } from 'node:path'
import { fail } from '../../../base/failure/failure.js'
import { isSourceUrl, readSourceUrl } from '../../../base/text/source-url.js'
import { isForeignIndex } from '../../../options/names.js'
import type { JobData, RangeData } from '../job.js'
import { shownFromQueue } from '../queue/check-entry.js'

export interface WorkerLimits {
  /** Patterns with `*`, which stands for any characters. Absent: all. */
  readonly inputs?: readonly string[]
  readonly indices?: readonly string[]
  /** URL of the other cluster that this worker may read, without credentials. Absent: it reads none. */
  readonly from?: string
  /** Folder for dead letters. Absent: the one of the job. */
  readonly letters?: string
  /** The one job that this process works on, without a word about others. */
  readonly job?: string
  /** Options that would set the limits and are missing, so that a job decides. */
  readonly missing?: readonly string[]
}

/** Returns why this worker leaves the job to others. Undefined if it may work on it. */
export function whyNotTaken(
  { inputs, indices, job, from }: WorkerLimits,
  {
    sources,
    index,
    settings = {},
    from: wantedFrom,
  }: Pick<JobData, 'sources' | 'index' | 'from'> & Partial<Pick<JobData, 'settings'>>,
): string | undefined {
  // The credentials of this worker go nowhere else.
  if (wantedFrom !== undefined && wantedFrom !== from)
    return `it reads ${shownFromQueue(wantedFrom)}, which is not --from of this worker`
  const input = sources.find(source => !isAmong(inputs, placeOf(source)))
  if (input !== undefined) return `its input ${shownFromQueue(input)} is not ${wanted(job)}`
  const into = [index, settings['index'], settings['swapAlias']].filter(name => name !== undefined).map(String)
  const other = into.find(name => indices?.some(pattern => fits(pattern, name)) === false)
  return other === undefined ? undefined : `its index ${shownFromQueue(other)} is not among --only-index`
}

/** Throws SluiceError OPTION_INVALID if this worker may not look into an input that a pattern of the job found. */
export function checkFound(limits: WorkerLimits, name: string): void {
  if (isAmong(limits.inputs, placeOf(name))) return
  const problem = `it finds ${shownFromQueue(name)}, which is not ${wanted(limits.job)}`
  throw fail('OPTION_INVALID', { option: 'the input of the job', problem })
}

/** Throws SluiceError OPTION_INVALID if this worker may not load the range. */
export function checkRange(limits: WorkerLimits, { inputs, index }: Pick<RangeData, 'inputs' | 'index'>): void {
  const problem = whyNotTaken(limits, { sources: inputs.map(({ name }) => name), index })
  if (problem !== undefined) throw fail('OPTION_INVALID', { option: 'the range of the job', problem })
}

/** A worker has its limits from an option, and a command from its own inputs. */
function wanted(job: string | undefined): string {
  return job === undefined ? 'among --only-inputs' : 'an input of this command'
}

/** Returns the folder for the dead letters of a job. */
export function lettersFolder({ letters }: WorkerLimits, folder: string): string {
  // Only the last part of a path from outside is used, and it names no other folder.
  const name = basename(folder).replace(/^\.+/, '')
  return letters === undefined ? folder : join(resolve(letters), name === '' ? 'dead-letters' : name)
}

function isAmong(patterns: readonly string[] | undefined, place: string | undefined): boolean {
  if (patterns === undefined) return true
  return place !== undefined && patterns.some(pattern => fitsPlace(pattern, place))
}

/** In the name of a server, `*` stands for no slash: another server could have the rest of the name in its path. */
function fitsPlace(pattern: string, place: string): boolean {
  const [server, path] = atServer(pattern)
  if (server === undefined) return fits(isPath(pattern) ? resolve(pattern) : pattern, place)
  const [ofPlace, pathOfPlace] = atServer(place)
  if (ofPlace === undefined || !fits(withoutUsualPort(server.toLowerCase()), ofPlace.toLowerCase())) return false
  return fits(path === '' && server.endsWith('*') ? '*' : path, pathOfPlace)
}

/** Splits the name of an object behind its server. The first part is undefined for all other names. */
function atServer(name: string): readonly [server: string | undefined, path: string] {
  const [, server, path = ''] = /^([^/]*:\/\/[^/]*)(.*)$/s.exec(name) ?? []
  return [server, path]
}

/** A place does not name it. */
function withoutUsualPort(server: string): string {
  return server.replace(/^(?:(https:.*):443|(http:.*):80)$/, '$1$2')
}

function isPath(pattern: string): boolean {
  return pattern.startsWith('.') || pattern.startsWith('/')
}

/** Returns what a load opens under a name. Undefined: nobody can say which object a server finds there. */
function placeOf(source: string): string | undefined {
  if (isForeignIndex(source)) return source
  if (!isSourceUrl(source)) return resolve(source)
  const read = readSourceUrl(source)
  const [, path] = atServer(read?.name ?? '')
  return hasStepUp(path) ? undefined : read?.name
}

/** Returns whether a server may take a part of a path for the folder above. Some decode the path before they look. */
function hasStepUp(path: string): boolean {
  return /(?:^|[/\\])\.\.(?:[/\\;]|$)/.test(path.replaceAll(/%(?:2e|2f|5c|3b)/gi, decodeURIComponent))
}

/** Every text is a pattern. A pattern from the command line has few stars, so that no text takes long. */
function fits(pattern: string, name: string): boolean {
  const parts = pattern.split('*')
  const [first = '', ...rest] = parts
  if (rest.length === 0) return name === pattern
  if (!name.startsWith(first)) return false
  let at = first.length
  const last = rest.pop() ?? ''
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}
