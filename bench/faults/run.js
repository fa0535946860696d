/**
 * npm run faults [-- --faults filter,kill --tools sluice,python --results FILE]
 *
 * Plays every fault with every loader, and writes docs/faults.md. With a choice of faults or loaders it prints the page instead.
 * --results keeps the results; where the file has some, a choice of faults takes the place of these alone, and the page is written.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeMachine } from '../machine.js'
import { builtSluice, installNodePeers, projectFolder, pythonEnvironment } from '../prepare.js'
import { say } from '../say.js'
import { faults } from './faults.js'
import { play } from './play.js'
import { render } from './render.js'
import { tools } from './tools.js'

const { values } = parseArgs({
  options: { faults: { type: 'string' }, tools: { type: 'string' }, results: { type: 'string' } },
})
const chosen = (list, all) => (list === undefined ? Object.keys(all) : list.split(','))
const playedTools = chosen(values.tools, tools)
const playedFaults = chosen(values.faults, faults)

installNodePeers()
const programs = { sluice: builtSluice(), python: pythonEnvironment() }
// Built above: it does not exist before.
const { startLab } = await import(new URL('../../dist/lab/index.js', import.meta.url).href)

const cells = {}
for (const name of playedFaults) {
  const fault = faults[name]
  cells[name] = {}
  for (const ids of fault.ids ? ['own', 'field'] : ['own']) {
    cells[name][ids] = {}
    for (const tool of playedTools) {
      const cell = await play(fault, tool, ids, { programs, startLab })
      cells[name][ids][tool] = cell
      const { missing, doubled, altered, runs } = cell
      const exits = runs.map(({ exit, seconds }) => `${exit} after ${seconds.toFixed(1)} s`).join(', ')
      say(`${name} ${ids} ${tool}: ${missing} missing, ${doubled} doubled, ${altered} altered; exit ${exits}`)
    }
  }
}

const known = values.results !== undefined && existsSync(values.results)
const before = known ? JSON.parse(readFileSync(values.results, 'utf8')).cells : {}
const results = {
  date: new Date().toISOString().slice(0, 10),
  machine: describeMachine(programs, {}),
  cells: { ...before, ...cells },
}
if (values.results !== undefined) writeFileSync(values.results, JSON.stringify(results, undefined, 1))
const page = render(results)
const isWhole = Object.keys(faults).every(name => results.cells[name] !== undefined) && values.tools === undefined
if (isWhole) writeFileSync(join(projectFolder, 'docs', 'faults.md'), page)
else process.stdout.write(page)
