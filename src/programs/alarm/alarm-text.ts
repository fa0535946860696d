/** Writes an incident's text about a run, for people who may never have heard of Sluice. */
import { causesFor, explain, type Failure, fixesFor } from '../../base/failure/failure.js'
import type { Receipt } from '../../pipeline/ledger/receipt.js'
import { visible } from '../../base/text/shown.js'
import { outcomes } from '../../base/operation.js'

/** The known facts about a run. None of them is secret. */
export interface RunAccount {
  readonly failure?: Failure | undefined
  readonly receipt?: Receipt | undefined
}

export interface JobText {
  /** The job as people call it. */
  readonly title: string
  readonly command?: string | undefined
  readonly host?: string | undefined
}

interface FailedText {
  /** One line. */
  readonly headline: string
  /** The finding and its fix, as text. */
  readonly finding: string
  readonly facts: string
}

/** Writes the text for a failed run: it has a failure, or documents that were not stored. */
export function failedText(account: RunAccount, job: JobText): FailedText {
  const { failure, receipt } = account
  const headline = failure === undefined ? shortfall(receipt) : `${failure.code}: ${failure.message}`
  const advice = failure === undefined ? adviceForShortfall : adviceFor(failure)
  return {
    headline: fieldText(`${job.title}: ${headline}`),
    finding: fieldText(headline, '', ...advice),
    facts: fieldText(...facts(account, job)),
  }
}

export function goodText({ receipt }: RunAccount, job: JobText): string {
  const run = receipt === undefined ? `A run of ${job.title}` : `Run ${receipt.run} of ${job.title}`
  return fieldText(`${run} was good.`, ...(receipt === undefined ? [] : [balance(receipt)]))
}

function shortfall(receipt: Receipt | undefined): string {
  const { rejected = 0, unknown = 0 } = receipt ?? {}
  const parts = [
    ...(rejected === 0 ? [] : [`${documents(rejected)} rejected`]),
    ...(unknown === 0 ? [] : [`${documents(unknown)} of unknown outcome`]),
  ]
  return `finished with ${parts.join(' and ')}`
}

const adviceForShortfall = [
  'Rejected documents are in the dead letters, each with the reason. Repair them there and run `sluice replay FILE`.',
  'Unknown: Sluice sent these documents, but no answer shows whether they were stored.',
]

function adviceFor({ code, message, evidence }: Failure): readonly string[] {
  const { stoppedBy, next } = evidence
  const fixes = fixesFor(code, message, next)
  return [
    ...(typeof stoppedBy === 'string' ? [`Seen: ${stoppedBy}`] : []),
    ...(typeof next === 'string' && !fixes.includes(next) ? [`Next step: ${next}`] : []),
    ...fixes.map(fix => `Fix: ${fix}`),
    ...causesFor(code, message)
      .slice(0, 3)
      .map(cause => `Possible cause: ${cause}`),
    explain(code).retry === 'later'
      ? 'The same command may succeed later without a change.'
      : 'The same command fails again until somebody changes something.',
    `More: sluice explain ${code}`,
  ]
}

function facts({ failure, receipt }: RunAccount, { title, command, host }: JobText): string[] {
  const lines: [string, string | undefined][] = [
    ['Job', title],
    ['Command', command],
    ['Host', host],
    ['Run', receipt?.run],
    ['Exit code', String(failure === undefined ? 1 : explain(failure.code).exit)],
    ['Inputs', inputs(receipt)],
    ['Documents', receipt === undefined ? undefined : balance(receipt)],
    ['Rejected', rejections(receipt)],
    ['Dead letters', receipt?.deadLetters],
    ['Cluster', receipt?.cluster.url],
    ['Proxy', receipt?.route.proxy],
  ]
  return lines.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]))
}

function balance(receipt: Receipt): string {
  const parts = outcomes.filter(kind => receipt[kind] > 0).map(kind => `${receipt[kind]} ${kind}`)
  return `${receipt.read} read = ${parts.join(' + ') || '0'}`
}

/** A glob may stand for thousands of inputs. */
const SHOWN = 5

function inputs(receipt: Receipt | undefined): string | undefined {
  if (receipt === undefined || receipt.inputs.length === 0) return undefined
  return fewOf(receipt.inputs.map(({ name, failure }) => (failure === undefined ? name : `${name} (${failure.code})`)))
}

function rejections(receipt: Receipt | undefined): string | undefined {
  if (receipt === undefined || receipt.rejections.length === 0) return undefined
  return fewOf(
    receipt.rejections.map(({ documents, type, field, reason }) => {
      return `${documents} ${type}${field === undefined ? '' : `, field ${field}`}${reason === undefined ? '' : `, ${reason}`}`
    }),
  )
}

function fewOf(all: readonly string[]): string {
  const more = all.length - SHOWN
  return `${all.slice(0, SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function documents(count: number): string {
  return `${count} document${count === 1 ? '' : 's'}`
}

/** Makes the text of a field, line by line. Breaks tags that ServiceNow would render as HTML: they may come from an answer. */
function fieldText(...lines: readonly string[]): string {
  return lines
    .map(visible)
    .join('\n')
    .replaceAll(/\[(?=\P{L}{0,4}code)/giu, '[ ')
}
