/** The charts of a run: documents, answers, open requests, retries and waits over time. */
import { count, plural, showDuration } from '../../base/text/shown.js'
import { drawChart, timeAt } from './chart.js'
import { quantile } from './histogram.js'
import { html, type Html, type HtmlPart } from './html.js'
import { timeColumns, joinParts, perSecond, rowsOf, type TimePart } from './parts-of-time.js'
import type { Samples } from './timeline.js'

/** Rows of the table beside a chart. */
const ROWS = 12

export function chartsOverTime(samples: Samples): Html {
  const columns = timeColumns(samples)
  const all = joinParts(columns)
  const { lengthMs, processes } = samples
  const marks = processes.slice(1).map(({ at }) => at)
  const shared = { columns, lengthMs, marks }
  return html`${documents(shared, all)}${all.sums.answered.length > 0 && answers(shared, all)}${all.sums.requests > 0 && openRequests(shared, all)}${retriesAndWaits(shared, all, samples)}`
}

interface Shared {
  readonly columns: readonly TimePart[]
  readonly lengthMs: number
  readonly marks: readonly number[]
}

function documents(shared: Shared, all: TimePart): Html {
  const { columns } = shared
  const taken = (part: TimePart) => perSecond(part.sums.taken, part)
  const both = (part: TimePart) => perSecond(part.sums.taken + part.sums.rejected, part)
  // A reader looks for this number in the table, whose rows may join columns.
  const best = Math.max(0, ...rowsOf(columns, ROWS).map(taken))
  const isRejecting = all.sums.rejected > 0
  return drawChart({
    ...shared,
    id: 'documents',
    title: 'Documents per second',
    says: `The target took ${count(taken(all))} documents per second on average, and ${count(best)} in the best row of the table below.`,
    most: Math.max(0, ...columns.map(both)),
    label: short,
    shapes: [
      { kind: 'area', from: () => 0, to: taken },
      ...(isRejecting ? [{ kind: 'alarm' as const, from: taken, to: both }] : []),
    ],
    legend: [['area', 'taken by the target'], ...(isRejecting ? [['alarm', 'rejected'] as const] : [])],
    table: table(columns, ['Taken', 'Rejected', 'Taken per second', 'Bytes in requests per second'], part => [
      count(part.sums.taken),
      count(part.sums.rejected),
      count(taken(part)),
      count(perSecond(part.sums.bytes, part)),
    ]),
  })
}

function answers(shared: Shared, all: TimePart): Html {
  const at = (part: number) => (column: TimePart) => quantile(column.sums.answered, part)
  const [median, slow] = [at(0.5), at(0.95)]
  const shown = (value: number | undefined) => (value === undefined ? '' : duration(value))
  return drawChart({
    ...shared,
    id: 'answers',
    title: 'Time to an answer',
    says: `Half of all bulk requests had their answer within ${shown(median(all))}, and 95% within ${shown(slow(all))}.`,
    most: Math.max(0, ...shared.columns.map(part => slow(part) ?? 0)),
    label: value => (value === 0 ? '0' : duration(value)),
    shapes: [
      { kind: 'band', from: () => 0, to: part => slow(part) ?? 0 },
      { kind: 'line', at: median },
    ],
    legend: [
      ['line', 'half of the requests were faster'],
      ['band', '95% of the requests were faster'],
    ],
    table: table(shared.columns, ['Requests', 'Half within', '95% within', 'Not accepted'], part => [
      count(part.sums.requests),
      shown(median(part)),
      shown(slow(part)),
      count(part.sums.refused),
    ]),
  })
}

function openRequests(shared: Shared, all: TimePart): Html {
  const mean = ({ sums, from, to }: TimePart) => sums.openMs / Math.max(1, to - from)
  return drawChart({
    ...shared,
    id: 'open-requests',
    title: 'Open requests',
    says: `On average ${mean(all).toFixed(1)} requests waited for their answer, and at most ${count(all.sums.mostOpen)} at once.`,
    most: all.sums.mostOpen,
    label: value => (Number.isInteger(value) ? count(value) : value.toFixed(1)),
    shapes: [
      { kind: 'band', from: () => 0, to: mean },
      { kind: 'line', at: ({ sums }) => sums.mostOpen },
    ],
    legend: [
      ['band', 'on average'],
      ['line', 'most at once'],
    ],
    table: table(shared.columns, ['On average', 'Most at once', 'Requests sent'], part => [
      mean(part).toFixed(1),
      count(part.sums.mostOpen),
      count(part.sums.requests),
    ]),
  })
}

