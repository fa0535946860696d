const { createHash } = require('node:crypto')
const { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } = require('node:fs')
const Module = require('node:module')
const { basename, dirname, join } = require('node:path')
const { cachedDataVersionTag, setFlagsFromString } = require('node:v8')
const { Script } = require('node:vm')

/** Returns the folder of what this V8 compiled of a build. Another V8 would not take it. */
function compiledFolder(build) {
  return join(build, 'bin', `v8-${process.versions.v8}-${process.arch}`)
}

/**
 * Makes Node run the files of a build from the code that its V8 compiled of them before, and keeps the code of a load if there is none. So
 * the first loads of another V8 do what the build did for its own. The code lies beside its source: whoever may write there may also
 * change the program itself.
 */
function runCompiled(build) {
  const folder = compiledFolder(build)
  const tag = cachedDataVersionTag()
  const anew = new Map()
  loadBy(
    join(build, 'bin'),
    (file, source) => kept(join(folder, basename(file)), source),
    (file, source, script) => {
      // V8 takes only code from the flags that it has.
      if (cachedDataVersionTag() === tag) anew.set(join(folder, basename(file)), { source, script })
    },
  )
  if (!mayKeep(build, folder)) return
  process.once('exit', code => {
    if (code <= REJECTED && process.uptime() < LONGEST_S) keep(anew, tag)
  })
}

/** Some documents were rejected, and all others loaded. */
const REJECTED = 1
/** V8 forgets code that has not run for a while. After a longer load, nobody minds the start. */
const LONGEST_S = 10

/** Returns whether this start keeps code. If there is no folder, it only makes one: a container that begins anew each time has no use for more. */
function mayKeep(build, folder) {
  const [, , command, ...words] = process.argv
  // The help needs little of what a load needs.
  if (command !== 'ingest' || words.some(word => word === '--help' || word === '-h')) return false
  if (process.env.NODE_DISABLE_COMPILE_CACHE === '1') return false
  try {
    // Files of another user in a package would hinder whoever removes it.
    if (process.geteuid !== undefined && process.geteuid() !== statSync(join(build, 'bin')).uid) return false
    if (existsSync(folder)) return true
    mkdirSync(folder, { mode: 0o755 })
  } catch {
    // Nobody may write there, or the files are inside an archive or an executable.
  }
  return false
}

/** Never throws. The outcome of the load is known, and stays. */
function keep(scripts, tag) {
  try {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
    // A load changes these (src/cli/application/tune-engine.ts).
    for (const flag of ['--wasm-dynamic-tiering', '--wasm-tier-up']) setFlagsFromString(flag)
    if (cachedDataVersionTag() !== tag) return
    for (const [file, { source, script }] of scripts) {
      const code = script.createCachedData()
      const made = `${file}.${process.pid}`
      try {
        writeFileSync(made, Buffer.concat([sealOf(source, code), code]), { mode: 0o644 })
        renameSync(made, file)
      } finally {
        rmSync(made, { force: true })
      }
    }
  } catch {
    // The disk is full, for example. The program also runs without.
  }
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
 * Makes Node load the files of a folder by scripts, and others as usual. `codeOf`: returns the compiled code of a source, or undefined.
 * `anew`: hears of a script without such code. The files call no `import`, and hold only ASCII.
 */
function loadBy(folder, codeOf, anew) {
  const isOurs = file => file !== undefined && file.endsWith('.cjs') && dirname(file) === folder
  const resolve = Module._resolveFilename
  // Node would look for links in each part of each path: a tenth of what the start costs.
  Module._resolveFilename = (request, parent, ...more) =>
    /^\.\/.*\.cjs$/.test(request) && isOurs(parent?.filename)
      ? join(folder, request)
      : resolve(request, parent, ...more)
  Module._extensions['.cjs'] = (module, file) => {
    if (!isOurs(file)) return Module._extensions['.js'](module, file)
    const source = readFileSync(file)
    const cachedData = codeOf(file, source)
    const script = new Script(Module.wrap(source.latin1Slice()), { filename: file, cachedData })
    if (cachedData === undefined) anew(file, source, script)
    const run = script.runInThisContext()
    run.call(module.exports, module.exports, Module.createRequire(file), module, file, dirname(file))
  }
}

module.exports = { compiledFolder, runCompiled }
