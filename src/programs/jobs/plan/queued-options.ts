/** Chooses the options of a load that go to the queue, and takes them from there. Secrets, and how a worker connects, never do. */
import { hostname } from 'node:os'
import { basename, resolve } from 'node:path'
import { fail, isSluiceError, type SluiceError } from '../../../base/failure/failure.js'
import { parseObject } from '../../../base/json/parse-json.js'
import {
  defaults,
  describeOption,
  type OptionName,
  optionNames,
  type Settings,
} from '../../../options/describe-option.js'
import { foreignIndicesIn } from '../../../options/names.js'
import { copiesMapping, invalid } from '../../../options/option-checks.js'
import { clusterPlace } from '../../../base/addresses.js'
import { keyOf, newRunId } from '../../../base/checksum/tokens.js'
import { formOf, inputForms, readSourceUrl } from '../../../base/text/source-url.js'
import { visible } from '../../../base/text/shown.js'
import type { JobData } from '../job.js'
import { mostSharing } from './rate-share.js'

/** Returns whether an option goes to the queue. */
function isQueued(name: OptionName): boolean {
  const { commands, queued = false, secret, environmentOnly } = describeOption(name)
  return queued !== false && secret === undefined && environmentOnly !== true && commands.includes('ingest')
}

/** Returns whether a job of these values holds the option. Without a plan, what happens near its end says nothing. */
function isGiven(name: OptionName, values: Settings): boolean {
  const isOfPlan = (ofPlan as readonly OptionName[]).includes(name)
  return isQueued(name) && values[name] !== undefined && (!isOfPlan || values.plan !== undefined)
}

/** The options of the monthly plan. A worker keeps to its own, if it has one. */
const ofPlan = ['plan', 'planDay', 'planLimit'] as const satisfies readonly OptionName[]

/** Returns whether another value makes other documents, and so another job. */
function makesDocuments(name: OptionName): boolean {
  return describeOption(name).queued === 'documents'
}

/** Settings of a command, and where each comes from. */
interface Given {
  readonly values: Settings
  readonly origins: Readonly<Record<OptionName, string>>
}

interface NamedJob {
  readonly name: string
  /** Whether the command begins a new load each time, so that the name is one of several. */
  readonly isAnew: boolean
  readonly data: JobData
}

/** Throws SluiceError OPTION_INVALID for what only one machine can load. */
export function queuedJob(effective: Given, sources: readonly string[], cwd: string): NamedJob {
  const { values, origins } = effective
  for (const { name, notByWorkers } of optionNames.map(describeOption))
    if (notByWorkers !== undefined && values[name] !== undefined && values[name] !== false)
      throw invalid(origins[name], `cannot be combined with --queue: ${notByWorkers}`)
  if (values.mapping === 'infer')
    throw invalid(
      origins.mapping,
      "is 'infer', but workers read parts of the inputs. Pass the file of sluice infer instead",
    )
  if (values.runId !== undefined && values.ids === 'cluster')
    throw invalid(
      origins.runId,
      'promises that a repeated run stores nothing twice, which is impossible with --ids cluster',
    )
  const { index, swapAlias, runId, again, url = '', byteBudget } = values
  const from = fromOf(effective, sources)
  const into = swapAlias ?? index ?? ''
  const settings = Object.fromEntries(
    optionNames.flatMap(name => (isGiven(name, values) ? [[name, values[name]]] : [])),
  )
  const named = sources.map(source => placeOf(source, cwd))
  const documents = documentsOf(settings)
  const isAnew = runId === undefined && (again || swapAlias !== undefined)
  const name =
    runId ??
    (isAnew ? newRunId() : nameOf(into, keyOf([url, into, named, documents, ...(from === undefined ? [] : [from])])))
  return {
    name,
    isAnew,
    data: {
      version: 1,
      sources: named,
      settings,
      url,
      ...(from === undefined ? {} : { from }),
      index: into,
      ...sizesOf(effective),
      ...(byteBudget === undefined ? {} : { byteBudget }),
      deadLetters: resolve(cwd, values.deadLetters ?? `sluice-dead-letters-${name}`),
      host: hostname(),
      made: new Date().toISOString(),
    },
  }
}

/** Returns the cluster that holds the inputs. Workers go there with credentials of their own. */
function fromOf({ values, origins }: Given, sources: readonly string[]): string | undefined {
  const isIndex = foreignIndicesIn(sources).length > 0
  if (isIndex && values.from === undefined)
    throw invalid('--from', 'is needed for elasticsearch:INDEX: the URL of the cluster that holds it')
  if (!isIndex && values.from !== undefined)
    throw invalid(origins.from, 'needs an index as input, as in elasticsearch:orders')
  const line = Object.values(values.set ?? {}).some(value => JSON.stringify(value).includes('{line}'))
  if (isIndex && line)
    throw invalid(origins.set, 'holds {line}, but workers read parts of an index, which has no numbers of lines')
  return values.from === undefined ? undefined : clusterPlace(values.from)
}

/** Returns the settings that say which documents a job makes. */
export function documentsOf(settings: JobData['settings']): JobData['settings'] {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => isKnown(name) && makesDocuments(name)))
}

/**
 * A budget must pay for some ranges, because one that is not loaded to its end is loaded again from its start. So a small budget is for fewer
 * and smaller ranges at the same time.
 */
const OF_BUDGET = 1 / 4
const LEAST_RANGE_BYTES = 256 << 10

