/** Bars of megabytes a second on the direct way, one panel for each kind of document. */
import { clients } from '../clients.js'
import { summary } from '../statistics.js'
import { plain } from './format.js'

const width = 860
const labelWidth = 240
const barWidth = 380
const rowHeight = 22
const headHeight = 44
const kinds = { log: 'Log documents, about 850 bytes each', small: 'Small documents, about 145 bytes each' }

export function chart(results) {
  const panels = results.scenarios.filter(({ route, latency }) => route === 'direct' && latency === 0).map(panelOf)
  let top = 0
  const drawn = panels.map(panel => {
    const at = top
    top += headHeight + panel.rows.length * rowHeight + 16
    return draw(panel, at)
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" width="${width}" height="${top}" font-family="sans-serif" font-size="12">
<title>Megabytes a second and CPU seconds per gigabyte of each loader</title>
<style>
text { fill: #1f2328 } .quiet { fill: #59636e } .bar { fill: #8c9bab } .own { fill: #1f6feb }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .quiet { fill: #9198a1 } .bar { fill: #6e7b8a } .own { fill: #58a6ff } }
</style>
${drawn.join('\n')}
</svg>
`
}

function panelOf(scenario) {
  const rows = Object.keys(clients)
    // The floor is no loader, and its bar would dwarf the others.
    .filter(client => !client.endsWith('-default') && !clients[client].floor)
    .map(client => ({
      client,
      found:
        summary(scenario, client, 'whole') ?? summary(scenario, client, 'part') ?? summary(scenario, client, 'sample'),
    }))
    .filter(({ found }) => found !== undefined)
    .toSorted((a, b) => b.found.bytesPerSecond.median - a.found.bytesPerSecond.median)
  return { kind: scenario.kind, rows }
}

function draw({ kind, rows }, top) {
  const most = Math.max(...rows.map(({ found }) => found.bytesPerSecond.median))
  const bars = rows.map(({ client, found }, at) => {
    const y = top + headHeight + at * rowHeight
    const rate = found.bytesPerSecond.median
    const long = Math.max(1, (barWidth * rate) / most)
    const colour = client.startsWith('sluice') ? 'own' : 'bar'
    return `<text x="${labelWidth - 8}" y="${y + 13}" text-anchor="end">${escaped(clients[client].title)}</text>
<rect class="${colour}" x="${labelWidth}" y="${y}" width="${long.toFixed(1)}" height="${rowHeight - 6}" rx="2"/>
<text x="${(labelWidth + long + 6).toFixed(1)}" y="${y + 13}">${plain(rate / 1e6)} MB/s <tspan class="quiet">${plain(found.cpuPerGB.median)} CPU-s/GB</tspan></text>`
  })
  return `<text x="0" y="${top + 22}" font-size="15" font-weight="bold">${kinds[kind]}</text>
${bars.join('\n')}`
}

const escaped = text => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
