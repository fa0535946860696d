/** Reads the source files of a checkout as git tracks them, without the lab. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { importsIn } from './imports.js'

const exporting =
  /^export (?:declare |abstract |async |const )*(?:function\*?|class|interface|type|enum|const|let) (\w+)/gm

/**
 * @typedef {object} SourceFile
 * @property {string} path relative to src
 * @property {string} text
 * @property {number} lines
 * @property {string[]} imports paths relative to src, type imports included
 * @property {string[]} exports names declared here
 */

/** @param {string} root @returns {SourceFile[]} */
export function readTree(root) {
  const listed = execFileSync('git', ['ls-files', 'src'], { cwd: root, encoding: 'utf8' }).split('\n')
  const paths = listed.filter(path => path.endsWith('.ts') && !path.startsWith('src/lab/'))
  return paths
    .filter(path => existsSync(join(root, path)))
    .map(path => read(path.slice('src/'.length), readFileSync(join(root, path), 'utf8')))
}

function read(path, text) {
  return {
    path,
    text,
    lines: text.split('\n').length - 1,
    imports: importsIn(path, text)
      .flatMap(({ specifier }) => (specifier?.startsWith('.') ? [specifier] : []))
      .map(specifier => posix.join(dirname(path), specifier.replace(/(\.js)?$/, '.ts'))),
    exports: [...text.matchAll(exporting)].map(([, name]) => name),
  }
}

/** Returns the text without comments and strings. @param {string} text */
export function codeOf(text) {
  return text.replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\/\*[\s\S]*?\*\/|\/\/.*$/gm, "''")
}

/** Returns the top folder of a file. A file of the root is a folder by itself. @param {string} path */
export function topFolder(path) {
  return path.split('/')[0]
}
