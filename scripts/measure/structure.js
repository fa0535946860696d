/** Measures of the tree: what a stranger meets, and what an import crosses. Each takes files, so that a test can plant a sin. */
import { parseSync } from 'rolldown/experimental'
import { codeOf } from './tree.js'

/** Returns the names at the top of src, with the lab. */
export function entriesOf(files) {
  return [...new Set(files.map(({ path }) => path.split('/')[0]))]
}

/** Returns `from -> to` for each pair of rooms of which one imports the other. */
export function arrowsOf(files, roomOf) {
  const arrows = files.flatMap(({ path, imports }) =>
    imports.map(to => [roomOf(path), roomOf(to)]).filter(([from, to]) => from !== to),
  )
  return [...new Set(arrows.map(([from, to]) => `${from} -> ${to}`))]
}

/** Returns the imports that run to a higher district, or to a part outside the plan. Only the command may start the lab. */
export function upwardOf(files, { districtOf, floorOf }) {
  return files.flatMap(({ path, imports }) =>
    imports
      .filter(to => {
        const [from, into] = [districtOf(path), districtOf(to)]
        if (from === into || (from === 'cli' && into === 'lab')) return false
        // A part outside the plan, like the lab, stands on no floor.
        return into === 'lab' || floorOf(into) < 0 || floorOf(into) >= floorOf(from)
      })
      .map(to => `${path} -> ${to}`),
  )
}

/** Returns the files that another district imports. A file of the root is a public door and no district of its own. */
export function doorsOf(files, districtOf) {
  const known = new Set(files.map(({ path }) => path))
  const entered = files.flatMap(({ path, imports }) =>
    imports.filter(to => known.has(to) && districtOf(path) !== districtOf(to)),
  )
  return [...new Set(entered)].toSorted(byName)
}

const branching = new Set([
  'IfStatement',
  'ConditionalExpression',
  'LogicalExpression',
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
  'WhileStatement',
  'DoWhileStatement',
  'CatchClause',
])

/** Returns the functions with more branches than `most`. A function inside another counts for itself. Kernels are left out. */
export function branchyFunctions(files, most) {
  return files
    .filter(({ path }) => !path.includes('/assembly/'))
    .flatMap(({ path, text }) => {
      const found = []
      visit(parsed({ path, text }), { name: '', branches: 0 })
      return found

      function visit(node, inside, named = '') {
        if (node === null || typeof node !== 'object') return
        if (Array.isArray(node)) {
          for (const one of node) visit(one, inside, named)
          return
        }
        const isFunction = /Function/.test(node.type ?? '') && node.body != null
        const own = isFunction ? { name: node.id?.name ?? named, branches: 0 } : inside
        if (branching.has(node.type) || (node.type === 'SwitchCase' && node.test !== null)) inside.branches += 1
        const name = node.key?.name ?? (node.type === 'VariableDeclarator' ? node.id?.name : undefined) ?? named
        for (const [key, value] of Object.entries(node))
          if (key !== 'type' && typeof value === 'object') visit(value, own, name)
        if (isFunction && own.branches > most) found.push(`${path}: ${own.name} ${own.branches}`)
      }
    })
}

/** The interfaces that a feature of a run implements. */
export const hooks = { path: 'run/loop/hooks.ts', types: ['InputsHook', 'RouteHook', 'BodiesHook', 'EndingHook'] }

/** Returns each member of the interfaces, with the files outside their room that implement it. The room itself calls them. */
export function membersOf(files, { path: home, types }) {
  const members = types.flatMap(type => namesIn(theFile(files, home), type))
  const names = new Set(members)
  const room = home.slice(0, home.lastIndexOf('/') + 1)
  const said = new RegExp(`\\b(?:Feature|RunHook|${types.join('|')})\\b`)
  const implementers = files
    .filter(({ path, text }) => !path.startsWith(room) && said.test(text))
    .map(file => ({ path: file.path, own: new Set(implementedIn(file, names)) }))
  return members.map(name => ({
    name,
    by: implementers.filter(({ own }) => own.has(name)).map(({ path }) => path),
  }))
}

