/** Makes the report of a run: one page without scripts, that needs nothing but itself. */
import { asSet, causesFor, type Failure, fixesFor } from '../../base/failure/failure.js'
import { takenOf } from '../../base/operation.js'
import type { RunEnd } from '../../run/state/checkpoint/checkpoint.js'
import { count, showDuration } from '../../base/text/shown.js'
import { html, type Html, type HtmlPart, prose, timeShown } from './html.js'
import type { KeptTimeline } from './timeline.js'
import { headline, reportedCounts, showOutcomes } from './outcomes.js'
import { chartsOverTime } from './over-time.js'
import { showInputs, showLearnt, showRejections, showRest, showRoute } from './sections.js'
import { STYLE } from './style.js'
import { withoutValues } from './without-values.js'

export interface ReportFacts {
  /** How the run ended, without secrets. */
  readonly end: RunEnd
  /** Absent: nothing was sampled, for example because the run never began. */
  readonly timeline?: KeptTimeline | undefined
  /** The next steps. Backticks mark commands. */
  readonly next: readonly string[]
  /** Version of Sluice. */
  readonly version: string
  readonly written: Date
}

/** How a report begins. A file that begins otherwise is none. */
export const REPORT_START = '<!doctype html>\n<!-- report of a run of Sluice -->\n'

const CAUSES = 3

export function reportPage(facts: ReportFacts): string {
  const { end, timeline, version, written } = facts
  const title = headline(end)
  const body = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>Run ${end.run}: ${title}</title>
<style>`
  const rest = html`</style>
</head>
<body>
<main>
<header>
<p class="eyebrow"><span class="state${isBad(end) ? ' bad' : ''}">${stateOf(end)}</span><span>Run ${end.run}</span></p>
<h1>${title}</h1>
<p class="lead">${about(end)}</p>
</header>
${end.failure === undefined ? nextBox(end, facts.next) : failureBox(end.failure, facts.next)}
${keyFigures(end)}
<section><h2>Every document</h2>${showOutcomes(end)}</section>
${showRejections(end)}
${overTime(timeline)}
${showInputs(end)}
${showRoute(end)}
${showLearnt(timeline?.limits)}
${showRest(end)}
<footer><p>Sluice ${version} made this report on ${timeShown(written.toISOString())}. It holds no documents, no ids and no credentials. It loads nothing from the network and runs no scripts.</p></footer>
</main>
</body>
</html>
`
  // The style is ours, and holds characters that text may not.
  return REPORT_START + body.text + STYLE + rest.text
}

function isBad(end: RunEnd): boolean {
  return end.failure !== undefined || (end.exit ?? 0) !== 0
}

function stateOf(end: RunEnd): string {
  const { status, failure, exit = 0, dryRun } = end
  if (failure !== undefined) return failure.code
  if (dryRun === true) return 'dry run'
  if (status === 'running') return 'not ended'
  return exit === 0 ? 'finished' : 'finished, needs a look'
}

function about({ command, target, began, ended, exit }: RunEnd): Html {
  const { url, index, alias } = target ?? {}
  const where = alias ?? index
  const took = ended === undefined ? undefined : showDuration(Math.max(0, Date.parse(ended) - Date.parse(began)))
  return html`<code>sluice ${command}</code
    >${where !== undefined && html` into <strong>${where}</strong>`}${url !== undefined && html` on ${url}`}. The last
    process began on
    ${timeShown(began)}${took !== undefined && html`, took ${took}`}${exit !== undefined && html` and ended with exit code ${exit}`}.`
}

function failureBox({ code, message, evidence }: Failure, next: readonly string[]): Html {
  const causes = causesFor(code, message, evidence['proxySetBy']).slice(0, CAUSES)
  const fixes = fixesFor(code, message, evidence.next, evidence['proxySetBy'])
  const first =
    typeof evidence.next === 'string' && !fixes.includes(asSet(evidence.next, evidence['proxySetBy']))
      ? [asSet(evidence.next, evidence['proxySetBy'])]
      : []
  const steps = [...first, ...fixes, ...next.filter(step => !fixes.includes(step) && !first.includes(step))]
  return html`<div class="box bad">
      <h2>Why it stopped</h2>
      <p>${prose(sentence(withoutValues(message)))}</p>
      ${
        causes.length > 0 &&
        html`<ul>
          ${causes.map(cause => html`<li>${prose(sentence(cause))}</li>`)}
        </ul>`
      }
    </div>
    <div class="box">
      <h2>What to do next</h2>
      ${list(steps)}
      <p class="soft">More: <code>sluice explain ${code}</code></p>
    </div>`
}

function nextBox(end: RunEnd, next: readonly string[]): Html {
  if (next.length === 0 && !isBad(end)) return html`<div class="box"><p>There is nothing left to do.</p></div>`
  if (next.length === 0)
    return html`<div class="box">
      <h2>What to do next</h2>
      <p>
        ${end.status === 'running' ? prose('If no process works on this run, run the same command again. It continues.') : 'Read the reasons below.'}
      </p>
    </div>`
  return html`<div class="box">
    <h2>What to do next</h2>
    ${list(next)}
  </div>`
}

function list(steps: readonly string[]): Html {
  const [only] = steps
  if (steps.length === 1 && only !== undefined) return html`<p>${prose(sentence(only))}</p>`
  return html`<ol>
    ${steps.map(step => html`<li>${prose(sentence(step))}</li>`)}
  </ol>`
}

/** Begins a message with a capital letter, and ends it with a full stop. */
function sentence(text: string): string {
  const first = /^[a-z]+\b(?![.:/=_-])/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text
  return /[.!?:`…]$/.test(first) ? first : `${first}.`
}

function keyFigures(end: RunEnd): HtmlPart {
  const counts = reportedCounts(end)
  const { elapsedMs, docsPerSecond, dryRun } = end
  if (elapsedMs === undefined && counts.read === 0) return false
  const taken = counts.accepted > 0 ? 'Queued' : counts.deleted > counts.created ? 'Deleted' : 'Stored'
  const tiles: (readonly [string, string])[] = [
    dryRun === true ? ['Would send', count(counts.unsent)] : [taken, count(takenOf(counts))],
    ['Rejected', count(counts.rejected)],
    ...(elapsedMs === undefined ? [] : [['Loading time', showDuration(end.follow?.loadingMs ?? elapsedMs)] as const]),
    ...(docsPerSecond === undefined || dryRun === true
      ? []
      : [['Documents per second', count(docsPerSecond)] as const]),
  ]
  return html`<dl class="figures">
    ${tiles.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`
}

function overTime(timeline: KeptTimeline | undefined): HtmlPart {
  if (timeline === undefined) return false
  const { samples } = timeline
  const [first, ...others] = samples.processes
  const processes =
    others.length === 0
      ? ''
      : ` ${count(others.length + 1)} processes worked on this run. The time between them is left out.`
  return html`<section>
    <h2>Over time</h2>
    <p class="note" style="margin:-0.5rem 0 1.25rem">
      Times count from the start of the run${first !== undefined && html`, ${timeShown(first.began)}`}.${processes}
    </p>
    ${chartsOverTime(samples)}
  </section>`
}
