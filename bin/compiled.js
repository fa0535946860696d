const { existsSync, readFileSync } = require('node:fs')
const Module = require('node:module')
const { basename, dirname, join } = require('node:path')
const { Script } = require('node:vm')

/** Returns the folder of what this V8 compiled of a build. Another V8 would not take it. */
function compiledFolder(build) {
  return join(build, 'bin', `v8-${process.versions.v8}-${process.arch}`)
}

/** Makes Node run the files of a build from the code that its V8 compiled when they were built. Other machines compile them as usual. */
function runCompiled(build) {
  const folder = compiledFolder(build)
  if (existsSync(folder)) loadBy(file => kept(join(folder, basename(file))))
}

function kept(file) {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}

/** `codeOf`: returns the compiled code of a file, or undefined. V8 checks it, and compiles the file if it does not fit. The files call no `import`. */
function loadBy(codeOf, loaded = () => {}) {
  Module._extensions['.cjs'] = (module, file) => {
    const script = new Script(Module.wrap(readFileSync(file, 'utf8')), { filename: file, cachedData: codeOf(file) })
    loaded(file, script)
    const run = script.runInThisContext()
    run.call(module.exports, module.exports, Module.createRequire(file), module, file, dirname(file))
  }
}

module.exports = { compiledFolder, loadBy, runCompiled }
