// node scripts/bundle/bundle.js [BUILD]
// Makes of a build what is published: the command line as one program, packages inside the modules that use them, doors for `require`, and the licences
// of all that is inside.
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileAhead } from './compile.js'
import { openDoors } from './doors.js'
import { writeTypes } from './types.js'
import { bundleModules } from './modules.js'
import { writeNotices } from './notices.js'
import { bundleProgram } from './program.js'
import { removeUnreachable } from './unreachable.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const build = resolve(process.argv[2] ?? join(root, 'dist'))

const modules = [...(await bundleProgram(build)), ...(await bundleModules(build))]
modules.push(...(await openDoors(build)))
writeNotices(build, modules)
await writeTypes(build)
removeUnreachable(build)
await compileAhead(build)
