/** The parts of a report beside its charts: inputs, reasons, route, what was learnt. */
import { adviceOn } from '../../base/failure/index-errors.js'
import { describeOrigin, type InputReceipt, type Rejections } from '../../pipeline/ledger/receipt.js'
import type { RunEnd } from '../../run/state/checkpoint/checkpoint.js'
import { bytes, count, plural } from '../../base/text/shown.js'
import { localTime } from '../../base/time/clock.js'
import { html, type Html, type HtmlPart, prose } from './html.js'
import type { RunLimits } from './timeline.js'
import { withoutValues } from './without-values.js'

/** Rows that are shown of a list. */
const MOST_ROWS = 50

export function showRejections({ rejections = [], deadLetters }: RunEnd): HtmlPart {
  if (rejections.length === 0) return false
  const hasFields = rejections.some(({ field }) => field !== undefined)
  return html`<section>
    <h2>Rejected documents by reason</h2>
    <table class="wide">
      <thead>
        <tr>
          <th scope="col" class="n">Documents</th>
          <th scope="col">Reason</th>
          ${hasFields && html`<th scope="col">Field</th>`}
          <th scope="col">First position</th>
        </tr>
      </thead>
      <tbody>
        ${rejections.slice(0, MOST_ROWS).map(one => rejection(one, hasFields))}
      </tbody>
    </table>
    ${more(rejections.length, 'reasons')}
    ${deadLetters !== undefined && html`<p class="note">The documents are in the dead letters: <code>${deadLetters}</code></p>`}
  </section>`
}

function rejection({ documents, type, status, field, reason, first }: Rejections, hasFields: boolean): Html {
  const advice = adviceOn(type, reason)
  const who = status === 0 ? 'Sluice rejected them before sending.' : `The cluster answered with status ${status}.`
  return html`<tr>
    <td class="n" data-label="Documents">${count(documents)}</td>
    <td data-label="Reason">
      <div>
        <code>${type}</code>
        ${reason !== undefined && html`<p>${reason}</p>`}
        <p class="note">${who}${advice !== undefined && html` ${prose(advice)}`}</p>
      </div>
    </td>
    ${hasFields && html`<td data-label="Field">${field !== undefined && html`<code>${field}</code>`}</td>`}
    <td class="place" data-label="First position">${first === undefined ? '' : describeOrigin(first)}</td>
  </tr> `
}

export function showInputs({ inputs = [], inputCount = inputs.length }: RunEnd): HtmlPart {
  if (inputs.length === 0) return false
  // What a person should look at comes first.
  const sorted = inputs.toSorted((one, other) => rank(one) - rank(other))
  return html`<section>
    <h2>${inputCount === 1 ? 'Input' : `${count(inputCount)} inputs`}</h2>
    <table class="wide">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Result</th>
          <th scope="col" class="n">Documents</th>
        </tr>
      </thead>
      <tbody>
        ${sorted.slice(0, MOST_ROWS).map(input)}
      </tbody>
    </table>
    ${more(inputCount, 'inputs')}
  </section>`
}

function rank({ status, alreadyLoaded }: InputReceipt): number {
  return alreadyLoaded === true ? 3 : ['failed', 'unfinished', 'finished'].indexOf(status)
}

function input({
  name,
  status,
  read,
  resumedAt,
  since,
  alreadyLoaded,
  loadedBy,
  loadedAs,
  failure,
}: InputReceipt): Html {
  const notes = [
    failure === undefined ? undefined : withoutValues(failure.message),
    resumedAt === undefined ? undefined : `continued with document ${count(resumedAt)}`,
    since === undefined ? undefined : `changes since ${since}`,
    loadedBy === undefined ? undefined : `loaded by run ${loadedBy.run} on ${localTime(loadedBy.at)}`,
    loadedAs === undefined ? undefined : `known as ${loadedAs}`,
  ].filter(note => note !== undefined)
  return html`<tr>
    <th scope="row" data-label="Name">${name}</th>
    <td data-label="Result">
      <div>
        ${alreadyLoaded === true ? 'already loaded' : status}${notes.length > 0 && html`<p class="note">${notes.join(', ')}</p>`}
      </div>
    </td>
    <td class="n" data-label="Documents">${count(read)}</td>
  </tr> `
}

