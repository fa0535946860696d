// node scripts/bundle/bundle.js [BUILD]
// Makes one program of a build's `cli/` and the packages it uses, in `bin/`, split by what a command needs: to find and read
// hundreds of small modules takes longer than a short load. The library is left as it is.
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))
const build = resolve(process.argv[2] ?? join(root, 'dist'))

const program = await rolldown({
  input: join(build, 'cli', 'main.js'),
  platform: 'node',
  cwd: root,
  resolve: { alias: { undici: join(here, 'undici.js') } },
  plugins: [clientWithoutApi()],
  onLog: (level, { message }) => {
    throw new Error(`${level}: ${message}`)
  },
})
const { output } = await program.write({
  dir: join(build, 'bin'),
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
  comments: false,
})
const packages = new Set(output.flatMap(({ moduleIds = [] }) => moduleIds).flatMap(packageOf))
writeFileSync(join(build, 'bin', 'LICENSES.txt'), [...packages].toSorted().map(license).join('\n\n'))
rmSync(join(build, 'cli'), { recursive: true })

/**
 * The client's API and helpers are two thousand functions, nine tenths of the bundle, and none of them is called: every request
 * is the transport's own. test/architecture.test.ts sees to that.
 */
function clientWithoutApi() {
  const nothing = '\0nothing'
  const left = ['./api/index.js', './helpers.js']
  return {
    name: 'client-without-api',
    resolveId: (source, importer = '') =>
      importer.endsWith('/@elastic/elasticsearch/esm/client.js') && left.includes(source) ? nothing : undefined,
    load: id => (id === nothing ? 'export default class {}' : undefined),
  }
}

/** Folder of the package that a module is from, if it is not ours. */
function packageOf(module) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module)?.slice(0, 1) ?? []
}

/** Whoever passes a package on has to pass on its licence. */
function license(folder) {
  const { name, version, license: kind } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = readdirSync(folder).filter(file => /^(licen[cs]e|notice)(\.|$)/i.test(file))
  const texts = files.map(file => readFileSync(join(folder, file), 'utf8').trim())
  return [`${name} ${version} (${kind})`, ...texts].join('\n\n')
}
