/**
 * Bundles a scheduled function with the package inside, with each bundler of docs/guide/scheduled-function.md, and runs each bundle on the lab, where
 * it finds no other file. Takes the build as it is: `npm run build` first. It needs what `npm install` needs.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { install, pack, root, run } from './steps.js'

const requireBanner = "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);"
const esbuild = ['esbuild', 'fn.mjs', '--bundle', '--platform=node']
// In CommonJS, parts of rolldown may need each other before they are there.
const rolldown = ['rolldown', 'fn.mjs', '--platform', 'node', '--no-code-splitting']
const webpack = ['webpack', '--mode', 'production', '--target', 'node', '--entry', './fn.mjs']

/** Each: the words of the command, and the file that runs. `OUT`: the folder of the bundle. */
const bundlers = {
  'esbuild, CommonJS': { words: [...esbuild, '--format=cjs', '--outfile=OUT/fn.cjs'], file: 'fn.cjs' },
  'esbuild, ESM': {
    words: [...esbuild, '--format=esm', `--banner:js=${requireBanner}`, '--outfile=OUT/fn.mjs'],
    file: 'fn.mjs',
  },
  'rolldown, CommonJS': { words: [...rolldown, '--format', 'cjs', '--file', 'OUT/fn.cjs'], file: 'fn.cjs' },
  'rolldown, ESM': { words: [...rolldown, '--format', 'esm', '--file', 'OUT/fn.mjs'], file: 'fn.mjs' },
  webpack: { words: [...webpack, '-o', 'OUT', '--output-filename', 'fn.js'], file: 'fn.js' },
  ncc: { words: ['ncc', 'build', 'fn.mjs', '-o', 'OUT'], file: 'index.mjs', type: 'module' },
}

const fn = `import { readFileSync } from 'node:fs'
import { ingest } from 'sluice'
const { env } = process
const loaded = ingest({
  source: [{ n: 1 }, { n: 2 }],
  target: { url: env.ELASTICSEARCH_URL, apiKey: env.ELASTICSEARCH_API_KEY, ca: readFileSync(env.SLUICE_CA, 'utf8') },
  proxy: { url: env.STATIC_PROXY_URL, requireProxy: true },
  compress: 'gzip',
  index: 'bundled',
  runId: env.RUN_ID,
  deadLetters: false,
})
loaded.then(({ created }) => console.log(created))
`

const folder = mkdtempSync(join(tmpdir(), 'sluice-bundles-'))
const alone = mkdtempSync(join(tmpdir(), 'sluice-bundled-'))
let lab
try {
  const { startLab } = await import(join(root, 'dist', 'lab', 'index.js'))
  lab = await startLab({ register: 'both', ports: 'random' })
  writeFileSync(join(folder, 'package.json'), '{}')
  const { filename } = pack(folder)
  install(folder, `./${filename}`, 'esbuild', 'rolldown', 'webpack', 'webpack-cli', '@vercel/ncc')
  writeFileSync(join(folder, 'fn.mjs'), fn)
  for (const [name, bundler] of Object.entries(bundlers)) await prove(name, bundler)
} finally {
  await lab?.close()
  for (const path of [folder, alone]) rmSync(path, { recursive: true, force: true })
}

async function prove(name, { words: [program, ...words], file, type = 'commonjs' }) {
  const out = name.replaceAll(/\W+/g, '-')
  const made = words.map(word => word.replace('OUT', out))
  run(join(folder, 'node_modules', '.bin', program), made, folder)
  // A function has no packages beside it.
  cpSync(join(folder, out), join(alone, out), { recursive: true })
  writeFileSync(join(alone, out, 'package.json'), JSON.stringify({ type }))
  const env = { PATH: process.env.PATH, RUN_ID: out, ...lab.env }
  const began = performance.now()
  const { stdout } = await promisify(execFile)(process.execPath, [join(alone, out, file)], { env })
  assert.equal(stdout.trim(), '2', `${name}: ${readdirSync(join(alone, out)).join(' ')}`)
  console.log(`${name}: 2 documents, in ${Math.round(performance.now() - began)} ms with its start`)
}
