// node --require scripts/bundle/keep-compiled.cjs bin/sluice.js …
// Writes down at the end what V8 compiled of the program: all that this command line needed, and no more.
const { mkdirSync, writeFileSync } = require('node:fs')
const { basename, dirname, join } = require('node:path')
const { setFlagsFromString } = require('node:v8')

const { compiledFolder, loadBy, sealOf } = require('../../bin/compiled.js')

const scripts = new Map()
loadBy(
  () => undefined,
  (file, source, script) => scripts.set(file, { source, script }),
)
process.once('exit', () => {
  // The code has to be from the same flags as at the start of a load, which sets these later (src/cli/application/tune-engine.ts).
  for (const flag of ['--wasm-dynamic-tiering', '--wasm-tier-up']) setFlagsFromString(flag)
  for (const [file, { source, script }] of scripts) {
    const folder = compiledFolder(dirname(dirname(file)))
    mkdirSync(folder, { recursive: true })
    const code = script.createCachedData()
    writeFileSync(join(folder, basename(file)), Buffer.concat([sealOf(source, code), code]))
  }
})
