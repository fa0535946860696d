// Makes, for each door of the package, what `require` gets: CommonJS from the first module to the last, because a test runner such as Jest loads no other.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const symbols = fileURLToPath(new URL('symbols.js', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))
const { exports, dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
/** Packages without CommonJS. They are inside. */
const inside = ['hyparquet', 'hyparquet-compressors', 'p-limit', 'stream-json']

/** Returns the modules of the doors, relative to the build. */
export function doors() {
  return Object.values(exports).flatMap(door => (door.import === undefined ? [] : [door.import.replace('./dist/', '')]))
}

/** Returns the files that the doors are made of. */
export async function openDoors(build) {
  const external = Object.keys({ ...dependencies, ...peerDependencies }).filter(name => !inside.includes(name))
  const bundle = await rolldown({
    input: Object.fromEntries(doors().map(door => [door.replace(/\.js$/, ''), join(build, door)])),
    platform: 'node',
    external,
    transform: {
      inject: { 'Symbol.dispose': [symbols, 'dispose'], 'Symbol.asyncDispose': [symbols, 'asyncDispose'] },
    },
    onLog: (level, { message }) => {
      throw new Error(`${level}: ${message}`)
    },
  })
  const { output } = await bundle.write({
    dir: build,
    format: 'cjs',
    dynamicImportInCjs: false,
    strict: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: 'cjs/[name]-[hash].cjs',
    comments: false,
  })
  return output.flatMap(({ moduleIds = [] }) => moduleIds)
}
