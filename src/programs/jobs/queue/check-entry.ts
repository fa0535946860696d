/** Checks the shape of entries of the queue before anything uses them: anyone who can write to the queue may have written them. */
import { isAbsolute } from 'node:path'
import { type Failure, failure, failureCodes } from '../../../base/failure/failure.js'
import { isObject, type JsonObject } from '../../../base/json/parse-json.js'
import { isSourceUrl, readSourceUrl } from '../../../base/text/source-url.js'
import { visible } from '../../../base/text/shown.js'
import { nothing } from '../../../pipeline/ledger/account.js'
import { isForeignIndex } from '../../../options/names.js'
import { runId } from '../../../options/option-checks.js'
import type { JobData, JobEnd, RangeData, RangeReceipt } from '../job.js'
import {
  isCount,
  isListOf,
  isNumber,
  isSize,
  isText,
  optional,
  own,
  type EntryShape,
  shaped,
  type Test,
} from './shape.js'

/** More than any name of an input, a folder or a machine has. */
const LONGEST = 8192
/** Requests at the same time, and objects in one range: more than any job has. */
const MOST_REQUESTS = 100_000
const MOST_INPUTS = 20_000
/** Characters of a name from the queue that a message shows. */
const SHOWN = 100

const isName: Test = value => typeof value === 'string' && value.length <= LONGEST && !value.includes('\0')
const isTime: Test = value => isName(value) && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(String(value))

const job: EntryShape = {
  version: value => value === 1,
  sources: value => isListOf(value, isPlace) && value.length > 0,
  settings: isObject,
  url: isName,
  from: optional(isName),
  index: value => isName(value) && value !== '',
  concurrency: value => isSize(value) && Number(value) <= MOST_REQUESTS,
  rangeBytes: isSize,
  byteBudget: optional(isSize),
  alarm: optional(isAlarm),
  deadLetters: value => isName(value) && isAbsolute(String(value)),
  host: isName,
  made: isTime,
  planned: optional(shaped({ objects: isCount, ranges: isCount, bytes: isCount })),
  loadedUntil: optional(isNumber),
  retries: value => value === undefined || value === true,
}

/** Returns what is wrong with a job, or undefined. */
export function faultOfJob(id: string | undefined, data: unknown): string | undefined {
  if (runId(id) !== undefined) return 'its name is no name of a job'
  if (!isObject(data)) return 'it is no object'
  const [field] = Object.entries(job).find(([name, test]) => !test(own(data, name))) ?? []
  if (field !== undefined) return `its field ${field} is missing or wrong`
  const { settings, index, sources, from } = data as unknown as JobData
  if (!sources.every(source => isForeignIndex(source) === (from !== undefined)))
    return 'its inputs and its field from do not fit'
  const into = settings['swapAlias'] ?? settings['index']
  // Limits look at the index of the job, and the load at that of the options.
  return into === undefined || into === index ? undefined : 'its options name another index'
}

/** Returns the failure of a job whose shape is wrong. */
export function malformed(id: string | undefined, problem: string): Failure {
  return failure('JOB_MALFORMED', { job: shownFromQueue(id), problem })
}

/** Returns a name from the queue as a message shows it. */
export function shownFromQueue(name = ''): string {
  return visible(name.slice(0, SHOWN))
}

/** The id of a range becomes part of the name of a file. */
export function isRange(id: string | undefined, data: unknown): data is RangeData {
  return /^[\w-]{22}$/.test(id ?? '') && isRangeData(data)
}

const isRangeData = shaped({
  inputs: value => isListOf(value, isInput) && value.length <= MOST_INPUTS,
  source: isCount,
  index: isName,
})

export function isReceipt(value: unknown): value is RangeReceipt {
  return isReceiptShape(value)
}

const isCounts: Test = value => isObject(value) && Object.keys(nothing).every(name => isCount(own(value, name)))
const isRejections = shaped({
  status: isCount,
  type: isName,
  field: optional(isName),
  reason: optional(isText),
  value: optional(isText),
  documents: isCount,
  first: optional(isObject),
})

const isTraffic = shaped({ read: isCount, sent: isNumber, received: isNumber })

const isReceiptShape = shaped({
  counts: isCounts,
  rejections: value => isListOf(value, isRejections),
  bytes: isTraffic,
  requests: isCount,
  retries: isCount,
  elapsedMs: isNumber,
  host: optional(isName),
  deadLetters: optional(isName),
  failure: optional(isFailure),
})

export function isEnd(value: unknown): value is JobEnd {
  if (!isObject(value)) return false
  const receipt = own(value, 'receipt')
  return receipt === undefined ? isFailure(own(value, 'failure')) : isRunReceipt(receipt)
}

const isFlag: Test = value => typeof value === 'boolean'
const isAbsent: Test = value => value === undefined
const isOneOf =
  (names: readonly string[]): Test =>
  value =>
    names.some(name => name === value)
