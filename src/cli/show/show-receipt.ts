import type { Counts, InputReceipt, Receipt, ServeReceipt } from '../../index.js'
import { adviceOn, sayRefusal } from '../../base/failure/index-errors.js'
import { describeOrigin } from '../../pipeline/ledger/receipt.js'
import { type OutcomeName, outcomes, taken } from '../../base/operation.js'
import { isDoneBefore, isNothingNew, loadedBefore, named, showPlan, whoLoaded } from './show-inputs.js'
import { isForeignIndex } from '../../options/names.js'
import { balance, bytes, columns, count, countRows, plural, showDuration } from '../terminal/columns.js'
import { shown, visible } from '../../base/text/shown.js'
import { failureJson } from './say-error.js'

/** Shows the receipt to people: the outcome of every document, the balance and the route. */
export function showReceipt(receipt: Receipt): string {
  return [
    shown`${title(receipt)}\n`,
    isNothingNew(receipt) || isDoneBefore(receipt) ? '' : '\n',
    whatThen(receipt),
    receipt.dryRun === true ? `${showPlan(receipt)}\n` : '',
    columns(countsOf(receipt), '  '),
    `\n  ${balanceOf(receipt)}\n`,
    receipt.rejections.length === 0 ? '' : `\nRejected\n\n${columns(rejections(receipt), '  ')}${adviceIn(receipt)}`,
    '\n',
    columns(facts(receipt), '  '),
  ].join('')
}

/** Kinds of refusal that are explained. */
const EXPLAINED = 3

/** Returns the largest kinds of refusal with what they mean and what to do, if that is known. */
export function advices({ rejections: kinds }: Receipt): (readonly [type: string, advice: string])[] {
  const explained = kinds.map(({ type }) => type).filter((type, at, all) => all.indexOf(type) === at)
  return explained.slice(0, EXPLAINED).flatMap(type => {
    const advice = adviceOn(type, ...kinds.filter(kind => kind.type === type).map(({ reason }) => reason))
    return advice === undefined ? [] : [[type, advice] as const]
  })
}

function adviceIn(receipt: Receipt): string {
  const lines = advices(receipt).map(([type, advice]) => `  ${type}: ${advice}\n`)
  return lines.length === 0 ? '' : `\n${lines.join('')}`
}

/** The receipt as `--json` prints it: the same facts, a failure with its exit code and fixes. */
export function receiptJson(receipt: Receipt | ServeReceipt): string {
  return [...receiptParts(receipt)].join('')
}

/** Returns the receipt in parts, because it may list very many inputs. */
export function* receiptParts(receipt: Receipt | ServeReceipt): Generator<string> {
  const { failure } = receipt
  const whole = { ...receipt, ...(failure === undefined ? {} : { failure: failureJson(failure) }) }
  let before = '{'
  for (const [name, value] of Object.entries(whole)) {
    if (value === undefined) continue
    yield `${before}${JSON.stringify(name)}:`
    if (Array.isArray(value)) yield* listParts(value)
    else yield JSON.stringify(value)
    before = ','
  }
  yield '}\n'
}

/** Elements of a list in one part of JSON. */
const AT_ONCE = 1000

function* listParts(list: readonly unknown[]): Generator<string> {
  yield '['
  for (let at = 0; at < list.length; at += AT_ONCE)
    yield (at === 0 ? '' : ',') + JSON.stringify(list.slice(at, at + AT_ONCE)).slice(1, -1)
  yield ']'
}

function title(receipt: Receipt): string {
  const { run, status, elapsedMs, failure } = receipt
  if (isNothingNew(receipt)) return `Nothing new. ${whoLoaded(receipt)}.`
  if (isDoneBefore(receipt)) return `Nothing new. Job ${run} was loaded before.`
  const how = { finished: 'finished', failed: 'stopped', interrupted: 'interrupted' }[status]
  const what = receipt.dryRun === true ? 'Dry run' : `Run ${run}`
  return `${what} ${how} after ${showDuration(elapsedMs)}${failure === undefined ? '' : `: ${failure.code}`}`
}

