// Removes the files of a build that no door leads to: their code is inside the program of the command line.
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { doors } from './doors.js'

/** The pages of docs/ are made from these (scripts/docs/generate.js). */
const documented = ['base/failure/entry.js', 'base/failure/index-errors.js', 'base/failure/symptoms.js']
/** The declarations of the doors name it. */
const types = 'apache-arrow.d.ts'

export function removeUnreachable(build) {
  const reached = new Set()
  for (const door of doors())
    for (const ending of ['js', 'cjs', 'd.ts', 'd.cts']) reached.add(join(build, door.replace(/js$/, ending)))
  for (const path of [...documented, types]) reached.add(join(build, path))
  for (const file of reached) for (const found of importsOf(file)) reached.add(found)
  for (const path of readdirSync(build, { recursive: true })) {
    const file = join(build, path)
    if (/\.[cm]?[jt]s$/.test(path) && !/^bin[/\\]/.test(path) && !reached.has(file)) rmSync(file)
  }
}

/** Returns the files of ours that a file imports: declarations import declarations. */
function importsOf(file) {
  const isTypes = /\.d\.c?ts$/.test(file)
  const found = [...readFileSync(file, 'utf8').matchAll(/\b(?:from|import|require)\b\s*\(?\s*['"](\.[^'"]+)['"]/g)]
  return found
    .map(([, path]) => join(dirname(file), isTypes ? path.replace(/\.js$/, '.d.ts') : path))
    .filter(path => existsSync(path))
}
