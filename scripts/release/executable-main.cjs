// The start of the single executable. The files of the package are inside it: this loads them as Node loads them from a disk.
const Module = require('node:module')
const { basename, dirname, join } = require('node:path')
const { getAsset, getAssetKeys } = require('node:sea')
const { fileURLToPath } = require('node:url')
const { Script } = require('node:vm')

/** Where the files seem to be. Nothing is read from there. */
const place = '/sluice'
const SEAL_BYTES = 32
const inside = new Set(getAssetKeys())
const compiled = [...inside].find(path => path.startsWith('dist/bin/v8-'))?.replace(/[^/]*$/, '')
const loaded = new Map()

/** Returns what loads files from beside a file. */
function loaderOf(file) {
  return id => {
    if (id.startsWith('.')) return load(join(dirname(file), id))
    if (!Module.isBuiltin(id))
      throw new Error(
        `${id} is not inside the single executable. Install Sluice by npm to use it: npm install sluice ${id}`,
      )
    const builtin = require(id)
    return builtin === Module ? Object.assign(Object.create(Module), { createRequire }) : builtin
  }
}

function createRequire(file) {
  const path = String(file)
  return loaderOf(path.startsWith('file:') ? fileURLToPath(path) : path)
}

function load(file) {
  const known = loaded.get(file)
  if (known !== undefined) return known.exports
  const module = { exports: {} }
  loaded.set(file, module)
  const name = file.slice(place.length + 1)
  const source = getAsset(name, 'utf8')
  if (name.endsWith('.json')) module.exports = JSON.parse(source)
  else {
    const script = new Script(Module.wrap(source.replace(/^#!.*/, '')), { filename: file, cachedData: codeOf(name) })
    script.runInThisContext().call(module.exports, module.exports, loaderOf(file), module, file, dirname(file))
  }
  return module.exports
}

/** Returns what the V8 of this executable compiled of a file when it was built. */
function codeOf(name) {
  const path = `${compiled}${basename(name)}`
  return name.startsWith('dist/bin/') && inside.has(path) ? Buffer.from(getAsset(path)).subarray(SEAL_BYTES) : undefined
}

load(join(place, 'bin', 'sluice.js'))
