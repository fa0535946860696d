// Compiles the kernels' AssemblyScript and keeps each result as a module of TypeScript: so it is found wherever the sources or
// the build are run from. Does nothing when a result is that of the very same sources.
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

const strictJson = 'src/base/json/strict'
const kernels = [
  { folder: 'src/pipeline/bulk/kernel', entry: 'frame.ts', shares: [strictJson] },
  { folder: 'src/pipeline/format/kernel', entry: 'cut.ts', shares: [strictJson] },
  { folder: 'src/pipeline/format/csv/kernel', entry: 'rows.ts', shares: [] },
  { folder: 'src/features/edits/kernel', entry: 'edit.ts', shares: [strictJson] },
  { folder: 'src/base/checksum/kernel', entry: 'stripes.ts', shares: [] },
  { folder: 'src/route/gzip/kernel', entry: 'deflate.ts', shares: [] },
]

const workers = ['src/features/transform/worker', 'src/route/gzip/worker']

const options = [
  ['--runtime', 'stub'], // nothing is allocated
  ['--importMemory'], // the memory is made by JavaScript, and of fixed size
  ['--sharedMemory', '--enable', 'threads'], // other threads read it
  ['--maximumMemory', '65536'],
  ['--noExportMemory'],
  ['--enable', 'simd'],
  ['-O3'],
  ['--noAssert'],
].flat()

/** Also the global setup of the tests. */
export async function setup() {
  for (const kernel of kernels) await build(kernel)
  for (const folder of workers) await buildWorker(folder)
}

/** Makes one text of a worker and what it imports: a program that is bundled has no file that a worker could load. */
async function buildWorker(folder) {
  const entry = `${root}/${folder}/main.ts`
  const result = `${root}/${folder}/code.ts`
  const sources = [...readIfThere(result).matchAll(/^\/\/ from (.+)$/gm)].map(([, path]) => path)
  const fingerprint = await fingerprintOfFiles(sources)
  if (sources.length > 0 && readIfThere(result).includes(fingerprint)) return
  const { rolldown } = await import('rolldown')
  const program = await rolldown({ input: entry, platform: 'node', cwd: root })
  const { output } = await program.generate({ format: 'cjs', minify: true })
  const [{ code, moduleIds }] = output
  const used = moduleIds
    .filter(id => id.startsWith(root))
    .map(id => id.slice(root.length))
    .toSorted()
  const from = used.map(path => `// from ${path}\n`).join('')
  writeFileSync(
    result,
    `// Made by scripts/kernel/build.js from sources with the fingerprint ${await fingerprintOfFiles(used)}:
${from}/** The worker as one script. */
export const workerCode =
  ${JSON.stringify(code)}
`,
  )
}

async function fingerprintOfFiles(paths) {
  const hash = createHash('sha256')
  for (const path of paths) hash.update(path).update(readIfThere(`${root}/${path}`))
  return hash.digest('hex')
}

async function build({ folder, entry, shares }) {
  const result = `${root}/${folder}/code.ts`
  const fingerprint = await fingerprintOfSources([folder, ...shares])
  if (readIfThere(result).includes(fingerprint)) return
  writeFileSync(result, moduleOf(await compile(`${folder}/assembly/${entry}`), fingerprint))
}

async function fingerprintOfSources(folders) {
  const { version } = await import('assemblyscript/package.json', { with: { type: 'json' } }).then(it => it.default)
  const hash = createHash('sha256').update(JSON.stringify([version, options]))
  for (const folder of folders) {
    const sources = readdirSync(`${root}/${folder}/assembly`).filter(name => name.endsWith('.ts'))
    for (const path of ['layout.ts', ...sources.sort().map(name => `assembly/${name}`)]) {
      hash.update(path).update(readFileSync(`${root}/${folder}/${path}`))
    }
  }
  return hash.digest('hex')
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    return ''
  }
}

async function compile(entry) {
  const { default: asc } = await import('assemblyscript/asc')
  let code
  let complaints = ''
  const { error } = await asc.main([entry, '--baseDir', root, '--outFile', 'kernel.wasm', ...options], {
    writeFile: (_, data) => {
      code = data
    },
    stderr: {
      write: text => {
        complaints += text
      },
    },
  })
  // Warnings count: they are about sizes of integers.
  if (error !== null || complaints !== '') throw new Error(`${entry} does not compile:\n${complaints}`)
  return Buffer.from(code)
}

function moduleOf(code, fingerprint) {
  return `// Made by scripts/kernel/build.js from sources with the fingerprint ${fingerprint}.
/** The kernel, compiled to WebAssembly: base64. */
export const kernelCode =
  '${code.toString('base64')}'
`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await setup()
