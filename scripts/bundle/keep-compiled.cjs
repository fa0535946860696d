// node --require scripts/bundle/keep-compiled.cjs bin/sluice.js …
// Writes down at the end what V8 compiled of the program: all that this command line needed, and no more.
const { mkdirSync, writeFileSync } = require('node:fs')
const { basename, dirname, join } = require('node:path')
const v8 = require('node:v8')

const { compiledFolder, loadBy, sealOf } = require('../../bin/compiled.js')

// V8 takes code only under the flags that it was compiled with. A load sets these later (src/cli/application/tune-engine.ts).
const { setFlagsFromString } = v8
v8.setFlagsFromString = flag => {
  if (!flag.startsWith('--wasm')) setFlagsFromString(flag)
}

const scripts = new Map()
loadBy(
  () => undefined,
  (file, source, script) => scripts.set(file, { source, script }),
)
process.once('exit', () => {
  for (const [file, { source, script }] of scripts) {
    const folder = compiledFolder(dirname(dirname(file)))
    mkdirSync(folder, { recursive: true })
    const code = script.createCachedData()
    writeFileSync(join(folder, basename(file)), Buffer.concat([sealOf(source, code), code]))
  }
})
