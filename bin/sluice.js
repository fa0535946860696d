#!/usr/bin/env node
// A module of the older kind (package.json beside it), as is what it loads: Node has them running sooner.
require('../dist/bin/main.cjs')
