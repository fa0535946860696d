/** Finds everything by which a file reaches another one, from its syntax. */
import { parseSync } from 'rolldown/experimental'

/** AssemblyScript marks functions in a way that TypeScript does not know. */
const mark = /^\s*@inline$/gm

/**
 * @typedef {object} Import
 * @property {string | undefined} specifier undefined: it is computed, so no check can say where it leads
 * @property {boolean} isType
 */

/** Throws an error for a file that cannot be parsed. @param {string} path @param {string} text @returns {Import[]} */
export function importsIn(path, text) {
  const found = []
  walkFile(path, text, node => {
    const one = importOf(node)
    if (one !== undefined) found.push(one)
  })
  return found
}

/**
 * Calls `see` with each node of the syntax, its parent, and its key there.
 * @param {string} path @param {string} text
 * @param {(node: { type: string, name?: string }, parent?: { computed?: boolean }, key?: string) => void} see
 */
export function walkFile(path, text, see) {
  const { program, errors } = parseSync(path, text.replaceAll(mark, ''))
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0].message}`)
  walk(program, see)
}

function walk(node, see, parent, key) {
  if (node === null || typeof node !== 'object') return
  if (Array.isArray(node)) {
    for (const one of node) walk(one, see, parent, key)
    return
  }
  const isNode = typeof node.type === 'string'
  if (isNode) see(node, parent, key)
  for (const [name, value] of Object.entries(node))
    if (typeof value === 'object') walk(value, see, isNode ? node : parent, name)
}

function importOf(node) {
  switch (node.type) {
    case 'ImportDeclaration':
      return { specifier: node.source.value, isType: node.importKind === 'type' }
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
      return node.source == null ? undefined : { specifier: node.source.value, isType: node.exportKind === 'type' }
    case 'ImportExpression':
      return { specifier: textOf(node.source), isType: false }
    case 'TSImportType':
      return { specifier: textOf(node.source ?? node.argument?.literal ?? node.argument), isType: true }
    case 'TSExternalModuleReference':
      return { specifier: textOf(node.expression), isType: false }
    case 'TSModuleDeclaration':
      return node.id.type === 'Literal' ? { specifier: node.id.value, isType: true } : undefined
    case 'CallExpression':
      return loaders.has(node.callee.name) ? { specifier: textOf(node.arguments[0]), isType: false } : undefined
    case 'NewExpression': {
      const [place, base] = node.arguments
      const isFile = node.callee.name === 'URL' && base?.type === 'MemberExpression' && textOf(place)?.startsWith('.')
      return isFile ? { specifier: textOf(place), isType: false } : undefined
    }
    default:
      return undefined
  }
}

/** `createRequire` takes a place, so it counts as computed. */
const loaders = new Set(['require', 'createRequire'])

/** Returns the text of a literal, or undefined. */
function textOf(node) {
  if (typeof node?.value === 'string') return node.value
  return node?.type === 'TemplateLiteral' && node.expressions.length === 0 ? node.quasis[0].value.cooked : undefined
}
