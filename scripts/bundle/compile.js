import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { compiledFolder } from '../../bin/compiled.js'

/**
 * Lets a build load one document on its own lab. As each first load of a V8, it keeps what V8 compiled: a later start takes a third less
 * CPU. The load writes its log as JSON, as a scheduled job does.
 */
export async function compileAhead(build) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-compile-'))
  let lab
  try {
    const { startLab } = await import(pathToFileURL(join(build, 'lab', 'index.js')))
    lab = await startLab({ register: 'both', ports: 'random' })
    const input = join(folder, 'one.ndjson')
    writeFileSync(input, '{"n":1}\n')
    const args = ['ingest', input, '--index', 'compiled', '--state-dir', join(folder, 'state')]
    mkdirSync(compiledFolder(build), { recursive: true })
    await promisify(execFile)(process.execPath, [join(build, '..', 'bin', 'sluice.js'), ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, ...lab.env },
    })
  } catch (error) {
    // The program also runs without.
    process.stderr.write(`The start of the program is not compiled ahead: ${error.message}\n`)
  } finally {
    await lab?.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