export function showRoute(end: RunEnd): HtmlPart {
  const { route, egress = {}, cluster, bytes: traffic, requests, retries = 0, platform, target } = end
  const seen = Object.entries(egress)
  const version = [cluster?.name, cluster?.version].filter(part => part !== undefined).join(', ')
  const rows: (readonly [string, HtmlPart])[] = [
    ...(target?.url === undefined
      ? []
      : [['Target', html`${target.url}${version !== '' && ` (${version})`}`] as const]),
    ...(route === undefined ? [] : [['Route', `${way(route)}, ${plural(route.connections, 'connection')}`] as const]),
    [
      'Egress addresses',
      seen.length === 0
        ? 'none seen: the egress check is not set (--ip-check-url)'
        : seen.map(
            ([address, times], at) => html`${at > 0 && html`<br />`}<code>${address}</code> ${plural(times, 'time')}`,
          ),
    ],
    ...(requests === undefined
      ? []
      : [['Bulk requests', `${count(requests)}, ${count(retries)} of them sent again`] as const]),
    ...(traffic === undefined
      ? []
      : [
          [
            'Bytes',
            `${bytes(traffic.read)} read, ${bytes(traffic.sent)} sent, ${bytes(traffic.received)} received`,
          ] as const,
        ]),
    ...(platform === undefined
      ? []
      : [
          [
            'Tables',
            `${platform.url}, ${bytes(platform.received)} received, ${plural(platform.connections, 'connection')}`,
          ] as const,
        ]),
  ]
  if (route === undefined && seen.length === 0) return false
  return html`<section>
    <h2>Route</h2>
    ${facts(rows)}${isResumed(end) && html`<p class="note">These numbers cover only the last process of the run. The charts cover all of them.</p>`}
  </section>`
}

function way({ form, proxy = '' }: NonNullable<RunEnd['route']>): string {
  return { direct: 'direct, without a proxy', tunnel: `tunnel through ${proxy}`, forward: `forwarded by ${proxy}` }[
    form
  ]
}

function isResumed({ inputs = [] }: RunEnd): boolean {
  return inputs.some(({ resumedAt }) => resumedAt !== undefined)
}

export function showLearnt(limits: RunLimits | undefined): HtmlPart {
  if (limits?.learntConcurrency === undefined) return false
  const { concurrency, batchBytes, learntConcurrency, learntBytes } = limits
  return html`<section>
    <h2>What Sluice learnt</h2>
    ${facts([
      [
        'Open requests',
        learntConcurrency < concurrency
          ? `The cluster handled ${count(learntConcurrency)} at the same time. Up to ${count(concurrency)} were allowed (--concurrency).`
          : `The cluster handled all ${count(concurrency)} that were allowed (--concurrency).`,
      ],
      [
        'Size of a request',
        learntBytes === undefined
          ? `No request was too large. Up to ${bytes(batchBytes)} were allowed (--batch-bytes).`
          : `Requests of ${bytes(learntBytes)} passed, and larger ones were refused.`,
      ],
    ])}
    <p class="note">The next load into this cluster within seven days begins with these limits.</p>
  </section>`
}

/** Everything else that a reader may need: indices, alias, settings, promises that do not hold. */
export function showRest(end: RunEnd): HtmlPart {
  const { indices = [], alias, tuned, deletions, ids, deadLetters, checkpoint, spool, notes = [], status } = end
  const rows: (readonly [string, HtmlPart])[] = [
    ...(indices.length === 0
      ? []
      : [
          [
            'Indices',
            html`${indices.slice(0, MOST_ROWS).map(({ index, documents }, at) => html`${at > 0 && html`<br />`}${index}: ${plural(documents, 'document')}`)}${more(indices.length, 'indices')}`,
          ] as const,
        ]),
    ...(alias === undefined ? [] : [['Alias', saysAlias(alias)] as const]),
    ...(tuned === undefined
      ? []
      : [
          [
            'Settings',
            `Refreshes and replicas of ${tuned.index} are ${tuned.restored ? 'restored' : 'still off'}.`,
          ] as const,
        ]),
    ...(deletions === undefined
      ? []
      : [
          [
            'Deletions',
            `${plural(deletions.deleted, 'document')} deleted, ${count(deletions.compared)} compared`,
          ] as const,
        ]),
    ...(ids === undefined
      ? []
      : [['Ids', `${count(ids.given)} from the input, ${count(ids.own)} made by Sluice`] as const]),
    ...(deadLetters === undefined ? [] : [['Dead letters', deadLetters] as const]),
    ...(checkpoint === undefined || status === 'finished' ? [] : [['Checkpoint', checkpoint] as const]),
    ...(spool === undefined ? [] : [['Spooled stdin', spool] as const]),
    ...notes.map(note => ['Note', withoutValues(note)] as const),
  ]
  return (
    rows.length > 0 &&
    html`<section>
      <h2>Details</h2>
      ${facts(rows)}
    </section>`
  )
}

function saysAlias({ name, from, to, switched }: NonNullable<RunEnd['alias']>): string {
  if (switched) return `${name} leads to ${to}.${from === undefined ? '' : ` Sluice kept the previous index, ${from}.`}`
  return `${name} ${from === undefined ? 'does not exist yet' : `stays on ${from}`}. Sluice kept the new index, ${to}.`
}

function facts(rows: readonly (readonly [string, HtmlPart])[]): Html {
  return html`<dl class="facts">
    ${rows.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`
}

function more(all: number, what: string): HtmlPart {
  return all > MOST_ROWS && html`<p class="note">and ${count(all - MOST_ROWS)} more ${what}</p>`
}
