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
      const { program, errors } = parseSync(path, text)
      if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0].message}`)
      const found = []
      visit(program, { name: '', branches: 0 })
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

/** Returns each member of the interface, with the files outside its room that give a value for it. The room itself calls them. */
export function membersOf(files, { path: home, type }) {
  const file = theFile(files, home)
  const body = new RegExp(`^export interface ${type}\\b[^{]*\\{([\\s\\S]*?)^\\}`, 'm').exec(file.text)?.[1]
  if (body === undefined) throw new Error(`${home} has no interface ${type}`)
  const names = [...codeOf(body).matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, name]) => name)
  const room = home.slice(0, home.lastIndexOf('/') + 1)
  const users = files.filter(
    ({ path, text }) => !path.startsWith(room) && new RegExp(`\\b(?:${type}|Feature)\\b`).test(text),
  )
  return names.map(name => ({
    name,
    by: users
      .filter(({ text }) => new RegExp(`^ +(?:async )?(?:get )?${name}(?:[:(,]|,?$)`, 'm').test(codeOf(text)))
      .map(({ path }) => path),
  }))
}

/** Words that belong to one feature, in small letters. A folder of `features` without words is an error, so that none is forgotten. */
const words = {
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
