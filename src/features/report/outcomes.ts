/** The outcome of every document: a headline, a bar and a table. */
import { type OutcomeName, outcomes, takenOf } from '../../base/operation.js'
import { addCounts, nothing } from '../../pipeline/ledger/account.js'
import type { Counts } from '../../pipeline/ledger/receipt.js'
import type { RunEnd } from '../../run/state/checkpoint/checkpoint.js'
import { count, plural } from '../../base/text/shown.js'
import { html, type Html } from './html.js'

const meanings: Readonly<Record<OutcomeName, string>> = {
  created: 'New in the index.',
  accepted: 'Queued by the managed ingest endpoint, which stores them later.',
  updated: 'Changed a document that was already in the index.',
  deleted: 'Deleted from the index.',
  noop: 'The document already had these values.',
  notFound: 'There was no such document to delete.',
  older: 'The index has a newer version, so nothing changed.',
  dropped: 'Not stored: the ingest pipeline of the cluster dropped them.',
  duplicate: 'An earlier request had already stored them.',
  rejected: 'Not stored. They are in the dead letters, with their reasons.',
  skipped: 'Blank lines, conflicts, or left out by a rule of yours.',
  unsent: 'Not sent, because the run stopped.',
  unknown: 'Sent, but no answer shows whether they were stored.',
}

/** `good`: what the load was for. `even`: nothing to do. `bad`: a person should look. */
const kinds: Readonly<Record<OutcomeName, 'good' | 'even' | 'bad'>> = {
  created: 'good',
  accepted: 'good',
  updated: 'good',
  deleted: 'good',
  noop: 'even',
  notFound: 'even',
  older: 'even',
  dropped: 'even',
  duplicate: 'even',
  rejected: 'bad',
  skipped: 'even',
  unsent: 'bad',
  unknown: 'bad',
}

const labels: Partial<Record<OutcomeName, string>> = {
  noop: 'unchanged',
  notFound: 'not found',
  older: 'older version',
}

/** Returns the counts of a run, or of this process for a dry run. */
export function reportedCounts(end: RunEnd): Counts {
  if (end.dryRun === true && end.thisProcess !== undefined) return end.thisProcess
  return addCounts(nothing, end)
}

export function showOutcomes(end: RunEnd): Html {
  const counts = reportedCounts(end)
  const isDry = end.dryRun === true
  const shown = outcomes.filter(name => counts[name] > 0)
  if (shown.length === 0) return html`<p class="soft">Sluice read no documents.</p>`
  const kindOf = (name: OutcomeName) => (isDry && name === 'unsent' ? 'good' : kinds[name])
  return html`<div class="bar" aria-hidden="true">
      ${(['good', 'even', 'bad'] as const).map(kind => {
        const documents = shown.filter(name => kindOf(name) === kind).reduce((sum, name) => sum + counts[name], 0)
        return documents > 0 && html`<span class="${kind}" style="flex:${documents} 0 3px"></span>`
      })}
    </div>
    <table class="wide">
      <thead>
        <tr>
          <th scope="col">Outcome</th>
          <th scope="col" class="n">Documents</th>
          <th scope="col" class="n">Share</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        ${shown.map(
          name =>
            html`<tr>
              <th scope="row" data-label="Outcome">
                ${isDry && name === 'unsent' ? 'would send' : (labels[name] ?? name)}
              </th>
              <td class="n" data-label="Documents">${count(counts[name])}</td>
              <td class="n" data-label="Share">${share(counts[name], counts.read)}</td>
              <td data-label="Meaning">${isDry && name === 'unsent' ? 'A load would send them.' : meanings[name]}</td>
            </tr> `,
        )}
      </tbody>
    </table>
    <p class="note">${plural(counts.read, 'document')} read. Every document is in exactly one row.</p>`
}

/** Shows a share that is never rounded to nothing or to all. */
function share(part: number, all: number): string {
  const percent = (part / Math.max(1, all)) * 100
  if (part > 0 && percent < 0.1) return '< 0.1%'
  if (part < all && percent > 99.9) return '> 99.9%'
  return `${Number(percent.toFixed(1))}%`
}

/** Says in one sentence how the run ended. */
export function headline(end: RunEnd): string {
  const counts = reportedCounts(end)
  const { read, rejected, unknown } = counts
  const done = takenOf(counts)
  if (end.dryRun === true) return `A load would send ${plural(counts.unsent, 'document')}.`
  if (end.status === 'running') return 'This run has not ended. It is running, or it was killed.'
  if (end.elapsedMs === undefined && read === 0) return 'The load stopped before the first document.'
  if (end.status !== 'finished') {
    const how = end.status === 'interrupted' ? 'was interrupted' : 'stopped'
    return `The load ${how} after ${plural(done, 'document')}.`
  }
  if (unknown > 0) return `Nobody knows whether ${count(unknown)} of ${plural(read, 'document')} were stored.`
  if (rejected > 0)
    return `${count(rejected)} of ${plural(read, 'document')} ${rejected === 1 ? 'was' : 'were'} rejected.`
  if (isNothingNew(end)) return 'There was nothing new to load.'
  if (read === 0) return 'The inputs hold no documents.'
  if (counts.accepted > 0) return `All ${plural(read, 'document')} are queued.`
  return read === 1 ? 'The document has its outcome, and nothing was rejected.' : saysAll(counts)
}

function saysAll(counts: Counts): string {
  const { read, skipped, created, updated, duplicate, deleted } = counts
  if (created + updated + duplicate === read) return `All ${count(read)} documents are stored.`
  if (deleted === read) return `All ${count(read)} documents are deleted.`
  return `All ${count(read - skipped)} documents have their outcome, and none was rejected.`
}

function isNothingNew({ inputs = [] }: RunEnd): boolean {
  return inputs.length > 0 && inputs.every(({ alreadyLoaded }) => alreadyLoaded === true)
}
