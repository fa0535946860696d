import type { InputReceipt, Receipt, ServeReceipt } from '../../index.js'
import { outcomes } from '../../ledger/receipt.js'
import { bytes, columns, count, showDuration, plural } from './columns.js'
import { failureJson } from './say-error.js'

/** The receipt as people read it: what became of every document, that it adds up, and by which way. */
export function showReceipt(receipt: Receipt): string {
  return [
    `${title(receipt)}\n\n`,
    nothingLoaded(receipt),
    columns(countsOf(receipt), '  '),
    `\n  ${balance(receipt)}\n`,
    receipt.rejections.length === 0 ? '' : `\nRejected\n\n${columns(rejections(receipt), '  ')}`,
    '\n',
    columns(facts(receipt), '  '),
  ].join('')
}

/** The receipt as `--json` prints it: the same facts, a failure with its exit code and fixes. */
export function receiptJson(receipt: Receipt): string {
  const { failure } = receipt
  return `${JSON.stringify({ ...receipt, ...(failure === undefined ? {} : { failure: failureJson(failure) }) })}\n`
}

function title(receipt: Receipt): string {
  const { run, status, elapsedMs, failure } = receipt
  if (isLoadedBefore(receipt) && failure === undefined) return `Run ${run}: nothing was loaded`
  const how = { finished: 'finished', failed: 'stopped', interrupted: 'interrupted' }[status]
  return `Run ${run} ${how} after ${showDuration(elapsedMs)}${failure === undefined ? '' : `: ${failure.code}`}`
}

/** Whether this process had nothing to read: the counts are those of before. */
function isLoadedBefore({ inputs }: Receipt): boolean {
  return inputs.length > 0 && inputs.every(({ alreadyLoaded }) => alreadyLoaded === true)
}

function nothingLoaded(receipt: Receipt): string {
  if (!isLoadedBefore(receipt)) return ''
  const [first, ...more] = receipt.inputs
  const what = more.length === 0 ? `${first?.name} was` : `All ${receipt.inputs.length} inputs were`
  const verb = more.length === 0 ? 'has' : 'have'
  const all = more.length === 0 ? 'it' : 'them'
  return [
    `  ${what} already loaded and ${verb} not changed. No documents were sent. The counts are of that load.\n`,
    `  Use --again to load ${all} again. If you named the run (--run-id), choose a new name instead.\n\n`,
  ].join('')
}

const meanings: Partial<Record<(typeof outcomes)[number], string>> = {
  duplicate: 'stored by an earlier request',
  rejected: 'in the dead letters',
  skipped: 'blank lines, or excluded by a rule',
  unsent: 'not stored',
  unknown: 'sent, but no answer says whether they were stored',
}

function countsOf(receipt: Receipt): string[][] {
  const shown = outcomes.filter(kind => receipt[kind] > 0 || kind === 'created' || kind === 'rejected')
  const width = count(receipt.read).length
  return [
    ['read', count(receipt.read).padStart(width), ''],
    ...shown.map(kind => [kind, count(receipt[kind]).padStart(width), meaning(receipt, kind)]),
  ]
}

function meaning(receipt: Receipt, kind: (typeof outcomes)[number]): string {
  // A dry run writes no dead letters.
  if (receipt[kind] === 0 || (kind === 'rejected' && receipt.deadLetters === undefined)) return ''
  return meanings[kind] ?? ''
}

function balance(receipt: Receipt): string {
  const parts = outcomes.filter(kind => receipt[kind] > 0)
  const sum = parts.reduce((total, kind) => total + receipt[kind], 0)
  const equation = `${count(receipt.read)} read = ${parts.map(kind => `${count(receipt[kind])} ${kind}`).join(' + ') || '0'}`
  return sum === receipt.read ? `${equation}, it balances` : `${equation}: DOES NOT BALANCE, please report this`
}

function rejections(receipt: Receipt): string[][] {
  return receipt.rejections.map(({ documents, type, status, field }) => [
    count(documents),
    type,
    [status === 0 ? 'before sending' : `status ${status}`, ...(field === undefined ? [] : [`field ${field}`])].join(
      ', ',
    ),
  ])
}

