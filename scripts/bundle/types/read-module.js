import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

/**
 * Reads a declaration file as the compiler writes it: what each of its names declares, where it imports names from, what it exports, and what it adds to
 * others by `declare module`.
 */
export function readModule(path) {
  const text = readFileSync(path, 'utf8')
  const module = { path, text, declared: new Map(), imported: new Map(), exported: new Map(), added: [] }
  let end = 0
  for (const node of parseAst(text, { lang: 'dts' }, path).body) {
    const comment = /\/\*\*(?:(?!\*\/)[^])*\*\/\s*$/.exec(text.slice(end, node.start))?.[0].trimEnd()
    take(module, node, comment)
    end = node.end
  }
  return module
}

/** Returns the declaration file behind a specifier, or undefined if it is a package. */
export function fileOf(path, specifier) {
  return specifier.startsWith('.') ? join(dirname(path), specifier).replace(/\.js$/, '.d.ts') : undefined
}

function take(module, node, comment) {
  if (node.type === 'ImportDeclaration') {
    for (const { local, imported } of node.specifiers)
      module.imported.set(local.name, { from: node.source.value, name: imported?.name ?? '*' })
    return
  }
  if (node.type === 'TSModuleDeclaration') {
    for (const one of node.body.body) module.added.push({ to: node.id.value, ...declarationOf(module, inner(one)) })
    return
  }
  if (node.type === 'ExportNamedDeclaration' && node.declaration === null) {
    for (const { local, exported } of node.specifiers)
      module.exported.set(exported.name, { name: local.name, ...(node.source && { from: node.source.value }) })
    return
  }
  const found = declarationOf(module, inner(node), comment)
  if (node.type === 'ExportNamedDeclaration') module.exported.set(found.name, { name: found.name })
  module.declared.set(found.name, [...(module.declared.get(found.name) ?? []), found])
}

function inner(node) {
  return node.declaration ?? node
}

function declarationOf(module, node, comment) {
  const name = node.type === 'VariableDeclaration' ? node.declarations[0].id.name : node.id?.name
  if (name === undefined) throw new Error(`${module.path}: no name in ${module.text.slice(node.start, node.end)}`)
  return { name, node, comment, module }
}
