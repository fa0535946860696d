/** Draws a chart: shapes that stretch with the page, labels that do not, and the same numbers as a table. */
import { showDuration } from '../../base/text/shown.js'
import { html, type Html, type HtmlPart } from './html.js'
import type { TimePart } from './parts-of-time.js'

/** A shape over time. Values have the unit of the chart's axis. */
type Shape =
  | {
      readonly kind: 'area' | 'band' | 'alarm'
      readonly from: (part: TimePart) => number
      readonly to: (part: TimePart) => number
    }
  | { readonly kind: 'line'; readonly at: (part: TimePart) => number | undefined }

export interface Chart {
  readonly id: string
  readonly title: string
  /** A sentence or two on the chart. */
  readonly says: string
  readonly columns: readonly TimePart[]
  readonly lengthMs: number
  /** The largest value. */
  readonly most: number
  readonly label: (value: number) => string
  readonly shapes: readonly Shape[]
  /** Times that cross the whole chart. */
  readonly spans?: readonly { readonly from: number; readonly to: number }[]
  /** Times at which another process continued the run. */
  readonly marks: readonly number[]
  readonly legend: readonly (readonly [kind: 'area' | 'band' | 'line' | 'alarm', text: string])[]
  readonly isLow?: boolean
  readonly table: Html
}

/** Size of the drawing. It stretches to the room that it gets. */
const [WIDTH, HEIGHT] = [1000, 100]

export function drawChart(chart: Chart): Html {
  const { id, title, says, legend, marks, lengthMs, isLow = false, table } = chart
  const top = isLow ? Math.max(1, Math.ceil(chart.most)) : roundUp(chart.most)
  const ys = isLow ? [0, top] : [0, top / 2, top]
  const drawn = {
    x: (ms: number) => round((ms / Math.max(1, lengthMs)) * WIDTH),
    y: (value: number) => round(HEIGHT - (value / top) * HEIGHT),
  }
  return html`<figure id="${id}">
    <figcaption>
      <h3>${title}</h3>
      <p>${says}</p>
    </figcaption>
    <div class="chart">
      <div class="ys" aria-hidden="true">
        ${ys.map(value => html`<span style="top:${round(100 - (value / top) * 100)}%">${chart.label(value)}</span>`)}
      </div>
      <div class="plot${isLow ? ' low' : ''}">
        <svg
          viewBox="0 0 ${WIDTH} ${HEIGHT}"
          preserveAspectRatio="none"
          role="img"
          aria-labelledby="${id}-title ${id}-desc"
        >
          <title id="${id}-title">${title}</title>
          <desc id="${id}-desc">${says} The table below holds the numbers.</desc>
          ${ys.slice(1).map(value => html`<path class="grid" d="M0 ${drawn.y(value)}H${WIDTH}" />`)}
          ${(chart.spans ?? []).map(({ from, to }) => html`<rect class="alarm" x="${drawn.x(from)}" y="0" width="${round(Math.max(2, drawn.x(to) - drawn.x(from)))}" height="${HEIGHT}" />`)}
          ${chart.shapes.map(shape => drawShape(shape, chart.columns, drawn))}
          <path class="base" d="M0 ${HEIGHT}H${WIDTH}" />
          ${marks.map(at => html`<path class="mark" d="M${drawn.x(at)} 0V${HEIGHT}" />`)}
        </svg>
      </div>
      <div class="xs" aria-hidden="true">${ticks(lengthMs)}</div>
    </div>
    <p class="legend">
      ${legend.map(([kind, text]) => html`<span><i class="is-${kind}"></i>${text}</span>`)}${marks.length > 0 && html`<span><i class="is-mark"></i>another process continued the run</span>`}
    </p>
    <details>
      <summary>Show the numbers: ${title.toLowerCase()}</summary>
      <div class="scroll">${table}</div>
    </details>
  </figure>`
}

interface Drawn {
  readonly x: (ms: number) => number
  readonly y: (value: number) => number
}

function drawShape(shape: Shape, columns: readonly TimePart[], { x, y }: Drawn): HtmlPart {
  if (shape.kind === 'line') return html`<path class="stroke" d="${steps(columns, shape.at, { x, y })}" />`
  const rects = columns.flatMap(part => {
    const [from, to] = [shape.from(part), shape.to(part)]
    if (!(to > from)) return []
    return `M${x(part.from)} ${y(from)}V${y(to)}H${x(part.to)}V${y(from)}Z`
  })
  return rects.length > 0 && html`<path class="${shape.kind}" d="${rects.join('')}" />`
}

/** Returns a line of steps, with a gap wherever there is no value. */
function steps(columns: readonly TimePart[], at: (part: TimePart) => number | undefined, { x, y }: Drawn): string {
  let path = ''
  let isOpen = false
  for (const part of columns) {
    const value = at(part)
    if (value === undefined) isOpen = false
    else {
      path += isOpen ? `V${y(value)}H${x(part.to)}` : `M${x(part.from)} ${y(value)}H${x(part.to)}`
      isOpen = true
    }
  }
  return path
}

/** Returns the smallest number with one or two digits that is not smaller. */
function roundUp(value: number): number {
  if (!(value > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10].find(step => step * power >= value * 0.9999) ?? 10) * power
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const tickSteps = [
  ...[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30].map(n => Math.round(n * SECOND)),
  ...[1, 2, 5, 10, 15, 30].map(n => n * MINUTE),
  ...[1, 2, 3, 6, 12, 24, 48, 96, 240, 720].map(n => n * HOUR),
]
/** Most labels under a chart. */
const MOST_TICKS = 6

function ticks(lengthMs: number): Html[] {
  const step = tickSteps.find(one => lengthMs / one <= MOST_TICKS) ?? lengthMs / MOST_TICKS
  const labels: Html[] = []
  for (let at = 0; at * step <= lengthMs; at += 1) {
    const left = ((at * step) / Math.max(1, lengthMs)) * 100
    const place = left < 3 ? ' start' : left > 97 ? ' end' : ''
    labels.push(
      html`<span class="${at % 2 === 1 ? 'odd' : 'even'}${place}" style="left:${round(left)}%"
        >${timeAt(at * step)}</span
      >`,
    )
  }
  return labels
}

/** Shows a time since the start, without a fraction that says nothing. */
export function timeAt(ms: number): string {
  if (ms === 0) return '0'
  if (ms >= MINUTE && ms % MINUTE === 0 && ms < HOUR) return `${ms / MINUTE} min`
  if (ms >= HOUR && ms % HOUR === 0) return `${ms / HOUR} h`
  if (ms >= SECOND && ms < MINUTE && ms % SECOND === 0) return `${ms / SECOND} s`
  return showDuration(ms)
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
