const { createHash } = require('node:crypto')
const {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
} = require('node:fs')
const { homedir } = require('node:os')
const { basename, dirname, isAbsolute, join } = require('node:path')
const { cachedDataVersionTag } = require('node:v8')
const { keepCode, keptIn, loadBy } = require('./compiled.js')

/**
 * Runs the files of a build with code that an earlier start of this user has kept: a start takes a quarter less time. The second start
 * keeps it. The first one only leaves an empty folder, since a container that begins anew each time has no use for more.
 */
function runKept(build) {
  const tag = cachedDataVersionTag()
  const folder = folderOf(build, tag)
  const names = folder === undefined ? undefined : ownNames(folder)
  if (names === undefined || names.length > 0) return loadBy(names === undefined ? () => undefined : keptIn(folder))
  const scripts = new Map()
  loadBy(
    () => undefined,
    (file, source, script) => scripts.set(file, { source, script }),
  )
  process.once('exit', code => {
    if (code === 0 && process.uptime() < LONGEST_S) keep(scripts, folder, tag)
  })
}

/** V8 forgets code that has not run for a while. Who waits longer than this does not mind the start. */
const LONGEST_S = 10

/** Returns the folder for the code of this command, V8 and build. Undefined: this user keeps none. */
function folderOf(build, tag) {
  const [, , command = ''] = process.argv
  if (process.env.NODE_DISABLE_COMPILE_CACHE !== undefined || !/^[a-z]+$/.test(command)) return undefined
  try {
    // It names all other files, and their names tell what they hold.
    const main = readFileSync(join(build, 'bin', 'main.cjs'))
    const seal = createHash('sha256').update(`${tag}`).update(main).digest('hex').slice(0, 16)
    return join(cacheOfUser(), 'sluice', `v8-${process.versions.v8}-${process.arch}-${seal}-${command}`)
  } catch {
    return undefined
  }
}

function cacheOfUser() {
  const { XDG_CACHE_HOME: given, LOCALAPPDATA: local } = process.env
  if (given !== undefined && isAbsolute(given)) return given
  if (process.platform === 'win32' && local !== undefined) return local
  return join(homedir(), process.platform === 'darwin' ? 'Library/Caches' : '.cache')
}

/** Returns what the folder holds, and makes it if there is none. Undefined: code that lies there could be somebody else's, or nothing can be kept. */
function ownNames(folder) {
  try {
    const status = statSync(folder, { throwIfNoEntry: false })
    if (status === undefined) mkdirSync(folder, { recursive: true, mode: 0o700 })
    else if (isOwn(status)) return readdirSync(folder)
  } catch {
    // The disk is full or may not be written, or there is no home: the program also runs without.
  }
  return undefined
}

function isOwn({ uid, mode }) {
  return process.geteuid === undefined || (uid === process.geteuid() && (mode & 0o022) === 0)
}

function keep(scripts, folder, tag) {
  let made
  try {
    made = mkdtempSync(`${folder}-`)
    keepCode(scripts, () => made)
    // Code from other flags would be refused at each start.
    if (cachedDataVersionTag() !== tag) return
    rmdirSync(folder)
    renameSync(made, folder)
    forgetOthers(folder)
  } catch {
    // Another process was faster, or the disk is full.
  } finally {
    if (made !== undefined) rmSync(made, { recursive: true, force: true })
  }
}

const OLD_MS = 90 * 24 * 60 * 60 * 1000

/** Removes the code of earlier versions. */
function forgetOthers(folder) {
  for (const name of readdirSync(dirname(folder)).filter(name => name.startsWith('v8-'))) {
    const other = join(dirname(folder), name)
    if (name !== basename(folder) && Date.now() - statSync(other).mtimeMs > OLD_MS) rmSync(other, { recursive: true })
  }
}

module.exports = { runKept }
