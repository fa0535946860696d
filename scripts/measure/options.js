/** Finds the files that see the options as a whole: they name the options' type, or a type that holds one. */
import { dirname, posix } from 'node:path'
import { codeOf } from './tree.js'

/** The library's options, and what `readOptions` makes of them. */
const wholes = ['IngestOptions', 'Load']
const declaration = /^(?:export )?(?:interface|type) (\w+)[\s\S]*?(?=^[^\s}])/gm
const bringing = /^(?:import|export)\s(?:type\s)?\{([^}]*)\}\s*from\s+'(\.[^']+)'/gm

/** @param {import('./tree.js').SourceFile[]} files @returns {string[]} paths */
export function filesWithOptions(files) {
  const read = files.map(({ path, text }) => {
    const code = `${codeOf(text)}\n;`
    return { path, code, types: [...code.matchAll(declaration)], brought: broughtInto(path, text) }
  })
  /** `path:name` of each type that is the options, or holds them. */
  const holders = new Set()
  const held = ({ path, types, brought }) => [
    ...types.map(([, name]) => name).filter(name => holders.has(`${path}:${name}`)),
    ...brought.filter(({ from, name }) => holders.has(`${from}:${name}`)).map(({ as }) => as),
  ]
  for (const { path, types } of read)
    for (const [, name] of types) if (wholes.includes(name)) holders.add(`${path}:${name}`)
  for (const name of wholes)
    if (![...holders].some(holder => holder.endsWith(`:${name}`))) throw new Error(`src has no type ${name}`)
  for (let before = 0; before < holders.size;) {
    before = holders.size
    for (const file of read) {
      for (const name of held(file)) holders.add(`${file.path}:${name}`)
      for (const [text, name] of file.types) if (namesOne(held(file), text)) holders.add(`${file.path}:${name}`)
    }
  }
  return read.filter(file => held(file).length > 0).map(({ path }) => path)
}

/** Lists the names that a file imports or hands on from others of ours. */
function broughtInto(path, text) {
  return [...text.matchAll(bringing)].flatMap(([, names, specifier]) => {
    const from = posix.join(dirname(path), specifier.replace(/\.js$/, '.ts'))
    return names
      .split(',')
      .map(name =>
        name
          .trim()
          .replace(/^type /, '')
          .split(' as '),
      )
      .filter(([name]) => name !== '')
      .map(([name, as = name]) => ({ from, name, as }))
  })
}

/** A type that takes named parts of another one does not hold it: `keyof A`, `A['b']`, `Pick<A, 'b'>`. */
function namesOne(names, text) {
  const any = names.join('|')
  const isPart = new RegExp(`keyof (?:${any})\\b|\\b(?:${any})\\[|Pick<(?:${any}),`, 'g')
  return names.length > 0 && new RegExp(`\\b(?:${any})\\b`).test(text.replaceAll(isPart, ''))
}