const areCounts: Test = value => isObject(value) && Object.values(value).every(isCount)

const isInputReceipt = shaped({
  name: isName,
  status: isOneOf(['finished', 'failed', 'unfinished']),
  read: isCount,
  readAs: optional(isName),
  resumedAt: optional(isCount),
  since: optional(isName),
  loadedBy: optional(shaped({ run: isName, at: isName })),
  loadedAs: optional(isName),
  failure: optional(isFailure),
})

const isJobPart = shaped({
  objects: isCount,
  ranges: isCount,
  failed: value =>
    isListOf(value, shaped({ range: isName, inputs: list => isListOf(list, isName), failure: isFailure })),
  workers: areCounts,
  before: optional(shaped({ documents: isCount, until: isName })),
  deadLettersElsewhere: optional(areCounts),
})

/** What commands show of a receipt. A job has no other parts of those that they know. */
const isRunShape = shaped({
  run: isName,
  status: isOneOf(['finished', 'failed', 'interrupted']),
  command: isName,
  began: isName,
  ended: isName,
  exit: isCount,
  target: shaped({ url: isName, index: isName, alias: optional(isName) }),
  failure: optional(isFailure),
  inputs: value => isListOf(value, isInputReceipt),
  thisProcess: isCounts,
  rejections: value => isListOf(value, isRejections),
  bytes: isTraffic,
  compression: optional(shaped({ used: isName, why: isName })),
  requests: isCount,
  retries: isCount,
  elapsedMs: isNumber,
  docsPerSecond: isNumber,
  route: shaped({ form: isName, proxy: optional(isName), connections: isCount }),
  egress: areCounts,
  cluster: shaped({ url: isName, name: optional(isName), version: optional(isName) }),
  deadLetters: optional(isName),
  notes: optional(value => isListOf(value, isText)),
  gaps: isAbsent,
  checkpoint: isAbsent,
  dryRun: isAbsent,
  rehearsal: isAbsent,
  deletions: isAbsent,
  platform: isAbsent,
  follow: isAbsent,
  plan: optional(shaped({ bytes: isCount, used: isCount, from: isName, until: isName, says: isName })),
  spool: isAbsent,
  alias: optional(
    shaped({ name: isName, to: isName, from: optional(isName), switched: isFlag, reason: optional(isText) }),
  ),
  tuned: optional(shaped({ index: isName, restored: isFlag })),
  ids: optional(shaped({ given: isCount, own: isCount })),
  indices: optional(value => isListOf(value, shaped({ index: isName, documents: isCount }))),
  job: optional(isJobPart),
})

function isRunReceipt(value: unknown): boolean {
  return isCounts(value) && isRunShape(value)
}

/** Returns whether a value is a failure that this version knows. */
export function isFailure(value: unknown): value is Failure {
  return isFailureShape(value)
}

const codes: ReadonlySet<unknown> = new Set(failureCodes)
const isFailureShape = shaped({
  code: value => codes.has(value),
  message: isText,
  evidence: value => isObject(value) && Object.values(value).every(isEvidence),
  exit: value => typeof value === 'number' && [1, 2, 3, 4, 5, 6, 70].includes(value),
  retry: value => value === 'no' || value === 'later',
})

function isEvidence(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value) || isListOf(value, isText)
}

/** An input that workers can open by its name: no standard input, no table. A login in a URL would be on the queue. */
function isPlace(value: unknown): boolean {
  if (!isName(value)) return false
  const name = String(value)
  if (isForeignIndex(name)) return true
  if (!isSourceUrl(name)) return isAbsolute(name) && !hasStepUp(name)
  const read = readSourceUrl(name)
  return read !== undefined && read.secrets.length === 0
}

/** A sender resolves `..` first. In braces it would leave the folder that limits see. */
function hasStepUp(path: string): boolean {
  return /(^|[/\\{,(|])\.\.([/\\},)|]|$)/.test(path)
}

function isInput(value: unknown): boolean {
  if (!isInputShape(value)) return false
  const name = nameOf(value)
  return isSourceUrl(name) || isForeignIndex(name) || isAbsolute(name)
}

const isInputShape = shaped({ name: isName, identity: isName, from: optional(isCount), to: optional(isCount) })

function nameOf(value: unknown): string {
  return (value as { readonly name: string }).name
}

function isAlarm(value: unknown): boolean {
  if (!isAlarmShape(value)) return false
  const fields = own(value as JsonObject, 'fields') ?? {}
  return isObject(fields) && Object.values(fields).every(isName)
}

const isAlarmShape = shaped({
  job: isName,
  title: optional(isName),
  command: optional(isName),
  host: optional(isName),
  allowRejected: optional(value => typeof value === 'boolean'),
})