function whatThen(receipt: Receipt): string {
  if (isDoneBefore(receipt))
    return 'This command loaded no documents. The counts are those of the job. To load all again, pass --again.\n\n'
  if (!isNothingNew(receipt)) return ''
  const all = receipt.inputs.length === 1 ? 'the file' : 'the files'
  const own = receipt.inputs.every(({ loadedBy }) => loadedBy === undefined)
  const who = receipt.dryRun === true ? 'A load would send' : shown`Run ${receipt.run} sent`
  return own
    ? `${who} no documents. The counts are those of its load. To load ${all} again, choose another --run-id.\n\n`
    : `${who} no documents. To load ${all} again, pass --again.\n\n`
}

const meanings: Partial<Record<OutcomeName, string>> = {
  accepted: 'queued. To see whether they are stored, run `sluice verify` with the URL of the cluster itself',
  noop: 'already had these values',
  notFound: 'there was no such document to delete',
  older: 'unchanged: the index has a newer version of these documents',
  dropped: 'not stored: the ingest pipeline of the cluster dropped them',
  duplicate: 'stored by an earlier request, whose answer was lost',
  rejected: 'in the dead letters',
  skipped: 'blank lines, conflicts, or left out by --transform',
  unsent: 'not stored',
  unknown: 'sent, but no answer shows whether they were stored',
}

function countsOf(receipt: Receipt): string[][] {
  const counts = ownCounts(receipt)
  const always: readonly string[] =
    receipt.dryRun === true ? ['unsent', 'rejected'] : [counts.accepted > 0 ? 'accepted' : 'created', 'rejected']
  const shown = outcomes.filter(kind => counts[kind] > 0 || always.includes(kind))
  return countRows([
    ['read', counts.read, ''],
    ...shown.map(kind => [label(receipt, kind), counts[kind], meaning(receipt, kind)] as const),
  ])
}

/** Returns the counts without those of earlier processes: a dry run would not repeat their work. */
function ownCounts(receipt: Receipt): Counts {
  return receipt.dryRun === true ? receipt.thisProcess : receipt
}

const wouldBe: Partial<Record<OutcomeName, string>> = {
  rejected: 'would reject',
  skipped: 'would skip',
  unsent: 'would send',
}

function label({ dryRun }: Receipt, kind: OutcomeName): string {
  return (dryRun === true ? wouldBe[kind] : undefined) ?? kind
}

function meaning(receipt: Receipt, kind: OutcomeName): string {
  if (ownCounts(receipt)[kind] === 0 || (receipt.dryRun === true && kind === 'unsent')) return ''
  // Without dead letters, rejected documents are in no file.
  if (kind === 'rejected' && receipt.deadLetters === undefined) return ''
  // Documents of another cluster are compared with those in the index.
  if (kind === 'duplicate' && receipt.inputs.some(({ name }) => isForeignIndex(name))) return SAME
  return (receipt.command === 'replay' ? ofReplays[kind] : undefined) ?? meanings[kind] ?? ''
}

const ofReplays: Partial<Record<OutcomeName, string>> = {
  duplicate: 'already stored, by an earlier replay or by a request whose answer was lost',
}

const SAME = 'the index already has the same documents'

/** Returns the equation of all outcomes. */
export function balanceOf(receipt: Receipt): string {
  const counts = ownCounts(receipt)
  const parts = outcomes.filter(kind => counts[kind] > 0)
  return balance(
    ['read', counts.read],
    parts.map(kind => [label(receipt, kind), counts[kind]]),
  )
}

/** Returns documents, kind and place of each kind of refusal. */
export function rejections(receipt: Receipt): string[][] {
  return receipt.rejections.map(({ documents, type, status, field, reason, value, first }) => [
    count(documents),
    type,
    (status === 0 ? 'before sending' : `status ${status}`) +
      (field === undefined ? '' : `, field ${field}`) +
      (reason === undefined ? '' : `, ${reason}`) +
      (value === undefined ? '' : `, such as ${value}`) +
      (first === undefined ? '' : `, first: ${describeOrigin(first)}`),
  ])
}

