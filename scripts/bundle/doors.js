// Writes, for each door of the package, what `require` gets: the same module, and its types for CommonJS.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Returns the modules of the doors, relative to the build. */
export function doors() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return Object.values(exports).flatMap(door => (door.import === undefined ? [] : [door.import.replace('./dist/', '')]))
}

export async function openDoors(build) {
  for (const door of doors()) {
    const path = join(build, door.replace(/\.js$/, ''))
    const from = `./${door.replace(/^.*\//, '')}`
    writeFileSync(`${path}.cjs`, `'use strict'\nmodule.exports = require('${from}')\n`)
    writeFileSync(`${path}.d.cts`, typesOf(await import(pathToFileURL(`${path}.js`)), from))
  }
}

/** `export *` would be an error here: to a compiler, a module of CommonJS cannot load one of the other kind. */
function typesOf(module, from) {
  const mode = "with { 'resolution-mode': 'import' }"
  const theirs = `import('${from}', { with: { 'resolution-mode': 'import' } })`
  const lines = Object.entries(module).flatMap(([name, value]) => [
    `export declare const ${name}: typeof ${theirs}.${name}`,
    ...(/^class\b/.test(String(value)) ? [`export type ${name} = ${theirs}.${name}`] : []),
  ])
  return `export type * from '${from}' ${mode}\n${lines.join('\n')}\n`
}
