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
import { linePath } from './line-path.js'
import { filesWithOptions } from './options.js'
import { plan } from './plan.js'
import {
  arrowsOf,
  branchyFunctions,
  doorsOf,
  entriesOf,
  featuresNamedBy,
  hooks,
  linesOf,
  membersOf,
  upwardOf,
} from './structure.js'
import { readTree, topFolder } from './tree.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { line: { type: 'boolean' }, names: { type: 'boolean' } },
})
const root = resolve(positionals[0] ?? fileURLToPath(new URL('../..', import.meta.url)))
const files = readTree(root)
const fileCircles = circlesOf(graphOf(files))
const folderCircles = circlesOf(graphOf(files, plan.roomOf))
const options = filesWithOptions(files)
const twice = exportedTwice()
const isPlanned = files.some(({ path }) => path.startsWith('base/'))
const entries = [...entriesOf(files), plan.double.name]
const arrows = arrowsOf(files, topFolder)
const rooms = [...new Set(files.map(({ path }) => plan.roomOf(path)))]
const inner = arrowsOf(files, plan.roomOf)
const doors = doorsOf(files, isPlanned ? plan.districtOf : topFolder)
const branchy = branchyFunctions(files, 20)
const line = values.line ? await linePath(root) : undefined
const readme = readFileSync(join(root, 'README.md'), 'utf8')

/**
 * Measure, was, aim, now, and the names behind the figure.
 * @type {[string, string, string, string | number, unknown[]?][]}
 */
const rows = [
  ['entries at the top of src', '61', '16 or fewer', entries.length, entries],
  [
    'districts and public doors, arrows between them',
    '60, 429',
    '20, 80',
    `${entries.length - 1}, ${arrows.length}`,
    arrows,
  ],
  ...planned(),
  ['doors: files that another district imports', '275', '120, then 80', `${doors.length} of ${files.length}`, doors],
  ['functions with more than 20 branches, without kernels', '20', '5', branchy.length, branchy],
  ['circles of files, type imports included', '9 (7 by this count)', '0', fileCircles.length, fileCircles],
  [
    'largest circle of rooms (each file of the root is one)',
    '10',
    '0',
    Math.max(0, ...folderCircles.map(circle => circle.length)),
    folderCircles,
  ],
  ['files that see the options as a whole', '50 (38 by this count)', '15 or fewer', options.length, options],
  [
    'files that one NDJSON line passes, from file to receipt',
    '51 (61 with the first and last things of a run)',
    '60 or fewer',
    line?.length ?? 'with --line',
    line,
  ],
  ['exported names that exist more than once', '54', '0', twice.length, twice],
  [
    'README',
    '557 lines, 39 KB',
    '220 lines, 14 KB',
    `${readme.split('\n').length - 1} lines, ${Math.round(Buffer.byteLength(readme) / 1000)} KB`,
  ],
  ['`npm cit` on two quiet cores', 'about 10 min', '4 min or less', '`time npm cit`'],
]

console.log('| Measure of src without the lab | was | aim | now |\n| --- | ---: | ---: | ---: |')
for (const [measure, was, aim, now] of rows) console.log(`| ${measure} | ${was} | ${aim} | ${now} |`)
if (isPlanned) printLines()
if (values.names)
  for (const [measure, , , , names = []] of rows)
    if (names.length > 0) console.log(`\n${measure}\n${names.map(name => `- ${[name].flat().join(', ')}`).join('\n')}`)

/**
 * Rows of a tree that has districts. A tree from before them has none of their files.
 * @returns {typeof rows}
 */
function planned() {
  if (!isPlanned) return []
  const upward = upwardOf(files, plan)
  const members = membersOf(files, hooks)
  const single = members.filter(({ by }) => by.length === 1)
  const named = [
    ['the loop of a run', 'run/loop'],
    ['the state of a run', 'run/state'],
    ['the ledger', 'pipeline/ledger'],
    ['base/flow.ts', 'base/flow.ts'],
  ].map(([where, ...spine]) => ({ where, found: featuresNamedBy(files, spine) }))
  return [
    ['rooms of the plan, arrows between them', '', '', `${rooms.length}, ${inner.length}`, rooms],
    ['imports that run upward', '2', '0', upward.length, upward],
    [
      'members of the hooks of a run, of them with one implementer',
      '25, 8 (one interface)',
      'four interfaces, 0',
      `${members.length}, ${single.length} (${hooks.types.length} interfaces)`,
      members.map(({ name, by }) => `${name}: ${by.join(', ')}`),
    ],
    ...named.map(({ where, found }) => [`features named by ${where}`, '', '0', found.length, found]),
  ]
}

/** Prints what each part costs to own. Lines are shown, and not limited. */
function printLines() {
  const tables = {
    District: linesOf(files, path => plan.districtOf(path) || 'the root'),
    'Feature or program': linesOf(files, path => /^(?:features|programs)\/[^/]+/.exec(path)?.[0]),
  }
  for (const [title, lines] of Object.entries(tables)) {
    console.log(`\n| ${title} | lines |\n| --- | ---: |`)
    for (const [name, count] of lines) console.log(`| ${name} | ${number(count)} |`)
  }
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