function facts(receipt: Receipt): (readonly string[])[] {
  const { inputs, cluster, deadLetters, checkpoint, spool, status, requests, retries } = receipt
  const isListed = receipt.dryRun !== true && !isNothingNew(receipt)
  const version = [cluster.name, cluster.version].filter(part => part !== undefined).join(', ')
  return [
    ['inputs', inputs.length === 1 ? `${inputs[0]?.name}${past(inputs[0])}` : plural(inputs.length, 'input')],
    ...(inputs.length === 1
      ? []
      : named(
          inputs.filter(input => isListed && past(input) !== ''),
          input => ['', input.name + past(input)],
        )),
    ...(inputs.length === 1 && inputs[0]?.readAs !== undefined ? [['', `read as ${inputs[0].readAs}`]] : []),
    ...named(
      inputs.filter(({ failure, plan }) => failure !== undefined && plan === undefined),
      ({ name, failure }) => ['', unreadable(name, failure?.message ?? '')],
    ),
    ...(receipt.dryRun === true ? [] : [['speed', speed(receipt)]]),
    [
      'bytes',
      `${bytes(receipt.bytes.read)} read, ${bytes(receipt.bytes.sent)} sent, ${bytes(receipt.bytes.received)} received`,
    ],
    ...compression(receipt),
    ...loadedBefore(receipt),
    ...(receipt.plan === undefined ? [] : [['plan', receipt.plan.says]]),
    ['requests', `${count(requests)}${retries === 0 ? '' : `, ${count(retries)} sent again`}`],
    ['route', route(receipt)],
    ...egress(receipt),
    ...platform(receipt),
    ['cluster', `${cluster.url}${version === '' ? '' : ` (${version})`}`],
    ...indices(receipt),
    ...alias(receipt),
    ...tuned(receipt),
    ...rehearsal(receipt),
    ...deletions(receipt),
    ...ids(receipt),
    ...(deadLetters === undefined ? [] : [['dead letters', deadLetters]]),
    ...(receipt.notes ?? []).map(note => ['note', note]),
    ...(checkpoint === undefined || status === 'finished' ? [] : [['checkpoint', checkpoint]]),
    ...(spool === undefined ? [] : [['spool', spool]]),
  ]
}

function speed({ docsPerSecond, follow }: Receipt): string {
  const rate = `${count(docsPerSecond)} documents/s`
  return follow === undefined ? rate : `${rate}, while it loaded: ${showDuration(follow.loadingMs)} in all`
}

function compression({ compression: chosen, requests }: Receipt): string[][] {
  if (chosen === undefined || requests === 0) return []
  return [['compressed', `${chosen.used === 'gzip' ? 'yes' : 'no'}: ${chosen.why}`]]
}

/** Most messages name the input themselves. */
function unreadable(name: string, message: string): string {
  return message.includes(visible(name)) ? message : `${name}: ${message}`
}

/** Indices that are listed. `--json` lists all. */
const MOST_INDICES = 20

function indices({ indices: all = [] }: Receipt): string[][] {
  const rows = all.slice(0, MOST_INDICES).map(({ index, documents }) => `${index}: ${plural(documents, 'document')}`)
  const more = all.length - rows.length
  const lines = more > 0 ? [...rows, `and ${more} more`] : rows
  return lines.map((line, at) => [at === 0 ? 'indices' : '', line])
}

function alias({ alias: one }: Receipt): string[][] {
  if (one === undefined) return []
  const { name, from, to, switched, reason } = one
  if (!switched)
    return [
      [
        'alias',
        `${name} ${from === undefined ? 'does not exist yet' : `stays on ${from}`}. Sluice kept the new index, ${to}`,
      ],
      ...(reason === undefined ? [] : [['', reason]]),
      ...(reason === undefined || from === undefined
        ? []
        : [['', `to move it there, run sluice rollback ${name} --to ${to}`]]),
    ]
  return [['alias', `${name} is on ${to}${from === undefined ? '' : `. Sluice kept the previous index, ${from}`}`]]
}

/** Reasons that are listed. `--json` lists all. */
const MOST_REASONS = 20

