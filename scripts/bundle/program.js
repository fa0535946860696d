// Makes one program of a build's `cli/` and the packages it uses, in `bin/`, split by what a command needs: to find and read
// hundreds of small modules takes longer than a short load. The library is left as it is.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))

const unused = [
  // The client's API and helpers are two thousand functions, nine tenths of the bundle, and none of them is called: every request
  // is the transport's own. test/architecture.test.ts sees to that.
  { by: '/@elastic/elasticsearch/esm/client.js', modules: ['./api/index.js', './helpers.js'] },
  // The client is given a connection of ours.
  { by: '/@elastic/transport/esm/connection/index.js', modules: ['./HttpConnection.js', './UndiciConnection.js'] },
  // A server is never told that we speak HTTP/2. Of Node's `http` the client wants the default of a limit that we set, and the
  // class of a request that somebody else received.
  { by: '/undici/lib/dispatcher/client.js', modules: ['./client-h2.js', 'node:http'] },
  { by: '/undici/lib/core/util.js', modules: ['node:http'] },
  // For bodies that are forms.
  { by: '/undici/lib/dispatcher/client-h1.js', modules: ['../web/fetch/body.js'] },
]

/** Returns the files that the program is made of. */
export async function bundleProgram(build) {
  const program = await rolldown({
    input: join(build, 'cli', 'main.js'),
    platform: 'node',
    // Whoever reads from S3, or shares a queue, installs them beside Sluice.
    external: ['@aws-sdk/client-s3', 'bullmq', 'ioredis', 'pg'],
    cwd: root,
    resolve: {
      alias: {
        undici: join(here, 'undici.js'),
        '@opentelemetry/api': join(here, 'opentelemetry.cjs'),
        '@opentelemetry/core': join(here, 'opentelemetry.cjs'),
      },
    },
    plugins: [withoutUnused(), onlyAscii()],
    onLog: (level, { message }) => {
      throw new Error(`${level}: ${message}`)
    },
  })
  const { output } = await program.write({
    dir: join(build, 'bin'),
    // Node runs it sooner than modules of the other kind, which are always strict.
    format: 'cjs',
    // Code that V8 compiled ahead has no importer in Node 20 (bin/compiled.js).
    dynamicImportInCjs: false,
    strict: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    comments: false,
  })
  rmSync(join(build, 'cli'), { recursive: true })
  return output.flatMap(({ moduleIds = [] }) => moduleIds)
}

/** One other character, and V8 would take two bytes for each: half a megabyte for the largest file, at each start. */
function onlyAscii() {
  const escaped = text => `\\u${text.charCodeAt(0).toString(16).padStart(4, '0')}`
  return {
    name: 'only-ascii',
    generateBundle: (_, bundle) => {
      for (const file of Object.values(bundle)) {
        if (/String\.raw`[^`]*[^\0-\x7f]/.test(file.code)) throw new Error('a raw text holds more than ASCII')
        file.code = file.code.replace(/[^\0-\x7f]/g, escaped)
      }
    },
  }
}

/** Modules that others import, and that nothing here ever calls. Fails where one is imported no more: it may have another name now. */
function withoutUnused() {
  const nothing = '\0nothing'
  const expected = unused.flatMap(({ by, modules }) => modules.map(source => ({ by, source })))
  const met = new Set()
  return {
    name: 'without-unused',
    resolveId: (source, importer = '') => {
      const found = expected.find(one => importer.endsWith(one.by) && one.source === source)
      if (found === undefined) return undefined
      met.add(found)
      return nothing
    },
    load: id => (id === nothing ? 'module.exports = class {}' : undefined),
    buildEnd: () => {
      const missed = expected.filter(one => !met.has(one))
      if (missed.length > 0) throw new Error(`no longer imported: ${JSON.stringify(missed)}`)
    },
  }
}
