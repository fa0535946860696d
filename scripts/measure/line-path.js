/**
 * Lists the source files that one NDJSON line passes from file to receipt. Loads two files into the lab: the first has one line, the
 * second has none or one. A source file counts if one of its functions is called more often for the second line. So what happens
 * once in a run that sends anything, such as saving the learnt limits, does not count. Needs `npm run build`.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join, posix, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { readTree } from './tree.js'

const rounds = 3

/** @param {string} root @returns {Promise<string[]>} paths relative to src, sorted */
export async function linePath(root) {
  const dist = join(root, 'dist')
  const { ingest } = await import(pathToFileURL(join(dist, 'index.js')).href)
  const { startLab } = await import(pathToFileURL(join(dist, 'lab', 'index.js')).href)
  const lab = await startLab()
  const folder = mkdtempSync(join(tmpdir(), 'sluice-measure-'))
  const { url, apiKey, caFile } = lab.line.cluster
  let loads = 0
  const load = async text => {
    const source = [line(loads), text].map(content => {
      loads += 1
      const path = join(folder, `${loads}.ndjson`)
      writeFileSync(path, content)
      return path
    })
    await ingest({
      source,
      target: { url, apiKey, ca: readFileSync(caFile) },
      proxy: lab.line.proxy.http,
      index: 'measured',
      stateDir: join(folder, 'state'),
      concurrency: 1,
      batchDocs: 1,
    })
  }
  const session = new Session()
  session.connect()
  try {
    // Modules that are loaded late are loaded now.
    for (const text of ['', line(0)]) await load(text)
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    const counted = async text => {
      await session.post('Profiler.takePreciseCoverage')
      await load(text)
      return callsIn((await session.post('Profiler.takePreciseCoverage')).result, dist)
    }
    const empty = []
    const full = []
    for (let round = 1; round <= rounds; round += 1) {
      empty.push(await counted(''))
      full.push(await counted(line(round)))
    }
    const passed = new Set(kernelFiles(root))
    for (const [name, { path }] of full[0]) {
      const least = Math.min(...full.map(calls => calls.get(name)?.count ?? 0))
      const most = Math.max(...empty.map(calls => calls.get(name)?.count ?? 0))
      if (least > most) passed.add(path)
    }
    return [...passed].toSorted()
  } finally {
    session.disconnect()
    await lab.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function line(number) {
  return `${JSON.stringify({ number, text: 'one line' })}\n`
}

/** Returns how often each function of ours was called. */
function callsIn(scripts, dist) {
  const calls = new Map()
  for (const { url, functions } of scripts) {
    if (!url.startsWith('file:')) continue
    const path = relative(dist, fileURLToPath(url)).split(sep).join('/')
    if (path.startsWith('..') || path.startsWith('lab/')) continue
    for (const { functionName, ranges } of functions) {
      const [{ startOffset, count }] = ranges
      if (startOffset === 0) continue
      calls.set(`${path}:${startOffset}:${functionName}`, { path: path.replace(/\.js$/, '.ts'), count })
    }
  }
  return calls
}

/** Returns the sources of the kernel that frames the line. Coverage does not see WebAssembly. */
function kernelFiles(root) {
  const files = new Map(readTree(root).map(file => [file.path, file]))
  const entry = [...files.keys()].find(path => path.endsWith('kernel/assembly/frame.ts'))
  const found = new Set(entry === undefined ? [] : [entry])
  for (const path of found)
    for (const imported of files.get(path).imports)
      if (posix.dirname(imported) === posix.dirname(entry)) found.add(imported)
  return found
}