function rehearsal({ rehearsal: one, ...receipt }: Receipt): string[][] {
  if (one === undefined) return []
  const { shapes, refused, asked, refusals, notes } = one
  const who = { cluster: 'the cluster', mapping: 'the mapping', nobody: 'nothing' }[asked]
  const sum = `${plural(shapes, 'shape')} of documents, the index would reject ${count(refused)}. Checked with: ${who}`
  const all = receipt.thisProcess.read
  const lines = refusals.slice(0, MOST_REASONS).map(reason => `${sayRefusal(reason, all)}: ${reason.reason}`)
  const more = refusals.length > MOST_REASONS ? [`and ${refusals.length - MOST_REASONS} more reasons`] : []
  return [sum, ...lines, ...more, ...notes].map((line, at) => [at === 0 ? 'rehearsal' : '', line])
}

function tuned({ tuned: one }: Receipt): string[][] {
  if (one === undefined) return []
  const state = one.restored ? 'refreshes and replicas are restored' : 'refreshes and replicas are still off'
  return [['tuned', `${one.index}: ${state}`]]
}

function ids({ ids: one }: Receipt): string[][] {
  return one === undefined ? [] : [['ids', `${count(one.given)} from the input, ${count(one.own)} made by Sluice`]]
}

function platform({ platform: one }: Receipt): string[][] {
  if (one === undefined) return []
  const { url, connections, sent, received } = one
  return [['tables', `${url}, ${bytes(sent)} sent, ${bytes(received)} received, ${plural(connections, 'connection')}`]]
}

function deletions({ deletions: one }: Receipt): string[][] {
  if (one === undefined) return []
  const { compared, deleted, kept, skipped } = one
  if (skipped !== undefined) return [['deletions', `Sluice compared nothing: ${skipped}`]]
  const reasons = [
    [kept.there, 'existing, new or hidden'],
    [kept.changed, 'written meanwhile'],
    [kept.other, 'of other data'],
  ] as const
  const left = reasons.filter(([many]) => many > 0).map(([many, why]) => `${count(many)} ${why}`)
  const rest = left.length === 0 ? '' : `, kept: ${left.join(', ')}`
  return [['deletions', `${plural(deleted, 'document')} deleted, ${plural(compared, 'document')} compared${rest}`]]
}

/** Returns what earlier processes loaded of an input. */
function past(input: InputReceipt | undefined): string {
  if (input?.alreadyLoaded === true) return ', already loaded'
  const since = input?.since === undefined ? '' : `, changes since ${input.since}`
  const was = input?.loadedAs === undefined ? '' : ` of what was ${input.loadedAs}`
  return since + (input?.resumedAt === undefined ? '' : `, resumed at document ${count(input.resumedAt)}${was}`)
}

function route({ route: { form, proxy, connections } }: Receipt): string {
  const way = { direct: 'direct, no proxy', tunnel: `tunnel through ${proxy}`, forward: `forwarded by ${proxy}` }[form]
  return `${way}, ${plural(connections, 'connection')}`
}

function egress(receipt: Receipt): string[][] {
  const seen = Object.entries(receipt.egress)
  if (seen.length > 0) return [['egress', seen.map(([address, times]) => `${address} (${times}x)`).join(', ')]]
  return receipt.route.form === 'direct' ? [] : [['egress', 'unknown: no address check has shown it (IP_CHECK_URL)']]
}

export function showServed(receipt: ServeReceipt): string {
  const { accepted, waiting, answers, deadLetters, spool, elapsedMs } = receipt
  const counted = [...taken.filter(name => name !== 'accepted'), 'rejected' as const].filter(
    name => receipt[name] > 0 || name === 'created' || name === 'rejected',
  )
  const told = Object.entries(answers).map(([status, times]) => `${status} (${count(times)}x)`)
  return [
    `Served for ${showDuration(elapsedMs)}\n\n`,
    columns(
      [
        ['accepted', count(accepted)],
        ['loaded', count(receipt.read)],
        ...counted.map(name => [`  ${name}`, count(receipt[name])]),
        [
          'waiting',
          `${count(waiting.documents)}${waiting.bytes === 0 ? '' : ` (${bytes(waiting.bytes)}) in ${spool}`}`,
        ],
        ['answers', told.length === 0 ? 'none' : told.join(', ')],
        ...(deadLetters === undefined
          ? []
          : [['refused', `${plural(receipt.rejected, 'document')} in ${deadLetters}`]]),
      ],
      '  ',
    ),
  ].join('')
}
