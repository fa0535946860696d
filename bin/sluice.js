#!/usr/bin/env node
const { join } = require('node:path')
const { setFlagsFromString } = require('node:v8')
const { runCompiled } = require('./compiled.js')

// Node comes with its own modules compiled, but compiles them anew once a flag is set. These are the modules of a load: a tenth of
// what its start costs.
for (const name of [
  'assert',
  'child_process',
  'cluster',
  'crypto',
  'fs/promises',
  'module',
  'os',
  'perf_hooks',
  'process',
  'timers/promises',
  'tls',
  'tty',
  'vm',
  'zlib',
])
  require(`node:${name}`)

// Most of a load is native code or runs a few times for each body. V8 would compile much of the latter for good within the first
// second, on other cores, and a twentieth of all CPU time would go there: a function has to prove itself for longer. Later
// engines count otherwise, and do not know this flag.
if (Number.parseInt(process.versions.v8, 10) < 12) setFlagsFromString('--interrupt-budget=1000000')
// Answers that were read are garbage outside the heap. A heap of 15 MB would let 30 MB of it gather before it looks.
setFlagsFromString('--heap-growing-percent=100')
// What holds them is young, and dies young: looked at often and in small, it is gone before it is moved to where only that helps.
// The loading of our modules lets the young generation grow: small documents cost a sixth more CPU if this comes later.
const keepYoungSmall = () => setFlagsFromString('--semi-space-growth-factor=1')
keepYoungSmall()
// V8 sets it back for all threads as soon as it makes the heap of another one.
process.on('worker', worker => worker.once('online', keepYoungSmall))

runCompiled(join(__dirname, '..', 'dist'))
// A module of the older kind (package.json beside it), as is what it loads: Node has them running sooner.
require('../dist/bin/main.cjs')