function namesIn(file, type) {
  const found = []
  walk(parsed(file), node => {
    if (node.type === 'TSInterfaceDeclaration' && node.id.name === type)
      found.push(...node.body.body.map(({ key }) => key.name))
  })
  if (found.length === 0) throw new Error(`${file.path} has no interface ${type}`)
  return found
}

const made = new Set(['FunctionExpression', 'ArrowFunctionExpression', 'ObjectExpression'])

/** An object implements members if it has nothing else, and if one of its values is made there. An object of found values is no hook. */
function implementedIn(file, names) {
  const found = []
  walk(parsed(file), ({ type, properties }) => {
    if (type !== 'ObjectExpression' || !properties.every(({ key }) => names.has(key?.name))) return
    if (properties.some(({ value }) => made.has(value.type))) found.push(...properties.map(({ key }) => key.name))
  })
  return found
}

function parsed({ path, text }) {
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0].message}`)
  return program
}

function walk(node, see) {
  if (node === null || typeof node !== 'object') return
  if (node.type !== undefined) see(node)
  for (const value of Object.values(node)) walk(value, see)
}

/** Words that belong to one feature, in small letters. A folder of `features` without words is an error, so that none is forgotten. */
const words = {
  'another-cluster': 'hits foreign',
  destinations: 'dump dumps managed',
  edits: 'edit edits edited editor',
  follow: 'follow followed following',
  guarded: 'alias guard guarded swap',
  limits: 'learn learnt',
  mapping: 'infer inferred mapped rehearse rehearsal',
  metrics: 'metrics',
  ranges: 'range ranges',
  remote: 'remote bucket buckets',
  replay: 'replay replayed',
  report: 'timeline',
  rotated: 'rotated unread',
  spool: 'spool spooled',
  tables: 'table tables cursor servicenow',
  text: 'message messages',
  transform: 'transform transformed',
  tuned: 'tune tuned unrefreshed',
  unreplayed: 'unreplayed remind',
}

/**
 * Returns the features that files of the spine name: by an import from the folder of the feature, or by an identifier that has one of
 * its words.
 */
export function featuresNamedBy(files, spine) {
  const features = [
    ...new Set(files.flatMap(({ path }) => /^features\/([^/]+)\//.exec(path)?.slice(1) ?? [])),
  ].toSorted(byName)
  if (features.length === 0) throw new Error('src has no features')
  const looked = spine.flatMap(place => {
    const found = files.filter(({ path }) => path === place || path.startsWith(`${place}/`))
    if (found.length === 0) throw new Error(`src has no ${place}`)
    return found.map(({ path, text, imports }) => ({ path, imports, said: wordsIn(codeOf(text)) }))
  })
  return features.flatMap(feature => {
    if (words[feature] === undefined)
      throw new Error(`features/${feature} has no words in scripts/measure/structure.js`)
    const own = words[feature].split(' ')
    return looked
      .filter(({ said, imports }) => {
        return imports.some(to => to.startsWith(`features/${feature}/`)) || own.some(word => said.has(word))
      })
      .map(({ path }) => `${feature}: ${path}`)
  })
}

/** Returns the words of all identifiers: `spoolBytes` has `spool` and `bytes`. */
function wordsIn(code) {
  const parts = code.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []
  return new Set(parts.map(part => part.toLowerCase()))
}

/** Returns the lines below each folder that `groupOf` names. */
export function linesOf(files, groupOf) {
  const lines = new Map()
  for (const { path, lines: count } of files) {
    const group = groupOf(path)
    if (group !== undefined) lines.set(group, (lines.get(group) ?? 0) + count)
  }
  return [...lines].toSorted(([, one], [, other]) => other - one)
}

function byName(one, other) {
  return one < other ? -1 : 1
}

function theFile(files, path) {
  const file = files.find(one => one.path === path)
  if (file === undefined) throw new Error(`src has no ${path}`)
  return file
}
