// node --require scripts/bundle/keep-compiled.cjs bin/sluice.js …
// Writes down at the end what V8 compiled of the program.
const { dirname } = require('node:path')

const { compiledFolder, keepCode, loadBy } = require('../../bin/compiled.js')

const scripts = new Map()
loadBy(
  () => undefined,
  (file, source, script) => scripts.set(file, { source, script }),
)
process.once('exit', () => keepCode(scripts, file => compiledFolder(dirname(dirname(file)))))
