import { fileOf, readModule } from './read-module.js'
import { referencesOf } from './references.js'

/** Puts the declarations behind a door into one file. */
export class RollUp {
  #files
  #instead
  #modules = new Map()
  /** By file and name: what is written, under which name. */
  #kept = new Map()
  #names = new Set()
  #packages = new Map()
  #parts = []

  /** `files`: all declaration files. `instead`: declarations of our own, by name. */
  constructor(files, instead) {
    this.#files = files
    this.#instead = instead
  }

  of(door) {
    const { exported } = this.#module(door)
    const found = [...exported.keys()].map(name => ({ name, from: this.#find(door, name, true) }))
    // A public name stays as it is.
    for (const { name, from } of found) this.#kept.set(keyOf(from), { as: name, isWritten: false })
    for (const { name } of found) this.#names.add(name)
    for (const { from } of found) this.#write(from)
    const imports = [...this.#packages].map(([from, names]) => `import { ${[...names].join(', ')} } from '${from}'\n`)
    const list = found.map(({ name, from }) => `${isValue(this.#declared(from)) ? '' : 'type '}${name}`).toSorted()
    return `${imports.toSorted().join('')}\n${this.#parts.join('\n')}\nexport { ${list.join(', ')} }\n`
  }

  #module(path) {
    const known = this.#modules.get(path) ?? readModule(path)
    this.#modules.set(path, known)
    return known
  }

  /** Returns where a name of a module is declared: a file of ours, or a package. */
  #find(path, name, isExport) {
    const { exported, imported, declared } = this.#module(path)
    const out = isExport ? exported.get(name) : undefined
    const to = out?.from === undefined ? imported.get(out?.name ?? name) : out
    if (to !== undefined) {
      const file = fileOf(path, to.from)
      return file === undefined ? { from: to.from, name: to.name } : this.#find(file, to.name, true)
    }
    const local = out?.name ?? name
    const [only] = declared.get(local) ?? []
    const behind = only && loadedAtCall(only.node)
    if (behind !== undefined) return this.#find(fileOf(path, behind.from), behind.name, true)
    return only === undefined ? undefined : { path, name: local }
  }

  #declared({ path, name }) {
    return path === undefined ? [] : this.#module(path).declared.get(name)
  }

  /** Writes what a name needs, then its declarations. Returns its name in the rolled-up file. */
  #write(found) {
    const { path, name, from } = found
    if (path === undefined) {
      this.#packages.set(from, (this.#packages.get(from) ?? new Set()).add(name))
      return name
    }
    const key = keyOf(found)
    const kept = this.#kept.get(key) ?? { as: this.#free(name), isWritten: false }
    this.#kept.set(key, kept)
    if (kept.isWritten) return kept.as
    kept.isWritten = true
    if (this.#instead[name] !== undefined) {
      this.#parts.push(this.#instead[name])
      return kept.as
    }
    const parts = this.#declared(found).map(one => this.#textOf(one, kept.as))
    const added = this.#addedTo(found).map(one => this.#textOf(one, kept.as))
    this.#parts.push(...parts, ...added)
    return kept.as
  }

  #free(name) {
    let free = name
    for (let n = 2; this.#names.has(free); n += 1) free = `${name}_${n}`
    this.#names.add(free)
    return free
  }

  /** Returns what other modules add to an interface. */
  #addedTo({ path, name }) {
    const all = this.#files.flatMap(file => this.#module(file).added)
    return all.filter(one => one.name === name && fileOf(one.module.path, one.to) === path)
  }

  #textOf({ node, module, comment, name }, as) {
    const changes = []
    for (const { start, end, from, name: used } of referencesOf(node)) {
      const file = from === undefined ? undefined : fileOf(module.path, from)
      if (from !== undefined && file === undefined) changes.push({ start, end, to: this.#write({ from, name: used }) })
      const found = file === undefined ? this.#find(module.path, used, false) : this.#find(file, used, true)
      if (from !== undefined ? file !== undefined : found !== undefined)
        changes.push({ start, end, to: used === name && file === undefined ? as : this.#write(found) })
    }
    let text = module.text.slice(node.start, node.end)
    for (const { start, end, to } of changes.toSorted((one, other) => other.start - one.start))
      text = text.slice(0, start - node.start) + to + text.slice(end - node.start)
    const isType = /^TS(Interface|TypeAlias)/.test(node.type)
    const plain = text.replace(/^declare\s+/, '')
    return `${comment === undefined ? '' : `${comment}\n`}${isType ? plain : `declare ${plain}`}`
  }
}

function keyOf({ path, from, name }) {
  return `${path ?? from}\0${name}`
}

function isValue(declarations) {
  return declarations.some(({ node }) => !/^TS(Interface|TypeAlias)/.test(node.type))
}

/** Returns the function that a door stands for: `declare const run: typeof import('./run.js').run`. */
function loadedAtCall(node) {
  const type = node.type === 'VariableDeclaration' ? node.declarations[0].id.typeAnnotation?.typeAnnotation : undefined
  if (type?.type !== 'TSTypeQuery' || type.exprName.type !== 'TSImportType') return undefined
  const { source, qualifier } = type.exprName
  return { from: source.value, name: qualifier.name }
}
