const { createHash } = require('node:crypto')
const { existsSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs')
const Module = require('node:module')
const { basename, dirname, join } = require('node:path')
const { setFlagsFromString } = require('node:v8')
const { Script } = require('node:vm')

/** Returns the folder of what this V8 compiled of a build. Another V8 would not take it. */
function compiledFolder(build) {
  return join(build, 'bin', `v8-${process.versions.v8}-${process.arch}`)
}

/** Makes Node run the files of a build from the code that its V8 compiled when they were built, or at an earlier start. */
function runCompiled(build) {
  const folder = compiledFolder(build)
  if (existsSync(folder)) return loadBy(keptIn(folder))
  const { runKept } = require('./kept-code.js')
  runKept(build)
}

function keptIn(folder) {
  return (file, source) => kept(join(folder, basename(file)), source)
}

/** Returns the code that was kept of a source. Undefined if there is none, or if it is damaged: V8 would crash. */
function kept(file, source) {
  try {
    const bytes = readFileSync(file)
    const code = bytes.subarray(SEAL_BYTES)
    return bytes.subarray(0, SEAL_BYTES).equals(sealOf(source, code)) ? code : undefined
  } catch {
    return undefined
  }
}

const SEAL_BYTES = 32

/** V8 itself compares only its version, its flags, and the length of the source. */
function sealOf(source, code) {
  return createHash('sha256').update(source).update(code).digest()
}

/**
 * Makes Node load the files of a build by scripts. `codeOf`: returns the compiled code of a source, or undefined. The files call no `import`,
 * hold only ASCII, and stand in one folder.
 */
function loadBy(codeOf, loaded = () => {}) {
  // While a build is made, it is its maker's (scripts/bundle/keep-compiled.cjs).
  if (Module._extensions['.cjs'] !== undefined) return
  const resolve = Module._resolveFilename
  // Node would look for links in each part of each path: a tenth of what the start costs.
  Module._resolveFilename = (request, parent, ...more) =>
    /^\.\/.*\.cjs$/.test(request) && parent?.filename?.endsWith('.cjs') === true
      ? join(dirname(parent.filename), request)
      : resolve(request, parent, ...more)
  Module._extensions['.cjs'] = (module, file) => {
    const source = readFileSync(file)
    const script = new Script(Module.wrap(source.latin1Slice()), { filename: file, cachedData: codeOf(file, source) })
    loaded(file, source, script)
    const run = script.runInThisContext()
    run.call(module.exports, module.exports, Module.createRequire(file), module, file, dirname(file))
  }
}

/** Writes down what V8 has compiled so far of each script: what this command line needed, and no more. `folderOf`: the folder for a file. */
function keepCode(scripts, folderOf) {
  // The code has to be from the same flags as at the start of a load, which sets these later (src/cli/application/tune-engine.ts).
  for (const flag of ['--wasm-dynamic-tiering', '--wasm-tier-up']) setFlagsFromString(flag)
  for (const [file, { source, script }] of scripts) {
    const folder = folderOf(file)
    mkdirSync(folder, { recursive: true })
    const code = script.createCachedData()
    writeFileSync(join(folder, basename(file)), Buffer.concat([sealOf(source, code), code]))
  }
}

module.exports = { compiledFolder, keepCode, keptIn, loadBy, runCompiled }
