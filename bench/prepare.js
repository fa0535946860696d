/** Everything that has to be there before the first measurement; nothing is made twice. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder, hashOf } from './cache.js'
import { say } from './say.js'

export const benchFolder = fileURLToPath(new URL('.', import.meta.url))
export const projectFolder = join(benchFolder, '..')

const at = (...names) => join(benchFolder, ...names)

/**
 * Resolves to the paths of the programs. Those that the bench cannot do without throw; a peer that cannot be built is left
 * out, and `missing` says why.
 */
export function prepare({ sluice }) {
  const missing = {}
  const optional = (name, build) => {
    try {
      return build()
    } catch (error) {
      missing[name] = error.message
      return undefined
    }
  }
  const tools = Object.fromEntries(['null-sink', 'forward-proxy', 'measure', 'flood'].map(name => [name, native(name)]))
  installNodePeers()
  return {
    sluice: sluice ?? builtSluice(),
    sink: tools['null-sink'],
    proxy: tools['forward-proxy'],
    measure: tools.measure,
    flood: tools.flood,
    kernel: bareKernel(),
    ...optional('tlsFront', tlsFront),
    python: optional('python', () => pythonEnvironment()),
    esutil: optional('esutil', () => goProgram('esutil')),
    curl: optional('curl', () => (run('curl', ['--version']), 'curl')),
    mlr: optional('mlr', () => tool('mlr', 'Debian: miller')),
    qsv: optional('qsv', () => tool('qsv', 'its releases and crates.io have it')),
    duckdb: optional('duckdb', () => pythonEnvironment(at('peers', 'duckdb-requirements.txt'))),
    esbulk: optional('esbulk', () => named('BENCH_ESBULK')),
    docappender: optional('docappender', () => named('BENCH_DOCAPPENDER')),
    missing,
  }
}

export function builtSluice() {
  if (!existsSync(join(projectFolder, 'node_modules'))) throw new Error('run npm ci in the project first')
  run('npm', ['run', 'build'], { cwd: projectFolder })
  return join(projectFolder, 'bin', 'sluice.js')
}

export function native(name, libraries = name === 'null-sink' ? ['-lz'] : []) {
  const source = at('native', `${name}.c`)
  const flags = ['-O3', '-march=native', '-Wall', '-Wextra']
  return built(`${name}-${hashOf(source)}`, output => {
    if (spawnSync('gcc', ['--version']).error)
      throw new Error('gcc is missing: the sink is in C (Debian: gcc, libc6-dev, zlib1g-dev)')
    run('gcc', [...flags, '-o', output, source, ...libraries])
  })
}

export function installNodePeers() {
  const stamp = at('node_modules', '.installed')
  const lock = readFileSync(at('package-lock.json'), 'utf8')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  say('installing the peers of Node')
  run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: benchFolder })
  writeFileSync(stamp, lock)
}

/** Resolves to what TLS takes: the program, a CA of the bench's own, and the certificate that it signed. */
function tlsFront() {
  const front = native('tls-front', ['-lssl', '-lcrypto', '-lpthread'])
  const folder = cacheFolder('programs', 'certificates')
  const [ca, caKey, certificate, key, request, names] = [
    'ca.pem',
    'ca.key',
    'sink.pem',
    'sink.key',
    'sink.csr',
    'names',
  ].map(name => join(folder, name))
  if (!existsSync(certificate)) {
    const openssl = text => run('openssl', text.split(' '))
    const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout'
    writeFileSync(names, 'subjectAltName=IP:127.0.0.1\n')
    openssl(`req -x509 ${newKey} ${caKey} -out ${ca} -days 3650 -subj /CN=bench-ca`)
    openssl(`req ${newKey} ${key} -out ${request} -subj /CN=sink`)
    openssl(
      `x509 -req -in ${request} -CA ${ca} -CAkey ${caKey} -CAcreateserial -out ${certificate} -days 3650 -extfile ${names}`,
    )
  }
  return { tlsFront: front, ca, certificate, key }
}

function bareKernel() {
  const source = at('peers', 'bare', 'kernel.ts')
  return built(`bare-${hashOf(source)}.wasm`, output => {
    const compiler = at('node_modules', 'assemblyscript', 'bin', 'asc.js')
    const flags = ['-O3', '--noAssert', '--runtime', 'stub', '--enable', 'simd', '--importMemory', '--use', 'abort=']
    run(process.execPath, [compiler, source, '--outFile', output, ...flags])
  })
}

export function pythonEnvironment(requirements = at('peers', 'requirements.txt')) {
  const folder = join(cacheFolder('programs'), `python-${hashOf(requirements)}`)
  const python = join(folder, 'bin', 'python')
  if (existsSync(join(folder, '.complete'))) return python
  say(`installing packages of Python (${relative(benchFolder, requirements)})`)
  run('python3', ['-m', 'venv', '--clear', folder])
  run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements])
  writeFileSync(join(folder, '.complete'), '')
  return python
}

export function goProgram(name) {
  const folder = at('peers', name)
  return built(`${name}-${hashOf(join(folder, 'main.go'), join(folder, 'go.sum'))}`, output =>
    run('go', ['build', '-trimpath', '-mod=readonly', '-o', output, '.'], { cwd: folder }),
  )
}

function tool(name, from) {
  const { error } = spawnSync(name, ['--version'])
  if (error) throw new Error(`${name} is not on the path (${from})`)
  return name
}

function named(variable) {
  const path = process.env[variable]
  if (!path) throw new Error(`${variable} names no program`)
  if (!existsSync(path)) throw new Error(`${variable}: there is no ${path}`)
  return path
}

// It appears under its name only when it is whole.
function built(name, build) {
  const file = join(cacheFolder('programs'), name)
  if (existsSync(file)) return file
  say(`building ${name}`)
  const folder = cacheFolder('programs', `building-${process.pid}`)
  build(join(folder, name))
  renameSync(join(folder, name), file)
  rmSync(folder, { recursive: true })
  return file
}

function run(command, words, options = {}) {
  const { error, status, stdout, stderr } = spawnSync(command, words, {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    ...options,
  })
  if (error) throw new Error(`${command} cannot be run: ${error.message}`)
  if (status !== 0) throw new Error(`${command} ${words.join(' ')} failed:\n${stdout}${stderr}`.trimEnd())
  return stdout
}