function facts(receipt: Receipt): string[][] {
  const { inputs, cluster, deadLetters, checkpoint, spool, status, requests, retries } = receipt
  const version = [cluster.name, cluster.version].filter(part => part !== undefined).join(', ')
  return [
    ['inputs', inputs.length === 1 ? `${inputs[0]?.name}${past(inputs[0])}` : plural(inputs.length, 'input')],
    ...(inputs.length === 1
      ? []
      : inputs.filter(input => past(input) !== '').map(input => ['', input.name + past(input)])),
    ...inputs
      .filter(({ failure }) => failure !== undefined)
      .map(({ name, failure }) => ['', `${name}: ${failure?.message}`]),
    ['speed', `${count(receipt.docsPerSecond)} documents/s`],
    [
      'bytes',
      `${bytes(receipt.bytes.read)} read, ${bytes(receipt.bytes.sent)} sent, ${bytes(receipt.bytes.received)} received`,
    ],
    ['requests', `${count(requests)}${retries === 0 ? '' : `, ${count(retries)} sent again`}`],
    ['route', route(receipt)],
    ...egress(receipt),
    ...platform(receipt),
    ['cluster', `${cluster.url}${version === '' ? '' : ` (${version})`}`],
    ...alias(receipt),
    ...deletions(receipt),
    ...(deadLetters === undefined ? [] : [['dead letters', deadLetters]]),
    ...(receipt.notes ?? []).map(note => ['note', note]),
    ...(checkpoint === undefined || status === 'finished' ? [] : [['checkpoint', checkpoint]]),
    ...(spool === undefined ? [] : [['spool', spool]]),
  ]
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

function platform({ platform: one }: Receipt): string[][] {
  if (one === undefined) return []
  const { url, connections, sent, received } = one
  return [['tables', `${url}, ${bytes(sent)} sent, ${bytes(received)} received, ${plural(connections, 'connection')}`]]
}

function deletions({ deletions: one }: Receipt): string[][] {
  if (one === undefined) return []
  const { mode, compared, deleted, kept, skipped } = one
  if (skipped !== undefined) return [['deletions', `Sluice compared nothing: ${skipped}`]]
  const what = mode === 'audit' ? plural(compared, 'deletion') : plural(compared, 'document')
  const reasons = [
    [kept.there, mode === 'audit' ? 'there again' : 'existing, new or hidden'],
    [kept.changed, 'written meanwhile'],
    [kept.other, 'of something else'],
  ] as const
  const left = reasons.filter(([many]) => many > 0).map(([many, why]) => `${count(many)} ${why}`)
  const rest = left.length === 0 ? '' : `, kept: ${left.join(', ')}`
  return [['deletions', `${plural(deleted, 'document')} deleted, ${what} compared${rest}`]]
}

/** Returns what earlier processes loaded of an input. */
function past(input: InputReceipt | undefined): string {
  if (input?.alreadyLoaded === true) return ', already loaded'
  const since = input?.since === undefined ? '' : `, changes since ${input.since}`
  return since + (input?.resumedAt === undefined ? '' : `, resumed at document ${count(input.resumedAt)}`)
}

function route({ route: { form, proxy, connections } }: Receipt): string {
  const way = { direct: 'direct, no proxy', tunnel: `tunnel through ${proxy}`, forward: `forwarded by ${proxy}` }[form]
  return `${way}, ${plural(connections, 'connection')}`
}

function egress(receipt: Receipt): string[][] {
  const seen = Object.entries(receipt.egress)
  return seen.length === 0 ? [] : [['egress', seen.map(([address, times]) => `${address} (${times}x)`).join(', ')]]
}

/** The account of a receiver, for people and for programs. */

export function serveReceiptJson(receipt: ServeReceipt): string {
  const { failure } = receipt
  return `${JSON.stringify({ ...receipt, ...(failure === undefined ? {} : { failure: failureJson(failure) }) })}\n`
}

export function showServed(receipt: ServeReceipt): string {
  const { accepted, waiting, answers, deadLetters, spool, elapsedMs } = receipt
  const counted = (['created', 'updated', 'duplicate', 'rejected'] as const).filter(
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
