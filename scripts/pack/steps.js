// What a check of the package does: it packs, runs commands, and says of each row whether it holds.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))
export const isWindows = process.platform === 'win32'

/** Packs the build as it is into a folder. */
export function pack(folder) {
  // The build stands: `prepare` would make it again, and print into the JSON.
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root))
  return packed
}

/** Installs packages in a project. */
export function install(folder, ...packages) {
  run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...packages], folder)
}

export function run(command, args, cwd) {
  const shell = isWindows && command !== process.execPath
  const options = { cwd, shell, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }
  return execFileSync(command, args, options)
}

/** Returns whether it holds. */
export function check(what, does) {
  try {
    does()
    console.log(`ok    ${what}`)
    return true
  } catch (error) {
    console.log(`FAIL  ${what}\n${error.message}\n${error.stdout ?? ''}${error.stderr ?? ''}`)
    process.exitCode = 1
    return false
  }
}
