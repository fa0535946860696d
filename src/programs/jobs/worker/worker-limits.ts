/** Limits a worker, whatever the queue says: the inputs that it loads, the indices that it fills, and the folder that it writes to. */
import { basename, join, resolve } from 'node:path'
import { fail } from '../../../base/failure/failure.js'
import { isSourceUrl } from '../../../base/text/source-url.js'
import type { JobData, RangeData } from '../job.js'
import { shownName } from '../queue/check-entry.js'

export interface WorkerLimits {
  /** Patterns with `*`, which stands for any characters. Absent: all. */
  readonly inputs?: readonly string[]
  readonly indices?: readonly string[]
  /** Folder for dead letters. Absent: the one of the job. */
  readonly letters?: string
  /** The one job that this process works on, without a word about others. */
  readonly job?: string
  /** Options that would set the limits and are missing, so that a job decides. */
  readonly missing?: readonly string[]
}

/** Returns why this worker leaves the job to others. Undefined if it may work on it. */
export function whyNotTaken(
  { inputs, indices }: WorkerLimits,
  { sources, index, settings = {} }: Pick<JobData, 'sources' | 'index'> & Partial<Pick<JobData, 'settings'>>,
): string | undefined {
  const input = sources.find(source => !isAmong(inputs, placeOf(source)))
  if (input !== undefined) return `its input ${shownName(input)} is not among --only-inputs`
  const into = [index, settings['index'], settings['swapAlias']].filter(name => name !== undefined).map(String)
  const other = into.find(name => !isAmong(indices, name))
  return other === undefined ? undefined : `its index ${shownName(other)} is not among --only-index`
}

/** Throws SluiceError OPTION_INVALID if this worker may not look into an input that a pattern of the job found. */
export function checkFound(limits: WorkerLimits, name: string): void {
  if (isAmong(limits.inputs, placeOf(name))) return
  const problem = `it finds ${shownName(name)}, which is not among --only-inputs`
  throw fail('OPTION_INVALID', { option: 'the input of the job', problem })
}

/** Throws SluiceError OPTION_INVALID if this worker may not load the range. */
export function checkRange(limits: WorkerLimits, { inputs, index }: Pick<RangeData, 'inputs' | 'index'>): void {
  const problem = whyNotTaken(limits, { sources: inputs.map(({ name }) => name), index })
  if (problem !== undefined) throw fail('OPTION_INVALID', { option: 'the range of the job', problem })
}

/** Returns the folder for the dead letters of a job. */
export function lettersFolder({ letters }: WorkerLimits, folder: string): string {
  // Only the last part of a path from outside is used, and it names no other folder.
  const name = basename(folder).replace(/^\.+/, '')
  return letters === undefined ? folder : join(resolve(letters), name === '' ? 'dead-letters' : name)
}

function isAmong(patterns: readonly string[] | undefined, name: string): boolean {
  return patterns === undefined || patterns.some(pattern => fits(isPath(pattern) ? resolve(pattern) : pattern, name))
}

function isPath(pattern: string): boolean {
  return pattern.startsWith('.') || pattern.startsWith('/')
}

/** Resolves `..`, also in the path of a URL. */
function placeOf(source: string): string {
  if (!isSourceUrl(source)) return resolve(source)
  const [, start = '', path = ''] = /^(\w+:\/\/[^/]*)(.*)$/s.exec(source) ?? []
  return start + (path === '' ? '' : resolve('/', path.slice(1)))
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