function retriesAndWaits(shared: Shared, all: TimePart, { waits, moreWaits, lengthMs }: Samples): Html {
  const again = (part: TimePart) => sum(Object.values(part.sums.retries))
  const causes = Object.entries(all.sums.retries).toSorted(([, a], [, b]) => b - a)
  if (causes.length === 0 && waits.length === 0)
    return html`<p class="note">Sluice retried no request, and access was never lost.</p>`
  const spans = waits.map(({ from, to = lengthMs }) => ({ from, to }))
  const waited = sum(spans.map(({ from, to }) => to - from))
  const times = waits.length + moreWaits
  const lost = times === 1 ? 'once' : plural(times, 'time')
  const saysWaits =
    waits.length === 0 ? 'Access was never lost.' : `Access was lost ${lost}, for ${showDuration(waited)} in all.`
  const saysRetries =
    again(all) === 0 ? 'Sluice retried no request.' : `Sluice retried ${plural(again(all), 'request')}.`
  return html`${drawChart({
    ...shared,
    id: 'retries',
    title: 'Retries and waits',
    says: `${saysRetries} ${saysWaits}`,
    most: Math.max(0, ...shared.columns.map(again)),
    label: value => count(value),
    isLow: true,
    spans,
    shapes: [{ kind: 'area', from: () => 0, to: again }],
    legend: [
      ...(again(all) === 0 ? [] : [['area', 'retries'] as const]),
      ...(waits.length === 0 ? [] : [['alarm', 'waiting for access'] as const]),
    ],
    table: html`${causesTable(causes)}${waits.length > 0 && waitsTable(waits, lengthMs)}`,
  })}`
}

function causesTable(causes: readonly (readonly [string, number])[]): HtmlPart {
  return (
    causes.length > 0 &&
    html`<table>
      <thead>
        <tr>
          <th scope="col">Cause of retries</th>
          <th scope="col" class="n">Requests</th>
        </tr>
      </thead>
      <tbody>
        ${causes.map(
          ([code, times]) =>
            html`<tr>
              <th scope="row"><code>${code}</code></th>
              <td class="n">${count(times)}</td>
            </tr>`,
        )}
      </tbody>
    </table>`
  )
}

function waitsTable(waits: Samples['waits'], lengthMs: number): Html {
  return html`<table>
    <thead>
      <tr>
        <th scope="col">Access was lost at</th>
        <th scope="col" class="n">For</th>
        <th scope="col">Cause</th>
      </tr>
    </thead>
    <tbody>
      ${waits.map(
        ({ from, to = lengthMs, code }) =>
          html`<tr>
            <th scope="row">${timeAt(from)}</th>
            <td class="n">${showDuration(to - from)}</td>
            <td><code>${code}</code></td>
          </tr>`,
      )}
    </tbody>
  </table>`
}

function table(
  columns: readonly TimePart[],
  heads: readonly string[],
  cells: (part: TimePart) => readonly string[],
): Html {
  return html`<table>
    <thead>
      <tr>
        <th scope="col">From</th>
        ${heads.map(head => html`<th scope="col" class="n">${head}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rowsOf(columns, ROWS).map(
        part =>
          html`<tr>
            <th scope="row">${timeAt(part.from)}</th>
            ${cells(part).map(cell => html`<td class="n">${cell}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`
}

function duration(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : showDuration(ms)
}

/** Shows a number in little room. */
function short(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toFixed(2))} M`
  if (value >= 1e4) return `${Number((value / 1e3).toFixed(1))} k`
  return value < 10 && !Number.isInteger(value) ? value.toFixed(1) : count(value)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