function sizesOf({ values }: Given): Pick<JobData, 'rangeBytes' | 'concurrency'> {
  const { rangeBytes, byteBudget = Infinity, maxRate } = values
  const bytes = byteBudget * OF_BUDGET
  const most = Math.min(values.concurrency, Math.floor(bytes / LEAST_RANGE_BYTES), mostSharing(maxRate))
  const concurrency = Math.max(1, most)
  return { concurrency, rangeBytes: Math.min(rangeBytes, Math.max(LEAST_RANGE_BYTES, Math.floor(bytes / concurrency))) }
}

/** Returns which option a job cannot have, and why. Undefined if it may have all of them. */
export function problemInSettings(settings: JobData['settings']): string | undefined {
  try {
    checkSettings(settings)
    return undefined
  } catch (error) {
    if (isSluiceError(error)) return `${error.code}: ${error.message}`
    throw error
  }
}

/**
 * Refuses the options of a job that its sender would have refused. A queue may hold a job of a changed or newer sender, and a worker
 * must not run code or read files because a job names them. Throws SluiceError OPTION_INVALID.
 */
function checkSettings(settings: JobData['settings']): void {
  for (const [name, value] of Object.entries(settings)) {
    if (!isKnown(name) || !isQueued(name))
      throw refusal(
        name,
        'is an option that a job cannot have. Use the same version of Sluice for the job and its workers',
      )
    const { notByWorkers, file } = describeOption(name)
    if (notByWorkers !== undefined && value !== undefined && value !== false)
      throw refusal(name, `is an option that a job cannot have: ${notByWorkers}`)
    if (name === 'mapping' && copiesMapping(value)) continue
    // A job holds the text of a file.
    if (file === 'json' && (typeof value !== 'string' || !isJsonText(value)))
      throw refusal(name, 'holds no JSON. A job cannot name files of a worker')
    const problem =
      file === 'json' || file === 'text' ? (typeof value === 'string' ? undefined : 'is no text') : wrong(name, value)
    if (problem !== undefined) throw refusal(name, visible(problem.slice(0, SHOWN_PROBLEM)))
  }
}

/** Checks a value as its row in the table does for a program. */
function wrong(name: OptionName, value: unknown): string | undefined {
  return value === undefined ? undefined : describeOption(name).kind.check(value)
}

function isJsonText(text: string): boolean {
  return text.startsWith('{') && parseObject(text) !== undefined
}

/** Characters of what is wrong with a value, which may repeat the value. */
const SHOWN_PROBLEM = 200

/** The name comes from outside. */
function refusal(name: string, problem: string): SluiceError {
  return fail('OPTION_INVALID', { option: `${visible(name.slice(0, SHOWN))} of the job`, problem })
}

/**
 * Returns the options of a job as this process has them, with its own access. Throws SluiceError OPTION_INVALID for an option that no
 * job may have.
 */
export function withJob<E extends Given>(effective: E, { settings, from }: Pick<JobData, 'settings' | 'from'>): E {
  checkSettings(settings)
  const queued = Object.entries(settings)
  const rest = Object.fromEntries(optionNames.filter(isQueued).map(name => [name, undefined]))
  // All workers share the budget of the job, and the plan of its proxy: see `planFor`.
  const shared = { byteBudget: undefined, plan: undefined }
  // A worker that may read another cluster also loads files.
  const unread = from === undefined ? Object.fromEntries(ofOrigin.map(name => [name, undefined])) : {}
  const values = { ...effective.values, ...rest, ...unread, ...Object.fromEntries(queued), ...shared }
  return { ...effective, values }
}

/** How this process reaches another cluster. */
const ofOrigin = optionNames.filter(name => describeOption(name).group === 'Another cluster' && !isQueued(name))

/**
 * Returns the monthly plan that this process keeps to. Whoever runs a worker pays for its proxy, so a plan of its own counts, and not that of
 * the job.
 */
export function planFor(
  { values }: Pick<Given, 'values'>,
  { settings }: Pick<JobData, 'settings'>,
): (Pick<Settings, 'planDay' | 'planLimit'> & { readonly plan: number }) | undefined {
  const { plan, planDay, planLimit } = values
  if (plan !== undefined) return { plan, planDay, planLimit }
  checkSettings(settings)
  const asked = { planDay: defaults.planDay, planLimit: defaults.planLimit, ...settings } as Partial<Settings>
  return asked.plan === undefined ? undefined : planFor({ values: asked as Settings }, { settings: {} })
}

function isKnown(name: string): name is OptionName {
  return (optionNames as readonly string[]).includes(name)
}

/** Every worker must find the same object. A URL that is a login would put the login on the queue. */
function placeOf(source: string, cwd: string): string {
  const form = formOf(source)
  if (form === 'elasticsearch') return source
  if (source === '-' || (form !== undefined && !inputForms[form].isShared))
    throw fail('OPTION_INVALID', {
      option: '--queue',
      problem: `cannot load ${source}: workers load files, objects and indices`,
    })
  if (form === undefined) return resolve(cwd, source)
  const read = readSourceUrl(source)
  if (read === undefined || read.secrets.length > 0)
    throw fail('OPTION_INVALID', {
      option: '--queue',
      problem: `cannot load ${read?.name ?? basename(source)}: its URL holds a login or a signature, which the queue must not hold. Use s3://, or --source-token on each worker`,
    })
  return read.name
}

/** Characters of the index in the name of a job. */
const SHOWN = 40

/** The same command has the same name, and so the same ids. */
function nameOf(into: string, key: string): string {
  const shown = into
    .replaceAll(/[^\w.-]/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, SHOWN)
  return `${shown === '' ? 'job' : shown}-${key.slice(0, 12)}`
}
