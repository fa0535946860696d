/**
 * Prints the measures of the source tree: what a review counted, what we aim at, and what is there now.
 *
 *     npm run measure                    seconds
 *     npm run measure -- --line          loads a line into the lab as well, after `npm run build`
 *     npm run measure -- --names         lists what the figures count
 *     npm run measure -- DIRECTORY       measures another checkout
 */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { circlesOf, graphOf } from './circles.js'
import { featuresNamedBy } from './features.js'
import { linePath } from './line-path.js'
import { filesWithOptions } from './options.js'
import { readTree, topFolder } from './tree.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { line: { type: 'boolean' }, names: { type: 'boolean' } },
})
const root = resolve(positionals[0] ?? fileURLToPath(new URL('../..', import.meta.url)))
const files = readTree(root)
const fileCircles = circlesOf(graphOf(files))
const folderCircles = circlesOf(graphOf(files, topFolder))
const options = filesWithOptions(files)
const twice = exportedTwice()
const loop = featuresNamedBy(named('run/open-pipeline.ts', 'run/load.ts'))
const ending = featuresNamedBy(named('run/conclude.ts', 'run/finish-run.ts', 'run/finish.ts'))
const flow = featuresNamedBy(named('flow.ts'))
const spine = featuresNamedBy(files.filter(({ path }) => /^(run|ledger|state)\//.test(path) || path === 'flow.ts'))
const line = values.line ? await linePath(root) : undefined
const readme = readFileSync(join(root, 'README.md'), 'utf8')

/** Measure, was, aim, now, and the names behind the figure. */
const rows = [
  ['lines', '38,937', '34,000 or fewer', number(files.reduce((sum, file) => sum + file.lines, 0))],
  ['files', '495', '370 or fewer', number(files.length)],
  ['circles of files, type imports included', '9 (7 by this count)', '0', fileCircles.length, fileCircles],
  [
    'largest circle of folders (each file of the root is one)',
    '10',
    '0',
    Math.max(0, ...folderCircles.map(circle => circle.length)),
    folderCircles,
  ],
  ['files that see the options as a whole', '50 (38 by this count)', '15 or fewer', options.length, options],
  [
    'files that one NDJSON line passes, from file to receipt',
    '51 (61 with the first and last things of a run)',
    '38 or fewer',
    line?.length ?? 'with --line',
    line,
  ],
  ['features named by the loop of the run', '8', '0', loop.length, loop],
  ['features named by its ending', '5', '0', ending.length, ending],
  ['features named by flow.ts', '3', '0', flow.length, flow],
  ['features named anywhere in run, ledger, state, flow.ts', '(10 by this count)', '0', spine.length, spine],
  ['exported names that exist more than once', '54', '0', twice.length, twice],
  [
    'README',
    '557 lines, 39 KB',
    '240 lines, 14 KB',
    `${readme.split('\n').length - 1} lines, ${Math.round(Buffer.byteLength(readme) / 1000)} KB`,
  ],
  ['`npm cit` on two quiet cores', 'about 10 min', '4 min or less', '`time npm cit`'],
]

console.log('| Measure of src without the lab | was | aim | now |\n| --- | ---: | ---: | ---: |')
for (const [measure, was, aim, now] of rows) console.log(`| ${measure} | ${was} | ${aim} | ${now} |`)
if (values.names)
  for (const [measure, , , , names = []] of rows)
    if (names.length > 0) console.log(`\n${measure}\n${names.map(name => `- ${[name].flat().join(', ')}`).join('\n')}`)

function named(...paths) {
  return files.filter(({ path }) => paths.includes(path))
}

function exportedTwice() {
  const places = new Map()
  for (const { path, exports } of files)
    for (const name of new Set(exports)) places.set(name, [...(places.get(name) ?? []), path])
  return [...places].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(', ')}`)
}

function number(value) {
  return value.toLocaleString('en')
}
